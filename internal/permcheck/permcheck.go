// Package permcheck answers "what would happen to this command?" for people
// and for test corpora. It reads and decides exactly as a session would, and
// runs nothing.
package permcheck

import (
	"path/filepath"
	"strings"

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
	Command  string         `json:"command"`
	Verdict  policy.Verdict `json:"verdict"`
	Commands []Part         `json:"commands"`
	// Sandboxed is the verdict where the sandbox runs and is reason enough, of a
	// question that it would answer; nil otherwise.
	Sandboxed *policy.Verdict `json:"sandboxed,omitempty"`
	Mode      policy.Mode     `json:"mode"`
	Dir       string          `json:"dir"`
	// Warnings are about the rules themselves.
	Warnings []string `json:"warnings,omitempty"`
}

// A Part is one thing the command would do, with its own verdict.
type Part struct {
	// Kind is command, read, write, opaque, or argument: a word that is judged
	// as a file that may be read, because nobody knows what the command makes
	// of it. Those that nothing speaks against are left out.
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Path is what Text resolves to, for a read or a write.
	Path    string         `json:"path,omitempty"`
	Dir     string         `json:"dir,omitempty"`
	Verdict policy.Verdict `json:"verdict"`
}

// shown is what a line says of a Part: one that says the same again is left out.
type shown struct {
	kind, text, path, dir string
	effect                policy.Effect
	reason                string
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
	out := Report{Command: command, Mode: mode, Dir: w.Dir, Verdict: verdict}
	if o.Sandbox && verdict.Effect == policy.Ask {
		req.Sandboxed = true
		if v := policy.Decide(rules, mode, req); v.Effect == policy.Allow {
			out.Sandboxed = &v
		}
	}
	listed := map[shown]bool{}
	for _, j := range each {
		if p, ok := describe(j.Action); ok && j.Check != policy.CheckMaybe {
			if j.Named() {
				if p.Kind = "argument"; j.Effect == policy.Allow {
					continue
				}
			}
			p.Verdict = j.Verdict
			if once := (shown{p.Kind, p.Text, p.Path, p.Dir, j.Effect, j.Reason}); !listed[once] {
				listed[once] = true
				out.Commands = append(out.Commands, p)
			}
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

func describe(a policy.Action) (Part, bool) {
	switch a := a.(type) {
	case policy.Exec:
		return Part{Kind: "command", Text: spelt(a), Dir: a.Dir}, true
	case policy.Opaque:
		return Part{Kind: "opaque", Text: a.Source}, true
	case policy.Read:
		return Part{Kind: "read", Text: a.Asked, Path: a.Path}, true
	case policy.Write:
		return Part{Kind: "write", Text: a.Asked, Path: a.Path}, true
	case policy.Net, policy.Call, policy.Spawn, policy.Skill, policy.Person, policy.None:
	}
	return Part{}, false
}

// spelt is a command as it was written: a word that only a run knows stays
// what it is in the source.
func spelt(a policy.Exec) string {
	out := make([]string, len(a.Argv))
	for i, w := range a.Argv {
		if out[i] = w; !a.Loose || !strings.ContainsAny(w, "$`") {
			out[i] = policy.QuoteCommand([]string{w})
		}
	}
	return strings.Join(out, " ")
}
