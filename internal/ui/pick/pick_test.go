package pick

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/ui/draw"
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
			if h.Dir != strings.HasSuffix(h.Path, "/") {
				t.Errorf("%q: %+v", c.query, h)
			}
		}
		if len(got) < len(c.want) || !slices.Equal(got[:len(c.want)], c.want) || c.want == nil && got != nil {
			t.Errorf("%q: %q, want first %q", c.query, got, c.want)
		}
	}
}

// A query that is typed letter by letter, with letters taken back, finds what it
// finds at once.
func TestNarrowing(t *testing.T) {
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

func TestList(t *testing.T) {
	l := NewList([]Item{
		{ID: "1", Title: "Sonnet", Detail: "balanced", Group: "anthropic", Note: "200k"},
		{ID: "2", Title: "Opus", Detail: "strong", Group: "anthropic", Mark: true},
		{ID: "3", Title: "none", Group: "openai", Off: true},
		{ID: "4", Title: "mini", Group: "openai", Search: "small cheap"},
	})
	o := draw.Options{Width: 40}
	check := func(what, want string) {
		t.Helper()
		if got := draw.TextOf(l.View(10, o)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
		}
	}
	check("start", "anthropic\n  Sonnet  balanced                  200k\n❯ Opus    strong ✓\nopenai\n  none\n  mini\n")
	l.Move(1)
	if it, _ := l.Selected(); it.ID != "4" {
		t.Errorf("down from Opus passes what is off: %q", it.ID)
	}
	l.Move(1)
	if it, _ := l.Selected(); it.ID != "1" {
		t.Errorf("down from the last goes round: %q", it.ID)
	}
	l.Move(-1)
	l.SetQuery("cheap")
	check("more text is searched", "❯ mini\n")
	l.SetQuery("balanced")
	check("details are searched", "❯ Sonnet  balanced                  200k\n")
	l.SetQuery("zzz")
	if it, ok := l.Selected(); ok || l.View(10, o) != nil {
		t.Errorf("nothing matches, but %q is selected", it.ID)
	}
	l.SetQuery("")
	l.MoveTo(1)
	l.SetItems([]Item{{ID: "9"}, {ID: "2", Title: "Opus"}})
	if it, _ := l.Selected(); it.ID != "2" {
		t.Errorf("new items: %q is selected", it.ID)
	}
}

// Letters that are far from each other match no long text.
func TestListLongText(t *testing.T) {
	l := NewList([]Item{{ID: "a", Title: "some far text with its letters apart, x at the end"}, {ID: "b", Title: "please fix it"}})
	l.SetQuery("fix")
	if it, _ := l.Selected(); l.Len() != 1 || it.ID != "b" {
		t.Errorf("%d match, first %q", l.Len(), it.ID)
	}
	l.SetQuery("psfi")
	if l.Len() != 1 {
		t.Errorf("%d match", l.Len())
	}
}

// Whatever is done to it, a list stays inside its room and shows the selected.
func TestListRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var items []Item
		for i := range rnd.IntN(30) {
			items = append(items, Item{
				ID: fmt.Sprint(i), Title: strings.Repeat("漢x", rnd.IntN(20)) + fmt.Sprint(i), Off: rnd.IntN(5) == 0,
				Group: []string{"", "", "one", "two"}[rnd.IntN(4)], Detail: []string{"", "detail \x1b[31m"}[rnd.IntN(2)], Note: []string{"", "note"}[rnd.IntN(2)],
			})
		}
		l := NewList(items)
		for range 30 {
			switch rnd.IntN(5) {
			case 0:
				l.SetQuery([]string{"", "x", "1", "x1", "漢"}[rnd.IntN(5)])
			case 1:
				l.Page(rnd.IntN(5) - 2)
			case 2:
				l.MoveTo(rnd.IntN(40) - 5)
			default:
				l.Move(rnd.IntN(3) - 1)
			}
			width, height := 2+rnd.IntN(30), 1+rnd.IntN(8)
			lines := l.View(height, draw.Options{Width: width})
			if len(lines) > height {
				t.Fatalf("%d lines in %d", len(lines), height)
			}
			seen := false
			for _, line := range lines {
				if line.Width() > width {
					t.Fatalf("%q is wider than %d", line, width)
				}
				seen = seen || strings.HasPrefix(line.String(), "❯")
			}
			if _, ok := l.Selected(); ok && !seen {
				t.Fatalf("the selected item is not seen in %d×%d:\n%s", width, height, draw.TextOf(lines))
			}
		}
	}
}

func TestPalette(t *testing.T) {
	cmds := []Command{{Name: "clear", What: "forget"}, {Name: "compact", Args: "[focus]", What: "shorten"}, {Name: "commit", Source: "project"}, {Name: "cost", Aliases: []string{"price"}}}
	l := NewList(Palette(cmds))
	l.SetQuery("com")
	if l.Len() != 2 {
		t.Errorf("%d match com", l.Len())
	}
	l.SetQuery("price")
	if it, _ := l.Selected(); it.ID != "cost" {
		t.Errorf("alias: %q", it.ID)
	}
	for text, want := range map[string]string{"/compact": " [focus]", "/compact ": "[focus]", "/compact x": "", "/clear ": "", "compact": "", "/no ": ""} {
		if got := ArgsHint(cmds, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("ab c", "xaBc\xff")
	f.Fuzz(func(t *testing.T, query, s string) {
		q := NewQuery(query)
		_, at, ok := q.Match(s)
		if !slices.IsSorted(at) || len(at) > 0 && (at[0] < 0 || at[len(at)-1] >= len(s)) {
			t.Fatalf("%q in %q: %v", query, s, at)
		}
		if utf8.ValidString(s) && ok && len(at) > 0 {
			Highlight(s, at, draw.Plain)
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
