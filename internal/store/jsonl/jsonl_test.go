package jsonl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/jsonl"
	"github.com/adze-agent/adze/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child(os.Getenv(childEnv))
		return
	}
	goleak.VerifyTestMain(m)
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// ev makes the event number n; every third one is durable.
func ev(n int) event.Event {
	e := event.Event{Seq: event.Seq(n), Time: at, Body: event.Noted{Level: "info", Text: fmt.Sprintf("note %d", n)}}
	if n%3 == 0 {
		e.Body = event.ToolStarted{Call: fmt.Sprintf("c%d", n)}
	}
	if n == 1 {
		e.Body = event.SessionStarted{ID: "s", Schema: event.Schema}
	}
	return e
}

func evs(from, to int) (es []event.Event) {
	for n := from; n <= to; n++ {
		es = append(es, ev(n))
	}
	return es
}

func mustOpen(t *testing.T, o jsonl.Options) *jsonl.Log {
	t.Helper()
	l, err := jsonl.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func add(t *testing.T, l store.Log, from, to int) {
	t.Helper()
	for _, e := range evs(from, to) {
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatalf("append %d: %v", e.Seq, err)
		}
	}
}

func read(t *testing.T, l store.Log, seq event.Seq) (es []event.Event) {
	t.Helper()
	for e, err := range l.After(t.Context(), seq) {
		if err != nil {
			t.Fatal(err)
		}
		es = append(es, e)
	}
	return es
}

func want(t *testing.T, l store.Log, seq event.Seq, es []event.Event) {
	t.Helper()
	whole := cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }) // byte by byte takes seconds
	if d := cmp.Diff(es, read(t, l, seq), whole); d != "" {
		t.Fatalf("after %d (-want +got):\n%s", seq, d)
	}
}

func TestAppendAndReadBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "projects", "key", "id")
	l := mustOpen(t, jsonl.Options{Dir: dir})
	want(t, l, 0, nil)
	if _, err := os.Stat(filepath.Join(dir, "..", "..")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is on disk before the first event: %v", err)
	}
	add(t, l, 1, 1000)
	for _, seq := range []int{0, 1, 2, 400, 998, 999, 1000} {
		want(t, l, event.Seq(seq), evs(seq+1, 1000))
	}
	if err := l.Append(t.Context(), ev(1000)); err == nil {
		t.Error("the same seq was taken twice")
	}
	if err := l.Append(t.Context(), event.Event{Seq: 1001, Body: event.TextDelta{}}); err == nil {
		t.Error("a live event was stored")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, l, 990, evs(991, 1000))
	if err := l.Append(t.Context(), ev(1001)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]fs.FileMode{dir: 0o700, filepath.Dir(dir): 0o700, filepath.Join(dir, "log.jsonl"): 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	again := mustOpen(t, jsonl.Options{Dir: dir})
	want(t, again, 0, evs(1, 1000))
	if err := again.Append(t.Context(), ev(1000)); err == nil {
		t.Error("a reopened log took an old seq")
	}
	add(t, again, 1001, 1002)
	want(t, again, 999, evs(1000, 1002))
	if names, _ := filepath.Glob(dir + "/*"); len(names) != 2 {
		t.Errorf("files: %v", names)
	}
	again.Close()
	if names, _ := filepath.Glob(dir + "/*"); len(names) != 1 {
		t.Errorf("files after close: %v", names)
	}
}

// Every event is with the system when Append returns, so that it outlives the
// process; only a durable one is synced.
func TestWrittenAtOnce(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open})
	for n := range 5 {
		add(t, l, n+1, n+1)
		d.mu.Lock()
		lines := strings.Count(string(d.names["log.jsonl"].data), "\n")
		d.mu.Unlock()
		if lines != n+1 {
			t.Errorf("%d lines after event %d", lines, n+1)
		}
	}
	l.Close()
}

