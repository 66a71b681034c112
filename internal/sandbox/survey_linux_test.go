package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/adze-agent/adze/internal/disk/watch"
)

// A survey that the system tells of changes sees what one sees that looks at everything,
// whatever is made, moved, exchanged and removed, and in whichever order it looks.
func TestSurveyThatIsTold(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 7))
			top := real(t.TempDir())
			root, away := filepath.Join(top, "root"), filepath.Join(top, "away")
			for _, d := range []string{root, away} {
				if err := os.Mkdir(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			names := watch.WatchNames(1000, func(string) bool { return false })
			defer names.Close()
			v := newSurvey([]string{root}, nil, "")
			v.names = names
			folder := func() string {
				at := root
				for range random.IntN(4) {
					at = filepath.Join(at, string(rune('a'+random.IntN(3))))
				}
				return at
			}
			for step := range 150 {
				a, b := folder(), folder()
				out := filepath.Join(away, string(rune('x'+random.IntN(2))))
				// What cannot be done in the tree as it is, is not done.
				switch random.IntN(9) {
				case 0, 1, 2:
					_ = os.MkdirAll(a, 0o755)
				case 3:
					_ = os.WriteFile(filepath.Join(a, []string{".env", "x.pem", ".envrc", "plain"}[random.IntN(4)]), []byte("x"), 0o644)
				case 4:
					_ = os.MkdirAll(filepath.Join(a, []string{".vscode", ".git", "node_modules/m/.git"}[random.IntN(3)]), 0o755)
				case 5:
					if a != root {
						_ = os.Rename(a, b)
					}
				case 6:
					if a != root {
						_ = os.RemoveAll(a)
					}
				case 7:
					if a != root {
						_ = os.RemoveAll(out)
						_ = os.Rename(a, out)
					}
				case 8:
					_ = os.Rename(out, a)
				}
				if random.IntN(3) == 0 {
					continue // several happen between two looks
				}
				fresh := newSurvey([]string{root}, nil, "")
				got, want := v.look(), fresh.look()
				if d := cmp.Diff(sorted(want), sorted(got), cmp.AllowUnexported(sight{}), cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("step %d: near: %s", step, d)
				}
				if d := cmp.Diff(sorted(fresh.all(want)), sorted(v.all(got)), cmp.AllowUnexported(sight{}), cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("step %d: far: %s", step, d)
				}
			}
		})
	}
}

func sorted(s sight) sight {
	for _, l := range [][]string{s.named, s.dots, s.kin, s.gits, s.odd, s.hide, s.fix, s.keys, s.half} {
		slices.Sort(l)
	}
	return s
}

// A folder in which nothing happened is not looked at again.
func TestSurveyLooksWhereSomethingHappened(t *testing.T) {
	root := real(t.TempDir())
	put(t, filepath.Join(root, "a/b/plain"), "")
	put(t, filepath.Join(root, "c/plain"), "")
	names := watch.WatchNames(100, func(string) bool { return false })
	defer names.Close()
	v := newSurvey([]string{root}, nil, "")
	v.names = names
	v.look()
	b := v.dirs[filepath.Join(root, "a/b")]
	if !b.told {
		t.Skip("this system does not tell of folders")
	}
	b.keys = []string{"as it was known"}
	put(t, filepath.Join(root, "c/.env"), "A=b")
	if s := v.look(); !slices.Contains(s.keys, "as it was known") || !slices.Contains(s.keys, filepath.Join(root, "c/.env")) {
		t.Errorf("keys %v", s.keys)
	}
	put(t, filepath.Join(root, "a/b/new"), "")
	if s := v.look(); slices.Contains(s.keys, "as it was known") {
		t.Error("a folder with a new name was not looked at")
	}
}
