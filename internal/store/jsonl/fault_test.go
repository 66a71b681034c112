package jsonl_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/jsonl"
)

const script = 12 // events that a fault run appends

// Each operation of the disk fails once, or from then on until it is healed.
// Every event that was acknowledged must be in the log once, in order, and the
// log must work again.
func TestFault10_12_13_14_EveryOperationFails(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EACCES, syscall.EMFILE, errLostPages} {
		for _, stays := range []bool{false, true} {
			n := 1
			for ; n < 500; n++ {
				if !faultRun(t, fmt.Sprintf("%v at %d, stays %t", cause, n, stays), cause, n, stays) {
					break
				}
			}
			if n < 10 || n == 500 {
				t.Errorf("the fault was reached in %d runs", n)
			}
		}
	}
}

// faultRun reports whether the run was long enough to meet the fault.
func faultRun(t *testing.T, name string, cause error, at int, stays bool) (met bool) {
	t.Helper()
	d := newFakeDisk()
	d.fail = func(op int) error {
		if op == at || stays && op > at {
			met = true
			return cause
		}
		return nil
	}
	me, late := self(1, "a"), time.Duration(0)
	me.Now = func() time.Time { return time.Now().Add(late) }
	d.now = me.Now
	opt := jsonl.Options{Dir: "s", Disk: d.open, Self: me}
	l, err := jsonl.Open(opt)
	heal := func(err error) {
		late += 15 * time.Second // a lock that was half written is nobody's by then
		w, ok := errors.AsType[*store.WriteError](err)
		if !ok || w.Why == "" {
			t.Fatalf("%s: %v is no WriteError", name, err)
		}
		d.mu.Lock()
		d.fail = func(int) error { return nil }
		d.mu.Unlock()
	}
	if err != nil {
		heal(err)
		if l, err = jsonl.Open(opt); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range evs(1, script) {
		err := l.Append(t.Context(), e)
		if err != nil {
			want(t, l, 0, evs(1, int(e.Seq)-1))
			heal(err)
			if err := l.Append(t.Context(), e); err != nil {
				t.Fatalf("%s: append %d after the disk was healed: %v", name, e.Seq, err)
			}
		}
		want(t, l, 0, evs(1, int(e.Seq)))
	}
	_ = l.Close() // it may not be able to sync the last events or to give up the lease
	d.fail = func(int) error { return nil }
	late += time.Hour
	next := self(1, "b") // another machine, because the lease may have stayed
	next.Now = me.Now
	again, err := jsonl.Open(jsonl.Options{Dir: "s", Disk: d.open, Self: next})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer func() {
		_ = again.Close()
		d.allClosed(t, name)
	}()
	got := read(t, again, 0)
	if len(got) < script-script%3 || len(again.Report().Bad) > 0 {
		t.Fatalf("%s: %d events after reopening, %+v", name, len(got), again.Report())
	}
	want(t, again, 0, evs(1, len(got)))
	return met
}

// Power fails after each operation in turn: what was not synced is gone, torn
// or NUL. Every durable event that was acknowledged must be there.
func TestFault01_02_03_PowerCutAtEveryOperation(t *testing.T) {
	errPower := errors.New("power is gone")
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		for n := 1; ; n++ {
			d := newFakeDisk()
			cut := false
			d.fail = func(op int) error {
				if op >= n {
					cut = true
					return errPower
				}
				return nil
			}
			acked := 0
			l, err := jsonl.Open(jsonl.Options{Dir: "s", Disk: d.open, Self: self(500, "a")})
			if err == nil {
				for _, e := range evs(1, script) {
					if l.Append(t.Context(), e) != nil {
						break
					}
					if store.Durable(e.Body) {
						acked = int(e.Seq)
					}
				}
				l.Close()
			}
			d.powerCut(r)
			next := self(1, "a")
			next.Now = func() time.Time { return time.Now().Add(15 * time.Second) }
			d.now = next.Now
			l, err = jsonl.Open(jsonl.Options{Dir: "s", Disk: d.open, Self: next})
			if err != nil {
				t.Fatalf("cut at %d: %v", n, err)
			}
			got := len(read(t, l, 0))
			if got < acked || len(l.Report().Bad) > 0 {
				t.Fatalf("cut at %d: %d events, %d were acknowledged; %+v", n, got, acked, l.Report())
			}
			want(t, l, 0, evs(1, got))
			add(t, l, got+1, got+3)
			want(t, l, 0, evs(1, got+3))
			l.Close()
			if !cut {
				break
			}
		}
	}
}

const childEnv = "ADZE_TEST_JSONL_CHILD"

// child appends events for ever and says on stdout which durable ones are safe.
func child(dir string) {
	l, err := jsonl.Open(jsonl.Options{Dir: dir})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	last := 0
	for e, err := range l.After(context.Background(), 0) {
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		last = int(e.Seq)
	}
	for n := last + 1; ; n++ {
		e := ev(n)
		if err := l.Append(context.Background(), e); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		if store.Durable(e.Body) {
			fmt.Println("safe", n)
		}
	}
}

func TestFault01_KilledAtAnyPoint(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "s")
	r := rand.New(rand.NewPCG(1, 2))
	safe := 0
	for round := range 12 {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), childEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for stopAt, n := r.IntN(60), 0; lines.Scan(); n++ {
			if text, bad := strings.CutPrefix(lines.Text(), "error "); bad {
				t.Fatal(text)
			}
			if _, err := fmt.Sscanf(lines.Text(), "safe %d", &safe); err != nil {
				t.Fatal(err)
			}
			if n == stopAt {
				time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait()
		l, err := jsonl.Open(jsonl.Options{Dir: dir}) // the lock is a dead process's
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		got := len(read(t, l, 0))
		if got < safe {
			t.Fatalf("round %d: %d events, %d were acknowledged", round, got, safe)
		}
		want(t, l, event.Seq(got-1), evs(got, got))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if safe < 100 {
		t.Errorf("only %d events in all rounds", safe)
	}
}
