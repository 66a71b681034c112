package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// together are the ways in which code comes to run on another goroutine: the names of
// functions that begin one, and packages that call back on theirs.
var together = map[string]bool{
	"AfterFunc": true, "Go": true, "Parallel": true, "RunParallel": true, "AddCleanup": true, "SetFinalizer": true,
	"net/http": true, "net/http/httptest": true, "database/sql": true, "golang.org/x/sync/errgroup": true, "github.com/modelcontextprotocol/go-sdk/mcp": true,
}

// meets says what of a file makes goroutines meet; "" when nothing does.
func meets(f *ast.File) (what string) {
	for _, imp := range f.Imports {
		if path, _ := strconv.Unquote(imp.Path.Value); together[path] {
			what = "imports " + path
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			what = "has a go statement"
		case *ast.SelectorExpr:
			if together[n.Sel.Name] {
				what = "calls " + n.Sel.Name
			}
		}
		return what == ""
	})
	return what
}

// imports are the packages of adze that a file imports.
func imports(f *ast.File) (out []string) {
	for _, imp := range f.Imports {
		if path, mine := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module); mine {
			out = append(out, path)
		}
	}
	return out
}

// The packages of .ci/alone are tested without the race detector. In each, its tests
// and what it imports, there is one goroutine, so that the detector has nothing to find.
func TestAlone(t *testing.T) {
	list, err := os.ReadFile(top + "/.ci/alone")
	if err != nil {
		t.Fatal(err)
	}
	all := packages(t)
	for name := range strings.FieldsSeq(string(list)) {
		dir := strings.TrimPrefix(name, "./")
		tests, err := filepath.Glob(filepath.Join(top, dir, "*_test.go"))
		if err != nil || len(tests) == 0 {
			t.Errorf("%s has no tests: %v", name, err)
		}
		todo := []string{dir}
		for _, path := range tests {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if what := meets(f); what != "" {
				t.Errorf("%s %s: take %s out of .ci/alone", path, what, name)
			}
			todo = append(todo, imports(f)...)
		}
		for seen := map[string]bool{}; len(todo) > 0; {
			p := todo[0]
			todo = todo[1:]
			if seen[p] {
				continue
			}
			seen[p] = true
			for _, f := range all[p] {
				if what := meets(f); what != "" {
					t.Errorf("%s, which %s or its tests use, %s: take it out of .ci/alone", p, name, what)
				}
				todo = append(todo, imports(f)...)
			}
		}
	}
}

// Each way to another goroutine is noticed.
func TestMeets(t *testing.T) {
	for body, want := range map[string]string{
		`import "os"; func f() { os.Getpid() }`:                       "",
		`func f() { go f() }`:                                         "has a go statement",
		`import "sync"; func f() { var w sync.WaitGroup; w.Go(f) }`:   "calls Go",
		`import "time"; func f() { time.AfterFunc(1, f) }`:            "calls AfterFunc",
		`import "testing"; func TestX(t *testing.T) { t.Parallel() }`: "calls Parallel",
		`import "net/http"; var c http.Client`:                        "imports net/http",
		`import "context"; var after = context.AfterFunc`:             "calls AfterFunc",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+body, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := meets(f); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// The tests of a package that start sessions with all that adze has start the test
// binary again, as guardian and as sandbox: a package without TestMain would run its
// tests in each of them, and these would start the next ones.
func TestOwnParts(t *testing.T) {
	found := false
	for dir := range packages(t) {
		files, err := filepath.Glob(filepath.Join(top, dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		starts, plays := false, false
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(b)
			starts = starts || strings.Contains(text, module+`internal/app"`) || strings.Contains(text, module+`internal/confine"`) || dir == "internal/app"
			plays = plays || strings.Contains(text, "apptest.Main(m)")
		}
		if starts && !plays {
			t.Errorf("the tests of %s start sessions: func TestMain(m *testing.M) { apptest.Main(m) }", dir)
		}
		found = found || plays
	}
	if !found {
		t.Error("no package was found whose tests start sessions")
	}
}
