package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/disk/free"
	"github.com/adze-agent/adze/internal/disk/watch"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/git/object"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Limits bound what is remembered and kept. Zero values mean the defaults.
type Limits struct {
	Files int   // entries of the tree; beyond, nothing is recorded (200,000)
	File  int64 // bytes of one file that are kept (64 MiB)
	Kept  int64 // bytes that are kept ahead of changes, in all (1 GiB)
	Took  time.Duration
	// Of what git ignores:
	Ignored int   // entries (20,000), besides Files
	Aside   int64 // bytes that are kept ahead, of Kept (256 MiB)
	Stored  int64 // bytes that are kept for good (1 GiB)
}

func (l Limits) orDefault() Limits {
	set := func(n *int64, d int64) {
		if *n <= 0 {
			*n = d
		}
	}
	files, ignored, took := int64(l.Files), int64(l.Ignored), int64(l.Took)
	set(&files, 200_000)
	set(&ignored, 20_000)
	set(&l.Aside, 256<<20)
	set(&l.Stored, 1<<30)
	set(&took, int64(5*time.Second))
	set(&l.File, 64<<20)
	set(&l.Kept, 1<<30)
	l.Files, l.Ignored, l.Took = int(files), int(ignored), time.Duration(took)
	return l
}

// Blobs keep contents for good, by the SHA-256 of the content as hex.
type Blobs interface {
	Put(content []byte) (hash string, err error)
	Get(hash string) ([]byte, error)
}

// A Tree is what is known of a folder tree. It may be used by several
// goroutines.
type Tree struct {
	root    string
	leave   []string
	search  search.Tree
	blobs   Blobs
	make    func() (*os.File, error)
	space   func(string) (int64, bool)
	program string // git
	env     []string
	limits  Limits
	now     func() time.Time

	mu      sync.Mutex // guards what follows
	folders map[string]*folder
	order   []*folder // of folders, each behind the one that holds it
	seen    time.Time // when it was looked at last
	ruled   bool      // an ignore file changed
	todo    []found   // whose content is not kept yet
	kept    int64     // bytes in scratch
	aside   int64     // of them, of what git ignores
	stored  int64     // bytes of what git ignores that are kept for good
	left    []string  // files that are not kept, and folders of which nothing is known that git ignores
	said    map[string]bool
	git     object.Repo
	told    *watch.Touched // nil where the system does not tell of changes
	blind   bool           // look at everything: something runs beside
	scratch *os.File       // nil until it is needed
	saving  saving
	off     error // why nothing is recorded any more
}

// Config says which tree and where bytes are kept.
type Config struct {
	Root string // absolute, resolved
	// Leave are folders that are not looked into, likewise: adze's own, which
	// change while it works.
	Leave []string
	Home  string // where git's global settings are; "" reads none
	Blobs Blobs
	// Scratch makes the file that takes the contents which a command could
	// change, when it is needed first. Nobody else may write it; who made it closes it.
	Scratch func() (*os.File, error)
	Journal *Journal // nil: what is known goes with the process
	// Space is how many bytes there is room for where a folder is; nil asks the disk.
	Space func(dir string) (bytes int64, known bool)
	// Git is the program, absolute, and Env its whole environment, with the pins;
	// with "" nothing is read from a repository.
	Git    string
	Env    []string
	Limits Limits
	Now    func() time.Time
}

// New remembers nothing yet: the first Begin looks at the whole tree.
func New(c Config) *Tree {
	if c.Space == nil {
		c.Space = free.Space
	}
	return &Tree{
		space: c.Space, said: map[string]bool{},
		root: c.Root, leave: c.Leave, blobs: c.Blobs, make: c.Scratch, saving: saving{journal: c.Journal}, program: c.Git, env: c.Env, limits: c.Limits.orDefault(), now: c.Now,
		search: search.Tree{Root: c.Root, Top: c.Root, Home: c.Home},
	}
}

