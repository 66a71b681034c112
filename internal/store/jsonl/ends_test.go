package jsonl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

// An error ends what is read of a log: nothing comes behind it, what is only in memory neither.
func TestAnErrorIsTheLastThatIsRead(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
	const n = 600 // more than memory has for readers
	for i := 1; i <= n; i++ {
		if err := l.Append(t.Context(), event.Event{Seq: event.Seq(i), Time: at, Body: event.TurnEnded{ID: "t"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append(t.Context(), event.Event{Seq: n + 1, Time: at, Body: event.Noted{Text: "not on disk yet"}}); err != nil {
		t.Fatal(err)
	}
	d.blind = func(int) error { return syscall.EIO }
	var got []string
	for e, err := range l.After(t.Context(), 0) { // without a break at the error
		got = append(got, fmt.Sprint(e.Seq, " ", errors.Is(err, syscall.EIO)))
	}
	if len(got) != 1 || got[0] != "0 true" {
		t.Errorf("%d are read: %v", len(got), got)
	}
	d.blind = nil
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A place for a snapshot has a log that was read, on disk, under a key.
func TestWhatHasAPlace(t *testing.T) {
	for name, c := range map[string]struct {
		key    []byte
		events int
		want   event.Seq
	}{"a key": {sealKey, 3, 3}, "no key": {nil, 3, 0}, "nothing written": {sealKey, 0, 0}} {
		dir := filepath.Join(t.TempDir(), "s")
		l := mustOpen(t, jsonl.Options{Dir: dir, Key: c.key})
		add(t, l, 1, c.events)
		if p := l.Place(); p.Seq != c.want || c.want == 0 && p != (store.Place{}) {
			t.Errorf("%s: %+v", name, p)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A snapshot is kept when all that it needs to know of the disk could be had.
func TestASnapshotNeedsEachLook(t *testing.T) {
	for n := 1; ; n++ {
		d := newFakeDisk()
		l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a"), Key: sealKey})
		add(t, l, 1, 3)
		place, first, met := l.Place(), d.looks, false
		d.blind = func(look int) error {
			if look != first+n {
				return nil
			}
			met = true
			return syscall.EIO
		}
		err := l.Keep(t.Context(), "v1", place, []byte("data"))
		d.blind = nil
		if there := d.names[jsonl.SnapshotName] != nil; met != errors.Is(err, syscall.EIO) || there == met {
			t.Errorf("look %d: %v, there is a snapshot: %t", n, err, there)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if d.allClosed(t, fmt.Sprint("after look ", n)); !met {
			return
		}
	}
}

// What is written to a log without a name is nowhere: the event that finds it out is
// refused, and so is each after it.
func TestALogThatWasRemoved(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"the file":   func(dir string) error { return os.Remove(filepath.Join(dir, jsonl.LogName)) },
		"the folder": os.RemoveAll,
	} {
		dir := filepath.Join(t.TempDir(), "s")
		l := mustOpen(t, jsonl.Options{Dir: dir})
		add(t, l, 1, 2)
		if err := remove(dir); err != nil {
			t.Fatal(err)
		}
		for seq := event.Seq(3); seq <= 4; seq++ {
			err := l.Append(t.Context(), event.Event{Seq: seq, Time: at, Body: event.TurnEnded{ID: "t"}})
			if !errors.Is(err, store.ErrRemoved) {
				t.Errorf("%s, event %d: %v", name, seq, err)
			}
		}
	}
}
