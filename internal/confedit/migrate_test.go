package confedit

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestMigrate(t *testing.T) {
	dir := t.TempDir()
	file, backups := filepath.Join(dir, "settings.json"), filepath.Join(dir, "backups")
	edit := func(e ...Edit) func([]byte) ([]byte, error) {
		return func(text []byte) ([]byte, error) { return Apply(text, e...) }
	}
	list := []Migration{
		{1, "one", edit(Edit{Set, "model", json.RawMessage(`"one"`)})},
		{2, "two", edit(Edit{Op: Unset, Key: "old"}, Edit{Set, "profile", json.RawMessage(`"full"`)})},
	}
	run := func(done int, list []Migration) (int, string, error) {
		n, err := (Editor{}).Migrate(t.Context(), Target{Path: file}, backups, done, list)
		b, _ := os.ReadFile(file)
		return n, string(b), err
	}
	if n, b, err := run(0, list); n != 2 || b != "" || err != nil {
		t.Errorf("no file: %d %q %v", n, b, err)
	}
	const old = "{\n  // mine\n  \"old\": 1,\n  \"model\": \"zero\"\n}\n"
	write(t, file, old)
	bad := errors.New("no")
	if n, b, err := run(0, append(list, Migration{3, "three", func([]byte) ([]byte, error) { return nil, bad }})); n != 0 || b != old || !errors.Is(err, bad) {
		t.Errorf("failed: %d %q %v", n, b, err)
	}
	const want = "{\n  // mine\n  \"model\": \"one\",\n  \"profile\": \"full\"\n}\n"
	for _, done := range []int{0, 2, 0} { // again, and again from the start
		if n, b, err := run(done, list); n != 2 || b != want || err != nil {
			t.Errorf("from %d: %d %q %v", done, n, b, err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(backups, "settings.json.before-1")); string(b) != old {
		t.Errorf("backup: %q", b)
	}
	write(t, file, "{ oops")
	if n, b, err := run(0, list); n != 0 || b != "{ oops" || err == nil {
		t.Errorf("broken: %d %q %v", n, b, err)
	}
}

// A migration may be run by several processes at once, and by one that was
// killed before it could note that it was done.
func TestMigrateByMany(t *testing.T) {
	dir := t.TempDir()
	file, backups := filepath.Join(dir, "settings.json"), filepath.Join(dir, "backups")
	const old = "{\n  \"tools\": {\"disallowed\": [\"A\"]} // mine\n}\n"
	write(t, file, old)
	list := []Migration{{1, "one more", func(text []byte) ([]byte, error) {
		return Apply(text, Edit{Add, "tools.disallowed", json.RawMessage(`"B"`)})
	}}}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if n, err := (Editor{}).Migrate(t.Context(), Target{Path: file}, backups, 0, list); n != 1 || err != nil {
				t.Errorf("%d %v", n, err)
			}
		})
	}
	all.Wait()
	if b, err := os.ReadFile(file); strings.Count(string(b), `"B"`) != 1 || !strings.Contains(string(b), "// mine") || err != nil {
		t.Errorf("%s %v", b, err)
	}
	if b, _ := os.ReadFile(filepath.Join(backups, "settings.json.before-1")); string(b) != old {
		t.Errorf("backup: %q", b)
	}
}

func TestMigrationsHaveNoGaps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	write(t, file, "{}")
	same := func(text []byte) ([]byte, error) { return text, nil }
	for _, list := range [][]Migration{{{2, "two", same}}, {{1, "one", same}, {1, "one", same}}, {{1, "one", same}, {3, "three", same}}} {
		if n, err := (Editor{}).Migrate(t.Context(), Target{Path: file}, t.TempDir(), 0, list); n != 0 || err == nil {
			t.Errorf("%v: %d %v", list, n, err)
		}
	}
}
