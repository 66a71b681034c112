package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/usage"
)

func (f *fixture) used(since time.Time) map[string]usage.Spent {
	f.t.Helper()
	out := map[string]usage.Spent{}
	for u, err := range f.Usage(f.t.Context(), since) {
		if err != nil {
			f.t.Fatal(err)
		}
		var sum usage.Spent
		for _, r := range u.Requests {
			sum = sum.Add(r.Spent)
		}
		out[u.ID] = sum
		if u.Root != "/r" || u.Key == "" {
			f.t.Errorf("%+v", u)
		}
	}
	return out
}

func TestUsage(t *testing.T) {
	f := setup(t)
	if got := f.used(time.Time{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	a, b := f.session("k", "one", ""), f.session("l", "two", "")
	want := usage.Spent{Usage: llm.Usage{In: 5}, Cost: 0.5, Replies: 1}
	if got := f.used(time.Time{}); len(got) != 2 || got[a] != want || got[b] != want {
		t.Errorf("%v", got)
	}
	f.write("k", a, 7, event.Spent{For: "title", Model: "s", Usage: llm.Usage{In: 1}}, event.ToolFinished{Name: "Bash", Took: time.Second})
	more := want.Plus(usage.Request{For: "title", Usage: llm.Usage{In: 1}})
	for range 2 { // read anew, and from what is kept
		if got := f.used(time.Time{}); got[a] != more || got[b] != want {
			t.Errorf("%v", got)
		}
	}
	// One that was not written to since is not looked at.
	if got := f.used(f.now.Add(time.Second)); len(got) != 0 {
		t.Errorf("%v", got)
	}
	// What is kept is no more than that: without it, with rubbish in its place, or
	// with a log that became shorter, the log says it.
	kept := filepath.Join(f.folder("l", b), "usage.json")
	for _, text := range []string{"", "{", `{"version":99,"off":1,"requests":[{"cost":9}]}`, `{"version":1,"off":99999999,"seq":99,"requests":[{"cost":9}]}`} {
		if err := os.WriteFile(kept, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := f.used(time.Time{}); got[b] != want {
			t.Errorf("with %q: %v", text, got[b])
		}
	}
	// Lines that are none count nothing.
	log, err := os.OpenFile(filepath.Join(f.folder("l", b), "log.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.WriteString("rubbish\n" + `{"seq":99,"time":"2026-03-01T12:00:00Z","type":"replied","cost":"x"}` + "\n" + `{"seq":100,"type":"repl`)
	if err := errors.Join(err, log.Close()); err != nil {
		t.Fatal(err)
	}
	if got := f.used(time.Time{}); got[b] != want {
		t.Errorf("%v", got[b])
	}
}

// What is kept is used: only what was added is read.
func TestUsageReadsOnlyWhatIsNew(t *testing.T) {
	f := setup(t)
	a := f.session("k", strings.Repeat("long ", 20_000), "")
	before := f.used(time.Time{})[a]
	path := filepath.Join(f.folder("k", a), "log.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// As long as before, and its beginning says something else.
	if err := os.WriteFile(path, []byte(strings.Replace(string(raw), `"cost":0.5`, `"cost":9.5`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := f.used(time.Time{})[a]; got != before {
		t.Errorf("the log was read again: %+v", got)
	}
}

// A copy counts what was done in it, and not once more what it was copied from.
func TestUsageOfACopy(t *testing.T) {
	f := setup(t)
	a := f.session("k", "one", "")
	parent, err := f.Find(t.Context(), "k", a)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := f.Fork(t.Context(), parent, 0, "k", event.SessionStarted{Dir: "/d", Root: "/r"})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.used(time.Time{}); got[copied.ID] != (usage.Spent{}) || got[a].Cost != 0.5 {
		t.Errorf("%v", got)
	}
	f.write("k", copied.ID, 7, event.Replied{Model: "m", Cost: 2})
	if got := f.used(time.Time{}); got[copied.ID].Cost != 2 || got[a].Cost != 0.5 {
		t.Errorf("%v", got)
	}
}

func TestUsageEndsWithItsContext(t *testing.T) {
	f := setup(t)
	f.session("k", "one", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for u, err := range f.Usage(ctx, time.Time{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", u, err)
		}
	}
}

// BenchmarkUsage reads what 10,000 sessions came to that did not change.
func BenchmarkUsage(b *testing.B) {
	f := setup(b)
	for i := range 10_000 {
		id := f.id()
		var bodies []event.Body
		bodies = append(bodies, event.SessionStarted{ID: id, Dir: "/d", Root: "/r"})
		for range 10 {
			bodies = append(bodies, event.Replied{Model: "p/m", Usage: llm.Usage{In: 5}, Cost: 0.5}, event.ToolFinished{Name: "Bash", Text: strings.Repeat("x", 1000)})
		}
		f.write(fmt.Sprint("k", i%50), id, 1, bodies...)
	}
	run := func() (n int) {
		for _, err := range f.Usage(b.Context(), time.Time{}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		return n
	}
	run() // what is kept beside each log is made
	for b.Loop() {
		if n := run(); n != 10_000 {
			b.Fatal(n)
		}
	}
}
