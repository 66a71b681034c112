package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/BurntSushi/toml"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext/hook"
)

// maxOther bounds a file of another agent, in bytes.
const maxOther = 4 << 20

// others are the files of a person's in which other agents have hooks, below the
// home folder. Those of repositories are not read.
var others = []struct {
	path    string
	dialect hook.Dialect
}{{".codex/hooks.json", hook.Codex}, {".codex/config.toml", hook.Codex}, {".gemini/settings.json", hook.Gemini}}

// Others are the hooks that a person has for other agents, where they mean the same
// here. bad says what of them is left out.
func Others(home string) (list []Hook, bad []string) {
	if home == "" {
		return nil, nil
	}
	for _, o := range others {
		path := filepath.Join(home, filepath.FromSlash(o.path))
		text, err := regular.Read(path, maxOther)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !bytes.Contains(text, []byte("hooks")) {
			continue
		}
		if err == nil && filepath.Ext(path) == ".toml" {
			text, err = fromTOML(text)
		}
		if err != nil {
			bad = append(bad, fmt.Sprintf("hooks of %s: %v", path, err))
			continue
		}
		hooks, problems := hook.ParseOther(o.dialect, text, hook.Place{From: path, Scope: "user"})
		list = append(list, hooks...)
		for _, err := range problems {
			bad = append(bad, fmt.Sprintf("%s: %v", path, err))
		}
	}
	return list, bad
}

// fromTOML is the table of hooks of a TOML file, as JSON.
func fromTOML(text []byte) ([]byte, error) {
	var doc struct {
		Hooks map[string]any `toml:"hooks" json:"hooks"`
	}
	if err := toml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}
