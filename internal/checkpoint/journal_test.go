package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/adze-agent/adze/internal/checkpoint"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
)

// journaled is a recorder of a tree, with a journal in a folder beside it.
func journaled(t testing.TB, dir string, limits checkpoint.Limits) (*checkpoint.Recorder, checkpoint.Config, string) {
	t.Helper()
	at := filepath.Join(t.TempDir(), "before")
	j := checkpoint.NewJournal(at)
	t.Cleanup(func() { _ = j.Close() })
	m := &memory{}
	c := checkpoint.Config{
		Root: dir, Blobs: m, Now: time.Now, Journal: j, Limits: limits,
		Scratch: func() (*os.File, error) { return nil, errors.New("there is a journal") },
	}
	return &checkpoint.Recorder{Trees: []*checkpoint.Tree{checkpoint.New(c)}, Blobs: m, Journal: j}, checkpoint.Config{Blobs: m, Now: time.Now}, at
}

// anything is what a call does that may change anything.
var anything = []policy.Action{policy.Opaque{}}

// Whatever a command did until its process was killed can be undone by what the
// journal has, after other calls that ended and beside some that did not.
func TestCutCommandsCanBeUndone(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(rt *rapid.T) {
		dir := tempTree(t)
		defer clear(t, dir)
		shell(t, dir, seedTree)
		before := listing(t, dir)
		limits := checkpoint.Limits{}
		if rapid.Bool().Draw(rt, "little room") {
			limits.Kept = 100 // contents are forgotten and copied anew
		}
		r, c, at := journaled(t, dir, limits)
		op := commands()
		var all []effect.Change
		for range rapid.IntRange(0, 4).Draw(rt, "calls before") {
			end, _ := r.Begin(ctx, anything)
			shell(t, dir, strings.Join(rapid.SliceOfN(op, 1, 3).Draw(rt, "script"), "; "))
			all = append(all, end(ctx).Files...)
		}
		var ends []func(context.Context) effect.Changed
		for range rapid.IntRange(1, 3).Draw(rt, "calls beside each other") {
			end, _ := r.Begin(ctx, anything)
			shell(t, dir, strings.Join(rapid.SliceOfN(op, 1, 3).Draw(rt, "cut"), "; "))
			ends = append(ends, end)
		}
		if len(ends) > 1 {
			ends[0](ctx) // its result was not recorded
		}
		got := checkpoint.Recover(ctx, at, c)
		all = append(all, got.Files...)
		if limits.Kept == 0 && len(got.Missed) > 0 {
			rt.Fatalf("missed: %q", got.Missed)
		}
		_, problems, err := checkpoint.Restore(ctx, c.Blobs, checkpoint.Back(all))
		if err != nil || len(problems) > 0 && len(got.Missed) == 0 {
			rt.Fatalf("restoring: %v %q", err, problems)
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" && limits.Kept == 0 {
			rt.Fatalf("not what it was:\n%s\nchanges: %+v", diff, all)
		}
	})
}

// Nothing that happened after the last call is taken for its doing.
func TestNothingIsRecoveredOfCallsThatEnded(t *testing.T) {
	dir := tempTree(t)
	shell(t, dir, seedTree)
	r, c, at := journaled(t, dir, checkpoint.Limits{})
	if got := checkpoint.Recover(t.Context(), at, c); len(got.Files)+len(got.Missed) > 0 {
		t.Errorf("before anything ran: %+v", got)
	}
	end, _ := r.Begin(t.Context(), anything)
	shell(t, dir, "echo x >new")
	want := end(t.Context()).Files
	shell(t, dir, "echo a person >mine; rm a/one")
	if got := checkpoint.Recover(t.Context(), at, c); len(want) != 1 || cmp.Diff(want, got.Files) != "" {
		t.Errorf("recovered %+v, the call changed %+v", got, want)
	}
	if err := r.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(at); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is there after the session: %v", err)
	}
}

// A file that a call names outside of all trees.
func TestRecoverNamedFile(t *testing.T) {
	dir, outside := tempTree(t), filepath.Join(tempTree(t), "o")
	shell(t, dir, "printf before >"+outside)
	r, c, at := journaled(t, dir, checkpoint.Limits{})
	r.Begin(t.Context(), []policy.Action{policy.Write{Path: outside}})
	shell(t, dir, "printf after >"+outside)
	got := checkpoint.Recover(t.Context(), at, c)
	if len(got.Files) != 1 || got.Files[0].Path != outside {
		t.Fatalf("%+v", got)
	}
	if b, err := c.Blobs.Get(got.Files[0].Before.Hash); err != nil || string(b) != "before" {
		t.Errorf("%q %v", b, err)
	}
}

