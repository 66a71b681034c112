package storetest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store"
)

// A Catalogue is what RunCatalogue tests.
type Catalogue interface {
	store.Catalogue
	store.Opener
}

// IDs of the sessions that RunCatalogue makes.
const (
	idA  = "0199c5a2-7d3e-7b11-8f00-2a6c1d9e4b57"
	idB  = "0199c5a2-8d3e-7b11-8f00-2a6c1d9e4b57"
	none = "0199c5a2-9d3e-7b11-8f00-2a6c1d9e4b57"
)

// RunCatalogue tests the catalogues that open makes: empty ones, each a new one.
func RunCatalogue(t *testing.T, open func(t *testing.T) Catalogue) {
	for name, f := range map[string]func(*testing.T, Catalogue){
		"list and find": finding, "one writer": oneWriter, "fork": forking, "large parts": largeParts, "remove": removing, "follow": following, "spill": spilling,
	} {
		t.Run(name, func(t *testing.T) { f(t, open(t)) })
	}
}

// begin makes a session with a prompt, and leaves it open.
func begin(t *testing.T, c Catalogue, project, id, prompt string) store.Session {
	t.Helper()
	s, err := c.Create(t.Context(), project, id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i, b := range []event.Body{event.SessionStarted{ID: id, Schema: event.Schema, Dir: "/w/" + project}, event.InputAccepted{ID: "p", Text: prompt}} {
		if err := s.Append(t.Context(), event.Event{Seq: event.Seq(i + 1), Time: time.Unix(int64(i+1), 0).UTC(), Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func closed(t *testing.T, s store.Session) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func ids(t *testing.T, c Catalogue, project string) (out []string) {
	t.Helper()
	list, err := c.List(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		out = append(out, i.ID)
	}
	return out
}

func found(t *testing.T, c Catalogue, query string) store.Info {
	t.Helper()
	i, err := c.Find(t.Context(), "one", query)
	if err != nil {
		t.Fatalf("find %q: %v", query, err)
	}
	return i
}

func finding(t *testing.T, c Catalogue) {
	if got := ids(t, c, ""); got != nil {
		t.Errorf("an empty catalogue lists %v", got)
	}
	if _, err := c.Find(t.Context(), "one", ""); !errors.Is(err, store.ErrNone) {
		t.Errorf("the newest of nothing: %v", err)
	}
	a := begin(t, c, "one", idA, "mend the roof")
	closed(t, a)
	closed(t, begin(t, c, "two", idB, "mend the door"))
	if got := ids(t, c, "one"); !cmp.Equal(got, []string{idA}) {
		t.Errorf("the project has %v", got)
	}
	if got := ids(t, c, ""); len(got) != 2 {
		t.Errorf("all are %v", got)
	}
	for query, want := range map[string]string{"": idA, idB: idB, idA[:13]: idA, "ROOF": idA, "door mend": idB, "mend": idA} {
		if i := found(t, c, query); i.ID != want || i.First == "" || i.Start == "" || i.Seq != 2 || i.Running {
			t.Errorf("find %q: %+v", query, i)
		}
	}
	if _, err := c.Find(t.Context(), "three", "mend"); !as[*store.AmbiguousError](err) {
		t.Errorf("two that fit: %v", err)
	}
	if _, err := c.Find(t.Context(), "one", none); !errors.Is(err, store.ErrNone) {
		t.Errorf("an ID that is nobody's: %v", err)
	}
}

func as[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }

func oneWriter(t *testing.T, c Catalogue) {
	a := begin(t, c, "one", idA, "x")
	if _, err := c.Create(t.Context(), "two", idA); !errors.Is(err, store.ErrExists) {
		t.Errorf("a second session of one ID: %v", err)
	}
	i := found(t, c, idA)
	if !i.Running || i.Holder == nil {
		t.Errorf("it is open, but %+v", i)
	}
	closed(t, a)
	i = found(t, c, idA)
	again, err := c.Open(t.Context(), i)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	want(t, again, 2)
	add(t, again, 3)
	want(t, again, 2, 3)
}

func forking(t *testing.T, c Catalogue) {
	a := begin(t, c, "one", idA, "x") // stays open: a running session can be forked
	add(t, a, 3, 4, 5)
	for at, last := range map[event.Seq]event.Seq{0: 5, 4: 4} {
		i, err := c.Fork(t.Context(), found(t, c, idA), at, "two", event.SessionStarted{Dir: "/new"})
		if err != nil {
			t.Fatal(err)
		}
		if i.Parent != idA || i.Start != "/new" || i.Key != "two" || i.Seq != last || i.Running || i.First != "x" {
			t.Errorf("the copy up to %d: %+v", at, i)
		}
		s, err := c.Open(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		add(t, s, 9)
		n := 0
		for e, err := range s.After(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := e.Body.(event.SessionStarted); ok && (b.ID != i.ID || b.At != last || b.Parent != idA) {
				t.Errorf("it begins with %+v", b)
			}
			n++
		}
		if n != int(last)+1 {
			t.Errorf("the copy has %d events", n)
		}
		closed(t, s)
	}
	want(t, a, 2, 3, 4, 5)
	if i, err := c.Fork(t.Context(), found(t, c, idA), 0, "two", event.SessionStarted{ID: none}); err != nil || i.ID != none {
		t.Errorf("a copy under an id that was asked for: %q, %v", i.ID, err)
	}
	if err := c.Remove(t.Context(), found(t, c, none)); err != nil {
		t.Error(err)
	}
	if _, err := c.Fork(t.Context(), store.Info{ID: none, Key: "one"}, 0, "one", event.SessionStarted{}); err == nil {
		t.Error("a copy of nothing")
	}
}

// largeParts are in what is read, in the first prompt of a list, and in a copy
// whose parent is gone.
func largeParts(t *testing.T, c Catalogue) {
	s, err := c.Create(t.Context(), "one", idA)
	if err != nil {
		t.Fatal(err)
	}
	pic := llm.Image{Media: "image/png", Data: bytes.Repeat([]byte("\x89PNG"), 10_000)}
	es := []event.Event{
		{Seq: 1, Time: time.Unix(1, 0).UTC(), Body: event.SessionStarted{ID: idA, Schema: event.Schema}},
		{Seq: 2, Time: time.Unix(2, 0).UTC(), Body: event.InputAccepted{ID: "p", Text: "what is this?", Images: []llm.Image{pic}}},
	}
	for _, e := range es {
		if err := s.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := s.Spill("all of it")
	if err == nil {
		err = s.Append(t.Context(), event.Event{Seq: 3, Time: time.Unix(3, 0).UTC(), Body: event.ToolFinished{Call: "c", Name: "Bash", Text: "some of it", Spill: whole}})
	} else if errors.Is(err, store.ErrNoDisk) {
		err = nil
		add(t, s, 3)
	}
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.Blobs().Put([]byte(strings.Repeat("before\n", 200)))
	if err == nil {
		err = s.Append(t.Context(), event.Event{Seq: 4, Time: time.Unix(4, 0).UTC(), Body: event.ToolFinished{Call: "c", Name: "Edit", Effects: []effect.Effect{effect.Changed{Files: []effect.Change{{Path: "/x", Before: effect.Version{Kind: effect.IsFile, Hash: before}}}}}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	i := found(t, c, idA)
	if i.First != "what is this?" || i.Seq != 4 {
		t.Errorf("the list has %+v", i)
	}
	fork, err := c.Fork(t.Context(), i, 0, "one", event.SessionStarted{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err = c.Open(t.Context(), i); err != nil { // the last line is one with a large part
		t.Fatal(err)
	}
	add(t, s, 5)
	closed(t, s)
	if err := c.Remove(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	n := 0
	for e, err := range c.Read(t.Context(), fork, 1) {
		if n++; n > 1 {
			continue
		}
		if d := cmp.Diff(es[1], e); d != "" || err != nil {
			t.Errorf("the copy: %v\n%s", err, d)
		}
	}
	if n != 3 {
		t.Errorf("the copy has %d events more", n)
	}
	if s, err = c.Open(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Blobs().Get(before); err != nil || string(got) != strings.Repeat("before\n", 200) {
		t.Errorf("what a file was before is %q: %v", got, err)
	}
	if dir := s.Scratch(); dir != "" {
		if got, err := s.Blobs().Get(filepath.Base(whole)); err != nil || string(got) != "all of it" {
			t.Errorf("the whole result is %q: %v", got, err)
		}
	}
	closed(t, s)
}

func removing(t *testing.T, c Catalogue) {
	a := begin(t, c, "one", idA, "x")
	i := found(t, c, idA)
	if err := c.Remove(t.Context(), i); !errors.Is(err, store.ErrRunning) {
		t.Errorf("a running session was removed: %v", err)
	}
	closed(t, a)
	if err := c.Remove(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, c, ""); got != nil {
		t.Errorf("still there: %v", got)
	}
	for _, err := range c.Read(t.Context(), i, 0) {
		if err == nil {
			t.Error("it can still be read")
		}
	}
	closed(t, begin(t, c, "one", idA, "anew"))
}

func following(t *testing.T, c Catalogue) {
	a := begin(t, c, "one", idA, "x")
	i := found(t, c, idA)
	n := 0
	for e, err := range c.Read(t.Context(), i, 1) {
		if err != nil || e.Seq != 2 {
			t.Fatal(e, err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d events were read", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	seq := event.Seq(2)
	for e, err := range c.Follow(ctx, i, 1) {
		if err != nil || e.Seq != seq {
			t.Fatal(e, err)
		}
		if seq == 6 {
			break
		}
		seq++
		add(t, a, int(seq))
	}
	if seq != 6 {
		t.Errorf("following ended at %d", seq)
	}
}

func spilling(t *testing.T, c Catalogue) {
	a := begin(t, c, "one", idA, "x")
	path, err := a.Spill("all of it")
	if a.Scratch() == "" {
		if !errors.Is(err, store.ErrNoDisk) {
			t.Errorf("without a disk: %q, %v", path, err)
		}
		return
	}
	text, rerr := os.ReadFile(path)
	if err != nil || rerr != nil || string(text) != "all of it" {
		t.Errorf("%q has %q: %v, %v", path, text, err, rerr)
	}
	if again, err := a.Spill("all of it"); err != nil || again != path {
		t.Errorf("the same text: %q, %v", again, err)
	}
	closed(t, a)
	if err := c.Remove(t.Context(), found(t, c, idA)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
