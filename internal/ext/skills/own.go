package skills

import (
	"embed"
	"io/fs"
	"strings"

	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/skill"
)

//go:embed builtin
var builtin embed.FS

// ownPlaces are the places of adze's own skills and output styles.
func ownPlaces() []skill.Place {
	return []skill.Place{
		{Kind: skill.Skills, From: extension.Origin{}.String(), Scope: "adze", BuiltIn: true, Text: texts("builtin/skills")},
		{Kind: skill.Styles, From: extension.Origin{}.String(), Scope: "adze", BuiltIn: true, Text: texts("builtin/output-styles")},
	}
}

// texts are the embedded files of a folder.
func texts(dir string) map[string]string {
	out := map[string]string{}
	_ = fs.WalkDir(builtin, dir, func(path string, e fs.DirEntry, err error) error { // what is embedded can be read
		if err == nil && !e.IsDir() {
			b, _ := builtin.ReadFile(path)
			out[strings.TrimPrefix(path, dir+"/")] = string(b)
		}
		return err
	})
	return out
}
