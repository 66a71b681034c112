package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Bounds of a survey.
const (
	maxFolders = 4000 // looked into at each look, nearest first
	maxRepos   = 64
	maxNamed   = 1000 // paths with a protected name
)

// A survey knows what lies below folders under names that steer other
// programs, and which repositories there are. It remembers what it saw in a
// folder for as long as the folder does not change.
type survey struct {
	roots []string // outermost, resolved
	gits  []string // git folders that count wherever they are
	home  string
	now   time.Time // of the look
	dirs  map[string]*folder
	links map[string]indexed // by git folder
	held  map[string]indexed // files with secrets that a repository tracks, by its folder
	// rest is where the last look stopped, and far what was seen beyond.
	rest []spot
	far  map[string]*folder
	// most bounds what is looked into beyond.
	most int
	// since is when the first command that runs began: what its owner cannot
	// look into, and changed after it, is opened. Zero opens nothing.
	since time.Time
	ins   map[string]*inner
	// denied is what permission rules deny of what it sees.
	denied policy.Denials
	// names tells in which folders names came and went; nil where nobody watches.
	names *watch.Names
}

// A spot is a folder to look into.
type spot struct {
	dir    string
	passed bool // it is in a folder that programs fill
	sure   bool // it is the folder that was there before, as far as those above it tell
}

// A folder is what was seen in one.
type folder struct {
	mark  mark
	named []string // paths
	kin   []string // folders of other version control
	subs  []string
	fills []string // folders that programs fill
	hide  []string // what rules deny to read, and what to change
	fix   []string
	keys  []string // files that may hold secrets
	git   bool     // it holds .git
	bare  bool     // it looks like a git folder itself
	half  bool     // it holds what steers git in a git folder
	// told: the system tells of what happens in it since it was looked at; stale: it did.
	told, stale bool
	// moved: at the last look it was read, or is another one, so that what its parts
	// are is not known.
	moved bool
}

// A sight is what a survey found.
type sight struct {
	named []string              // paths with a protected name, but .git
	dots  []string              // paths called .git: folders, files, links
	kin   []string              // what steers other version control, in its folders
	gits  []string              // git folders: those of dots, and bare ones
	odd   []string              // links and the like in git folders
	holds map[string]conf.Holds // what git folders hold, by their path
	hide  []string              // what rules deny to read, and what to change
	fix   []string
	keys  []string // files that may hold secrets
	more  bool     // there is more than was looked into
	half  []string // folders that a file more could make git folders
	// set is what git's settings name, once it was looked for.
	set *[]conf.Steer
}

type indexed struct {
	mark mark
	to   []string
}

func newSurvey(roots, gits []string, home string) *survey {
	return &survey{roots: roots, gits: gits, home: home, dirs: map[string]*folder{}, links: map[string]indexed{}, far: map[string]*folder{}, most: maxFar, ins: map[string]*inner{}}
}

// look surveys anew what is near, at the cost of a look at each folder of which the
// system does not tell.
func (v *survey) look() sight {
	s := sight{gits: slices.Clone(v.gits)}
	v.now = time.Now()
	v.hear()
	v.rest = v.rest[:0]
	seen := make(map[string]*folder, len(v.dirs))
	for _, root := range v.roots {
		v.below(root, &s, seen)
	}
	v.dirs = seen
	for n := 0; n < len(s.dots); n++ {
		if n == maxRepos {
			s.more = true
			break
		}
		v.enter(s.dots[n], &s)
	}
	slices.Sort(s.named)
	s.named = slices.Compact(s.named)
	v.insides(s.gits, nearInside, &s)
	return s
}

// hear takes what the system tells of the folders.
func (v *survey) hear() {
	if v.names == nil {
		return
	}
	dirs, all := v.names.Take()
	for _, known := range []map[string]*folder{v.dirs, v.far} {
		for _, dir := range dirs {
			if f := known[dir]; f != nil {
				f.stale = true
			}
		}
		if all {
			for _, f := range known {
				f.stale = true
			}
		}
	}
}

func (v *survey) below(root string, s *sight, seen map[string]*folder) {
	private := paths.Within(root, v.home)
	if _, fixed := v.denied.Names(root, true); fixed {
		s.fix = append(s.fix, root)
	}
	queue := []spot{{dir: root}}
	for n := 0; n < len(queue); {
		if len(seen) >= maxFolders || len(s.named) > maxNamed {
			s.more = true
			v.rest = append(v.rest, queue[n:]...)
			return
		}
		part := queue[n:min(n+batch, len(queue), n+maxFolders-len(seen))]
		n += len(part)
		for i, f := range v.folders(v.dirs, part, func(string) bool { return private }) {
			if f == nil {
				continue
			}
			seen[part[i].dir] = f
			s.hide, s.fix, s.keys = append(s.hide, f.hide...), append(s.fix, f.fix...), append(s.keys, f.keys...)
			if s.add(part[i].dir, f, false) {
				continue // its parts are git's
			}
			for _, sub := range f.subs {
				queue = append(queue, spot{dir: sub, sure: !f.moved})
			}
			for _, sub := range f.fills {
				v.rest = append(v.rest, spot{dir: sub, passed: true, sure: !f.moved})
			}
		}
	}
}

// batch is how many folders are looked into at once.
const batch = 256

