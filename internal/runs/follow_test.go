package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/servers"
)

// folder is a new one with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// followedFiles are the paths of what a command runs in a folder.
func followedFiles(t *testing.T, files map[string]string, command ...string) (out []string) {
	t.Helper()
	dir := folder(t, files)
	found := Finder{Dir: dir, Root: dir, Dirs: []string{dir}}
	for _, x := range found.Programs(servers.Server{Transport: servers.Stdio, Command: command[0], Args: command[1:]}) {
		out = append(out, strings.TrimSpace(x.Path+" "+x.Loose))
	}
	slices.Sort(out)
	return out
}

func TestWhatACommandLeadsTo(t *testing.T) {
	files := map[string]string{
		"go.mod": "module m\nreplace (\n\tother => ./other\n)\n", "main.go": "package main; import `m/in`", "main_test.go": "", "in/in.go": "package in\nimport (\n. \"other/x\" // \"m/no\"\n_ \"v.example/y\"\n)\nvar _ = \"m/no\"", "no/no.go": "", "other/x/x.go": "",
		"vendor/v.example/y/y.go": "", "in/sub/s.go": "",
		"package.json": `{"main":"./m.js","scripts":{"a":"npm run b","b":"npm run a; tsx js/b.ts"}}`, "m.js": "", "js/b.ts": "", "js/n/c.ts": "", "js/node_modules/d.js": "", ".npmrc": "",
		"app/pyproject.toml": "", "app/uv.lock": "", "app/srv.py": "", "app/in/lib.py": "", "app/__pycache__/x.py": "", "rootpy.py": "",
		"Makefile": "X = 1\n.PHONY: all\nall: build\n\t@$(MAKE) -C app go\nbuild: gen.sh\n\tsh \\\n gen.sh\n", "gen.sh": "", "app/Makefile": "go:\n\tpython3 srv.py\n",
		"justfile": "", "compose.yaml": "",
	}
	for command, want := range map[string]string{
		"go run .":                                   "go.mod in/in.go main.go other/x/x.go vendor/v.example/y/y.go",
		"go -C other run -race -tags a ./x":          "go.mod other/x/x.go x",
		"go run main.go":                             "go.mod in/in.go main.go other/x/x.go vendor/v.example/y/y.go",
		"go run m/in":                                "go.mod in/in.go other/x/x.go vendor/v.example/y/y.go",
		"go build ./x":                               "x",
		"npm run a":                                  ".npmrc js/b.ts js/n/c.ts package.json",
		"npx -y some-server":                         ".npmrc",
		"npx -y @scope/srv ./x.db":                   ".npmrc",
		"npx -y @scope/srv@1 a":                      ".npmrc",
		"npx -y git+https://h.example/a/b":           ".npmrc",
		"npx -y ./js/b.ts":                           ".npmrc js/b.ts js/n/c.ts package.json",
		"pnpm dlx @scope/srv":                        ".npmrc",
		"pnpm exec @scope/srv":                       ".npmrc @scope/srv",
		"uvx git+https://h.example/a":                "",
		"uv tool run git+https://h/a":                "",
		"deno run -A npm:@scope/srv":                 "package.json",
		"deno run https://h.example/x.ts":            "package.json",
		"docker run -v ./js:/x h.io/a/b":             "",
		"mcp-remote https://h.example/sse":           "",
		"my-db postgresql://localhost/m.js":          "",
		"python3 /opt/x.py 0 5 app":                  "",
		"python3 rootpy.py ./gen.db 5":               "rootpy.py",
		"npx tsx js/b.ts":                            ".npmrc js/b.ts js/n/c.ts package.json",
		"uv --directory app run srv.py":              "app/in/lib.py app/pyproject.toml app/srv.py app/uv.lock srv.py",
		"uv run --directory=app entry":               "app/in/lib.py app/pyproject.toml app/srv.py app/uv.lock",
		"python3 rootpy.py":                          "rootpy.py",
		"make":                                       "Makefile app/Makefile app/in/lib.py app/srv.py gen.sh",
		"make -Capp go":                              "app/Makefile app/in/lib.py app/srv.py",
		"sh -c 'exit 0'":                             "",
		"bash -e gen.sh":                             "gen.sh",
		"python3 -c 'import rootpy'":                 "rootpy.py",
		"node -e 'x' y":                              "m.js package.json",
		"just mcp":                                   "justfile",
		"docker run -i x":                            "",
		"docker compose run x":                       "compose.yaml",
		"env A=1 sh -c 'cd app && uv run -m in.lib'": "app/in/lib.py app/pyproject.toml app/srv.py app/uv.lock",
	} {
		got := strings.Join(followedFiles(t, files, words(command)...), " ")
		if got != want {
			t.Errorf("%s:\n%s\n%s", command, got, want)
		}
	}
}

// words splits a line at spaces outside of single quotes.
func words(line string) (out []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

// Of very many sources less is looked at, which is said.
func TestManySources(t *testing.T) {
	files := map[string]string{"s/a.js": ""}
	for i := range maxSources + 1 {
		files[fmt.Sprintf("s/n/%d.js", i)] = ""
	}
	got := followedFiles(t, files, "node", "s/a.js")
	want := fmt.Sprintf(". %d files, known by their names, sizes and times only s/a.js", maxSources+1)
	if strings.Join(got, " ") != want { // s/a.js is named, and so no source
		t.Fatalf("%.300s", strings.Join(got, " "))
	}
}

func TestLargeSourcesGoByTheirTimes(t *testing.T) {
	dir := folder(t, map[string]string{"s/a.js": "", "s/big.js": "x"})
	big := filepath.Join(dir, "s", "big.js")
	if err := os.Truncate(big, maxSourced+1); err != nil {
		t.Skip(err)
	}
	s := servers.Server{Transport: servers.Stdio, Command: "node", Args: []string{"s/a.js"}, Raw: []byte(`{"command":"node","args":["s/a.js"]}`)}
	hash := func() string {
		found := Finder{Dir: dir, Root: dir, Dirs: []string{dir}}
		s.Programs = found.Programs(s)
		return s.Hash()
	}
	was := hash()
	then := time.Unix(1, 0)
	if err := os.Chtimes(big, then, then); err != nil {
		t.Fatal(err)
	}
	if hash() == was {
		t.Error("another time is no change")
	}
}
