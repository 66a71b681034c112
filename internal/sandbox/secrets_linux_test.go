package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// TestSecretsAreHidden: what a command that only handles files cannot read, and what is
// masked in the output of any other.
func TestSecretsAreHidden(t *testing.T) {
	need(t, "git")
	c := testConfig(t, "bwrap")
	w := c.Dir
	git(t, c, w, "init", "-q", "-b", "main")
	for name, text := range map[string]string{".env": "A=1\nA_KEY=secret-a1\nP_KEY=public-d4\n", "deep/er/.env.local": "B=2\nB_KEY=secret-b2\n", "kept.pem": "C\nC_KEY=secret-c3\n", ".env.example": "D\nP_KEY=public-d4\n", "a.txt": "E\n"} {
		put(t, filepath.Join(w, name), text)
	}
	git(t, c, w, "add", "-f", "kept.pem", "a.txt")
	if err := os.Symlink("deep/er/.env.local", filepath.Join(w, "other.env")); err != nil {
		t.Fatal(err)
	}
	s := open(t, c)
	const all = "cat .env deep/er/.env.local kept.pem other.env .env.example a.txt 2>&1 | grep -v 'denied\\|KEY' | tr -d '\\n'"
	for _, c := range []struct {
		name   string
		needs  policy.Needs
		out    string
		hidden []string
		masked []string
	}{
		{name: "no need", out: "A=1B=2CB=2DE"},
		{name: "all", needs: policy.Needs{Hide: policy.HideAll}, out: "DE", hidden: []string{".env", "deep/er/.env.local", "kept.pem"}, masked: []string{"secret-a1", "secret-b2", "secret-c3"}},
		{name: "what git does not track", needs: policy.Needs{Hide: policy.HideUntracked}, out: "CDE", hidden: []string{".env", "deep/er/.env.local"}, masked: []string{"secret-a1", "secret-b2", "secret-c3"}},
		{name: "all but one", needs: policy.Needs{Hide: policy.HideAll, Shown: []string{filepath.Join(w, ".env")}}, out: "A=1DE", hidden: []string{"deep/er/.env.local", "kept.pem"}, masked: []string{"secret-b2", "secret-c3"}},
		{name: "all but a folder", needs: policy.Needs{Hide: policy.HideAll, Shown: []string{filepath.Join(w, "deep")}}, out: "B=2B=2DE", hidden: []string{".env", "kept.pem"}, masked: []string{"secret-a1", "secret-c3"}},
		{name: "values", needs: policy.Needs{Hide: policy.HideValues}, out: "A=1B=2CB=2DE", masked: []string{"secret-a1", "secret-b2", "secret-c3"}},
	} {
		out, _, kept := shNeeds(t, s, all, c.needs)
		if out != c.out {
			t.Errorf("%s: %q, want %q", c.name, out, c.out)
		}
		short := func(list []string) (names []string) {
			for _, p := range list {
				rel, _ := filepath.Rel(w, p)
				names = append(names, rel)
			}
			slices.Sort(names)
			return slices.Compact(names)
		}
		if got := short(kept.Hidden); !slices.Equal(got, c.hidden) {
			t.Errorf("%s hides %v, want %v", c.name, got, c.hidden)
		}
		slices.Sort(kept.Masked)
		if got := slices.Compact(kept.Masked); !slices.Equal(got, c.masked) {
			t.Errorf("%s masks %v, want %v", c.name, got, c.masked)
		}
	}
	// What a command itself makes public, and what changed.
	put(t, filepath.Join(w, ".env.local.example"), "N_KEY=secret-n5\n")
	put(t, filepath.Join(w, ".env"), "N_KEY=secret-n5\n")
	_, _, kept := shNeeds(t, s, "true", policy.Needs{Hide: policy.HideValues})
	if !slices.Contains(kept.Masked, "secret-n5") || slices.Contains(kept.Masked, "secret-a1") {
		t.Errorf("it masks %v", kept.Masked)
	}
	if got := s.Secrets([]string{filepath.Join(w, ".env")}); !slices.Contains(got, "secret-b2") || slices.Contains(got, "secret-n5") {
		t.Errorf("other tools mask %v", got)
	}
	put(t, filepath.Join(w, ".env"), "A=1\n")
	// It can neither be renamed nor replaced, and is there again afterwards.
	out, _, _ := shNeeds(t, s, "mv .env x; mv deep x; rm -f .env; echo y > .env; ln kept.pem z; cat z", policy.Needs{Hide: policy.HideAll})
	if b, err := os.ReadFile(filepath.Join(w, ".env")); err != nil || !strings.HasPrefix(string(b), "A=1\n") || strings.Contains(out, "C\n") {
		t.Errorf("%q %v\n%s", b, err, out)
	}
}

// TestTwoZygotes: commands that may need secrets and commands that they are hidden from
// take turns without bubblewrap.
func TestTwoZygotes(t *testing.T) {
	c := testConfig(t, "bwrap")
	put(t, filepath.Join(c.Dir, ".env"), "A=1\n")
	s := open(t, c)
	hide := policy.Needs{Hide: policy.HideAll}
	for range 2 { // the first of a layout may be the last
		shNeeds(t, s, "true", policy.Needs{})
		shNeeds(t, s, "true", hide)
	}
	_, before := zygotePid(t, s)
	for range 3 {
		shNeeds(t, s, "true", policy.Needs{})
		shNeeds(t, s, "true", hide)
	}
	if _, after := zygotePid(t, s); after-before != 6 {
		t.Errorf("zygotes started %d of 6 commands", after-before)
	}
}
