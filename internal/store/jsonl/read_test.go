package jsonl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

// A session that was lost to another process stays lost.
func TestALostSessionStaysLost(t *testing.T) {
	d := newFakeDisk()
	me := self(500, "a")
	late := time.Duration(0)
	me.Now = func() time.Time { return time.Now().Add(late) }
	d.now = me.Now
	opt := jsonl.Options{Dir: "s", Disk: d.open, Self: me}
	l := mustOpen(t, opt)
	add(t, l, 1, 3)
	late = time.Hour // the machine slept, and another one took the session
	opt.Self = self(7, "b")
	opt.Self.Now = me.Now
	taken := mustOpen(t, opt)
	defer taken.Close()
	for range 3 {
		if err := l.Append(t.Context(), ev(4)); !errors.Is(err, store.ErrLost) {
			t.Errorf("%v", err)
		}
	}
	add(t, taken, 4, 6)
	want(t, taken, 0, evs(1, 6))
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Large events are found from everywhere, also where a search meets none for long.
func TestReadingBeginsBetweenLargeEvents(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	opt := jsonl.Options{Dir: dir, Key: sealKey}
	l := mustOpen(t, opt)
	const n = 40
	for i := 1; i <= n; i++ {
		size := 10
		if i%5 == 0 {
			size = 1 << 20
		}
		if err := l.Append(t.Context(), event.Event{Seq: event.Seq(i), Time: at, Body: event.Noted{Text: strings.Repeat("y", size)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Keep(t.Context(), "v1", l.Place(), []byte("data")), l.Close()); err != nil {
		t.Fatal(err)
	}
	for _, from := range []event.Seq{0, 1, 4, 5, 6, 19, 20, 21, 24, 25, 34, 35, 36, 39, 40} {
		if !slowtest.Due(fmt.Sprint("from ", from)) {
			continue
		}
		l := mustOpen(t, opt)
		if _, _, ok := l.Kept("v1"); !ok {
			t.Fatal("there is no snapshot")
		}
		next := from + 1
		for e, err := range l.After(t.Context(), from) {
			if err != nil || e.Seq != next {
				t.Fatalf("after %d: %d, not %d: %v", from, e.Seq, next, err)
			}
			next++
		}
		if next != n+1 {
			t.Errorf("after %d: up to %d", from, next-1)
		}
		if r := l.Report(); r.Foreign != 0 || r.Bad != nil || r.Repeated != 0 {
			t.Errorf("after %d: %+v", from, r)
		}
		_ = l.Close()
	}
}

// A snapshot that is looked for when all of the log was read adds nothing to what
// is known: not what was wrong with it, nor where it ends.
func TestASnapshotBehindAWholeReading(t *testing.T) {
	dir := withSnapshot(t)
	path := filepath.Join(dir, jsonl.LogName)
	raw, err := os.ReadFile(path)
	if err == nil { // wrong lines behind the snapshot's place
		err = os.WriteFile(path, append(raw, "no event\n"+`{"seq":3,"time":"2026-01-02T03:04:05Z","type":"noted","level":"info","text":"again"}`+"\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	defer l.Close()
	readAll(t, l)
	place, report := l.Place(), l.Report()
	if place.Seq != 20 || place.Lines != 22 || len(report.Bad) != 1 || report.Bad[0] != 21 || report.Repeated != 1 || report.Foreign != 2 || !report.Sealed {
		t.Errorf("%+v, %+v", place, report)
	}
	if _, _, ok := l.Kept("v1"); !ok {
		t.Fatal("there is no snapshot")
	}
	if p, r := l.Place(), l.Report(); p != place || len(r.Bad) != 1 || r.Repeated != 1 || r.Foreign != 2 {
		t.Errorf("with the snapshot: %+v, %+v", p, r)
	}
	readAll(t, l)
	if p, r := l.Place(), l.Report(); p != place || len(r.Bad) != 1 || r.Repeated != 1 || r.Foreign != 2 || !r.Sealed {
		t.Errorf("%+v, %+v", p, r)
	}
	for _, n := range []int{3, 4, 20} { // the last line has an earlier number than that
		if err := l.Append(t.Context(), note(n)); err == nil {
			t.Errorf("%d came twice", n)
		}
	}
	if err := l.Append(t.Context(), note(21)); err != nil {
		t.Error(err)
	}
}

// Who stops reading while the disk fails reads no further, in the file and behind
// it.
func TestReadingEndsEarly(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a"), Key: sealKey})
	add(t, l, 1, 600) // more than memory has for readers
	for n := 601; n <= 602; n++ {
		if err := l.Append(t.Context(), event.Event{Seq: event.Seq(n), Time: at, Body: event.Noted{Text: "note"}}); err != nil {
			t.Fatal(err)
		}
	}
	d.fail = func(int) error { return errLostPages }
	if err := l.Append(t.Context(), event.Event{Seq: 603, Time: at, Body: event.TurnEnded{ID: "t"}}); err == nil {
		t.Fatal("it was recorded")
	}
	d.fail = func(int) error { return nil }
	for _, stop := range []event.Seq{1, 300, 600, 601, 602} {
		last := event.Seq(0)
		for e, err := range l.After(t.Context(), 0) {
			if err != nil || e.Seq != last+1 {
				t.Fatalf("%d comes after %d (%v)", e.Seq, last, err)
			}
			if last = e.Seq; last == stop {
				break
			}
		}
		if last != stop {
			t.Errorf("up to %d, not %d", last, stop)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// A reader says what was wrong with what it read, and that nothing is there when
// the log was removed meanwhile.
func TestAReaderOfALog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir})
	add(t, l, 1, 3)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, jsonl.LogName)
	raw, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(raw, "no event\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := jsonl.OpenReader(jsonl.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, 0, evs(1, 3))
	if got := r.Report(); len(got.Bad) != 1 || got.Bad[0] != 4 {
		t.Errorf("%+v", got)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for e, err := range r.After(t.Context(), 0) {
		t.Errorf("%v, %v", e, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Behind a snapshot of the end nothing has to be read for the next one.
func TestASnapshotOfTheEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	opt := jsonl.Options{Dir: dir, Key: sealKey}
	l := mustOpen(t, opt)
	add(t, l, 1, 10)
	if err := errors.Join(l.Keep(t.Context(), "v1", l.Place(), []byte("data")), l.Close()); err != nil {
		t.Fatal(err)
	}
	for n := 11; n < 14; n++ {
		l = mustOpen(t, opt)
		if p := l.Place(); p != (store.Place{}) {
			t.Errorf("before anything was read: %+v", p)
		}
		data, at, ok := l.Kept("v1")
		if !ok || string(data) != "data" || int(at.Seq) != n-1 {
			t.Fatalf("%q at %+v", data, at)
		}
		if p, r := l.Place(), l.Report(); p != at || p.Lines != n-1 || !r.Sealed || r.Foreign != 0 {
			t.Errorf("%+v, %+v, the snapshot is at %+v", p, r, at)
		}
		add(t, l, n, n)
		if err := errors.Join(l.Keep(t.Context(), "v1", l.Place(), data), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// What is wrong with lines that a reader has seen before is counted wherever it
// begins, once, and so are the lines.
func TestWrongLinesCountWhereverReadingBegins(t *testing.T) {
	const again = `{"seq":3,"time":"2026-01-02T03:04:05Z","type":"noted","level":"info","text":"again"}` + "\n"
	for _, from := range []event.Seq{0, 5, 19, 20} {
		dir := withSnapshot(t)
		path := filepath.Join(dir, jsonl.LogName)
		raw, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, append(raw, again...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
		for _, begin := range []event.Seq{from, from, 0} {
			next := begin + 1
			for e, err := range l.After(t.Context(), begin) {
				if err != nil || e.Seq != next {
					t.Fatalf("after %d: %d, not %d: %v", begin, e.Seq, next, err)
				}
				next++
			}
			if r, p := l.Report(), l.Place(); next != 21 || r.Repeated != 1 || len(r.Bad) != 0 || r.Foreign != 1 || p.Seq != 20 || p.Lines != 21 {
				t.Errorf("after %d: up to %d, %+v, %+v", begin, next-1, r, p)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// An event that has no form on disk is refused, and the next one is recorded.
func TestAnEventWithoutAForm(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
	add(t, l, 1, 2)
	if err := l.Append(t.Context(), event.Event{Seq: 3, Time: at}); err == nil {
		t.Error("it was recorded")
	}
	add(t, l, 3, 4)
	want(t, l, 0, evs(1, 4))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// An event whose large part cannot be written is not recorded, whatever of it
// failed.
func TestAnEventWithoutItsLargePart(t *testing.T) {
	e := event.Event{Seq: 4, Time: at, Body: event.ToolFinished{Call: "c", Images: []llm.Image{picture(1)}}}
	for n := 1; ; n++ {
		d := newFakeDisk()
		l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
		add(t, l, 1, 3)
		met, ops := false, d.ops
		d.fail = func(op int) error {
			if op == ops+n {
				met = true
				return syscall.ENOSPC
			}
			return nil
		}
		if err := l.Append(t.Context(), e); err != nil {
			if _, ok := errors.AsType[*store.WriteError](err); !ok || !met {
				t.Errorf("operation %d: %v", n, err)
			}
			want(t, l, 0, evs(1, 3))
			if err := l.Append(t.Context(), e); err != nil {
				t.Errorf("operation %d, once more: %v", n, err)
			}
		} else if met {
			t.Errorf("operation %d failed, and it was recorded", n)
		}
		want(t, l, 0, append(evs(1, 3), e))
		d.fail = func(int) error { return nil }
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if !met {
			if n < 3 {
				t.Errorf("the fault was met %d times", n-1)
			}
			return
		}
	}
}
