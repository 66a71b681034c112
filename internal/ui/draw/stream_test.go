package draw

import (
	"math/rand/v2"
	"strings"
	"testing"
)

const sample = `# Title

Some *text* with **bold**, ` + "`code`" + ` and [a link](https://example.org/x).
It goes on in a second line. https://example.org/auto

- one
- two

  more of two
  - nested
- [x] done
- [ ] open

1. first
2. second

> quoted
> text

| name | count |
|------|------:|
| a    | 1     |
| bb   | 22    |

` + "```go" + `
func main() {

	println("x") // say
}
` + "```" + `
After the fence

    indented code

    more of it

***

Last paragraph`

func TestStreamDrawsWhatMarkdownDraws(t *testing.T) {
	texts := []string{sample, "", "a", "\n\n", "- a\n\n\n\n- b\n\nc", "para\n```\nx\n```\npara", "- a\n  ```\n  x\n\n  y\n  ```\n- b\n\nz", "````\n```\nx\n````\ny", "# a\n## b\ntext\n# c", "a\n# b\n\nc\n===\n\nd", "~~~ go\nx",
		"see[^1]\n\n[^1]: The note.\n\nthe end\n", "see\n\n[a]: b c\n\nthe end [a]\n", "[a]: /b\n\nthe [a] end\n"}
	for _, src := range texts {
		for _, width := range []int{80, 20} {
			o := Options{Width: width}
			want := TextOf(Markdown(src, o))
			r := rand.New(rand.NewPCG(1, uint64(len(src))))
			for range 20 {
				s := NewStream(o)
				var got []Line
				for rest := src; rest != ""; {
					n := min(1+r.IntN(12), len(rest))
					s.Write(rest[:n])
					rest = rest[n:]
					got = append(got, s.Take()...)
					if tail := s.Tail(0); TextOf(append(got[:len(got):len(got)], tail...)) != TextOf(Markdown(src[:len(src)-len(rest)], o)) && !strings.Contains(rest, "\x00") {
						t.Fatalf("at %q the stream shows\n%s\nthe whole is\n%s", src[:len(src)-len(rest)], TextOf(append(got[:len(got):len(got)], tail...)), TextOf(Markdown(src[:len(src)-len(rest)], o)))
					}
				}
				if got = append(got, s.Finish()...); TextOf(got) != want {
					t.Fatalf("%q in %d columns: the stream draws\n%s\nMarkdown draws\n%s", src, width, TextOf(got), want)
				}
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add(sample, 40)
	f.Add("- a\n\n\t- b\n```\n- c", 3)
	f.Fuzz(func(t *testing.T, src string, width int) {
		if len(src) > 4000 || width < 1 || width > 200 {
			return
		}
		o := Options{Width: width}
		s := NewStream(o)
		var got []Line
		for i := 0; i < len(src); i += 7 {
			s.Write(src[i:min(i+7, len(src))])
			got = append(got, s.Take()...)
			s.Tail(10)
		}
		got = append(got, s.Finish()...)
		for _, l := range got {
			if l.Width() > width {
				t.Fatalf("%q is wider than %d", l.String(), width)
			}
		}
	})
}

// Of a block that is still open, what cannot change is settled as it comes, so
// that what is not printed yet stays small; and nothing of it comes twice, nor
// is missing, whatever the width becomes meanwhile.
func TestStreamSettlesWithinABlock(t *testing.T) {
	for _, c := range []struct{ name, src, early, rest string }{
		{"code", "```go\nx := 1\ny := 2\n\nz", "  x := 1\n  y := 2\n", "\n  z\n"},
		{"list", "- one\n- two\n  more\n- three\n", "• one\n• two more\n", "• three\n"},
		{"numbers", "8. a\n9. b\n10. c\n", "8. a\n9. b\n", "10. c\n"},
		{"after a paragraph", "para\n\n```\nx\ny", "para\n\n  x\n", "  y\n"},
		{"paragraph", "one\ntwo\n", "", "one two\n"},
	} {
		for _, again := range []int{0, 20, 60} {
			s := NewStream(Options{Width: 40})
			s.Write(c.src)
			if got := TextOf(s.Take()); got != c.early {
				t.Errorf("%s: settled is\n%s", c.name, got)
			}
			if again > 0 {
				s.Resize(Options{Width: again})
			}
			if got := TextOf(s.Tail(0)); got != c.rest {
				t.Errorf("%s: the tail is\n%s", c.name, got)
			}
			if got := TextOf(s.Finish()); got != c.rest {
				t.Errorf("%s: the rest is\n%s", c.name, got)
			}
		}
	}
}

// A carriage return ends a line of prose, also between two pieces, and removes nothing.
func TestCarriageReturnsOfProse(t *testing.T) {
	const text = "I will delete it.\rI only look.\r\nReally.\r"
	o := Options{Width: 60}
	want := TextOf(Markdown("I will delete it.\nI only look.\nReally.\n", o))
	if got := TextOf(Markdown(text, o)); got != want || !strings.Contains(got, "delete it") {
		t.Errorf("%q, want %q", got, want)
	}
	for n := 1; n <= len(text); n++ {
		s := NewStream(o)
		for i := 0; i < len(text); i += n {
			s.Write(text[i:min(i+n, len(text))])
		}
		if got := TextOf(append(s.Take(), s.Finish()...)); got != want {
			t.Errorf("pieces of %d: %q, want %q", n, got, want)
		}
	}
}
