package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

// sized is an event whose line has so many bytes, with its newline.
func sized(t *testing.T, seq event.Seq, bytes int) event.Event {
	t.Helper()
	e := event.Event{Seq: seq, Time: at, Body: event.Noted{}}
	line, err := event.AppendLine(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	e.Body = event.Noted{Text: strings.Repeat("x", bytes-1-len(line))}
	if line, err = event.AppendLine(nil, e); err != nil || len(line)+1 != bytes {
		t.Fatalf("%d bytes, not %d (%v)", len(line)+1, bytes, err)
	}
	return e
}

// The end of a log is found whatever the size of its newest line, which is read in
// pieces: the next event follows it, and what is torn behind it goes.
func TestTheEndIsFoundBehindALineOfAnySize(t *testing.T) {
	for _, piece := range []int{64 << 10, 128 << 10} {
		for more := -3; more <= 3; more++ {
			for _, torn := range []int{0, 1, 7, piece + more} {
				size := piece + more
				t.Run(fmt.Sprint(size, " bytes, torn ", torn), func(t *testing.T) {
					d := newFakeDisk()
					opt := jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")}
					l := mustOpen(t, opt)
					add(t, l, 1, 2)
					big := sized(t, 3, size)
					if err := l.Append(t.Context(), big); err != nil {
						t.Fatal(err)
					}
					if err := l.Close(); err != nil {
						t.Fatal(err)
					}
					file := d.names[jsonl.LogName]
					whole := len(file.data)
					file.data = append(file.data, strings.Repeat("y", torn)...)
					l = mustOpen(t, opt)
					if len(file.data) != whole || l.Report().Torn != int64(torn) {
						t.Errorf("%d bytes are left of %d; %+v", len(file.data), whole, l.Report())
					}
					if err := l.Append(t.Context(), ev(3)); err == nil {
						t.Error("a number came twice")
					}
					add(t, l, 4, 6)
					want(t, l, 0, append(append(evs(1, 2), big), evs(4, 6)...))
					if err := l.Close(); err != nil {
						t.Fatal(err)
					}
				})
			}
		}
	}
}

// What could not be recorded is not in the file, as far as the disk lets it go;
// what was recorded before it is.
func TestWhatCouldNotBeRecordedIsTakenBack(t *testing.T) {
	for name, c := range map[string]struct {
		e    event.Event
		nth  int // operation that fails
		sync bool
	}{
		"written, in part":          {ev(5), 1, false},
		"a durable one, in part":    {ev(6), 1, true},
		"a durable one, not synced": {ev(6), 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFakeDisk()
			l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
			add(t, l, 1, 4) // the last is not synced
			before := bytes.Clone(d.names[jsonl.LogName].data)
			ops := d.ops
			d.fail = func(op int) error {
				if op == ops+c.nth {
					return syscall.EIO
				}
				return nil
			}
			if err := l.Append(t.Context(), c.e); err == nil {
				t.Fatal("it was recorded")
			}
			if got := d.names[jsonl.LogName].data; !bytes.Equal(got, before) {
				t.Errorf("the file has %d bytes, it had %d: %q", len(got), len(before), got[min(len(got), len(before)):])
			}
			want(t, l, 0, evs(1, 4))
			add(t, l, int(c.e.Seq), int(c.e.Seq))
			want(t, l, 0, append(evs(1, 4), c.e))
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A log whose file could not be made gives up what it took, and says when it
// cannot.
func TestClosingALogWithoutAFile(t *testing.T) {
	cause := errors.New("the system would not close it")
	for n := 1; ; n++ {
		d := newFakeDisk()
		l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
		met, ops := false, d.ops
		d.fail = func(op int) error {
			if op == ops+n {
				met = true
				return syscall.EIO
			}
			return nil
		}
		err := l.Append(t.Context(), ev(1))
		if !met {
			_ = l.Close()
			if n < 4 {
				t.Errorf("the fault was met %d times", n-1)
			}
			return
		}
		open := d.handles
		d.closing = func(string) error { return cause }
		if got := l.Close(); open > 0 && !errors.Is(got, cause) {
			t.Errorf("operation %d failed (%v); closed with %d handles: %v", n, err, open, got)
		}
		d.allClosed(t, "closed")
	}
}

// Each of what a log holds open is closed, and said where it could not be.
func TestEachFileIsClosed(t *testing.T) {
	cause := errors.New("the system would not close it")
	for _, stuck := range []string{jsonl.LogName, "."} {
		d := newFakeDisk()
		l := mustOpen(t, jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
		add(t, l, 1, 3)
		d.closing = func(name string) error {
			if name == stuck {
				return cause
			}
			return nil
		}
		if err := l.Close(); !errors.Is(err, cause) {
			t.Errorf("%s: %v", stuck, err)
		}
		d.allClosed(t, "closed")
	}
}
