package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/background"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/environment"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/fleet"
	"github.com/adze-agent/adze/internal/isolation"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/rewind"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/toolkit"
)

// A Spec is what one session is to be. The zero value is a new one, as the
// settings say.
type Spec struct {
	Log sessions.Choice
	// Target is the model to use; nil: the one of the settings.
	Target *agent.Target
	// Model is the one that a new session begins with, as provider/model, unless
	// a flag, the environment or a managed setting names another; "": that of the settings.
	Model string
	// Tools are the names of the only tools it has; nil: those of the settings.
	Tools  []string
	Schema json.RawMessage // of a structured answer, nil for none
	// InPlan says how the model is to work in plan mode, "" for the usual words, and
	// Redirects which tool runs in the place of one that it calls, by their names.
	InPlan    string
	Redirects map[string]string
	// Skip: it begins in the mode bypassPermissions. MayBypass: it may be
	// switched to that mode.
	Skip, MayBypass bool
	// Cleared: it is in the place of one that a person cleared.
	Cleared bool
	// Child is set where another session starts it, and says which agent it is.
	Child *Child
	// Room is the worktree that it has to itself, in whose folder the place is; nil: it works
	// in the person's checkout.
	Room *isolation.Room

	// Setup has hooks of the event Setup asked, before those of the start: init or
	// maintenance; "" for none.
	Setup string

	// Hooks are the session's own, which Callback answers.
	Hooks    []ext.Hook
	Callback func(ctx context.Context, id string, input json.RawMessage, call string) (json.RawMessage, error)

	dry bool // it is not meant to run, and told all that one that runs would be
}

// A Running is a session with everything that belongs to it alone.
type Running struct {
	*session.Session
	ID    string
	Kept  bool      // it can be resumed
	After event.Seq // the last event before this run

	place     *Place
	spec      Spec
	room      atomic.Pointer[isolation.Room] // the worktree that it has to itself, nil for none
	main      *ext.Agent                     // that the session is; nil is the usual one
	log       *sessions.Opened
	public    Transcript  // for hooks and other programs, nil without one
	written   func()      // waits for it, nil without one
	beside    func()      // ends what goes on beside the turns, and waits for it
	started   policy.Mode // the mode that it began in
	key       string      // where the model's key came from, "none" without one
	profile   prompt.Profile
	known     environment.Facts
	notes     string        // the folder of the model's own notes, "" for none
	parts     []prompt.Part // of the instructions
	light     *agent.Light  // to take when they do not fit, nil where they are the shorter ones, or a person chose them
	kit       toolkit.Kit
	todo      string      // tools.task_list as it was when it began
	tree      *fleet.Tree // of the session that a person began, and of all that work for it
	flows     *fleet.Flows
	watching  *background.Observers // nil: nobody does
	done      fleet.Done            // of the goroutine of a turn
	spoken    atomic.Bool           // somebody spoke of workflows
	sandboxes *confine.Set
	loop      agent.Loop // what settings do not change
	closed    sync.Once
	opened    atomic.Bool      // what the agent begins with was submitted
	delivers  sync.Once        // what earlier processes left undelivered
	recorded  *rewind.Recorder // what calls changed
	telling   atomic.Bool      // what agents work on is told, whatever settings say
	ext       *ext.Session

	// A reload changes these; one runs at a time.
	fallback []agent.Target
	auto     *models.Classifier
	said     []settings.Problem // problems of settings that were told
	unsafe   string             // why nothing passes without a question, "" where that is not so
}

// Place is where the session works.
func (r *Running) Place() *Place { return r.place }

