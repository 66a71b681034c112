package search

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// patterns are what speed and results are compared with. The second half was
// written down before anything was tuned.
var patterns = []struct {
	name, pattern string
	fold          bool
}{
	{"rare literal", `ReadResponse`, false},
	{"common literal", `return`, false},
	{"regex with literal", `func \(.*\) ServeHTTP\(`, false},
	{"regex, short literal", `[A-Z][a-z]+Error\b`, false},
	{"regex, middle literal", `\w+\s*:=\s*make\(map`, false},
	{"-i literal", `readresponse`, true},
	{"-i alternation", `context|deadline|cancel`, true},
	{"no literal, classes", `[0-9a-f]{8}-[0-9a-f]{4}`, false},
	{"no literal, words", `\w{12,}\s+\w{12,}`, false},
	{"held out: literal", `ErrUnexpectedEOF`, false},
	{"held out: words", `\bnil\b.*\bpanic\b`, false},
	{"held out: comment", `^\s*//\s*\w+ returns`, false},
	{"held out: optional", `http2?\.(Get|Post)\(`, false},
	{"held out: -i phrase", `goroutine leak`, true},
	{"held out: -i branch", `(read|write).*timeout`, true},
	{"held out: three words", `TODO|FIXME|XXX`, false},
	{"held out: end of line", `\{$`, false},
	{"held out: rare letters", `zq|qz|jq`, false},
}

// goSource is a tree that is large enough and present wherever Go is.
func goSource(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("the go command is not on PATH")
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, err := os.Stat(filepath.Join(root, "net/http")); err != nil {
		t.Skip("the Go source tree is not installed")
	}
	return root
}

func ripgrep(t testing.TB) string {
	t.Helper()
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("ripgrep is not installed: nothing to compare with")
	}
	return rg
}

// rgArgs are ripgrep's flags for what Grep does by default, with classes that
// mean the same as in RE2.
func rgArgs(fold bool, more ...string) []string {
	args := []string{"-j2", "--hidden", "--no-require-git", "--no-messages", "--color=never", "--crlf", "--glob=!.git", "--no-config", "--no-heading"}
	if fold {
		args = append(args, "-i")
	}
	return append(args, more...)
}

// BenchmarkAgainstRipgrep reports how much longer Grep takes than ripgrep on
// the Go source tree with two workers each, both at their best of many runs
// taken in turn. ripgrep is spared the ignore files, which Grep reads; it starts a process each time, about 3 ms of its time.
func BenchmarkAgainstRipgrep(b *testing.B) {
	rg, root := ripgrep(b), goSource(b)
	for _, p := range patterns {
		b.Run(strings.ReplaceAll(p.name, " ", "_"), func(b *testing.B) {
			ours, theirs := time.Hour, time.Hour
			for b.Loop() {
				for range 3 {
					start := time.Now()
					if _, _, err := Grep(context.Background(), Tree{Root: root, Workers: 2}, Query{Pattern: p.pattern, Fold: p.fold, Names: true}); err != nil {
						b.Fatal(err)
					}
					ours = min(ours, time.Since(start))
					start = time.Now()
					args := []string{"-j2", "--hidden", "--no-ignore", "--no-config", "-l"}
					if p.fold {
						args = append(args, "-i")
					}
					exec.Command(rg, append(args, "-e", p.pattern, root)...).Run()
					theirs = min(theirs, time.Since(start))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(ours.Microseconds())/1000, "our-ms")
			b.ReportMetric(float64(theirs.Microseconds())/1000, "rg-ms")
			b.ReportMetric(float64(ours)/float64(theirs), "ratio")
		})
	}
}

// TestSameAsRipgrep compares matching lines, file by file.
func TestSameAsRipgrep(t *testing.T) {
	rg, root := ripgrep(t), filepath.Join(goSource(t), "net")
	for _, p := range patterns {
		t.Run(p.name, func(t *testing.T) {
			files, _, err := Grep(context.Background(), Tree{Root: root}, Query{Pattern: p.pattern, Fold: p.fold, Counts: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, fmt.Sprintf("%s:%d", f.Rel, f.Count))
			}
			c := exec.Command(rg, rgArgs(p.fold, "--no-unicode", "-c", "-e", p.pattern)...)
			c.Dir = root
			out, err := c.Output()
			if err != nil && c.ProcessState.ExitCode() != 1 {
				t.Fatal(err)
			}
			want := strings.Fields(string(out))
			slices.SortFunc(want, func(a, b string) int {
				x, _, _ := strings.Cut(a, ":")
				y, _, _ := strings.Cut(b, ":")
				return strings.Compare(x, y)
			})
			if !slices.Equal(got, want) {
				t.Errorf("%d files, ripgrep has %d; first difference: %s", len(got), len(want), difference(got, want))
			}
		})
	}
}

func difference(a, b []string) string {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return "missing " + b[i]
		case i >= len(b):
			return "extra " + a[i]
		case a[i] != b[i]:
			return fmt.Sprintf("%s instead of %s", a[i], b[i])
		}
	}
	return "none"
}
