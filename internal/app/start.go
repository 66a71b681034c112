package app

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/kit"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/sandbox/boxes"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// A Spec is what one session is to be. The zero value is a new one, as the
// settings say.
type Spec struct {
	Log SessionOptions
	// Model is the model to use, as people call it, "" for that of the settings.
	// Target, when set, is the model itself.
	Model  string
	Target *agent.Target
	// Tools are the names of the only tools it has; nil: those of the settings.
	Tools  []string
	Schema json.RawMessage // of a structured answer, nil for none
	// Skip: it begins in the mode bypassPermissions. MayBypass: it may be
	// switched to that mode.
	Skip, MayBypass bool
}

// SessionOptions choose the log.
type SessionOptions struct {
	Continue bool
	Resume   string
	Fork     bool
	At       string // with Resume: the message to go on from, in a copy; "" is the last
	ID       string // of a new session
	None     bool   // keep nothing on disk
}

// A Running is a session with everything that belongs to it alone.
type Running struct {
	*session.Session
	ID    string
	Kept  bool      // it can be resumed
	After event.Seq // the last event before this run

	world   *World
	spec    Spec
	log     *openedLog
	started policy.Mode // the mode that it began in
	key     string      // where the model's key came from, "none" without one
	profile prompt.Profile
	parts   []prompt.Part // of the instructions
	kit     kit.Kit
	boxes   *boxes.Set
	loop    agent.Loop // what settings do not change
	closed  sync.Once
	// recorded is what calls changed; scratch is for what commands may change.
	recorded *checkpoint.Recorder
	scratch  *os.File

	// A reload changes these; one runs at a time.
	fallback *agent.Target
	auto     *auto.Classifier
	said     []string // problems of settings that were told
}

// Start begins a session, or goes on with one. Close ends it; so does the end
// of the World.
func (w *World) Start(ctx context.Context, s Spec) (*Running, error) {
	cfg := w.Config()
	rules, mode, err := permissions(w.process, s, cfg, w.Paths)
	if err != nil {
		return nil, err
	}
	learned := learn(ctx, w.process, w.sources, cfg, w.Paths) // memory and git are read while the model is chosen
	log, err := openLog(ctx, w.process, s.Log, w.Paths)
	if err != nil {
		return nil, err
	}
	r := &Running{world: w, spec: s, log: log, ID: log.id, Kept: log.kept, started: resumed(cfg, mode, log.mode)}
	if err := r.begin(ctx, cfg, rules, learned); err != nil {
		_ = log.Close()
		return nil, err
	}
	w.add(r, cfg)
	return r, nil
}

// Dry starts a session that is not meant to run: without a key, the
// instructions are those for a model that is not known.
func (w *World) Dry(ctx context.Context, s Spec) (*Running, error) {
	r, err := w.Start(ctx, s)
	if err == nil || w.Config().Model != "" {
		return r, err
	}
	s.Target = &agent.Target{Provider: "no", Name: "model"}
	return w.Start(ctx, s)
}

// begin makes the parts of a session on its open log, and then the session.
func (r *Running) begin(ctx context.Context, cfg *config.Config, rules policy.Rules, learned <-chan learned) error {
	w := r.world
	target, err := r.choose(ctx, cfg)
	if err != nil {
		return err
	}
	r.boxes = boxes.New(w.sandboxes(r.started == policy.Bypass))
	r.boxes.Prepare(ctx, cfg, rules.Dirs, true)
	r.boxes.Advance()
	set, err := r.equip(cfg, rules, target)
	if err != nil {
		return err
	}
	readable(&rules, r)
	rules.List = append(rules.List, r.log.granted(w.process, w.Paths)...)
	known := <-learned
	r.parts = r.instructions(cfg, known, set.Names(), target.ID())
	now := situated(prompt.Situation(r.parts))
	told, err := r.log.situation(ctx)
	if err != nil {
		return err
	}
	if len(told.Parts) > 0 {
		r.parts = prompt.Keep(r.parts, parts(told))
	}
	recorder, err := r.recorder()
	if err != nil {
		return err
	}
	r.loop = agent.Loop{
		Record: recorder.Begin,
		System: prompt.Blocks(r.parts), Aliases: r.kit.Aliases,
		Env:     tool.Env{Dir: w.Paths.Dir, Home: w.Paths.Home, Scratch: r.log.scratch()},
		Touched: w.touched(known.reader), Patient: !w.front.Print,
		Mask: w.hide.Result, Structured: r.kit.Structured, CacheKey: r.log.id, Spill: r.log.spill,
		Now: time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 2*rand.Float64() - 1 },
	}
	r.Session, err = session.Start(context.WithoutCancel(ctx), session.Config{
		Log: r.log, Keeper: r.log, Begin: r.log.begin, Again: event.Resumed{Version: w.process.Version, Dir: w.Paths.Dir, Torn: r.log.torn},
		Auto: r.auto, Remind: kit.Remind,
		Situation: now, Resituate: func(was, now event.Situated) string { return prompt.Changed(parts(was), parts(now)) },
		Target: target.Target, Rules: rules, Mode: r.started, Keep: r.remember, Now: time.Now,
		Forbidden: forbidden(w.process, r.spec, cfg, r.started), Steers: boxes.Steering(w.Paths.Dir, rules.Dirs, w.Paths.Home),
		Files: files{recorder, r.kit.KnowsOnly}, Resolve: w.resolve, Tasks: r.kit.Tasks, Shell: r.kit.Shell(), Attach: r.kit.Attach(), Loop: r.turns(cfg, rules), Tools: set, Budget: budget(cfg),
	})
	if err != nil {
		return err
	}
	r.attend()
	return nil
}

