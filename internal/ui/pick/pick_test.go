package pick

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/slowtest"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		query, s string
		want     string // s with matched bytes in capitals would hide case: marked by []
	}{
		{"abc", "a-b-c", "[a]-[b]-[c]"},
		{"abc", "acb", ""},
		{"", "x", "x"},
		{"ed", "internal/ui/edit", "internal/ui/[ed]it"},
		{"uie", "internal/ui/edit", "internal/[ui]/[e]dit"},
		{"edit ui", "internal/ui/edit", "internal/[ui]/[edit]"},
		{"Edit", "internal/edit", ""},
		{"Edit", "fooEdit", "foo[Edit]"},
		{"edit", "FOOEDIT", "FOO[EDIT]"},
		{"ö", "schön", "sch[ö]n"},
		{"Ö", "schÖn", "sch[Ö]n"},
		{"ö", "SCHÖN", "SCH[Ö]N"},
		{"x", "\xff\xfex", "\xff\xfe[x]"},
	} {
		_, at, ok := NewQuery(c.query).Match(c.s)
		got := ""
		if ok {
			got = marked(c.s, at)
		}
		if got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.s, got, c.want)
		}
	}
}

func marked(s string, at []int) string {
	var b strings.Builder
	for i := range len(s) {
		is, was, next := slices.Contains(at, i), slices.Contains(at, i-1), slices.Contains(at, i+1)
		if is && !was {
			b.WriteByte('[')
		}
		b.WriteByte(s[i])
		if is && !next {
			b.WriteByte(']')
		}
	}
	return b.String()
}

// What a person means comes first.
func TestFiles(t *testing.T) {
	f := NewFiles([]string{
		"README.md", "cmd/adze/main.go", "internal/ui/edit/edit.go", "internal/ui/edit/view.go", "internal/confedit/update.go",
		"internal/config/load.go", "docs/edit.md", "internal/view/view.go", "internal/ui/pick/files.go", "vendor/x/re/admin/me.go",
	})
	for _, c := range []struct {
		query string
		want  []string // what comes first
	}{
		{"edit", []string{"docs/edit.md", "internal/ui/edit/", "internal/ui/edit/edit.go"}},
		{"readme", []string{"README.md"}},
		{"main", []string{"cmd/adze/main.go"}},
		{"view.go", []string{"internal/view/view.go", "internal/ui/edit/view.go"}},
		{"ui/ed", []string{"internal/ui/edit/"}},
		{"internal/ui/", []string{"internal/ui/", "internal/ui/edit/"}},
		{"./cmd", []string{"cmd/"}},
		{"confedit", []string{"internal/confedit/"}},
		{"iuev", []string{"internal/ui/edit/view.go"}},
		{"nothinglikeit", nil},
		{"", []string{"cmd/", "docs/", "vendor/"}},
	} {
		var got []string
		for _, h := range f.Find(c.query, 5) {
			got = append(got, h.Path)
		}
		if len(got) < len(c.want) || !slices.Equal(got[:len(c.want)], c.want) || c.want == nil && got != nil {
			t.Errorf("%q: %q, want first %q", c.query, got, c.want)
		}
	}
}

// A query that is typed letter by letter, with letters taken back, finds what it
// finds at once.
func TestNarrowing(t *testing.T) {
	slowtest.Turn(t)
	paths := manyPaths(3000)
	f := NewFiles(paths)
	rnd := rand.New(rand.NewPCG(1, 2))
	query := ""
	for range 400 {
		if len(query) > 0 && rnd.IntN(4) == 0 {
			query = query[:len(query)-1]
		} else {
			query += string("aeinst/_.T "[rnd.IntN(11)])
		}
		got, want := f.Find(query, 20), NewFiles(paths).Find(query, 20)
		if !slices.EqualFunc(got, want, func(a, b Hit) bool { return a.Path == b.Path }) {
			t.Fatalf("%q: %v, want %v", query, got, want)
		}
		if len(query) > 8 {
			query = ""
		}
	}
}

