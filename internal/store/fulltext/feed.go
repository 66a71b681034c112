package fulltext

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/text/order"
)

// A Catalogue is what the index is made from.
type Catalogue interface {
	List(ctx context.Context, project string) ([]store.Info, error)
	Find(ctx context.Context, project, query string) (store.Info, error)
	// Children are the sessions that work for one. Their Key is a path below that of it.
	Children(ctx context.Context, of store.Info) ([]store.Info, error)
	Read(ctx context.Context, i store.Info, after event.Seq) iter.Seq2[event.Event, error]
}

// Mark notes that a session has more than the index knows, or is gone. It opens
// no database and takes some microseconds; the next Update reads what is new.
func (f Folder) Mark(id string) error {
	dir := filepath.Join(f.Path, pendingName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, id), nil, 0o600)
}

// Unmark takes back the mark of a session that came to nothing.
func (f Folder) Unmark(id string) { _ = os.Remove(filepath.Join(f.Path, pendingName, id)) }

// taken is the end of the name of a mark that somebody works on.
const taken = ".taken"

// marked are the sessions with a mark.
func (f Folder) marked() ([]string, error) {
	es, err := os.ReadDir(filepath.Join(f.Path, pendingName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range es {
		out = append(out, strings.TrimSuffix(e.Name(), taken))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Update reads what is new: everything when there is no index yet or not the
// whole of one, else the marked sessions. progress is told how many are done;
// nil tells nobody. What was read stays when it ends early.
func (f Folder) Update(ctx context.Context, cat Catalogue, progress func(done, all int)) error {
	x, err := f.open(ctx, true)
	if err != nil {
		return err
	}
	err = f.update(ctx, x, cat, progress)
	if err = errors.Join(err, x.close()); !errors.Is(err, errBad) {
		return err
	}
	// The damage showed only now. Once is enough: what comes new is whole.
	if err := f.remove(); err != nil {
		return err
	}
	if x, err = f.open(ctx, true); err != nil {
		return err
	}
	return errors.Join(f.update(ctx, x, cat, progress), x.close())
}

// Rebuild makes the index anew.
func (f Folder) Rebuild(ctx context.Context, cat Catalogue, progress func(done, all int)) error {
	if err := f.remove(); err != nil {
		return err
	}
	return f.Update(ctx, cat, progress)
}

// Built reports whether there is an index with all sessions in it. It is for
// those who would not wait for one.
func (f Folder) Built(ctx context.Context) bool {
	x, err := f.open(ctx, false)
	if err != nil {
		return false
	}
	defer x.close()
	ok, err := x.complete(ctx)
	return ok && err == nil
}

func (f Folder) update(ctx context.Context, x *index, cat Catalogue, progress func(done, all int)) error {
	if progress == nil {
		progress = func(int, int) {}
	}
	ids, err := f.marked()
	if err != nil {
		return err
	}
	done, err := x.complete(ctx)
	if err != nil {
		return err
	}
	if !done {
		all, err := cat.List(ctx, "")
		if err != nil {
			return err
		}
		order.By(all, func(a, b store.Info) int { return cmp.Compare(a.ID, b.ID) }) // by time
		for n, i := range all {
			progress(n, len(all))
			if err := x.feed(ctx, i, cat); err != nil {
				return errors.Join(err, x.flush(ctx))
			}
		}
		if err := errors.Join(x.flush(ctx), x.completed(ctx)); err != nil {
			return err
		}
	}
	var errs []error
	for _, id := range ids {
		if err := f.processMark(ctx, x, cat, id); err != nil {
			errs = append(errs, err)
			if errors.Is(err, ErrBusy) || errors.Is(err, errBad) || ctx.Err() != nil {
				break
			}
		}
	}
	return errors.Join(errs...)
}

// processMark takes a mark and does what it asks for. The mark stays while a process
// writes the session, and when something went wrong.
func (f Folder) processMark(ctx context.Context, x *index, cat Catalogue, id string) (err error) {
	mark := filepath.Join(f.Path, pendingName, id)
	// Under another name, so that a mark that is set meanwhile is one more.
	if err := os.Rename(mark, mark+taken); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	i, err := cat.Find(ctx, "", id)
	switch {
	case errors.Is(err, store.ErrNone) || err == nil && i.ID != id:
		err = x.forget(ctx, id)
	case err == nil:
		err = errors.Join(x.feed(ctx, i, cat), x.flush(ctx))
	}
	if err != nil {
		return err
	}
	if i.Running {
		return os.Rename(mark+taken, mark)
	}
	if err := os.Remove(mark + taken); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// batchBytes and batchFeeds are how much text, and of how many sessions, is written in
// one transaction, about, so that others need not wait for long. Each one waits
// for the disk, so that one for every short session takes a hundred times as long.
const batchBytes, batchFeeds = 4 << 20, 512

// A row is one document.
type row struct {
	words string
	seq   event.Seq // of the first event in it
}

// A fed is what was read of a session behind an event, and is not written yet.
type fed struct {
	store.Info
	after, last event.Seq
	rows        []row
}

// feed reads what of a session, and of those that work for it, is not in the index; flush
// writes what is left of it. A session that cannot be read is left out; it must not hide
// the others.
func (x *index) feed(ctx context.Context, i store.Info, cat Catalogue) error {
	if err := x.feedOne(ctx, i, cat); err != nil {
		return err
	}
	below, err := cat.Children(ctx, i)
	if err != nil {
		return ctx.Err()
	}
	for _, c := range below {
		if err := x.feed(ctx, c, cat); err != nil {
			return err
		}
	}
	return nil
}

func (x *index) feedOne(ctx context.Context, i store.Info, cat Catalogue) error {
	after, err := x.seq(ctx, i.ID)
	if err != nil || after >= i.Seq && after > 0 {
		return err
	}
	var rows []row
	var b strings.Builder
	first, last := event.Seq(0), after
	hold := func() error {
		x.unwritten = append(x.unwritten, fed{i, after, last, rows})
		after, rows = last, nil
		if x.size < batchBytes && len(x.unwritten) < batchFeeds {
			return nil
		}
		return x.flush(ctx)
	}
	flush := func() {
		if b.Len() > 0 {
			rows = append(rows, row{b.String(), first})
			x.size += b.Len()
			b.Reset()
		}
	}
	for e, err := range cat.Read(ctx, i, after) {
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			break
		}
		last = e.Seq
		_, prompt := e.Body.(event.InputAccepted)
		for _, w := range words(e.Body) {
			for text := stored(w, x.mask); text != ""; {
				var part string
				part, text = cut(text, docBytes)
				if prompt || b.Len()+len(part) > docBytes {
					flush()
					prompt = false
				}
				if b.Len() == 0 {
					first = e.Seq
				}
				b.WriteString(part)
				b.WriteByte('\n')
			}
		}
		if x.size > batchBytes {
			if err := hold(); err != nil {
				return err
			}
		}
	}
	flush()
	return hold()
}

// flush writes what was fed.
func (x *index) flush(ctx context.Context) error {
	list := x.unwritten
	x.unwritten, x.size = nil, 0
	if len(list) == 0 {
		return nil
	}
	return x.change(ctx, func(tx *sql.Tx) error {
		for _, f := range list {
			if err := write(ctx, tx, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// cut takes at most n bytes from the beginning of a text, whole words if it can.
func cut(s string, n int) (head, rest string) {
	if len(s) <= n {
		return s, ""
	}
	if i := strings.LastIndexAny(s[:n], " \n\t"); i > n/2 {
		return s[:i], s[i+1:]
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n], s[n:]
}

// seq is the last event of a session that was read, 0 for none.
func (x *index) seq(ctx context.Context, id string) (event.Seq, error) {
	var n int64
	if x.known == nil { // asked for each session
		var err error
		if x.known, err = x.db.PrepareContext(ctx, "SELECT seq FROM session WHERE id = ?"); err != nil {
			return 0, fault(err)
		}
	}
	err := x.known.QueryRowContext(ctx, id).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return event.Seq(max(0, n)), fault(err)
}

// rowBits of a rowid count the rows of a stretch.
const rowBits = 20

// recent is how many stretches may have begun since a session's own for it to
// be gone on with: a session that is taken up again comes to the front.
const recent = 64

// write adds rows, unless another process has added them meanwhile.
func write(ctx context.Context, tx *sql.Tx, f fed) error {
	i, rows := f.Info, f.rows
	var n, seq int64
	err := tx.QueryRowContext(ctx, "SELECT n, seq FROM session WHERE id = ?", i.ID).Scan(&n, &seq)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		res, err := tx.ExecContext(ctx, "INSERT INTO session (id, project, seq) VALUES (?, ?, 0)", i.ID, i.Key)
		if err == nil {
			n, err = res.LastInsertId()
		}
		if err != nil {
			return err
		}
	case err != nil:
		return err
	}
	if event.Seq(seq) != f.after {
		return nil
	}
	add, err := tx.PrepareContext(ctx, "INSERT INTO doc (rowid, words, project, seq) VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer add.Close()
	for len(rows) > 0 {
		at, used, err := stretch(ctx, tx, n)
		if err != nil {
			return err
		}
		for ; len(rows) > 0 && used < 1<<rowBits-1; rows = rows[1:] {
			used++
			if _, err := add.ExecContext(ctx, at<<rowBits|used, rows[0].words, token(i.Key), int64(rows[0].seq)); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "UPDATE stretch SET used = ? WHERE n = ?", used, at); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "UPDATE session SET seq = ? WHERE n = ?", int64(f.last), n)
	return err
}

// stretch is where rows of a session go.
func stretch(ctx context.Context, tx *sql.Tx, session int64) (n, used int64, err error) {
	var newest int64
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM stretch").Scan(&newest); err != nil {
		return 0, 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT n, used FROM stretch WHERE session = ? ORDER BY n DESC LIMIT 1", session).Scan(&n, &used)
	if err == nil && n > newest-recent && used < 1<<rowBits-1 {
		return n, used, nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, 0, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO stretch (n, session, used) VALUES (?, ?, 0)", newest+1, session)
	return newest + 1, 0, err
}

// token is a project's name as one word. Sessions that work for one are of its project.
func token(key string) string {
	project, _, _ := strings.Cut(filepath.ToSlash(key), "/")
	return "p" + hex.EncodeToString([]byte(project))
}

// forget takes a session out, with those that worked for it.
func (x *index) forget(ctx context.Context, id string) error {
	return x.change(ctx, func(tx *sql.Tx) error {
		for _, q := range []string{
			fmt.Sprintf("DELETE FROM doc WHERE rowid IN (SELECT d.rowid FROM session s JOIN stretch t ON t.session = s.n JOIN doc d ON d.rowid BETWEEN t.n<<%d AND (t.n<<%d)+t.used WHERE s.id = ?1 OR instr(replace(s.project, '\\', '/'), '/' || ?1 || '/') > 0)", rowBits, rowBits),
			"DELETE FROM stretch WHERE session IN (SELECT n FROM session WHERE id = ?1 OR instr(replace(project, '\\', '/'), '/' || ?1 || '/') > 0)",
			"DELETE FROM session WHERE id = ?1 OR instr(replace(project, '\\', '/'), '/' || ?1 || '/') > 0",
		} {
			if _, err := tx.ExecContext(ctx, q, id); err != nil {
				return err
			}
		}
		return nil
	})
}
