package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/tool"
)

// extend makes the extensions of a session that is not there yet.
func (r *Running) extend(cfg *config.Config) {
	at := r.place
	source := "startup"
	switch {
	case r.spec.Log.Fork:
		source = "fork"
	case r.log.Model != "":
		source = "resume"
	case r.spec.Cleared:
		source = "clear"
	}
	x, bad := ext.New(ext.Config{Folder: at.ext, Offer: r.Offer, Loop: func(args string) (said, prompt string, err error) { return r.kit.Agenda.Loop(args) }, Reapply: func() {
		at.live.Hold(func() {
			cfg := at.Config()
			r.reload(cfg, cfg)
		})
	}, Fork: ext.ForkConfig{
		Parts: func() []prompt.Part { return r.parts }, Tools: func() tool.Set { return r.kit.All }, Resolve: r.named, Budget: func() agent.Budget { return r.budget(at.Config()) }, Transcript: r.agentTranscript,
		Rules: func() policy.Rules {
			rules, _ := settings.UsableRules(at.Config(), at.Paths, func(error) {}) // problems are told elsewhere
			readable(&rules, r)
			return r.bounded(rules)
		},
		Leave: r.leave,
		Loop: func() *agent.Loop {
			cfg := at.Config()
			return r.turns(cfg, r.bounded(settings.ReadingRules(cfg, at.Paths)))
		},
	}, Further: r.spec.Hooks, Main: r.main, Parent: r.parent(), Style: cfg.OutputStyle, Skills: ext.SkillsConfig{
		Session: r.ID, Project: at.Paths.Root, Mask: at.process.hide.Result, Log: at.process.LogFile,
		Env: tool.Env{Dir: at.Paths.Dir, Roots: []string{at.Paths.Dir}, Home: at.Paths.Home, Scratch: r.log.Scratch()},
	}, Hooks: ext.HooksConfig{
		Session: r.ID, Transcript: r.Transcript, Source: source, Setup: r.spec.Setup, Project: at.Paths.Root, Dir: at.Paths.Dir, Temp: at.process.temp.outside, Main: cmp.Or(r.who().Type, r.plan(cfg).Name), Who: r.who(), Team: func() string { return r.tree.Team() }, Of: r.eldest(), Defers: at.process.front.Print && r.spec.Child == nil,
		Environ: func() (environ, allow []string) { return at.inherited(at.Config()) },
		Rules: func() policy.Rules {
			return policy.Rules{Dir: at.Paths.Dir, Dirs: []string{at.Paths.Dir}, Home: at.Paths.Home, FoldCase: at.Paths.FoldCase}
		},
		Callback: r.spec.Callback,
		Root:     func() *session.Session { return r.root().Session },
		Confine:  r.sandboxes.Confine,
		Ask: func(ctx context.Context, model, question string) (answer string, _ event.Spent, err error) {
			bought := r.Buy(ctx, func() (spent event.Spent) {
				answer, spent, err = at.models.Load().Answer(ctx, model, r.Target().ID(), question)
				return spent
			})
			return answer, event.Spent{}, errors.Join(bought, err) // what it cost is recorded
		},
	}}, cfg)
	r.ext = x
	for _, s := range bad {
		at.process.Notef("%s", s)
	}
}

// Transcript is the file that other programs read of the session, absolute, with all that
// happened by now. It is kept from the first time on that this is asked, if not before.
func (r *Running) Transcript() string {
	if r.public == nil {
		return r.log.File()
	}
	return r.public.File(r.Last())
}

// agentTranscript is that of an agent that works for the session.
func (r *Running) agentTranscript(s *session.Session, id, model string) (file func() string, wait func()) {
	if r.public == nil {
		return func() string { return "" }, func() {}
	}
	return r.public.Agent(s, id, model)
}

