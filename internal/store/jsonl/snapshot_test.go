package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

func note(n int) event.Event {
	e := event.Event{Seq: event.Seq(n), Time: at, Body: event.Noted{Level: "info", Text: strings.Repeat("x", 50*(n%7))}}
	if n%5 == 0 {
		e.Body = event.TurnEnded{ID: "t"}
	}
	return e
}

// readAll is what opening a log does when there is no snapshot.
func readAll(t *testing.T, l *jsonl.Log) (last event.Seq) {
	t.Helper()
	for e, err := range l.After(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		last = e.Seq
	}
	return last
}

// withSnapshot makes a log of 20 events with a snapshot of "data" at 10.
func withSnapshot(t *testing.T) (dir string) { return withSnapshotOf(t, 0) }

// withSnapshotOf makes each event so many bytes larger.
func withSnapshotOf(t *testing.T, more int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	for n := 1; n <= 20; n++ {
		e := note(n)
		if more > 0 {
			e.Body = event.Noted{Level: "info", Text: strings.Repeat("x", more)}
		}
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if n == 10 {
			if err := l.Keep(t.Context(), "v1", l.Place(), []byte("data")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func kept(t *testing.T, dir, fold string) (data string, l *jsonl.Log) {
	t.Helper()
	l = mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	got, p, ok := l.Kept(fold)
	if ok != (got != nil) || ok && p.Seq != 10 {
		t.Errorf("%q at %+v, %t", got, p, ok)
	}
	return string(got), l
}

func TestASnapshotSparesReading(t *testing.T) {
	dir := withSnapshot(t)
	l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	for e := range l.After(t.Context(), 0) { // a look at the beginning comes first
		if e.Seq == 3 {
			break
		}
	}
	if data, at, ok := l.Kept("v1"); !ok || string(data) != "data" || at.Seq != 10 {
		t.Fatalf("the snapshot is %q at %+v", data, at)
	}
	if p := l.Place(); p != (store.Place{}) {
		t.Errorf("a place before the end was read: %+v", p)
	}
	var seqs []event.Seq
	for e, err := range l.After(t.Context(), 10) {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, e.Seq)
	}
	if len(seqs) != 10 || seqs[0] != 11 {
		t.Errorf("after the snapshot come %v", seqs)
	}
	if r := l.Report(); r.Foreign != 0 || !r.Sealed || r.Cut != 0 {
		t.Errorf("report %+v", r)
	}
	for n := 21; n <= 30; n++ {
		if err := l.Append(t.Context(), note(n)); err != nil {
			t.Fatal(err)
		}
	}
	if p := l.Place(); p.Seq != 30 || p.Lines != 30 {
		t.Errorf("the end is %+v", p)
	}
	if got := readAll(t, l); got != 30 {
		t.Errorf("from the beginning to %d", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if data, _ := kept(t, dir, "v1"); data != "data" {
		t.Error("the older snapshot is of no use any more")
	}
}

// A large log that was copied or restored has another time, and is not read from its
// beginning for that: its size and the line at the snapshot's place are what they were.
func TestALargeLogMayHaveAnotherTime(t *testing.T) {
	slowtest.Turn(t)
	for _, c := range []struct {
		more int
		ok   bool
	}{{1 << 20, false}, {4 << 20, true}} {
		dir := withSnapshotOf(t, c.more)
		if err := os.Chtimes(filepath.Join(dir, jsonl.LogName), time.Time{}, time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		data, l := kept(t, dir, "v1")
		if (data != "") != c.ok {
			t.Errorf("a log of 20 times %d bytes: %q", c.more, data)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What is not as it was is not gone on from: all of the log is read, and its
// seals say what changed.
func TestASnapshotIsNotTrusted(t *testing.T) {
	change := func(name string, f func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			raw, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, f(raw), 0o600)
			}
			if err == nil && name == jsonl.LogName { // as soon as the clock of the file system moves
				err = os.Chtimes(path, time.Time{}, time.Now().Add(time.Second))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	// grown changes the line that the snapshot goes up to, in a log that has
	// more lines than the snapshot knows of.
	grown := func(f func(line []byte)) func([]byte) []byte {
		return func(b []byte) []byte {
			from := bytes.Index(b, []byte(`{"seq":10,`))
			f(b[from : from+bytes.IndexByte(b[from:], '\n')])
			return append(b, `{"seq":21,"time":"2026-01-02T03:04:05Z","type":"noted","level":"info","text":"more"}`+"\n"...)
		}
	}
	for name, c := range map[string]struct {
		harm         func(t *testing.T, dir string)
		foreign, cut bool
	}{
		"the place's number, and the log grew": {harm: change(jsonl.LogName, grown(func(line []byte) { line[len(`{"seq":1`)] = '1' })), foreign: true},
		"the place's seal, and the log grew": {harm: change(jsonl.LogName, grown(func(line []byte) { // from another place
			line[bytes.Index(line, []byte(`"mac":"`))+len(`"mac":"`)] ^= 1
		})), foreign: true},
		"other data":        {harm: change(jsonl.SnapshotName, func(b []byte) []byte { return bytes.Replace(b, []byte("data"), []byte("DATA"), 1) })},
		"another place":     {harm: change(jsonl.SnapshotName, func(b []byte) []byte { return bytes.Replace(b, []byte(`"seq":10`), []byte(`"seq":11`), 1) })},
		"cut":               {harm: change(jsonl.SnapshotName, func(b []byte) []byte { return b[:len(b)-1] })},
		"head only":         {harm: change(jsonl.SnapshotName, func(b []byte) []byte { return b[:1024] })},
		"empty":             {harm: change(jsonl.SnapshotName, func([]byte) []byte { return nil })},
		"NUL":               {harm: change(jsonl.SnapshotName, func(b []byte) []byte { return make([]byte, len(b)) })},
		"gone":              {harm: func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, jsonl.SnapshotName)) }},
		"an early line":     {harm: change(jsonl.LogName, func(b []byte) []byte { return bytes.Replace(b, []byte("xx"), []byte("yy"), 1) }), foreign: true},
		"the log's end cut": {harm: change(jsonl.LogName, func(b []byte) []byte { return b[:bytes.Index(b, []byte(`{"seq":15,`))] }), cut: true},
		"the log cut far":   {harm: change(jsonl.LogName, func(b []byte) []byte { return b[:bytes.Index(b, []byte(`{"seq":5,`))] }), cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := withSnapshot(t)
			c.harm(t, dir)
			data, l := kept(t, dir, "v1")
			if data != "" {
				t.Errorf("the snapshot is %q", data)
			}
			readAll(t, l)
			if r := l.Report(); (r.Foreign > 0) != c.foreign || (r.Cut > 0) != c.cut {
				t.Errorf("report %+v", r)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if c.cut { // it is said once
				if _, l := kept(t, dir, "v1"); l.Report().Cut != 0 {
					t.Error("it is said again")
				}
			}
		})
	}
	t.Run("another version", func(t *testing.T) {
		if data, _ := kept(t, withSnapshot(t), "v2"); data != "" {
			t.Errorf("the snapshot is %q", data)
		}
	})
	t.Run("another key", func(t *testing.T) {
		l := mustOpen(t, jsonl.Options{Dir: withSnapshot(t), Key: []byte("other")})
		if data, _, ok := l.Kept("v1"); ok {
			t.Errorf("the snapshot is %q", data)
		}
	})
	t.Run("no key", func(t *testing.T) {
		l := mustOpen(t, jsonl.Options{Dir: withSnapshot(t)})
		if _, _, ok := l.Kept("v1"); ok || l.Place() != (store.Place{}) {
			t.Error("there is a snapshot without a seal")
		}
	})
}

// What is wrong with lines that a snapshot spares reading is in its report.
func TestASnapshotKeepsTheReport(t *testing.T) {
	dir := withSnapshot(t)
	path := filepath.Join(dir, jsonl.LogName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte("xx"), []byte("yy"), 1)
	if err := errors.Join(os.WriteFile(path, append(raw, "no event\n"...), 0o600), os.Remove(filepath.Join(dir, jsonl.SnapshotName))); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	readAll(t, l)
	want := l.Report()
	if want.Foreign == 0 || len(want.Bad) != 1 {
		t.Fatalf("before the snapshot: %+v", want)
	}
	for n := 21; n <= 25; n++ {
		if err := l.Append(t.Context(), note(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Keep(t.Context(), "v1", l.Place(), []byte("data")), l.Close()); err != nil {
		t.Fatal(err)
	}
	l = mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	if _, at, ok := l.Kept("v1"); !ok || at.Seq != 25 {
		t.Fatalf("no snapshot: %+v", at)
	}
	if got := l.Report(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// A snapshot that could not be written leaves the older one as it was, which
// the log's end does not take for the newer one.
func TestASnapshotThatCannotBeWritten(t *testing.T) {
	for failing := 1; ; failing++ {
		d := newFakeDisk()
		opt := jsonl.Options{Dir: "s", Disk: d.open, Key: sealKey, Self: self(500, "a")}
		l := mustOpen(t, opt)
		for n := 1; n <= 5; n++ {
			if err := l.Append(t.Context(), note(n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Keep(t.Context(), "v1", l.Place(), []byte("data")); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(t.Context(), note(6)); err != nil {
			t.Fatal(err)
		}
		begun, met := d.ops, false
		d.fail = func(op int) error {
			if op == begun+failing {
				met = true
				return errors.New("the disk is full")
			}
			return nil
		}
		err := l.Keep(t.Context(), "v1", l.Place(), []byte("newer data"))
		d.fail = func(int) error { return nil }
		if met == (err == nil) {
			t.Errorf("operation %d: %v", failing, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = mustOpen(t, opt)
		data, _, ok := l.Kept("v1")
		if want := map[bool]string{true: "data", false: "newer data"}[met]; !ok || string(data) != want {
			t.Errorf("operation %d failed: the snapshot is %q, %t", failing, data, ok)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		d.allClosed(t, fmt.Sprintf("operation %d failed", failing))
		if !met {
			break
		}
	}
}

// A log that a crash left behind has grown since the snapshot, and its torn end
// is repaired as ever.
func TestASnapshotAfterACrash(t *testing.T) {
	dir := withSnapshot(t)
	f, err := os.OpenFile(filepath.Join(dir, jsonl.LogName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"seq":21,"ti`)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// As long as the head is of a time before the last lines.
	data, l := kept(t, dir, "v1")
	if r := l.Report(); r.Torn != 13 || r.Cut != 0 || data != "" && data != "data" {
		t.Errorf("%q, %+v", data, r)
	}
	if got := readAll(t, l); got != 20 {
		t.Errorf("the last event is %d", got)
	}
}

// At every operation of a run that keeps snapshots the process is killed, or
// power is lost, too: what is found afterwards is one that was kept, or none.
func TestFault17_KilledWhileASnapshotIsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for op := 1; op < 400; op++ {
		d := newFakeDisk()
		d.fail = func(n int) error {
			if n >= op/2 {
				return errLostPages
			}
			return nil
		}
		opt := jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a"), Key: sealKey}
		if l, err := jsonl.Open(opt); err == nil {
			for n := 1; n <= 20; n++ {
				if l.Append(t.Context(), note(n)) == nil && n%5 == 0 {
					_ = l.Keep(t.Context(), "v1", l.Place(), []byte{byte(l.Place().Seq)})
				}
			}
			_ = l.Close()
		}
		if d.fail = func(int) error { return nil }; op%2 == 0 {
			d.powerCut(r)
		}
		opt.Self = self(1, "a")
		opt.Self.Now = func() time.Time { return time.Now().Add(15 * time.Second) }
		d.now = opt.Self.Now
		l, err := jsonl.Open(opt)
		if err != nil {
			t.Fatal(err)
		}
		data, p, ok := l.Kept("v1")
		if ok && (len(data) != 1 || event.Seq(data[0]) != p.Seq) {
			t.Fatalf("stopped at %d: %q at %+v", op, data, p)
		}
		if ok {
			found++
		}
		after := p.Seq
		for e, err := range l.After(t.Context(), p.Seq) {
			if err != nil || e.Seq != after+1 {
				t.Fatalf("stopped at %d: %d after %d: %v", op, e.Seq, after, err)
			}
			after = e.Seq
		}
		_ = l.Close()
	}
	if found < 50 {
		t.Errorf("a snapshot was found %d times", found)
	}
}

// Where a snapshot could not be kept because the log could not be synced, what
// the system threw away is written again.
func TestASnapshotThatCannotSync(t *testing.T) {
	d := newFakeDisk()
	opt := jsonl.Options{Dir: "s", Disk: d.open, Key: sealKey, Self: self(500, "a")}
	l := mustOpen(t, opt)
	if err := l.Append(t.Context(), note(5)); err != nil { // the end of a turn: it is synced
		t.Fatal(err)
	}
	if err := l.Append(t.Context(), note(6)); err != nil {
		t.Fatal(err)
	}
	data, err := event.AppendLine(nil, pictured()[1]) // which has large parts
	if err != nil {
		t.Fatal(err)
	}
	for failing := 1; ; failing++ {
		begun, met := d.ops, false
		d.fail = func(op int) error {
			if op == begun+failing {
				met = true
				return errLostPages
			}
			return nil
		}
		err := l.Keep(t.Context(), "v1", l.Place(), data)
		d.fail = func(int) error { return nil }
		if met == (err == nil) {
			t.Errorf("operation %d: %v", failing, err)
		}
		if !met {
			break
		}
		if err := l.Append(t.Context(), note(5+5*failing)); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(t.Context(), note(6+5*failing)); err != nil {
			t.Fatal(err)
		}
	}
	last := readAll(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d.powerCut(rand.New(rand.NewPCG(1, 2)))
	opt.Self = self(1, "a")
	opt.Self.Now = func() time.Time { return time.Now().Add(15 * time.Second) }
	d.now = opt.Self.Now
	l = mustOpen(t, opt)
	defer l.Close()
	if got := readAll(t, l); got != last || last < 20 {
		t.Errorf("up to %d of %d", got, last)
	}
	if r := l.Report(); len(r.Bad) > 0 || r.Foreign > 0 {
		t.Errorf("%+v", r)
	}
}

// A reader who begins late in a log that was not read finds its place.
func TestReadingBeginsAnywhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	const n = 3000
	big := strings.Repeat("y", 4000)
	for i := 1; i <= n; i++ {
		e := note(i)
		if i%3 == 0 {
			e.Body = event.Noted{Text: big}
		}
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Keep(t.Context(), "v1", l.Place(), []byte("data")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, from := range []event.Seq{1, 2, 700, 1499, 1500, 2000, 2998, 2999} {
		l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
		if _, _, ok := l.Kept("v1"); !ok {
			t.Fatal("there is no snapshot")
		}
		want := from + 1
		for e, err := range l.After(t.Context(), from) {
			if err != nil || e.Seq != want {
				t.Fatalf("after %d: %d, not %d: %v", from, e.Seq, want, err)
			}
			want++
		}
		if want != n+1 {
			t.Errorf("after %d: up to %d", from, want-1)
		}
		if r := l.Report(); r.Foreign != 0 || r.Bad != nil || r.Repeated != 0 {
			t.Errorf("after %d: %+v", from, r)
		}
		_ = l.Close()
	}
}
