package confedit

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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
