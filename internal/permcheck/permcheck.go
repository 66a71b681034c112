// Package permcheck answers "what would happen to this command?" for people
// and for test corpora. It reads and decides exactly as a session would, and
// runs nothing.
package permcheck

import (
	"path/filepath"

	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// Options are what a check depends on besides the command.
type Options struct {
	Rules policy.Rules // Dir, Dirs and Home may be left empty: they are taken from below
	Mode  policy.Mode  // "" is policy.Default
	Dir   string       // where the command would run; absolute
	Home  string
	// Sandbox: commands run confined where the system can do that, and need no
	// question then.
	Sandbox bool
	// World replaces the real file system, in tests; Dir and Home of it count.
	World *world.World
}

// A Report is the verdict on one command and how it came about.
type Report struct {
	Command string         `json:"command"`
	Verdict policy.Verdict `json:"verdict"`
	// Parts are all that the command would do; those of Verdict are the same, and left out.
	Parts []policy.Piece `json:"parts"`
	// Sandboxed is the verdict where the sandbox runs and is reason enough, of a
	// question that it would answer; nil otherwise.
	Sandboxed *policy.Verdict `json:"sandboxed,omitempty"`
	Mode      policy.Mode     `json:"mode"`
	Dir       string          `json:"dir"`
	// Warnings are about the rules themselves.
	Warnings []string `json:"warnings,omitempty"`
}

// Check decides one command.
func Check(command string, o Options) Report {
	w := o.world()
	rules := o.rules(w)
	mode := o.Mode
	if mode == "" {
		mode = policy.Default
	}
	script := shellread.Read(command, w)
	req := policy.Request{Tool: "Bash", Actions: script.Actions}
	verdict, each := policy.Judge(rules, mode, req)
	verdict.Parts = nil
	out := Report{Command: command, Mode: mode, Dir: w.Dir, Verdict: verdict, Parts: policy.Account(each)}
	if o.Sandbox && verdict.Effect == policy.Ask {
		req.Sandboxed = true
		if v := policy.Decide(rules, mode, req); v.Effect == policy.Allow {
			out.Sandboxed = &v
		}
	}
	for _, r := range rules.List {
		if why := policy.Lint(r); why != "" {
			out.Warnings = append(out.Warnings, r.Text()+": "+why)
		}
	}
	return out
}

// Actions are what a command would do, and the rules with the folders that they
// count from.
func Actions(command string, o Options) ([]policy.Action, policy.Rules) {
	w := o.world()
	return shellread.Read(command, w).Actions, o.rules(w)
}

func (o Options) world() world.World {
	if o.World != nil {
		return *o.World
	}
	w := place.World(resolved(o.Dir), resolved(o.Home))
	w.Dirs = o.Rules.Dirs
	return w
}

func (o Options) rules(w world.World) policy.Rules {
	r := o.Rules
	if r.Dir == "" {
		r.Dir = w.Dir
	}
	if len(r.Dirs) == 0 {
		r.Dirs = []string{r.Dir}
	}
	if r.Home == "" {
		r.Home = w.Home
	}
	return r
}

// resolved is the place a folder really is, or the folder as it was given.
func resolved(dir string) string {
	if dir == "" {
		return ""
	}
	if p, err := place.Resolve(dir); err == nil {
		return p
	}
	return filepath.Clean(dir)
}
