package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/servers"
)

// What tools said is tidied when another server's is written, and one in use stays.
func TestPinsAreTidied(t *testing.T) {
	dir := t.TempDir()
	about := func(name string) *server {
		return &server{conf: servers.Server{Name: name}}
	}
	file := func(s *server) string { return filepath.Join(dir, newPins(dir).file(s, "/w")) }
	now := newPin("is", json.RawMessage(`{}`))
	used, unused := about("used"), about("unused")
	for _, s := range []*server{used, unused} {
		newPins(dir).keep(s, "/w", "t", now)
	}
	for _, s := range []*server{used, unused} {
		old := time.Now().Add(-unusedAfter - time.Hour)
		if err := os.Chtimes(file(s), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, changed := newPins(dir).changed(used, "/w", "t", newPin("is not", nil)); !changed {
		t.Fatal("it is not known any more")
	}
	newPins(dir).keep(about("other"), "/w", "t", now)
	if _, err := os.Stat(file(used)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file(unused)); err == nil {
		t.Error("what nobody used for a year stays")
	}
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".json")), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tidy(root, 5)
	if list, err := os.ReadDir(dir); err != nil || len(list) != 5 {
		t.Errorf("%v %v", list, err)
	}
}

// A file that could not be read again is not written: all of it would be forgotten.
func TestPinsAreBounded(t *testing.T) {
	dir, said := t.TempDir(), ""
	h := New(Config{})
	s := &server{hub: h, views: []*View{h.View(ViewConfig{Debug: func(_, line string) { said = line }})}, conf: servers.Server{Name: "a"}}
	newPins(dir).keep(s, "/w", "t", newPin("is", json.RawMessage(`{}`)))
	newPins(dir).keep(s, "/w", "u", newPin(strings.Repeat("x", maxPins), json.RawMessage(`{}`)))
	if _, changed := newPins(dir).changed(s, "/w", "t", newPin("is not", nil)); !changed || !strings.Contains(said, "more than 8.4 MB") {
		t.Errorf("%v %q", changed, said)
	}
}
