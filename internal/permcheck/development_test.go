package permcheck_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread"
)

// development are sixty ordinary steps on a small Go project, as an agent
// takes them. A line that begins with read or edit is the file tool.
const development = `
pwd && ls -la
git status
git log --oneline -10
cat README.md
read main.go
find . -name '*.go' -not -path './.git/*' | head -50
grep -rn "func " --include='*.go' . | head -40
wc -l main.go src/*.go
git branch -a
git remote -v
head -40 src/a.go
go version && go env GOPATH
go list -m all
go list ./...
read src/a.go
rg -n "TODO|FIXME" src
git diff
edit src/a.go
go build ./...
edit main.go
go env GOFLAGS
go build ./...
gofmt -l . && go vet ./...
git diff --stat
go test ./...
read src/a.go
edit src/a.go
go test ./src/... -run TestSort -v
grep -n "Sort" -r src
go test ./... 2>&1 | tail -20
edit src/a_test.go
go test ./... -count=1
git status --short
git diff src/a.go | head -100
git add -A && git commit -m "Sort the list by name"
git log -1 --stat
ls src && cat src/a_test.go
sed -n 1,20p src/a.go
awk '{print $1}' src/a.go | sort | uniq -c | sort -rn | head
tail -n 5 README.md
edit README.md
git diff README.md
go doc fmt.Println
go list -m -json all
go mod graph | head
cat go.mod && cat .gitignore 2>/dev/null
go build ./... && echo built
edit src/b.go
go build ./... && go test ./...
for f in src/*.go; do wc -l "$f"; done
cd src && ls && cd ..
git stash list
git show HEAD --stat
git blame -L 1,5 main.go
go test -race ./...
git add src/b.go
git commit -m "$(cat <<'EOF'
Add b

It was missing.
EOF
)"
git tag --list
diff src/a.go src/b.go
git status && git log --oneline -3`

// TestDevelopmentSession counts the questions of an ordinary session whose
// person answers each one with "always". go vet is among the steps: it compiles
// and writes a cache, so it asks, unless go build was allowed before, whose
// question offers both.
func TestDevelopmentSession(t *testing.T) {
	for _, c := range []struct {
		name      string
		sandboxed bool
		most      int
	}{{"no sandbox", false, 4}, {"sandbox.auto_allow", true, 1}} {
		o := project(t)
		for _, f := range []string{"README.md", "go.mod", ".gitignore", "src/b.go", "src/a_test.go"} {
			if err := os.WriteFile(filepath.Join(o.Dir, f), []byte("x\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		rules := policy.Rules{Dir: o.Dir, Dirs: []string{o.Dir}, Home: o.Home}
		steps := split(development)
		if len(steps) != 60 {
			t.Fatalf("%d steps", len(steps))
		}
		var asked []string
		for _, step := range steps {
			v := policy.Decide(rules, policy.Default, request(step, o.Dir, o.Home, c.sandboxed))
			if v.Effect == policy.Allow {
				continue
			}
			asked = append(asked, step+"\n\t\t"+v.Reason+"\n\t\talways: "+strings.Join(v.Suggest, ", "))
			for _, s := range v.Suggest {
				r, err := policy.ParseRule(s, policy.Allow, policy.Session, "this session", o.Dir)
				if err != nil {
					t.Fatal(err)
				}
				rules.List = append(rules.List, r)
			}
		}
		t.Logf("%s: %d questions in %d steps\n\t%s", c.name, len(asked), len(steps), strings.Join(asked, "\n\t"))
		if len(asked) > c.most {
			t.Errorf("%s: %d questions, at most %d", c.name, len(asked), c.most)
		}
	}
}

// split gives the steps; a here-document belongs to its step.
func split(s string) []string {
	var out []string
	inside := false
	for _, line := range strings.Split(strings.TrimSpace(s), "\n") {
		if inside {
			out[len(out)-1] += "\n" + line
		} else {
			out = append(out, line)
		}
		if strings.Contains(line, "<<'EOF'") {
			inside = true
		} else if inside && line == ")\"" {
			inside = false
		}
	}
	return out
}

func request(step, dir, home string, sandboxed bool) policy.Request {
	verb, file, _ := strings.Cut(step, " ")
	path := filepath.Join(dir, file)
	switch verb {
	case "read":
		return policy.Request{Tool: "Read", Actions: []policy.Action{policy.Read{Path: path, Asked: file}}}
	case "edit":
		return policy.Request{Tool: "Edit", Actions: []policy.Action{policy.Read{Path: path, Asked: file}, policy.Write{Path: path, Asked: file}}}
	}
	return policy.Request{Tool: "Bash", Sandboxed: sandboxed, Actions: shellread.Read(step, place.World(dir, home)).Actions}
}