// choose finds the models of the session.
func (r *Running) choose(ctx context.Context, cfg *config.Config) (models.Target, error) {
	m, err := r.world.modelsOf(cfg)
	if err != nil {
		return models.Target{}, err
	}
	r.auto = m.Classifier(ctx, r.started)
	if t := r.spec.Target; t != nil {
		r.key = "none"
		return models.Target{Target: *t}, nil
	}
	t, err := m.Main(ctx, r.spec.Model, r.log.model)
	if err != nil {
		return t, err
	}
	r.key = t.Key
	r.fallback, err = m.Fallback(ctx)
	return t, err
}

// equip makes the tools, and returns those that the session has.
func (r *Running) equip(cfg *config.Config, rules policy.Rules, target models.Target) (set tool.Set, err error) {
	w := r.world
	if r.kit, err = kit.New(kit.Config{
		Dir: w.Paths.Dir, Home: w.Paths.Home, Scratch: r.log.scratch(), Temp: w.temp.outside, Confined: w.temp.inside,
		Variables: w.variables, Limits: cfg.Bash, Hide: w.hide, Boxes: r.boxes, Person: w.front.Person, Mode: r.started, Schema: r.spec.Schema,
	}); err != nil {
		return set, err
	}
	r.profile = prompt.Choose(cfg.Profile, target.Local, target.Window)
	return r.narrowed(cfg, rules)
}

// attend hands the session to those that were made before it.
func (r *Running) attend() {
	w := r.world
	r.kit.Tell(r.Session)
	r.boxes.Attend(r.Session)
	r.log.tell(w.process)
	st := r.State()
	if len(st.Lost) > 0 {
		w.process.note("variables that commands had exported are not set any more, because they steer programs, are secret or longer than 4 KB: %s", clip.Line(clip.Visible(strings.Join(st.Lost, ", ")), 500))
	}
	r.After = st.Seq
	r.kit.Knows(st.Files())
}

// add has changed settings count for r from now on, and those that changed
// since it was made from cfg.
func (w *World) add(r *Running, cfg *config.Config) {
	w.live.mu.Lock()
	defer w.live.mu.Unlock()
	w.mu.Lock()
	w.running = append(w.running, r)
	w.mu.Unlock()
	if r.Kept {
		ids := []string{r.ID}
		if old := w.ids.Load(); old != nil {
			ids = append(ids, *old...)
		}
		w.ids.Store(&ids)
	}
	r.said = problems(cfg, nil)
	if now := w.Config(); now != cfg {
		w.live.tell(r, cfg, now)
	}
}

// Close interrupts what runs, ends every command and closes the log.
func (r *Running) Close() (err error) {
	r.closed.Do(func() {
		w := r.world
		err = r.Session.Close()
		if ended := r.kit.Close(2 * time.Second); ended != "" {
			w.process.note("ended what ran in the background: %s", ended)
		}
		err = errors.Join(err, r.boxes.Close())
		r.recorded.Tree.Close()
		_ = r.scratch.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.running = slices.DeleteFunc(w.running, func(x *Running) bool { return x == r })
	})
	return err
}

// strict orders modes by how much they allow without a question.
func strict(m policy.Mode) int {
	return slices.Index([]policy.Mode{policy.PlanMode, policy.DontAsk, policy.Default, policy.Auto, policy.AcceptEdits, policy.Bypass}, m)
}

// resumed is the mode that a session goes on in: what was asked for now, else
// the one it was in, unless that allows more. A log can be changed by others,
// so that what it says loosens nothing.
func resumed(cfg *config.Config, now, logged policy.Mode) policy.Mode {
	s, ok := cfg.Setting("permissions.defaultMode")
	asked := ok && (s.Origin.Scope == config.Flag || s.Origin.Scope == config.EnvVar || s.Origin.Scope == config.Managed)
	if i := strict(logged); !asked && i >= 0 && i < strict(now) {
		return logged
	}
	return now
}
