package hooks

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/hook"
)

// What is watched is what matchers name, in the folder that commands run in, and what a
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
	g.moved(filepath.Dir(other))
	if want := []string{filepath.Join(dir, "sub", ".env"), filepath.Join(dir, "sub", "go.mod")}; !slices.Equal(files(), want) {
		t.Errorf("in another folder: %q", files())
	}
	g.moved(dir)
	g.life = t.Context() // as Attach would
	if g.Use(hook.NewSet()); files() != nil {
		t.Errorf("once no hook wants any: %q", files())
	}
	if back := g.lendAll(list); !slices.Equal(files(), named) {
		t.Errorf("with a skill's: %q", files())
	} else if back(); files() != nil {
		t.Errorf("without it: %q", files())
	}
	g.Use(hook.NewSet(list...))
	if !slices.Equal(files(), named) {
		t.Errorf("after a change of the settings: %q", files())
	}
	g.unwatch()
	if g.look([]string{other}); files() != nil {
		t.Errorf("after the end: %q", files())
	}
	g.wg.Wait()
}
