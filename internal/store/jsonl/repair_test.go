package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

// Each operation fails once while a torn end is repaired, or the power fails
// with it. The next opening finds every whole line, and what was torn is in a
// file of its own.
func TestFault10_EveryOperationOfARepairFails(t *testing.T) {
	long := strings.Repeat("x", 4000)
	for _, torn := range []string{`{"seq":9,"ti`, "\x00\x00\x00\x00\n", `{"seq":9,"ti` + "\x00\n" + long + "\x00\n" + long} {
		for _, cut := range []bool{false, true} {
			n := 1
			for ; n < 200; n++ {
				if !repairRun(t, torn, n, cut) {
					break
				}
			}
			if n < 8 || n == 200 {
				t.Errorf("%.20q: the fault was reached in %d runs", torn, n)
			}
		}
	}
}

// repairRun reports whether opening was long enough to meet the fault. cut
// says that the power fails then.
func repairRun(t *testing.T, torn string, at int, cut bool) (met bool) {
	t.Helper()
	d := newFakeDisk()
	opt := jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")}
	l := mustOpen(t, opt)
	add(t, l, 1, 8)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file := d.names[jsonl.LogName]
	file.data = append(file.data, torn...)
	file.saved = slices.Clone(file.data)

	begun := d.ops
	d.fail = func(op int) error {
		if op == begun+at || met && cut {
			met = true
			return syscall.EIO
		}
		return nil
	}
	events := 8
	l, err := jsonl.Open(opt)
	if !cut || !met {
		d.fail = func(int) error { return nil }
	}
	switch {
	case err == nil && !cut: // what failed, if anything did, does not matter for the log
		if bytes.Contains(file.data, []byte(torn)) {
			t.Errorf("%.20q at %d: opened, and what was torn is there still", torn, at)
		}
		add(t, l, 9, 9)
		events = 9
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	case err == nil:
		_ = l.Close()
	default:
		if _, ok := errors.AsType[*store.WriteError](err); !ok {
			t.Fatalf("%.20q at %d: %v is no WriteError", torn, at, err)
		}
	}
	d.powerCut(rand.New(rand.NewPCG(1, uint64(at)))) // what counts is on the disk by now
	d.fail = func(int) error { return nil }
	next := self(1, "a") // the lock of the one that failed is nobody's by then
	next.Now = func() time.Time { return time.Now().Add(15 * time.Second) }
	opt.Self, d.now = next, next.Now
	l = mustOpen(t, opt)
	defer func() {
		_ = l.Close()
		d.allClosed(t, fmt.Sprintf("%.20q at %d, cut %t", torn, at, cut))
	}()
	want(t, l, 0, evs(1, events))
	if r := l.Report(); len(r.Bad) > 0 {
		t.Errorf("%.20q at %d, cut %t: bad lines %v", torn, at, cut, r.Bad)
	}
	if kept := d.names[jsonl.TornName]; kept == nil || !bytes.Contains(kept.data, []byte(torn)) {
		t.Errorf("%.20q at %d, cut %t: what was torn is gone", torn, at, cut)
	}
	return met
}

// Whatever look at the disk fails, once: that is an error, or makes no
// difference to what is read. Nothing is lost by it, and what is written behind
// it follows what was there.
func TestEveryLookAtTheDiskFails(t *testing.T) {
	for _, torn := range []string{"", `{"seq":31,"ti`} {
		n := 1
		for ; n < 200; n++ {
			if !lookRun(t, torn, n) {
				break
			}
		}
		if n < 8 || n == 200 {
			t.Errorf("%.20q: the fault was reached in %d runs", torn, n)
		}
	}
}

