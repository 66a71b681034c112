// Package app puts the parts of adze together. A World is what a process has
// once: settings, models, temporary files. Start makes a session in it: log,
// tools, instructions. It is wired by hand, top to bottom, and decides nothing
// that a part could decide.
package app

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/kit"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A World is what all sessions of a process share.
type World struct {
	Paths   settings.Paths
	process Process
	front   Front
	bare    bool // no memory and no git
	hide    *secret.Redactor
	models  atomic.Pointer[models.Set] // nil before the first session
	outworn atomic.Bool                // keys may have been saved since models were made
	live    *settings.Live
	ext     *ext.World
	temp    temporary
	memory  kit.Memory // of the commands of all sessions

	unused sync.Once // tells what of the settings is not used

	mu sync.Mutex // guards the rest
	// running are the sessions that have begun and are not closed.
	running []*Running
	kept    []string // the IDs of those that began and are kept on disk
}

// Open loads the settings and makes what sessions share. Close it in the end.
func Open(ctx context.Context, p Process, s settings.Sources, f Front) (*World, error) {
	live, err := settings.Open(p.Environment, s)
	if err != nil {
		return nil, err
	}
	w := &World{Paths: live.Paths, process: p, front: f, bare: s.Bare, live: live, hide: secret.New(secret.Environ(p.Environ)...)}
	w.secrets(w.Config())
	root := cmp.Or(p.Temp, os.TempDir())
	if w.temp, w.process.Temp, err = makeTemp(ctx, root); err != nil {
		return nil, err
	}
	if w.process.Temp != root {
		w.process.Notef("%s cannot have temporary files (TMPDIR); they go to %s", root, w.process.Temp)
	}
	proxy := func(r *http.Request) (*url.URL, error) { return p.Proxy(live.Config())(r) }
	w.ext = ext.Open(ext.WorldConfig{
		Flags: p.Extensions, Version: p.Version, Live: live, Env: p.Env, Environment: p.Environ,
		Environ: func() (environ, allow []string) { return w.inherited(w.Config()) },
		Roots:   w.roots, Bare: s.Bare, Lasting: f.Lasting, Person: f.Person && !f.Print, HTTP: transport(proxy), Proxy: proxy, Hide: w.hide.String, Hidden: w.hide.Add,
	})
	live.Guard(w.ext.Reconfigures)
	live.Follow(ext.Market(live.Paths, p.Env, p.Environ, p.Version).LockFile())
	live.Watch(f.Lasting, w.changed)
	return w, nil
}

// Config is the settings in force. Nothing may change them.
func (w *World) Config() *config.Config { return w.live.Config() }

// Reread has what settings files and saved keys say now count for the next
// session, whether or not the watch has told of it yet.
func (w *World) Reread() {
	w.live.Reread()
	w.outworn.Store(true)
}

// Write has a settings file changed by write, for a person. What it says counts
// when Write returns, and is no news to anybody.
func (w *World) Write(path string, write func() error) error {
	for _, r := range w.sessions() { // no sandbox may take it for what a command left
		inner := write
		write = func() error { return r.sandboxes.Outside([]string{path}, inner) }
	}
	if err := w.live.Write(path, write); err != nil {
		return err
	}
	w.live.Reread()
	return nil
}

// Give has a setting count until the process ends, as a flag does.
func (w *World) Give(g config.Given) { w.live.Give(g) }

// add has changed settings count for r from now on, and those that changed
// since it was made from cfg.
func (w *World) add(r *Running, cfg *config.Config) {
	w.live.Hold(func() {
		w.mu.Lock()
		w.running = append(w.running, r)
		if r.Kept {
			w.kept = append(w.kept, r.ID)
		}
		w.mu.Unlock()
		r.said, r.unsafe = settings.Problems(cfg, w.Paths, nil)
		if now := w.Config(); now != cfg {
			r.reload(cfg, now)
		}
	})
}

// changed makes changed settings count in every session.
func (w *World) changed(was, now *config.Config) {
	w.secrets(now)
	for _, r := range w.sessions() {
		r.reload(was, now)
	}
}

// secrets has what the person's settings set in variables hidden as keys of the
// environment are.
func (w *World) secrets(cfg *config.Config) {
	var list []string
	for name := range cfg.Env {
		if v, _, own := cfg.Variable(name); own {
			list = append(list, name+"="+v)
		}
	}
	w.hide.Add(secret.Environ(list)...)
}

