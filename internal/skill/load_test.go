package skill

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func md(name string) string { return "---\nname: " + name + "\ndescription: d\n---\nbody\n" }

// load is the library of these places alone.
func load(places []Place) (Library, []Problem) {
	parts, bad := Read(places)
	return Join(parts...), bad
}

func names(l Library) (out []string) {
	for _, s := range l.Skills() {
		out = append(out, s.Name)
	}
	return out
}

// The nearest of one name counts, a skill before a command of the same folder, and
// what it hides is listed.
func TestNearerWins(t *testing.T) {
	dir := write(t, map[string]string{
		"home/.adze/skills/a/SKILL.md": md("a"), "home/.claude/skills/a/SKILL.md": md("a"), "home/.claude/commands/a.md": "x", "home/.agents/skills/b/SKILL.md": md("b"),
		"home/.gemini/commands/g.toml":   "prompt='x'",
		"repo/.claude/skills/a/SKILL.md": md("a"), "repo/sub/.adze/commands/a.md": "x", "repo/sub/.agents/skills/c/SKILL.md": md("c"), "repo/.claude/commands/d.md": "x",
		"repo/.claude/agents/x.md": "---\nname: x\ndescription: d\n---\n", "home/.claude/agents/y.md": "---\nname: x\ndescription: d\n---\n",
		"managed/.claude/skills/m/SKILL.md": md("m"), "managed/skills/a/SKILL.md": md("a"),
		"added/.claude/skills/e/SKILL.md": md("e"), "other/.claude/skills/f/SKILL.md": md("f"),
	})
	at := func(s string) string { return filepath.Join(dir, filepath.FromSlash(s)) }
	yes := func(string, []byte) bool { return true }
	g := Ground{Managed: []string{at("managed"), at("none")}, Config: at("home/.adze"), Home: at("home"), Root: at("repo"), Dir: at("repo/sub"), Trusted: yes,
		Added: []Added{{at("added"), yes}, {at("other"), nil}}}
	lib, bad := load(append(g.Places(Skills, Commands, Agents), Place{Dir: at("other/.claude/skills"), Kind: Skills, Plugin: "p", From: "the plugin p"}))
	if len(bad) > 0 {
		t.Error(bad)
	}
	if got := strings.Join(names(lib), " "); got != "a b c d e g m p:f" {
		t.Errorf("skills %s", got)
	}
	if a, _ := lib.Find("a"); a.File != at("managed/skills/a/SKILL.md") || a.Scope != "managed" {
		t.Errorf("the nearest a is %s", a.File)
	}
	var hidden []string
	for _, h := range lib.Hidden() {
		rel, err := filepath.Rel(dir, h.File)
		if err != nil || !strings.Contains(h.By, dir) {
			t.Errorf("%+v, %v", h, err)
		}
		hidden = append(hidden, string(h.Kind)+" "+filepath.ToSlash(rel))
	}
	slices.Sort(hidden)
	want := []string{"agent home/.claude/agents/y.md", "command home/.claude/commands/a.md", "command repo/sub/.adze/commands/a.md", "skill home/.adze/skills/a/SKILL.md", "skill home/.claude/skills/a/SKILL.md", "skill repo/.claude/skills/a/SKILL.md"}
	if !slices.Equal(hidden, want) {
		t.Errorf("hidden %q", hidden)
	}
	if f, _ := lib.Find("p:f"); f.From != "the plugin p" {
		t.Errorf("%+v", f)
	}

	// A repository that nobody trusts brings nothing.
	g.Trusted = nil
	lib, _ = load(g.Places(Skills, Commands, Agents))
	if got := strings.Join(names(lib), " "); got != "a b e g m" {
		t.Errorf("without trust: %s", got)
	}
	// In the home folder, its own are the person's.
	g.Root, g.Dir, g.Trusted = at("home"), at("home"), yes
	lib, _ = load(g.Places(Skills))
	if b, ok := lib.Find("b"); !ok || b.Scope != "user" {
		t.Errorf("%+v", b)
	}

	gone := lib.Without(map[string]string{"b": "adze"})
	if _, ok := gone.Find("b"); ok || len(gone.Hidden()) != len(lib.Hidden())+1 {
		t.Error("a name that is taken")
	}
	if _, ok := lib.Find("b"); !ok {
		t.Error("a library changed")
	}
}

