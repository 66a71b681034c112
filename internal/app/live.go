package app

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/trust"
)

// fresh is how long settings that were read count as new. A run of one prompt
// that is over by then never watches them: to let a watch go takes the system
// some milliseconds.
const fresh = time.Second

// live makes settings that change count while the session runs. Files are
// watched from the start of a session that lasts, else from when they are not
// fresh any more; then they are compared with what was read, so nothing in
// between is missed. No decision waits for it.
type live struct {
	a       *App
	o       Options
	log     *openedLog
	kit     kit
	turn    agent.Loop // what settings do not change
	started policy.Mode
	read    time.Time // when the settings were

	// These are read by the session's goroutine, which a reload waits for, so
	// they stand outside of its lock.
	models atomic.Pointer[models]
	vars   atomic.Pointer[variables]
	own    ownWrites

	once    sync.Once
	closing chan struct{}  // closed by close
	wait    sync.WaitGroup // of watch

	mu       sync.Mutex     // guards the rest, and is held during a reload
	cfg      *config.Config // in force
	fallback *agent.Target
	auto     *auto.Classifier
	dirs     []string // that the sandbox was made for
	watcher  *watch.Watcher
	seen     string   // fingerprint of what was last loaded
	said     []string // problems that were told
}

// watch begins to watch on a goroutine of its own, which ends then, or with
// close.
func (l *live) watch() {
	wait := fresh - time.Since(l.read)
	if l.o.Lasting {
		wait = 0
	}
	l.wait.Go(func() {
		late := time.NewTimer(wait)
		defer late.Stop()
		select {
		case <-late.C:
			l.start()
		case <-l.closing:
		}
	})
}

// start begins to watch, once; everybody else waits until it has begun.
func (l *live) start() {
	l.once.Do(func() {
		l.mu.Lock()
		cfg := l.cfg
		l.seen = fingerprint(cfg, nil)
		l.said = problems(cfg, nil)
		l.mu.Unlock()
		files := []string{Trust(l.a.Paths).Path}
		for _, f := range cfg.Files {
			files = append(files, f.Path)
		}
		if s := strings.TrimSpace(l.o.Settings); s != "" && !strings.HasPrefix(s, "{") {
			if !filepath.IsAbs(s) {
				s = filepath.Join(l.a.Paths.Dir, s)
			}
			files = append(files, s)
		}
		w := watch.Start(watch.Config{Files: files, Dirs: cfg.Dirs, Changed: l.reload})
		l.mu.Lock()
		l.watcher = w
		l.mu.Unlock()
		l.reload()
	})
}

// close ends the watch. Nothing changes afterwards.
func (l *live) close() {
	l.once.Do(func() {}) // a watch that has not begun never does
	close(l.closing)
	l.wait.Wait()
	if l.watching() {
		l.watcher.Close()
	}
}

// watching reports whether settings are watched.
func (l *live) watching() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watcher != nil
}

// inForce are the settings that count now.
func (l *live) inForce() *config.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cfg
}

// reload loads the settings again and makes what changed count.
func (l *live) reload() {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.cfg
	now, err := l.load(was)
	print := fingerprint(now, err)
	if print == l.seen && (err != nil || config.Diff(was, now) == nil) {
		return
	}
	l.seen = print
	if err != nil { // of --settings or a variable; no layer can be told from another then
		copied := *was
		now = &copied
		now.Permissions.Unsafe = "the settings cannot be loaded any more: " + err.Error()
	}
	n, bad := l.apply(was, now)
	what := event.SettingsChanged{Changes: l.changes(was, now), Untrusted: waiting(was, now), Problems: l.news(now, bad)}
	if l.own.all(was, now) {
		what = event.SettingsChanged{}
	}
	_ = l.a.Session.Apply(context.Background(), n, what) // a log that cannot be written ends the next turn, and says so there
	if err == nil {
		l.cfg = now
	}
}

// load is readConfig, with --trust bound to what it was given for: the
// content of the folder's files at the start.
func (l *live) load(was *config.Config) (*config.Config, error) {
	o := l.o
	o.Note, o.Trusted = nil, false
	if l.o.Trusted {
		o.Trusted = true
		cfg, _, err := readConfig(o, l.a.Paths, was)
		if err != nil || maps.Equal(repoSums(cfg, l.a.Paths), repoSums(l.a.Config, l.a.Paths)) {
			return cfg, err
		}
		o.Trusted, o.once = false, true
	}
	cfg, _, err := readConfig(o, l.a.Paths, was)
	return cfg, err
}

// fingerprint tells loads apart that differ in what a person could notice.
func fingerprint(c *config.Config, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for _, f := range c.Files {
		fmt.Fprintln(&b, f.Path, f.Sum, f.State)
	}
	fmt.Fprintln(&b, c.Permissions.Unsafe)
	return b.String()
}

// apply makes the parts that depend on settings anew. bad says which could
// not be made; those stay as they are.
func (l *live) apply(was, now *config.Config) (n session.Settings, bad []string) {
	rules := rulesOf(now, l.a.Paths, func(err error) { bad = append(bad, err.Error()) })
	dirs := slices.Clone(rules.Dirs)
	l.readable(&rules)
	l.setVars(now)
	n.Target, bad = l.choose(was, now, bad)
	set, err := l.kit.narrowed(l.a.profile, now.Tools, rules)
	if err != nil {
		set, bad = l.a.Tools, append(bad, err.Error())
	}
	n.Rules, n.Forbidden, n.Auto = rules, forbidden(l.o, now, l.started), l.auto
	n.Loop, n.Tools, n.Budget = l.loop(now, rules), &set, budget(now)
	n.Begin = func() {}
	if !reflect.DeepEqual(was.Sandbox, now.Sandbox) || !slices.Equal(deniedDomains(was), deniedDomains(now)) || fileDenials(was, l.a.Paths).Key() != fileDenials(now, l.a.Paths).Key() || !slices.Equal(dirs, l.dirs) {
		// Not before the next turn: a call that was allowed because it would
		// be confined may not find itself outside.
		n.Begin = l.confine(context.Background(), now, dirs)
	}
	return n, bad
}

// readable adds the session's own folders to those that may be read.
func (l *live) readable(rules *policy.Rules) {
	rules.Readable = append(rules.Readable, l.a.temp.all)
	if dir := l.log.scratch(); dir != "" {
		rules.Readable = append(rules.Readable, dir)
	}
}

// ownWrites are contents of settings files that this process wrote: a change
// to one of them is no news.
type ownWrites struct {
	mu   sync.Mutex // guards sums
	sums map[string]bool
}

func (w *ownWrites) note(sum string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sums == nil {
		w.sums = map[string]bool{}
	}
	w.sums[sum] = true
}

// all reports whether every file with other content was written by us.
func (w *ownWrites) all(was, now *config.Config) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := sums(was)
	changed := false
	for path, sum := range sums(now) {
		if before[path] != sum {
			if changed = true; !w.sums[sum] {
				return false
			}
		}
	}
	return changed
}

// sums are what was read of each file, "" for one that is not there.
func sums(c *config.Config) map[string]string {
	out := map[string]string{}
	for _, f := range c.Files {
		out[f.Path] = f.Sum
	}
	return out
}

// Wrote tells that this process wrote a settings file, so that it is not told
// as a change.
func (a *App) Wrote(path string) {
	text, err := trust.Files{Folder: TrustFolder(a.Paths), Disk: disk{}}.Read(path, config.MaxFile)
	if err == nil {
		a.live.own.note(config.Sum(text))
	}
}
