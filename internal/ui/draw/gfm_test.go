package draw

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// drawnBy draws a text that p has parsed.
func drawnBy(p parser.Parser, src string) string {
	o := Options{Width: 80}
	w := walker{src: []byte(src)}
	return TextOf(w.blocks(p.Parse(gtext.NewReader(w.src)), o, true))
}

// Tables, tasks and struck text are drawn as with goldmark's own extensions.
func TestGFMIsDrawnAsGoldmarkDoes(t *testing.T) {
	ours := newParser(false)
	theirs := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
	check := func(t interface{ Fatalf(string, ...any) }, src string) {
		if got, want := drawnBy(ours, src), drawnBy(theirs, src); got != want {
			t.Fatalf("%q:\n%s\ninstead of\n%s", src, got, want)
		}
	}
	for _, src := range []string{
		"| a | b |\n|---|:-:|\n| 1 | `x \\| y` |\n", "a | b\n-|-:\n1\n1|2|3\n", "text\nmore\n| a |\n| - |\n| b |\n\nafter", "| a |\n| - |\n", "> | a | b |\n> |-|-|\n> | c |\n\n| a\n|-\n", "- | a | b |\n  |-|-|\n  | c | *d* |\n",
		"~a~ ~~b~~ ~~~c~~~ ~ d ~", "- [ ] a\n- [x] b\n- [X] c\n- [y] d\n- [x]e\n- a [x] b\n", "| a | b |\n| - |\n", "|a|b|\n|-|-|\n|\\||b\\\\|c|\n", "| |\n|-|\n| |\n", "||\n|-|\n", "a\n-\n", "|a|\n|:|\n",
	} {
		check(t, src)
	}
	piece := rapid.SampledFrom([]string{"|", "|", "a", "b c", " ", "  ", "-", "--", ":", ":-:", "`", "*", "~", "~~", "[x] ", "[ ] ", "- ", "> ", "é", "&amp;", "1. ", "#"})
	rapid.Check(t, func(r *rapid.T) {
		src := ""
		for range rapid.IntRange(1, 5).Draw(r, "lines") {
			if rapid.Bool().Draw(r, "dashes") {
				src += rapid.SampledFrom([]string{"|-|-|", "-|-", "|:-:|--:|", "| - |", "|-|", "---|---|---"}).Draw(r, "row") + "\n"
				continue
			}
			src += strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(r, "line"), "") + "a\n" // of bars alone, goldmark shows nothing
		}
		check(r, src)
	})
}

// Addresses end where the sentence around them goes on.
func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"see https://x.example/a_b.": "https://x.example/a_b", "(https://x.example/a(b))": "https://x.example/a(b)", "https://x.example/?q=1&amp;": "https://x.example/?q=1", "https://x.example:8080/a?b#c, and": "https://x.example:8080/a?b#c",
		"www.x.example is": "www.x.example", "http://localhost:80 is not": "", "http://x_y.example": "", "xhttp://x.example": "", "https://x.example<b>": "https://x.example", "*https://x.example*": "https://x.example", "www.x": "", "https://x.example;": "https://x.example",
		"a.b+c@x.example.": "a.b+c@x.example", "a@x": "", "a@x.": "", "@x.example": "", "a@x..example": "", "https://": "", "https://.": "", "ftp://x.example/y!": "ftp://x.example/y", "`https://x.example`": "", "a/https://x.example": "",
	} {
		doc := newParser(true).Parse(gtext.NewReader([]byte(text)))
		if got := strings.Join(linksIn(doc, []byte(text)), " "); got != want {
			t.Errorf("%q: %q instead of %q", text, got, want)
		}
	}
}

// linksIn are the labels of links without brackets.
func linksIn(n ast.Node, src []byte) (out []string) {
	if l, ok := n.(*ast.AutoLink); ok {
		out = append(out, string(l.Label(src)))
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, linksIn(c, src)...)
	}
	return out
}

// What people write most is linked as goldmark's own extension does.
func TestAddressesAsGoldmarkDoes(t *testing.T) {
	theirs := goldmark.New(goldmark.WithExtensions(extension.Linkify)).Parser()
	ours := newParser(true)
	differ := map[string]*regexp.Regexp{
		"where one address touches another, they differ in what belongs to the first": regexp.MustCompile(`(://|www\.)\S*(://|www\.)`),
		"theirs takes more signs for parts of a host":                                 regexp.MustCompile(`example[^/?\s]*[:#.][^/?\s]*[a-z]`),
		"theirs links what touches the end of a link":                                 regexp.MustCompile(`(?s)\]\(.*\)(http|www)`),
	}
	piece := rapid.SampledFrom([]string{"https://x.example", "http://y.example", "www.x.example", "/a", "?b=c", "#d", ".", ",", " ", "(", ")", "a", "\n", "é", "[", "](", "!", ":", "'"})
	rapid.Check(t, func(r *rapid.T) {
		src := strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(r, "text"), "")
		for why, where := range differ {
			if where.MatchString(src) {
				r.Skip(why)
			}
		}
		got, want := linksIn(ours.Parse(gtext.NewReader([]byte(src))), []byte(src)), linksIn(theirs.Parse(gtext.NewReader([]byte(src))), []byte(src))
		if !slices.Equal(got, want) {
			r.Fatalf("%q: %q instead of %q", src, got, want)
		}
	})
}
