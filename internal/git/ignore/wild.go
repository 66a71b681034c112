package ignore

import "strings"

// outcome of a match. Beyond no, two outcomes cut the search short: dead says
// that the text ran out, so no later start can match either; slash says that a
// "*" met a "/", so only a "**" further out may go on.
type outcome int

const (
	no outcome = iota
	yes
	dead
	slash
)

// maxSteps bounds the work of one match. Honest patterns take a few hundred
// steps; one that takes more was made to hold a search up, and matches nothing.
const maxSteps = 200_000

func match(pat, text string, paths bool) bool {
	w := matching{paths: paths, left: maxSteps}
	return w.wild(pat, text) == yes
}

// matching is one match. With paths, only a "**" that stands between slashes
// (or at an end) matches a "/".
type matching struct {
	paths bool
	left  int
}

// wild matches text against a pattern of ?, *, **, [set] and \c.
func (w *matching) wild(pat, text string) outcome {
	if w.left--; w.left < 0 {
		return dead
	}
	t := 0
	for p := 0; p < len(pat); p++ {
		c := pat[p]
		if t == len(text) && c != '*' {
			return dead
		}
		switch c {
		case '*':
			return w.star(pat, p, text[t:])
		case '?':
			if w.paths && text[t] == '/' {
				return no
			}
		case '[':
			in, end := set(pat, p+1, text[t])
			switch {
			case end < 0:
				return dead
			case !in || w.paths && text[t] == '/':
				return no
			}
			p = end
		case '\\':
			p++
			if p == len(pat) || pat[p] != text[t] {
				return no
			}
		default:
			if c != text[t] {
				return no
			}
		}
		t++
	}
	if t == len(text) {
		return yes
	}
	return no
}

// star matches from the run of stars at pat[at] on.
func (w *matching) star(pat string, at int, text string) outcome {
	p := at
	for p < len(pat) && pat[p] == '*' {
		p++
	}
	rest := pat[p:]
	deep := !w.paths
	if p-at > 1 && w.paths && (at == 0 || pat[at-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)) {
		if rest != "" && rest[0] == '/' && w.wild(rest[1:], text) == yes {
			return yes // "**/" also stands for no folder at all
		}
		deep = true
	}
	if rest == "" {
		if !deep && strings.Contains(text, "/") {
			return no
		}
		return yes
	}
	if !deep && rest[0] == '/' {
		i := strings.IndexByte(text, '/')
		if i < 0 {
			return no
		}
		return w.wild(rest[1:], text[i+1:])
	}
	for i := range len(text) {
		switch o := w.wild(rest, text[i:]); {
		case o != no:
			if !deep || o != slash {
				return o
			}
		case !deep && text[i] == '/':
			return slash
		}
	}
	return dead
}

// set tells whether c is in the set that starts at pat[p], just behind its
// "[", and where the set's "]" is; end is -1 when the set is malformed.
func set(pat string, p int, c byte) (in bool, end int) {
	not := p < len(pat) && (pat[p] == '!' || pat[p] == '^')
	if not {
		p++
	}
	var prev byte // the start of a range, 0 when there is none
	for first := true; ; first = false {
		if p >= len(pat) {
			return false, -1
		}
		ch := pat[p]
		switch {
		case ch == ']' && !first:
			return in != not, p
		case ch == '\\':
			if p++; p == len(pat) {
				return false, -1
			}
			ch = pat[p]
			in = in || ch == c
		case ch == '-' && prev != 0 && p+1 < len(pat) && pat[p+1] != ']':
			p++
			if ch = pat[p]; ch == '\\' {
				if p++; p == len(pat) {
					return false, -1
				}
				ch = pat[p]
			}
			in = in || prev <= c && c <= ch
			ch = 0
		case ch == '[' && p+1 < len(pat) && pat[p+1] == ':':
			i := strings.IndexByte(pat[p+2:], ']')
			if i < 0 {
				return false, -1
			}
			name := pat[p+2 : p+2+i]
			if !strings.HasSuffix(name, ":") {
				in = in || c == '['
				break
			}
			member, ok := class(strings.TrimSuffix(name, ":"), c)
			if !ok {
				return false, -1
			}
			in = in || member
			p += 2 + i
			ch = 0
		default:
			in = in || ch == c
		}
		prev = ch
		p++
	}
}

// class knows the POSIX character classes over ASCII.
func class(name string, c byte) (in, ok bool) {
	member, ok := classes[name]
	return ok && member(c), ok
}

var classes = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isLetter(c) || isDigit(c) },
	"alpha":  isLetter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < 0x20 || c == 0x7f },
	"digit":  isDigit,
	"graph":  isGraphic,
	"lower":  isLower,
	"print":  func(c byte) bool { return isGraphic(c) || c == ' ' },
	"punct":  func(c byte) bool { return isGraphic(c) && !isLetter(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  isUpper,
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func isUpper(c byte) bool   { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool   { return 'a' <= c && c <= 'z' }
func isLetter(c byte) bool  { return isUpper(c) || isLower(c) }
func isDigit(c byte) bool   { return '0' <= c && c <= '9' }
func isGraphic(c byte) bool { return 0x21 <= c && c <= 0x7e }