// extendRules adds what extensions deny, want to be asked about, and run, and
// whether the program that answers questions is asked although the sandbox holds a
// command: it is, unless somebody other than a repository said that the sandbox is enough.
func (r *Running) extendRules(cfg *config.Config, rules *policy.Rules) error {
	said, _ := cfg.Setting("sandbox.auto_allow")
	rules.Attended = r.place.process.front.Host && (said.Origin.Scope == config.Default || said.Origin.Scope.Repo())
	more, err := r.ext.Rules()
	rules.Protected = append(slices.Clip(rules.Protected), r.place.ext.Programs(rules.Dirs)...)
	rules.List = append(slices.Clip(rules.List), more...)
	rules.Unsafe = cmp.Or(rules.Unsafe, r.ext.Unguarded())
	return err
}

// variables are what commands may inherit, with what extensions set for them.
func (r *Running) variables() (environ, allow []string) {
	environ, allow = r.place.inherited(r.place.Config())
	if r.ext == nil { // nothing ran yet
		return environ, allow
	}
	for _, v := range r.ext.Env() {
		name, _, _ := strings.Cut(v, "=")
		environ, allow = append(environ, v), append(allow, name)
	}
	return append(environ, "PATH="+r.ext.Path(environ)), allow
}

// Approve has a tool of an MCP server answer a question of permission.
func (r *Running) Approve(ctx context.Context, tool string, input json.RawMessage) (string, error) {
	return r.ext.Approve(ctx, tool, input)
}

// toolWait is how long a call outside of a turn waits for its server.
const toolWait = 30 * time.Second

// CallTool calls a tool of MCP servers, of the one that is named where the tool is of all, for a program that drives adze, outside of any
// turn. What a rule denies does not run, and with strict nothing that the rules and the mode do not allow.
func (r *Running) CallTool(ctx context.Context, server, name string, input json.RawMessage, strict bool) (tool.Result, error) {
	within, cancel := context.WithTimeout(ctx, toolWait)
	if server != "" {
		r.place.ext.Await(within, server)
		if err := r.place.ext.Readable(server); err != nil {
			cancel()
			return tool.Result{}, err
		}
	} else {
		r.place.ext.AwaitTools(within, []string{name})
	}
	cancel()
	return r.ext.Call(ctx, name, input, func(p tool.Plan) error {
		v := policy.Decide(r.Rules(), r.Mode(), policy.Request{Tool: name, Actions: p.Actions})
		if v.Effect == policy.Deny || strict && v.Effect != policy.Allow {
			return notRun{v.Why()}
		}
		return nil
	})
}

// notRun is why a tool did not run, in the words by which hosts know it.
type notRun struct{ why string }

func (n notRun) Error() string { return "The tool did not run: " + n.why }

// Hooks are those that the session has now.
func (r *Running) Hooks() []ext.Hook { return r.ext.Counting() }

// Definitions are those of agents that the session has.
func (r *Running) Definitions() []ext.Agent { return r.ext.Definitions() }

// Began is closed when the hooks of the session's start have answered.
func (r *Running) Began() <-chan struct{} { return r.ext.Began() }

// Extended is what the session has besides adze's own.
func (r *Running) Extended() event.Extended { return r.ext.Extended() }

// await waits, in print mode, for servers that the run was started for: they are
// named by a flag or by the agent that it is, or a rule allows tools of theirs.
func (r *Running) await(ctx context.Context, cfg *config.Config) {
	at := r.place
	var rules []string
	for _, x := range cfg.Permissions.Allow {
		if strings.HasPrefix(x.Text, "mcp__") {
			rules = append(rules, x.Text)
		}
	}
	serves := len(at.process.Extensions.Servers) > 0 || r.main != nil && r.main.Servers != nil
	wait := time.Duration(cfg.Waits.Start) * time.Second
	if !at.process.front.Print || !serves && rules == nil || wait <= 0 || r.spec.Child != nil {
		return
	}
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var late, why []string
	if serves {
		late, why = ext.Missed(at.ext.AwaitAll(within))
	} else {
		late, why = ext.Missed(at.ext.AwaitTools(within, rules))
	}
	if ctx.Err() != nil { // nobody waits any more
		return
	}
	for _, said := range why {
		at.process.Notef("%s", said)
	}
	if len(late) > 0 {
		at.process.Notef("the run goes on without MCP servers that are not there after %s: %s", wait, strings.Join(late, ", "))
	}
}
