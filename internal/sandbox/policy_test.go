package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/config"
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
	c := Config{
		Dir: at("w/p"), Roots: []string{at("w/p/sub"), at("w/extra")}, Home: at("home"), State: []string{at("home/.adze")}, Temp: at("tmp"),
		Settings: config.Sandbox{
			Network:    config.SandboxNetwork{AllowedDomains: []string{}},
			Filesystem: config.SandboxFilesystem{AllowWrite: []string{"~/out/**", "//" + at("abs")[1:], "rel", "/"}, DenyRead: []string{"~/docs"}, AllowRead: []string{"~/.ssh"}, DenyWrite: []string{"Makefile"}},
		},
	}
	p := NewPolicy(c)
	if want := []string{at("abs"), at("home/out"), at("tmp"), at("w/extra"), at("w/p")}; !slices.Equal(p.Writable, want) {
		t.Errorf("writable %v, want %v", p.Writable, want)
	}
	for _, x := range []string{"w/p/.claude", "w/p/.mcp.json", "w/extra/.vscode", "w/p/Makefile"} {
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
	if !p.Network.Off() {
		t.Error("[] lets something out")
	}
	home := NewPolicy(Config{Dir: at("home"), Home: at("home"), Temp: at("tmp")})
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
		Hidden: []string{`/h/.ssh "x"`}, Readable: []string{"/h/.ssh/known_hosts"}, Network: Network{Unix: []string{"/run/docker.sock"}},
	}
	got := seatbelt(p, 4711)
	for _, want := range []string{
		"(deny default)", `(allow file-write* (subpath "/w/p"))`, `(deny file-write* (subpath "/w/p/.claude"))`, `(deny file-write* (subpath "/w/p/.git/hooks"))`,
		`(deny file-write* (subpath "/w/p/.git/config"))`, `(deny file-write-unlink (literal "/w/p/.git"))`, `(deny file-write-unlink (literal "/w/p/a"))`,
		`(deny file-read* file-write* (subpath "/h/.ssh \"x\""))`, `(allow network-outbound (remote ip "localhost:4711"))`, `(allow network-outbound (literal "/run/docker.sock"))`,
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
