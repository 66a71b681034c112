package confedit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/adze-agent/adze/internal/disk/safe"
)

// A Migration brings a settings file from one shape to the next. Change is
// idempotent: run on a file that has the new shape it returns the same bytes.
type Migration struct {
	Number int // from 1, without gaps
	Name   string
	Change func(text []byte) ([]byte, error)
}

// Migrate runs those migrations that come after done on a file and returns the
// number of the last one that is done. Before the first change the file is
// copied into the folder backups, named by the number it had. A file that is not there
// needs none; one that does not parse is left alone and tried again later.
//
// No migration is due yet: no published key was ever renamed, and the names
// that others use are read as aliases (config.Key).
func (e Editor) Migrate(ctx context.Context, t Target, backups string, done int, list []Migration) (int, error) {
	last := done
	for i, m := range list {
		if m.Number != i+1 {
			return done, fmt.Errorf("migration %d (%s) stands at place %d", m.Number, m.Name, i+1)
		}
		last = max(last, m.Number)
	}
	if _, err := os.Lstat(t.Path); os.IsNotExist(err) || last == done {
		return last, nil
	}
	err := e.Rewrite(ctx, t, func(text []byte) ([]byte, error) {
		now := text
		for _, m := range list {
			if m.Number <= done {
				continue
			}
			var err error
			if now, err = m.Change(now); err != nil {
				return nil, fmt.Errorf("migration %d (%s): %w", m.Number, m.Name, err)
			}
		}
		if bytes.Equal(now, text) {
			return text, nil
		}
		if _, err := parse(now); err != nil {
			return nil, fmt.Errorf("migrations %d to %d: %w", done+1, last, err)
		}
		return now, backup(backups, fmt.Sprintf("%s.before-%d", filepath.Base(t.Path), done+1), text)
	})
	if err != nil {
		return done, err
	}
	return last, nil
}

// backup keeps a copy; an older one of the same name stays, it is nearer to
// what the person wrote.
func backup(dir, name string, text []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(name); err == nil {
		return nil
	}
	return safe.Replace(root, safe.File{Name: name, Text: text, Mode: 0o600, Exact: true})
}