// Start begins a session, or goes on with one. Close ends it; so does the end
// of the place, or of the process.
func (at *Place) Start(ctx context.Context, s Spec) (*Running, error) {
	at.ext.Begin() // first of all: the instructions wait for skills
	cfg := at.Config()
	rules, mode, err := settings.Permissions(at.process.Environment, cfg, at.Paths, s.Skip)
	if err != nil {
		return nil, err
	}
	if c := s.Child; c != nil {
		mode, rules.List = policy.Stricter(c.Order.Mode, c.Of.Mode()), append(rules.List, c.granted()...)
	}
	if s.Room != nil {
		rules = s.Room.Rules(rules)
	}
	at.unused.Do(func() {
		tell := settings.Unused(cfg, at.Paths)
		if at.process.front.Print { // a script is told of errors, and of what is one by its look
			tell = settings.Misspelt(cfg)
		}
		for _, s := range tell {
			at.process.Notef("settings: %s", s)
		}
	})
	main, err := at.main(cfg, s)
	if err != nil {
		return nil, err
	}
	if main != nil && main.Isolation != "" && s.Child == nil && s.Room == nil && !s.dry {
		return nil, isolation.Needed(main.Name)
	}
	var facts <-chan environment.Facts
	if s.Child == nil || !s.Child.Order.Fork { // which knows what the other session knows
		facts = at.learn(ctx, s.dry, main != nil && main.NoMemory) // memory and git are read while the model is chosen
	}
	log, err := sessions.Choose(ctx, at.process.Run(at.Paths), s.Log)
	if err != nil {
		return nil, err
	}
	plan := at.compose(cfg, main, s, mode)
	if plan.Note != "" {
		at.process.Notef("%s", plan.Note)
	}
	r := &Running{place: at, spec: s, log: log, main: main, ID: log.ID, Kept: log.Resumable, started: resumed(cfg, plan.Mode, log.Mode)}
	r.room.Store(s.Room)
	if t := at.process.Transcripts; t != nil && !s.dry && s.Child == nil {
		r.public = t.Of(at.Paths, cfg, r.ID, r.Kept, cmp.Or(log.Scratch(), at.process.temp.outside))
	}
	if err := r.begin(ctx, cfg, rules, facts); err != nil {
		_ = log.Abandon(ctx) // the cause is said
		if r.ext != nil {
			r.ext.Return()
		}
		return nil, err
	}
	at.add(r, cfg)
	return r, nil
}

// learn reads what a session is told of where it is, in the background; whole waits
// for git however long that takes, and no memory file is read with noMemory.
func (at *Place) learn(ctx context.Context, whole, noMemory bool) <-chan environment.Facts {
	if at.process.sources.Bare {
		none := make(chan environment.Facts, 1)
		none <- environment.Facts{}
		return none
	}
	return environment.Learn(ctx, environment.Place{
		Environment: at.process.Environment, Environ: at.process.Environ, Paths: at.Paths, Config: at.Config, Whole: whole, NoMemory: noMemory,
	})
}

// notesDir is the folder of the model's own notes, on this project or as an agent, ""
// when it is to have none.
func (r *Running) notesDir() string {
	at := r.place
	if r.main != nil && !at.process.sources.Bare {
		if dir := ext.AgentMemory(at.Paths, *r.main); dir != "" {
			return dir
		}
	}
	if !at.Config().Memory.Auto || r.main != nil && r.main.NoMemory || r.spec.Log.None && !r.spec.dry || at.process.sources.Bare {
		return ""
	}
	return sessions.In(at.Paths.State).Notes(sessions.Key(r.project()))
}

// ownNotes reads the index of the model's own notes, and tells what it leaves out.
// There are none for a model that could not keep them.
func (r *Running) ownNotes(tools tool.Set) (own prompt.Own) {
	if r.notes != "" && tools.Files() == tool.KeepsFiles {
		if own = environment.OwnNotes(r.notes); own.Warning != "" {
			r.place.process.Notef("%s", own.Warning)
		}
	}
	return own
}

// resumed is the mode that a session goes on in: what was asked for now, else
// the one it was in, unless that allows more. A log can be changed by others,
// so that what it says loosens nothing.
func resumed(cfg *config.Config, now, logged policy.Mode) policy.Mode {
	if asked(cfg, "permissions.defaultMode") {
		return now
	}
	return policy.Stricter(logged, now)
}

