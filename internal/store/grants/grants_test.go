package grants_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/store/grants"
)

func rules(t *testing.T, s grants.Store, session, dir string) string {
	t.Helper()
	got, err := s.Get(session, dir)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(got, " ")
}

func add(t *testing.T, s grants.Store, session, dir string, rules ...string) {
	t.Helper()
	if err := s.Add(t.Context(), session, dir, rules); err != nil {
		t.Fatal(err)
	}
}

func TestGrantsAreOfOneSessionInOneFolder(t *testing.T) {
	s := grants.Store{Dir: filepath.Join(t.TempDir(), "grants"), Key: []byte("key")}
	if got := rules(t, s, "a", "/w"); got != "" {
		t.Error(got)
	}
	add(t, s, "a", "/w", "X", "Y")
	add(t, s, "a", "/w", "Y", "Z")
	for _, c := range []struct{ session, dir, want string }{{"a", "/w", "X Y Z"}, {"a", "/w/sub", ""}, {"b", "/w", ""}, {"../a", "/w", ""}} {
		if got := rules(t, s, c.session, c.dir); got != c.want {
			t.Errorf("%s in %s: %q", c.session, c.dir, got)
		}
	}
	if info, err := os.Stat(filepath.Join(s.Dir, "a.json")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for _, dir := range []string{"/w/sub", "/w"} { // in another folder it was granted nothing
		if err := s.Remove(t.Context(), "a", dir, []string{"Y", "not there"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Remove(t.Context(), "nobody", "/w", []string{"Y"}); err != nil {
		t.Error(err)
	}
	if got := rules(t, s, "a", "/w"); got != "X Z" {
		t.Errorf("after one was taken back: %q", got)
	}
	add(t, s, "a", "/other", "O")
	if got := rules(t, s, "a", "/w") + rules(t, s, "a", "/other"); got != "O" {
		t.Error(got)
	}
	s.Sweep(func(id string) bool { return id != "a" })
	if got := rules(t, s, "a", "/other"); got != "" {
		t.Error(got)
	}
	add(t, s, "c", "/w", "X")
	s.Forget("c")
	if got := rules(t, s, "c", "/w"); got != "" {
		t.Error(got)
	}
	if err := s.Add(t.Context(), "../../x", "/w", []string{"X"}); err == nil {
		t.Error("a name that leads elsewhere was taken")
	}
}

// What somebody else wrote, or moved from another session, grants nothing.
func TestGrantsOfOthersAreNone(t *testing.T) {
	s := grants.Store{Dir: t.TempDir(), Key: []byte("key")}
	add(t, s, "a", "/w", "X")
	path := filepath.Join(s.Dir, "a.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"another rule":   strings.Replace(string(good), `"X"`, `"Bash(*)"`, 1),
		"another folder": strings.Replace(string(good), `/w`, `/v`, 1),
		"no mark":        `{"version":1,"session":"a","dir":"/w","rules":["X"]}`,
		"no JSON":        "oops",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get("a", "/w"); !errors.Is(err, grants.ErrForeign) || got != nil {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "b.json"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get("b", "/w"); !errors.Is(err, grants.ErrForeign) || got != nil {
		t.Errorf("another session's: %v %v", got, err)
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := (grants.Store{Dir: s.Dir, Key: []byte("other")}).Get("a", "/w"); err == nil || got != nil {
		t.Errorf("with another key: %v %v", got, err)
	}
	if err := (grants.Store{Dir: s.Dir}).Add(t.Context(), "a", "/w", []string{"X"}); err == nil {
		t.Error("granted without a key")
	}
}

func TestGrantsOfManyAtOnce(t *testing.T) {
	s := grants.Store{Dir: t.TempDir(), Key: []byte("key")}
	var all sync.WaitGroup
	want := []string{"A", "B", "C", "D", "E", "F", "G", "H"}
	for _, r := range want {
		all.Go(func() {
			if err := s.Add(t.Context(), "a", "/w", []string{r}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := s.Get("a", "/w")
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
}
