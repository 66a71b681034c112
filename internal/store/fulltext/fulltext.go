// Package fulltext finds sessions by the words in them. Its index is an SQLite
// database beside the sessions that is made from their logs and can be removed
// at any time: what it says is never the truth, and nothing is kept in it
// alone. It refuses to open a database before somebody searches or feeds.
package fulltext

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
)

const (
	indexName   = "index.sqlite"
	pendingName = "pending"
	// version is the form of the tables. An index of an older form is made
	// anew; one of a newer form is left alone.
	version = 3
)

// patience is how long a statement waits for another process, in milliseconds.
const patience = 2000

// Errors of an index.
var (
	// ErrNone: there is no index yet, or not all sessions are in it.
	ErrNone = errors.New("there is no search index yet")
	// ErrBusy: another process is writing it.
	ErrBusy = errors.New("the search index is in use by another process")
	// ErrNewer: another version of adze made it.
	ErrNewer   = errors.New("a newer version of adze made the search index")
	errBad     = errors.New("the search index is damaged")
	errJournal = errors.New("the search index has an open journal")
)

// A Folder is where an index is, <state>/search. It may not exist.
type Folder struct {
	Path string
	// Mask hides secrets in what is kept; nil keeps texts as they are.
	Mask func(string) string

	noLocks bool // for tests: as where the file system has none
}

// In is the index below a state folder.
func In(state string, mask func(string) string) Folder {
	return Folder{Path: filepath.Join(state, "search"), Mask: mask}
}

// An index is an open database. It is for one goroutine.
type index struct {
	db   *sql.DB
	turn *turn
	mask func(string) string
	// known is the statement of seq, nil until it is needed; closing db closes it.
	known *sql.Stmt

	unwritten []fed
	size      int // of its texts, in bytes
}

// The rows of one session stand together: a stretch is a range of rowids that
// belongs to one session, so that a search which has found a session leaves out
// the rest of its rows by asking for lower ones. Newer stretches are higher.
const schema = `
CREATE TABLE session (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL, seq INTEGER NOT NULL);
CREATE TABLE stretch (n INTEGER PRIMARY KEY, session INTEGER NOT NULL, used INTEGER NOT NULL);
CREATE INDEX stretch_session ON stretch (session);
CREATE VIRTUAL TABLE doc USING fts5 (words, project, seq UNINDEXED, tokenize = 'unicode61 remove_diacritics 2 categories ''L* N* Co So''');
INSERT INTO doc (doc, rank) VALUES ('secure-delete', 1);
CREATE TABLE built (at INTEGER NOT NULL);
`

// open opens the index. With writing it is made when there is none, or when it
// is damaged or of an older version. The error is ErrNone, ErrBusy or ErrNewer.
func (f Folder) open(ctx context.Context, writing bool) (*index, error) {
	x, err := f.try(ctx, writing)
	if errors.Is(err, errJournal) { // a process died in a transaction: only who writes can take it back
		x, err = f.try(ctx, true)
	}
	if !errors.Is(err, errBad) {
		return x, err
	}
	if !writing {
		return nil, ErrNone
	}
	if err := f.remove(); err != nil {
		return nil, err
	}
	return f.try(ctx, true)
}

// remove takes the database away, and what SQLite keeps beside it.
func (f Folder) remove() error {
	var errs []error
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(f.Path, indexName+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (f Folder) try(ctx context.Context, writing bool) (*index, error) {
	path := filepath.Join(f.Path, indexName)
	if writing {
		if err := os.MkdirAll(f.Path, 0o700); err != nil {
			return nil, err
		}
		if err := create(path); err != nil {
			return nil, err
		}
	} else if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil, ErrNone
	}
	x := &index{mask: f.Mask}
	if x.mask == nil {
		x.mask = func(s string) string { return s }
	}
	lockless := f.lockless(writing)
	if lockless {
		var err error
		if x.turn, err = f.take(ctx); err != nil && (writing || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS)) {
			return nil, err
		}
	}
	var err error
	if x.db, err = sql.Open("sqlite", source(path, writing, lockless)); err != nil {
		return nil, errors.Join(err, x.turn.end())
	}
	x.db.SetMaxOpenConns(1)
	if err := x.check(ctx, writing); err != nil {
		return nil, errors.Join(err, x.close())
	}
	return x, nil
}

// create makes an empty database where there is none: SQLite would take the
// umask's mode. One that is there is not opened, because closing it would give
// up the locks that this process has of it.
func create(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// source is the address of the database. The journal is a file that is removed
// after each transaction, and nothing is mapped into memory: a write-ahead log
// needs memory that all processes share, which network file systems do not have.
func source(path string, writing, lockless bool) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	q := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", patience), "mmap_size(0)", "temp_store(MEMORY)", "cache_size(-4000)", "trusted_schema(OFF)",
	}}
	if writing {
		q["_pragma"] = append(q["_pragma"], "journal_mode(DELETE)", "synchronous(NORMAL)", "secure_delete(ON)")
		q.Set("_txlock", "immediate")
	} else {
		q.Set("mode", "ro")
		q["_pragma"] = append(q["_pragma"], "query_only(ON)")
	}
	if lockless {
		q.Set("nolock", "1")
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// check makes the tables when there are none yet.
func (x *index) check(ctx context.Context, writing bool) error {
	var v, tables int
	err := x.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	if err == nil {
		err = x.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
	}
	switch {
	case err != nil:
		return fault(err)
	case v > version:
		return ErrNewer
	case v == version:
		return nil
	case tables > 0:
		return errBad // of an older form
	case !writing:
		return ErrNone
	}
	return x.change(ctx, func(tx *sql.Tx) error {
		// Another process may have been quicker.
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v); err != nil || v == version {
			return err
		}
		_, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", version))
		return err
	})
}

// change runs f in a transaction that writes.
func (x *index) change(ctx context.Context, f func(*sql.Tx) error) error {
	if err := x.turn.keep(); err != nil {
		return err
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return fault(err)
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback()
		return fault(err)
	}
	return fault(tx.Commit())
}

// complete reports whether all sessions were read once.
func (x *index) complete(ctx context.Context) (bool, error) {
	n := 0
	err := x.db.QueryRowContext(ctx, "SELECT count(*) FROM built").Scan(&n)
	return n > 0, fault(err)
}

func (x *index) completed(ctx context.Context) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO built VALUES (?)", time.Now().Unix())
		return err
	})
}

func (x *index) close() error { return errors.Join(x.db.Close(), x.turn.end()) }

// Primary result codes of SQLite (sqlite.org/rescode.html).
const (
	codeError   = 1
	codeBusy    = 5
	codeLocked  = 6
	codeRead    = 8
	codeCorrupt = 11
	codeProto   = 15
	codeNotADB  = 26
)

// fault says what an error of SQLite means for the index.
func fault(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case codeBusy, codeLocked, codeProto:
		return fmt.Errorf("%w (%v)", ErrBusy, err)
	case codeRead:
		return fmt.Errorf("%w (%v)", errJournal, err)
	case codeCorrupt, codeNotADB, codeError: // a table that is not there is codeError
		return fmt.Errorf("%w (%v)", errBad, err)
	}
	return err
}
