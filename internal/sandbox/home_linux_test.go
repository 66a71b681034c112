package sandbox

import (
	"path/filepath"
	"slices"
	"testing"
)

// With the workspace at home, what runs at the start of a program does not stay, also of
// a program that no list knows; a history does.
func TestStartFilesAtHome(t *testing.T) {
	c := testConfig(t, "bwrap")
	c.Dir = c.Home
	s := open(t, c)
	starts := []string{".gradle/init.gradle", ".gradle/init.gradle.kts", ".gradle/init.d", ".toolrc", ".tool_profile", ".tool/init.lua", ".config/tool/init.lua", ".config/tool/conf.d"}
	if out, code := sh(t, s, "mkdir -p .gradle/init.d .gradle/caches .tool .config/tool/conf.d && echo x | tee .gradle/init.d/x.gradle .gradle/caches/x .tool_history .tool/data .config/tool/conf.d/x "+
		".gradle/init.gradle .gradle/init.gradle.kts .toolrc .tool_profile .tool/init.lua .config/tool/init.lua"); code != 0 {
		t.Fatal(out)
	}
	var found []string
	for _, f := range s.Found() {
		rel, err := filepath.Rel(c.Home, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, rel)
	}
	slices.Sort(starts)
	slices.Sort(found)
	if !slices.Equal(found, starts) {
		t.Errorf("taken away: %q, not %q", found, starts)
	}
	for _, path := range starts {
		if exists(filepath.Join(c.Home, path)) {
			t.Errorf("%s stays", path)
		}
	}
	for _, path := range []string{".tool_history", ".tool/data", ".gradle/caches/x"} {
		if !exists(filepath.Join(c.Home, path)) {
			t.Errorf("%s is gone", path)
		}
	}
}
