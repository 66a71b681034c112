package market_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/ext/market"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/text/hint"
)

// An entry is one of an archive. Kind is a tar type flag; 0 is a file.
type entry struct {
	name, text, link string
	kind             byte
	mode             int64
}

func tarball(t testing.TB, list ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range list {
		h := tar.Header{Name: e.name, Linkname: e.link, Typeflag: e.kind, Mode: e.mode, Size: int64(len(e.text))}
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, list ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range list {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		mode := fs.FileMode(0o644) | fs.FileMode(e.mode)
		if e.kind == tar.TypeSymlink {
			mode, e.text = fs.ModeSymlink|0o777, e.link
		}
		if e.kind == tar.TypeFifo {
			mode = fs.ModeNamedPipe | 0o644
		}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const manifest = `{"name": "p", "version": "1.0.0"}`

// shelf is a marketplace of one plugin p with this source.
func shelf(t testing.TB, s *market.Store, source string) error {
	t.Helper()
	dir := write(t, t.TempDir(), files{".claude-plugin/marketplace.json": fmt.Sprintf(`{"name": "shelf", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": %s}]}`, source)})
	_, c, err := s.Add(t.Context(), market.Source{Kind: market.Folder, Path: dir}, market.Policy{})
	if len(c.Problems) > 0 {
		return errors.New(c.Problems[0])
	}
	return err
}

// try installs the plugin p from a source.
func try(t testing.TB, source string) (market.Installed, string, error) {
	t.Helper()
	s, dir := open(t)
	if err := shelf(t, s, source); err != nil {
		return market.Installed{}, dir, err
	}
	p, err := s.Prepare(t.Context(), "p", market.Policy{})
	if err != nil {
		left, readErr := os.ReadDir(filepath.Join(dir, "staging"))
		if len(left) > 0 || readErr != nil {
			t.Error("something is left of the fetch:", left, readErr)
		}
		return market.Installed{}, dir, err
	}
	if err := errors.Join(p.Commit(t.Context()), p.Close()); err != nil {
		return market.Installed{}, dir, err
	}
	in, err := s.Find("p")
	return in, filepath.Join(dir, "versions", in.Folder), err
}

func TestArchives(t *testing.T) {
	good := []entry{{name: "top/.claude-plugin/plugin.json", text: manifest}, {name: "top/run.sh", text: "x", mode: 0o755}, {name: "top/skills/a/SKILL.md", text: "hi"}, {name: "top/link", link: "skills/a", kind: tar.TypeSymlink}}
	var flat []entry
	for _, e := range good {
		e.name = strings.TrimPrefix(e.name, "top/")
		flat = append(flat, e)
	}
	served := map[string][]byte{
		"/a.zip": zipped(t, good...), "/a.tar.gz": tarball(t, good...), "/flat.tgz": tarball(t, flat...), "/flat.zip": zipped(t, flat...),
		"/sub.zip": zipped(t, entry{name: "x/y/.claude-plugin/plugin.json", text: manifest}, entry{name: "x/y/run.sh", text: "x", mode: 0o755}, entry{name: "x/y/skills/a/SKILL.md", text: "hi"}, entry{name: "../../out", text: "never unpacked"}),
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != "adze/test" {
			t.Errorf("User-Agent %q", r.UserAgent())
		}
		if r.URL.Path == "/moved.zip" {
			http.Redirect(w, r, "/a.zip", http.StatusFound)
			return
		}
		if r.URL.Path == "/away.zip" {
			http.Redirect(w, r, "http://example.com/a.zip", http.StatusFound)
			return
		}
		b, ok := served[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(b)
	}))
	defer srv.Close()
	source := func(path, more string) string {
		return fmt.Sprintf(`{"source": "archive", "url": %q%s}`, srv.URL+path, more)
	}
	sum := sha256.Sum256(served["/a.zip"])
	for _, src := range []string{
		source("/a.zip", ""), source("/a.tar.gz", ""), source("/flat.tgz", ""), source("/flat.zip", ""), source("/sub.zip", `, "path": "x/y"`), source("/moved.zip", ""),
		source("/a.zip", fmt.Sprintf(`, "sha256": "%x"`, sum)),
	} {
		in, dir, err := try(t, src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s: %v %v", src, info, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "skills", "a", "SKILL.md")); string(b) != "hi" {
			t.Errorf("%s: %q %v", src, b, err)
		}
		if !strings.HasPrefix(in.Pin, "sha256:") {
			t.Error(in.Pin)
		}
	}
	for src, want := range map[string]string{
		source("/gone.zip", ""): "404", source("/away.zip", ""): "not https",
		source("/a.zip", `, "sha256": "`+strings.Repeat("0", 64)+`"`): "is not what the marketplace pinned",
		`{"source": "archive", "url": "http://127.0.0.1:1/x.zip"}`:    "cannot be reached",
	} {
		if _, _, err := try(t, src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}

// What an archive must not have is refused before anything of it counts.
func TestHostileArchives(t *testing.T) {
	out := t.TempDir()
	many := []entry{{name: ".claude-plugin/plugin.json", text: manifest}}
	for i := range 20_001 {
		many = append(many, entry{name: fmt.Sprint("f", i)})
	}
	served := map[string][]byte{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(served[r.URL.Path]) }))
	defer srv.Close()
	n := 0
	for _, c := range []struct {
		list []entry
		want string
		tar  bool // only there
	}{
		{[]entry{{name: "../out", text: "x"}}, "leads out of the plugin", false},
		{[]entry{{name: "/abs", text: "x"}}, "leads out of the plugin", false},
		{[]entry{{name: "a/../../out", text: "x"}}, "leads out of the plugin", false},
		{[]entry{{name: `a\..\..\out`, text: "x"}}, "characters", false},
		{[]entry{{name: "a\x1b[2Jb", text: "x"}}, "characters", false},
		{[]entry{{name: "l", link: out, kind: tar.TypeSymlink}}, "leads out of the plugin", false},
		{[]entry{{name: "l", link: "../..", kind: tar.TypeSymlink}}, "leads out of the plugin", false},
		{[]entry{{name: "d/l", link: "..", kind: tar.TypeSymlink}, {name: "m", link: "d/l/..", kind: tar.TypeSymlink}}, "leads out of the plugin", false},
		{[]entry{{name: "d/l", link: "../skills", kind: tar.TypeSymlink}, {name: "m", link: "d/l/x", kind: tar.TypeSymlink}}, "", false},
		{[]entry{{name: "a", link: "b", kind: tar.TypeSymlink}, {name: "b", link: "a", kind: tar.TypeSymlink}}, "or to itself", false},
		{[]entry{{name: "l", link: "skills", kind: tar.TypeSymlink}, {name: "l/x", text: "x"}}, "below what is no folder", false},
		{[]entry{{name: "hard", link: "run.sh", kind: tar.TypeLink}}, "hard link", true},
		{[]entry{{name: "pipe", kind: tar.TypeFifo}}, "neither a file nor a folder", false},
		{[]entry{{name: "dev", kind: tar.TypeChar}}, "neither a file nor a folder", true},
		{[]entry{{name: "File", text: "x"}, {name: "file", text: "x"}}, "only by case", false},
		{[]entry{{name: "Dir/a", text: "x"}, {name: "dir/b", text: "x"}}, "only by case", false},
		{[]entry{{name: "x", text: "1"}, {name: "x", text: "2"}}, "comes twice", false},
		{[]entry{{name: strings.Repeat("a", 300), text: "x"}}, "not all systems", false},
		{[]entry{{name: "dot.", text: "x"}}, "not all systems", false},
		{many, "20,000 files", false},
	} {
		if len(c.list) > 20_000 && !slowtest.Due("too many files") {
			continue
		}
		packed := map[string][]byte{".tgz": tarball(t, append([]entry{{name: "skills/x/SKILL.md"}}, c.list...)...)}
		if !c.tar {
			packed[".zip"] = zipped(t, append([]entry{{name: "skills/x/SKILL.md"}}, c.list...)...)
		}
		for ext, b := range packed {
			n++
			path := fmt.Sprintf("/%d%s", n, ext)
			served[path] = b
			_, _, err := try(t, fmt.Sprintf(`{"source": "archive", "url": %q}`, srv.URL+path))
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %.100q: %v, want %q", ext, c.list[0].name, err, c.want)
			}
		}
	}
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	whole := tarball(t, entry{name: "skills/x/SKILL.md", text: strings.Repeat("x", 5000)}, entry{name: "b", text: strings.Repeat("y", 5000)})
	for name, b := range map[string][]byte{"/cut.tgz": whole[:len(whole)/2], "/no.tgz": []byte("hello"), "/no.zip": []byte("hello"), "/empty.zip": nil} {
		served[name] = b
		if _, _, err := try(t, fmt.Sprintf(`{"source": "archive", "url": %q}`, srv.URL+name)); err == nil {
			t.Error(name, "was installed")
		}
	}
}

// A bomb is refused for what it announces, before any of it is unpacked.
func TestBomb(t *testing.T) {
	for name, sizes := range map[string][]int64{"one file": {600 << 20}, "several": {1 << 20, 499 << 20}} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for i, size := range sizes {
			if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint("skills/x/", i), Typeflag: tar.TypeReg, Mode: 0o644, Size: size}); err != nil {
				t.Fatal(err)
			}
			if i == len(sizes)-1 { // refused for what it announces
				break
			}
			if _, err := io.CopyN(w, zeros{}, size); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Flush(), z.Close()); err != nil && !strings.Contains(err.Error(), "missed writing") {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "bomb.tgz")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := try(t, fmt.Sprintf(`{"source": "archive", "url": "file://%s"}`, file)); err == nil || !strings.Contains(err.Error(), "larger than 500.0 MB") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// zeros is an endless stream of them.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// gitRepo makes a repository of files, and returns a function that runs git in it.
