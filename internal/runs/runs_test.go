package runs

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Of the command of a hook steers what its interpreter executes, and not what that is
// given to work on.
func TestWhatOfACommandSteers(t *testing.T) {
	dir := folder(t, map[string]string{
		"src/a.py": "x", "src/a.ts": "x", "src/index.css": "x", "tests/t.py": "x", "tests/a.test.js": "x", "scripts/h.sh": "x", "scripts/h.py": "x", "scripts/fmt": "x",
		"tools/lint.js": "x", "tools/index.js": "x", "pkg/__main__.py": "x", "cmd/x/main.go": "x", "Makefile": "x", "lib/setup.js": "x", "data.json": "{}",
	})
	for line, want := range map[string]string{
		"python3 -m lint src/ tests/ --fix || true": "", "python -m ruff check src/ tests/ --fix": "", "python3 -m black ./src": "", "python -m black src/a.py": "", "python3 -u -m pytest tests/t.py": "",
		"ruff check src/ --fix": "", "black src/a.py": "", "eslint src/ --fix": "", "./scripts/fmt src/": "scripts/fmt", "prettier --write 'src/**/*.ts'": "", "prettier --write src/a.ts": "", "gofmt -w ./cmd": "",
		"npx prettier --write src/a.ts": "", "npx -y eslint src/": "", "npx --no-install eslint src/a.ts": "", "pnpm exec eslint src/": "", "yarn eslint src/a.ts": "", "npm run lint -- src/": "", "bunx biome check src/": "", "uv run ruff check src/": "", "poetry run black ./src": "", "pipx run black src/": "",
		"node --test src/": "", "node --test tests/a.test.js": "", "node --test --import ./lib/setup.js tests/": "lib/setup.js", "node --check src/a.ts": "", "bun test src/": "", "deno fmt src/": "", "deno lint src/a.ts": "", "deno test tests/": "", "bun run tools/lint.js src/": "tools/lint.js",
		"bash -c 'eslint src'": "", "bash -c 'scripts/h.sh src'": "scripts/h.sh", "make lint": "", "go vet ./...": "", "go test ./cmd/...": "", "go run ./cmd/x src/": "cmd/x", "cargo fmt -- src/a.rs": "",
		"python3 scripts/h.py src/": "scripts/h.py", "python3 -W ignore scripts/h.py src/": "scripts/h.py", "python pkg src/": "pkg", "python src/": "", "node tools src/": "tools", "node -r ./lib/setup.js tools/lint.js src/": "lib/setup.js tools/lint.js", "sh scripts/h.sh src/a.py": "scripts/h.sh", "bash -e scripts/h.sh src/": "scripts/h.sh", "source scripts/h.sh src/": "scripts/h.sh",
		"npx tsx tools/lint.js src/": "tools/lint.js", "uv run scripts/h.py src/": "scripts/h.py", "uv run python scripts/h.py src/": "scripts/h.py", "poetry run python scripts/h.py src/": "scripts/h.py", "cross-env A=1 node tools/lint.js src/": "tools/lint.js", "timeout 5 scripts/h.sh src/": "scripts/h.sh",
		"env A=1 scripts/h.sh": "scripts/h.sh", "sudo -u bob scripts/h.sh src/": "scripts/h.sh", "yarn node tools/lint.js src/": "tools/lint.js", "npm --prefix web run lint": "", "sudo scripts/h.sh src/": "scripts/h.sh", "cd src && ../scripts/h.sh": "scripts/h.sh", "jq . data.json": "", "cat data.json | scripts/h.sh": "scripts/h.sh", "find src -name '*.py' | xargs scripts/h.sh": "scripts/h.sh", "xargs -I {} python3 scripts/h.py {}": "scripts/h.py",
		"nice -n 5 python3 scripts/h.py src/": "scripts/h.py", "scripts/later.sh src/": "scripts/later.sh", "sh scripts/later.sh src/": "scripts/later.sh", "python3 $CLAUDE_PROJECT_DIR/scripts/h.py src/": "scripts/h.py",
		"file=$(jq -r .x); python3 scripts/h.py \"$file\"": "scripts/h.py", "[ -d src ] && ruff check src/": "", "java -jar tools/x.jar src/": "tools/x.jar", "dotnet tools/x.dll src/": "tools/x.dll", "dotnet format src/": "",
		"nodejs h.js src/": "h.js", "py h.py src/": "h.py", "luajit h.lua": "h.lua", "ash h.sh src/": "h.sh", "tcsh -c 'eslint src'": "", "julia -e 'x' y": "", "awk '{print}' data.json": "", "nodejs -e 'x' y": "",
		"bundle exec scripts/h.sh src/": "scripts/h.sh", "bundle exec rubocop src/": "", "conda run -n e python scripts/h.py src/": "scripts/h.py", "hatch run h.py src/": "h.py", "hatch run lint src/": "", "docker exec x scripts/h.sh": "",
		"uv --directory scripts run h.py src/": "h.py scripts/h.py", "npm -C scripts exec ./fmt src/": "fmt scripts/fmt", "uv run --directory=scripts ruff check": "",
	} {
		found := Finder{Dir: dir, Root: dir, Dirs: []string{dir}}
		found.Line(line, "a hook")
		var got []string
		for _, f := range found.Found {
			rel, _ := filepath.Rel(dir, f.Path)
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Words that may each be the value of the flag before them do not make a command dear to read.
func TestManyWaysToReadACommand(t *testing.T) {
	dir := folder(t, map[string]string{"h.sh": "x"})
	found := Finder{Dir: dir, Root: dir, Dirs: []string{dir}}
	found.Line(strings.Repeat("sudo -a ", 60)+"./h.sh", "a hook")
	if len(found.Found) != 1 {
		t.Errorf("%+v", found.Found)
	}
}
