package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/ext/plugin"
)

// versionName is a version as part of a folder's name.
func versionName(v string) string {
	if !plugin.NameOK(v) {
		return "0"
	}
	return v
}

// summary is what is kept beside a version's folder, so that a start need not
// read it.
type summary struct {
	Format int           `json:"format"`
	Sum    string        `json:"sum"`
	Plugin plugin.Plugin `json:"plugin"`
	// Stamp is of the files when Sum was found to be theirs; "" is not known.
	Stamp string `json:"stamp,omitempty"`
	// Files are the names of those that were installed; none are not known.
	Files []string `json:"files,omitempty"`
}

// summaryFormat changes when reading a plugin gives something else than before.
const summaryFormat = 2

// Commit installs what the plan has. All of it counts, or nothing.
func (p *Plan) Commit(ctx context.Context) error {
	s := p.store
	return s.change(ctx, func(l *lockFile) error {
		for _, st := range p.Steps {
			now, there := l.Plugins[st.next.ID()]
			if (st.Old == nil) == there && now.Sum != st.next.Sum || st.Old != nil && there && now.Sum != st.Old.Sum && now.Sum != st.next.Sum {
				return fmt.Errorf("%s was changed meanwhile by another adze; try again", st.next.ID())
			}
		}
		for _, st := range p.Steps {
			if err := s.put(st); err != nil {
				return err
			}
		}
		for _, st := range p.Steps {
			next := st.next
			next.Needed = st.Needed && (st.Old == nil || st.Old.Needed)
			if st.Old != nil && st.Old.Folder != next.Folder {
				l.retire(filepath.ToSlash(filepath.Join(versionDir, st.Old.Folder)), s.conf.Now())
			}
			l.revive(filepath.ToSlash(filepath.Join(versionDir, next.Folder)))
			l.Plugins[next.ID()] = next
		}
		s.sweep(l)
		s.orphans(l)
		return nil
	})
}

// orphans removes folders of versions that no lock file names: those of an
// install that was killed. What cannot be removed is tried again.
func (s *Store) orphans(l *lockFile) {
	known := map[string]bool{}
	for _, p := range l.Plugins {
		known[s.path(versionDir, filepath.FromSlash(p.Folder))] = true
	}
	for _, r := range l.Retired {
		known[s.path(filepath.FromSlash(r.Folder))] = true
	}
	names, _ := fs.Glob(os.DirFS(s.path(versionDir)), "*/*/*") // the pattern is right
	for _, n := range names {
		if d := s.path(versionDir, filepath.FromSlash(n)); !known[strings.TrimSuffix(d, ".json")] {
			_ = safe.RemoveAll(d)
		}
	}
}

// put moves the files of a step to their place.
func (s *Store) put(st Step) error {
	rel := filepath.Join(versionDir, filepath.FromSlash(st.next.Folder))
	to := s.path(rel)
	if _, err := os.Lstat(to); err == nil { // of an install that was killed, or of another plan
		if all, err := sumOf(to); err != nil || all.Sum != st.next.Sum {
			if err := safe.RemoveAll(to); err != nil {
				return mended(err)
			}
		}
	}
	if err := s.move(st.tree, rel); err != nil {
		return err
	}
	stamp, err := stampOf(to)
	if err != nil {
		return mended(err)
	}
	// Between the question and the answer others may have written.
	all, err := sumOf(to)
	if err != nil || all.Sum != st.next.Sum {
		return errors.Join(mended(err), fmt.Errorf("%s: its files changed while it was installed; try again", st.next.ID()), mended(safe.RemoveAll(to)))
	}
	return s.writeSummary(to, summary{summaryFormat, st.next.Sum, st.Plugin, stamp, slices.Sorted(maps.Keys(all.Files))})
}

func (s *Store) writeSummary(dir string, sum summary) error {
	b, err := json.Marshal(sum)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	return mended(safe.Replace(root, safe.File{Name: filepath.Base(dir) + ".json", Text: b, Mode: 0o600}))
}
