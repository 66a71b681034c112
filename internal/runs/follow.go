package runs

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A sourced is a folder of which the files of some endings run.
type sourced struct {
	dir  string
	of   []string // endings, and whole names
	deep bool     // with the folders in it
	near bool     // it only lies beside what runs
}

// Endings of files that run, or that say what runs, by language.
var (
	jsFiles   = []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".node", ".wasm", "package.json"}
	pyFiles   = []string{".py", ".pyw", ".so", ".pyd", ".pth"}
	goFiles   = []string{".go", ".s", ".S", ".c", ".h", ".cc", ".cpp", ".hpp", ".syso", ".a"}
	rustFiles = []string{".rs", "Cargo.toml", "Cargo.lock", "config.toml"}
	rubyFiles = []string{".rb", ".ru", ".so"}
	otherDirs = []string{".git", "node_modules", "__pycache__", ".venv", "venv"}
)

// manifests are files that say what a program runs which names none.
var manifests = map[string][]string{
	"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml"},
	"rake": {"Rakefile", "Gemfile", "Gemfile.lock"}, "bundle": {"Gemfile", "Gemfile.lock"},
	"docker-compose": composeFiles, "podman-compose": composeFiles,
}

var composeFiles = []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "Dockerfile"}

// maxFollowed is how far a command leads to others: npm to make to a script.
const maxFollowed = 4

// follow adds what a command runs that it does not name: scripts of package.json,
// recipes of make, packages of Go, Python and Rust, and what lies beside a script and
// can be imported by it.
func (r *Finder) follow(argv []string, dir, what string) {
	if len(argv) == 0 || r.followed >= maxFollowed {
		return
	}
	r.followed++
	defer func() { r.followed-- }()
	name := strings.TrimSuffix(filepath.Base(argv[0]), ".exe")
	if cut := strings.TrimRight(name, "0123456789."); cut != "" {
		name = cut
	}
	args := argv[1:]
	if (name == "docker" || name == "podman") && first(args) == "compose" {
		name += "-compose"
	}
	for _, m := range manifests[name] {
		r.there(filepath.Join(dir, m), what)
	}
	switch name {
	case "node", "nodejs", "tsx", "ts-node":
		_, rest := operands(args, preloads...)
		r.script(first(rest), dir, jsFiles, what)
	case "deno", "bun":
		r.followBun(name, args, dir, what)
	case "npm", "pnpm", "yarn", "npx", "bunx":
		r.followNPM(name, args, dir, what)
	case "python", "pypy", "py":
		r.followPython(args, dir, what)
	case "uv", "poetry", "pdm", "pipenv", "hatch", "rye":
		r.followUV(args, dir, what)
	case "uvx", "pipx":
		if flags, _ := operands(args, "--from", "--spec"); strings.ContainsAny(flags["--from"]+flags["--spec"], "/") || strings.HasPrefix(flags["--from"], ".") {
			r.followUV([]string{"--directory", flags["--from"] + flags["--spec"], "run", "."}, dir, what)
		}
	case "ruby":
		_, rest := operands(args, "-I", "-r", "-C")
		r.script(first(rest), dir, rubyFiles, what)
	case "go":
		r.followGo(args, dir, what)
	case "cargo":
		flags, _ := operands(args, "--manifest-path")
		if m := flags["--manifest-path"]; m != "" {
			dir = filepath.Dir(paths.Absolute(dir, r.Home, m))
		}
		r.sources(dir, rustFiles, true, false)
	case "make", "gmake":
		r.followMake(args, dir, what)
	}
}

