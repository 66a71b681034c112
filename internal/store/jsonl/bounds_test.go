package jsonl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

// That a file or a folder could not be closed is said by who closes the log, or
// could not open it, and everything else is closed all the same.
func TestClosingFails(t *testing.T) {
	cause := errors.New("the system would not close it")
	d := newFakeDisk()
	opt := jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a"), Key: sealKey}
	l := mustOpen(t, opt)
	add(t, l, 1, 3)
	d.closing = func(string) error { return cause }
	if err := l.Keep(t.Context(), "v1", l.Place(), []byte("data")); !errors.Is(err, cause) {
		t.Errorf("a snapshot that may not be whole: %v", err)
	}
	if err := l.Close(); !errors.Is(err, cause) {
		t.Errorf("closed: %v", err)
	}
	d.allClosed(t, "closed")
	if err := l.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if _, err := jsonl.OpenReader(opt); !errors.Is(err, cause) {
		t.Errorf("opened to read: %v", err)
	}
	d.names = map[string]*inode{}
	if _, err := jsonl.Open(opt); !errors.Is(err, cause) {
		t.Errorf("opened a folder without a log: %v", err)
	}
	d.allClosed(t, "opened in vain")
}

// A folder that cannot be closed after the log's end could not be repaired is
// told of beside that.
func TestOpeningAndClosingFail(t *testing.T) {
	broken, stuck := errors.New("the disk is broken"), errors.New("the system would not close it")
	d := newFakeDisk()
	opt := jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")}
	l := mustOpen(t, opt)
	add(t, l, 1, 3)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d.blind = func(int) error { return broken }
	d.closing = func(name string) error {
		if name == "." {
			return stuck
		}
		return nil
	}
	_, err := jsonl.Open(opt)
	if _, ok := errors.AsType[*store.WriteError](err); !ok || !errors.Is(err, broken) || !errors.Is(err, stuck) {
		t.Errorf("%v", err)
	}
	d.allClosed(t, "opened in vain")
}

// What was not synced is kept in memory, so it is synced when it becomes much.
func TestWhatIsNotSyncedIsBounded(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
	defer l.Close()
	add(t, l, 1, 3) // the third is durable
	d.flushed = nil
	size := 0
	for n := 4; size < 20<<20; n++ {
		e := event.Event{Seq: event.Seq(n), Time: at, Body: event.Noted{Text: strings.Repeat("x", 1<<20-200)}}
		line, err := event.AppendLine(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		size += len(line) + 1
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if synced, must := slices.Contains(d.flushed, jsonl.LogName), size > 8<<20; synced != must {
			t.Fatalf("%d bytes are not synced: synced %t", size, synced)
		} else if synced {
			return
		}
	}
}

// While the disk fails, what was not synced is read from memory: what the file
// has of it may be anything.
func TestReadingWhileTheDiskFails(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
	const n = 600 // more than memory has for readers
	var es []event.Event
	for i := 1; i <= n; i++ {
		es = append(es, event.Event{Seq: event.Seq(i), Time: at, Body: event.Noted{Text: "note"}})
		if err := l.Append(t.Context(), es[i-1]); err != nil {
			t.Fatal(err)
		}
	}
	d.fail = func(int) error { return errLostPages }
	if err := l.Append(t.Context(), event.Event{Seq: n + 1, Time: at, Body: event.TurnEnded{ID: "t"}}); err == nil {
		t.Fatal("it was recorded")
	}
	d.fail = func(int) error { return nil }
	want(t, l, 0, es)
	if err := l.Append(t.Context(), event.Event{Seq: n + 1, Time: at, Body: event.TurnEnded{ID: "t"}}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, l, 0); len(got) != n+1 {
		t.Errorf("%d events", len(got))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d.allClosed(t, "closed")
}

// Who finds a session in use is told by whom, and since when.
func TestWhoWritesASession(t *testing.T) {
	d := newFakeDisk()
	me := self(500, "a")
	d.now = me.Now
	began := time.Now().Add(-time.Second)
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: me})
	defer l.Close()
	add(t, l, 1, 1)
	_, err := jsonl.Open(jsonl.Options{Dir: "s", Disk: d.open, Self: self(501, "b")})
	held, ok := errors.AsType[*store.LockedError](err)
	if !ok || held.PID != 500 || held.Host != "a" || held.Since.Before(began) || held.Since.After(time.Now().Add(time.Second)) {
		t.Errorf("%v: %+v", err, held)
	}
}

