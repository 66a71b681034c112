package draw

import (
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for _, c := range []struct {
		name, src, want string
		o               Options
	}{
		{"a document", sample, `Title

Some text with bold, code and a link
(https://example.org/x). It goes on in a second line.
https://example.org/auto

• one

• two

  more of two
  • nested

☑ done

☐ open

1. first
2. second

│ quoted text

name  count
────  ─────
a         1
bb       22

  func main() {

      println("x") // say
  }

After the fence

  indented code

  more of it

────────────────────────────────────────

Last paragraph
`, Options{Width: 60}},
		{"ascii", "- a\n- [x] b\n\n> c\n\n***", "- a\n[x] b\n\n| c\n\n----------\n", Options{Width: 10, ASCII: true}},
		{"loose but short", "- a\n\n- b\n\n- c", "• a\n• b\n• c\n", Options{Width: 20}},
		{"numbers line up", "9. a\n10. b\n11. c", " 9. a\n10. b\n11. c\n", Options{Width: 20}},
		{"hanging", "- one two three four five", "• one two\n  three four\n  five\n", Options{Width: 12}},
		{"long word", "abcdefghijkl mn", "abcde\nfghij\nkl mn\n", Options{Width: 5}},
		{"wide", "漢字漢字 x 漢字", "漢字漢\n字 x 漢\n字\n", Options{Width: 7}},
		{"hard break", "a\\\nb  \nc<br>d", "a\nb\nc\nd\n", Options{Width: 20}},
		{"entities", `&amp; &lt; \* &#x1b;[31m`, "& < * [31m\n", Options{Width: 20}},
		{"html", "<b>x</b>\n\n<div>\ny\n</div>", "<b>x</b>\n\n<div>\ny\n</div>\n", Options{Width: 20}},
		{"a link that lies", "[https://good.example](https://evil.example)", "https://good.example (https://evil.example)\n", Options{Width: 60, Links: true}},
		{"a link", "[text](https://x.example)", "text\n", Options{Width: 60, Links: true}},
		{"table in too little room", "|a|b|c|\n|-|-|-|\n|some words|more words|even more|", "a: some\n  words\nb: more\n  words\nc: even\n  more\n", Options{Width: 10}},
		{"table that wraps", "|name|what it is|\n|-|:-:|\n|a|some words that are long|\n|b|x|", "name     what it is\n────  ─────────────────\na      some words that\n          are long\n\nb             x\n", Options{Width: 23}},
		{"reference", "[x][1]\n\n[1]: https://y.example", "x (https://y.example)\n", Options{Width: 60}},
		{"nothing", "\n \n", "", Options{}},
	} {
		lines := Markdown(c.src, c.o)
		if got := TextOf(lines); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	deep := strings.Repeat("> ", 500) + "x\n\n" + strings.Repeat("- ", 500) + "y " + strings.Repeat("*", 5000) + strings.Repeat("[", 5000)
	if n := len(Markdown(deep, Options{Width: 20})); n == 0 || n > 2000 {
		t.Errorf("a deep text has %d lines", n)
	}
}
