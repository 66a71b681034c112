package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/sandbox/boxes"
	"github.com/adze-agent/adze/internal/shellread/world"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/answer"
	"github.com/adze-agent/adze/internal/tool/ask"
	"github.com/adze-agent/adze/internal/tool/bash"
	"github.com/adze-agent/adze/internal/tool/file"
	"github.com/adze-agent/adze/internal/tool/find"
	"github.com/adze-agent/adze/internal/tool/plan"
	"github.com/adze-agent/adze/internal/tool/todo"
)

// A kit is the tools of a session.
type kit struct {
	all        tool.Set // before the settings took some away
	set        tool.Set // what the session has
	aliases    map[string]string
	structured string // the name of the tool that takes the final answer
	tasks      *bash.Tasks
}

// kitParts are what tools share with the rest of a session.
type kitParts struct {
	ledger *file.Ledger
	boxes  *boxes.Set
	mode   policy.Mode // to start in
}

// newKit makes the tools. To add a tool, add it to the list here.
func newKit(w *World, s Spec, cfg *config.Config, parts kitParts) (kit, error) {
	shell := bash.Config{
		Vars: w.variables, Pins: append(conf.PinnedEnv(), goPins...), Temp: w.temp.outside, Confined: w.temp.inside,
		Mask:     maskedWriter(w.hide),
		Limits:   proc.Limits{Memory: cfg.Bash.MaxMemory.Of(proc.Memory()), Processes: cfg.Bash.MaxProcesses},
		Guardian: true, Groups: true,
		World: func(dir string) world.World { return place.World(dir, w.Paths.Home) },
	}
	box := parts.boxes
	shell.Stays, shell.Excluded = box.Stays, box.Excluded
	shell.Wrap, shell.Active, shell.Passes, shell.Explain = box.Wrap, box.Active, box.Passes, box.Explain
	shell.Settle = box.Settle
	shells, aliases, tasks := bash.New(shell)
	files := file.New(file.Config{Ledger: parts.ledger, Resolve: place.Resolve})
	for i, t := range files {
		files[i] = parts.boxes.Openly(t)
	}
	all := slices.Concat(shells, files,
		find.New(find.Config{Resolve: place.Resolve}),
		[]tool.Tool{todo.New()}, asking(w.front), planning(w.front, parts.mode),
	)
	k := kit{aliases: aliases, tasks: tasks}
	if s.Schema != nil {
		t, err := answer.New(s.Schema)
		if err != nil {
			return k, &hint.Mistake{Why: fmt.Sprintf("the schema of --json-schema: %v", err), What: "give a JSON Schema object, as text or as a file's path"}
		}
		k.structured = t.Spec().Name
		all = append(all, t)
	}
	set, err := contrib.Join(contrib.Contribution{From: contrib.BuiltIn, Tools: all})
	k.all = set.Tools()
	return k, err
}

// narrowed are the tools that the settings and the size of the instructions
// leave.
func (k kit) narrowed(p prompt.Profile, t config.Tools, rules policy.Rules) (tool.Set, error) {
	set, err := narrow(k.all, t, k.structured)
	keep := offered(rules)
	set = set.Only(func(name string) bool { return name == k.structured || keep(name) })
	if p == prompt.Small {
		set = small(set)
	}
	return set, err
}

// asking is the tool that puts questions to a person, where there is one.
func asking(f Front) []tool.Tool {
	if !f.Person {
		return nil
	}
	return []tool.Tool{ask.New()}
}

// elsewhere are tools that other runs have: to name them here is no mistake.
var elsewhere = []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}

// planning are the tools of plan mode. Where nobody can approve a plan, the
// plan is the answer of a run that was started in plan mode.
func planning(f Front, m policy.Mode) []tool.Tool {
	switch {
	case f.Person:
		return []tool.Tool{plan.Enter(), plan.Exit()}
	case m == policy.PlanMode:
		return []tool.Tool{plan.Exit()}
	}
	return nil
}

// narrow leaves the tools that the settings want.
func narrow(set tool.Set, t config.Tools, always string) (tool.Set, error) {
	names := set.Names()
	for _, n := range slices.Concat(t.Allowed, t.Disallowed) {
		if n != "default" && n != noTools && !slices.Contains(names, n) && !slices.Contains(elsewhere, n) {
			return set, &hint.Mistake{Why: fmt.Sprintf("there is no tool %q%s", n, near.Hint(n, names)), What: "the tools are " + strings.Join(names, ", ")}
		}
	}
	return set.Only(func(name string) bool {
		switch {
		case name == always:
			return true
		case slices.Contains(t.Disallowed, name):
			return false
		}
		return len(t.Allowed) == 0 || slices.Contains(t.Allowed, name) || slices.Contains(t.Allowed, "default")
	}), nil
}

// noTools is what stands for none in the list of the tools to have.
const noTools = "none"

// small is the set for small windows: what work needs, in short words.
func small(set tool.Set) tool.Set {
	spare := []string{"AskUserQuestion", "MultiEdit"}
	return set.Only(func(name string) bool { return !slices.Contains(spare, name) }).Map(tool.Brief)
}

// goPins keep go from fetching what a go.mod names, where nobody was asked:
// another toolchain, or modules.
var goPins = []string{"GOTOOLCHAIN=local", "GOPROXY=off"}

// variables are what commands may inherit now: our environment, and the
// variables of the settings. allow names those that pass to them: what the
// settings name, and what they set themselves.
func (w *World) variables() (environ, allow []string) {
	cfg := w.Config()
	environ, allow = slices.Clone(w.process.Environ), slices.Clone(cfg.ChildEnv)
	for k, v := range cfg.Env {
		environ, allow = append(environ, k+"="+v), append(allow, k)
	}
	return append(environ, "TMPDIR="+w.temp.outside), allow
}