// The file of a snapshot: a line of 1024 bytes, then the report in one line, and
// the data. Another form needs another version.
func TestTheFormOfASnapshot(t *testing.T) {
	dir := withSnapshot(t)
	path := filepath.Join(dir, jsonl.SnapshotName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitN(raw, []byte("\n"), 3)
	if len(lines) != 3 || len(lines[0]) != 1023 || string(lines[2]) != "data" {
		t.Fatalf("%q", raw)
	}
	var head struct {
		Version int
		Fold    string
		At      struct{ Seq, Off, Lines int }
		Size    int64
		Time    int64
	}
	if err := json.Unmarshal(lines[0], &head); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, jsonl.LogName))
	if err != nil {
		t.Fatal(err)
	}
	if head.Version != 1 || head.Fold != "v1" || head.At.Seq != 10 || head.At.Lines != 10 || head.Size != info.Size() || head.Time != info.ModTime().UnixNano() {
		t.Errorf("%+v of a log of %d bytes", head, info.Size())
	}
	if _, err := os.Stat(path + ".new"); err == nil {
		t.Error("what was being written is there still")
	}
}

// What a process that was killed left of a snapshot is in the way of none.
func TestARestOfASnapshotIsOverwritten(t *testing.T) {
	for _, size := range []int{1, 1024, 100_000} {
		dir := filepath.Join(t.TempDir(), "s")
		l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
		for n := 1; n <= 10; n++ {
			if err := l.Append(t.Context(), note(n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, jsonl.SnapshotName+".new"), bytes.Repeat([]byte("x"), size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Keep(t.Context(), "v1", l.Place(), []byte("data")), l.Close()); err != nil {
			t.Fatal(err)
		}
		if data, _ := kept(t, dir, "v1"); data != "data" {
			t.Errorf("behind %d bytes: the snapshot is %q", size, data)
		}
	}
}

// A snapshot of a log that was lost to another process is not kept.
func TestNoSnapshotOfALostSession(t *testing.T) {
	d := newFakeDisk()
	me := self(500, "a")
	late := time.Duration(0)
	me.Now = func() time.Time { return time.Now().Add(late) }
	d.now = me.Now
	opt := jsonl.Options{Dir: "s", Disk: d.open, Self: me, Key: sealKey}
	l := mustOpen(t, opt)
	add(t, l, 1, 3)
	late = time.Hour // the machine slept, and another one took the session
	other := self(7, "b")
	other.Now = me.Now
	opt.Self = other
	taken := mustOpen(t, opt)
	defer taken.Close()
	if err := l.Keep(t.Context(), "v1", l.Place(), []byte("data")); !errors.Is(err, store.ErrLost) {
		t.Errorf("kept: %v", err)
	}
	if d.names[jsonl.SnapshotName] != nil {
		t.Error("there is a snapshot")
	}
	add(t, taken, 4, 4)
	if err := l.Close(); err != nil {
		t.Errorf("closed: %v", err)
	}
	if err := l.Keep(t.Context(), "v1", store.Place{Seq: 3}, []byte("data")); !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrLost) {
		t.Errorf("kept after the end: %v", err)
	}
}

// Lines of which the newest events have none left in memory are found again by
// where they stand, however the log was written.
func TestReadingBetweenMarks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir})
	const n = 1500
	for i := 1; i <= n; i++ {
		if err := l.Append(t.Context(), event.Event{Seq: event.Seq(2 * i), Time: at, Body: event.Noted{Text: strings.Repeat("z", 3000)}}); err != nil {
			t.Fatal(err)
		}
	}
	defer l.Close()
	r, err := jsonl.OpenReader(jsonl.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []event.Seq{0, 1, 2, 3, 700, 701, 1400, 2*n - 1, 2 * n, 2*n + 1} {
		for name, log := range map[string]store.Log{"writer": l, "reader": r} {
			next, count := from+1+(from+1)%2, 0
			for e, err := range log.After(t.Context(), from) {
				if err != nil || e.Seq != next {
					t.Fatalf("%s, after %d: %d, not %d (%v)", name, from, e.Seq, next, err)
				}
				next, count = next+2, count+1
			}
			if want := max(0, n-int(from)/2); count != want {
				t.Errorf("%s, after %d: %d events, not %d", name, from, count, want)
			}
		}
	}
}