// asked reports whether a setting stands on the command line, in the environment, or
// in the managed settings: it goes before what anything else says.
func asked(cfg *config.Config, key string) bool {
	s, ok := cfg.Setting(key)
	return ok && (s.Origin.Scope == config.Flag || s.Origin.Scope == config.EnvVar || s.Origin.Scope == config.Managed)
}

// begin makes the parts of a session on its open log, and then the session.
func (r *Running) begin(ctx context.Context, cfg *config.Config, rules policy.Rules, facts <-chan environment.Facts) error {
	at := r.place
	target, err := r.choose(ctx, cfg)
	if err != nil {
		return err
	}
	boxes := at.sandboxes(r.started == policy.Bypass, cfg, rules)
	boxes.Apart = r.apart()
	r.sandboxes = confine.New(boxes)
	r.sandboxes.Prepare(ctx, cfg, rules.Dirs, true)
	r.sandboxes.Advance()
	r.extend(cfg)
	if err := r.extendRules(cfg, &rules); err != nil {
		at.process.Notef("%v", err)
	}
	r.await(ctx, cfg)
	if err := r.equipAgent(ctx); err != nil {
		return err
	}
	set, err := r.equip(cfg, rules, target)
	if err != nil {
		return err
	}
	r.notes = r.notesDir()
	readable(&rules, r)
	rules.List = append(rules.List, r.log.Granted()...)
	var known environment.Facts
	var where event.Situated // nothing is news to a fork
	if r.forks() {
		known = r.inherit()
	} else {
		known = <-facts
		if where, err = r.instruct(ctx, cfg, known, set, target.ID(), target.Window); err != nil {
			return err
		}
	}
	r.recorded = rewind.Record(rewind.Config{
		Root: at.Paths.Root, More: rules.Dirs, State: at.own(), Home: at.Paths.Home, Temp: at.process.temp.all, Environ: at.process.Environ,
		Blobs: r.log.Blobs(), Scratch: r.log.Scratch(), Beside: func() bool { return len(r.kit.Tasks.Running()) > 0 }, Told: r.kit.KnowsOnly,
	})
	r.known, r.loop = known, r.newLoop(known)
	// Who starts it can give up while its log is read; then it lives until Close.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	begun := context.AfterFunc(ctx, end)
	var pending func(was, now event.Situated) event.Situated
	if known.Late() {
		pending = environment.Pending
	}
	var above func(context.Context, event.Asked) (op.Answer, error)
	warn, person := cfg.Cost.WarnUSD, at.process.front.Person && !at.process.front.Print
	judge := models.Judges(at.models.Load, func() string { return r.Target().ID() })
	if c := r.spec.Child; c != nil {
		above, warn, person = c.above, 0, false // the session that started it counts what it costs
		judge = nil
	}
	r.Session, err = session.Start(life, session.Config{
		Record: session.Record{Log: r.log, Keeper: r.log, Base: r.base(), Begin: r.log.Begin, Again: event.Resumed{Version: at.process.Version, Dir: at.Paths.Dir, Torn: r.log.Torn}},
		Turns:  session.Turns{Target: target.Target, Resolve: at.resolve, Loop: r.turns(cfg, rules), Budget: r.budget(cfg), Judge: judge, WarnUSD: warn, AskDear: person, Ending: r.ends},
		Hands: session.Hands{
			Tools: set, MoreTools: r.ext.MoreTools() || r.anyTools(cfg),
			DeferAbove: func(window int) int { return cfg.Tools.DeferAbove.Of(cmp.Or(window, likelyWindow)) },
			Commands:   r.ext.Commands(), Files: r.recorded, Tasks: r.kit.Beside, EndTasks: r.endTasks, Shell: r.kit.Shell(), Attach: r.kit.Attach(), Post: r.post,
		},
		Permissions: session.Permissions{
			Rules: rules, Mode: r.started, Forbidden: r.forbidden(cfg), Auto: r.auto, Facts: r.kit.Facts, Keep: r.remember, Revoke: r.log.Revoke, Folders: r.folders,
			Above:  above,
			Steers: r.sandboxes.Steering(at.Paths.Dir, rules.Dirs, at.Paths.Home),
		},
		Surroundings: session.Surroundings{Pending: pending, Remind: r.kit.Remind, Situation: where, Resituate: environment.Changed},
		Hooks:        r.ext.Hooks(),
		Fresh: func() {
			at.live.Fresh()
			r.listen()
			r.delivers.Do(r.undelivered)
		},
		Now: time.Now,
	})
	begun()
	if err != nil {
		return err
	}
	if c := r.spec.Child; c != nil {
		before := r.Made()
		c.made = func() int { return r.Made() - before }
	}
	r.attend(ctx)
	return nil
}

