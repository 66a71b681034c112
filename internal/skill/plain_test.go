package skill

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// What plain reads, YAML's parser reads in the same way.
func TestPlainIsYAML(t *testing.T) {
	for _, top := range []string{
		"name: a\ndescription: Does a thing, when asked\n", "name: a", "a: true\nb: null\nc: yes\nd: on\ne: Infinity\nf: inf\n", "a: x\n\nb: y\n", "a:   spaced   words  \n",
		`a: "in quotes: really # yes"`, `a: ""`, `a: " x "`, "a: dé – ü\n", "a: b:c\n", "a: b#c\n", "a: x-y_z\n", "y: n\n", "a: e1\n", "a: x\na: y\n", "a: NaN\n", "a: nan\nb: Null\n",
		"when_to_use: Use it when (a) b, c; [d] {e} & *f !g |h >i 'j' \"k\" %l @m `n`\n",
	} {
		if !same(t, top) {
			t.Errorf("%q is not plain", top)
		}
	}
	for _, top := range []string{
		"", "\n", "a\n", "a:\n", "a: \n", "a: [x]\n", "a: b: c\n", "a: b #c\n", "a: b:\n", "a: x\n  y\n", "a: |\n  y\n", "a: 1\n", "a: -1\n", "a: 'x'\n", "a: \"x\\n\"\n", "a: \"x\" y\n", "# c\na: b\n",
		"- a\n", "a: \tb\n", "a: b\tc\n", "a: b\u2028c\n", "a: b\xffc\n", "a: b\u0085c\n", " a: b\n", "? a: b\n", "a b: c\n", "true: x\n", "---\na: b\n", "a: b\r\n", "a: *x\n", "a: &x y\n", "a: !!str y\n", "a: \"x\n", "a: \"\n", "a: b\n\tc\n",
	} {
		if _, ok := plain(top); ok {
			t.Errorf("%q is plain", top)
		}
	}
}

func TestPlainIsYAMLWhateverStandsThere(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "name", "b", "true", "null", ":", ": ", " ", "  ", "\n", "\n\n", "#", " #", "\"", "'", "\\", "-", "- ", "[", "]", "{", "}", ",", "|", ">", "&", "*", "!", "%", "@", "`", "1", "0x1", ".", "~", "?", "? ", "é", "—", "\u00a0", "\u0085", "\u2028", "\ufeff", "\ufffd", "\t", "\r", "\x00", "\x7f", "\xff", "---", "...", "<<", "=", "y", "no", "Inf", "e3",
	})
	rapid.Check(t, func(r *rapid.T) {
		top := ""
		for range rapid.IntRange(1, 4).Draw(r, "lines") {
			top += rapid.SampledFrom([]string{"a: ", "name: ", "x-y: ", "", "b:", "a: \""}).Draw(r, "field") + strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(r, "value"), "") + "\n"
		}
		same(r, top)
	})
}

// same reports whether plain reads top, and fails where it does so otherwise than
// YAML's parser.
func same(t interface {
	Helper()
	Fatalf(string, ...any)
}, top string,
) bool {
	t.Helper()
	got, ok := plain(top)
	if !ok {
		return false
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(top), &doc); err != nil {
		t.Fatalf("%q: %v", top, err)
	}
	want := doc.Content[0]
	if want.Kind != got.Kind || len(want.Content) != len(got.Content) || want.Line != got.Line && top[0] != '\n' {
		t.Fatalf("%q: %d entries instead of %d", top, len(got.Content), len(want.Content))
	}
	for i, w := range want.Content {
		if g := got.Content[i]; g.Kind != w.Kind || g.Tag != w.Tag || g.Value != w.Value || g.Line != w.Line || g.Style != w.Style {
			t.Fatalf("%q: %+v instead of %+v", top, g, w)
		}
	}
	return true
}

func BenchmarkReadHead(b *testing.B) {
	text := "---\nname: skill\ndescription: does what a skill does when somebody asks for it\nargument-hint: file\n---\nA text.\n"
	for b.Loop() {
		if _, _, _, bad := readHead(text); bad != nil {
			b.Fatal(bad)
		}
	}
}
