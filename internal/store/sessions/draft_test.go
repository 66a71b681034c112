package sessions_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/sessions"
)

const draftID = "0199c5a2-7d3e-7b11-8f00-2a6c1d9e4b57"

func drafts(dir string) sessions.Store {
	return sessions.Store{Dir: dir, Now: time.Now, Rand: strings.NewReader(strings.Repeat("x", 100))}
}

// begun is a draft with events that come to more than what waits in memory.
func begun(t *testing.T, st sessions.Store) (d *sessions.Draft, whole string) {
	t.Helper()
	d, err := st.Draft("p", draftID)
	if err != nil {
		t.Fatal(err)
	}
	if whole, err = d.Spill("all of it"); err != nil {
		t.Fatal(err)
	}
	for n := range 30 {
		var b event.Body = event.InputQueued{ID: "q", Text: strings.Repeat("x", 100_000)}
		if n == 0 {
			b = event.SessionStarted{ID: draftID, Schema: event.Schema}
		}
		if err := d.Append(t.Context(), event.Event{Seq: event.Seq(n + 1), Time: time.Unix(1, 0).UTC(), Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	return d, whole
}

func list(t *testing.T, st sessions.Store) (ids []string) {
	t.Helper()
	all, err := st.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		ids = append(ids, i.ID)
	}
	return ids
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		out = append(out, e.Name())
	}
	return out
}

func TestADraftIsFoundWhenItIsDone(t *testing.T) {
	st := drafts(t.TempDir())
	d, whole := begun(t, st)
	if ids := list(t, st); ids != nil || st.Has(draftID) {
		t.Errorf("before it is done there are %q, %v", ids, st.Has(draftID))
	}
	if _, err := st.Draft("p", draftID); !errors.Is(err, store.ErrRunning) {
		t.Errorf("a second one: %v", err)
	}
	if err := st.Sweep(t.Context()); err != nil || len(names(t, filepath.Join(st.Dir, "p"))) != 1 {
		t.Errorf("swept away while it is made: %v", err)
	}
	if err := d.Done(); err != nil {
		t.Fatal(err)
	}
	if ids := list(t, st); len(ids) != 1 || ids[0] != draftID {
		t.Errorf("there are %q", ids)
	}
	if text, err := os.ReadFile(whole); err != nil || string(text) != "all of it" {
		t.Errorf("the whole result is %q, %v", text, err)
	}
	n := 0
	for _, err := range st.Read(t.Context(), store.Info{Key: "p", ID: draftID}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 30 {
		t.Errorf("%d events", n)
	}
	if _, err := st.Draft("p", draftID); !errors.Is(err, store.ErrExists) {
		t.Errorf("one more: %v", err)
	}
	if got := names(t, filepath.Join(st.Dir, "p")); len(got) != 1 {
		t.Errorf("left are %q", got)
	}
}

func TestADraftIsDiscarded(t *testing.T) {
	st := drafts(t.TempDir())
	d, _ := begun(t, st)
	if err := d.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, filepath.Join(st.Dir, "p")); len(got) != 0 {
		t.Errorf("left are %q", got)
	}
}

// TestADraftOfAKilledProcess kills a process that makes a draft, which it does
// by running itself.
func TestADraftOfAKilledProcess(t *testing.T) {
	const env = "ADZE_TEST_DRAFT"
	if dir := os.Getenv(env); dir != "" {
		begun(t, drafts(dir))
		fmt.Println("\nbegun")
		select {}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	st := drafts(t.TempDir())
	cmd := exec.Command(exe, "-test.run=^TestADraftOfAKilledProcess$")
	cmd.Env = append(os.Environ(), env+"="+st.Dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for buf := make([]byte, 1000); !strings.Contains(said, "begun"); {
		n, err := out.Read(buf)
		if said += string(buf[:n]); err != nil {
			t.Errorf("%v: %s", err, said)
			break
		}
	}
	_, _ = cmd.Process.Kill(), cmd.Wait()
	if got := names(t, filepath.Join(st.Dir, "p")); len(got) != 1 || st.Has(draftID) || list(t, st) != nil {
		t.Fatalf("it left %q, %q", got, list(t, st))
	}
	if err := st.Sweep(t.Context()); err != nil || len(names(t, filepath.Join(st.Dir, "p"))) != 0 {
		t.Errorf("left are %q: %v", names(t, filepath.Join(st.Dir, "p")), err)
	}
	d, _ := begun(t, st)
	if err := d.Done(); err != nil || !st.Has(draftID) {
		t.Errorf("the next one: %v", err)
	}
}