// lookRun reports whether there were so many looks.
func lookRun(t *testing.T, torn string, at int) (met bool) {
	t.Helper()
	d := newFakeDisk()
	opt := jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a"), Key: sealKey}
	l := mustOpen(t, opt)
	add(t, l, 1, 20)
	if err := l.Keep(t.Context(), "v1", l.Place(), []byte("data")); err != nil {
		t.Fatal(err)
	}
	add(t, l, 21, 30)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file := d.names[jsonl.LogName]
	file.data = append(file.data, torn...)
	begun, last := d.looks, 30
	d.blind = func(look int) error {
		if look == begun+at {
			met = true
			return syscall.EIO
		}
		return nil
	}
	read := func(l *jsonl.Log, from int) {
		for e, err := range l.After(t.Context(), event.Seq(from)) {
			switch {
			case err != nil && (!met || !errors.Is(err, syscall.EIO)):
				t.Errorf("%q, look %d: %v", torn, at, err)
				return
			case err != nil:
				return
			case int(e.Seq) != from+1:
				t.Errorf("%q, look %d: %d comes after %d", torn, at, e.Seq, from)
				return
			}
			from++
		}
		if from != last {
			t.Errorf("%q, look %d: the events end at %d without an error", torn, at, from)
		}
	}
	l, err := jsonl.Open(opt)
	if err == nil {
		data, p, ok := l.Kept("v1")
		if ok && (string(data) != "data" || p.Seq != 20) || !ok && !met && torn == "" {
			t.Errorf("%q, look %d: the snapshot is %q at %+v", torn, at, data, p)
		}
		read(l, int(p.Seq))
		read(l, 0)
		if err := l.Append(t.Context(), ev(31)); err == nil {
			last = 31
		} else if !met {
			t.Errorf("%q, look %d: %v", torn, at, err)
		}
		if err := l.Keep(t.Context(), "v1", l.Place(), []byte("more")); err != nil && !met {
			t.Errorf("%q, look %d: %v", torn, at, err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("%q, look %d: %v", torn, at, err)
		}
	} else if _, ok := errors.AsType[*store.WriteError](err); !ok || !met {
		t.Errorf("%q, look %d: %v is no WriteError", torn, at, err)
	}
	d.blind = nil
	l = mustOpen(t, opt)
	defer func() {
		_ = l.Close()
		d.allClosed(t, fmt.Sprintf("%q, look %d", torn, at))
	}()
	read(l, 0)
	if r := l.Report(); len(r.Bad) > 0 || r.Foreign > 0 || r.Cut > 0 {
		t.Errorf("%q, look %d: %+v", torn, at, r)
	}
	if kept := d.names[jsonl.TornName]; torn != "" && (kept == nil || !bytes.Contains(kept.data, []byte(torn))) {
		t.Errorf("%q, look %d: what was torn is gone", torn, at)
	}
	return met
}

// Whatever fails while a log is read: that is an error to the reader, and never
// the end of the log.
func TestEveryOperationOfAReaderFails(t *testing.T) {
	d := newFakeDisk()
	opt := jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")}
	l := mustOpen(t, opt)
	add(t, l, 1, 8)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		ops, met := d.ops, false
		r, err := jsonl.OpenReader(opt)
		if err != nil {
			t.Fatal(err)
		}
		opened := d.ops - ops // as many operations as reading begins with
		begun, first := d.ops, d.looks
		fault := func(at int) error {
			if at == n {
				met = true
				return syscall.EIO
			}
			return nil
		}
		d.fail = func(op int) error { return fault(op - begun) }
		d.blind = func(look int) error { return fault(opened + look - first) }
		last, failed := 0, error(nil)
		for e, err := range r.After(t.Context(), 0) {
			if failed = err; err == nil {
				last = int(e.Seq)
			}
		}
		d.fail, d.blind = func(int) error { return nil }, nil
		d.allClosed(t, fmt.Sprintf("operation %d", n))
		if met != errors.Is(failed, syscall.EIO) || !met && last != 8 {
			t.Errorf("operation %d: up to %d, %v", n, last, failed)
		}
		if !met {
			if n < 4 {
				t.Errorf("the fault was met %d times", n-1)
			}
			return
		}
	}
}