// likelyWindow is taken for a window that is not known, in tokens.
const likelyWindow = 128_000

// choose finds the models of the session.
func (r *Running) choose(ctx context.Context, cfg *config.Config) (models.Target, error) {
	m, err := r.place.modelsOf(cfg)
	if err != nil {
		return models.Target{}, err
	}
	if r.spec.dry {
		t, err := m.Described(ctx, m.Meant(ctx, r.plan(cfg).Model, m.Wish()))
		r.key = t.Key
		return t, err
	}
	r.auto = m.Classifier()
	if t, ok := r.model(); ok {
		return t, nil
	}
	if t := r.spec.Target; t != nil {
		r.key = "none"
		return models.Target{Target: *t}, nil
	}
	var t models.Target
	if c := r.spec.Child; c != nil {
		t, err = c.model(ctx, m, cmp.Or(r.log.Model, r.plan(cfg).Model))
	} else {
		t, err = m.Main(ctx, cmp.Or(r.log.Model, m.Meant(ctx, r.plan(cfg).Model, m.Wish())))
	}
	if err != nil {
		return t, err
	}
	r.strive(cfg, &t.Target)
	r.key = t.Key
	r.fallback, err = m.Fallbacks(ctx)
	return t, err
}

// namedNow are the tools that flags and variables of this start want. One that is only denied
// is missed by nobody.
func namedNow(cfg *config.Config) (out []string) {
	now := func(o config.Origin) bool { return o.Scope == config.Flag || o.Scope == config.EnvVar }
	for _, r := range cfg.Permissions.Allow {
		if name, _, _ := strings.Cut(r.Text, "("); now(r.Origin) {
			out = append(out, name)
		}
	}
	if s, ok := cfg.Setting("tools.allowed"); ok && now(s.Origin) {
		out = append(out, cfg.Tools.Allowed...)
	}
	return out
}

// equip makes the tools, and returns those that the session has.
func (r *Running) equip(cfg *config.Config, rules policy.Rules, target models.Target) (set tool.Set, err error) {
	at, crew := r.place, r.crew()
	standing := at.Paths.Schedules(at.live.Standing)
	if at.process.sources.Bare || r.spec.Child != nil || r.spec.dry {
		standing = nil
	}
	if r.kit, err = toolkit.New(toolkit.Config{
		Session: r.ID, Dir: at.Paths.Dir, Home: at.Paths.Home, Scratch: r.log.Scratch(), Notes: sessions.In(at.Paths.State).Notes(sessions.Key(r.project())), Apart: r.apart, Temp: at.process.temp.outside, Confined: at.process.temp.inside,
		Variables: r.variables, Limits: cfg.Bash, Memory: &at.process.memory, Hide: at.process.hide, Sandboxes: r.sandboxes, Person: at.process.front.Person, Mode: r.started, Schema: r.spec.Schema, InPlan: r.spec.InPlan, Submit: r.submits(), Child: r.spec.Child != nil,
		Resource: at.ext.ResourceTool, Standing: standing, Crew: crew, Merges: crew.Merge != nil, Flows: r.flows, Beside: toolkit.Sources{fleet.Runs{Flows: r.flows}, fleet.Agents{Tree: r.tree}, fleet.Below{Tree: r.tree, Beside: r.besideOf}}, Ends: r.spec.Child != nil || at.process.front.Print && !at.process.front.Lasting, Once: at.process.front.Print && !at.process.front.Lasting, Proxy: at.process.proxy, Schedules: r.spec.Child == nil || r.forks(),
	}); err != nil {
		return set, err
	}
	if names := r.kit.Lacks(namedNow(cfg)); len(names) > 0 {
		at.process.Notef("tools that are not here: %s", strings.Join(names, ", "))
	}
	r.todo = cfg.Tools.TaskList
	r.profile = prompt.Choose(cfg.Profile, target.Local, target.Window)
	set, err = r.narrowed(cfg, rules)
	if text := r.plan(cfg).Lacks(set); text != "" && err == nil {
		at.process.Notef("%s", text)
	}
	return set, err
}

