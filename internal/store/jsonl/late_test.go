package jsonl_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/blob"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

// was is what a file was before the call number n: from 1,000 bytes on, a
// content is packed.
func was(n int) []byte { return []byte(strings.Repeat(fmt.Sprintf("line %d\n", n), 1+n%2*200)) }

func changed(n int, hash string) event.Event {
	return event.Event{Seq: event.Seq(n), Time: at, Body: event.ToolFinished{Call: "c", Effects: []effect.Effect{
		effect.Changed{Files: []effect.Change{{Path: "/x", Before: effect.Version{Kind: effect.IsFile, Hash: hash}}}},
	}}}
}

// take returns what was flushed since it was called before.
func (d *fakeDisk) take() (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out, d.flushed = d.flushed, nil
	return out
}

func TestBlobsAreFlushedBeforeTheLog(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
	add(t, l, 1, 1)
	var files []string
	for n := 2; n < 5; n++ {
		name, err := l.Blobs().Put(was(n))
		if err == nil {
			err = l.Append(t.Context(), changed(n, name))
		}
		if err != nil {
			t.Fatal(err)
		}
		if n%2 == 1 {
			name += ".zst"
		}
		files = append(files, name)
	}
	path, err := l.Spill("all of it")
	if err == nil {
		err = l.Append(t.Context(), event.Event{Seq: 5, Time: at, Body: event.ToolFinished{Images: []llm.Image{picture(1)}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Base(path), blob.Name(picture(1).Data))
	slices.Sort(files)
	if got := d.take(); slices.ContainsFunc(got, func(name string) bool { return slices.Contains(files, name) }) {
		t.Errorf("flushed before a durable event: %q", got)
	}
	add(t, l, 6, 6)
	got := d.take()
	slices.Sort(got[:min(len(files), len(got))]) // they are flushed side by side
	if want := append(slices.Clone(files), ".", jsonl.LogName); !slices.Equal(got, want) {
		t.Errorf("flushed %q, want %q", got, want)
	}
	add(t, l, 7, 9)
	if got := d.take(); !slices.Equal(got, []string{jsonl.LogName}) {
		t.Errorf("with nothing new, %q were flushed", got)
	}
	if _, err := l.Blobs().Put(was(2)); err != nil {
		t.Fatal(err)
	}
	add(t, l, 10, 12)
	if got := d.take(); !slices.Equal(got, []string{blob.Name(was(2)), ".", jsonl.LogName}) {
		t.Errorf("what was there already: %q were flushed", got)
	}
}

// A blob that cannot be flushed is an event that cannot be recorded. What the
// system may have thrown away then is written again.
func TestABlobThatCannotBeFlushed(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
	add(t, l, 1, 1)
	name, err := l.Blobs().Put(was(3))
	if err == nil {
		err = l.Append(t.Context(), changed(2, name))
	}
	if err != nil {
		t.Fatal(err)
	}
	d.take()
	d.mu.Lock()
	sync := d.ops + 4 // behind writing the line, and opening the folder and the file
	d.fail = func(op int) error {
		if op == sync {
			return syscall.EIO
		}
		return nil
	}
	d.mu.Unlock()
	err = l.Append(t.Context(), ev(3))
	if _, ok := errors.AsType[*store.WriteError](err); !ok {
		t.Fatalf("got %v", err)
	}
	want(t, l, 0, []event.Event{ev(1), changed(2, name)})
	wrote := 0
	d.mu.Lock()
	d.fail = func(op int) error { wrote++; return nil }
	d.mu.Unlock()
	add(t, l, 3, 3)
	// Of the log: Truncate, WriteAt, Sync. Of the folder: open, Sync. Of the blob:
	// open, open to read it, WriteAt, Sync.
	if got := d.take(); !slices.Equal(got, []string{name + ".zst", ".", jsonl.LogName}) || wrote != 9 {
		t.Errorf("flushed %q with %d operations", got, wrote)
	}
	d.powerCut(rand.New(rand.NewPCG(1, 1)))
	if got, err := l.Blobs().Get(name); err != nil || string(got) != string(was(3)) {
		t.Errorf("after a power cut: %d bytes, %v", len(got), err)
	}
}

// What somebody removed stops nothing.
func TestABlobThatIsGone(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
	add(t, l, 1, 1)
	name, err := l.Blobs().Put(was(2))
	if err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	delete(d.names, name)
	d.mu.Unlock()
	add(t, l, 2, 3)
}

// Power fails after each operation in turn: of the events before the last
// durable one that was acknowledged, each has its blob.
func TestPowerCutKeepsTheBlobsOfWhatIsOnDisk(t *testing.T) {
	errPower := errors.New("power is gone")
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 2))
		for n := 1; ; n++ {
			d := newFakeDisk()
			cut := false
			d.fail = func(op int) error {
				if op < n {
					return nil
				}
				cut = true
				return errPower
			}
			acked := 0
			l, err := jsonl.Open(jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
			if err == nil {
				acked = appendChanges(t, l)
				l.Close()
			}
			d.powerCut(r)
			next := self(1, "a")
			next.Now = func() time.Time { return time.Now().Add(15 * time.Second) }
			d.now = next.Now
			if l, err = jsonl.Open(jsonl.Options{Dir: "s", Disk: d.open, Self: next}); err != nil {
				t.Fatalf("cut at %d: %v", n, err)
			}
			es := read(t, l, 0)
			if len(es) < acked {
				t.Fatalf("cut at %d: %d events, %d were acknowledged", n, len(es), acked)
			}
			for _, e := range es[:acked] {
				if b, ok := e.Body.(event.ToolFinished); ok {
					c, _ := effect.Of[effect.Changed](b.Effects)
					if _, err := l.Blobs().Get(c.Files[0].Before.Hash); err != nil {
						t.Fatalf("cut at %d: event %d of %d: %v", n, e.Seq, acked, err)
					}
				}
			}
			l.Close()
			if !cut {
				break
			}
		}
	}
}

// In bulk, nothing is flushed before the end, and little is written at once.
func TestBulk(t *testing.T) {
	d := newFakeDisk()
	l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a"), Bulk: true})
	add(t, l, 1, 1)
	name, err := l.Blobs().Put(was(1))
	if err != nil {
		t.Fatal(err)
	}
	d.take()
	ops := d.ops
	add(t, l, 2, 300)
	if got := d.take(); len(got) > 0 || d.ops != ops {
		t.Errorf("flushed %q, with %d operations", got, d.ops-ops)
	}
	want(t, l, 0, evs(1, 300))
	big := event.Event{Seq: 301, Time: at, Body: event.Noted{Text: strings.Repeat("x", 1<<20)}}
	if err := l.Append(t.Context(), big); err != nil || d.ops != ops+1 {
		t.Errorf("%v, %d operations", err, d.ops-ops)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := d.take(); len(got) < 3 || !slices.Equal(got[:3], []string{name + ".zst", ".", jsonl.LogName}) {
		t.Errorf("at the end %q were flushed", got)
	}
	want(t, mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")}), 0, append(evs(1, 300), big))
}

// appendChanges appends events until one fails, and returns how many were
// acknowledged up to the last durable one.
func appendChanges(t *testing.T, l *jsonl.Log) (acked int) {
	for n := 1; n <= 9; n++ {
		e := ev(n)
		if !store.Durable(e.Body) {
			name, err := l.Blobs().Put(was(n))
			if err != nil {
				return acked
			}
			e = changed(n, name)
		}
		if l.Append(t.Context(), e) != nil {
			return acked
		}
		if store.Durable(e.Body) {
			acked = n
		}
	}
	return acked
}

// What a call costs that changed files, up to the next durable event: their
// contents are kept, and what names them is on disk for good.
func BenchmarkChanges(b *testing.B) {
	for _, files := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("%d files of 8 KB", files), func(b *testing.B) {
			l, err := jsonl.Open(jsonl.Options{Dir: filepath.Join(b.TempDir(), "s")})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			content := []byte(strings.Repeat("a line of a program, more or less\n", 250))
			seq, made := event.Seq(0), 0
			for b.Loop() {
				for range files {
					made++
					copy(content, fmt.Sprintf("%020d", made))
					if _, err := l.Blobs().Put(content); err != nil {
						b.Fatal(err)
					}
				}
				seq++
				if err := l.Append(b.Context(), event.Event{Seq: seq, Time: at, Body: event.ToolStarted{Call: "c"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
