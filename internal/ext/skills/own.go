package skills

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/docs"
	"github.com/adze-agent/adze/internal/agents"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/skill"
)

//go:embed builtin
var builtin embed.FS

// ownPlaces are the places of adze's own skills, agents and output styles.
func ownPlaces() []skill.Place {
	return []skill.Place{
		brought(skill.Workflows, texts(builtin, "builtin/workflows")),
		brought(skill.Skills, texts(builtin, "builtin/skills")),
		brought(skill.Agents, texts(agents.Builtin, "builtin")),
		brought(skill.Styles, texts(builtin, "builtin/output-styles")),
	}
}

func brought(k skill.Kind, files map[string]string) skill.Place {
	return skill.Place{Kind: k, From: extension.Origin{}.String(), Scope: "adze", BuiltIn: true, Text: files}
}

// texts are the embedded files of a folder.
func texts(from embed.FS, dir string) map[string]string {
	out := map[string]string{}
	_ = fs.WalkDir(from, dir, func(path string, e fs.DirEntry, err error) error { // what is embedded can be read
		if err == nil && !e.IsDir() {
			b, _ := from.ReadFile(path)
			out[strings.TrimPrefix(path, dir+"/")] = string(b)
		}
		return err
	})
	return out
}

// manual stands for the folder of the manual in the text of an agent that adze brings.
const manual = "${ADZE_DOCS}"

// WithManual is an agent whose text names the folder of the manual by its path. The pages are put there,
// unless they are there already.
func WithManual(a skill.Agent, dir string) (skill.Agent, error) {
	if !a.BuiltIn || !strings.Contains(a.Prompt, manual) {
		return a, nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return a, err
	}
	for name, text := range texts(docs.Pages, ".") {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return a, err
		}
	}
	a.Prompt = strings.ReplaceAll(a.Prompt, manual, dir)
	return a, nil
}
