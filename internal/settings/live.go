package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/trust"
)

// fresh is how long settings that were read count as new. A run of one prompt
// that is over by then never watches them: to let a watch go takes the system
// some milliseconds.
const fresh = time.Second

// Live are the settings of a process. Files are watched from the start of one
// that lasts, else from when they are not fresh any more; then they are
// compared with what was read, so nothing in between is missed. No decision
// waits for it.
type Live struct {
	Paths Paths

	env     Environment
	sources Sources
	read    time.Time         // when the settings were
	trusted map[string]string // sums of what --trust was given for
	brings  atomic.Pointer[trust.Verdict]
	hooked  atomic.Pointer[[]trust.File] // see HookFiles
	changed func(was, now *config.Config)
	refuses func(was, now *config.Config) bool // nil: nobody does

	now atomic.Pointer[config.Config] // in force
	own ownWrites

	follow []string // files; see Follow

	once    sync.Once
	closing chan struct{}  // closed by Close
	wait    sync.WaitGroup // of Watch

	mu      sync.Mutex // guards the rest, and is held while changed runs
	watcher *watch.Watcher
	seen    string // fingerprint of what was last loaded
	stamps  stamps // of the files, when they were
	given   []config.Given
	giving  bool // Give reloads
}

// Open loads the settings of a process.
func Open(e Environment, s Sources) (*Live, error) {
	began := time.Now()
	p, cfg, seen, err := loadAll(e, s)
	if err != nil {
		return nil, err
	}
	l := &Live{Paths: p, env: e, sources: s, read: began, closing: make(chan struct{})}
	l.now.Store(cfg)
	l.brings.Store(&seen)
	l.hook()
	l.stamps = l.stamp(cfg, began)
	if s.Trusted {
		l.trusted = repoSums(cfg, p)
	}
	return l, nil
}

// Brings are the files of the folder's own that need trust and have it, as they
// were read when the settings were; none where they do not count.
func (l *Live) Brings() []trust.File {
	if v := l.brings.Load(); v.State == trust.Trusted && !l.sources.Bare && l.counts(config.Project) {
		return v.Files
	}
	return nil
}

// Standing reports whether files of the folder's own may count that the person allowed one
// by one: where the folder is trusted, or brings nothing else.
func (l *Live) Standing() bool {
	v := l.brings.Load()
	return (v.State == trust.Trusted || v.State == trust.Nothing) && !l.sources.Bare && l.counts(config.Project)
}

// HookFiles are the files of the folder's own in which other agents have hooks, as they
// were when they were trusted: as long as the folder is only changed since, they stay
// in force, like hooks of settings.
func (l *Live) HookFiles() []trust.File { return *l.hooked.Load() }

// hook has the hooks count of the files that are trusted now.
func (l *Live) hook() {
	var list []trust.File
	for _, f := range l.Brings() {
		if f.Kind == trust.Hooks {
			list = append(list, f)
		}
	}
	if l.hooked.Load() == nil || l.brings.Load().State != trust.Changed {
		l.hooked.Store(&list)
	}
}

// Untrusted are the files of the folder's own that would count if the folder were
// trusted. Settings and servers are among them only where they hold something that
// waits for trust.
func (l *Live) Untrusted() []trust.File {
	return l.Paths.waiting(l.Config(), *l.brings.Load(), l.sources)
}

// Ignored says in a few words what the folder brings that does not count.
func (l *Live) Ignored() []string {
	return l.Paths.ignored(l.Config(), *l.brings.Load(), l.sources)
}

// Only are the scopes of settings that count beside managed ones, nil for all.
func (l *Live) Only() []string { return l.sources.Only }

// Config is the settings in force. Nothing may change them.
func (l *Live) Config() *config.Config { return l.now.Load() }

// Guard has f asked before a change counts, on the goroutine that found it; f may
// take its time. A change that f refuses counts as little as if it had not been
// made, until files change again. It is called before Watch.
func (l *Live) Guard(f func(was, now *config.Config) (refused bool)) { l.refuses = f }

// Follow has a change of a file count as a change of what is in force, also where no
// setting changes by it. It is called before Watch, and before the file is read.
func (l *Live) Follow(path string) {
	began := time.Now()
	l.Hold(func() {
		l.follow = append(l.follow, path)
		l.stamps.add(path, began)
	})
}

// Watch has changed told of each change, one at a time, until Close. lasting:
// from now on, not only when the settings are not fresh any more. It begins
// on a goroutine, which ends then, or with Close.
func (l *Live) Watch(lasting bool, changed func(was, now *config.Config)) {
	l.changed = changed
	wait := fresh - time.Since(l.read)
	if lasting {
		wait = 0
	}
	l.wait.Go(func() {
		late := time.NewTimer(wait)
		defer late.Stop()
		select {
		case <-late.C:
			l.Start()
		case <-l.closing:
		}
	})
}

