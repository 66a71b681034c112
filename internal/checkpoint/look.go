package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/adze-agent/adze/internal/policy"
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
	told  bool // the system tells when something happens in it
	loose bool // look at it again: a file of it is too young, or has other names
	// named: git ignores the folder and tracks files in it; only these count.
	named bool
	// ignored: git ignores the folder, or one above it. aside are files of another
	// folder that it ignores, and extra counts what it ignores here.
	ignored bool
	aside   map[string]bool
	extra   int
	left    bool // there is too much that git ignores: from now on none of it counts
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
	sum    uint32 // of what was copied, CRC-32C
	stored bool   // as a blob
	// ignored: git ignores it. made: besides, a build has made it.
	ignored, made bool
}

// A found is a file as it was found by a look.
type found struct {
	rel string
	*file
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
	fresh  [][]found
	first  bool      // nothing was known: all is fresh, and there are no deltas
	found  []*folder // not yet known
	gone   []string  // folders
	moved  []string  // folders that are other ones now, or gone
	files  int       // listed by this pass
	extra  int       // what git ignores, of all that is known
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
	if t.folders == nil {
		t.folders, t.left = map[string]*folder{}, nil
		l.first = true
		l.found = []*folder{{above: lister.Above()}}
	}
	for _, d := range t.order {
		l.extra += d.extra
	}
	known := t.due()
	if t.ruled {
		l.rule()
		known = t.order
	}
	l.spread(known, func(d *folder, w *scratch) { l.check(d, w) })
	l.follow(known)
	for len(l.found) > 0 && l.err == nil {
		next := l.found
		l.found = nil
		for _, d := range next {
			t.folders[d.rel] = d
		}
		t.order = append(t.order, next...)
		l.spread(next, func(d *folder, w *scratch) { l.check(d, w) })
	}
	t.todo = slices.Concat(append([][]found{t.todo}, l.fresh...)...)
	if err := l.done(); err != nil {
		t.todo = nil
		t.folders, t.order, t.saving.whole = nil, nil, false
		return nil, err
	}
	t.seen = now
	t.saving.note(l.deltas)
	return l.deltas, nil
}

// due are the folders that have to be looked at: those in which something
// happened, and those of which the system does not tell.
func (t *Tree) due() []*folder {
	if t.told == nil {
		return t.order
	}
	dirs, all := t.told.Take()
	if all || t.blind {
		return t.order
	}
	var out []*folder
	for _, d := range t.order {
		if !d.told || d.loose || d.again || near(d.stat, d.seen) || dirs[t.path(d.rel)] {
			out = append(out, d)
		}
	}
	return out
}

// follow looks at everything below folders that were removed, renamed or
// exchanged: nothing need have happened in those below.
func (l *look) follow(seen []*folder) {
	done := map[*folder]bool{}
	for _, d := range seen {
		done[d] = true
	}
	for len(l.moved) > 0 {
		moved := l.moved
		l.moved = nil
		var next []*folder
		for _, d := range l.tree.order {
			for _, m := range moved {
				if !done[d] && (m == "" || strings.HasPrefix(d.rel, m+"/")) {
					done[d], d.again = true, true
					next = append(next, d)
				}
			}
		}
		l.spread(next, func(d *folder, w *scratch) { l.check(d, w) })
	}
}

