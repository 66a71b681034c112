package draft

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/store/lease"
	"github.com/adze-agent/adze/internal/ui/history"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// as is a process of a machine where only those listed live.
func as(pid int, host string, living ...int) lease.Self {
	return lease.Self{PID: pid, Start: int64(pid), Host: host, Now: func() time.Time { return now }, Alive: func(p int, _ int64) bool {
		for _, l := range living {
			if l == p {
				return true
			}
		}
		return false
	}}
}

func TestWhatAKilledProcessLeaves(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "drafts")
	keep := func(pid int, host string, d Draft) {
		t.Helper()
		if err := In(dir, as(pid, host)).Keep(d); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, ok := In(dir, as(9, "here")).Left("/p"); ok {
		t.Error("found in no folder")
	}
	old := Draft{Project: "/p", Session: "s1", Time: now.Add(-time.Hour), Text: "old"}
	mine := Draft{Project: "/p", Session: "s2", Time: now.Add(-time.Minute), Text: "see [Pasted 3 lines]", Pastes: []history.Paste{{Label: "[Pasted 3 lines]", Text: "a\nb\nc"}}}
	keep(1, "here", old)
	keep(2, "here", Draft{Project: "/p", Text: "before"})
	keep(2, "here", mine)
	keep(3, "here", Draft{Project: "/p", Time: now, Text: "lives"})
	keep(4, "there", Draft{Project: "/p", Time: now, Text: "another machine"})
	keep(5, "here", Draft{Project: "/other", Time: now, Text: "another folder"})
	keep(6, "here", Draft{Project: "/p", Time: now.Add(-40 * 24 * time.Hour), Text: "too old"})
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := In(dir, as(9, "here", 3))
	for _, want := range []Draft{mine, old} {
		got, taken, ok := k.Left("/p")
		if !ok || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %v, want %+v", got, ok, want)
		}
		if err := taken(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, ok := k.Left("/p"); ok {
		t.Errorf("there is still %+v", got)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 3 { // of a process that lives, of another machine, of another folder
		t.Errorf("left: %v", left)
	}
	for _, f := range left {
		if i, err := os.Stat(f); err != nil || i.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, i.Mode(), err)
		}
	}
}

func TestDrop(t *testing.T) {
	dir := t.TempDir()
	k := In(dir, as(1, "here"))
	for range 2 {
		if err := k.Keep(Draft{Project: "/p", Time: now, Text: "x"}); err != nil {
			t.Fatal(err)
		}
		if err := k.Drop(); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Drop(); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if _, _, ok := In(dir, as(2, "here")).Left("/p"); ok {
		t.Error("it is still there")
	}
}

func TestLongDraftsAreBounded(t *testing.T) {
	dir := t.TempDir()
	if err := In(dir, as(1, "here")).Keep(Draft{Project: "/p", Time: now, Text: strings.Repeat("é", 3<<20), Pastes: []history.Paste{{Label: "l", Text: strings.Repeat("x", 5<<20)}}}); err != nil {
		t.Fatal(err)
	}
	d, _, ok := In(dir, as(2, "here")).Left("/p")
	if !ok || !strings.HasPrefix(d.Text, "éé") || d.Pastes != nil {
		t.Errorf("%d bytes, %d pastes, %v", len(d.Text), len(d.Pastes), ok)
	}
}
