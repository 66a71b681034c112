package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/search"
)

// A folder is what was in one when it was looked at last.
type folder struct {
	rel   string // with slashes, "" for the root
	stat  search.Stat
	seen  int64        // when, Unix nanoseconds
	above search.Rules // that count for its own entries, before its own ignore file
	files map[string]*file
	subs  map[string]bool
	again bool // list it anew, whatever its times say
	// named: git ignores the folder and tracks files in it; only these count.
	named bool
}

// A file is anything that is no folder.
type file struct {
	stat search.Stat
	seen int64
	link string // where a link points
	// The content: copied to the scratch file at at, or the object git of the
	// repository, or lost, because of this.
	copied bool
	at     int64
	git    string
	lost   string
	hash   string // of the content, where it was needed
	stored bool   // as a blob
}

// A delta is one path that differs between two looks.
type delta struct {
	rel        string
	was, is    *file        // nil: there was, or is, no file
	old, fresh *search.Stat // of a folder
}

// near is how long after a change another one can have the same time: clocks
// of file systems tick every few milliseconds, on some every two seconds.
func near(st search.Stat, seen int64) bool {
	margin := int64(50 * time.Millisecond)
	if st.MTime%int64(time.Second) == 0 {
		margin = int64(2100 * time.Millisecond)
	}
	return max(st.MTime, st.CTime) > seen-margin
}

// A look is one pass over the tree.
type look struct {
	tree   *Tree
	lister *search.Lister
	ctx    context.Context
	seen   int64

	mu     sync.Mutex // guards what follows
	deltas []delta
	found  []*folder // not yet known
	gone   []string  // folders
	files  int       // listed by this pass
	ruled  bool      // an ignore file changed
	err    error
}

// look brings what is known of the tree up to date and returns what differs,
// in no order.
func (t *Tree) look(ctx context.Context, now time.Time) ([]delta, error) {
	ctx, stop := context.WithTimeout(ctx, t.limits.Took)
	defer stop()
	lister, err := search.NewLister(t.search)
	if err != nil {
		return nil, err
	}
	defer lister.Close()
	l := &look{tree: t, lister: lister, ctx: ctx, seen: now.UnixNano()}
	known := t.order
	if t.folders == nil {
		t.folders, known = map[string]*folder{}, nil
		l.found = []*folder{{above: lister.Above()}}
	}
	if t.ruled {
		l.rule()
	}
	l.spread(known, func(d *folder, w *scratch) { l.check(d, w) })
	for len(l.found) > 0 && l.err == nil {
		next := l.found
		l.found = nil
		for _, d := range next {
			t.folders[d.rel] = d
		}
		t.order = append(t.order, next...)
		l.spread(next, func(d *folder, w *scratch) { l.check(d, w) })
	}
	if err := l.done(); err != nil {
		t.folders, t.order, t.files = nil, nil, 0
		return nil, err
	}
	return l.deltas, nil
}

// rule reads the ignore files anew, from the root down.
func (l *look) rule() {
	rules := map[string]search.Rules{}
	w := &scratch{make([]byte, 32<<10)}
	for _, d := range l.tree.order { // a folder stands behind the one that holds it
		if d.rel != "" {
			d.above = rules[parent(d.rel)]
		}
		d.again = true
		if f, err := l.lister.Open(d.rel); err == nil {
			_, rules[d.rel], _ = l.lister.List(f, d.above, w.buf)
			f.Close()
		}
	}
	l.tree.ruled = false
}

// done forgets the folders that are gone, and judges the pass.
func (l *look) done() error {
	t := l.tree
	for _, rel := range l.gone {
		delete(t.folders, rel)
		if up := t.folders[parent(rel)]; up != nil {
			delete(up.subs, rel[strings.LastIndexByte(rel, '/')+1:])
		}
	}
	if len(l.gone) > 0 {
		t.order = slices.DeleteFunc(t.order, func(d *folder) bool { return t.folders[d.rel] != d })
	}
	t.ruled = t.ruled || l.ruled
	t.files = 0
	for _, d := range t.order {
		t.files += len(d.files) + 1
	}
	switch {
	case l.err != nil:
		return l.err
	case errors.Is(l.ctx.Err(), context.DeadlineExceeded):
		return ErrTooLarge
	}
	return l.ctx.Err()
}

// scratch is what one goroutine lists folders with.
type scratch struct{ buf []byte }