// rule reads the ignore files anew, from the root down.
func (l *look) rule() {
	rules, ignored := map[string]search.Rules{}, map[string]bool{}
	w := &scratch{make([]byte, 32<<10)}
	for _, d := range l.tree.order { // a folder stands behind the one that holds it
		if d.rel != "" {
			up := parent(d.rel)
			d.above, d.ignored = rules[up], ignored[up] || ignored[d.rel]
			ignored[d.rel] = d.ignored
		}
		d.again = true
		if f, err := l.lister.Open(d.rel); err == nil {
			var entries []search.Entry
			entries, rules[d.rel], _ = l.lister.All(f, d.above, l.most(d), w.buf)
			f.Close()
			for _, e := range entries {
				if e.Dir && e.Ignored {
					ignored[below(d.rel, e.Name)] = true
				}
			}
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
			delete(up.subs, base(rel))
		}
	}
	if len(l.gone) > 0 {
		t.order = slices.DeleteFunc(t.order, func(d *folder) bool { return t.folders[d.rel] != d })
	}
	t.ruled = t.ruled || l.ruled
	switch {
	case l.err != nil:
		return l.err
	case errors.Is(l.ctx.Err(), context.DeadlineExceeded):
		return errTooLarge
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
	fresh := make([]found, 0, len(ds))
	for _, d := range ds {
		if d.is != nil {
			fresh = append(fresh, found{d.rel, d.is})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = append(l.fresh, fresh)
	if !l.first {
		l.deltas = append(l.deltas, ds...)
	}
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
		if old.Ino != st.Ino {
			l.move(d.rel)
		}
	}
	if fresh || d.again || d.stat.Ino != st.Ino {
		d.told = l.tree.told != nil && l.tree.told.Add(l.tree.path(d.rel))
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

// most is how many entries of a folder are listed.
func (l *look) most(d *folder) int {
	if d.ignored {
		return l.tree.limits.Ignored
	}
	return math.MaxInt
}

// list brings the names of a folder up to date. What was known and is ignored
// by now stays known.
func (l *look) list(f search.Folder, d *folder, w *scratch) error {
	entries, rules, err := l.lister.All(f, d.above, l.most(d), w.buf)
	if err != nil {
		return err
	}
	if d.files == nil {
		d.files, d.subs = make(map[string]*file, len(entries)), map[string]bool{}
	}
	if d.aside == nil {
		d.aside = map[string]bool{}
	}
	entries = l.count(d, entries)
	var found []*folder
	for _, e := range entries {
		switch {
		case !e.Dir:
			if _, known := d.files[e.Name]; !known {
				d.files[e.Name] = nil
			}
			if e.Ignored {
				d.aside[e.Name] = true
			}
		case slices.Contains(l.tree.leave, l.tree.path(below(d.rel, e.Name))):
		case !d.subs[e.Name]:
			d.subs[e.Name] = true
			found = append(found, &folder{rel: below(d.rel, e.Name), above: rules, ignored: e.Ignored})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = append(l.found, found...)
	return nil
}

// count leaves out of the entries of a folder what builds make where git ignores
// it, and all that git ignores where it is too much.
func (l *look) count(d *folder, entries []search.Entry) []search.Entry {
	entries = slices.DeleteFunc(entries, func(e search.Entry) bool { return (e.Ignored || d.ignored) && policy.Output(e.Name, e.Dir) })
	n := 0
	for i := range entries {
		if entries[i].Ignored = entries[i].Ignored || d.ignored; entries[i].Ignored {
			n++
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.extra+n-d.extra > l.tree.limits.Ignored && !d.left {
		d.left = true
		l.tree.left = append(l.tree.left, d.rel)
	}
	if d.left {
		entries, n = slices.DeleteFunc(entries, func(e search.Entry) bool { return e.Ignored }), 0
	}
	l.extra, d.extra = l.extra+n-d.extra, n
	if l.files += len(entries) - n; l.files > l.tree.limits.Files {
		l.err = errTooLarge
	}
	return entries
}

// stats compares every file of a folder with what was known of it.
func (l *look) stats(f search.Folder, d *folder, out []delta) []delta {
	d.loose = false
	if d.seen == l.seen && l.first {
		out = slices.Grow(out, len(d.files))
	}
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
		d.loose = d.loose || st.Links > 1 || near(st, l.seen)
		if was != nil && same(st, was.stat) && (!near(was.stat, was.seen) || !st.Mode.IsRegular()) {
			continue // else only its content can tell
		}
		is := &file{stat: st, seen: l.seen, ignored: d.ignored || d.aside[name]}
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
	l.gone, l.moved = append(l.gone, d.rel), append(l.moved, d.rel)
}

func (l *look) move(rel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moved = append(l.moved, rel)
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

func base(rel string) string { return rel[strings.LastIndexByte(rel, '/')+1:] }