// A tree is written in parts, and each of them counts; while one is being written, none does.
func TestRecoverLargeTree(t *testing.T) {
	dir := tempTree(t)
	shell(t, dir, "i=0; while [ $i -lt 2500 ]; do echo $i >file-with-a-longer-name-$i; i=$((i+1)); done")
	r, c, at := journaled(t, dir, checkpoint.Limits{})
	r.Begin(t.Context(), anything)
	shell(t, dir, "echo new >file-with-a-longer-name-7; rm file-with-a-longer-name-2400")
	got := checkpoint.Recover(t.Context(), at, c)
	if len(got.Files) != 2 || len(got.Missed) != 0 {
		t.Fatalf("%+v", got)
	}
	for _, f := range got.Files {
		if b, err := c.Blobs.Get(f.Before.Hash); err != nil || !strings.HasSuffix(f.Path, "-"+strings.TrimSpace(string(b))) {
			t.Errorf("%s comes back as %q (%v)", f.Path, b, err)
		}
	}
	whole, err := os.ReadFile(filepath.Join(at, "calls"))
	if err != nil || len(whole) < 128<<10 {
		t.Fatalf("%d bytes, %v: not several parts", len(whole), err)
	}
	if err := os.WriteFile(filepath.Join(at, "calls"), append(make([]byte, 8), whole[8:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := checkpoint.Recover(t.Context(), at, c); len(got.Files) > 0 {
		t.Errorf("a record that is not whole counts: %+v", got)
	}
}

// A journal that was damaged is said to know nothing, or knows the truth: no
// content comes back that was not there.
func TestRecoverFromADamagedJournal(t *testing.T) {
	dir := tempTree(t)
	shell(t, dir, seedTree)
	r, c, at := journaled(t, dir, checkpoint.Limits{})
	r.Begin(t.Context(), anything)
	shell(t, dir, "printf new >a/one; printf new >empty")
	for _, name := range []string{"calls", "tree-0"} {
		path := filepath.Join(at, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			for _, damaged := range [][]byte{whole[:i], append(append(append([]byte{}, whole[:i]...), whole[i]^0x41), whole[i+1:]...)} {
				if err := os.WriteFile(path, damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				got := checkpoint.Recover(t.Context(), at, c)
				for _, f := range got.Files {
					if b, err := c.Blobs.Get(f.Before.Hash); f.Before.Hash != "" && (err != nil || string(b) != map[string]string{"one": "one", "hard": "one", "empty": ""}[filepath.Base(f.Path)]) {
						t.Errorf("%s, byte %d: %s comes back as %q (%v)", name, i, f.Path, b, err)
					}
				}
				if len(got.Files) == 0 && len(got.Missed) == 0 && name == "tree-0" {
					t.Errorf("%s, byte %d: nothing was said", name, i)
				}
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Where there is no room for the journal, contents are kept elsewhere: a call
// that ends can be undone, and of one that is cut off it is said that nothing is known.
func TestNoRoomForTheJournal(t *testing.T) {
	dir := tempTree(t)
	r, c, at := journaled(t, dir, checkpoint.Limits{})
	scratch, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer scratch.Close()
	made := 0
	r.Trees[0] = checkpoint.New(checkpoint.Config{
		Root: dir, Blobs: c.Blobs, Now: time.Now, Journal: r.Journal,
		Scratch: func() (*os.File, error) { made++; return scratch, nil },
		Space:   func(string) (int64, bool) { return 100, true },
	})
	shell(t, dir, "printf 1234567890 >a")
	end, _ := r.Begin(t.Context(), anything)
	if end(t.Context()); made != 0 {
		t.Error("there was room for ten bytes")
	}
	shell(t, dir, "head -c 51 /dev/zero >b")
	before := listing(t, dir)
	end, _ = r.Begin(t.Context(), anything)
	shell(t, dir, "rm a; echo x >b")
	all := end(t.Context()).Files
	if _, _, err := checkpoint.Restore(t.Context(), c.Blobs, checkpoint.Back(all)); err != nil || cmp.Diff(before, listing(t, dir)) != "" {
		t.Errorf("%v %s", err, cmp.Diff(before, listing(t, dir)))
	}
	r.Begin(t.Context(), anything)
	if got := checkpoint.Recover(t.Context(), at, c); made != 1 || len(got.Missed) != 1 {
		t.Errorf("made %d, recovered %+v", made, got)
	}
}

func FuzzRecover(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00R"))
	f.Fuzz(func(t *testing.T, records []byte) {
		at := t.TempDir()
		if err := os.WriteFile(filepath.Join(at, "calls"), records, 0o600); err != nil {
			t.Fatal(err)
		}
		checkpoint.Recover(t.Context(), at, checkpoint.Config{Blobs: &memory{}, Now: time.Now})
	})
}
