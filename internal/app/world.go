// Package app puts the parts of adze together. A World is what a process has
// once: settings, models, temporary files. Start makes a session in it: log,
// tools, instructions. It is wired by hand, top to bottom, and decides nothing
// that a part could decide.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/temp"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/sandbox/boxes"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A Process is what surrounds adze.
type Process struct {
	Version string
	Dir     string // where to work: absolute
	Home    string // absolute, "" when there is none
	Temp    string // where temporary files go: absolute; "" asks the system
	Environ []string
	Env     func(string) string
	// Note is told what a person should know and no event says; nil: nobody.
	Note func(string)
	// Proxy chooses the proxy of a request, as the environment says; nil is none.
	Proxy func(*http.Request) (*url.URL, error)
	// Memory is what servers refused, for the process; nil: nothing yet.
	Memory *choose.Memory
	// Record, when set, gets a cassette of everything providers answer.
	Record io.Writer
	// Resolve and Dial are how the sandbox's proxy looks names up and connects
	// to what it checked; nil uses the system's.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// Models are the models of these settings. patient: somebody watches.
func (p Process) Models(f config.Folders, cfg *config.Config, patient bool, hide func(key string)) (*models.Set, error) {
	return models.New(models.Config{
		Version: p.Version, Home: p.Home, Folders: f, Environ: p.Environ, Env: p.Env, Proxy: p.Proxy,
		Memory: p.Memory, Record: p.Record, Patient: patient, Hide: hide, Note: p.Note,
	}, cfg)
}

// modelsOf are the models with these settings.
func (w *World) modelsOf(cfg *config.Config) (*models.Set, error) {
	if m := w.models.Load(); m != nil && m.From(cfg) {
		return m, nil
	}
	m, err := w.process.Models(w.Paths.Folders, cfg, !w.front.Print, func(key string) { w.hide.Add(key) })
	if err == nil {
		w.models.Store(m)
	}
	return m, err
}

// Sandbox is what the settings make of the sandbox.
func (p Process) Sandbox(paths Paths, cfg *config.Config, roots []string) (sandbox.Config, error) {
	return boxes.Settings(p.sandboxes(paths), cfg, roots)
}

func (p Process) sandboxes(paths Paths) boxes.Config {
	return boxes.Config{
		Dir: paths.Dir, Home: paths.Home, Folders: paths.Folders, Env: p.Env, TempRoot: p.Temp,
		Resolve: p.Resolve, Dial: p.Dial, Note: p.Note,
	}
}

// sandboxes is what those of a session are made from.
func (w *World) sandboxes(bypass bool) boxes.Config {
	c := w.process.sandboxes(w.Paths)
	c.Temp, c.Bypass = w.temp.inside, bypass
	return c
}

// resolve finds a model by name, for a person who switches.
func (w *World) resolve(ctx context.Context, name string) (agent.Target, error) {
	t, err := w.models.Load().Named(ctx, name)
	return t.Target, err
}

// note tells a person something, where somebody listens.
func (p Process) note(format string, args ...any) {
	if p.Note != nil {
		p.Note(fmt.Sprintf(format, args...))
	}
}

// Sources say which settings count.
type Sources struct {
	Flags   []config.Given
	Inline  string   // --settings: a file, or JSON
	Only    []string // --setting-sources, nil for all
	Trusted bool     // --trust: those of the folder count, as they are at the start
	Bare    bool     // none of the project; no memory and no git either
	once    bool     // it was Trusted, with other content than there is now
}

// A Front is what a process's front end is.
type Front struct {
	Print  bool // nobody watches
	Person bool // somebody can answer questions
	// Lasting: more prompts may come, so that settings are watched from the
	// start. Other sessions watch them when they take longer than a second.
	Lasting bool
}

// A World is what all sessions of a process share.
type World struct {
	Paths   Paths
	process Process
	sources Sources
	front   Front
	hide    *secret.Redactor
	models  atomic.Pointer[models.Set] // nil before the first session
	live    live
	temp    temporary

	ids atomic.Pointer[[]string] // of sessions that are kept on disk
	mu  sync.Mutex               // guards running
	// running are the sessions that have begun and are not closed.
	running []*Running
}

// Paths are the folders of a run: absolute, resolved.
type Paths struct {
	Dir  string // where the session works
	Root string // the repository's, or Dir
	Home string
	config.Folders
}

// Open loads the settings and makes what sessions share. Close it in the end.
func Open(ctx context.Context, p Process, s Sources, f Front) (*World, error) {
	began := time.Now()
	paths, cfg, err := Settings(p, s)
	if err != nil {
		return nil, err
	}
	w := &World{Paths: paths, process: p, sources: s, front: f, hide: secret.New(secret.Environ(p.Environ)...)}
	w.live = live{world: w, read: began, closing: make(chan struct{})}
	w.live.now.Store(cfg)
	if s.Trusted {
		w.live.trusted = repoSums(cfg, paths)
	}
	if w.temp, err = makeTemp(ctx, cmp.Or(p.Temp, os.TempDir())); err != nil {
		return nil, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	w.live.watch()
	return w, nil
}

// Config is the settings in force. Nothing may change them.
func (w *World) Config() *config.Config { return w.live.now.Load() }

// sessions are those that run now.
func (w *World) sessions() []*Running {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.running)
}

// Close ends every session and what they shared.
func (w *World) Close() error {
	var watch sync.WaitGroup
	watch.Go(w.live.close) // takes milliseconds, and nothing here needs it
	var errs []error
	for _, r := range slices.Backward(w.sessions()) { // the youngest first: it may be a child of others
		errs = append(errs, r.Close())
	}
	watch.Wait()
	w.temp.remove()
	w.cleanUp()
	return errors.Join(errs...)
}

// Abort ends every command at once. It is for a process that will not live
// to Close.
func (w *World) Abort() {
	for _, r := range w.sessions() {
		r.kit.Tasks.Close(0)
	}
	_ = w.temp.folder.Remove()
}

// cleanUp removes old sessions, at most once a day, where one was kept.
func (w *World) cleanUp() {
	mine := w.ids.Load()
	days, mark := w.Config().CleanupDays, filepath.Join(w.Paths.State, "last-cleanup")
	if info, err := os.Stat(mark); mine == nil || days <= 0 || err == nil && time.Since(info.ModTime()) < 24*time.Hour {
		return
	}
	if os.WriteFile(mark, nil, 0o600) != nil {
		return
	}
	all := Sessions(w.Paths)
	n, err := all.Cleanup(context.Background(), days)
	Grants(w.Paths, nil).Sweep(func(id string) bool { return slices.Contains(*mine, id) || all.Has(id) })
	if err == nil && n > 0 {
		w.process.note("removed %s, not used for %s (cleanup_days)", clip.Count(n, "session"), clip.Count(days, "day"))
	}
}

// temporary are the folders for temporary files. Commands in the sandbox write
// in inside, and nothing that is not confined makes or opens a file there by
// its name; TMPDIR of all other commands is outside.
type temporary struct {
	all, inside, outside string
	folder               *temp.Folder // all
	swept                func()       // ends the search for folders of dead sessions
}

// makeTemp makes the folder for temporary files in root, and removes those of
// dead sessions beside it meanwhile.
func makeTemp(ctx context.Context, root string) (temporary, error) {
	folder, err := temp.Make(root)
	if err != nil {
		return temporary{}, err
	}
	t := temporary{folder: folder, all: folder.Path, inside: filepath.Join(folder.Path, "in"), outside: filepath.Join(folder.Path, "out")}
	for _, dir := range []string{t.inside, t.outside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return t, errors.Join(err, folder.Remove())
		}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { // ends after all folders, or with remove
		defer close(done)
		temp.Sweep(ctx, root)
	}()
	t.swept = func() {
		select {
		case <-done:
		case <-time.After(time.Second): // there is much; the next start goes on
		}
		stop()
		<-done
	}
	return t, nil
}

func (t temporary) remove() {
	t.swept()
	_ = t.folder.Remove()
}

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