func TestFault02_03_04_DamagedFiles(t *testing.T) {
	var lines []string
	for _, e := range evs(1, 6) {
		line, err := event.AppendLine(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line)+"\n")
	}
	good := strings.Join(lines, "")
	half := lines[5][:len(lines[5])/2]
	nul := strings.Repeat("\x00", 200_000)
	join := func(s ...string) string { return strings.Join(s, "") }
	for _, c := range []struct {
		name, file string
		events     []event.Event
		torn       string
		rep        store.Report
	}{
		{"whole", good, evs(1, 6), "", store.Report{}},
		{"empty", "", nil, "", store.Report{}},
		{"torn last line", join(lines[0], lines[1], half), evs(1, 2), half, store.Report{}},
		{"only a torn line", half, nil, half, store.Report{}},
		{"last line without its newline", strings.TrimSuffix(good, "\n"), evs(1, 5), strings.TrimSuffix(lines[5], "\n"), store.Report{}},
		{"NUL tail", good + nul, evs(1, 6), nul, store.Report{}},
		{"torn, then NUL", good + half + nul, evs(1, 6), half + nul, store.Report{}},
		{"NUL in the last whole lines", join(lines[0], "{\"seq\":2"+nul+"\n", nul+"}\n"), evs(1, 1), join("{\"seq\":2"+nul+"\n", nul+"}\n"), store.Report{}},
		{"only NUL", nul, nil, nul, store.Report{}},
		{"bad line in the middle", join(lines[0], "garbage\n", lines[1], half, "\n", lines[2]), evs(1, 3), "", store.Report{Bad: []int{2, 4}}},
		{"bad last line", join(lines[0], lines[1], "{\"seq\":3}\n"), evs(1, 2), "", store.Report{Bad: []int{3}}},
		{"empty lines and CRLF", join("\n", strings.ReplaceAll(good, "\n", "\r\n")), evs(1, 6), "", store.Report{Bad: []int{1}}},
		{"repeated and gapped seqs", join(lines[0], lines[1], lines[1], lines[0], lines[4], lines[3], lines[5]), []event.Event{ev(1), ev(2), ev(5), ev(6)}, "", store.Report{Repeated: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "log.jsonl")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			if len(c.file) > 0 { // a reader changes nothing and sees the same
				r, err := jsonl.OpenReader(jsonl.Options{Dir: dir})
				if err != nil {
					t.Fatal(err)
				}
				want(t, r, 0, c.events)
			}
			l := mustOpen(t, jsonl.Options{Dir: dir})
			for range 2 { // the second time nothing is counted again
				want(t, l, 0, c.events)
			}
			if c.rep.Torn = int64(len(c.torn)); c.rep.Torn > 0 {
				c.rep.TornAt = filepath.Join(dir, "log.torn")
			}
			if d := cmp.Diff(c.rep, l.Report()); d != "" {
				t.Errorf("report (-want +got):\n%s", d)
			}
			torn, _ := os.ReadFile(filepath.Join(dir, "log.torn"))
			rest, _ := os.ReadFile(path)
			if string(torn) != c.torn || string(rest)+string(torn) != c.file {
				t.Errorf("%d bytes kept, %d torn, of %d", len(rest), len(torn), len(c.file))
			}
			next := 1
			if len(c.events) > 0 {
				next = int(c.events[len(c.events)-1].Seq) + 1
			}
			add(t, l, next, next+2)
			l.Close()
			again := mustOpen(t, jsonl.Options{Dir: dir})
			want(t, again, 0, append(c.events, evs(next, next+2)...))
			if again.Report().Torn != 0 {
				t.Error("a torn line is reported twice")
			}
		})
	}
}

func TestUnknownLinesSurvive(t *testing.T) {
	dir := t.TempDir()
	line := `{"seq":1,"time":"2030-01-01T00:00:00Z","type":"from_the_future", "a" : [1.0] }` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "log.jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, jsonl.Options{Dir: dir})
	add(t, l, 2, 3)
	if raw, _ := os.ReadFile(filepath.Join(dir, "log.jsonl")); !strings.HasPrefix(string(raw), line) {
		t.Errorf("the line changed: %s", raw)
	}
	if u, ok := read(t, l, 0)[0].Body.(event.Unknown); !ok || string(u.Raw)+"\n" != line {
		t.Errorf("got %+v", u)
	}
}

