package jsonl_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/disk"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

// A meter counts the bytes that are read from files.
type meter struct{ read atomic.Int64 }

func (m *meter) open(dir string, create bool) (disk.Dir, error) {
	open := disk.Open
	if create {
		open = disk.Create
	}
	d, err := open(dir)
	if err != nil {
		return nil, err
	}
	return metered{d, m}, nil
}

type metered struct {
	disk.Dir
	m *meter
}

func (d metered) OpenFile(name string, flag int, perm os.FileMode) (disk.File, error) {
	f, err := d.Dir.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return meteredFile{f, d.m}, nil
}

type meteredFile struct {
	disk.File
	m *meter
}

func (f meteredFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	f.m.read.Add(int64(n))
	return n, err
}

// first reads the event after seq, and returns how many bytes that took.
func (m *meter) first(t *testing.T, l store.Log, seq event.Seq) int64 {
	t.Helper()
	before := m.read.Load()
	for e, err := range l.After(t.Context(), seq) {
		if err != nil || e.Seq != seq+1 {
			t.Fatalf("%d comes after %d (%v)", e.Seq, seq, err)
		}
		break
	}
	return m.read.Load() - before
}

// The newest events are read from memory, as long as they are not many and not
// large.
func TestNewEventsAreInMemory(t *testing.T) {
	for name, c := range map[string]struct {
		small        int // events of 10 bytes that come first
		events, size int
		from         event.Seq // the first place that needs no file
	}{
		"all":                    {0, 512, 10, 0},
		"one more":               {0, 513, 10, 256},
		"all, as large":          {0, 2, 1<<20 - 100, 0},
		"larger":                 {0, 3, 1<<20 - 100, 2},
		"larger behind many":     {300, 3, 1<<20 - 100, 301},
		"as large as many small": {300, 1, 1<<20 - 100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := &meter{}
			l := mustOpen(t, jsonl.Options{Dir: filepath.Join(t.TempDir(), "s"), Disk: m.open})
			defer l.Close()
			last := event.Seq(c.small + c.events)
			for seq := event.Seq(1); seq <= last; seq++ {
				size := c.size
				if seq <= event.Seq(c.small) {
					size = 10
				}
				if err := l.Append(t.Context(), event.Event{Seq: seq, Time: at, Body: event.Noted{Text: strings.Repeat("x", size)}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Append(t.Context(), event.Event{Seq: last, Time: at, Body: event.Noted{}}); err == nil {
				t.Error("a number came twice")
			}
			if n := m.first(t, l, c.from); n > 0 {
				t.Errorf("after %d: %d bytes were read", c.from, n)
			}
			if c.from > 0 && m.first(t, l, c.from-1) == 0 {
				t.Errorf("after %d: no file was read", c.from-1)
			}
			for e := range l.After(t.Context(), last) {
				t.Errorf("%d comes after the last one", e.Seq)
			}
		})
	}
}

// A reader who begins in the middle of a large log reads little of what is
// before that, however it came to know the log.
func TestLittleIsRead(t *testing.T) {
	const events, size = 6000, 1400 // 8 MB
	m := &meter{}
	opt := jsonl.Options{Dir: filepath.Join(t.TempDir(), "s"), Disk: m.open, Key: sealKey}
	l := mustOpen(t, opt)
	for n := range events {
		if err := l.Append(t.Context(), event.Event{Seq: event.Seq(n + 1), Time: at, Body: event.Noted{Text: strings.Repeat("x", size)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Keep(t.Context(), "v1", l.Place(), []byte("data")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	places := []event.Seq{2500, 3000, 4400, 5900}
	l = mustOpen(t, opt)
	if n := m.read.Load(); n > 1<<20 {
		t.Errorf("%d bytes were read to open it", n)
	}
	if _, _, ok := l.Kept("v1"); !ok {
		t.Fatal("there is no snapshot")
	}
	for _, seq := range places {
		if n := m.first(t, l, seq); n > 2200<<10 { // half of it and less to find the place
			t.Errorf("with a snapshot, after %d: %d bytes were read", seq, n)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := jsonl.OpenReader(opt)
	if err != nil {
		t.Fatal(err)
	}
	for range r.After(t.Context(), 0) {
	}
	before := m.read.Load()
	for range r.After(t.Context(), events) { // as who follows a log does again and again
	}
	if n := m.read.Load() - before; n > 0 {
		t.Errorf("nothing is new: %d bytes were read", n)
	}
	for _, seq := range places {
		if n := m.first(t, r, seq); n > 1200<<10 {
			t.Errorf("once it was read, after %d: %d bytes were read", seq, n)
		}
	}
}

// What is recorded while somebody reads the file comes behind what is there.
func TestReadingWhileItGrows(t *testing.T) {
	l := mustOpen(t, jsonl.Options{Dir: filepath.Join(t.TempDir(), "s")})
	defer l.Close()
	const events = 600
	record := func(n int) {
		if err := l.Append(t.Context(), note(n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range events {
		record(n + 1)
	}
	last := event.Seq(0)
	for e, err := range l.After(t.Context(), 0) {
		if err != nil || e.Seq != last+1 {
			t.Fatalf("%d comes after %d (%v)", e.Seq, last, err)
		}
		if last = e.Seq; last%200 == 0 && last <= events {
			record(events + int(last)/200)
		}
	}
	if last != events+3 {
		t.Errorf("the last one is %d", last)
	}
	for e, err := range l.After(t.Context(), last-5) { // all of it in memory
		if err != nil {
			t.Fatal(err)
		}
		if last = e.Seq; last == events+3 || last == events+4 {
			record(int(last) + 1)
		}
	}
	if last != events+5 {
		t.Errorf("of what is in memory, the last one is %d", last)
	}
}

// A folder without a log is a new session: nothing is made in it, and no lock
// is taken, before the first event.
func TestAFolderWithoutALog(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, jsonl.Options{Dir: dir})
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("made: %v (%v)", list, err)
	}
	if err := l.Append(t.Context(), note(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, jsonl.LogName)); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A snapshot is of a place, and of a log that is open.
func TestNoSnapshotWithoutAPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	l := mustOpen(t, jsonl.Options{Dir: dir, Key: sealKey})
	if err := l.Append(t.Context(), note(1)); err != nil {
		t.Fatal(err)
	}
	if err := l.Keep(t.Context(), "v1", store.Place{}, []byte("data")); err == nil {
		t.Error("a snapshot of no place was kept")
	}
	if err := l.Keep(t.Context(), strings.Repeat("v", 2000), l.Place(), []byte("data")); err == nil {
		t.Error("a snapshot was kept whose head cannot be read")
	}
	place := l.Place()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Keep(t.Context(), "v1", place, []byte("data")); !errors.Is(err, store.ErrClosed) && !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, jsonl.SnapshotName)); err == nil {
		t.Error("there is a snapshot")
	}
}
