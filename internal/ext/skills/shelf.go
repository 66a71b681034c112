package skills

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/skill"
)

// A ShelfConfig says where a process has its skills from.
type ShelfConfig struct {
	// Places are where to look now, the nearest first; adze's own come behind them.
	// It is asked before each reading.
	Places func() []skill.Place
	Agents []skill.Agent // that come before those of files (--agents)
	// Files are watched from the first reading on, or, where there is a Rest, from so
	// long after it, when they are read once more: most runs of one prompt are over by
	// then, and to let a watch go takes the system some milliseconds.
	Rest time.Duration
	// Changed is called when there is something for the first time, and when there is
	// something else, on a goroutine of the shelf.
	Changed func()
	// Refuses, when set, is asked before another library counts, on the same goroutine,
	// and may take its time. What it refuses is asked about once.
	Refuses func(was, now skill.Library) bool
	// Untrusted, when set, is told after each reading of files that are not what was
	// trusted, if there are any, on the same goroutine.
	Untrusted func(files []string)
}

// A Shelf is what brings skills, agents and styles to a process. It reads them in the
// background.
type Shelf struct {
	c     ShelfConfig
	first chan struct{} // closed when they were read once
	wake  chan struct{} // has a token when they are to be read again
	quit  chan struct{}
	done  chan struct{}
	// refused is what was read last, when it was refused; nil when it counts. Only run has it.
	refused *skill.Library

	mu       sync.Mutex // guards the rest
	list     []extension.Contribution
	problems []skill.Problem
	readings int
	watcher  *watch.Watcher // nil: nothing is watched yet
}

// maxWatched bounds how many folders are watched.
const maxWatched = 1000

// Open begins to read. Close ends what goes on.
func Open(c ShelfConfig) *Shelf {
	s := &Shelf{c: c, first: make(chan struct{}), wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go s.run() // ends when Close closes quit
	return s
}

// Contributions are what there is, as Read has them; what takes longer to be read
// than wait is not waited for, and there is nothing yet.
func (s *Shelf) Contributions(wait time.Duration) ([]extension.Contribution, []skill.Problem) {
	select {
	case <-s.first:
	default:
		limit := time.NewTimer(wait)
		defer limit.Stop()
		select {
		case <-s.first:
		case <-limit.C:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list, s.problems
}

// Readings is how often what there is has been read by now.
func (s *Shelf) Readings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readings
}

// Reread has everything read again, in the background: the places are others, or
// what is trusted.
func (s *Shelf) Reread() {
	select {
	case s.wake <- struct{}{}:
	default: // there is a token already
	}
}

// Release stops the watch of every folder, before Close: see [watch.Watcher.Release].
func (s *Shelf) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watcher != nil {
		s.watcher.Release()
	}
}

// Close ends the watch, and waits for a Changed that runs.
func (s *Shelf) Close() {
	close(s.quit)
	<-s.done
}

func (s *Shelf) run() {
	defer close(s.done)
	var w *watch.Watcher
	var watched []string
	defer func() {
		if w != nil {
			w.Close()
		}
	}()
	var late <-chan time.Time // when watching begins
	if s.c.Rest > 0 {
		rest := time.NewTimer(s.c.Rest)
		defer rest.Stop()
		late = rest.C
	}
	for n, watching := 0, late == nil; ; n++ {
		places := s.c.Places()
		list, problems := Read(places, s.c.Agents)
		if watching {
			if dirs := append(folders(places), owned(list)...); !slices.Equal(dirs, watched) {
				if w != nil {
					w.Close()
				}
				w, watched = watch.Start(watch.Config{Dirs: dirs, Changed: s.Reread}), dirs
				s.mu.Lock()
				s.watcher = w
				s.mu.Unlock()
				s.Reread() // what changed meanwhile nobody told
			}
		}
		same := false
		if n > 0 {
			list, same = s.instead(list)
		}
		s.mu.Lock()
		s.list, s.problems = list, problems
		s.readings++
		s.mu.Unlock()
		if n == 0 {
			close(s.first)
		}
		if !same && s.c.Changed != nil { // at first for those that did not wait so long
			s.c.Changed()
		}
		if files := untrusted(problems); len(files) > 0 && s.c.Untrusted != nil {
			s.c.Untrusted(files)
		}
		select {
		case <-s.wake:
		case <-late:
			watching = true
		case <-s.quit:
			return
		}
	}
}

// instead is what there is from now on, when list was read after something else: that
// itself, or, where it is refused, what there was. same: nothing is otherwise.
func (s *Shelf) instead(list []extension.Contribution) (now []extension.Contribution, same bool) {
	old, _ := s.Contributions(0)
	was, lib := extension.Library(old...), extension.Library(list...)
	refused := s.refused
	s.refused = nil
	switch {
	case was.Same(lib) || s.c.Refuses == nil:
		return list, was.Same(lib)
	case refused != nil && refused.Same(lib):
		s.refused = refused
		return old, true
	case s.c.Refuses(was, lib):
		s.refused = &lib
		return held(old), false
	}
	return list, false
}

func untrusted(problems []skill.Problem) (files []string) {
	for _, p := range problems {
		if p.Untrusted {
			files = append(files, p.File)
		}
	}
	return files
}

// Read reads places, and adze's own skills and styles behind them. What is returned
// has the agents first, a contribution for each origin of places that stand together,
// and what adze brings.
func Read(places []skill.Place, agents []skill.Agent) (list []extension.Contribution, problems []skill.Problem) {
	places = append(slices.Clip(places), ownPlaces()...)
	parts, problems := skill.Read(places)
	list = []extension.Contribution{{From: extension.OfPlace("flags"), Part: skill.Part{Agents: agents}}}
	for i, p := range places {
		from := extension.OfPlace(cmp.Or(p.From, p.Scope))
		if p.BuiltIn {
			from = extension.Origin{}
		}
		if from != list[len(list)-1].From {
			list = append(list, extension.Contribution{From: from})
		}
		last := &list[len(list)-1]
		last.Part = last.Then(parts[i])
	}
	list[len(list)-1].Commands = op.Commands() // adze's
	return list, problems
}

// held is what there is, with skills as they were read.
func held(list []extension.Contribution) []extension.Contribution {
	list = slices.Clone(list)
	for i := range list {
		list[i].Part = list[i].Held()
	}
	return list
}

// folders are the folders of places, each once, and those in which a skill may be: one
// that is made is read before its SKILL.md is written.
func folders(places []skill.Place) (out []string) {
	add := func(dir string) {
		if !slices.Contains(out, dir) && len(out) < maxWatched {
			out = append(out, dir)
		}
	}
	for _, p := range places {
		if p.Text != nil {
			continue
		}
		add(p.Dir)
		if p.Kind != skill.Skills {
			continue
		}
		below, _ := os.ReadDir(p.Dir) // none is an answer, too
		for _, e := range below {
			if e.IsDir() {
				add(filepath.Join(p.Dir, e.Name()))
			}
		}
	}
	return out
}

// owned are the folders that skills have of their own.
func owned(list []extension.Contribution) (out []string) {
	for _, s := range extension.Library(list...).Skills() {
		if s.File == "" || len(out) >= maxWatched {
			continue
		}
		if dir := filepath.Dir(s.File); !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}