// instruct makes the instructions, in cache order, and returns what they say of
// where the session is. What an earlier run was told stays as it was.
func (r *Running) instruct(ctx context.Context, cfg *config.Config, known environment.Facts, set tool.Set, model string, window int) (event.Situated, error) {
	at := r.place
	skills, style, notes := r.ext.Instructions(window)
	tools := set.Names()
	if !slices.Contains(tools, "Skill") {
		skills = nil
	}
	in := prompt.Input{
		Skills: skills, Style: style, Notes: notes,
		Profile: r.profile, Tools: tools, Print: at.process.front.Print && !at.process.front.Person, Child: r.spec.Child != nil,
		Replace: cmp.Or(r.plan(cfg).System, cfg.SystemPrompt), Append: cfg.AppendSystemPrompt, Language: cfg.Language, Memory: known.Memory, Own: r.ownNotes(set),
		Env: prompt.Environment{
			Dir: at.Paths.Dir, Root: at.Paths.Root, Dirs: at.added(), OS: runtime.GOOS + "/" + runtime.GOARCH, Shell: "bash",
			Date: time.Now(), Model: model, Git: known.Git, Worktree: r.told(),
		},
	}
	r.parts = prompt.Assemble(in)
	now := environment.Event(prompt.Situation(r.parts))
	told, err := r.log.Situation(ctx)
	if err == nil && len(told.Parts) > 0 {
		r.parts = prompt.Keep(r.parts, environment.Parts(told))
	}
	if r.profile == prompt.Full && cfg.Profile != string(prompt.Full) {
		r.light = &agent.Light{Tools: toolkit.Small, System: sync.OnceValue(func() []string {
			in.Profile, in.Tools, in.Skills = prompt.Small, toolkit.Small(set).Names(), nil // no tool loads them
			parts := prompt.Assemble(in)
			if len(told.Parts) > 0 {
				parts = prompt.Keep(parts, environment.Parts(told))
			}
			return prompt.Blocks(parts)
		})}
	}
	return now, err
}

// newLoop is what all turns of the session have in common, whatever the
// settings say.
func (r *Running) newLoop(known environment.Facts) agent.Loop {
	at, touched := r.place, known.Touched()
	structured, key := r.kit.Structured, r.ID
	if r.forks() { // it has the tool, because the other session has it, and answers in words
		structured, key = "", r.spec.Child.Of.loop.CacheKey
	}
	return agent.Loop{
		Record: (&environment.Watcher{Paths: at.Paths, Session: r.ID, Beside: r.recorded.Beside}).Over(r.recorded.Begin),
		System: prompt.Blocks(r.parts), Light: r.light, Full: r.profile == prompt.Full && r.light == nil, Aliases: r.kit.Aliases, Redirects: r.spec.Redirects,
		Env: tool.Env{Session: r.ID, Dir: at.Paths.Dir, Home: at.Paths.Home, Scratch: r.log.Scratch(), Result: r.result},
		Touched: func(begins event.Seq, paths []string) []string {
			out := r.ext.Touched(begins, paths)
			if touched != nil {
				out = append(touched(begins, paths), out...)
				r.ext.Loaded(known.Files())
			}
			return out
		},
		Patient: !at.process.front.Print,
		Results: r.results,
		Stale:   r.kit.Stale, Changed: r.kit.Changed, Notes: r.sessionNotes,
		Mask: r.mask, Structured: structured, CacheKey: key,
		Spill: func(_, text string) (string, error) { return r.log.Spill(text) },
		Now:   time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 2*rand.Float64() - 1 },
	}
}