// followBun adds what deno and bun run: a script of package.json, or a file.
func (r *Finder) followBun(name string, args []string, dir, what string) {
	_, rest := operands(args, append([]string{"--cwd", "--config", "-c", "--filter"}, preloads...)...)
	if f := first(rest); name == "bun" && f != "run" && f != "" && !strings.ContainsAny(f, "./") || f == "start" {
		r.packageScript(dir, f, what)
	}
	for len(rest) > 0 && slices.Contains([]string{"run", "x", "serve", "exec"}, rest[0]) {
		_, rest = operands(rest[1:], preloads...)
	}
	for _, m := range []string{"deno.json", "deno.jsonc", "bunfig.toml"} {
		r.there(filepath.Join(dir, m), what)
	}
	if f := first(rest); f != "" && !strings.ContainsAny(f, "./") {
		r.packageScript(dir, f, what)
	} else {
		r.script(f, dir, jsFiles, what)
	}
}

// script adds what runs with a file, or with a folder that is run as a package.
func (r *Finder) script(name, dir string, of []string, what string) {
	if name == "" {
		return
	}
	at := paths.Absolute(dir, r.Home, name)
	if info, err := os.Stat(at); err == nil && info.IsDir() {
		if main := packageOf(at).Main; main != "" {
			r.there(filepath.Join(at, main), what)
		}
		r.sources(at, of, true, false)
		return
	}
	in := filepath.Dir(at)
	root := slices.Contains(r.Dirs, resolved(in))
	r.sources(in, of, !root, root)
	for up := in; slices.Equal(of, jsFiles); up = filepath.Dir(up) { // it says what imports mean
		if r.there(filepath.Join(up, "package.json"), what) || slices.Contains(r.Dirs, up) || up == filepath.Dir(up) {
			break
		}
	}
}

// A packageJSON is what package.json says of programs.
type packageJSON struct {
	Main    string            `json:"main"`
	Scripts map[string]string `json:"scripts"`
}

func packageOf(dir string) (p packageJSON) {
	_ = json.Unmarshal(head(filepath.Join(dir, "package.json"), 1<<20), &p) // what is no package says nothing
	return p
}

// followNPM adds what npm and those like it run.
func (r *Finder) followNPM(name string, args []string, dir, what string) {
	flags, rest := operands(args, "--prefix", "-C", "--dir", "--cwd", "-w", "--workspace", "--filter", "-F", "-p", "--package", "-c", "--call")
	for _, f := range []string{"--prefix", "-C", "--dir", "--cwd"} {
		if flags[f] != "" {
			dir = paths.Absolute(dir, r.Home, flags[f])
		}
	}
	for _, m := range []string{".npmrc", ".yarnrc.yml", ".yarnrc"} { // they may name another shell, or registry
		r.there(filepath.Join(dir, m), what)
	}
	if line := flags["-c"] + flags["--call"]; line != "" {
		r.line(line, dir, what)
	}
	if len(rest) == 0 {
		return
	}
	switch {
	case name == "npx" || name == "bunx":
	case slices.Contains([]string{"exec", "x", "dlx"}, rest[0]):
		_, rest = operands(rest[1:], "-p", "--package")
	case slices.Contains([]string{"run", "run-script", "rum", "urn"}, rest[0]):
		_, more := operands(rest[1:])
		r.packageScript(dir, first(more), what)
		return
	default: // start, test, and with yarn and pnpm any script
		r.packageScript(dir, rest[0], what)
		return
	}
	if f := first(rest); strings.HasPrefix(f, ".") || filepath.IsAbs(f) {
		r.script(f, dir, jsFiles, what)
		return
	}
	if len(rest) > 1 && !isPackage().MatchString(rest[0]) {
		r.add(rest, dir, what)
	}
}

// packageScript adds what a script of package.json runs, with those around it.
func (r *Finder) packageScript(dir, script, what string) {
	for _, m := range []string{"package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"} {
		r.there(filepath.Join(dir, m), what)
	}
	p := packageOf(dir)
	for _, name := range []string{"pre" + script, script, "post" + script} {
		r.line(p.Scripts[name], dir, what)
	}
	if script == "start" && p.Scripts["start"] == "" {
		r.script("./server.js", dir, jsFiles, what)
	}
}