// maxTold is how many folders the system is asked to tell of.
const maxTold = 20_000

// beside says whether something that calls started runs beside them now: then
// all files are looked at, because it may have some mapped and write to them.
func (t *Tree) beside(runs bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blind = runs
}

// Close ends what the tree watches. Nothing is recorded any more.
func (t *Tree) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told != nil {
		t.told.Close()
	}
	t.told, t.folders, t.order, t.off = nil, nil, nil, errors.New("the session is closed")
}

// errTooLarge says that a tree has too many files to be watched.
var errTooLarge = errors.New("too many files to record what commands change")

// A Mark is the tree as it was when a command began.
type Mark struct {
	tree  *Tree
	began time.Time
	// Others is what changed since the mark before, and no command that was
	// marked did.
	Others []effect.Change
	// Left says for people of what in the tree nothing is recorded, once, and Unknown each
	// time of which folders.
	Left, Unknown string
}

// Begin looks at the tree and keeps the bytes of what a command could change,
// unless git has them. It costs a look at every file, and at first their
// content. The error is for people; a tree that cannot be looked at has no Mark.
func (t *Tree) Begin(ctx context.Context) (*Mark, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.off != nil {
		return nil, t.off
	}
	first := t.folders == nil
	if first && t.told == nil {
		t.told = watch.WatchTouched(t.root, maxTold)
	}
	if err := t.open(); err != nil {
		return nil, fmt.Errorf("make a file for what commands change: %w", err)
	}
	began, last := t.now(), t.seen
	changes, err := t.look(ctx, began)
	if err != nil {
		if errors.Is(err, errTooLarge) {
			t.off = err
			t.folders, t.order = nil, nil
		}
		return nil, err
	}
	m := &Mark{tree: t, began: began}
	if first {
		if err := t.tracked(ctx); err != nil {
			return nil, err
		}
	} else {
		m.Others = t.changes(ctx, changes, last)
	}
	t.keepAll(ctx)
	t.save()
	m.Left, m.Unknown = t.unknown(), t.unseen()
	return m, nil
}

// unknown names, once, of what nothing is recorded: folders in which git ignores
// too much, and files that are not kept.
func (t *Tree) unknown() string {
	var names []string
	for _, rel := range t.left {
		if !t.said[rel] {
			names = append(names, clip.Visible(t.path(rel)))
		}
		t.said[rel] = true
	}
	t.left = nil
	return unrecorded(names)
}

// unseen names the folders in which git ignores too much.
func (t *Tree) unseen() string {
	var names []string
	for _, d := range t.order {
		if d.left {
			names = append(names, clip.Visible(t.path(d.rel)))
		}
	}
	return unrecorded(names)
}

func unrecorded(names []string) string {
	if len(names) == 0 {
		return ""
	}
	if more := len(names) - 3; more > 0 {
		names = append(names[:3], fmt.Sprintf("and %d more", more))
	}
	return "What commands change here is not recorded, and cannot be taken back, as it is too large, or too much that git ignores: " + strings.Join(names, ", ")
}

// open makes the file for contents, once: in the journal, where that can be.
func (t *Tree) open() (err error) {
	if t.scratch != nil {
		return nil
	}
	if j := t.saving.journal; j != nil {
		if t.scratch, t.saving.index, err = j.contents(); err == nil {
			return nil
		}
		t.saving.journal = nil
	}
	t.scratch, err = t.make()
	return err
}

// End looks at the tree again and says what changed since Begin.
func (m *Mark) End(ctx context.Context) (effect.Changed, error) {
	t := m.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.off != nil {
		return effect.Changed{}, t.off
	}
	found, err := t.look(ctx, t.now())
	if err != nil {
		return effect.Changed{}, fmt.Errorf("look for what the command changed: %w", err)
	}
	files := t.changes(ctx, found, m.began)
	return effect.Changed{Files: files, Missed: missed(files)}, nil
}
