// Package app puts the parts of adze together: settings, rules, model, tools,
// instructions and log become a session. It is wired by hand, top to bottom,
// and decides nothing that a part could decide.
package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/temp"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/memory"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/bash"
	"github.com/adze-agent/adze/internal/tool/file"
	"github.com/adze-agent/adze/internal/tool/plan"
)

// Options say how to start.
type Options struct {
	Version string
	Dir     string // where to work: absolute
	Home    string // absolute, "" when there is none
	Temp    string // where temporary files go: absolute; "" asks the system
	Environ []string
	Env     func(string) string
	// Proxy chooses the proxy of a request, as the environment says; nil is none.
	Proxy func(*http.Request) (*url.URL, error)

	Flags    []config.Given
	Settings string   // --settings
	Sources  []string // --setting-sources, nil for all
	Trusted  bool
	once     bool // it was Trusted, with other content than there is now
	Bare     bool // no memory, no project settings, no git

	Print bool // nobody watches
	// Lasting: more prompts may come, so that settings are watched from the
	// start. Other sessions watch them when they take longer than a second.
	Lasting bool
	Person  bool // somebody can answer questions
	Skip    bool // --dangerously-skip-permissions
	// MayBypass: the session may be switched to the mode bypassPermissions.
	MayBypass bool

	Session SessionOptions
	Schema  json.RawMessage // of a structured answer, nil for none
	// Target, when set, is the model to use, whatever the settings say.
	Target *agent.Target
	// Memory is what servers refused, for the process; nil: nothing yet.
	Memory *choose.Memory
	// Record, when set, gets a cassette of everything providers answer.
	Record io.Writer
	// Hide is told of keys that are no variables; Open sets it.
	Hide func(key string)
	// Resolve and Dial are how the sandbox's proxy looks names up and connects
	// to what it checked; nil uses the system's.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Note is told what a person should know and no event says.
	Note func(string)
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

// An App is a running session with everything that belongs to it.
type App struct {
	*session.Session
	Config *config.Config
	Paths  Paths
	Target agent.Target
	Key    string // where the model's key came from, "none" without one
	Tools  tool.Set
	Mode   policy.Mode
	ID     string    // of the session
	After  event.Seq // the last event before this run
	Parts  []prompt.Part
	Kept   bool // the session can be resumed

	log      *openedLog
	boxes    boxes
	live     *live // nil until the session has started
	hide     *secret.Redactor
	profile  prompt.Profile
	memory   *memory.Reader // nil with --bare
	note     func(string)
	tasks    *bash.Tasks
	temp     temporary
	tempRoot string       // temp.all stands in it
	folder   *temp.Folder // temp.all
	swept    func()       // ends the search for folders of dead sessions
	version  string
}

// Paths are the folders of a run: absolute, resolved.
type Paths struct {
	Dir  string // where the session works
	Root string // the repository's, or Dir
	Home string
	config.Folders
}

// Open starts a session.
func Open(ctx context.Context, o Options) (*App, error) {
	began := time.Now()
	paths, cfg, err := Settings(o)
	if err != nil {
		return nil, err
	}
	rules, mode, err := permissions(o, cfg, paths)
	if err != nil {
		return nil, err
	}
	learned := learn(ctx, o, cfg, paths) // memory and git are read while the model is chosen
	log, err := openLog(ctx, o, paths)
	if err != nil {
		return nil, err
	}
	mode = resumed(cfg, mode, log.mode)
	hide := secret.New(Secrets(o.Environ)...)
	o.Hide = func(key string) { hide.Add(key) }
	chooser, err := Models(o, cfg)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	models := &models{Chooser: chooser, o: o, cfg: cfg, begun: log.model}
	a := &App{hide: hide, version: o.Version, note: o.Note, tempRoot: cmp.Or(o.Temp, os.TempDir()), Config: cfg, Paths: paths, Mode: mode, ID: log.id, Kept: log.kept, log: log}
	if err := a.start(ctx, o, began, models, rules, log, learned); err != nil {
		_ = log.Close()
		return nil, err
	}
	return a, nil
}

// start makes the tools and the session on an open log. The settings were
// read after began.
func (a *App) start(ctx context.Context, o Options, began time.Time, models *models, rules policy.Rules, log *openedLog, learned <-chan learned) error {
	target, err := models.main(ctx)
	if err != nil {
		return err
	}
	fallback, err := models.fallback(ctx)
	if err != nil {
		return err
	}
	a.Target, a.Key = target.Target, target.key
	live := &live{closing: make(chan struct{}), a: a, o: o, log: log, cfg: a.Config, fallback: fallback, started: a.Mode, read: began, auto: models.classifier(ctx, a.Mode)}
	live.models.Store(models)
	if err := a.makeTemp(ctx); err != nil {
		return fmt.Errorf("make a folder for temporary files: %w", err)
	}
	ledger := file.NewLedger()
	live.confine(ctx, a.Config, rules.Dirs)()
	live.setVars(a.Config)
	kit, err := newKit(o, a.Config, a.Paths, kitParts{boxes: &a.boxes, settle: a.settle, vars: live.environment, mode: a.Mode, ledger: ledger, temp: a.temp, hide: a.hide})
	if err != nil {
		return err
	}
	a.profile = prompt.Choose(a.Config.Profile, target.local, a.Target.Window)
	if kit.set, err = kit.narrowed(a.profile, a.Config.Tools, rules); err != nil {
		return err
	}
	a.Tools, a.tasks = kit.set, kit.tasks
	live.readable(&rules)
	rules.List = append(rules.List, log.granted(o, a.Paths)...)
	known := <-learned
	a.Parts, a.memory = a.parts(o, known), known.reader
	now := situated(prompt.Situation(a.Parts))
	told, err := log.situation(ctx)
	if err != nil {
		return err
	}
	if len(told.Parts) > 0 {
		a.Parts = prompt.Keep(a.Parts, parts(told))
	}
	live.kit, live.turn = kit, agent.Loop{
		System: prompt.Blocks(a.Parts), Aliases: kit.aliases,
		Env:     tool.Env{Dir: a.Paths.Dir, Home: a.Paths.Home, Scratch: log.scratch()},
		Touched: a.touched(o),
		Mask:    masked(a.hide), Structured: kit.structured, CacheKey: log.id, Spill: log.spill,
		Now: time.Now, Sleep: agent.Sleep, Jitter: func() float64 { return 2*rand.Float64() - 1 },
	}
	a.Session, err = session.Start(context.WithoutCancel(ctx), session.Config{
		Log: log, Begin: log.begin, Again: event.Resumed{Version: o.Version, Dir: a.Paths.Dir, Torn: log.torn},
		Auto: live.auto, Remind: remind,
		Situation: now, Resituate: func(was, now event.Situated) string { return prompt.Changed(parts(was), parts(now)) },
		Target: a.Target, Rules: rules, Mode: a.Mode, Keep: a.remember, Now: time.Now,
		Forbidden: forbidden(o, a.Config, a.Mode), Steers: a.steering(rules.Dirs),
		Resolve: live.resolve, Tasks: kit.tasks, Shell: a.shell(kit.all), Attach: a.attach(kit.all), Loop: live.loop(a.Config, rules), Tools: kit.set, Budget: budget(a.Config),
	})
	if err != nil {
		return err
	}
	kit.tasks.Watch(background{a.Session, a.hide})
	log.tell(o)
	st := a.Session.State()
	a.After = st.Seq
	for _, f := range st.Files() {
		ledger.Restore([]effect.File{f})
	}
	a.live = live
	live.watch()
	return nil
}

// temporary are the folders for temporary files. Commands in the sandbox write
// in inside, and nothing that is not confined makes or opens a file there by
// its name; TMPDIR of all other commands is outside.
type temporary struct{ all, inside, outside string }

// makeTemp makes the folder for temporary files, and removes those of dead
// sessions beside it meanwhile.
func (a *App) makeTemp(ctx context.Context) (err error) {
	if a.folder, err = temp.Make(a.tempRoot); err != nil {
		return err
	}
	a.temp = temporary{all: a.folder.Path, inside: filepath.Join(a.folder.Path, "in"), outside: filepath.Join(a.folder.Path, "out")}
	for _, dir := range []string{a.temp.inside, a.temp.outside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return errors.Join(err, a.folder.Remove())
		}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { // ends after all folders, or with Close
		defer close(done)
		temp.Sweep(ctx, a.tempRoot, time.Now())
	}()
	a.swept = func() {
		select {
		case <-done:
		case <-time.After(time.Second): // there is much; the next start goes on
		}
		stop()
		<-done
	}
	return nil
}

// remind is what the model is told at the start of a turn, and when the mode
// changes in the middle of one.
func remind(told, now policy.Mode) string {
	switch {
	case now == policy.PlanMode:
		return plan.Reminder()
	case told == policy.PlanMode:
		return "Plan mode is over: you may change files and run commands again, as the permissions allow."
	}
	return ""
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

// Close interrupts what runs, ends every command and closes the log.
func (a *App) Close() error {
	var watch sync.WaitGroup
	watch.Go(a.live.close) // takes milliseconds, and nothing here needs it
	err := a.Session.Close()
	ended := a.tasks.Running()
	a.tasks.Close(2 * time.Second)
	if a.note != nil && len(ended) > 0 {
		a.note("ended what ran in the background: " + taskList(ended))
	}
	err = errors.Join(err, a.boxes.close())
	watch.Wait()
	a.swept()
	_ = a.folder.Remove()
	if a.Kept {
		a.cleanUp()
	}
	return err
}

// Abort ends every command at once. It is for a process that will not live
// to Close.
func (a *App) Abort() {
	a.tasks.Close(0)
	_ = a.folder.Remove()
}

// cleanUp removes old sessions, at most once a day.
func (a *App) cleanUp() {
	days, mark := a.Config.CleanupDays, filepath.Join(a.Paths.State, "last-cleanup")
	if info, err := os.Stat(mark); days <= 0 || err == nil && time.Since(info.ModTime()) < 24*time.Hour {
		return
	}
	if os.WriteFile(mark, nil, 0o600) != nil {
		return
	}
	all := Sessions(a.Paths)
	n, err := all.Cleanup(context.Background(), days)
	Grants(a.Paths, nil).Sweep(func(id string) bool { return id == a.ID || all.Has(id) })
	if err == nil && n > 0 && a.note != nil {
		a.note(fmt.Sprintf("removed %s, not used for %s (cleanup_days)", clip.Count(n, "session"), clip.Count(days, "day")))
	}
}

// Settings finds the folders and loads the settings.
func Settings(o Options) (Paths, *config.Config, error) {
	p, err := folders(o)
	if err != nil {
		return p, nil, err
	}
	cfg, err := loadConfig(o, p)
	return p, cfg, err
}

func folders(o Options) (Paths, error) {
	var p Paths
	dir, err := place.Resolve(o.Dir)
	if err != nil {
		return p, fmt.Errorf("work in %s: %w", o.Dir, err)
	}
	p.Dir, p.Home = dir, o.Home
	if h, err := place.Resolve(o.Home); err == nil && o.Home != "" {
		p.Home = h
	}
	p.Root = RepoRoot(dir)
	if p.Folders, err = config.FindFolders(p.Home, o.Env, exists); err != nil {
		return p, &Mistake{err.Error(), "set HOME, or set ADZE_HOME to an absolute path: HOME=/home/me adze …"}
	}
	return p, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// RepoRoot is the folder above dir that holds .git, or dir.
func RepoRoot(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}
