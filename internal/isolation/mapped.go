package isolation

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// Mapped is a tool that works on files, for a session that may work in a worktree of its
// own: a path that leads to another checkout means the same file of the worktree. apart is
// asked for each call; nil: the session works where it was started.
func Mapped(t tool.Tool, apart func() *policy.Apart) tool.Tool { return mapped{t, apart} }

type mapped struct {
	tool.Tool
	apart func() *policy.Apart
}

// pathFields are the fields of the tools' inputs that hold a path.
var pathFields = []string{"file_path", "path", "notebook_path", "file"}

// meant is the input with paths of the worktree, and what of it was changed, for the model.
func (m mapped) meant(in json.RawMessage, env tool.Env) (out json.RawMessage, said string) {
	a := m.apart()
	var fields map[string]json.RawMessage
	if a == nil || json.Unmarshal(in, &fields) != nil { // the tool says what is wrong
		return in, ""
	}
	for _, name := range pathFields {
		var asked string
		if json.Unmarshal(fields[name], &asked) != nil || asked == "" {
			continue
		}
		abs, err := place.Absolute(env.Dir, env.Home, asked)
		if err != nil {
			continue
		}
		to, ok := a.Meant(filepath.Clean(abs), false)
		if !ok { // also where a link leads to the checkout, but for one in the worktree
			if filepath.IsAbs(asked) && !policy.Within(a.Tree, filepath.Clean(abs), false) {
				to, ok = a.Meant(place.Real(abs), false)
			}
		}
		if !ok {
			continue
		}
		if fields[name], err = json.Marshal(to); err != nil {
			continue
		}
		said = strings.TrimSpace(said + fmt.Sprintf(" [%s is of another checkout; this is %s]", asked, to))
	}
	if said == "" {
		return in, ""
	}
	if out, err := json.Marshal(fields); err == nil {
		return out, said
	}
	return in, ""
}

// Plan implements tool.Tool.
func (m mapped) Plan(in json.RawMessage, env tool.Env) (tool.Plan, error) {
	in, _ = m.meant(in, env)
	return m.Tool.Plan(in, env)
}

// Run implements tool.Tool.
func (m mapped) Run(ctx context.Context, in json.RawMessage, env tool.Env) (tool.Result, error) {
	in, said := m.meant(in, env)
	r, err := m.Tool.Run(ctx, in, env)
	if said != "" && err == nil {
		r.Text = strings.TrimRight(r.Text, "\n") + "\n\n" + said
	}
	return r, err
}