// What fails for want of room is told with the path and the reason.
func TestWhatCouldNotBeWritten(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
	defer l.Close()
	add(t, l, 1, 3)
	d.fail = func(int) error { return syscall.ENOSPC }
	err := l.Append(t.Context(), ev(6))
	w, ok := errors.AsType[*store.WriteError](err)
	if !ok || w.Path != filepath.Join("s", jsonl.LogName) || w.Why == "" || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v: %+v", err, w)
	}
	d.fail = func(int) error { return nil }
	add(t, l, 6, 6)
}

// Nothing waits for the disk where all is there already, and a text that cannot
// be kept has no name.
func TestWhatIsThereIsNotSyncedAgain(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a"), Key: sealKey})
	add(t, l, 1, 3) // the third is durable
	d.flushed = nil
	if err := errors.Join(l.Keep(t.Context(), "v1", l.Place(), []byte("data")), l.Close()); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(d.flushed, jsonl.LogName) {
		t.Errorf("synced again: %v", d.flushed)
	}
	d.allClosed(t, "closed")
}

func TestATextThatCannotBeKept(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
	defer l.Close()
	add(t, l, 1, 1)
	d.fail = func(int) error { return syscall.ENOSPC }
	if name, err := l.Spill("all of it"); !errors.Is(err, syscall.ENOSPC) || name != "" {
		t.Errorf("%q, %v", name, err)
	}
	d.fail = func(int) error { return nil }
	if name, err := l.Spill("all of it"); err != nil || name == "" {
		t.Errorf("%q, %v", name, err)
	}
}

// Who stops waiting while a log is read is told so, and reads no further.
func TestReadingEndsWithItsContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir})
	add(t, l, 1, 20)
	r, err := jsonl.OpenReader(jsonl.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string]store.Log{"writer": l, "reader": r} {
		ctx, cancel := context.WithCancel(t.Context())
		last, failed := event.Seq(0), error(nil)
		for e, err := range log.After(ctx, 0) {
			if failed = err; err == nil {
				last = e.Seq
			}
			if last == 7 {
				cancel()
			}
		}
		if last != 7 || !errors.Is(failed, context.Canceled) {
			t.Errorf("%s: up to %d, %v", name, last, failed)
		}
		cancel()
	}
}

// Lines that are no events are not all gone through when a log is opened.
func TestOpeningLooksAtFewLines(t *testing.T) {
	d := newFakeDisk()
	opt := jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")}
	l := mustOpen(t, opt)
	add(t, l, 1, 3)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file := d.names[jsonl.LogName]
	file.data = append(file.data, strings.Repeat("no event\n", 20_000)...)
	before := d.looks
	l = mustOpen(t, opt)
	defer l.Close()
	if n := d.looks - before; n > 5000 {
		t.Errorf("%d looks at the disk", n)
	}
	want(t, l, 0, evs(1, 3))
}