// spread gives folders to as many goroutines as there are processors.
func (l *look) spread(folders []*folder, do func(*folder, *scratch)) {
	const chunk = 64
	var mu sync.Mutex
	next := 0
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8, 1+len(folders)/chunk) {
		wg.Go(func() { // ends with the last chunk
			w := &scratch{make([]byte, 32<<10)}
			for {
				mu.Lock()
				from := next
				next += chunk
				mu.Unlock()
				if from >= len(folders) || l.ctx.Err() != nil {
					return
				}
				for _, d := range folders[from:min(from+chunk, len(folders))] {
					do(d, w)
				}
			}
		})
	}
	wg.Wait()
}

func (l *look) add(ds ...delta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deltas = append(l.deltas, ds...)
}

func (l *look) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

// check looks at one folder and what is in it.
func (l *look) check(d *folder, w *scratch) {
	f, err := l.lister.Open(d.rel)
	if err != nil {
		l.lose(d, err)
		return
	}
	defer f.Close()
	st, err := f.Stat("")
	if err != nil {
		l.lose(d, err)
		return
	}
	fresh := d.seen == 0
	sameNames := !fresh && !d.again && st.MTime == d.stat.MTime && st.CTime == d.stat.CTime && st.Ino == d.stat.Ino && !near(d.stat, d.seen)
	var out []delta
	if fresh {
		out = append(out, delta{rel: d.rel, fresh: &st})
	} else if old := d.stat; old.Mode != st.Mode || old.Ino != st.Ino {
		out = append(out, delta{rel: d.rel, old: &old, fresh: &st})
	}
	if !sameNames && !d.named {
		if err := l.list(f, d, w); err != nil {
			l.fail(err)
			return
		}
	}
	d.stat, d.seen, d.again = st, l.seen, false
	out = l.stats(f, d, out)
	l.add(out...)
}

// list brings the names of a folder up to date. What was known and is ignored
// by now stays known.
func (l *look) list(f search.Folder, d *folder, w *scratch) error {
	entries, rules, err := l.lister.List(f, d.above, w.buf)
	if err != nil {
		return err
	}
	if d.files == nil {
		d.files, d.subs = make(map[string]*file, len(entries)), map[string]bool{}
	}
	var found []*folder
	for _, e := range entries {
		switch {
		case !e.Dir:
			if _, known := d.files[e.Name]; !known {
				d.files[e.Name] = nil
			}
		case !d.subs[e.Name]:
			d.subs[e.Name] = true
			found = append(found, &folder{rel: below(d.rel, e.Name), above: rules})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = append(l.found, found...)
	if l.files += len(entries); l.files > l.tree.limits.Files {
		l.err = ErrTooLarge
	}
	return nil
}

// stats compares every file of a folder with what was known of it.
func (l *look) stats(f search.Folder, d *folder, out []delta) []delta {
	for name, was := range d.files {
		rel := below(d.rel, name)
		st, err := f.Stat(name)
		if err != nil || st.Mode.IsDir() {
			if was != nil {
				out = append(out, delta{rel: rel, was: was})
			}
			delete(d.files, name)
			continue
		}
		if was != nil && same(st, was.stat) && (!near(was.stat, was.seen) || !st.Mode.IsRegular()) {
			continue // else only its content can tell
		}
		is := &file{stat: st, seen: l.seen}
		if st.Mode&fs.ModeSymlink != 0 {
			is.link, _ = f.Readlink(name)
		}
		d.files[name] = is
		out = append(out, delta{rel: rel, was: was, is: is})
		if name == ".gitignore" && d.seen != 0 {
			l.ignores()
		}
	}
	return out
}

// same reports whether a file is what it was, as far as its entry says. Another
// number of names alone changes nothing.
func same(a, b search.Stat) bool {
	return a.Mode == b.Mode && a.Size == b.Size && a.MTime == b.MTime && a.Ino == b.Ino && a.CTime == b.CTime
}

// lose notes a folder that is gone, or is no folder any more. What cannot be
// opened for another reason is taken as it was.
func (l *look) lose(d *folder, err error) {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP) {
		if d.seen == 0 {
			d.seen = l.seen
		}
		return
	}
	var out []delta
	if d.seen != 0 {
		old := d.stat
		out = append(out, delta{rel: d.rel, old: &old})
	}
	for name, was := range d.files {
		if was != nil {
			out = append(out, delta{rel: below(d.rel, name), was: was})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deltas = append(l.deltas, out...)
	l.gone = append(l.gone, d.rel)
}

// ignores notes that an ignore file changed.
func (l *look) ignores() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ruled = true
}

func below(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func parent(rel string) string {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i]
	}
	return ""
}