// attend hands the session to those that were made before it.
func (r *Running) attend(ctx context.Context) {
	at := r.place
	r.recall()
	r.kit.Tasks.Number(maps.Keys(r.State().Mail))
	r.kit.Tell(r.Session, func() bool { return at.Config().Bash.Wake })
	r.sandboxes.Attend(r.Session)
	r.log.Tell(ctx)
	st := r.State()
	if left := r.recorded.Left(); left != "" {
		r.place.process.Notef("%s", clip.VisibleText(left))
	}
	if len(st.Lost) > 0 {
		r.place.process.Notef("variables that commands had exported are not set any more, because they steer programs, are secret or longer than 4 KB: %s", clip.Line(clip.Visible(strings.Join(st.Lost, ", ")), 500))
	}
	waits := slices.DeleteFunc(slices.Clone(st.Queue), func(q event.InputQueued) bool { return q.From.Notice() })
	if n := len(waits); n > 0 {
		first := clip.Line(clip.Visible(waits[0].Text), 200)
		r.place.process.Notef("%s that waited when adze was ended still waits, and goes to the model before your next prompt: %s", clip.Count(n, "prompt"), first)
	}
	r.After = st.Seq
	if r.public != nil {
		r.written = r.public.Follow(r)
	}
	r.kit.Knows(st.Files())
	r.accompany()
	if c := r.spec.Child; c != nil && c.Of.public != nil {
		_, r.written = c.Of.public.Agent(r.Session, c.agent.ID, r.Target().ID())
	}
	later := r.known.Later(func(g prompt.Git) { // a session that is over needs no more
		_ = r.Situate(func(now event.Situated) event.Situated { return environment.Answered(now, g) }, prompt.Late(g))
	})
	beside := r.beside
	unseen := r.observed()
	r.beside = func() { unseen(); later(); beside() }
	r.ext.Attach(r.Session, r.After)
	r.initial()
	r.ext.Loaded(r.known.Files())
}

// forbidden are the modes that the session cannot be switched to, and why.
func (r *Running) forbidden(cfg *config.Config) map[policy.Mode]string {
	return settings.Forbidden(r.place.process.Environment, cfg, r.started, r.spec.MayBypass)
}

// remember saves the rules of a person's answer: for this session, or for
// later ones in a settings file. A domain that the sandbox asked about goes
// into its list, which a shared file cannot extend, so there it goes into the
// local one.
func (r *Running) remember(ctx context.Context, tool string, where op.Keep, rules []string) error {
	if where == op.ForSession {
		return r.log.Grant(ctx, rules)
	}
	at, domains := r.place, tool == confine.NetworkTool
	if domains && where == op.ForProject {
		where = op.ForLocal
	}
	file, edits, err := settings.Allow(at.Paths, string(where), rules, domains)
	if err != nil {
		return err
	}
	var notes []string
	if err := at.live.Write(file.Path, func() error {
		return r.sandboxes.Outside([]string{file.Path}, func() (err error) {
			notes, err = settings.Write(ctx, at.Paths, file, edits...)
			return err
		})
	}); err != nil {
		return err
	}
	if len(notes) > 0 {
		return errors.New(strings.Join(notes, "; "))
	}
	return nil
}

// Seed has the session know a file that the model saw before it, as toolkit.Kit.Seed.
func (r *Running) Seed(path string, at int64) bool { return r.kit.Seed(path, at) }

// Dry starts a session that is not meant to run. It needs no key.
func (at *Place) Dry(ctx context.Context, s Spec) (*Running, error) {
	s.dry = true
	return at.Start(ctx, s)
}
