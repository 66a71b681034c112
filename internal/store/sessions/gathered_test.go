package sessions_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
)

// A list is the same whether it is read from what was gathered or from the logs: after a
// session was written to, taken by a process, and removed. What is gone leaves nothing behind.
func TestGatheredListIsTheSame(t *testing.T) {
	f := setup(t)
	var ids []string
	for range 20 {
		ids = append(ids, f.session("k", "mend the parser", ""))
	}
	path := filepath.Join(f.Dir, "k", "sessions.json")
	list := func() []store.Info {
		t.Helper()
		var both [2][]store.Info
		for i := range both {
			out, err := f.List(t.Context(), "k")
			if err != nil {
				t.Fatal(err)
			}
			if both[i] = out; i == 0 { // and once more, when the file of the first one is gone
				kept, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(path)
				defer func() { _ = os.WriteFile(path, kept, 0o600) }()
			}
		}
		if d := cmp.Diff(both[1], both[0]); d != "" {
			t.Errorf("gathered (+) and read (-):\n%s", d)
		}
		return both[0]
	}
	list()
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	for _, i := range list() {
		if i.First != "mend the parser" || i.Running {
			t.Errorf("%+v", i)
		}
	}
	f.write("k", ids[3], 10, event.Titled{Title: "Another title"})
	f.lock("k", ids[4])
	for _, i := range list() {
		if (i.Title == "Another title") != (i.ID == ids[3]) || i.Running != (i.ID == ids[4]) {
			t.Errorf("%+v", i)
		}
	}
	if err := os.RemoveAll(f.folder("k", ids[5])); err != nil { // by hand
		t.Fatal(err)
	}
	if got := list(); len(got) != 19 {
		t.Errorf("%d sessions", len(got))
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), ids[5]) {
		t.Errorf("a removed session is still in the file: %v", err)
	}
	if i, err := f.Find(t.Context(), "k", ids[6]); err != nil {
		t.Error(err)
	} else if err := f.Remove(t.Context(), i); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("what was gathered of a removed session stays: %v", err)
	}
}