// The content of each file is asked for, also when the skill is used.
func TestTrustOfContent(t *testing.T) {
	dir := write(t, map[string]string{"a/SKILL.md": md("a"), "b/SKILL.md": md("b")})
	agreed := []byte(md("a"))
	lib, bad := load([]Place{{Dir: dir, Kind: Skills, Trusted: func(_ string, text []byte) bool { return bytes.Equal(text, agreed) }}})
	if got := names(lib); !slices.Equal(got, []string{"a"}) || len(bad) != 1 || !strings.Contains(bad[0].String(), "nobody trusted this content") {
		t.Errorf("%v %v", got, bad)
	}
	a, _ := lib.Find("a")
	if body, err := a.Body(); body != "body" || err != nil {
		t.Errorf("%q %v", body, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "SKILL.md"), []byte(md("a")+"more"), 0o644); err != nil {
		t.Fatal(err)
	}
	if body, err := a.Body(); err == nil {
		t.Errorf("changed content was used: %q", body)
	}
}

// Links lead where the person's own folders are, not out of a repository, and
// what is no regular file neither blocks nor is read.
func TestLinks(t *testing.T) {
	dir := write(t, map[string]string{
		"home/dots/real/SKILL.md": md("real"), "home/.claude/x": "", "outside/SKILL.md": md("outside"), "home/dots/.env": "KEY=1",
		"repo/in/SKILL.md": md("in"), "repo/.claude/skills/plain/SKILL.md": md("plain"),
	})
	at := func(s string) string { return filepath.Join(dir, filepath.FromSlash(s)) }
	for link, to := range map[string]string{
		"home/.claude/skills": "../dots", "home/dots/away": at("outside"), "home/dots/gone": "nothing", "home/dots/loop": "loop",
		"repo/.claude/skills/in": "../../in", "repo/.claude/skills/away": at("outside"), "repo/.claude/skills/etc": "/etc",
	} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.MkdirAll(at("home/dots/secret"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../.env", at("home/dots/secret/SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at("home/dots/pipe"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfifo", at("home/dots/pipe/SKILL.md")).CombinedOutput(); err != nil {
		t.Skipf("%v %s", err, out)
	}
	g := Ground{Config: at("home/.adze"), Home: at("home"), Root: at("repo"), Dir: at("repo"), Trusted: func(string, []byte) bool { return true }}
	lib, bad := load(g.Places(Skills))
	if got := strings.Join(names(lib), " "); got != "in plain real" {
		t.Errorf("read %s", got)
	}
	said := ""
	for _, p := range bad {
		said += strings.TrimPrefix(p.String(), dir) + "\n"
	}
	for _, want := range []string{"/home/.claude/skills/away/SKILL.md: it is not read: a link leads out", "/home/.claude/skills/pipe/SKILL.md: it cannot be read: not a regular file",
		"/home/.claude/skills/secret/SKILL.md: it is not read: it may hold secrets", "/repo/.claude/skills/away/SKILL.md: it is not read: a link leads out"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %s in:\n%s", want, said)
		}
	}
	// A repository whose folder of skills is a link out of it.
	if err := os.RemoveAll(at("repo/.claude/skills")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("home/dots"), at("repo/.claude/skills")); err != nil {
		t.Fatal(err)
	}
	g.Home, g.Config = "", ""
	if lib, bad := load(g.Places(Skills)); len(lib.Skills()) > 0 || len(bad) == 0 {
		t.Errorf("%v %v", names(lib), bad)
	}
}

// A place with more than anybody can have meant is cut, and says so.
func TestBounds(t *testing.T) {
	files := map[string]string{"big/SKILL.md": md("big") + strings.Repeat("x", maxFile), "a/b/c/d/e/f/g/h/deep.md": "x"}
	for i := range MaxEntries + 10 {
		files[fmt.Sprintf("s%04d/SKILL.md", i)] = md(fmt.Sprintf("s%04d", i))
	}
	dir := write(t, files)
	lib, bad := load([]Place{{Dir: dir, Kind: Skills}, {Dir: filepath.Join(dir, "a"), Kind: Commands}})
	said := fmt.Sprint(bad)
	if n := len(lib.Skills()); n < MaxEntries-5 || n > MaxEntries {
		t.Errorf("%d skills", n)
	}
	for _, want := range []string{"more than 1,000 skills", "it is not read: it is over 1.0 MB", "6 deep"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %.500s", want, said)
		}
	}
}

