package hooks

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/ext/hook"
)

// What is watched is what matchers name, in the folder of the session, and what a
// hook asked for last; nothing is watched once the session ends.
func TestWatched(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "sub", "other")
	list, problems := hook.Parse("FileChanged", []byte(`{"matcher":".env|go.mod","hooks":[{"type":"command","command":"true"}]}`), hook.Place{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	g := New(Config{Dir: dir})
	files := func() []string {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.watch == nil {
			return nil
		}
		return g.watch.files
	}
	if g.look(nil); files() != nil {
		t.Errorf("without hooks: %q", files())
	}
	g.Use(hook.NewSet(list...))
	named := []string{filepath.Join(dir, ".env"), filepath.Join(dir, "go.mod")}
	if g.look(nil); !slices.Equal(files(), named) {
		t.Errorf("%q", files())
	}
	if g.look([]string{other + "/../other", other}); !slices.Equal(files(), append(named, other)) {
		t.Errorf("with a hook's own: %q", files())
	}
	was := g.watch
	if g.look([]string{other}); g.watch != was {
		t.Error("the same files are watched anew")
	}
	if g.look(nil); !slices.Equal(files(), named) {
		t.Errorf("after they were given back: %q", files())
	}
	g.unwatch()
	if g.look([]string{other}); files() != nil {
		t.Errorf("after the end: %q", files())
	}
	g.wg.Wait()
}
