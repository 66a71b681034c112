package draw

import (
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
)

// Depth is how many colours a terminal has.
type Depth uint8

// The depths.
const (
	Bare      Depth = iota // no sequences at all
	Mono                   // attributes without colours (NO_COLOR)
	Colors16               // the terminal's own
	Colors256              //
	TrueColor              // 24 bits
)

// A Profile is what may be written to a terminal.
type Profile struct {
	Depth Depth
	Links bool // OSC 8
}

// look is what a terminal is told about one span.
type look struct {
	fg, bg Color
	attr   Attr
}

// Append writes l to dst for a terminal. It leaves the terminal in the state
// it found it in: no attribute, no link. Whatever a Span holds, the only
// controls that are written are those that this function makes.
func (t *Theme) Append(dst []byte, l Line, p Profile) []byte {
	var now look
	link := ""
	for _, s := range l {
		if s.Text == "" {
			continue
		}
		text := s.Text
		if !printable(text) {
			text = safe(text)
		}
		if p.Depth != Bare {
			if next := t.look(s.Style, p.Depth); next != now {
				dst = appendSGR(dst, now, next)
				now = next
			}
			if to := p.link(s.Link); to != link {
				dst = appendLink(dst, to)
				link = to
			}
		}
		dst = append(dst, text...)
	}
	if link != "" {
		dst = appendLink(dst, "")
	}
	if now != (look{}) {
		dst = append(dst, "\x1b[m"...)
	}
	return dst
}

// safe is the last door: what got into a Span without passing String.
func safe(s string) string {
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffd {
			return String(s)
		}
	}
	if clean := clip.Clean(s); clean != s {
		return String(s)
	}
	return s
}

func (t *Theme) look(s Style, d Depth) look {
	from := t
	if d == Colors16 {
		from = &ansiFaces
	}
	f := from.Face(s.Role)
	out := look{fg: f.Fg, bg: f.Bg, attr: f.Attr | s.Attr}
	if s.On != Plain {
		on := from.Face(s.On)
		if out.bg.None() {
			out.bg = on.Bg
		}
		if out.fg.None() {
			out.fg = on.Fg
		}
		out.attr |= on.Attr
	}
	if !s.Fg.None() {
		out.fg = s.Fg
	}
	if !s.Bg.None() {
		out.bg = s.Bg
	}
	switch d {
	case Bare:
		return look{}
	case Mono:
		return look{attr: out.attr | monoAttr(s)}
	case Colors16:
		out.fg, out.bg = out.fg.to16(), out.bg.to16()
	case Colors256:
		out.fg, out.bg = out.fg.to256(), out.bg.to256()
	case TrueColor:
	}
	return out
}

// monoAttr keeps apart without colour what must not be told by colour alone.
func monoAttr(s Style) Attr {
	switch s.Role {
	case Match, Selected:
		return Reverse
	case AddedWord, RemovedWord:
		return Underline
	}
	if s.On == Selected {
		return Reverse
	}
	return 0
}

// ansiFaces is ansiTheme, read only.
var ansiFaces = *ansiTheme()

func appendSGR(dst []byte, was, next look) []byte {
	if next == (look{}) {
		return append(dst, "\x1b[m"...)
	}
	start := len(dst)
	dst = append(dst, '\x1b', '[')
	if was.attr&^next.attr != 0 { // something goes: begin anew
		dst = append(dst, '0', ';')
		was = look{}
	}
	for i, code := range [...]byte{'1', '2', '3', '4', '7', '9'} {
		if (next.attr&^was.attr)&(1<<i) != 0 {
			dst = append(dst, code, ';')
		}
	}
	if next.fg != was.fg {
		dst = appendColor(dst, next.fg, 30)
	}
	if next.bg != was.bg {
		dst = appendColor(dst, next.bg, 40)
	}
	if dst[len(dst)-1] != ';' {
		return dst[:start]
	}
	dst[len(dst)-1] = 'm'
	return dst
}

