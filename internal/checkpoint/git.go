package checkpoint

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/git/object"
	"github.com/adze-agent/adze/internal/search"
)

// maxAttributes bounds a file of attributes that is read, in bytes.
const maxAttributes = 1 << 20

// tracked takes over what git's index says: which files git ignores and tracks
// nevertheless, and which contents it has already.
func (t *Tree) tracked(ctx context.Context) error {
	repo, err := conf.Find(t.root)
	if err != nil || repo.Top == "" {
		return nil //nolint:nilerr // where git has nothing, all is kept here
	}
	prefix := ""
	if rel, err := filepath.Rel(repo.Top, t.root); err == nil && rel != "." {
		prefix = filepath.ToSlash(rel) + "/"
	}
	t.git = object.Repo{Repo: repo, Git: t.program, Env: t.env}
	all, some := t.converts()
	all = all || t.program == ""
	var doubtful []clean
	more := map[string]*folder{}
	conf.CleanFiles(repo, func(c conf.Clean) {
		path, below := strings.CutPrefix(c.Path, prefix)
		if !below {
			return
		}
		switch f := t.known(path, more); {
		case f == nil || all || !f.is(c):
		case some:
			doubtful = append(doubtful, clean{f, c.ID})
		default:
			f.git = c.ID
		}
	})
	t.trust(ctx, doubtful)
	return t.add(ctx, more)
}

// known is the file at a path. One that git ignores is noted in more.
func (t *Tree) known(path string, more map[string]*folder) *file {
	rel, name := parent(path), base(path)
	d := t.folders[rel]
	if d == nil {
		if d = more[rel]; d == nil {
			d = &folder{rel: rel, named: true, files: map[string]*file{}}
			more[rel] = d
		}
	}
	f, ok := d.files[name]
	if !ok {
		d.files[name], more[rel] = nil, d
	}
	return f
}

// is reports whether a file looks as git says that it did. One that was changed
// a moment ago could have changed again with the same time.
func (f *file) is(c conf.Clean) bool {
	st := f.stat
	return st.Mode.IsRegular() && st.Size == c.Size && st.MTime == c.MTime && uint32(st.Ino) == c.Ino && !near(st, f.seen)
}

// add looks at the files that git ignores and tracks.
func (t *Tree) add(ctx context.Context, more map[string]*folder) error {
	if len(more) == 0 {
		return nil
	}
	lister, err := search.NewLister(t.search)
	if err != nil {
		return err
	}
	defer lister.Close()
	l := &look{tree: t, lister: lister, ctx: ctx, seen: t.now().UnixNano()}
	w := &scratch{make([]byte, 4<<10)}
	for rel, d := range more {
		l.check(d, w)
		if d.named && len(d.files) > 0 {
			t.folders[rel] = d
			t.order = append(t.order, d)
		}
	}
	t.todo = slices.Concat(append([][]found{t.todo}, l.fresh...)...)
	return l.err
}

// A clean is a file whose content is that of an object, if git changes nothing on the way.
type clean struct {
	*file
	id string
}

// trust notes which contents git can give back although it may change some on their way
// in and out: those that have the same size there.
func (t *Tree) trust(ctx context.Context, list []clean) {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.id
	}
	if len(ids) == 0 {
		return
	}
	sizes, err := t.git.Sizes(ctx, ids)
	for _, c := range list {
		if size, known := sizes[c.id]; err == nil && known && size == c.stat.Size {
			c.git = c.id
		}
	}
}

// converts reports whether git may change contents on their way between the
// repository and the tree: ends of lines (some), or everything (all).
func (t *Tree) converts() (all, some bool) {
	files := []string{filepath.Join(t.git.Common, "info", "attributes")}
	for _, d := range t.order {
		if _, ok := d.files[".gitattributes"]; ok {
			files = append(files, filepath.Join(t.root, filepath.FromSlash(d.rel), ".gitattributes"))
		}
	}
	for dir := t.root; dir != t.git.Top; {
		dir = filepath.Dir(dir)
		files = append(files, filepath.Join(dir, ".gitattributes"))
	}
	for _, path := range files {
		b, err := regular.Read(path, maxAttributes)
		switch {
		case os.IsNotExist(err):
		case err != nil, hasAny(b, "filter", "ident", "working-tree-encoding"):
			return true, true
		default:
			some = some || len(bytes.TrimSpace(b)) > 0
		}
	}
	for _, path := range []string{filepath.Join(t.git.Common, "config"), filepath.Join(t.search.Home, ".gitconfig"), filepath.Join(t.search.Home, ".config", "git", "config"), "/etc/gitconfig"} {
		if b, err := regular.Read(path, maxAttributes); !os.IsNotExist(err) {
			b = bytes.ToLower(b)
			if err != nil || hasAny(b, "attributesfile", "include") {
				return true, true
			}
			some = some || hasAny(b, "autocrlf", "eol")
		}
	}
	return false, some
}

func hasAny(b []byte, words ...string) bool {
	for _, w := range words {
		if bytes.Contains(b, []byte(w)) {
			return true
		}
	}
	return false
}
