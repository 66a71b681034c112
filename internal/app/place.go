package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/confine"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A Place is a folder that sessions work in: its settings and their watch, who trusts
// it, and what it brings. There is one for each real path.
type Place struct {
	Paths   settings.Paths
	process *Process
	models  atomic.Pointer[models.Set] // nil before the first session
	outworn bool                       // keys may have been saved since models were made; guarded by Process.mu
	live    *settings.Live
	ext     *ext.Folder
	unused  sync.Once   // tells what of the settings is not used
	opened  int         // how often it was opened and not closed; guarded by Process.mu
	kept    atomic.Bool // a session of it is kept on disk
}

// Place opens a folder to work in, an absolute path; one that is open already is the same
// Place. Close it as often as it was opened.
func (p *Process) Place(dir string) (*Place, error) { return p.open(dir, false) }

// open is Place. quiet: people were told of what the settings are, in another checkout.
func (p *Process) open(dir string, quiet bool) (*Place, error) {
	around := p.Environment
	around.Dir = dir
	if quiet {
		around.Note = nil
	}
	real, err := around.Real()
	if err != nil {
		return nil, err
	}
	p.opening.Lock()
	defer p.opening.Unlock()
	if at, err := p.again(real); at != nil || err != nil {
		return at, err
	}
	from := p.sources
	if start, err := p.Real(); err != nil || start != real {
		from = from.From(p.Dir, p.Home)
	}
	live, err := settings.Open(around, from)
	if err != nil {
		return nil, err
	}
	at := &Place{Paths: live.Paths, process: p, live: live, opened: 1}
	at.secrets(at.Config())
	at.ext = p.ext.Open(ext.FolderConfig{
		Flags: p.Extensions, Version: p.Version, Live: live, Env: p.Env, Environment: p.Environ,
		Environ: func() (environ, allow []string) { return at.inherited(at.Config()) },
		Manual:  filepath.Join(p.temp.all, "manual"),
		Roots:   at.roots, Bare: p.sources.Bare, Lasting: p.front.Lasting, Person: p.front.Person && !p.front.Print, Hidden: p.hide.Add,
	})
	live.Guard(at.ext.Reconfigures)
	live.Follow(ext.Market(live.Paths, p.Env, p.Environ, p.Version, nil).LockFile())
	live.Watch(p.front.Lasting, at.changed)
	p.mu.Lock()
	if p.places = append(p.places, at); p.eldest == nil {
		p.eldest = at
	}
	p.mu.Unlock()
	return at, nil
}

// again is the place that is open at a real path, opened once more; nil for none.
func (p *Process) again(real string) (*Place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("adze is shutting down")
	}
	for _, at := range p.places {
		if at.Paths.Dir == real {
			at.opened++
			return at, nil
		}
	}
	return nil, nil
}

// Close leaves the folder; the last one to leave ends every session in it.
func (at *Place) Close() error {
	p := at.process
	if !at.leave() {
		return nil
	}
	defer p.leaving.Done()
	at.release()
	err := end(p.sessions(at))
	at.close()
	at.sweep()
	return err
}

// leave reports whether nobody is left, who ends the place then; the process waits for that.
func (at *Place) leave() (last bool) {
	p := at.process
	p.mu.Lock()
	defer p.mu.Unlock()
	at.opened--
	if at.opened > 0 || !slices.Contains(p.places, at) { // the process ended it
		return false
	}
	p.places = slices.DeleteFunc(p.places, func(o *Place) bool { return o == at })
	p.leaving.Add(1)
	return true
}

// release stops the watch of every folder, before close.
func (at *Place) release() {
	at.live.Release()
	at.ext.Release()
}

// close ends what its sessions shared, after them.
func (at *Place) close() {
	at.ext.Close()
	at.live.Close()
}

// sweep removes old sessions, at most once a day, where one was kept.
func (at *Place) sweep() {
	if !at.kept.Load() {
		return
	}
	p := at.process
	p.mu.Lock()
	kept := slices.Clone(p.kept)
	p.mu.Unlock()
	days := at.Config().CleanupDays
	if n, err := sessions.Sweep(context.Background(), at.Paths.State, days, kept); err == nil && n > 0 {
		p.Notef("removed %s, not used for %s (cleanup_days)", clip.Count(n, "session"), clip.Count(days, "day"))
	}
}

// Config is the settings in force. Nothing may change them.
func (at *Place) Config() *config.Config { return at.live.Config() }

// Extensions are the extensions of all sessions here, their MCP servers among them.
func (at *Place) Extensions() *ext.Folder { return at.ext }

// Reread has what settings files and saved keys say now count for the next
// session, whether or not the watch has told of it yet.
func (at *Place) Reread() {
	at.live.Reread()
	p := at.process
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.places {
		o.outworn = true
	}
}