// sessions are those that run now.
func (w *World) sessions() []*Running {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.running)
}

// drop forgets a session that is closed.
func (w *World) drop(r *Running) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = slices.DeleteFunc(w.running, func(x *Running) bool { return x == r })
}

// modelsOf are the models with these settings.
func (w *World) modelsOf(cfg *config.Config) (*models.Set, error) {
	if m := w.models.Load(); m != nil && m.From(cfg) && !w.outworn.Swap(false) {
		return m, nil
	}
	m, err := w.process.Models(w.Paths.Folders, cfg, !w.front.Print, func(key string) { w.hide.Add(key) })
	if err == nil {
		w.models.Store(m)
	}
	return m, err
}

// sandboxes is what those of a session are made from, which begins with these
// settings and rules: what those protect is not worked out a second time for the
// first sandbox.
func (w *World) sandboxes(bypass bool, began *config.Config, rules policy.Rules) confine.Config {
	c := w.process.sandboxes(w.Paths)
	c.Temp, c.Temps, c.Bypass, c.Shown = w.temp.inside, w.temp.home, bypass, w.ext.PluginRoots
	var asked atomic.Bool
	c.Programs = func(cfg *config.Config, roots []string) []policy.Steer {
		known := slices.Clip(rules.Protected)
		if asked.Swap(true) || cfg != began || !within(roots, rules.Dirs) {
			known = settings.Programs(cfg, w.Paths, roots)
		}
		return append(known, w.ext.Programs(roots)...)
	}
	return c
}

// within reports whether each of dirs is among others.
func within(dirs, others []string) bool {
	return !slices.ContainsFunc(dirs, func(d string) bool { return !slices.Contains(others, d) })
}

// own are the folders that adze itself writes while it works, resolved.
func (w *World) own() []string {
	var out []string
	for _, dir := range []string{w.Paths.Folders.State, w.Paths.Folders.Cache, cmp.Or(w.temp.home, w.temp.all)} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			out = append(out, real)
		}
	}
	return out
}

// resolve finds a model by name, for a person who switches.
func (w *World) resolve(ctx context.Context, name string) (agent.Target, error) {
	t, err := w.models.Load().Named(ctx, name)
	return t.Target, err
}

// roots are the folders that sessions work in.
func (w *World) roots() []string { return settings.Dirs(w.Config(), w.Paths) }

// added are those of them beside the one that the session works in, and its repository.
func (w *World) added() []string {
	return slices.DeleteFunc(w.roots(), func(dir string) bool { return dir == w.Paths.Dir || dir == w.Paths.Root })
}

// inherited is what commands may inherit with these settings: our environment,
// and the variables of the settings but for keys of providers. allow names those that pass to them: what the
// settings name, and what they set themselves.
func (w *World) inherited(cfg *config.Config) (environ, allow []string) {
	environ, allow = slices.Clone(w.process.Environ), slices.Clone(cfg.ChildEnv)
	keys := models.KeyVariables(cfg)
	for k, v := range cfg.Env {
		if slices.Contains(keys, k) {
			continue // adze itself uses it
		}
		environ, allow = append(environ, k+"="+v), append(allow, k)
	}
	return append(environ, "TMPDIR="+w.temp.outside), allow
}

// Close ends every session and what they shared.
func (w *World) Close() error {
	w.live.Release()
	w.ext.Release()
	for _, r := range w.sessions() {
		r.sandboxes.Release()
	}
	var errs []error
	for _, r := range slices.Backward(w.sessions()) { // the youngest first: it may be a child of others
		errs = append(errs, r.Close())
	}
	w.ext.Close()
	w.live.Close()
	w.temp.remove()
	w.sweep()
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

// sweep removes old sessions, at most once a day, where one was kept.
func (w *World) sweep() {
	w.mu.Lock()
	kept := slices.Clone(w.kept)
	w.mu.Unlock()
	if len(kept) == 0 {
		return
	}
	days := w.Config().CleanupDays
	if n, err := sessions.Sweep(context.Background(), w.Paths.State, days, kept); err == nil && n > 0 {
		w.process.Notef("removed %s, not used for %s (cleanup_days)", clip.Count(n, "session"), clip.Count(days, "day"))
	}
}
