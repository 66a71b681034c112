// Package toolkit makes the tools of a session, and what uses them besides the
// model: commands of a person's own, and files that a prompt names.
package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/agenda"
	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/isolation"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/task"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/answer"
	"github.com/adze-agent/adze/internal/tool/ask"
	"github.com/adze-agent/adze/internal/tool/bash"
	"github.com/adze-agent/adze/internal/tool/cron"
	"github.com/adze-agent/adze/internal/tool/file"
	"github.com/adze-agent/adze/internal/tool/find"
	"github.com/adze-agent/adze/internal/tool/flow"
	"github.com/adze-agent/adze/internal/tool/monitor"
	"github.com/adze-agent/adze/internal/tool/plan"
	"github.com/adze-agent/adze/internal/tool/sleep"
	"github.com/adze-agent/adze/internal/tool/spawn"
	"github.com/adze-agent/adze/internal/tool/tasks"
	"github.com/adze-agent/adze/internal/tool/team"
	"github.com/adze-agent/adze/internal/tool/todo"
	"github.com/adze-agent/adze/internal/tool/toolsearch"
	"github.com/adze-agent/adze/internal/tool/trees"
)

// A Config is what the tools of a session are made from.
type Config struct {
	Session string // the session's ID
	Dir     string // that is worked in
	Home    string
	Scratch string // the session's own folder for files, "" when nothing is kept
	Notes   string // adze's folder for what is remembered of the project
	// Temp is the folder for temporary files of commands, Confined of those in
	// the sandbox.
	Temp, Confined string
	// Variables are asked for before each command: what it may inherit, and the
	// names that pass to it.
	Variables func() (environ, allow []string)
	Limits    config.Bash
	Memory    *Memory // that the sessions of this process share; nil: this one has it for itself
	Hide      *secret.Redactor
	Sandboxes *confine.Set
	Person    bool            // somebody can answer questions
	Mode      policy.Mode     // to start in
	Schema    json.RawMessage // of a structured answer, nil for none
	// InPlan says how the model is to work in plan mode, "" for the usual words.
	InPlan string
	// Submit sends the plan of a session that works for another one to whoever approves it; nil:
	// nobody does. See plan.Submit.
	Submit func(ctx context.Context, call, plan string) (told string, err error)
	// Child: it works for another session.
	Child bool
	// Resource is the tool that reads resources of an MCP server, false when no
	// server of that name has any; nil never has one.
	Resource func(server string) (tool.Tool, bool)
	// Crew starts agents that work for the session, and keeps the list of what is to be
	// done; nil: it has neither.
	Crew Crew
	// Merges: the session has a checkout that its Crew can merge worktrees into.
	Merges bool
	// Flows runs workflows for the session; nil: it can have none.
	Flows flow.Runner
	// Ends: what runs in the background ends with the model's last answer. Once: the
	// session waits for monitors, and is given no further prompt.
	Ends, Once bool
	// Schedules: prompts may be set to come by themselves, which a Child refuses.
	Schedules bool
	// Standing are the schedules of the folder; nil: there are none.
	Standing *agenda.Folder
	// Proxy is that of a request; nil uses none.
	Proxy func(*http.Request) (*url.URL, error)
	// Beside are the kinds of tasks that run beside the turns, besides commands.
	Beside Sources
	// Apart says what is beyond the worktree that the session has to itself; nil, or what
	// returns nil: it has none.
	Apart func() *policy.Apart
}

// A Crew starts agents, speaks with them, and keeps the list of what is to be done.
type Crew interface {
	spawn.Starter
	team.Post
	todo.Keeper
	trees.Merger
}

// Sources are kinds of tasks that run beside the turns.
type Sources = task.List

// Memory adds up what the commands of several sessions use.
type Memory = proc.Account

