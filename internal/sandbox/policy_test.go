package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/text/paths"
)

func TestNewPolicy(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) string { return filepath.Join(root, p) }
	for _, d := range []string{"home/.ssh", "home/.adze", "w/p/sub", "w/extra"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"w/p/.claude/x", "w/p/.mcp.json", "w/extra/.vscode/x", "w/p/Makefile", "w/p/.bashrc", "home/.bashrc", "w/p/.git/HEAD", "w/p/.git/config"} {
		put(t, at(f), "")
	}
	c := Config{
		Dir: at("w/p"), Roots: []string{at("w/p/sub"), at("w/extra")}, Home: at("home"), State: []string{at("home/.adze")}, Secrets: []string{at("w/p/kube.yaml"), at("home/gpg")}, Temp: at("tmp"),
		Settings: config.Sandbox{
			Network:    config.SandboxNetwork{AllowedDomains: []string{}},
			Filesystem: config.SandboxFilesystem{AllowWrite: []string{"~/out/**", "//" + at("abs")[1:], "rel", "/"}, DenyRead: []string{"~/docs"}, AllowRead: []string{"~/.ssh", "~/gpg"}, DenyWrite: []string{"Makefile"}},
		},
	}
	p := NewPolicy(c)
	if want := []string{at("abs"), at("home/out"), at("tmp"), at("w/extra"), at("w/p")}; !slices.Equal(p.Writable, want) {
		t.Errorf("writable %v, want %v", p.Writable, want)
	}
	for _, x := range []string{"w/p/.claude/x", "w/p/.mcp.json", "w/extra/.vscode", "w/p/Makefile"} {
		if !slices.Contains(p.Protected, at(x)) {
			t.Errorf("%s is not protected", x)
		}
	}
	if slices.Contains(p.Protected, at("w/p/.bashrc")) {
		t.Error("a shell start file matters in a home folder only")
	}
	if !slices.Contains(p.Git, at("w/p/.git")) {
		t.Errorf("git %v", p.Git)
	}
	if slices.Contains(p.Hidden, at("home/.ssh")) || !slices.Contains(p.Hidden, at("home/.adze")) || !slices.Contains(p.Hidden, at("home/docs")) || !slices.Contains(p.Hidden, at("home/.aws")) {
		t.Errorf("hidden %v", p.Hidden)
	}
	if slices.Contains(p.Hidden, at("home/gpg")) || !slices.Contains(p.Hidden, at("w/p/kube.yaml")) {
		t.Errorf("of what variables name are hidden %v", p.Hidden)
	}
	if !p.Network.Off() {
		t.Error("[] lets something out")
	}
	put(t, at("home/.local/bin/x"), "")
	home := NewPolicy(Config{Dir: at("home"), Home: at("home"), Temp: at("tmp")})
	if !slices.Contains(home.Protected, at("home/.local/bin")) || !slices.Contains(NewPolicy(Config{Dir: at(""), Home: at("home"), Temp: at("tmp")}).Protected, at("home/.local/bin")) {
		t.Error("what a shell runs is not protected in the home folder")
	}
	if !slices.Contains(home.Protected, at("home/.bashrc")) {
		t.Error("the home folder's start files are not protected")
	}
}

func TestAskNeedsPerson(t *testing.T) {
	c := Config{Dir: "/w", Home: "/h", Temp: "/t"}
	if !NewPolicy(c).Network.Off() {
		t.Error("nobody to ask, and something can leave")
	}
}

