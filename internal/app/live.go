package app

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/trust"
)

// fresh is how long settings that were read count as new. A run of one prompt
// that is over by then never watches them: to let a watch go takes the system
// some milliseconds.
const fresh = time.Second

// live are the settings of a process. Files are watched from the start of one
// that lasts, else from when they are not fresh any more; then they are
// compared with what was read, so nothing in between is missed. No decision
// waits for it.
type live struct {
	world   *World
	read    time.Time         // when the settings were
	trusted map[string]string // sums of what --trust was given for

	now atomic.Pointer[config.Config] // in force
	own ownWrites

	once    sync.Once
	closing chan struct{}  // closed by close
	wait    sync.WaitGroup // of watch

	mu      sync.Mutex // guards the rest, and is held while sessions learn of a change
	watcher *watch.Watcher
	seen    string // fingerprint of what was last loaded
}

// watch begins to watch on a goroutine of its own, which ends then, or with
// close.
func (l *live) watch() {
	wait := fresh - time.Since(l.read)
	if l.world.front.Lasting {
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
		cfg, paths := l.now.Load(), l.world.Paths
		files := []string{Trust(paths).Path}
		for _, f := range cfg.Files {
			files = append(files, f.Path)
		}
		if s := strings.TrimSpace(l.world.sources.Inline); s != "" && !strings.HasPrefix(s, "{") {
			if !filepath.IsAbs(s) {
				s = filepath.Join(paths.Dir, s)
			}
			files = append(files, s)
		}
		l.mu.Lock()
		l.seen = fingerprint(cfg, nil)
		l.mu.Unlock()
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

// reload loads the settings again and makes what changed count in every
// session.
func (l *live) reload() {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.now.Load()
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
	} else {
		l.now.Store(now)
	}
	for _, r := range l.world.sessions() {
		l.tell(r, was, now)
	}
}

// tell makes changed settings count in a session. l.mu is held.
func (l *live) tell(r *Running, was, now *config.Config) {
	changed := config.Diff(was, now)
	n, bad := r.apply(now, config.Makes(changed))
	what := event.SettingsChanged{Changes: changes(l.world.hide, changed), Untrusted: waiting(was, now), Problems: r.news(now, bad)}
	if l.own.all(was, now) {
		what = event.SettingsChanged{}
	}
	_ = r.Session.Apply(context.Background(), n, what) // a log that cannot be written ends the next turn, and says so there
}

// load is readConfig, with --trust bound to what it was given for: the
// content of the folder's files at the start.
func (l *live) load(was *config.Config) (*config.Config, error) {
	p, s, paths := l.world.process, l.world.sources, l.world.Paths
	p.Note = nil
	if s.Trusted {
		cfg, _, err := readConfig(p, s, paths, was)
		if err != nil || maps.Equal(repoSums(cfg, paths), l.trusted) {
			return cfg, err
		}
		s.Trusted, s.once = false, true
	}
	cfg, _, err := readConfig(p, s, paths, was)
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
func (w *World) Wrote(path string) {
	text, err := trust.Files{Folder: TrustFolder(w.Paths), Disk: confedit.Disk{}}.Read(path, config.MaxFile)
	if err == nil {
		w.live.own.note(config.Sum(text))
	}
}
