package trust

import (
	"context"
	"fmt"

	"github.com/adze-agent/adze/internal/disk/inode"
)

// made is a worktree that adze made of a repository.
type made struct {
	identity
	Of string `json:"of"` // the repository's root: absolute, resolved
}

// Made records that adze has just created worktree from the repository at of. Both are
// roots, absolute and resolved. While it is that very folder, and of is trusted and still the
// folder that was, the worktree is trusted as long as what it brings is exactly what was
// trusted there: a file more, less or with other content is a change, as in of itself. What
// git leaves out of a worktree has to be carried over by who makes it.
//
// Only this record says so, which lies outside of every worktree: what a folder says of
// itself (its .git, its settings) counts for nothing, because others can write it.
func (s Store) Made(ctx context.Context, worktree, of string) error {
	id, err := inode.At(worktree)
	if err != nil {
		return fmt.Errorf("keep that %s is a worktree of adze's: %w", worktree, err)
	}
	return s.change(ctx, func(r *record) {
		for path, m := range r.Made {
			if now, err := inode.At(path); err != nil || now != m.identity {
				delete(r.Made, path) // it is gone
			}
		}
		if r.Made == nil {
			r.Made = map[string]made{}
		}
		r.Made[worktree] = made{id, of}
	})
}

// counts is the grant by which a folder is judged, and whose it is: its own, or that of
// the repository that it is a worktree of; "" for none.
func (r record) counts(root string, id identity) (g grant, by string) {
	if id == (identity{}) {
		return grant{}, ""
	}
	if g, ok := r.Folders[root]; ok && g.identity == id {
		return g, root
	}
	m, ok := r.Made[root]
	if !ok || m.identity != id {
		return grant{}, ""
	}
	g, ok = r.Folders[m.Of]
	if now, err := inode.At(m.Of); !ok || err != nil || now != g.identity {
		return grant{}, ""
	}
	return g, m.Of
}
