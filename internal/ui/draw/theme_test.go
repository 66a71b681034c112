package draw

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// On a usual background each face can be read: 4.5 to 1, and 7 to 1 in the
// themes of high contrast.
func TestContrast(t *testing.T) {
	grounds := map[bool][]Color{true: {hex(0x000000), hex(0x1e1e1e)}, false: {hex(0xffffff), hex(0xf7f3e8)}}
	for _, name := range ThemeNames() {
		th, ok := Named(name, true)
		if !ok || th.Name != name {
			t.Fatalf("%s is not known", name)
		}
		if name == "ansi" {
			continue // the terminal's own colours
		}
		need := 4.5
		if strings.HasSuffix(name, "contrast") {
			need = 7
		}
		for r := range nRoles {
			f := th.Face(r)
			for _, ground := range grounds[th.Dark] {
				if !f.Bg.None() {
					ground = f.Bg
				}
				if f.Fg.None() {
					continue
				}
				if c := contrast(f.Fg, ground); c < need {
					t.Errorf("%s: %s has a contrast of %.2f on %06x", name, roleNames[r], c, ground&0xffffff)
				}
				for _, on := range []Role{Added, Removed} { // code stands on these
					if bg := th.Face(on).Bg; r >= Keyword && !bg.None() && contrast(f.Fg, bg) < need {
						t.Errorf("%s: %s has a contrast of %.2f upon %s", name, roleNames[r], contrast(f.Fg, bg), roleNames[on])
					}
				}
				// Where there are 256 colours it is nearly the same.
				if c := contrast(f.Fg.to256(), ground); c < need*0.85 {
					t.Errorf("%s: %s has a contrast of %.2f on %06x in 256 colours", name, roleNames[r], c, ground&0xffffff)
				}
			}
		}
	}
}

func TestThemeFile(t *testing.T) {
	th, problems := ParseTheme([]byte(`{
  "name": "mine", "base": "light",
  "colors": {
    "accent": "#a0f",
    "quiet": {"fg": "ansi:8", "italic": true},
    "acent": "red",
    "wrong": "reddish",
    "ok": {"blink": true}
  }
}`))
	want := []Problem{{Line: 6, Text: `"acent" is no role; did you mean "accent"?`}, {Line: 8, Text: "ok: a color or an object of fg, bg, bold, dim, italic, underline, reverse is needed"},
		{Line: 7, Text: `wrong: "reddish" is no color; write #rrggbb, ansi:0 to ansi:255, a name such as brightBlue, or default`}}
	if !reflect.DeepEqual(problems, want) {
		t.Errorf("%+v", problems)
	}
	if th.Name != "mine" || th.Dark || th.Face(Accent).Fg != RGB(0xaa, 0, 0xff) || th.Face(Quiet) != (Face{Fg: Index(8), Attr: Italic}) || th.Face(Link) != lightTheme().Face(Link) {
		t.Errorf("%+v", th)
	}
	for _, bad := range []string{"", "{", `{"x":1}`, "[]", "{\n\n\"name\": 3}"} {
		if th, p := ParseTheme([]byte(bad)); th == nil || len(p) != 1 || p[0].Line < 1 {
			t.Errorf("%q: %v", bad, p)
		}
	}
}

func TestAppend(t *testing.T) {
	th, _ := Named("ansi", true)
	l := Line{{Text: "a", Style: Style{Role: OK}}, {Text: "b", Style: Style{Role: OK, Attr: Bold}}, {Text: "c"}, {Text: "d", Style: Style{Role: Match}}, {Text: "e", Style: Style{Fg: RGB(255, 0, 0), On: Selected}, Link: "https://x"}}
	for p, want := range map[Profile]string{
		{}:                              "abcde",
		{Depth: Mono}:                   "a\x1b[1mb\x1b[mc\x1b[7md\x1b[1me\x1b[m",
		{Depth: Colors16}:               "\x1b[32ma\x1b[1mb\x1b[mc\x1b[7md\x1b[0;1;91me\x1b[m",
		{Depth: TrueColor, Links: true}: "\x1b[32ma\x1b[1mb\x1b[mc\x1b[7md\x1b[0;1;38;2;255;0;0m\x1b]8;;https://x\x1b\\e\x1b]8;;\x1b\\\x1b[m",
	} {
		if got := string(th.Append(nil, l, p)); got != want {
			t.Errorf("%+v:\n got %q\nwant %q", p, got, want)
		}
	}
}

// contrast returns the contrast of two colours as WCAG 2 defines it, 1 to 21.
func contrast(a, b Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of a color (WCAG 2).
func luminance(c Color) float64 {
	r, g, b, _ := c.Value()
	lin := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}