func TestFault16_ClockGoesBack(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, jsonl.Options{Dir: filepath.Join(dir, "s")})
	var es []event.Event
	for n := 1; n <= 4; n++ {
		e := ev(n)
		e.Time = at.Add(-time.Duration(n) * time.Hour)
		es = append(es, e)
		if err := l.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	want(t, mustOpen(t, jsonl.Options{Dir: filepath.Join(dir, "s")}), 0, es)
}

func TestTooLargeAnEvent(t *testing.T) {
	slowtest.Turn(t)
	l := mustOpen(t, jsonl.Options{Dir: filepath.Join(t.TempDir(), "s")})
	add(t, l, 1, 2)
	e := event.Event{Seq: 3, Time: at, Body: event.Noted{Text: strings.Repeat("x", event.MaxLine)}}
	if err := l.Append(t.Context(), e); err == nil {
		t.Error("a line that could never be read was written")
	}
	add(t, l, 3, 4)
	want(t, l, 0, evs(1, 4))
}

func self(pid int, host string) *lease.Self {
	return &lease.Self{
		PID: pid, Host: host, Now: time.Now, Token: func() string { return fmt.Sprint(pid, host) },
		Alive: func(pid int, _ int64) bool { return pid < 100 },
	}
}

func TestFault05_OneWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir, Self: self(1, "a")})
	add(t, l, 1, 3)
	for _, other := range []*lease.Self{self(2, "a"), self(2, "b"), self(1, "a")} {
		_, err := jsonl.Open(jsonl.Options{Dir: dir, Self: other})
		held, ok := errors.AsType[*store.LockedError](err)
		if !ok || held.PID != 1 || held.Host != "a" || !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), "process 1 on a") {
			t.Errorf("second writer: %v", err)
		}
	}
	r, err := jsonl.OpenReader(jsonl.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, 0, evs(1, 3))
	add(t, l, 4, 6)
	want(t, r, 3, evs(4, 6)) // it follows
	if err := r.Append(t.Context(), ev(7)); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("reader appended: %v", err)
	}
	l.Close()
	add(t, mustOpen(t, jsonl.Options{Dir: dir, Self: self(2, "b")}), 7, 9)
}

func TestFault05_StaleLockIsTakenOver(t *testing.T) {
	for _, c := range []struct {
		name  string
		lock  string
		age   time.Duration
		stale bool
	}{
		{"dead process of this machine", `{"pid":500,"host":"a","token":"x"}`, 0, true},
		{"living process of this machine, long silent", `{"pid":5,"host":"a","token":"x"}`, 24 * time.Hour, false},
		{"another machine", `{"pid":500,"host":"b","token":"x"}`, time.Minute, false},
		{"another machine, silent", `{"pid":5,"host":"b","token":"x"}`, 2 * time.Minute, true},
		{"half written", `{"pid`, -time.Minute, false}, // however long this test takes
		{"half written, old", `{"pid`, time.Second, true},
		{"empty, old", ``, 2 * time.Minute, true},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"log.jsonl": "", "lock": c.lock} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			then := time.Now().Add(-c.age)
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
		}
		l, err := jsonl.Open(jsonl.Options{Dir: dir, Self: self(1, "a")})
		if c.stale != (err == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			add(t, l, 1, 1)
			l.Close()
		}
	}
}

func TestFault15_OwnerNoticesThatItLostTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		me := self(1, "a")
		asleep := time.Duration(0) // the wall clock went on, timers did not
		me.Now = func() time.Time { return time.Now().Add(asleep) }
		d.now = me.Now
		l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: me})
		add(t, l, 1, 3)
		time.Sleep(10*time.Minute + time.Second) // awake: the lease stays fresh
		synctest.Wait()
		if _, err := jsonl.Open(jsonl.Options{Dir: "s", Disk: d.open, Self: self(2, "b")}); !errors.Is(err, store.ErrLocked) {
			t.Fatalf("a fresh lease was taken: %v", err)
		}
		asleep = time.Hour
		other := self(2, "b")
		other.Now = me.Now
		l2 := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: other})
		add(t, l2, 4, 6)
		if err := l.Append(t.Context(), ev(4)); !errors.Is(err, store.ErrLost) {
			t.Errorf("the old owner wrote: %v", err)
		}
		l.Close()
		add(t, l2, 7, 9)
		want(t, l2, 0, evs(1, 9))
		l2.Close()
	})
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open})
		add(t, l, 1, 3)
		r, err := jsonl.OpenReader(jsonl.Options{Dir: "s", Disk: d.open})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var got []event.Event
		done := make(chan struct{})
		go func() {
			defer close(done)
			for e, err := range r.Follow(ctx, 0) {
				if err != nil {
					return
				}
				got = append(got, e)
			}
		}()
		time.Sleep(time.Second)
		add(t, l, 4, 7)
		time.Sleep(time.Second)
		cancel()
		<-done
		if d := cmp.Diff(evs(1, 7), got); d != "" {
			t.Error(d)
		}
		l.Close()
	})
}

// Who follows a log may stop at any event, and learns when it cannot be read.
func TestFollowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open})
		add(t, l, 1, 3)
		r, err := jsonl.OpenReader(jsonl.Options{Dir: "s", Disk: d.open})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range r.Follow(t.Context(), 1) {
			if n++; n == 1 {
				break
			}
		}
		var failed []error
		d.blind = func(int) error { return syscall.EIO }
		for _, err := range r.Follow(t.Context(), 0) {
			failed = append(failed, err)
		}
		if n != 1 || len(failed) != 1 || !errors.Is(failed[0], syscall.EIO) {
			t.Errorf("%d events, then %v", n, failed)
		}
		d.blind = nil
		works := d.fail
		d.fail = func(int) error { return syscall.EIO }
		for _, err := range r.After(t.Context(), 0) {
			failed = append(failed, err)
		}
		if d.fail = works; len(failed) != 2 || !errors.Is(failed[1], syscall.EIO) {
			t.Errorf("of a folder that cannot be opened: %v", failed)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestFault13_NowhereToWrite(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("needs a folder that cannot be written to")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, jsonl.Options{Dir: filepath.Join(dir, "s")})
	err := l.Append(t.Context(), ev(1))
	if w, ok := errors.AsType[*store.WriteError](err); !ok || w.Why != "permission was denied" {
		t.Errorf("got %v", err)
	}
}

func BenchmarkAppendDurable(b *testing.B) {
	l, err := jsonl.Open(jsonl.Options{Dir: filepath.Join(b.TempDir(), "s")})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for i := 1; b.Loop(); i++ {
		e := event.Event{Seq: event.Seq(i), Time: at, Body: event.InputAccepted{ID: "x", Text: strings.Repeat("word ", 40)}}
		if err := l.Append(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendBatched(b *testing.B) {
	for name, key := range map[string][]byte{"plain": nil, "sealed": sealKey} {
		b.Run(name, func(b *testing.B) { appendBatched(b, jsonl.Options{Dir: filepath.Join(b.TempDir(), "s"), Key: key}) })
	}
}

func appendBatched(b *testing.B, o jsonl.Options) {
	l, err := jsonl.Open(o)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for i := 1; b.Loop(); i++ {
		e := event.Event{Seq: event.Seq(i), Time: at, Body: event.ToolFinished{Call: "x", Text: strings.Repeat("word ", 200)}}
		if err := l.Append(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLog(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Log {
		return mustOpen(t, jsonl.Options{Dir: filepath.Join(t.TempDir(), "s")})
	})
}
