package shellread_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// fixture is the world of testdata/shell_cases.tsv: what its README and
// fixture script build below /home/u, as data.
type fixture struct {
	folders, files map[string]bool
	crowded        string // where patterns match too much to be listed
	links          map[string]string
	ignores        string // a base name that git ignores
}

func newFixture() fixture {
	f := fixture{folders: map[string]bool{"/": true}, files: map[string]bool{}, links: map[string]string{}}
	for _, d := range strings.Fields("src sub bin links .claude .vscode scripts pkg .git .git/hooks embedded embedded/hooks") {
		f.mkdir("/home/u/project/" + d)
	}
	for _, d := range []string{"/home/u/project-evil", "/home/u/.ssh", "/home/u/fb", "/etc", "/usr/bin", "/proc/self", "/dev"} {
		f.mkdir(d)
	}
	for _, n := range strings.Fields("main.go go.mod README.md data.txt data.json names.txt junk.txt .env prog.sed prog.awk data.gz big.txt hex.txt magic evil.mk rgrc evil.1 evil.sh Evil.pm json.py go a.tar src/a.go src/b.go bin/ls bin/git bin/go bin/git-evilcmd scripts/check.sh .git/HEAD .git/config embedded/HEAD embedded/config") {
		f.files["/home/u/project/"+n] = true
	}
	for _, n := range strings.Fields("/home/u/secret /home/u/project-evil/secret /home/u/.ssh/id_rsa /home/u/.bashrc /etc/passwd /etc/shadow /usr/bin/touch") {
		f.files[n] = true
	}
	f.links["/home/u/project/links/out"] = "/etc"
	f.links["/home/u/project/links/passwd"] = "/etc/passwd"
	f.links["/home/u/project/links/in"] = "../main.go"
	f.links["/home/u/project/links/o.go"] = "/etc/o.go"
	f.links["/home/u/project/links/sh"] = "/bin/bash"
	f.links["/home/u/project/links/env"] = "/usr/bin/env"
	f.links["/home/u/project/links/exe"] = "/proc/self/exe"
	return f
}

func (f fixture) mkdir(d string) {
	for ; d != "/"; d = path.Dir(d) {
		f.folders[d] = true
	}
}

func (f fixture) real(p string) (string, error) {
	at, rest := "/", strings.Split(p, "/")
	for i := 0; len(rest) > 0 && i < 200; i++ {
		n := rest[0]
		rest = rest[1:]
		switch n {
		case "", ".":
		case "..":
			at = path.Dir(at)
		default:
			next := path.Join(at, n)
			if to, ok := f.links[next]; ok {
				if path.IsAbs(to) {
					at = "/"
				}
				rest = append(strings.Split(to, "/"), rest...)
				continue
			}
			at = next
		}
	}
	return at, nil
}