func TestSeatbelt(t *testing.T) {
	p := Policy{
		Writable: []string{"/tmp/t", "/w/p"}, Protected: []string{"/w/p/.claude", "/w/p/a/.mcp.json"}, Git: []string{"/w/p/.git"},
		Hidden: []string{`/h/.ssh "x"`}, Readable: []string{"/h/.ssh/known_hosts"}, Network: Network{Unix: []string{"/run/docker.sock"}, Ports: []int{3000}},
	}
	got := seatbelt(p, 4711)
	for _, want := range []string{
		"(deny default)", `(allow file-write* (subpath "/w/p"))`, `(deny file-write* (subpath "/w/p/.claude"))`, `(deny file-write* (subpath "/w/p/.git/hooks"))`,
		`(deny file-write* (subpath "/w/p/.git/config"))`, `(deny file-write-unlink (literal "/w/p/.git"))`, `(deny file-write-unlink (literal "/w/p/a"))`,
		`(deny file-read* file-write* (subpath "/h/.ssh \"x\""))`, `(allow network-outbound (remote ip "localhost:4711"))`, `(allow network-outbound (literal "/run/docker.sock"))`,
		`(allow network-outbound (remote ip "localhost:3000"))`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(seatbelt(Policy{}, 0), "network-outbound") {
		t.Error("the network is open")
	}
	order := []string{`(allow file-write* (subpath "/w/p"))`, `(deny file-write* (subpath "/w/p/.claude"))`}
	if strings.Index(got, order[0]) > strings.Index(got, order[1]) {
		t.Error("what allows comes after what protects")
	}
}

func TestReadCredentials(t *testing.T) {
	for raw, want := range map[string]Credentials{
		"": {}, "null": {}, "{}": {},
		`{"files":[{"path":"~/.x","mode":"deny"},{"path":"/y","mode":"mask","injectHosts":["a"]},"z"],"envVars":[{"name":"A","mode":"deny"},"B"]}`: {Files: []string{"~/.x", "/y", "z"}, Env: []string{"A", "B"}},
	} {
		if got, err := readCredentials([]byte(raw)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v", raw, got, err)
		}
	}
	for _, raw := range []string{`[]`, `{"files":"x"}`, `{"files":[{"name":"x"}]}`, `{"envVars":[{"path":"x"}]}`, `{"files":[1]}`, `{"envVars":[""]}`} {
		if got, err := readCredentials([]byte(raw)); err == nil {
			t.Errorf("%s: %+v", raw, got)
		}
	}
}

// TestCredentialsAreHidden also from allow_read, and a setting that cannot be
// read starts nothing.
func TestCredentialsAreHidden(t *testing.T) {
	c := Config{Dir: "/w/p", Home: "/h", Temp: "/t"}
	c.Settings.Filesystem.AllowRead = []string{"~/.kube/config", "~/.aws"}
	c.Settings.Credentials = []byte(`{"files":[{"path":"~/.kube","mode":"deny"},{"path":"~/.aws","mode":"deny"},{"path":".env","mode":"deny"}],"envVars":[{"name":"TOK","mode":"deny"}]}`)
	p := NewPolicy(c)
	for _, h := range []string{"/h/.kube", "/h/.aws", "/w/p/.env"} {
		if !paths.WithinAny(p.Hidden, h) {
			t.Errorf("%s is not hidden: %v", h, p.Hidden)
		}
	}
	if len(p.Readable) > 0 {
		t.Errorf("readable: %v", p.Readable)
	}
	if env := p.environ([]string{"TOK=x", "OTHER=y"}, ""); value(env, "TOK") != "" || value(env, "OTHER") != "y" {
		t.Errorf("%v", env)
	}
	c.Settings.Enabled, c.Settings.Credentials = true, []byte(`{"files":[{}]}`)
	if _, err := New(t.Context(), c); err == nil || !strings.Contains(err.Error(), "sandbox.credentials") {
		t.Errorf("%v", err)
	}
}

func TestShownFoldersAreReadable(t *testing.T) {
	c := Config{Dir: "/w/p", Home: "/h", Temp: "/t", State: []string{"/s"}, Shown: []string{"/s/plugins/a", "/s/plugins/b"}}
	if p := NewPolicy(c); !slices.Equal(p.Readable, c.Shown) || !slices.Contains(p.Hidden, "/s") || paths.WithinAny(p.Writable, "/s/plugins/a") {
		t.Errorf("readable %v, hidden %v, writable %v", p.Readable, p.Hidden, p.Writable)
	}
	c.Settings.Filesystem.DenyRead = []string{"/s/plugins/b"}
	if p := NewPolicy(c); !slices.Equal(p.Readable, c.Shown[:1]) {
		t.Errorf("readable %v", p.Readable)
	}
}

// put writes a file and the folders above it.
func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSurvey(t *testing.T) {
	root := t.TempDir()
	at := func(p string) string { return filepath.Join(root, p) }
	for _, f := range []string{".git/HEAD", ".git/config", ".claude/x", "a/.vscode/x", "a/b/.mcp.json", "r1/.git/HEAD", "r1/.git/config", "x/y/r3/.git/HEAD", "x/y/r3/.git/refs/x",
		"node_modules/m/.git/HEAD", "node_modules/m/.vscode/x", "a/.claude/.vscode/x", "bare/HEAD", "bare/objects/x", "bare/hooks/.vscode", ".cargo/config.toml", "b/HEAD"} {
		put(t, at(f), "")
	}
	put(t, at("x/r2/.git"), "gitdir: ../../.git/modules/r2\n")
	put(t, at(".git/modules/r2/HEAD"), "")
	put(t, at(".git/modules/r2/config"), "")
	v := newSurvey([]string{root}, nil, "")
	s := v.look()
	if want := []string{at("bare"), at(".git"), at("r1/.git"), at("x/y/r3/.git")}; !slices.Equal(s.gits, want) {
		t.Errorf("git %v", s.gits)
	}
	if want := []string{at(".git"), at("r1/.git"), at("x/r2/.git"), at("x/y/r3/.git")}; !slices.Equal(s.dots, want) {
		t.Errorf("dots %v", s.dots)
	}
	if want := []string{at(".cargo/config.toml"), at(".claude/x"), at("a/.claude/.vscode"), at("a/.vscode"), at("a/b/.mcp.json")}; !slices.Equal(s.named, want) {
		t.Errorf("named %v", s.named)
	}
	// What is known is looked at again when it changes, also at once.
	put(t, at("a/b/.vscode/x"), "")
	put(t, at("deep/er/.mcp.json"), "")
	s = v.look()
	for _, p := range []string{"a/b/.vscode", "deep/er/.mcp.json"} {
		if !slices.Contains(s.named, at(p)) {
			t.Errorf("%s is not seen: %v", p, s.named)
		}
	}
	if err := os.RemoveAll(at("a")); err != nil {
		t.Fatal(err)
	}
	if s = v.look(); slices.Contains(s.named, at("a/.vscode")) {
		t.Errorf("still seen: %v", s.named)
	}
}

// BenchmarkSurvey is what looking again at a workspace of a thousand folders
// costs, in which nothing changed: twice for each command.
func BenchmarkSurvey(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		put(b, filepath.Join(root, "d"+string(rune('a'+i%26)), strings.Repeat("x", 1+i/26), "file"), "")
	}
	v := newSurvey([]string{root}, nil, "")
	v.look()
	time.Sleep(2 * tick) // until a folder counts as unchanged
	v.look()
	for b.Loop() {
		v.look()
	}
}