// A Kit is the tools of a session.
type Kit struct {
	All tool.Set // before the settings took some away
	// Facts are those of the tools of all runs, also of those that this one does not
	// have (tool.Spec.Facts).
	Facts auto.Facts
	// Aliases are names of tools that models know from elsewhere.
	Aliases    map[string]string
	Structured string // the name of the tool that takes the final answer
	Tasks      *bash.Tasks
	// Beside are all tasks that run beside the turns: commands, agents and the rest.
	Beside task.List
	// Agenda are the session's schedules, nil where it can have none.
	Agenda *agenda.Agenda

	own    extension.Contribution
	names  []string // of the tools of all runs: to name one is no mistake
	conf   Config
	ledger *file.Ledger
	of     *atomic.Pointer[session.Session] // whose tools these are, nil until it has begun
}

// New makes the tools. To add a tool, add it to the list here.
func New(c Config) (Kit, error) {
	shell := bash.Config{
		Vars: c.Variables, Pins: append(conf.PinnedEnv(), goPins...), Temp: c.Temp, Confined: c.Confined,
		Mask:    func(to io.Writer, values []string) io.Writer { return c.Hide.With(values).Writer(to) },
		Limits:  proc.Limits{Memory: c.Limits.MaxMemory.Of(proc.Memory()), Processes: c.Limits.MaxProcesses},
		Account: c.Memory, Guardian: true, Groups: true,
		World: c.world, EndLate: c.Limits.OnTimeout == "end", Ends: c.Ends,
	}
	box, ledger := c.Sandboxes, file.NewLedger()
	shell.Stays, shell.Excluded = box.Stays, box.Excluded
	shell.Wrap, shell.Active, shell.Apart, shell.Passes, shell.Denial, shell.Ahead = box.Wrap, box.Active, box.Apart, box.Passes, box.Denial, box.Ahead
	shell.Quarantined, shell.Writes = box.Quarantined, box.Writes
	shells, running := bash.New(shell)
	of := new(atomic.Pointer[session.Session])
	beside, plans := append(task.List{running}, c.Beside...), c.agenda(of)
	if plans != nil {
		beside = append(beside, agenda.Tasks{Agenda: plans})
	}
	beside = append(beside, past{of, c.Scratch})
	files := file.New(file.Config{Ledger: ledger, Private: func(path string) bool {
		return c.Notes != "" && policy.Within(c.Notes, path, false) || c.Scratch != "" && policy.Within(c.Scratch, path, false)
	}})
	for i, t := range files {
		files[i] = box.Openly(t)
	}
	waits := []tool.Tool{
		monitor.New(monitor.Config{Starter: running, Proxy: c.Proxy, Once: c.Once}),
		sleep.New(func() <-chan struct{} {
			if s := of.Load(); s != nil {
				return s.Arrival()
			}
			return nil
		}),
	}
	files = append(files, find.New()...)
	if c.Apart != nil {
		waits[0] = isolation.Mapped(waits[0], c.Apart)
		for i, t := range files {
			files[i] = isolation.Mapped(t, c.Apart)
		}
	}
	every := slices.Concat(shells, waits, tasks.New(func() task.List { return beside }), files,
		[]tool.Tool{toolsearch.New(), ask.New(), plan.Enter(c.InPlan), c.exit(), c.proposes(of)},
	)
	if c.Crew != nil {
		every = append(append(every, spawn.New(c.Crew)), slices.Concat(team.New(c.Crew), todo.New(c.Crew))...)
	}
	if plans != nil {
		every = append(every, cron.New(plans)...)
	}
	if c.Merges {
		every = append(every, trees.New(c.Crew))
	}
	if c.Flows != nil {
		every = append(every, flow.New(c.Flows))
	}
	k := Kit{Aliases: map[string]string{}, Tasks: running, Beside: beside, Agenda: plans, of: of, Facts: auto.Facts{}, conf: c, ledger: ledger}
	var all []tool.Tool
	for _, t := range every {
		s := t.Spec()
		if s.Facts != nil {
			k.Facts[s.Name] = s.Facts
		}
		k.names = append(k.names, s.Name)
		if here(c, s.Name) {
			all = append(all, t)
		}
	}
	for _, own := range policy.Tools() {
		for _, n := range policy.Names(own)[1:] {
			if !slices.Contains(k.names, n) { // a tool that only does the same takes other arguments
				k.Aliases[n] = own
			}
		}
	}
	if c.Schema != nil {
		t, err := answer.New(c.Schema)
		if err != nil {
			return k, &hint.Mistake{Why: fmt.Sprintf("the schema of --json-schema: %v", err), What: "give a JSON Schema object, as text or as a file's path"}
		}
		k.Structured = t.Spec().Name
		all = append(all, t)
	}
	k.own = extension.Contribution{Tools: all}
	var err error
	k.All, err = extension.Tools(k.own)
	return k, err
}

