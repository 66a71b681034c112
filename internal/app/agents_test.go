package app

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// What an agent cost when adze was killed, and its parent did not record any more, is
// counted at the next start, once.
func TestCostOfTheLost(t *testing.T) {
	dir, home := scratch(t)
	held, reached := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	m := newMock(t, func(last string) (string, []string) {
		switch {
		case strings.Contains(last, "Look around"):
			return "", []string{`{"name":"Glob","input":{"pattern":"*"}}`}
		case strings.Contains(last, "No files found"):
			close(reached)
			<-held
		case strings.Contains(last, "begin"):
			return "", []string{`{"name":"Agent","input":{"description":"look","prompt":"Look around."}}`}
		}
		return "Well.", nil
	})
	t.Cleanup(release) // before the mock's, which waits for its answers
	from := m.settings()
	from.Inline = strings.Replace(from.Inline, `"output":2000`, `"output":2000,"price":{"in":1,"out":1}`, 1)
	all, at, err := openAt(t, here(dir, home), from, Front{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := at.Start(t.Context(), Spec{})
	if err != nil {
		t.Fatal(err)
	}
	turn(t, r, "begin")
	<-reached
	spent := r.State().Helpers[event.ForAgent]
	if spent.Helped != 1 || spent.Cost == 0 {
		t.Fatalf("before: %+v", spent)
	}
	later := t.TempDir()
	for err := os.CopyFS(later, os.DirFS(home)); err != nil; err = os.CopyFS(later, os.DirFS(home)) {
		if !errors.Is(err, fs.ErrNotExist) { // a file that is written beside its place, and then moved there
			t.Fatal(err)
		}
		later = t.TempDir()
	}
	release()
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}

	logs, err := filepath.Glob(filepath.Join(later, ".adze", "projects", "*", r.ID, "log.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v %v", logs, err)
	}
	log, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	var kept [][]byte
	for line := range bytes.Lines(log) {
		if !bytes.Contains(line, []byte(`"type":"spent"`)) {
			kept = append(kept, line)
		}
	}
	if err := os.WriteFile(logs[0], bytes.Join(kept, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(lease.Path(filepath.Dir(logs[0]))); err != nil { // this process lives on
		t.Fatal(err)
	}
	for range 2 {
		all, at, err := openAt(t, here(dir, later), from, Front{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := at.Start(t.Context(), Spec{Log: sessions.Choice{Resume: r.ID}})
		if err != nil {
			t.Fatal(err, all.Close())
		}
		if now := again.State().Helpers[event.ForAgent]; now.Helped != 1 || now.Cost != spent.Cost || now.Usage != spent.Usage {
			t.Errorf("%+v, want %+v", now, spent)
		}
		if err := all.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
