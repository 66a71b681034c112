package importer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // opens their databases

	"github.com/adze-agent/adze/internal/disk/regular"
)

// maxBase bounds a database that is copied, in bytes.
const maxBase = 4 << 30

// base opens a copy of a database. Theirs is only read: opening it would change
// files beside it, and take what is not written back from its log away from the
// agent that runs.
func (a *Agents) base(path string) (*sql.DB, error) {
	if db := a.bases[path]; db != nil {
		return db, nil
	}
	dir, err := os.MkdirTemp(a.place.Temp, "base")
	if err != nil {
		return nil, err
	}
	to := filepath.Join(dir, "copy.db")
	// Who writes a database that is copied may move its log into it meanwhile.
	for try := 0; ; try++ {
		before, err := state(path)
		if err != nil {
			return nil, err
		}
		if err = errors.Join(copyFile(path, to), copyFile(path+"-wal", to+"-wal")); err != nil {
			return nil, err
		}
		after, err := state(path)
		if err != nil {
			return nil, err
		}
		if before == after {
			break
		}
		if try == 4 {
			return nil, fmt.Errorf("%s changes while it is read: close the program that writes it, and try again", path)
		}
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(to))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(2)
	a.bases[path] = db
	return db, nil
}

// state tells whether a database or its log was written to.
func state(path string) (string, error) {
	out := ""
	for _, p := range []string{path, path + "-wal"} {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if info.Size() > maxBase {
			return "", fmt.Errorf("%s has %d MB; at most %d MB are read", p, info.Size()>>20, maxBase>>20)
		}
		out += fmt.Sprint(info.Size(), info.ModTime().UnixNano(), " ")
	}
	return out, nil
}

func copyFile(from, to string) error {
	in, _, err := regular.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// list makes sources of the IDs that a query has, for each database.
func (a *Agents) list(ctx context.Context, from string, paths []string, query string) (out []Source, err error) {
	var errs []error
	for _, path := range paths {
		ids, err := a.strings(ctx, path, query)
		if err != nil {
			errs = append(errs, fmt.Errorf("read %s: %w", path, err))
		}
		for _, id := range ids {
			out = append(out, Source{from, path, id})
		}
	}
	return out, errors.Join(errs...)
}

func (a *Agents) strings(ctx context.Context, path, query string) (out []string, err error) {
	db, err := a.base(path)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
