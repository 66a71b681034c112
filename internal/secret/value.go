package secret

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// addValue adds every form of a value.
func (ix *index) addValue(v string) {
	back := []byte(v)
	slices.Reverse(back)
	for _, text := range []string{v, string(back)} {
		starts := escapedStarts(text)
		for _, escapes := range []bool{false, true} {
			if escapes && !strings.ContainsAny(text, `\%&`) {
				continue
			}
			m := &escaped{text, escapes}
			for _, t := range starts {
				ix.addFirst(t, text[0], m)
			}
		}
	}
	h := &hexed{v}
	for _, t := range hexStarts(v[0], v[1]) {
		ix.add(t, true, h)
	}
	for align := range 3 {
		m := newBase64(v, align)
		for _, t := range m.starts() {
			ix.add(t, true, m)
		}
	}
}

// partial is how much of a value must have been seen at the end of a text for
// what was seen to be hidden: "head -c" cuts a key like any other text.
const partial = 16

// cut is the answer when b ends inside of a value.
func cut(b []byte, i, seen int, final bool) found {
	switch {
	case !final:
		return found{state: more}
	case seen >= partial:
		return found{state: yes, start: i, end: len(b)}
	}
	return found{}
}

// escaped finds a text as it is and with any of its characters escaped as in
// URLs, JSON, HTML, C, shells, and UTF-16.
type escaped struct {
	v string
	// escapes reads what may be an escape as one; otherwise a character that
	// is as it should be stands for itself. It matters for values that hold
	// a backslash, a percent sign or an ampersand.
	escapes bool
}

func (m *escaped) match(b []byte, i int, _ [2]byte, final bool) found {
	j := i
	for k := 0; k < len(m.v); {
		if j < len(b) && k > 0 && b[j] == 0 && m.v[k] != 0 {
			j++
		}
		if j >= len(b) {
			return cut(b, i, k, final)
		}
		c := b[j]
		if c == m.v[k] && !(m.escapes && (c == '\\' || c == '%' || c == '&')) {
			j++
			k++
			continue
		}
		x := unescape(b[j:], m.v[k])
		switch {
		case x.short && !final:
			return found{state: more}
		case x.n > 0 && strings.HasPrefix(m.v[k:], string(x.text[:x.size])):
			j += x.n
			k += x.size
		case c == m.v[k]:
			j++
			k++
		default:
			return found{}
		}
	}
	return found{state: yes, start: i, end: j}
}

// An escape is what unescape read: size bytes of text, written in n bytes.
// n is 0 when there is none; short says that it may yet come.
type escape struct {
	text  [utf8.UTFMax]byte
	size  int
	n     int
	short bool
}

func (x escape) of(r rune) escape {
	x.size = utf8.EncodeRune(x.text[:], r)
	return x
}

// oneByte is an escape that takes n bytes and stands for the byte c.
func oneByte(c byte, n int) escape { return escape{text: [utf8.UTFMax]byte{c}, size: 1, n: n} }

// unescape reads one escape at the beginning of b. want decides what "+" and
// \n are.
func unescape(b []byte, want byte) escape {
	switch b[0] {
	case '+':
		if want == ' ' {
			return oneByte(' ', 1)
		}
	case '%':
		return numeric(b, 1, 2, 16)
	case '&':
		return entity(b)
	case '\\':
		if len(b) < 2 {
			return escape{short: true}
		}
		switch c := b[1]; {
		case c == 'u':
			return numeric(b, 2, 4, 16)
		case c == 'x':
			return numeric(b, 2, 2, 16)
		case c >= '0' && c <= '3':
			return numeric(b, 1, 3, 8)
		case want < ' ' && strings.IndexByte("nrt", c) >= 0:
			return oneByte("\n\r\t"[strings.IndexByte("nrt", c)], 2)
		default:
			return oneByte(c, 2)
		}
	}
	return escape{}
}

