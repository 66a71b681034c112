package sessions_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/sessions"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

type fixture struct {
	sessions.Store
	t   testing.TB
	now time.Time
}

func setup(t testing.TB) *fixture {
	f := &fixture{t: t, now: start}
	f.Store = sessions.Store{
		Dir: filepath.Join(t.TempDir(), "projects"), Now: func() time.Time { return f.now }, Rand: rand.Reader,
		Self: lease.Self{PID: 1, Host: "h", Now: time.Now, Token: rand.Text, Alive: func(pid int, _ int64) bool { return pid == 7 }},
	}
	return f
}

func (f *fixture) folder(key, id string) string { return filepath.Join(f.Dir, key, id) }

func (f *fixture) id() string {
	f.t.Helper()
	id, err := f.NewID()
	if err != nil {
		f.t.Fatal(err)
	}
	f.now = f.now.Add(time.Hour)
	return id
}

// write adds events to a session's log, the first with seq from.
func (f *fixture) write(key, id string, from int, bodies ...event.Body) {
	f.t.Helper()
	dir := f.folder(key, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		f.t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "log.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	for i, b := range bodies {
		line, err := event.AppendLine(nil, event.Event{Seq: event.Seq(from + i), Time: start, Body: b})
		if err != nil {
			f.t.Fatal(err)
		}
		if _, err := fmt.Fprintf(file, "%s\n", line); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := os.Chtimes(file.Name(), f.now, f.now); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) session(key, prompt, title string) string {
	id := f.id()
	f.write(key, id, 1, event.SessionStarted{ID: id, Dir: "/d", Root: "/r", Branch: "main"}, event.InputAccepted{Text: prompt}, event.TurnStarted{ID: "t", Model: "m"},
		event.Replied{Usage: llm.Usage{In: 5}, Cost: 0.5}, event.TurnEnded{ID: "t"}, event.Titled{Title: title})
	return id
}

func TestNewIDsAreUUIDsThatSortByTime(t *testing.T) {
	f := setup(t)
	var ids []string
	for range 50 {
		ids = append(ids, f.id())
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 50 {
		t.Errorf("%v", ids)
	}
	for _, id := range ids {
		if !sessions.ValidID(id) || id[14] != '7' || !strings.ContainsRune("89ab", rune(id[19])) {
			t.Errorf("%s is no UUID of version 7", id)
		}
	}
	ms := start.UnixMilli()
	if want := fmt.Sprintf("%012x", ms); ids[0][:8]+ids[0][9:13] != want {
		t.Errorf("%s does not start with the time %s", ids[0], want)
	}
	for _, bad := range []string{"", "x", "../../etc", strings.ToUpper(ids[0]), ids[0] + "\n"} {
		if sessions.ValidID(bad) {
			t.Errorf("%q counts as an ID", bad)
		}
	}
}

func TestKey(t *testing.T) {
	for _, c := range []struct{ root, want string }{
		{"/home/me/My Project!", "my-project-"}, {"/", "root-"}, {"/x/" + strings.Repeat("a", 90), strings.Repeat("a", 40) + "-"}, {"/été", "t-"},
	} {
		got := sessions.Key(c.root)
		if !strings.HasPrefix(got, c.want) || len(got) != len(c.want)+8 {
			t.Errorf("Key(%s) = %s", c.root, got)
		}
	}
	if sessions.Key("/a/x") == sessions.Key("/b/x") {
		t.Error("two folders of one name have one key")
	}
}

func TestList(t *testing.T) {
	f := setup(t)
	if got, err := f.List(f.t.Context(), ""); err != nil || got != nil {
		t.Fatalf("nothing there: %v, %v", got, err)
	}
	a := f.session("k1", "first\nprompt", "The title")
	b := f.session("k2", "other", "")
	if err := os.MkdirAll(f.folder("k1", f.id()), 0o700); err != nil { // no log
		t.Fatal(err)
	}
	all, err := f.List(f.t.Context(), "")
	if err != nil || len(all) != 2 || all[0].ID != b || all[1].ID != a {
		t.Fatalf("got %+v, %v", all, err)
	}
	got := all[1]
	stat, err := os.Stat(filepath.Join(f.folder("k1", a), "log.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := store.Info{
		ID: a, Key: "k1", Dir: f.folder("k1", a), Start: "/d", Root: "/r", Branch: "main", Title: "The title", First: "first prompt", Last: "first prompt",
		Model: "m", Turns: 1, Cost: 0.5, Usage: llm.Usage{In: 5}, Size: stat.Size(), Began: start, Changed: stat.ModTime(), Seq: 6,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// What is added later is counted once.
	f.write("k1", a, 7, event.InputAccepted{Text: "again"}, event.TurnStarted{ID: "t2", Model: "m2"}, event.Replied{Cost: 0.75}, event.Spent{Cost: 0.25, Priced: true}, event.Spent{Usage: llm.Usage{In: 1}})
	for range 2 {
		all, err = f.List(f.t.Context(), "k1")
		if err != nil || len(all) != 1 || all[0].Cost != 1.5 || all[0].Turns != 2 || all[0].Last != "again" || all[0].First != "first prompt" || !all[0].Open || all[0].Unpriced != 1 || all[0].Model != "m2" {
			t.Fatalf("got %+v, %v", all, err)
		}
	}
	if newest, err := f.Find(f.t.Context(), "k2", ""); err != nil || newest.ID != b {
		t.Errorf("newest %+v, %v", newest, err)
	}
	if _, err := f.Find(f.t.Context(), "k3", ""); !errors.Is(err, store.ErrNone) {
		t.Errorf("newest of nothing: %v", err)
	}
}

func TestADamagedDigestIsMadeAgain(t *testing.T) {
	f := setup(t)
	a := f.session("k", "p", "t")
	want, err := f.List(f.t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.folder("k", a), "summary.json")
	for _, bad := range []string{"", "{", `{"version":1,"off":99999999,"info":{"Cost":100}}`, `{"version":99,"off":1,"info":{"Cost":100}}`} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := f.List(f.t.Context(), "k")
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("%q: %+v, %v", bad, got, err)
		}
	}
}

func TestFind(t *testing.T) {
	f := setup(t)
	a := f.session("here", "fix the parser", "Parser")
	b := f.session("here", "fix the printer", "Printer work")
	c := f.session("else", "fix the world", "Parser")
	for _, q := range []struct{ query, want string }{
		{a, a}, {b[:13], b}, {"parser", a}, {"PRINTER fix", b}, {"world", c}, {"", b}, {c, c}, {"printer work", b},
	} {
		got, err := f.Find(f.t.Context(), "here", q.query)
		if err != nil || got.ID != q.want {
			t.Errorf("%q: %s, %v", q.query, got.ID, err)
		}
	}
	_, err := f.Find(f.t.Context(), "here", "fix the")
	if amb, ok := errors.AsType[*store.AmbiguousError](err); !ok || len(amb.Matches) != 2 || !strings.Contains(err.Error(), a) || !strings.Contains(err.Error(), "Printer work") {
		t.Errorf("got %v", err)
	}
	for _, q := range []string{"nothing like it", a[:3], "../else"} {
		if _, err := f.Find(f.t.Context(), "here", q); !errors.Is(err, store.ErrNone) {
			t.Errorf("%q: %v", q, err)
		}
	}
}

func (f *fixture) lock(key, id string) {
	f.t.Helper()
	dir, err := disk.Open(f.folder(key, id))
	if err != nil {
		f.t.Fatal(err)
	}
	defer dir.Close()
	running := f.Self
	running.PID = 7
	if _, err := lease.Take(dir, running); err != nil {
		f.t.Fatal(err)
	}
}

func TestRemoveAndCleanup(t *testing.T) {
	f := setup(t)
	old := f.session("k", "old", "")
	busy := f.session("k", "busy", "")
	f.lock("k", busy)
	f.now = start.AddDate(0, 0, 60)
	young := f.session("k", "young", "")
	f.now = start.AddDate(0, 0, 91)
	if n, err := f.Cleanup(f.t.Context(), 0); n != 0 || err != nil {
		t.Errorf("0 days removed %d, %v", n, err)
	}
	if n, err := f.Cleanup(f.t.Context(), 90); n != 1 || err != nil {
		t.Errorf("%d were removed, %v", n, err)
	}
	all, err := f.List(f.t.Context(), "k")
	if err != nil || len(all) != 2 || all[0].ID != young || all[1].ID != busy || !all[1].Running || all[1].Holder.PID != 7 {
		t.Fatalf("left %+v, %v", all, err)
	}
	if err := f.Remove(f.t.Context(), all[1]); !errors.Is(err, store.ErrRunning) {
		t.Errorf("a running session was removed: %v", err)
	}
	if err := f.Remove(f.t.Context(), all[0]); err != nil {
		t.Error(err)
	}
	for _, id := range []string{old, young} {
		if _, err := os.Stat(f.folder("k", id)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", id, err)
		}
	}
}

func TestFork(t *testing.T) {
	f := setup(t)
	a := f.session("k", "p", "t")
	file, err := os.OpenFile(filepath.Join(f.folder("k", a), "log.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	strange := `{"seq":7,"time":"2030-01-01T00:00:00Z","type":"new_kind",  "x":1}`
	if _, err := file.WriteString("broken\n" + strange + "\n{\"seq\":8,\"torn"); err != nil {
		t.Fatal(err)
	}
	file.Close()
	parent, err := f.Find(f.t.Context(), "k", a)
	if err != nil {
		t.Fatal(err)
	}
	f.lock("k", a) // a running session can be forked
	for _, c := range []struct {
		at, want event.Seq
		lines    int
	}{{0, 7, 7}, {3, 3, 3}, {100, 7, 7}} {
		got, err := f.Fork(t.Context(), parent, c.at, "other", event.SessionStarted{Dir: "/new", Branch: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if got.Parent != a || got.Start != "/new" || got.Key != "other" || got.First != "p" || got.ID == a || got.Running || got.Seq != c.want {
			t.Errorf("got %+v", got)
		}
		raw, err := os.ReadFile(filepath.Join(got.Dir, "log.jsonl"))
		if err != nil || strings.Count(string(raw), "\n") != c.lines || !strings.HasSuffix(string(raw), "\n") {
			t.Errorf("%v\n%s", err, raw)
		}
		if c.want == 7 && !strings.Contains(string(raw), strange+"\n") {
			t.Errorf("a line of a newer version changed:\n%s", raw)
		}
		e, err := event.ParseLine([]byte(strings.Split(string(raw), "\n")[0]))
		if b, ok := e.Body.(event.SessionStarted); err != nil || !ok || b.At != c.want || b.ID != got.ID || b.Schema != event.Schema || e.Seq != 1 {
			t.Errorf("first event %+v, %v", e, err)
		}
	}
	if _, err := f.Fork(t.Context(), store.Info{Key: "k", ID: f.id()}, 0, "other", event.SessionStarted{}); err == nil {
		t.Error("a fork of nothing")
	}
	if all, _ := f.List(f.t.Context(), "other"); len(all) != 3 {
		t.Errorf("%d forks", len(all))
	}
}

func TestTheZeroSelfIsThisProcess(t *testing.T) {
	f := setup(t)
	f.Self = lease.Self{}
	id := f.session("k", "p", "")
	dir, err := disk.Open(f.folder("k", id))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	held, err := lease.Take(dir, lease.ThisProcess())
	if err != nil {
		t.Fatal(err)
	}
	i, err := f.Find(f.t.Context(), "k", "")
	if err != nil || !i.Running || i.Holder.PID != os.Getpid() {
		t.Errorf("got %+v, %v", i, err)
	}
	if err := errors.Join(held.Release(), f.Remove(f.t.Context(), i)); err != nil {
		t.Error(err)
	}
}
