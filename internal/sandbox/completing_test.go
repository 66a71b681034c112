package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCompleting: the write that makes a folder a repository needs a person when
// what the folder holds then steers git, in whatever order its parts come.
func TestCompleting(t *testing.T) {
	for name, c := range map[string]struct {
		files, dirs []string
		config      string
		want        []string
	}{
		"HEAD last":          {nil, []string{"objects", "refs"}, "[core]\n\tfsmonitor = x\n", []string{"HEAD"}},
		"nothing but config": {nil, nil, "[core]\n\tfsmonitor = x\n", []string{"HEAD"}},
		"refs last":          {[]string{"HEAD"}, []string{"objects"}, "[core]\n\tfsmonitor = x\n", []string{"refs"}},
		"objects, refs last": {[]string{"HEAD"}, nil, "[core]\n\tfsmonitor = x\n", []string{"objects", "refs"}},
		"commondir":          {[]string{"commondir"}, nil, "", []string{"HEAD"}},
		"a hook":             {[]string{"HEAD", "hooks/pre-commit"}, nil, "", []string{"objects", "refs"}},
		"harmless":           {[]string{"HEAD"}, nil, "[core]\n\tbare = true\n", nil},
		"no repository":      {[]string{"hooks/useX.ts"}, []string{"refs"}, "", []string{"HEAD"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "s")
			for _, f := range c.files {
				put(t, filepath.Join(dir, f), "x")
			}
			for _, d := range c.dirs {
				if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if c.config != "" {
				put(t, filepath.Join(dir, "config"), c.config)
			}
			var got []string
			for _, s := range NewSteering(root, nil, "/home/x").Look() {
				if slices.Contains([]string{"HEAD", "objects", "refs"}, filepath.Base(s.Path)) {
					got = append(got, filepath.Base(s.Path))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