// Narrowed are the tools that the settings and the size of the instructions
// leave, of the toolkit's and of what extensions bring.
func (k Kit) Narrowed(p prompt.Profile, t config.Tools, rules policy.Rules, more ...extension.Contribution) (tool.Set, error) {
	all := k.All
	if len(more) > 0 {
		joined, err := extension.Tools(append([]extension.Contribution{k.own}, more...)...)
		if err != nil {
			return all, err
		}
		all = joined
	}
	set, err := k.narrow(all, t)
	keep := offered(rules)
	set = set.Meant(func(names ...string) bool {
		return names[0] == k.Structured || !slices.ContainsFunc(names, func(name string) bool { return !keep(name) })
	})
	if p == prompt.Small {
		set = Small(set)
	}
	return set, err
}

// exit is the tool that ends plan mode.
func (c Config) exit() tool.Tool {
	if c.Submit != nil {
		return plan.Submit(c.Submit)
	}
	return plan.Exit()
}

// Always are tools that no list of a definition takes away.
func (k Kit) Always() []string {
	out := []string{k.Structured, toolsearch.Name}
	if k.conf.Child {
		out = append(out, team.Send, team.List)
	}
	if k.conf.Submit != nil {
		out = append(out, plan.ExitName)
	}
	return out
}

// here reports whether a run has a tool. What asks a person is there where one is.
// Where nobody can approve a plan, the plan is the answer of a run that was started
// in plan mode.
func here(c Config, name string) bool {
	switch name {
	case ask.Name, plan.EnterName:
		return c.Person
	case plan.ExitName:
		return c.Person || c.Mode == policy.PlanMode
	}
	return true
}

// narrow leaves the tools that the settings want.
func (k Kit) narrow(set tool.Set, t config.Tools) (tool.Set, error) {
	names := set.Names()
	for _, n := range slices.Concat(t.Allowed, t.Disallowed) {
		if n != "default" && n != noTools && !slices.Contains(names, n) && !slices.Contains(k.names, n) && !policy.Known(n) {
			return set, &hint.Mistake{Why: fmt.Sprintf("there is no tool %q%s", n, near.Hint(n, names)), What: "the tools are " + strings.Join(names, ", ")}
		}
	}
	return set.Meant(func(names ...string) bool {
		name := names[0]
		meant := func(n string) bool { return slices.Contains(policy.Names(name), n) || slices.Contains(names, n) }
		switch {
		case name == k.Structured:
			return true
		case slices.ContainsFunc(t.Disallowed, func(n string) bool {
			return meant(n) || ofServer(n) && slices.ContainsFunc(names, func(name string) bool {
				n := policy.WholeServer(n)
				stem, all := strings.CutSuffix(n, "*")
				return all && strings.HasPrefix(name, stem) || strings.HasPrefix(name, n+"__")
			})
		}):
			return false
		case ofServer(name): // the list is of adze's own
			return true
		case name == toolsearch.Name: // listed only where there are tools to load
			return true
		}
		return len(t.Allowed) == 0 || slices.ContainsFunc(t.Allowed, meant) || slices.Contains(t.Allowed, "default")
	}), nil
}