func gitRepo(t testing.TB, dir string, list files) func(args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	env := append(environ(t), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	run := func(args ...string) string {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir, c.Env = dir, env
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run("init", "--quiet", "--initial-branch=main", ".")
	write(t, dir, list)
	run("add", "-A")
	run("commit", "--quiet", "-m", "one")
	return run
}

// gitServer serves repositories below a folder as git's own HTTP backend does.
func gitServer(t testing.TB, root string) *httptest.Server {
	t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Skip("there is no git")
	}
	backend := filepath.Join(strings.TrimSpace(string(path)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("there is no git-http-backend")
	}
	srv := httptest.NewServer(&cgi.Handler{Path: backend, Dir: root, Env: append(environ(t), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")})
	t.Cleanup(srv.Close)
	return srv
}

func TestGit(t *testing.T) {
	root := t.TempDir()
	run := gitRepo(t, filepath.Join(root, "repo"), files{
		".claude-plugin/plugin.json": manifest, "skills/a/SKILL.md": "one", "run.sh": "x", "sub/dir/.claude-plugin/plugin.json": `{"name": "p", "version": "9.0.0"}`,
		".gitattributes": "*.md filter=evil\n* export-subst\n", ".gitmodules": "[submodule \"m\"]\n\tpath = m\n\turl = ext::sh -c 'touch pwned'\n",
	})
	run("tag", "v1")
	one := run("rev-parse", "HEAD")
	write(t, filepath.Join(root, "repo"), files{"skills/a/SKILL.md": "two"})
	run("commit", "--quiet", "-am", "two")
	two := run("rev-parse", "HEAD")
	run("update-index", "--add", "--cacheinfo", "160000,"+one+",m")
	run("commit", "--quiet", "-m", "three")
	three := run("rev-parse", "HEAD")
	srv := gitServer(t, root)
	at := srv.URL + "/repo/.git"
	for _, c := range []struct{ more, commit, text string }{
		{"", three, "two"}, {`, "ref": "v1"`, one, "one"}, {`, "ref": "main"`, three, "two"}, {`, "sha": "` + two + `"`, two, "two"}, {`, "sha": "` + one + `", "ref": "v1"`, one, "one"}, {`, "path": "sub/dir"`, three, ""},
	} {
		in, dir, err := try(t, fmt.Sprintf(`{"source": "git", "url": %q%s}`, at, c.more))
		if err != nil {
			t.Errorf("%s: %v (%s)", c.more, err, hint.Of(err))
			continue
		}
		if in.Pin != "commit:"+c.commit {
			t.Errorf("%s: %s", c.more, in.Pin)
		}
		b, _ := os.ReadFile(filepath.Join(dir, "skills", "a", "SKILL.md"))
		if string(b) != c.text {
			t.Errorf("%s: %q", c.more, b)
		}
		for _, no := range []string{".git", "m", "pwned"} {
			if _, err := os.Lstat(filepath.Join(dir, no)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: there is %s", c.more, no)
			}
		}
	}
	for more, want := range map[string]string{
		`, "ref": "gone"`: "cannot be fetched", `, "sha": "` + strings.Repeat("0", 40) + `"`: "has no commit", `, "path": "no/such"`: "has no folder no/such",
	} {
		if _, _, err := try(t, fmt.Sprintf(`{"source": "git", "url": %q%s}`, at, more)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", more, err)
		}
	}
	// Links of a commit are looked at like those of an archive.
	if err := os.Symlink("/etc", filepath.Join(root, "repo", "etc")); err != nil {
		t.Skip(err)
	}
	run("add", "-A")
	run("commit", "--quiet", "-m", "link")
	if _, _, err := try(t, fmt.Sprintf(`{"source": "git", "url": %q}`, at)); err == nil || !strings.Contains(err.Error(), "leads out of the plugin") {
		t.Error(err)
	}
}

// A marketplace in git: its plugins lie beside it, pinned by its commit. When it
// vanishes, what is installed stays, and an update says so in a line.
func TestGitMarketplace(t *testing.T) {
	root := t.TempDir()
	repo := filepath.Join(root, "shop")
	place(t, repo, "shop", map[string]files{"fmt": plain("fmt", "1.0.0")})
	run := gitRepo(t, repo, nil)
	head := run("rev-parse", "HEAD")
	s, _ := open(t)
	srv := gitServer(t, root)
	m, c, err := s.Add(t.Context(), market.Source{Kind: market.Git, URL: srv.URL + "/shop/.git"}, market.Policy{})
	if err != nil || len(c.Plugins) != 1 || m.Pin != "commit:"+head {
		t.Fatal(m, c, err)
	}
	install(t, s, "fmt")
	if in, err := s.Find("fmt"); err != nil || in.Pin != "commit:"+head {
		t.Error(in, err)
	}
	write(t, repo, files{"plugins/fmt/skills/new/SKILL.md": "x"})
	run("add", "-A")
	run("commit", "--quiet", "-m", "two")
	if p := install(t, s, "fmt"); !p.Steps[0].Same() {
		t.Error("changed without an update of the marketplace")
	}
	if m, _, err = s.Update(t.Context(), m, market.Policy{}); err != nil || m.Pin == "commit:"+head {
		t.Fatal(m, err)
	}
	if p := install(t, s, "fmt"); p.Steps[0].Same() || p.Steps[0].Asks() {
		t.Errorf("%+v", p.Steps[0].Changes)
	}
	srv.Close()
	if _, _, err := s.Update(t.Context(), m, market.Policy{}); err == nil || !strings.Contains(err.Error(), "the marketplace shop: ") || hint.Of(err) == "" {
		t.Error(err)
	}
	if active, problems := s.Active(enabled(t, "fmt@shop")); len(active) != 1 || len(problems) > 0 {
		t.Error(active, problems)
	}
	if left, err := s.Remove(t.Context(), "shop"); err != nil || len(left) != 1 {
		t.Error(left, err)
	}
	if active, _ := s.Active(enabled(t, "fmt@shop")); len(active) != 1 {
		t.Error("a plugin is gone with its marketplace")
	}
	if _, err := s.Prepare(t.Context(), "fmt", market.Policy{}); err == nil {
		t.Error("installed from a marketplace that was removed")
	}
}

func TestVanishedFolder(t *testing.T) {
	s, _ := open(t)
	src := place(t, filepath.Join(t.TempDir(), "gone"), "shop", map[string]files{"fmt": plain("fmt", "1.0.0")})
	m := add(t, s, src)
	if err := os.RemoveAll(src); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prepare(t.Context(), "fmt", market.Policy{}); err == nil || !strings.Contains(err.Error(), "the marketplace shop: the folder") {
		t.Error(err)
	}
	if _, _, err := s.Update(t.Context(), m, market.Policy{}); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Error(err)
	}
}

func TestMarketplaceByAddress(t *testing.T) {
	text := `{"name": "web", "owner": {"name": "o"}, "plugins": [{"name": "near", "source": "./near"}, {"name": "far", "source": {"source": "github", "repo": "o/r"}}]}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
	defer srv.Close()
	s, _ := open(t)
	m, c, err := s.Add(t.Context(), market.Source{Kind: market.JSON, URL: srv.URL + "/m.json"}, market.Policy{})
	if err != nil || m.Name != "web" || len(c.Plugins) != 1 || c.Plugins[0].Name != "far" {
		t.Fatalf("%+v %+v %v", m, c, err)
	}
	if _, _, err := s.Add(t.Context(), market.Source{Kind: market.JSON, URL: srv.URL + "/other.json"}, market.Policy{}); err == nil || !strings.Contains(err.Error(), "there is a marketplace web already") {
		t.Error(err)
	}
	for _, bad := range []string{"", "{", `{"name": "../x"}`, "[]", `{"name": 3}`} {
		text = bad
		if _, _, err := s.Update(t.Context(), m, market.Policy{}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if list, err := s.Markets(); err != nil || len(list) != 1 || list[0] != m {
		t.Error(list, err)
	}
}

// A registry that speaks as much of npm's protocol as npm pack needs.
func registry(t testing.TB, tgz []byte, lie bool) *httptest.Server {
	t.Helper()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			_, _ = w.Write(tgz)
			return
		}
		if r.URL.Path != "/adze-test-plugin" {
			http.NotFound(w, r)
			return
		}
		one, full := sha1.Sum(tgz), sha512.Sum512(tgz)
		if lie {
			full = sha512.Sum512([]byte("something else"))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": "adze-test-plugin", "dist-tags": map[string]string{"latest": "1.2.3"},
			"versions": map[string]any{"1.2.3": map[string]any{
				"name": "adze-test-plugin", "version": "1.2.3", "scripts": map[string]string{"preinstall": "touch pwned"},
				"dist": map[string]string{"tarball": srv.URL + "/adze-test-plugin-1.2.3.tgz", "shasum": hex.EncodeToString(one[:]), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(full[:])},
			}},
		})
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestNPM(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("there is no npm")
	}
	ran := filepath.Join(t.TempDir(), "ran")
	script := fmt.Sprintf(`"touch %s"`, ran)
	tgz := tarball(t, entry{name: "package/package.json", text: fmt.Sprintf(`{"name": "adze-test-plugin", "version": "1.2.3", "scripts": {"preinstall": %s, "prepare": %s, "prepack": %s, "postinstall": %s}}`, script, script, script, script)},
		entry{name: "package/.claude-plugin/plugin.json", text: manifest}, entry{name: "package/skills/a/SKILL.md", text: "hi"})
	srv := registry(t, tgz, false)
	source := func(more string) string {
		return fmt.Sprintf(`{"source": "npm", "package": "adze-test-plugin"%s, "registry": %q}`, more, srv.URL)
	}
	sum := sha512.Sum512(tgz)
	for _, more := range []string{"", `, "version": "1.2.3"`, `, "version": "^1.0.0"`} {
		in, dir, err := try(t, source(more))
		if err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		if in.Pin != "sha512-"+base64.StdEncoding.EncodeToString(sum[:]) {
			t.Error(in.Pin)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "skills", "a", "SKILL.md")); string(b) != "hi" {
			t.Error(string(b), err)
		}
	}
	if _, _, err := try(t, source(`, "version": "9"`)); err == nil || !strings.Contains(err.Error(), "cannot be fetched") {
		t.Error(err)
	}
	srv = registry(t, tgz, true)
	if _, _, err := try(t, source("")); err == nil || !strings.Contains(strings.ToLower(err.Error()), "integrity") {
		t.Error(err)
	}
	srv.Close()
	if _, _, err := try(t, source("")); err == nil || hint.Of(err) == "" {
		t.Error(err)
	}
	if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a script of the package ran")
	}
}

// Many at once: each is whole, and all are there.
func TestConcurrent(t *testing.T) {
	s, dir := open(t)
	plugins := map[string]files{}
	for i := range 6 {
		plugins[fmt.Sprint("p", i)] = plain(fmt.Sprint("p", i), "1.0.0")
	}
	add(t, s, place(t, t.TempDir(), "shop", plugins))
	var wg sync.WaitGroup
	for i := range 18 {
		wg.Go(func() {
			p, err := s.Prepare(t.Context(), fmt.Sprint("p", i%6), market.Policy{})
			if err == nil {
				err = errors.Join(p.Commit(t.Context()), p.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := s.Installed()
	if err != nil || len(list) != 6 {
		t.Fatal(list, err)
	}
	for _, in := range list {
		if err := s.Verify(in); err != nil {
			t.Error(in.ID(), err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "staging")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// What a killed install left is not taken for whole, and goes.
func TestKilled(t *testing.T) {
	s, dir := open(t)
	src := place(t, t.TempDir(), "shop", map[string]files{"fmt": plain("fmt", "1.0.0"), "b": plain("b", "1.0.0")})
	add(t, s, src)
	install(t, s, "fmt")
	in, err := s.Find("fmt")
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "versions", in.Folder)
	if err := errors.Join(os.Remove(filepath.Join(dir, "plugins.lock.json")), safe.RemoveAll(filepath.Join(at, "skills"))); err != nil {
		// A read-only folder keeps its files from anybody but root.
		t.Fatal(err)
	}
	half := filepath.Join(dir, "versions", "shop", "b", "1.0.0-half")
	stage := filepath.Join(dir, "staging", "adze-s-1")
	write(t, half, files{"x": "x"})
	write(t, stage, files{"x": "x"})
	add(t, s, src)
	install(t, s, "fmt")
	if in, err := s.Find("fmt"); err != nil || s.Verify(in) != nil {
		t.Error(in, err, s.Verify(in))
	}
	for _, gone := range []string{half, stage} {
		if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
			t.Error("there is still", gone)
		}
	}
}

func TestBrokenLock(t *testing.T) {
	s, dir := open(t)
	for _, text := range []string{"{", `{"format": 99}`} {
		write(t, dir, files{"plugins.lock.json": text})
		if active, problems := s.Active(enabled(t, "a@b", "c@d")); len(active) != 0 || len(problems) != 1 {
			t.Errorf("%v %v", active, problems)
		}
		if _, err := s.Remove(t.Context(), "x"); err == nil || hint.Of(err) == "" {
			t.Error(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "plugins.lock.json")); string(b) != text || err != nil {
			t.Errorf("%s %v", b, err)
		}
	}
	write(t, dir, files{"plugins.lock.json": `{"format": 1, "plugins": {"a@b": {"name": "a", "marketplace": "b", "folder": "../../etc"}}, "retired": [{"folder": "../../x"}]}`})
	if active, problems := s.Active(enabled(t, "a@b")); len(active) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Text, "leads elsewhere") {
		t.Errorf("%v %v", active, problems)
	}
}

func BenchmarkActive(b *testing.B) {
	s, _ := open(b)
	plugins := map[string]files{}
	var ids []string
	for i := range 10 {
		name := fmt.Sprint("p", i)
		plugins[name] = plain(name, "1.0.0")
		ids = append(ids, name+"@shop")
	}
	add(b, s, place(b, b.TempDir(), "shop", plugins))
	for _, id := range ids {
		p, err := s.Prepare(b.Context(), id, market.Policy{})
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(p.Commit(b.Context()), p.Close()); err != nil {
			b.Fatal(err)
		}
	}
	cfg := enabled(b, ids...)
	for b.Loop() {
		if active, problems := s.Active(cfg); len(active) != 10 || len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