// A single file can be a place, and a folder that is a skill itself.
func TestSinglePlaces(t *testing.T) {
	dir := write(t, map[string]string{"p/SKILL.md": md("p"), "c/one.md": "x"})
	lib, bad := load([]Place{{Dir: filepath.Join(dir, "p"), Kind: Skills, Plugin: "q"}, {Dir: filepath.Join(dir, "c", "one.md"), Kind: Commands, Plugin: "q"}, {Dir: filepath.Join(dir, "none"), Kind: Commands}})
	if got := strings.Join(names(lib), " "); got != "q:one q:p" || len(bad) > 0 {
		t.Errorf("%s %v", got, bad)
	}
}

// What stands before others counts, whatever it was read from.
func TestAgentsOfFlags(t *testing.T) {
	parts, _ := Read([]Place{{Dir: write(t, map[string]string{"x.md": "---\nname: x\ndescription: of a file\n---\n", "y.md": "---\nname: y\ndescription: d\n---\n"}), Kind: Agents}})
	list, _ := ParseAgents([]byte(`{"x":{"description":"of the flag","prompt":"p"}}`), "--agents")
	lib := Join(Part{Agents: list}, parts[0])
	if x, _ := lib.Agent("x"); x.Description != "of the flag" || len(lib.Agents()) != 2 || len(lib.Hidden()) != 1 || lib.Hidden()[0].By != "--agents" {
		t.Errorf("%+v %+v", lib.Agents(), lib.Hidden())
	}
}

func BenchmarkLoad50(b *testing.B) {
	dir := b.TempDir()
	for i := range 50 {
		at := filepath.Join(dir, fmt.Sprintf("skill-%d", i))
		text := fmt.Sprintf("---\nname: skill-%d\ndescription: Does the thing number %d, whenever somebody asks for it.\nallowed-tools: Read Bash(git log:*)\n---\n%s", i, i, strings.Repeat("A line of text.\n", 200))
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if l, bad := load([]Place{{Dir: dir, Kind: Skills}}); len(l.Skills()) != 50 || len(bad) > 0 {
			b.Fatal(bad)
		}
	}
}

// What changed between two readings are files of people's own, and a library that is
// held is used as it was read or not at all.
func TestHeld(t *testing.T) {
	dir := t.TempDir()
	places := []Place{{Dir: dir, Kind: Skills}, {Dir: filepath.Join(dir, "of"), Kind: Skills, Plugin: "p"}}
	read := func(words map[string]string) Part {
		t.Helper()
		for name, s := range words {
			file := filepath.Join(dir, name, "SKILL.md")
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("---\ndescription: d\n---\n"+s), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		parts, _ := Read(places)
		return parts[0].Then(parts[1])
	}
	part := read(map[string]string{"a": "one", "b": "one", "of/c": "one"})
	was, now := Join(part), Join(read(map[string]string{"a": "two", "d": "one", "of/c": "two"}))
	file := func(name string) string { return filepath.Join(dir, name, "SKILL.md") }
	if got, want := was.Changed(now), []string{file("a"), file("d")}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got, want := now.Changed(was), []string{file("a"), file("d")}; !slices.Equal(got, want) {
		t.Errorf("back: %q", got)
	}
	if got := now.Changed(now); got != nil {
		t.Errorf("nothing changed: %q", got)
	}
	for name, want := range map[string]string{"a": "", "b": "one"} {
		s, _ := Join(part.Held()).Find(name)
		if body, err := s.Body(); body != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
	if s, _ := was.Find("a"); s.held {
		t.Error("the part itself is held")
	}
}

// An output style of a plugin is found without the plugin's name where it is the only one.
func TestStyleOfPlugin(t *testing.T) {
	lib := Join(Part{Styles: []Style{{Thing: Thing{Name: "a:short"}}, {Thing: Thing{Name: "a:both"}}, {Thing: Thing{Name: "b:both"}}, {Thing: Thing{Name: "c:own"}}, {Thing: Thing{Name: "own"}}}})
	for name, want := range map[string]string{"Short": "a:short", "both": "", "b:both": "b:both", "own": "own", "none": ""} {
		if got, ok := lib.Style(name); got.Name != want || ok != (want != "") {
			t.Errorf("%s: %q", name, got.Name)
		}
	}
}

// What is not there answers for all below it, for one reading.
func TestFoldersThere(t *testing.T) {
	dir := t.TempDir()
	l := look{}
	if !l.there(dir) || l.there(filepath.Join(dir, "a")) {
		t.Fatal("what there is")
	}
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if l.there(filepath.Join(dir, "a", "b")) {
		t.Error("it looked again")
	}
	if !(look{}).there(filepath.Join(dir, "a", "b")) {
		t.Error("another reading does not look")
	}
}