// Lacks are those of these tools that there are none of here, though settings and hosts
// of other versions and programs may name them.
func (k Kit) Lacks(names []string) (out []string) {
	for _, n := range names {
		if _, alias := k.Aliases[n]; policy.Known(n) && !alias && !ofServer(n) && !slices.Contains(k.names, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// ofServer reports whether a name is that of an MCP server's tools, which come
// and go.
func ofServer(name string) bool { return strings.HasPrefix(name, "mcp__") }

// noTools is what stands for none in the list of the tools to have.
const noTools = "none"

// Small is the set for small windows: what work needs, in short words.
func Small(set tool.Set) tool.Set {
	spare := []string{ask.Name, "MultiEdit", "Skill"}
	return set.Only(func(name string) bool {
		t, ok := set.Get(name)
		return !slices.Contains(spare, name) && !(ok && t.Spec().Seldom)
	}).Map(tool.Brief)
}

// Asked is the set with the tools told whole that somebody asked for, which would be
// named only otherwise.
func Asked(set tool.Set, asked func(name string) bool) tool.Set {
	return set.Map(func(t tool.Tool) tool.Tool {
		if s := t.Spec(); s.Seldom && asked(s.Name) {
			s.Seldom = false
			return often{t, s}
		}
		return t
	})
}

// often is a tool that a model is told of whole.
type often struct {
	tool.Tool
	spec tool.Spec
}

// Spec implements tool.Tool.
func (o often) Spec() tool.Spec { return o.spec }

// Todo is the set with the tools that a setting (tools.task_list) wants for the list of
// what is to be done: "tasks" are those that see its tasks one by one, "todos" the one
// that writes it as a whole. Otherwise both are there.
func Todo(set tool.Set, setting string) tool.Set {
	single := []string{todo.Create, todo.Update, todo.Get, todo.List}
	switch setting {
	case "tasks":
		set = set.Only(func(name string) bool { return name != todo.Write })
		return Asked(set, func(name string) bool { return slices.Contains(single, name) })
	case "todos":
		return set.Only(func(name string) bool { return !slices.Contains(single, name) })
	}
	return set
}

// goPins keep go from fetching what a go.mod names, where nobody was asked:
// another toolchain, or modules.
var goPins = []string{"GOTOOLCHAIN=local", "GOPROXY=off"}

// offered reports whether the model is told of a tool: not of one that rules
// deny whatever it is asked to do.
func offered(rules policy.Rules) func(tool string) bool {
	return func(tool string) bool {
		return !slices.ContainsFunc(rules.List, func(r policy.Rule) bool { return r.Effect == policy.Deny && r.Wholly(tool) })
	}
}

// Remind is what the model is told at the start of a turn, and when the mode
// changes in the middle of one.
func (k Kit) Remind(told, now policy.Mode) string {
	switch {
	case now == policy.PlanMode && k.conf.Submit != nil:
		return plan.Submitting()
	case now == policy.PlanMode && k.conf.Child:
		return plan.Reading()
	case now == policy.PlanMode:
		return plan.Reminder(k.conf.InPlan)
	case told == policy.PlanMode:
		return "Plan mode is over: you may change files and run commands again, as the permissions allow."
	}
	return ""
}

// Stale lists files that changed on disk since the model saw them, each change
// once.
func (k Kit) Stale() (out []agent.Stale) {
	for _, f := range k.ledger.Stale() {
		out = append(out, k.stale(f))
	}
	return out
}

// Changed is Stale of one file.
func (k Kit) Changed(path string) (s agent.Stale, ok bool) {
	f, ok := k.ledger.Changed(path)
	return k.stale(f), ok
}

func (k Kit) stale(f file.Stale) agent.Stale {
	out := agent.Stale{Path: f.Path, Gone: f.Gone, Diff: k.conf.Hide.String(f.Diff)}
	if f.Now.Path != "" && out.Diff == f.Diff {
		out.Know = func(own bool) effect.File { return k.ledger.Know(f, own) }
	}
	return out
}

// Knows has the tools know files that the model has seen before.
func (k Kit) Knows(files iter.Seq2[string, effect.File]) {
	for _, f := range files {
		k.ledger.Restore([]effect.File{f})
	}
}

// Seed has the tools know a file as file.Ledger.Seed does, in this process: a host that
// knows more of the conversation than the log says so again.
func (k Kit) Seed(path string, at int64) bool { return k.ledger.Seed(path, at) }

// KnowsOnly has the tools know these files, as the model saw them, and no others.
func (k Kit) KnowsOnly(files []effect.File) {
	k.ledger.Forget()
	k.ledger.Restore(files)
}

// PDFText is the text of the first pages of a PDF.
func PDFText(data []byte) (string, error) { return file.PDFText(data) }