// TestOutermost: what is inside another goes, whatever stands between them in
// the order of the texts.
func TestOutermost(t *testing.T) {
	got := outermost([]string{"/b", "/a/c", "/a-b", "/a", "", "/b", "/a/c/d", "/a-b/x", "/c/d"})
	if want := []string{"/a", "/a-b", "/b", "/c/d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := outermost([]string{"/x", "/"}); !slices.Equal(got, []string{"/"}) {
		t.Errorf("%q", got)
	}
}

func value(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

func TestAbsentBelow(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".ssh", ".Config"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	absent := absentBelow(dir)
	for path, want := range map[string]bool{
		dir + "/.ssh": false, dir + "/.ssh/id": false, dir + "/.aws": true, dir + "/.aws/credentials": true,
		dir + "/.config/gh": false, dir: false, dir + "x/.aws": false, "/etc/shadow": false, dir + "//.aws": false,
	} {
		if absent(path) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
	if absentBelow(filepath.Join(dir, "none"))(filepath.Join(dir, "none", ".aws")) {
		t.Error("a folder that cannot be listed says nothing of what is in it")
	}
	for n := range maxHome {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if absentBelow(dir)(dir + "/.aws") {
		t.Error("a folder with more than is looked at says nothing of what is in it")
	}
}

// TestRegistries: what sets a person's package managers counts, and nothing that a
// command could have written.
func TestRegistries(t *testing.T) {
	root := real(t.TempDir())
	home, project := filepath.Join(root, "home"), filepath.Join(root, "project")
	for path, text := range map[string]string{
		"home/.npmrc": "registry=https://npm.example.com\n", "project/.npmrc": "registry=https://evil.example.com\n", "project/pip.conf": "index-url=https://evil.example.com\n",
		"project/go/bin/go": "", "project/go/go.env": "GOPROXY=https://evil.example.com\n", "project/env": "GOPROXY=https://evil.example.com\n", "project/cargo/config.toml": "index=\"https://evil.example.com\"\n",
		"go/bin/go": "", "go/go.env": "GOPROXY=https://go.example.com\n", "project/apt": "",
	} {
		at := filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{".pip": project, ".cargo": filepath.Join(project, "cargo")} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Skip(err)
		}
	}
	env := map[string]string{"UV_INDEX_URL": "https://uv.example.com", "GOENV": filepath.Join(project, "env")}
	c := Config{
		Dir: project, Home: home, Temp: filepath.Join(root, "temp"), Env: func(name string) string { return env[name] },
		Path: strings.Join([]string{filepath.Join(project, "go", "bin"), filepath.Join(root, "go", "bin")}, string(filepath.ListSeparator)),
	}
	c.Settings.Network.Registries = true
	got := map[string]bool{}
	for _, h := range NewPolicy(c).Registries(c) {
		got[h.Name] = true
	}
	if got["evil.example.com"] || !got["npm.example.com"] || !got["uv.example.com"] || !got["go.example.com"] {
		t.Errorf("found %v", got)
	}
	c.Dir = home // where the person's own files are the repository's
	for _, h := range NewPolicy(c).Registries(c) {
		if h.Name == "npm.example.com" {
			t.Error("a file of the workspace counts")
		}
	}
	// What refuses all other domains refuses these.
	for _, n := range []config.SandboxNetwork{{Registries: true, StrictAllowlist: true}, {Registries: true, AllowedDomains: []string{}}, {}} {
		c.Settings.Network = n
		if p := NewPolicy(c); p.Network.Registries || !p.Network.Off() {
			t.Errorf("%+v: %+v", n, p.Network)
		}
	}
}

// TestDeniedLocalPorts: a port of this machine stays shut where a rule denies localhost.
func TestDeniedLocalPorts(t *testing.T) {
	for denied, want := range map[string]int{"": 1, "x.example": 1, "localhost": 0, "127.0.0.1": 0, "[::1]": 0} {
		c := Config{Dir: t.TempDir(), Temp: t.TempDir(), Settings: config.Sandbox{Network: config.SandboxNetwork{LocalPorts: []string{"3000"}, DeniedDomains: []string{denied}}}}
		if got := NewPolicy(c).Network.Ports; len(got) != want {
			t.Errorf("%q is denied: %v", denied, got)
		}
	}
}