// followPython adds the module that "-m" names, or what lies beside a script.
func (r *Finder) followPython(args []string, dir, what string) {
	flags, rest := operands(args, "-m", "-c", "-W", "-X", "--check-hash-based-pycs")
	if flags["-c"] != "" {
		r.sources(dir, pyFiles, false, true)
		return
	}
	mod := flags["-m"]
	if mod == "" {
		r.script(first(rest), dir, pyFiles, what)
		return
	}
	top, _, _ := strings.Cut(mod, ".")
	for _, base := range []string{dir, filepath.Join(dir, "src")} {
		r.sources(filepath.Join(base, top), pyFiles, true, false)
		r.there(filepath.Join(base, top+".py"), what)
	}
	r.sources(dir, pyFiles, false, true) // it is the first of the path
}

// followUV adds what uv and those like it run.
func (r *Finder) followUV(args []string, dir, what string) {
	valued := []string{"--directory", "--project", "--with", "--python", "-p", "--extra", "--group", "--package", "--env-file", "--index-url", "-C"}
	flags, rest := operands(args, valued...)
	into := func(f map[string]string) {
		for _, name := range []string{"--directory", "--project", "-C"} {
			if f[name] != "" {
				dir = paths.Absolute(dir, r.Home, f[name])
			}
		}
	}
	into(flags)
	if first(rest) == "tool" {
		rest = rest[1:]
	}
	if first(rest) == "run" {
		flags, rest = operands(rest[1:], append(valued, "-m", "--module", "-s", "--script")...)
		into(flags)
		if m := flags["-m"] + flags["--module"]; m != "" {
			r.followPython([]string{"-m", m}, dir, what)
		}
		if s := flags["-s"] + flags["--script"]; s != "" {
			rest = append([]string{s}, rest...)
		}
	}
	for _, m := range []string{"pyproject.toml", "uv.lock", "uv.toml", "poetry.lock", "pdm.lock", "Pipfile", "Pipfile.lock", "setup.py", "setup.cfg"} {
		r.there(filepath.Join(dir, m), what)
	}
	f := first(rest)
	switch {
	case f == "", isPackage().MatchString(f):
	case strings.HasSuffix(f, ".py"):
		r.there(paths.Absolute(dir, r.Home, f), what)
		r.script(f, dir, pyFiles, what)
	case strings.HasPrefix(f, "python") || strings.Contains(f, "/"):
		r.add(rest, dir, what)
	default: // a program of the project
		r.sources(dir, pyFiles, true, false)
	}
}

// there adds a file, if there is one, and reports whether there is.
func (r *Finder) there(at, what string) bool {
	info, err := os.Stat(at)
	if err != nil || info.IsDir() {
		return false
	}
	r.file(at, what+" runs it")
	return true
}

// sources adds a folder's files of some endings, if there is such a folder.
func (r *Finder) sources(dir string, of []string, deep, near bool) {
	dir = resolved(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return
	}
	s := sourced{dir, of, deep, near}
	same := func(x sourced) bool { return x.dir == dir && x.deep == deep && slices.Equal(x.of, of) }
	if paths.WithinAny(r.Dirs, dir) && !slices.ContainsFunc(r.parts, same) {
		r.parts = append(r.parts, s)
	}
}

// operands reads arguments up to the first that is no flag: the values of flags that
// have one, and what comes from there on.
func operands(args []string, valued ...string) (flags map[string]string, rest []string) {
	flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		name, v, has := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			return flags, args[i+1:]
		case !strings.HasPrefix(args[i], "-") || args[i] == "-":
			return flags, args[i:]
		case has:
			flags[name] = v
		case slices.Contains(valued, args[i]) && i+1 < len(args):
			i++
			flags[name] = args[i]
			if name == "-m" || name == "-c" { // what follows is its own
				return flags, args[i+1:]
			}
		}
	}
	return flags, nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// head is the beginning of a file, nil of none.
func head(path string, n int64) []byte {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, n))
	if err != nil {
		return nil
	}
	return b
}
