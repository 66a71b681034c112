package search

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/slowtest"
)

// plainly finds the matching lines with package regexp, one by one.
func plainly(t testing.TB, pattern string, fold bool, text string) []string {
	t.Helper()
	flags := "(?m)"
	if fold {
		flags = "(?mi)"
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(text) {
		text := string(trimLine([]byte(line)))
		if tree, _ := syntax.Parse(pattern, syntax.Perl); namesCR(tree) {
			text = strings.TrimSuffix(line, "\n")
		}
		if re.MatchString(text) {
			out = append(out, line)
		}
	}
	return out
}

func quickly(t testing.TB, pattern string, fold bool, text string) []string {
	t.Helper()
	return within(t, pattern, fold, text, worth)
}

func within(t testing.TB, pattern string, fold bool, text string, limit float64) []string {
	t.Helper()
	m, err := compileFor(pattern, fold, false, limit)
	if err != nil {
		t.Fatal(err)
	}
	f := newFinder(m)
	var out []string
	b := []byte(text)
	for at := 0; ; {
		from, to, ok := f.next(b, at)
		if !ok {
			return out
		}
		out = append(out, text[from:to])
		at = to
	}
}

var hard = []string{
	`a`, `abc`, `a|b`, `abc|abd|xyz`, `a*`, `a+b`, `^a`, `a$`, `^a$`, `^$`, `^`, `$`, `\bab\b`, `\Bab`, `ab\B`, `a.c`, `a.*c`, `[ab]c`, `[^a]b`, `[^a]+$`, `.`, `..`,
	`\w+\s+\w+`, `\s`, `\S+`, `\d{2,3}`, `(a|b)+c`, `a?b?c`, `(ab){2,}`, `x{3}`, `x{0}y`, `é`, `[é-ü]`, `\x{1F600}`, `.é.`, `^.$`, `^..$`, `k`, `s`, `sk`, `(?i)straße`, `a\rb`, `\r`, `a\r?$`,
	`\pL+`, `\PL`, `[[:upper:]]`, `a\nb`, `a[\s\S]b`, `(?s)a.b`, `\Aab`, `ab\z`, `(^|x)ab`, `ab($|x)`, `(?:)`, `[a-z]{4}-[a-z]{2}`, `\b`, `\B`, `a{2}|b{2}`, `(a|ab)(c|bcd)`, `[^\n]`, `\x00`, `(?i)K`, `caf\x{e9}`,
	`(abc|abd)(xy|z)?`, `foo(bar|baz|qux)+end`, `(a?){20}a{20}`, `foobar|barend|endfoo`, `(?i)foobar|abcfoo`, `abcend|barabc|xyfoob`, `(a|b|c|d){10}`, `[ab]*a[ab]{8}`,
}

var letters = []string{"a", "b", "c", "d", "x", "y", "k", "K", "s", "S", "ab", "abc", "foo", "bar", "end", " ", "\t", "-", "1", "2", "é", "ü", "ſ", "\u212a", "😀", "ß", "\xff", "\xc3", "\r", "\n", "\n", "\r\n", "A", "B", "z", "zz", "_"}

func TestLikeRegexp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		var b strings.Builder
		for range rnd.IntN(120) {
			b.WriteString(letters[rnd.IntN(len(letters))])
		}
		if !slowtest.Due(fmt.Sprint("round ", round)) {
			continue
		}
		text := b.String()
		for _, p := range hard {
			for _, fold := range []bool{false, true} {
				got, want := quickly(t, p, fold, text), plainly(t, p, fold, text)
				if !slices.Equal(got, want) {
					t.Fatalf("round %d, %q (fold %v) in %q:\ngot  %q\nwant %q", round, p, fold, text, got, want)
				}
			}
		}
	}
}

// TestFilterLosesNothing forces every prefilter on, also those that would not
// pay, because a lost line is the one error nobody sees.
func TestFilterLosesNothing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for range 4000 {
		b.WriteString(letters[rnd.IntN(len(letters))])
	}
	text := b.String()
	for _, p := range hard {
		for _, fold := range []bool{false, true} {
			got, want := within(t, p, fold, text, 1e9), plainly(t, p, fold, text)
			if !slices.Equal(got, want) {
				t.Fatalf("%q (fold %v): %d lines, want %d", p, fold, len(got), len(want))
			}
		}
	}
}

func TestDenseAutomatonGivesUp(t *testing.T) {
	text := strings.Repeat(strings.Repeat("abba", 40)+"c\n", 400)
	p := `[ab]*a[ab]{40}c`
	if got, want := quickly(t, p, false, text), plainly(t, p, false, text); !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, 200_000)
	for i := range b {
		b[i] = "ab\n"[rnd.IntN(100)%3%2]
		if i%500 == 499 {
			b[i] = '\n'
		}
	}
	p = `a[ab]{14}b[ab]{14}a`
	if got, want := quickly(t, p, false, string(b)), plainly(t, p, false, string(b)); !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}

func TestExplain(t *testing.T) {
	for p, want := range map[string]string{
		`a(?=b)`: "lookahead", `(?<!a)b`: "negative lookbehind", `(a)\1`: "back reference", `(?>a)`: "atomic", `a++`: "possessive",
		`foo(`: "backslash", `[a`: "backslash", `*a`: "backslash",
	} {
		_, err := compile(p, false, false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want a mention of %q", p, err, want)
		}
	}
}

func FuzzLikeRegexp(f *testing.F) {
	for _, p := range hard {
		f.Add(p, "abc foobarend\r\nxéy\nkK", true)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		if len(pattern) > 40 || len(text) > 400 {
			return
		}
		if _, err := compile(pattern, fold, false); err != nil {
			return
		}
		want := plainly(t, pattern, fold, text)
		for _, limit := range []float64{worth, 1e9} {
			if got := within(t, pattern, fold, text, limit); !slices.Equal(got, want) {
				t.Errorf("%q (fold %v) in %q:\ngot  %q\nwant %q", pattern, fold, text, got, want)
			}
		}
	})
}

// TestGrams compares with looking at every place.
func TestGrams(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, pattern := range []string{`abcab|bcabca|cabbage`, `(?i)abcab|bbacc`, `[ab]cabc|aabbc`} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		c := require(tree).exact
		g := newGrams(c)
		if g == nil {
			t.Fatalf("%s: no grams", pattern)
		}
		for range 300 {
			b := make([]byte, rnd.IntN(60))
			for i := range b {
				b[i] = "abcABC"[rnd.IntN(6)]
			}
			var got, want []int
			for p := g.next(b, 0); p >= 0; p = g.next(b, p+1) {
				got = append(got, p)
			}
			for p := range b {
				for i, w := range c {
					if stands(w, b, p-g.from[i]) {
						want = append(want, p)
						break
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s in %q: got %v, want %v", pattern, b, got, want)
			}
		}
	}
}
