package lease_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/store/disk"
)

func open(t *testing.T) (string, disk.Dir) {
	t.Helper()
	path := t.TempDir()
	d, err := disk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return path, d
}

func TestTakeLookRelease(t *testing.T) {
	path, d := open(t)
	self := lease.ThisProcess()
	if _, held, err := lease.Look(d, self); held || err != nil {
		t.Fatal(held, err)
	}
	l, err := lease.Take(d, self)
	if err != nil {
		t.Fatal(err)
	}
	if h, held, err := lease.Look(d, self); !held || err != nil || h.PID != os.Getpid() {
		t.Errorf("%+v %t %v", h, held, err)
	}
	if _, err := lease.Take(d, self); err == nil {
		t.Error("taken twice")
	} else if _, ok := errors.AsType[*lease.Held](err); !ok {
		t.Error(err)
	}
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(path, "lock"), then, then); err != nil {
		t.Fatal(err)
	}
	if err := l.Refresh(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(path, "lock")); err != nil || time.Since(info.ModTime()) > time.Minute {
		t.Errorf("refresh left the time at %v, %v", info.ModTime(), err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if err := l.Refresh(); !errors.Is(err, lease.ErrLost) {
		t.Errorf("refresh of a released lease: %v", err)
	}
	if names, _ := filepath.Glob(path + "/*"); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

// Of many who find a stale lease, one gets it.
func TestFault05_OneOfManyTakesOver(t *testing.T) {
	for range 20 {
		path, d := open(t)
		if err := os.WriteFile(filepath.Join(path, "lock"), []byte(`{"pid":1,"host":"h","token":"old"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		self := lease.Self{PID: 2, Host: "h", Now: time.Now, Token: rand.Text, Alive: func(pid int, _ int64) bool { return pid == 2 }}
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := lease.Take(d, self); err == nil {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d took it over", won.Load())
		}
	}
}

func TestAlive(t *testing.T) {
	self := lease.ThisProcess()
	if !lease.Alive(self.PID, self.Start) || !lease.Alive(self.PID, 0) || lease.Alive(0, 0) || lease.Alive(-1, 0) {
		t.Error("this process does not count as alive, or nobody does")
	}
	if self.Start != 0 && lease.Alive(self.PID, self.Start+1) {
		t.Error("a process that started at another time counts as this one")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if lease.Alive(cmd.Process.Pid, 1) {
		t.Error("a process that ended counts as alive")
	}
}

// Of many who wait, one works at a time, and all get their turn.
func TestWait(t *testing.T) {
	dir := t.TempDir()
	var inside, done atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				unlock, err := lease.Lock(t.Context(), dir, "work")
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two at once")
				}
				inside.Add(-1)
				done.Add(1)
				unlock()
			}
		})
	}
	wg.Wait()
	if names, _ := filepath.Glob(dir + "/*"); len(names) != 0 || done.Load() != 160 {
		t.Errorf("%d done, left: %v", done.Load(), names)
	}
}

// A lease for a short work expires also when its process lives; its owner notices.
func TestWaitForOneThatIsStuck(t *testing.T) {
	path, d := open(t)
	self := lease.ThisProcess()
	stuck, err := lease.Wait(t.Context(), d, "work", self)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lease.Wait(ended, d, "work", self); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := stuck.Check(); err != nil {
		t.Error(err)
	}
	then := time.Now().Add(-lease.Work - time.Second)
	if err := os.Chtimes(filepath.Join(path, "work"), then, then); err != nil {
		t.Fatal(err)
	}
	mine, err := lease.Wait(t.Context(), d, "work", self)
	if err != nil {
		t.Fatal(err)
	}
	if err := stuck.Check(); !errors.Is(err, lease.ErrLost) {
		t.Error(err)
	}
	if err := stuck.Release(); err != nil || mine.Check() != nil {
		t.Errorf("%v, %v: it gave up another's", err, mine.Check())
	}
	// Ours is ahead of the file system's: what counts is that one.
	now := time.Now()
	self.Now = func() time.Time { now = now.Add(20 * time.Second); return now }
	if _, err := lease.Wait(t.Context(), d, "work", self); err == nil {
		t.Error("a lease was taken over by the clock of who wants it")
	} else if held, ok := errors.AsType[*lease.Held](err); !ok || held.PID != os.Getpid() {
		t.Error(err)
	}
}

// A process that was killed while it took a lease, or took one over, keeps
// nobody out for long.
func TestFault05_KilledWhileTaking(t *testing.T) {
	now := time.Now()
	for name, files := range map[string]map[string]string{
		"half a lease":                  {"lock": ""},
		"half a takeover":               {"lock": `{"pid":1,"host":"h","token":"old"}`, "lock.take": ""},
		"a takeover of who is gone":     {"lock": `{"pid":1,"host":"h","token":"old"}`, "lock.take": `{"pid":3,"host":"h"}`},
		"a takeover of another machine": {"lock": `{"pid":1,"host":"h","token":"old"}`, "lock.take": `{"pid":3,"host":"other"}`},
	} {
		path, d := open(t)
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(path, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var waited time.Duration
		self := lease.Self{PID: 2, Host: "h", Token: rand.Text, Alive: func(pid int, _ int64) bool { return pid == 2 }}
		self.Now = func() time.Time { return now.Add(waited) }
		self.Pause = func(d time.Duration) {
			waited += d
			then := time.Now().Add(-waited)
			for _, f := range []string{"lock", "lock.take"} { // as if that had been waited
				_ = os.Chtimes(filepath.Join(path, f), then, then)
			}
		}
		if _, err := lease.Take(d, self); err != nil || waited > time.Second {
			t.Errorf("%s: %v after %v", name, err, waited)
		}
		if _, err := os.Stat(filepath.Join(path, "lock.take")); err == nil {
			t.Errorf("%s: the takeover is still there", name)
		}
	}
}