// appendColor writes the parameters of a color, each with a semicolon after.
func appendColor(dst []byte, c Color, base int) []byte {
	if n, ok := c.index(); ok {
		switch {
		case n < 8:
			dst = strconv.AppendInt(dst, int64(base+int(n)), 10)
		case n < 16:
			dst = strconv.AppendInt(dst, int64(base+60+int(n)-8), 10)
		default:
			dst = strconv.AppendInt(dst, int64(base+8), 10)
			dst = append(dst, ";5;"...)
			dst = strconv.AppendInt(dst, int64(n), 10)
		}
		return append(dst, ';')
	}
	r, g, b, ok := c.RGB()
	if !ok {
		dst = strconv.AppendInt(dst, int64(base+9), 10)
		return append(dst, ';')
	}
	dst = strconv.AppendInt(dst, int64(base+8), 10)
	for _, n := range [...]uint8{2, r, g, b} {
		dst = append(dst, ';')
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return append(dst, ';')
}

// link returns the address that may be written for s: an http, https, mailto
// or file address of printable ASCII.
func (p Profile) link(s string) string {
	if s == "" || !p.Links || len(s) > 2000 || !printable(s) || strings.ContainsAny(s, " ") {
		return ""
	}
	for _, scheme := range [...]string{"https://", "http://", "mailto:", "file://"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return s
		}
	}
	return ""
}

func appendLink(dst []byte, to string) []byte {
	dst = append(dst, "\x1b]8;;"...)
	dst = append(dst, to...)
	return append(dst, "\x1b\\"...)
}

// steps are the levels of the palette's color cube.
var steps = [6]int{0, 95, 135, 175, 215, 255}

// to256 returns the nearest color of the 256.
func (c Color) to256() Color {
	r, g, b, ok := c.RGB()
	if !ok {
		return c
	}
	near := func(v uint8) int {
		best := 0
		for i, s := range steps {
			if abs(int(v)-s) < abs(int(v)-steps[best]) {
				best = i
			}
		}
		return best
	}
	x, y, z := near(r), near(g), near(b)
	cube := distance(int(r)-steps[x], int(g)-steps[y], int(b)-steps[z])
	gray := min(max((int(r)+int(g)+int(b))/3-3, 0)/10, 23)
	level := 8 + 10*gray
	if distance(int(r)-level, int(g)-level, int(b)-level) < cube {
		return Index(uint8(232 + gray))
	}
	return Index(uint8(16 + 36*x + 6*y + z))
}

// palette16 is the usual look of the first 16 colours.
var palette16 = [16][3]int{
	{0, 0, 0}, {205, 0, 0}, {0, 205, 0}, {205, 205, 0}, {0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229},
	{127, 127, 127}, {255, 0, 0}, {0, 255, 0}, {255, 255, 0}, {92, 92, 255}, {255, 0, 255}, {0, 255, 255}, {255, 255, 255},
}

// to16 returns the nearest color of the first 16.
func (c Color) to16() Color {
	if n, ok := c.index(); ok && n < 16 || c.None() {
		return c
	} else if ok {
		c = cubeRGB(n)
	}
	r, g, b, _ := c.RGB()
	best, far := 0, 1<<30
	for i, p := range palette16 {
		if d := distance(int(r)-p[0], int(g)-p[1], int(b)-p[2]); d < far {
			best, far = i, d
		}
	}
	return Index(uint8(best))
}

// cubeRGB returns the usual value of the palette's color n of 16 and above.
func cubeRGB(n uint8) Color {
	if n >= 232 {
		v := 8 + 10*(n-232)
		return RGB(v, v, v)
	}
	n -= 16
	return RGB(uint8(steps[n/36]), uint8(steps[n/6%6]), uint8(steps[n%6]))
}

func distance(r, g, b int) int { return 2*r*r + 4*g*g + 3*b*b }

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