// numeric reads digits after a prefix: a byte, or with four digits a rune.
func numeric(b []byte, prefix, digits, base int) escape {
	r := 0
	for k := prefix; k < prefix+digits; k++ {
		if k >= len(b) {
			return escape{short: true}
		}
		d := digit(b[k])
		if d >= base {
			return escape{}
		}
		r = r*base + d
	}
	if digits == 4 {
		return escape{n: prefix + digits}.of(rune(r))
	}
	return oneByte(byte(r), prefix+digits)
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

// entity reads &name; and &#N; and &#xN;.
func entity(b []byte) escape {
	const longest = 10
	end := 1
	for ; end < len(b) && end < longest && b[end] != ';'; end++ {
		if !alnum[b[end]] && b[end] != '#' {
			return escape{}
		}
	}
	if end == len(b) || end == longest {
		return escape{short: end < longest}
	}
	name := string(b[1:end])
	switch name {
	case "amp":
		return oneByte('&', end+1)
	case "lt":
		return oneByte('<', end+1)
	case "gt":
		return oneByte('>', end+1)
	case "quot":
		return oneByte('"', end+1)
	case "apos":
		return oneByte('\'', end+1)
	}
	base := 10
	num, ok := strings.CutPrefix(name, "#")
	if strings.HasPrefix(num, "x") || strings.HasPrefix(num, "X") {
		num, base = num[1:], 16
	}
	r := 0
	for k := range len(num) {
		if digit(num[k]) >= base {
			return escape{}
		}
		r = r*base + digit(num[k])
	}
	if !ok || num == "" || r > utf8.MaxRune {
		return escape{}
	}
	return escape{n: end + 1}.of(rune(r))
}

// forms are how one byte may be written; of long forms the beginning.
func forms(c byte) []string {
	low := hex.EncodeToString([]byte{c})
	up := strings.ToUpper(low)
	out := []string{
		string([]byte{c}), `\` + string([]byte{c}), "%" + up, "%" + low, `\u0`, `\x` + up[:1], `\x` + low[:1],
		string([]byte{'\\', '0' + c>>6, '0' + c>>3&7}), "&#" + strconv.Itoa(int(c)), "&#0", "&#x", "&#X",
	}
	if c >= 0x80 {
		out = append(out, `\u`)
	}
	return append(out, spelled[c]...)
}

// spelled are forms of single characters.
var spelled = map[byte][]string{
	'&': {"&am"}, '<': {"&lt"}, '>': {"&gt"}, '"': {"&qu"}, '\'': {"&ap"}, '\n': {`\n`}, '\r': {`\r`}, '\t': {`\t`}, ' ': {"+"},
}

// escapedStarts are the trigrams that the forms of a text begin with.
func escapedStarts(v string) []string {
	var out []string
	var grow func(have string, k int)
	grow = func(have string, k int) {
		if len(have) >= 3 {
			out = append(out, have[:3])
			return
		}
		if k >= len(v) {
			return
		}
		for _, f := range forms(v[k]) {
			grow(have+f, k+1)
			if k > 0 {
				grow(have+"\x00"+f, k+1)
			}
		}
	}
	grow("", 0)
	slices.Sort(out)
	return slices.Compact(out)
}

// hexed finds a value as hexadecimal digits, in either case, also with
// separators between the bytes: dumps, C arrays, fingerprints.
type hexed struct{ v string }

// between is what may stand between two bytes of a hexadecimal dump.
const between = " \t\r\n:,-;%\\xX\"'"

const maxBetween = 24

func (m *hexed) match(b []byte, i int, _ [2]byte, final bool) found {
	j := i
	for k := range len(m.v) {
		if k > 0 {
			for gap := 0; j < len(b) && gap < maxBetween; gap++ {
				if b[j] == '0' && j+1 < len(b) && b[j+1]|0x20 == 'x' {
					j += 2
				} else if strings.IndexByte(between, b[j]) >= 0 {
					j++
				} else {
					break
				}
			}
		}
		if j+1 >= len(b) {
			if j < len(b) && digit(b[j]) != int(m.v[k]>>4) && b[j] != '0' {
				return found{}
			}
			return cut(b, i, k, final)
		}
		if digit(b[j]) != int(m.v[k]>>4) || digit(b[j+1]) != int(m.v[k]&15) {
			return found{}
		}
		j += 2
	}
	return found{state: yes, start: i, end: j}
}

func hexStarts(c, next byte) []string {
	var first, second, out []string
	for _, h := range []string{"0123456789abcdef", "0123456789ABCDEF"} {
		for _, l := range []string{"0123456789abcdef", "0123456789ABCDEF"} {
			first = append(first, string([]byte{h[c>>4], l[c&15]}))
		}
		second = append(second, string([]byte{h[next>>4]}))
	}
	for k := range len(between) {
		second = append(second, between[k:k+1])
	}
	second = append(second, "0")
	for _, f := range first {
		for _, s := range second {
			out = append(out, f+s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// base64ed finds a value inside of base64 text, where it begins at a byte
// whose place modulo 3 is align; in both alphabets, also when it is wrapped
// or percent-encoded.
type base64ed struct {
	core string // characters that the value alone decides
	rest byte   // bits of the value in the character after core, from the top
	bits int    // how many
}

func newBase64(v string, align int) *base64ed {
	padded := append(make([]byte, align, align+len(v)+3), v...)
	total := len(padded) * 8 / 6
	bits := len(padded) * 8 % 6
	all := base64.StdEncoding.EncodeToString(append(padded, 0, 0, 0))
	first := (align*8 + 5) / 6
	m := &base64ed{core: all[first:total], bits: bits}
	if bits > 0 {
		m.rest = byte(strings.IndexByte(alphabet, all[total]))
	}
	return m
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// sextet reads one character in either alphabet; its length is 0 at none.
func sextet(b []byte) (c byte, n int, short bool) {
	switch b[0] {
	case '-':
		return '+', 1, false
	case '_':
		return '/', 1, false
	case '\\':
		if len(b) == 1 {
			return 0, 0, true
		}
		if b[1] == '/' {
			return '/', 2, false
		}
		return 0, 0, false
	case '%':
		x := numeric(b, 1, 2, 16)
		return x.text[0], x.n, x.short
	}
	return b[0], 1, false
}

const maxWrap = 64 // bytes between two lines of wrapped base64

// wrap is the length of a line's end and the next one's indentation.
func wrap(b []byte) int {
	n := 0
	for n < len(b) && n < maxWrap {
		switch {
		case b[n] == '\r' || b[n] == '\n' || n > 0 && (b[n] == ' ' || b[n] == '\t'):
			n++
		case b[n] == '\\' && n+1 < len(b) && (b[n+1] == 'n' || b[n+1] == 'r'):
			n += 2
		default:
			return n
		}
	}
	return n
}

func (m *base64ed) match(b []byte, i int, _ [2]byte, final bool) found {
	j := i
	for k := range len(m.core) {
		if k > 0 && j < len(b) {
			j += wrap(b[j:])
		}
		if j >= len(b) {
			return cut(b, i, k*3/4, final)
		}
		c, n, short := sextet(b[j:])
		if short && !final {
			return found{state: more}
		}
		if n == 0 || c != m.core[k] {
			return found{}
		}
		j += n
	}
	if m.bits > 0 {
		w := wrap(b[j:])
		if j+w >= len(b) && !final {
			return found{state: more}
		}
		if j+w < len(b) {
			c, n, short := sextet(b[j+w:])
			if short && !final {
				return found{state: more}
			}
			x := strings.IndexByte(alphabet, c)
			if n > 0 && x >= 0 && byte(x)>>(6-m.bits) == m.rest>>(6-m.bits) {
				j += w + n
			}
		}
	}
	f := found{state: yes, start: i, end: j}
	if m.bits > 0 {
		f.goes = tail{class: padding}
	}
	return f.extended(b)
}

func (m *base64ed) starts() []string {
	var out []string
	var grow func(have string, k int)
	grow = func(have string, k int) {
		if len(have) >= 3 {
			out = append(out, have[:3])
			return
		}
		c := m.core[k]
		ways := []string{string(c)}
		switch c {
		case '+':
			ways = append(ways, "-", "%2B")
		case '/':
			ways = append(ways, "_", "%2F", `\/`)
		}
		gaps := []string{""}
		if k > 0 {
			gaps = []string{"", "\n", "\r\n", `\n`, `\r`}
		}
		for _, g := range gaps {
			for _, w := range ways {
				grow(have+g+w, k+1)
			}
		}
	}
	grow("", 0)
	slices.Sort(out)
	return slices.Compact(out)
}
