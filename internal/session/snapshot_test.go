package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/mem"
)

// A keeper keeps snapshots of a log in which an event is as long as a snapshot
// waits for, and notes from where the log is read.
type keeper struct {
	*mem.Log
	last event.Seq
	fold string
	at   store.Place
	data []byte
	mu   sync.Mutex // guards kept
	kept []event.Seq
	read []event.Seq
	slow time.Duration
}

func (k *keeper) Append(ctx context.Context, e event.Event) error {
	err := k.Log.Append(ctx, e)
	if err == nil {
		k.last = e.Seq
	}
	return err
}

func (k *keeper) After(ctx context.Context, seq event.Seq) iter.Seq2[event.Event, error] {
	k.read = append(k.read, seq)
	return k.Log.After(ctx, seq)
}

func (k *keeper) Place() store.Place { return store.Place{Seq: k.last, Off: int64(k.last) << 20} }

func (k *keeper) Keep(_ context.Context, fold string, at store.Place, data []byte) error {
	time.Sleep(k.slow)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fold, k.at, k.data, k.kept = fold, at, data, append(k.kept, at.Seq)
	return nil
}

func (k *keeper) Kept(fold string) ([]byte, store.Place, bool) {
	return k.data, k.at, k.data != nil && fold == k.fold
}

func look(id string) fake.Reply {
	return fake.Use(llm.ToolUse{ID: id, Name: "look", Input: json.RawMessage(`{}`)})
}

// A session that goes on from a snapshot asks the model for the same as one
// that reads all of its log, and reads only the end of it.
func TestResumeFromASnapshotIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{Log: &mem.Log{}}
		keeping := func(k *keeper) func(*session.Config) {
			return func(c *session.Config) { c.Log, c.Keeper = k, k }
		}
		r := start(t, nil, keeping(k), look("1"), fake.Say("one"), fake.Say("two"), look("2"), fake.Say("three"))
		for n := range 3 {
			r.prompt(fmt.Sprint("prompt ", n))
			r.turns(n+1, nil)
			synctest.Wait()
		}
		if len(k.kept) != 3 { // one with each turn
			t.Errorf("snapshots at %v", k.kept)
		}
		r.Close()
		if n := len(k.kept); k.kept[n-1] != k.last {
			t.Errorf("the last snapshot is of %d, the log ends at %d", k.kept[n-1], k.last)
		}
		ask := func(k *keeper) []llm.Message {
			n := start(t, nil, keeping(k), fake.Say("four"))
			n.prompt("go on")
			n.turns(4, nil)
			n.Close()
			return n.model.Requests()[0].Messages
		}
		from := &keeper{Log: again(t, k.Log), last: k.last, fold: k.fold, at: k.at, data: k.data}
		whole := &keeper{Log: again(t, k.Log), last: k.last}
		other := &keeper{Log: again(t, k.Log), last: k.last, fold: "older", at: k.at, data: k.data}
		broken := &keeper{Log: again(t, k.Log), last: k.last, fold: k.fold, at: k.at, data: k.data[:len(k.data)-2]}
		want := ask(whole)
		if len(want) < 8 || whole.read[0] != 0 {
			t.Errorf("%d messages, read from %v", len(want), whole.read)
		}
		for name, k := range map[string]*keeper{"snapshot": from, "of another version": other, "broken": broken} {
			if d := cmp.Diff(want, ask(k)); d != "" {
				t.Errorf("%s: (-whole +snapshot)\n%s", name, d)
			}
			if begin := k.read[0]; (begin == 0) == (name == "snapshot") {
				t.Errorf("%s: read from %d", name, begin)
			}
		}
	})
}

// What came while a snapshot was written is in the one that the end makes.
func TestTheLastSnapshotHasAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{Log: &mem.Log{}, slow: time.Minute}
		r := start(t, nil, func(c *session.Config) { c.Log, c.Keeper = k, k }, fake.Say("one"))
		r.prompt("go")
		r.turns(1, nil)
		if err := r.Submit(t.Context(), op.Rename{Title: "later"}); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if n := len(k.kept); n != 2 || k.kept[1] != k.last {
			t.Errorf("snapshots at %v, the log ends at %d", k.kept, k.last)
		}
	})
}

// Close waits for the snapshot that is being written.
func TestCloseWaitsForTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{Log: &mem.Log{}, slow: time.Minute}
		r := start(t, nil, func(c *session.Config) { c.Log, c.Keeper = k, k }, fake.Say("one"))
		r.prompt("go")
		r.turns(1, nil)
		k.mu.Lock()
		n := len(k.kept)
		k.mu.Unlock()
		if n != 0 {
			t.Error("the turn waited for it")
		}
		r.Close()
		if len(k.kept) == 0 {
			t.Error("nothing is kept")
		}
	})
}

// short is a keeper of a log that was long before this process, and grows slowly.
type short struct{ *keeper }

func (s short) Place() store.Place {
	return store.Place{Seq: s.last, Off: 1<<20 + int64(s.last)}
}

// A snapshot is not made anew for the few bytes that came since.
func TestNoSnapshotForLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := short{&keeper{Log: &mem.Log{}}}
		r := start(t, nil, func(c *session.Config) { c.Log, c.Keeper = k, k }, fake.Say("one"), fake.Say("two"))
		for i := range 2 {
			r.prompt("go")
			r.turns(i+1, nil)
			synctest.Wait()
		}
		r.Close()
		if len(k.kept) != 1 {
			t.Errorf("snapshots at %v", k.kept)
		}
	})
}
