// Package environment finds what the model is told about the folder, the date and git:
// the memory files that count in a folder, and the state of its repository. The rules say
// what may be read, and package prompt puts it into words.
package environment

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/info"
	"github.com/adze-agent/adze/internal/memory"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/settings"
)

// A Place is where a session is to be.
type Place struct {
	settings.Environment
	Paths   settings.Paths
	Environ []string
	Config  func() *config.Config // the settings in force
	// Whole has Learn wait for all that git says, however long it takes.
	Whole bool
	// NoMemory: no memory file is read, also not because of a file that is looked at.
	NoMemory bool
}

// How long a session waits for git before it begins, counted from when git was asked.
// Git looks at each file of its index, and nobody is to wait for that in a large tree; in
// a small one it needs less unless the machine is busy, and then it is worth the wait. In
// one where it cannot be in time, nobody waits, and git leaves the processors to what
// somebody does wait for.
const (
	patience      = 30 * time.Millisecond
	patienceSmall = 300 * time.Millisecond
	smallIndex    = 1 << 20 // bytes, of some 10,000 files
	largeIndex    = 4 << 20 // of some 40,000, which take git 80 ms at least
)

// patient is how long a session waits for git, 0 for not at all.
func (p Place) patient() time.Duration {
	repo, err := conf.Find(p.Paths.Dir)
	if err != nil {
		return patienceSmall
	}
	fi, err := os.Stat(filepath.Join(repo.GitDir, "index"))
	switch {
	case err != nil || fi.Size() <= smallIndex:
		return patienceSmall
	case fi.Size() <= largeIndex:
		return patience
	}
	return 0
}

// Facts are what is known of a place.
type Facts struct {
	Memory []prompt.Memory
	Git    prompt.Git

	late   <-chan prompt.Git  // what git says, when it was not there in time
	stop   context.CancelFunc // ends git
	place  Place
	begun  *config.Config // the settings that the session began with
	reader *memory.Reader // nil when memory is not read
	read   *files
}

// files are the memory files that were read, each once.
type files struct {
	mu   sync.Mutex // guards list
	list []memory.File
}

func (f *files) add(more []memory.File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range more {
		if !slices.ContainsFunc(f.list, func(o memory.File) bool { return o.Path == m.Path }) {
			f.list = append(f.list, m)
		}
	}
}

// Files are the memory files that were read so far, also because of a file that
// was looked at.
func (f Facts) Files() []memory.File {
	if f.read == nil {
		return nil
	}
	f.read.mu.Lock()
	defer f.read.mu.Unlock()
	return slices.Clone(f.read.list)
}

// Learn reads memory files and git in the background; the channel yields once. What git
// says after 30 ms is for Later.
func Learn(ctx context.Context, p Place) <-chan Facts {
	out := make(chan Facts, 1)
	git := make(chan prompt.Git, 1)
	asking, stop := context.WithCancel(ctx)
	patient := p.patient()
	go func() { // ends within git's deadline
		defer stop()
		git <- gitFacts(asking, p, patient == 0 && !p.Whole)
	}()
	due := time.Now().Add(patient)
	go func() { // ends with the files and git, or git's time
		begun := p.Config()
		f := Facts{place: p, begun: begun, read: &files{}, stop: stop}
		if !p.NoMemory {
			f.remember(ctx)
		}
		f.await(git, due)
		out <- f
	}()
	return out
}

// remember reads the memory files that a session begins with.
func (f *Facts) remember(ctx context.Context) {
	p := f.place
	f.reader = p.memory(f.begun)
	start := f.reader.Start()
	f.read.add(start)
	for _, text := range Said(ctx, p.Paths) {
		p.Notef("%s", text)
	}
	for _, m := range start {
		f.Memory = append(f.Memory, prompt.Memory{Path: m.Path, Scope: string(m.Scope), Text: m.Text, Notes: m.Notes})
		for _, w := range m.Warnings {
			p.Notef("%s: %s", m.Path, w)
		}
	}
}

// await waits for what git says, until it is due.
func (f *Facts) await(git <-chan prompt.Git, due time.Time) {
	if f.place.Whole {
		f.Git = <-git
		return
	}
	wait := time.NewTimer(time.Until(due))
	defer wait.Stop()
	select {
	case f.Git = <-git:
	case <-wait.C:
		f.Git = prompt.Git{Branch: Branch(f.place.Paths.Dir), Why: "what is changed, and the last commits, follow as soon as git has told them"}
		f.late = git
	}
}

// Late reports whether git did not say in time what it knows.
func (f Facts) Late() bool { return f.late != nil }

// Pending is what is told of a place while git has not answered: what it said when it
// was told last stays.
func Pending(was, now event.Situated) event.Situated {
	return Event(prompt.SameGit(Parts(was), Parts(now)))
}