func (f fixture) glob(pattern string) []string {
	out := []string{}
	if strings.Contains(pattern, "[[:") || f.crowded != "" && strings.HasPrefix(pattern, f.crowded) && strings.ContainsAny(strings.ReplaceAll(pattern, `\*`, ""), "*?[") {
		return nil // as the world does that is there
	}
	if dir, ok := strings.CutSuffix(pattern, "/."); ok {
		real, _ := f.real(strings.ReplaceAll(dir, `\`, ""))
		if f.folders[real] {
			out = append(out, real)
		}
		return out
	}
	for _, set := range []map[string]bool{f.folders, f.files} {
		for p := range set {
			f.match(pattern, p, &out)
		}
	}
	for p := range f.links {
		f.match(pattern, p, &out)
	}
	return out
}

func (f fixture) match(pattern, p string, out *[]string) {
	if ok, _ := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), p); !ok {
		return
	}
	ps, ss := strings.Split(pattern, "/"), strings.Split(p, "/")
	for i := range ss {
		if strings.HasPrefix(ss[i], ".") && !strings.HasPrefix(ps[i], ".") {
			return
		}
	}
	*out = append(*out, p)
}

func (f fixture) git(dir string) (bool, string) {
	if policy.Within("/home/u/project/embedded", dir, false) {
		return false, "a bare repository"
	}
	return policy.Within("/home/u/project", dir, false), "not the project"
}

func (f fixture) tree(dir string, most int) (l world.Listing, ok bool) {
	for i, set := range []map[string]bool{f.folders, f.files} {
		for p := range set {
			if rel, below := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); below && rel != "" {
				l.Entries = append(l.Entries, world.Entry{Name: rel, Dir: i == 0})
			}
		}
	}
	for p := range f.links {
		if rel, below := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); below {
			l.Entries = append(l.Entries, world.Entry{Name: rel, Link: true})
		}
	}
	return l, len(l.Entries) <= most
}

// searched is tree without folders called ignored.
func (f fixture) searched(dir string, most int) (l world.Listing, ok bool) {
	all, ok := f.tree(dir, most)
	l.Unhides = all.Unhides
	for _, e := range all.Entries {
		if path.Base(e.Name) != f.ignores && !strings.HasPrefix(e.Name, "ignored/") && !strings.Contains(e.Name, "/ignored/") {
			l.Entries = append(l.Entries, e)
		}
	}
	return l, ok
}

// tracked is everything but .env.
func (f fixture) tracked(dir string, most int) (files []string, ok bool) {
	for p := range f.files {
		if strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/") && path.Base(p) != ".env" {
			files = append(files, p)
		}
	}
	return files, len(files) <= most
}

func (f fixture) world() world.World {
	return world.World{Dir: "/home/u/project", Home: "/home/u", Real: f.real, Glob: f.glob, Git: f.git, GitUnpinned: f.git, Tree: f.tree, Searched: f.searched, Tracked: f.tracked, Packed: packed}
}

// packed has archives of the fixture by their base names.
func packed(file string, zipped bool) ([]string, bool) {
	names, ok := map[string][]string{
		"a.tar": {"lib/", "lib/x.go"}, "evil.tar": {"x", ".git/hooks/pre-commit"}, "rc.tgz": {"p/.envrc"}, "up.tar": {"../x"},
		"a.zip": {"lib/x.go"}, "evil.zip": {".vscode/tasks.json"},
	}[path.Base(file)]
	return names, ok && zipped == strings.HasSuffix(file, ".zip")
}

// decide judges one command in the fixture with rules as the TSV writes them.
func decide(t testing.TB, f fixture, command string, mode policy.Mode, rules ...string) policy.Verdict {
	t.Helper()
	return decideIn(t, f.world(), command, mode, rules...)
}

// decideIn is decide in another world.
func decideIn(t testing.TB, w world.World, command string, mode policy.Mode, rules ...string) policy.Verdict {
	t.Helper()
	r := policy.Rules{Dir: "/home/u/project", Dirs: []string{"/home/u/project"}, Home: "/home/u"}
	for _, text := range rules {
		effect := policy.Allow
		if s, ok := strings.CutPrefix(text, "deny:"); ok {
			text, effect = s, policy.Deny
		}
		rule, err := policy.ParseRule(text, effect, policy.CLI, "test", "/home/u/project")
		if err != nil {
			t.Fatal(err)
		}
		r.List = append(r.List, rule)
	}
	return policy.Decide(r, mode, policy.Request{Tool: "Bash", Actions: shellread.Read(command, w).Actions})
}

// TestShellCases holds the whole corpus against us and counts by tier: no
// question may be answered with allow, and few allowed commands may be asked.
func TestShellCases(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "shell_cases.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture()
	type count struct{ rows, missed int }
	tiers := map[string]*count{}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
		col := strings.Split(line, "\t")
		id, command, want := col[0], untsv(col[1]), col[3]
		var rules []string
		if col[2] != "" {
			rules = strings.Split(untsv(col[2]), " ;; ")
		}
		var v policy.Verdict
		if d := quickest(func() { v = decide(t, f, command, policy.Default, rules...) }, 100*time.Millisecond); d > 100*time.Millisecond {
			t.Errorf("%s took %v", id, d)
		}
		got := v.Effect.String()
		tier := id[:strings.LastIndexByte(id, '-')] + "/" + want
		if tiers[tier] == nil {
			tiers[tier] = &count{}
		}
		tiers[tier].rows++
		if got == want {
			continue
		}
		tiers[tier].missed++
		t.Errorf("%s: got %s (%s: %s), want %s\n\t%s\n\trules %q; %s", id, got, v.Check, v.Reason, want, command, rules, col[4])
	}
	for tier, c := range tiers {
		t.Logf("%-12s %3d rows, %d differ", tier, c.rows, c.missed)
	}
}

// untsv decodes the escapes of the corpus.
func untsv(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		n := 0
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case '\\':
			b.WriteByte('\\')
		case 'u':
			n = 4
		case 'U':
			n = 8
		}
		if n > 0 {
			var c rune
			for _, h := range s[i+1 : i+1+n] {
				c = c<<4 | rune(strings.IndexRune("0123456789abcdef", h|0x20))
			}
			b.WriteRune(c)
			i += n
		}
	}
	return b.String()
}
