package draft

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
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

// Of several drafts, that for the session which is open comes first, also when it is not the
// newest.
func TestOwnDraftFirst(t *testing.T) {
	dir := t.TempDir()
	for pid, d := range map[int]Draft{
		1: {Project: "/p", Session: "a", Time: now.Add(-2 * time.Hour), Text: "older of a"}, 2: {Project: "/p", Session: "a", Time: now.Add(-time.Hour), Text: "of a"},
		3: {Project: "/p", Session: "b", Time: now, Text: "of b"}, 4: {Project: "/q", Session: "c", Time: now, Text: "of another folder"},
	} {
		if err := In(dir, as(pid, "here")).Keep(d); err != nil {
			t.Fatal(err)
		}
	}
	for session, want := range map[string]string{"a": "of a", "b": "of b", "c": "of b", "": "of b"} {
		if d, _, _ := In(dir, as(9, "here")).Left("/p", session); d.Text != want {
			t.Errorf("for %q: %q, not %q", session, d.Text, want)
		}
	}
}

func TestWhatAKilledProcessLeaves(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "drafts")
	keep := func(pid int, host string, d Draft) {
		t.Helper()
		if err := In(dir, as(pid, host)).Keep(d); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, ok := In(dir, as(9, "here")).Left("/p", ""); ok {
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
		got, taken, ok := k.Left("/p", "")
		if !ok || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %v, want %+v", got, ok, want)
		}
		if err := taken(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, ok := k.Left("/p", ""); ok {
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
	if _, _, ok := In(dir, as(2, "here")).Left("/p", ""); ok {
		t.Error("it is still there")
	}
}

func TestLongDraftsAreBounded(t *testing.T) {
	dir := t.TempDir()
	if err := In(dir, as(1, "here")).Keep(Draft{Project: "/p", Time: now, Text: strings.Repeat("é", 3<<20), Pastes: []history.Paste{{Label: "l", Text: strings.Repeat("x", 5<<20)}}}); err != nil {
		t.Fatal(err)
	}
	d, _, ok := In(dir, as(2, "here")).Left("/p", "")
	if !ok || !strings.HasPrefix(d.Text, "éé") || d.Pastes != nil {
		t.Errorf("%d bytes, %d pastes, %v", len(d.Text), len(d.Pastes), ok)
	}
}

// Images are written once, each in a file of its own, and go with their draft.
func TestImages(t *testing.T) {
	dir := t.TempDir()
	images := func() (n int) {
		found, _ := filepath.Glob(filepath.Join(dir, "*"+imageEnding))
		for _, f := range found {
			if i, err := os.Stat(f); err != nil || i.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v", f, err)
			}
		}
		return len(found)
	}
	k := In(dir, as(1, "here"))
	d := Draft{Project: "/p", Time: now, Text: "see [Image 1]", Images: []Image{{Name: "a.png", Media: "image/png", Data: []byte("one")}, {Media: "image/gif", Data: []byte("two")}}}
	for range 2 {
		if err := k.Keep(d); err != nil || images() != 2 || d.Images[0].File != "" {
			t.Fatalf("%v, %d images", err, images())
		}
	}
	d.Images = append(d.Images[:1:1], Image{Media: "image/png", Data: make([]byte, maxImages)})
	if err := k.Keep(d); err != nil || images() != 1 { // the second would be too much
		t.Fatalf("%v, %d images", err, images())
	}
	other := In(dir, as(12, "here", 1))
	if err := other.Keep(Draft{Project: "/q", Time: now, Images: []Image{{Data: []byte("one")}}}); err != nil || images() != 2 {
		t.Fatalf("%v, %d images", err, images())
	}
	got, taken, ok := In(dir, as(9, "here")).Left("/p", "")
	if !ok || len(got.Images) != 1 || got.Images[0].Name != "a.png" || got.Images[0].Media != "image/png" || string(got.Images[0].Data) != "one" {
		t.Fatalf("%+v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, got.Images[0].File), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := In(dir, as(9, "here")).Left("/p", ""); len(got.Images) != 0 {
		t.Errorf("taken for the image that was kept: %+v", got)
	}
	if err := taken(); err != nil || images() != 1 {
		t.Errorf("%v, %d images", err, images())
	}
	if err := other.Drop(); err != nil || images() != 0 {
		t.Errorf("%v, %d images", err, images())
	}
}