// Answered is what is told of a place once git has answered.
func Answered(now event.Situated, g prompt.Git) event.Situated {
	return Event(prompt.WithGit(Parts(now), g))
}

// Again is what is known for another session in the same place. What git says late is for
// the first one.
func (f Facts) Again() Facts {
	f.late, f.stop, f.read = nil, nil, &files{}
	if f.reader != nil {
		f.reader = f.place.memory(f.begun)
		f.read.add(f.reader.Start()) // that is in the instructions
	}
	return f
}

// Later tells, once, what git says that was not known in time. end, called once, gives
// up and waits; it is never nil.
func (f Facts) Later(tell func(prompt.Git)) (end func()) {
	if f.late == nil {
		return func() {}
	}
	done, given := make(chan struct{}), make(chan struct{})
	go func() { // ends with git's deadline, or end
		defer close(done)
		g := <-f.late
		select {
		case <-given:
		default:
			tell(g)
		}
	}()
	return func() {
		close(given)
		f.stop()
		<-done
	}
}

// Memory reads the memory files that a session here would begin with, without one.
func (p Place) Memory() []memory.File { return p.memory(p.Config()).Start() }

// memory is the reader of memory files, with the rules in force now, and what
// the settings said of memory when the session began: those count from the next
// session.
func (p Place) memory(begun *config.Config) *memory.Reader {
	own, cc := config.ManagedDirs(runtime.GOOS, p.Env)
	covers := policy.Covers(settings.ReadingRules(p.Config(), p.Paths))
	var imports []string
	for _, name := range begun.Memory.Imports {
		if at, err := place.Absolute(p.Paths.Root, p.Paths.Home, name); err == nil {
			imports = append(imports, filepath.Clean(at))
		}
	}
	return memory.New(memory.Options{
		Imports: imports,
		Covered: func(path, named string) string {
			switch covers(policy.Default, path, named) {
			case policy.Denied:
				return "a rule denies it"
			case policy.Asked:
				return "a rule asks about it"
			case policy.Secret:
				return "it may hold secrets"
			case policy.Uncovered:
			}
			return ""
		},
		Managed: []string{own, cc}, Config: p.Paths.Config, Home: p.Paths.Home, Claude: p.Paths.Folders.Claude, Root: conf.Root(p.Paths.Dir), Dir: p.Paths.Dir,
		Excludes: begun.Memory.Excludes, MaxBytes: begun.Memory.MaxBytes, WarnChars: begun.Memory.WarnChars,
	})
}

// Touched is what the folders of files have to say, once they are looked at;
// nil when memory is not read. A conversation that begins anew, after another
// event than before, is told again.
func (f Facts) Touched() func(begins event.Seq, paths []string) []string {
	if f.reader == nil {
		return nil
	}
	var mu sync.Mutex // guards what follows
	boundary, reader := event.Seq(0), f.reader
	return func(begins event.Seq, paths []string) []string {
		mu.Lock()
		defer mu.Unlock()
		if begins != boundary {
			boundary, reader = begins, f.place.memory(f.begun)
			reader.Start() // that is in the instructions, which stay
		}
		var out []string
		for _, p := range paths {
			found := reader.Touched(p)
			f.read.add(found)
			for _, m := range found {
				for _, w := range m.Warnings {
					f.place.Notef("%s: %s", m.Path, w)
				}
				if text := prompt.Nested(prompt.Memory{Path: m.Path, Scope: string(m.Scope), Text: m.Text, Notes: m.Notes}, m.Globs); text != "" {
					out = append(out, text)
				}
			}
		}
		return out
	}
}

func gitFacts(ctx context.Context, p Place, yields bool) prompt.Git {
	git, _ := proc.Lookup("git", p.Env("PATH"), []string{p.Paths.Root})
	return info.Read(ctx, info.Options{
		Dir: p.Paths.Dir, Git: git, Safe: conf.Safe, Env: append(proc.Quiet(proc.Scrub(p.Environ, nil)), conf.PinnedEnv()...), Yields: yields,
	}).Git
}

// Branch is the branch of git that dir is on, "" without one.
func Branch(dir string) string {
	i, _ := info.Find(dir)
	return i.Branch
}

// Event is what was told of a place, as a log keeps it.
func Event(ps []prompt.Part) (out event.Situated) {
	for _, p := range ps {
		out.Parts = append(out.Parts, event.Situation{Name: p.Name, Text: p.Text})
	}
	return out
}

// Parts are the parts of the instructions that an event keeps.
func Parts(e event.Situated) (out []prompt.Part) {
	for _, p := range e.Parts {
		out = append(out, prompt.Part{Name: p.Name, Text: p.Text})
	}
	return out
}

// Changed says what is otherwise than it was told, "" for nothing.
func Changed(was, now event.Situated) string { return prompt.Changed(Parts(was), Parts(now)) }
