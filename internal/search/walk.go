package search

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/adze-agent/adze/internal/git/ignore"
)

// kind is what an entry of a folder is.
type kind uint8

const (
	isOther kind = iota
	isFile
	isDir
	isLink
)

type item struct {
	name string
	kind kind
}

// batch is how many files of one folder a worker takes at a time.
const batch = 128

// A job is a folder to list, or files of a listed folder to look at.
type job struct {
	rel   string
	rules *rules
	files []string // nil: list the folder
}

// A walk spreads folders over workers. The stack is last in, first out, so
// that it stays as small as the tree is deep and wide in one place.
type walk struct {
	tree  Tree
	base  *base
	skip  map[string]bool // relative paths
	enter func(rel string) bool
	want  func(rel, name string) bool
	only  string                // look at this one file of the root
	links bool                  // also hand over symbolic links
	dirs  func(rel string) bool // folders that are handed over like files

	mu     sync.Mutex // guards what follows
	more   *sync.Cond
	stack  []job
	busy   int
	report Report
}

// A worker is one goroutine's scratch space.
type worker struct {
	list  []byte
	items []item
	buf   []byte
	find  *finder
}

// visit looks at one file of a folder.
type visit func(w *worker, d folder, rel, name string) error

// run walks the tree and calls look for each file that is wanted, from several
// goroutines at once. It returns when all have ended.
func (k *walk) run(ctx context.Context, look visit) (Report, error) {
	b, err := openBase(k.tree.Root)
	if err != nil {
		return Report{}, rootError(k.tree.Root, err)
	}
	defer b.close()
	k.base = b
	k.more = sync.NewCond(&k.mu)
	k.skip = map[string]bool{}
	for _, s := range k.tree.Skip {
		if rel, err := filepath.Rel(k.tree.Root, s); err == nil && filepath.IsLocal(rel) {
			k.skip[filepath.ToSlash(rel)] = true
		}
	}
	var top *rules
	if !k.tree.All && k.only == "" {
		top = k.tree.above()
	}
	k.stack = []job{{rules: top}}
	if k.only != "" {
		k.stack[0].files = []string{k.only}
	}
	stop := context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.stack = nil
		k.more.Broadcast()
	})
	defer stop()
	var wg sync.WaitGroup
	for range k.tree.workers() {
		wg.Go(func() { // ends when the stack is empty and nobody can fill it
			w := &worker{list: make([]byte, 32<<10)}
			for ctx.Err() == nil {
				j, ok := k.next()
				if !ok {
					return
				}
				k.do(ctx, w, j, look)
				k.done()
			}
		})
	}
	wg.Wait()
	return k.report, ctx.Err()
}

func (k *walk) next() (job, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.stack) == 0 {
		if k.busy == 0 {
			k.more.Broadcast()
			return job{}, false
		}
		k.more.Wait()
	}
	j := k.stack[len(k.stack)-1]
	k.stack = k.stack[:len(k.stack)-1]
	k.busy++
	return j, true
}

func (k *walk) done() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy--
	if k.busy == 0 && len(k.stack) == 0 {
		k.more.Broadcast()
	}
}

func (k *walk) push(js []job) {
	if len(js) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stack = append(k.stack, js...)
	if len(js) == 1 {
		k.more.Signal()
	} else {
		k.more.Broadcast()
	}
}

// denied counts what could not be read and keeps the first by path.
func (k *walk) denied(rel string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return // gone since it was listed
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.report.Denied++
	if k.report.Example == "" || rel < k.report.Example {
		k.report.Example = rel
	}
}

func (k *walk) do(ctx context.Context, w *worker, j job, look visit) {
	d, err := k.base.open(j.rel)
	if err != nil {
		k.denied(j.rel, err)
		return
	}
	defer d.close()
	files := j.files
	if files == nil {
		if files = k.list(w, d, j); len(files) > batch {
			var rest []job
			for i := batch; i < len(files); i += batch {
				rest = append(rest, job{rel: j.rel, files: files[i:min(i+batch, len(files))]})
			}
			k.push(rest)
			files = files[:batch]
		}
	}
	for _, name := range files {
		if ctx.Err() != nil {
			break
		}
		rel := join(j.rel, name)
		if err := look(w, d, rel, name); err != nil {
			k.denied(rel, err)
		}
	}
}

// list reads a folder, pushes the folders in it, and returns the files that
// are wanted.
func (k *walk) list(w *worker, d folder, j job) []string {
	items, err := d.list(w.list, w.items[:0], all)
	w.items = items
	if err != nil {
		k.denied(j.rel, err)
	}
	r := j.rules
	if !k.tree.All {
		r = k.tree.rulesIn(d, j.rel, j.rules, items)
	}
	none := r.empty()
	var dirs []job
	files := make([]string, 0, len(items))
	for _, it := range items {
		if it.kind == isOther || it.kind == isLink && !k.links || VCS(it.name) {
			continue
		}
		rel := join(j.rel, it.name)
		if len(k.skip) > 0 && k.skip[rel] {
			continue
		}
		dir := it.kind == isDir
		switch {
		case dir && k.enter != nil && !k.enter(rel), !dir && !k.want(rel, it.name):
		case !none && r.ignored(rel, dir):
		case dir:
			dirs = append(dirs, job{rel: rel, rules: r})
			if k.dirs != nil && k.dirs(rel) {
				files = append(files, it.name)
			}
		case k.tree.Leave != nil && k.tree.Leave(rel):
		default:
			files = append(files, it.name)
		}
	}
	k.push(dirs)
	return files
}

// rulesIn adds the ignore files of a listed folder to those above it.
func (t Tree) rulesIn(d folder, rel string, above *rules, items []item) *rules {
	r := above
	own := func() *rules {
		if r == above {
			r = &rules{up: above, base: rel}
		}
		return r
	}
	for _, it := range items {
		if it.name == ".git" {
			if lists, ok := t.git(Path(t.Root, rel)); ok {
				own().repo = true
				r.more = lists
			}
			continue
		}
		if n := ignoreKind(it.name); n >= 0 && it.kind == isFile {
			if b, err := slurp(d, it.name); err == nil {
				own().lists[n] = ignore.Parse(b, t.foldCase())
			}
		}
	}
	return r
}

// slurp reads a small file.
func slurp(d folder, name string) ([]byte, error) {
	f, err := d.file(name)
	if err != nil {
		return nil, err
	}
	defer f.close()
	b := make([]byte, 0, 4096)
	for len(b) < maxIgnore {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := f.read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if n == 0 || err != nil {
			return b, err
		}
	}
	return b, nil
}