// folders looks into folders, side by side where there are many of them.
func (v *survey) folders(known map[string]*folder, at []spot, private func(dir string) bool) []*folder {
	out := make([]*folder, len(at))
	const share = 32
	var next atomic.Int64
	work := func() {
		for from := int(next.Add(share)) - share; from < len(at); from = int(next.Add(share)) - share {
			for i := from; i < min(from+share, len(at)); i++ {
				if f := known[at[i].dir]; f != nil && f.told && !f.stale && at[i].sure {
					f.moved = false
					out[i] = f
					continue
				}
				out[i] = v.folder(known, at[i].dir, private(at[i].dir))
			}
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4, (len(at)-1)/share) {
		wait.Go(work) // ends with the last folder
	}
	work()
	wait.Wait()
	return out
}

// add adds what a folder holds, and reports whether it is a git folder itself.
// In passed ones names do not count.
func (s *sight) add(dir string, f *folder, passed bool) (bare bool) {
	if f.git {
		s.dots = append(s.dots, filepath.Join(dir, ".git"))
	}
	if f.bare {
		s.gits = append(s.gits, dir)
		return true
	}
	if f.half {
		s.half = append(s.half, dir)
	}
	if !passed {
		s.named = append(s.named, f.named...)
	}
	for _, k := range f.kin {
		s.kin = append(s.kin, steersKin(k)...)
	}
	return false
}

// folder reads a folder, or knows it still.
func (v *survey) folder(known map[string]*folder, dir string, private bool) *folder {
	old := known[dir]
	told := v.names != nil && v.names.Watches(dir) // whatever happens from here on is told
	m := markOf(dir, v.now)
	if !m.dir {
		return nil
	}
	if v.names != nil && (old == nil || old.mark.ino != m.ino || !told) { // what is watched under its path may be another one
		v.names.Again(dir)
		told = v.names.Watches(dir)
		m = markOf(dir, v.now)
	}
	if old != nil && (old.mark == m && m.settled || told && old.told && !old.stale && old.mark.like(m)) {
		old.told, old.stale, old.moved = told, false, false
		return old
	}
	list, err := v.list(dir, m)
	if err != nil {
		return nil
	}
	f := &folder{mark: m, told: told, moved: true}
	head, steers, denies := false, false, !v.denied.Empty()
	secret, base := policy.SecretsIn(dir), filepath.Base(dir)
	for _, e := range list {
		name := e.Name()
		if denies && f.judge(v.denied, filepath.Join(dir, name), e.IsDir()) && name != ".git" {
			continue
		}
		if !e.IsDir() && secret(name) {
			f.keys = append(f.keys, filepath.Join(dir, name))
		}
		switch {
		case name == ".git":
			f.git = true
		case kin[name] != nil:
			f.kin = append(f.kin, filepath.Join(dir, name))
		case policy.Mixed(name) && !e.IsDir(), policy.NameProtects(base, name, private) != "", private && policy.StartsAtHome(v.home, filepath.Join(dir, name)):
			f.named = append(f.named, filepath.Join(dir, name))
		case e.IsDir() && policy.Filled(name): // of what they hold only repositories count, and those at the end of a command
			f.fills = append(f.fills, filepath.Join(dir, name))
		case e.IsDir():
			f.subs = append(f.subs, filepath.Join(dir, name))
		}
		head = head || name == "HEAD"
		steers = steers || name == "config" || name == "commondir" || name == "hooks"
	}
	f.half = steers
	f.bare = head && conf.IsGitDir(dir)
	return f
}

// list reads a folder. One that a command locked may hold something all the
// same, so it is opened first; what a person locked stays as it is.
func (v *survey) list(dir string, m mark) ([]os.DirEntry, error) {
	if !v.since.IsZero() && m.at >= v.since.UnixNano() && os.Geteuid() != 0 {
		if info, err := os.Lstat(dir); err == nil && info.Mode().Perm()&0o500 != 0o500 {
			_ = lookInto(dir) // one that is another's says so below
		}
	}
	return os.ReadDir(dir)
}

// enter adds the git folder behind a path called .git, and the repositories
// that its index holds.
func (v *survey) enter(dot string, s *sight) {
	git, err := conf.GitDir(dot)
	if err != nil || !conf.IsGitDir(git) {
		git = dot
	}
	if isDir(git) && !slices.Contains(s.gits, git) && (git == dot || !slices.ContainsFunc(s.gits, func(g string) bool { return paths.Within(g, git) })) {
		s.gits = append(s.gits, git)
	}
	index := markOf(filepath.Join(git, "index"), v.now)
	known, ok := v.links[git]
	if !ok || known.mark != index || !index.settled {
		known = indexed{index, conf.Links(filepath.Dir(dot), git)}
		v.links[git] = known
	}
	for _, to := range known.to {
		if sub := filepath.Join(to, ".git"); exists(sub) && !slices.Contains(s.dots, sub) {
			s.dots = append(s.dots, sub)
		}
	}
}

// A mark tells whether a file or folder is still what it was.
type mark struct {
	at, size, ino int64
	dir           bool
	settled       bool // it changed long enough ago for another change to show
}

// like reports whether two looks saw the same; whether more happened since the first, they
// do not tell.
func (m mark) like(o mark) bool {
	m.settled = o.settled
	return m == o
}

// tick is how close two changes can be for the clock of a file system to tell
// them as one.
const tick = 20 * time.Millisecond

func markOf(path string, now time.Time) mark {
	at, size, ino, dir, ok := look(path)
	if !ok {
		return mark{}
	}
	return mark{at: at, size: size, ino: ino, dir: dir, settled: now.UnixNano()-at > int64(tick)}
}

// top is the worktree that paths in the settings of a git folder are relative to.
func top(git string) string {
	if filepath.Base(git) == ".git" {
		return filepath.Dir(git)
	}
	return git
}