// The best few are those that come first among all, though most are not rated
// to the end once a few good ones are known.
func TestFewAreTheFirst(t *testing.T) {
	paths := manyPaths(3000)
	for i, p := range paths {
		paths[i] = "9/" + path.Base(p) // so that only names match
	}
	slices.Reverse(paths) // the better ones, which are shorter, come late
	for _, query := range []string{"sio", "ssn", "es", "main", "hdlr", "index", "nt", "tst", "uis", "ession", "session", "comt"} {
		all, few := NewFiles(paths).Find(query, len(paths)), NewFiles(paths).Find(query, 20)
		if !slices.EqualFunc(few, all[:min(20, len(all))], func(a, b Hit) bool { return a.Path == b.Path }) {
			t.Errorf("%q: %v, want %v", query, few, all[:20])
		}
	}
}

func manyPaths(n int) []string {
	parts := []string{"internal", "cmd", "session", "agent", "terminal", "print", "model", "handler", "service", "test", "Utils", "config", "index", "component"}
	rnd := rand.New(rand.NewPCG(7, 7))
	var out []string
	for i := range n {
		depth := 1 + rnd.IntN(6)
		var p []string
		for range depth {
			p = append(p, parts[rnd.IntN(len(parts))])
		}
		out = append(out, fmt.Sprintf("%s/%s_%d.go", strings.Join(p, "/"), parts[rnd.IntN(len(parts))], i))
	}
	return out
}

func FuzzMatch(f *testing.F) {
	f.Add("ab c", "xaBc\xff")
	f.Fuzz(func(t *testing.T, query, s string) {
		q := NewQuery(query)
		_, at, ok := q.Match(s)
		if !slices.IsSorted(at) || len(at) > 0 && (at[0] < 0 || at[len(at)-1] >= len(s)) {
			t.Fatalf("%q in %q: %v", query, s, at)
		}
		if hits := NewFiles([]string{s}).Find(query, 3); ok && s != "" && !strings.HasPrefix(query, "./") && len(hits) == 0 {
			t.Fatalf("%q matches %q, but the index does not find it", query, s)
		}
	})
}

// Ignored files are not offered.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".gitignore", "*.log\n")
	write(t, dir, "a/b.go", "x")
	write(t, dir, "a/c.log", "x")
	got, cut, err := Tree(t.Context(), search.Tree{Root: dir}, 10)
	slices.Sort(got)
	if err != nil || cut || !slices.Equal(got, []string{".gitignore", "a/b.go"}) {
		t.Errorf("%q %v %v", got, cut, err)
	}
	if got, cut, _ = Tree(t.Context(), search.Tree{Root: dir}, 1); len(got) != 1 || !cut {
		t.Errorf("%q %v", got, cut)
	}
}

func BenchmarkKeys(b *testing.B) {
	f := NewFiles(manyPaths(100_000))
	for _, query := range []string{"s", "se", "session", "isu", "zzz", "e/e_9"} {
		b.Run("cold/"+strings.ReplaceAll(query, "/", "-"), func(b *testing.B) {
			for b.Loop() {
				f.steps = nil
				f.Find(query, 50)
			}
		})
	}
	for _, keys := range []string{"session_9", "ihs77", "e/i/t"} {
		b.Run("typed/"+strings.ReplaceAll(keys, "/", "-"), func(b *testing.B) { // one operation is a word
			for b.Loop() {
				f.steps = nil
				for i := range keys {
					f.Find(keys[:i+1], 50)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(keys)), "µs/key")
		})
	}
}

func BenchmarkIndex(b *testing.B) {
	paths := manyPaths(100_000)
	for b.Loop() {
		NewFiles(paths)
	}
}

// What is not looked into because others are better would not be among the best.
func TestOnlyTheBeatenAreLeftOut(t *testing.T) {
	var paths []string
	for d := range 300 {
		for n := range 4 {
			paths = append(paths, fmt.Sprintf("group%02d/%spackage%03d/source_%03d_part%02d.go", d%40, strings.Repeat("x", d%7), d, d, n))
		}
	}
	paths = append(paths, "zz/group/a.go", "z/my-group.d/b.go", "q/grOup/c.go")
	for _, query := range []string{"gr", "group", "group3", "gp", "ackage9", "package12", "x", "xxp", "group3source", "Ou"} {
		few, all := NewFiles(paths).Find(query, 50), NewFiles(paths).Find(query, 10_000)
		if !slices.EqualFunc(few, all[:min(50, len(all))], func(a, b Hit) bool { return a.Path == b.Path }) {
			t.Errorf("%s: %v\nnot %v", query, few, all[:min(50, len(all))])
		}
	}
}
