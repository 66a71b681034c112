package trust

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
)

// A Promise keeps a folder trusted over a write of our own, such as a rule that a person
// allowed for always. What will be written counts before it is on disk, beside what is there
// now, so that whoever starts meanwhile finds the folder trusted in each moment.
type Promise struct {
	store  Store
	folder Folder
	path   string // below the root
	sum    string // of what is to be written
	fresh  bool   // the folder was not in the record before
}

// Promise has what is about to be written to path, below the root, count in a folder that is
// trusted or brings nothing. It is nil where nothing is to be kept: the folder is not
// trusted, or does not bring such a file, or what is being changed (now) is not what the
// trust is of. Keep ends it.
func (s Store) Promise(ctx context.Context, f Folder, path string, now, text []byte) (*Promise, error) {
	v, err := s.Check(f)
	if err != nil || v.State != Trusted && v.State != Nothing || len(v.Refused) > 0 || v.id == (identity{}) || !f.brings(path) {
		return nil, err
	}
	i := slices.IndexFunc(v.Files, func(f File) bool { return f.Path == path })
	if i < 0 && len(now) > 0 || i >= 0 && v.Files[i].Sum != sum(now) {
		return nil, nil
	}
	p := &Promise{store: s, folder: f, path: path, sum: sum(text)}
	err = s.change(ctx, func(r *record) {
		g, by := r.counts(f.Root, v.id)
		if v.State == Trusted && (by == "" || len(changes(v, g)) > 0) { // somebody took it back meanwhile
			p = nil
			return
		}
		p.fresh = by != f.Root
		coming := map[string]string{}
		if !p.fresh {
			maps.Copy(coming, g.Coming) // of others that write
		}
		coming[path] = p.sum
		s.put(r, v, coming)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Keep ends a promise: what was written is in the place of what was there, or, where the
// write failed, it counts no more. It changes nothing when somebody decided otherwise
// meanwhile.
func (p *Promise) Keep(ctx context.Context, written bool) error {
	if p == nil {
		return nil
	}
	err := p.store.change(ctx, func(r *record) {
		g, ok := r.Folders[p.folder.Root]
		if !ok || g.Coming[p.path] != p.sum {
			return
		}
		delete(g.Coming, p.path)
		switch {
		case written:
			g.Files[p.path] = p.sum
			delete(r.Declined, p.folder.Root)
		case p.fresh && len(g.Coming) == 0:
			delete(r.Folders, p.folder.Root)
			return
		}
		r.Folders[p.folder.Root] = g
	})
	if v, bad := p.store.Check(p.folder); written && bad == nil && v.State == Trusted {
		p.store.keepCopies(v)
	}
	return err
}

// brings reports whether a file of settings or servers, below the root, is one that a
// session here reads and that needs trust.
func (f Folder) brings(at string) bool {
	dirs := f.Dirs()
	for i, d := range dirs {
		own := f.Home != "" && filepath.Join(f.Root, filepath.FromSlash(d)) == f.Home
		for _, s := range single {
			if path.Join(d, s.path) == at && s.kind != Hooks && read(s.path, own, i > 0 && i < len(dirs)-1) {
				return true
			}
		}
	}
	return false
}