// Write has a settings file changed by write, for a person. What it says counts
// when Write returns, and is no news to anybody.
func (at *Place) Write(path string, write func() error) error {
	for _, r := range at.process.sessions(nil) { // no sandbox may take it for what a command left
		inner := write
		write = func() error { return r.sandboxes.Outside([]string{path}, inner) }
	}
	if err := at.live.Write(path, write); err != nil {
		return err
	}
	at.live.Reread()
	return nil
}

// Give has a setting count until the place is closed, as a flag does.
func (at *Place) Give(g config.Given) { at.live.Give(g) }

// Given are the settings that Give has count.
func (at *Place) Given() []config.Given { return at.live.Given() }

// add has changed settings count for r from now on, and those that changed
// since it was made from cfg.
func (at *Place) add(r *Running, cfg *config.Config) {
	at.live.Hold(func() {
		at.process.add(r)
		if r.Kept {
			at.kept.Store(true)
		}
		r.said, r.unsafe = settings.Problems(cfg, at.Paths, nil)
		if now := at.Config(); now != cfg {
			r.reload(cfg, now)
		}
	})
}

// changed makes changed settings count in every session.
func (at *Place) changed(was, now *config.Config) {
	at.secrets(now)
	for _, r := range at.process.sessions(at) {
		r.reload(was, now)
	}
}

// secrets has what the person's settings set in variables hidden as keys of the
// environment are.
func (at *Place) secrets(cfg *config.Config) {
	var list []string
	for name := range cfg.Env {
		if v, _, own := cfg.Variable(name); own {
			list = append(list, name+"="+v)
		}
	}
	at.process.hide.Add(secret.Environ(list)...)
}

// modelsOf are the models with these settings. Places whose settings make the same
// models have the keys and the connections in common.
func (at *Place) modelsOf(cfg *config.Config) (*models.Set, error) {
	p := at.process
	p.mu.Lock()
	defer p.mu.Unlock()
	var made *models.Set
	for _, o := range append([]*Place{at}, p.places...) {
		if m := o.models.Load(); m != nil && !o.outworn && made == nil {
			made = m.With(cfg)
		}
	}
	if made == nil {
		var err error
		if made, err = p.Models(at.Paths.Folders, cfg, !p.front.Print, func(key string) { p.hide.Add(key) }); err != nil {
			return nil, err
		}
	}
	at.outworn = false
	at.models.Store(made)
	return made, nil
}

// sandboxes is what those of a session are made from, which begins with these
// settings and rules: what those protect is not worked out a second time for the
// first sandbox.
func (at *Place) sandboxes(bypass bool, began *config.Config, rules policy.Rules) confine.Config {
	p := at.process
	c := p.Surroundings.sandboxes(at.Paths)
	c.Temp, c.Temps, c.Bypass, c.Shown = p.temp.inside, p.temp.home, bypass, at.ext.PluginRoots
	var asked atomic.Bool
	c.Programs = func(cfg *config.Config, roots []string) []policy.Steer {
		known := slices.Clip(rules.Protected)
		if asked.Swap(true) || cfg != began || !within(roots, rules.Dirs) {
			known = settings.Programs(cfg, at.Paths, roots)
		}
		return append(known, at.ext.Programs(roots)...)
	}
	return c
}

// within reports whether each of dirs is among others.
func within(dirs, others []string) bool {
	return !slices.ContainsFunc(dirs, func(d string) bool { return !slices.Contains(others, d) })
}

// own are the folders that adze itself writes while it works, resolved.
func (at *Place) own() []string {
	var out []string
	for _, dir := range []string{at.Paths.Folders.State, at.Paths.Folders.Cache, cmp.Or(at.process.temp.home, at.process.temp.all)} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			out = append(out, real)
		}
	}
	return out
}

// resolve finds a model by name, for a person who switches.
func (at *Place) resolve(ctx context.Context, name string) (agent.Target, error) {
	t, err := at.models.Load().Named(ctx, name)
	return t.Target, err
}

// roots are the folders that sessions work in.
func (at *Place) roots() []string { return settings.Dirs(at.Config(), at.Paths) }

// added are those of them beside the one that the session works in, and its repository.
func (at *Place) added() []string {
	return slices.DeleteFunc(at.roots(), func(dir string) bool { return dir == at.Paths.Dir || dir == at.Paths.Root })
}

// inherited is what commands may inherit with these settings: our environment,
// and the variables of the settings but for keys of providers. allow names those that pass to them: what the
// settings name, and what they set themselves.
func (at *Place) inherited(cfg *config.Config) (environ, allow []string) {
	environ, allow = slices.Clone(at.process.Environ), slices.Clone(cfg.ChildEnv)
	keys := models.KeyVariables(cfg)
	for k, v := range cfg.Env {
		if slices.Contains(keys, k) {
			continue // adze itself uses it
		}
		environ, allow = append(environ, k+"="+v), append(allow, k)
	}
	return append(environ, "TMPDIR="+at.process.temp.outside), allow
}