// Hold runs f at a moment when no change is being told.
func (l *Live) Hold(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Start begins to watch, once; everybody else waits until it has begun.
func (l *Live) Start() {
	l.once.Do(func() {
		cfg := l.now.Load()
		l.mu.Lock()
		l.seen = l.fingerprint(cfg, nil)
		l.mu.Unlock()
		w := watch.Start(watch.Config{Files: l.files(cfg), Dirs: cfg.Dirs, Changed: l.reload})
		l.mu.Lock()
		l.watcher = w
		l.mu.Unlock()
		l.reload()
	})
}

// files are all that settings are read from.
func (l *Live) files(cfg *config.Config) []string {
	paths := l.Paths
	files := append(append(l.serverFiles(), paths.Trust().Path), l.follow...)
	for _, f := range cfg.Files {
		files = append(files, f.Path)
	}
	for _, dir := range []string{paths.Root, paths.Dir} {
		for _, name := range hook.Files() {
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	if s := strings.TrimSpace(l.sources.Inline); s != "" && !strings.HasPrefix(s, "{") {
		if !filepath.IsAbs(s) {
			s = filepath.Join(paths.Dir, s)
		}
		files = append(files, s)
	}
	return files
}

// Release stops the watch of every folder, before Close: see [watch.Watcher.Release].
func (l *Live) Release() {
	if l.Watching() {
		l.watcher.Release()
	}
}

// Close ends the watch. Nothing changes afterwards.
func (l *Live) Close() {
	l.once.Do(func() {}) // a watch that has not begun never does
	close(l.closing)
	l.wait.Wait()
	if l.Watching() {
		l.watcher.Close()
	}
}

// Watching reports whether settings are watched.
func (l *Live) Watching() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watcher != nil
}

// reload loads the settings again and tells of what changed.
func (l *Live) reload() {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, began := l.now.Load(), time.Now()
	if l.seen == "" { // nobody watches yet
		l.seen = l.fingerprint(was, nil)
	}
	now, err := l.load(was)
	l.stamps = l.stamp(now, began)
	print := l.fingerprint(now, err)
	if print == l.seen && (err != nil || config.Diff(was, now) == nil) {
		return
	}
	l.seen = print
	if l.refuses != nil && err == nil {
		l.mu.Unlock()
		refused := l.refuses(was, now)
		l.mu.Lock()
		if refused || l.seen != print { // or somebody found another change meanwhile
			return
		}
	}
	if err != nil { // of --settings or a variable; no layer can be told from another then
		copied := *was
		now = &copied
		now.Permissions.Unsafe = "the settings cannot be loaded any more: " + err.Error()
	} else {
		l.now.Store(now)
		l.hook()
	}
	l.changed(was, now)
}

// load is readConfig, with --trust bound to what it was given for: the
// content of the folder's files at the start.
func (l *Live) load(was *config.Config) (*config.Config, error) {
	e, s, paths := l.env, l.sources, l.Paths
	e.Note, s.Flags = nil, slices.Concat(s.Flags, l.given)
	if s.Trusted {
		cfg, _, err := readConfig(e, s, paths, was)
		if err != nil || maps.Equal(repoSums(cfg, paths), l.trusted) {
			return cfg, err // and what the folder brings is what it was at the start
		}
		s.Trusted, s.once = false, true
	}
	cfg, seen, err := readConfig(e, s, paths, was)
	l.brings.Store(&seen)
	return cfg, err
}

// fingerprint tells loads apart that differ in what a person could notice.
func (l *Live) fingerprint(c *config.Config, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for _, f := range c.Files {
		fmt.Fprintln(&b, f.Path, f.Sum, f.State)
	}
	fmt.Fprintln(&b, c.Permissions.Unsafe, l.serverPrint(c))
	for _, path := range l.follow {
		text, err := confedit.Disk{}.Read(path, maxPerson)
		fmt.Fprintln(&b, path, config.Sum(text), err)
	}
	seen := l.brings.Load() // skills are read anew when others are trusted
	fmt.Fprintln(&b, seen.State)
	for _, f := range seen.Files {
		fmt.Fprintln(&b, f.Path, f.Sum)
	}
	return b.String()
}

// ownWrites are contents of settings files that this process wrote: a change
// to one of them is no news.
type ownWrites struct {
	writing sync.RWMutex // held by who writes one, until sums has it
	mu      sync.Mutex   // guards sums
	sums    map[string]bool
}

func (w *ownWrites) note(sum string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sums == nil {
		w.sums = map[string]bool{}
	}
	w.sums[sum] = true
}

// all reports whether every file with other content was written by us, and one
// was or changed says that something of ours did without a file. What is being written
// is waited for: it can be read before it is noted.
func (w *ownWrites) all(was, now *config.Config, changed bool) bool {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	before := sums(was)
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

// Write has write change a settings file, which is not told as a change then,
// whenever it is noticed. write must not wait for anything that Live tells.
func (l *Live) Write(path string, write func() error) error {
	l.own.writing.RLock()
	defer l.own.writing.RUnlock()
	if err := write(); err != nil {
		return err
	}
	text, err := trust.Files{Folder: l.Paths.TrustFolder(), Disk: confedit.Disk{}}.Read(path, config.MaxFile)
	if err == nil { // else somebody took it away, which is news
		l.own.note(config.Sum(text))
	}
	return nil
}

// Give has a setting count from now on until this process ends, as a flag does.
func (l *Live) Give(g config.Given) {
	l.Hold(func() { l.given, l.giving = append(l.given, g), true })
	l.reload()
	l.Hold(func() { l.giving = false })
}

// Given are the settings that Give has count.
func (l *Live) Given() (given []config.Given) {
	l.Hold(func() { given = slices.Clone(l.given) })
	return given
}

// Take takes back what Give gave with this key and value. had: something was.
func (l *Live) Take(key string, value any) (had bool) {
	l.Hold(func() {
		l.given = slices.DeleteFunc(slices.Clone(l.given), func(g config.Given) bool {
			same := g.Key == key && reflect.DeepEqual(g.Value, value)
			had = had || same
			return same
		})
		l.giving = had
	})
	if had {
		l.reload()
		l.Hold(func() { l.giving = false })
	}
	return had
}

// Reread takes over at once what files say now, instead of when the watch
// tells of it.
func (l *Live) Reread() { l.reload() }

// Own reports whether all that changed was written by this process, or given. It
// is for who is told of a change, meanwhile.
func (l *Live) Own(was, now *config.Config) bool { return l.own.all(was, now, l.giving) }
