package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Credentials are what sandbox.credentials keeps out: files or folders, as
// written, and names of variables. The setting is shared with Claude Code:
//
//	{"files": [{"path": "~/.config/gh/hosts.yml", "mode": "deny"}],
//	 "envVars": [{"name": "GITHUB_TOKEN", "mode": "deny"}]}
//
// A plain string is taken for an entry, too. The other program has a further
// mode, "mask", in which its proxy puts the value into requests; as ours never
// looks into what it carries, every mode hides, which is all that "deny" does.
type Credentials struct {
	Files []string
	Env   []string
}

// readCredentials reads the value of the setting. What it does not understand
// is an error: nothing should run that sees what a person meant to hide.
func readCredentials(raw json.RawMessage) (Credentials, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return Credentials{}, nil
	}
	var x struct {
		Files    []entry `json:"files"`
		EnvVars  []entry `json:"envVars"`
		EnvSnake []entry `json:"env_vars"`
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return Credentials{}, fmt.Errorf("sandbox.credentials: %w", fastjson.InWords(err))
	}
	var c Credentials
	for i, f := range x.Files {
		if strings.TrimSpace(f.Path) == "" {
			return c, fmt.Errorf("sandbox.credentials: files[%d] names no path", i)
		}
		c.Files = append(c.Files, f.Path)
	}
	for i, v := range append(x.EnvVars, x.EnvSnake...) {
		if strings.TrimSpace(v.Name) == "" {
			return c, fmt.Errorf("sandbox.credentials: envVars[%d] has no name", i)
		}
		c.Env = append(c.Env, v.Name)
	}
	return c, nil
}

// An entry is {"path" or "name": …, "mode": …}, or only the text.
type entry struct {
	Path string `json:"path"`
	Name string `json:"name"`
}

func (e *entry) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		e.Path, e.Name = s, s
		return nil
	}
	type plain entry
	return json.Unmarshal(b, (*plain)(e))
}
