package syntax

import "strings"

// A scanner reads one text.
type scanner struct {
	src  string
	pos  int
	lang *language
	*parts
	out   []Token
	value bool                           // the last piece was a value, so that / divides
	depth int                            // of braces, for those who ask
	state int                            // of a special reader
	other func(name, src string) []Token // reads a text of another language within
}

// emit says that the text up to end is of a kind.
func (s *scanner) emit(k Kind, end int) {
	end = min(end, len(s.src))
	if end <= s.pos {
		return
	}
	s.pos = end
	if n := len(s.out); n > 0 && s.out[n-1].Kind == k {
		s.out[n-1].End = end
		return
	}
	s.out = append(s.out, Token{Kind: k, End: end})
}

func (s *scanner) rest() string { return s.src[s.pos:] }

// lineEnd returns where the line at from ends, without its newline.
func (s *scanner) lineEnd(from int) int {
	if i := strings.IndexByte(s.src[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(s.src)
}

// lineStart reports whether only spaces stand before pos on its line.
func (s *scanner) lineStart() bool {
	for i := s.pos - 1; i >= 0; i-- {
		switch s.src[i] {
		case ' ', '\t':
		case '\n':
			return true
		default:
			return false
		}
	}
	return true
}

func (s *scanner) run() {
	for s.pos < len(s.src) {
		was := s.pos
		s.next()
		if s.pos == was { // never happens; a text is read to its end anyway
			s.emit(Plain, s.pos+1)
		}
	}
}

func (s *scanner) next() {
	c := s.src[s.pos]
	if c == ' ' || c == '\t' || c == '\n' {
		s.blank()
		return
	}
	if s.lang.special != nil && s.lang.special(s) {
		return
	}
	if s.starts[c] && (s.comment() || s.quoted()) {
		return
	}
	switch {
	case c >= '0' && c <= '9' || c == '.' && s.pos+1 < len(s.src) && digit(s.src[s.pos+1]) && !s.value:
		s.number()
	case strings.IndexByte(s.lang.sigils, c) >= 0 && s.variable():
		s.value = true
	case c == '@' && s.lang.flags&at != 0 && s.pos+1 < len(s.src) && s.letter(s.src[s.pos+1]):
		s.emit(Attribute, s.wordEnd(s.pos+1))
	case c == '#' && s.lang.flags&hash != 0 && s.lineStart():
		s.emit(Keyword, s.wordEnd(s.pos+1))
	case s.letter(c):
		s.word()
	case c == '/' && s.lang.flags&regexps != 0 && !s.value && s.regexp():
		s.value = true
	default:
		s.operator(c)
	}
}

func (s *scanner) blank() {
	i := s.pos
	for i < len(s.src) && (s.src[i] == ' ' || s.src[i] == '\t' || s.src[i] == '\n') {
		if s.src[i] == '\n' && s.lang.flags&regexps == 0 {
			s.value = false
		}
		i++
	}
	s.emit(Plain, i)
}

func (s *scanner) operator(c byte) {
	s.value = c == ')' || c == ']' || c == '}'
	switch c {
	case '{':
		s.depth++
	case '}':
		s.depth--
	}
	if strings.IndexByte("(){}[];,.\"'`", c) >= 0 || c >= 0x80 {
		s.emit(Plain, s.pos+1)
		return
	}
	s.emit(Operator, s.pos+1)
}

// letter reports whether c can begin a word.
func (s *scanner) letter(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 || c == '$' && strings.IndexByte(s.lang.ident, '$') >= 0
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (s *scanner) wordEnd(i int) int {
	for i < len(s.src) && s.longer[s.src[i]] {
		i++
	}
	return i
}

func (s *scanner) word() {
	end := s.wordEnd(s.pos)
	w := s.src[s.pos:end]
	if end < len(s.src) && len(w) <= 3 && (s.src[end] == '"' || s.src[end] == '\'') && prefixes(w) {
		s.emit(String, end) // r"…", b'…', f"…"
		return
	}
	look := w
	if s.lang.flags&nocase != 0 {
		look = strings.ToLower(w)
	}
	k, ok := s.words[look]
	after := byte(0)
	if i := end; i < len(s.src) {
		after = s.src[i]
	}
	dotted := s.pos > 0 && s.src[s.pos-1] == '.'
	switch {
	case ok && !(dotted && k == Keyword):
	case after == '(' && s.lang.flags&nocalls == 0:
		k = Function
	case after == '!' && s.lang.flags&ticks != 0 && end+1 < len(s.src) && strings.IndexByte("([{", s.src[end+1]) >= 0:
		k, end = Function, end+1
	case s.lang.flags&capital != 0 && w[0] >= 'A' && w[0] <= 'Z':
		if k = Type; len(w) > 1 && strings.ToUpper(w) == w {
			k = Constant
		}
	default:
		k = Plain
	}
	s.value = k != Keyword
	s.emit(k, end)
}

// prefixes reports whether w is what stands before a string of its own kind.
func prefixes(w string) bool {
	return strings.Trim(strings.ToLower(w), "rbfu") == "" || w == "br" || w == "L" || w == "u8"
}

func (s *scanner) number() {
	i := s.pos
	for i < len(s.src) {
		c := s.src[i]
		if (c == '+' || c == '-') && i > s.pos && s.src[i-1]|0x20 == 'e' && !strings.HasPrefix(s.src[s.pos:], "0x") {
			i++
			continue
		}
		if !digit(c) && !(c|0x20 >= 'a' && c|0x20 <= 'z') && c != '_' && c != '.' {
			break
		}
		if c == '.' && i+1 < len(s.src) && !digit(s.src[i+1]) {
			break
		}
		i++
	}
	s.value = true
	s.emit(Number, i)
}

// variable reads $x, ${x}, $(x as what it is: a mark and a word.
func (s *scanner) variable() bool {
	i := s.pos + 1
	if i >= len(s.src) {
		return false
	}
	if s.src[i] == '{' && s.src[s.pos] == '$' {
		if end := strings.IndexAny(s.src[i:], "}\n"); end > 0 && s.src[i+end] == '}' {
			s.emit(Variable, i+end+1)
			return true
		}
		return false
	}
	if end := s.wordEnd(i); end > i {
		s.emit(Variable, end)
		return true
	}
	if strings.IndexByte("@*#?$!-0123456789", s.src[i]) >= 0 && s.src[s.pos] == '$' {
		s.emit(Variable, i+1)
		return true
	}
	return false
}

func (s *scanner) comment() bool {
	for i := 0; i+1 < len(s.block); i += 2 {
		if strings.HasPrefix(s.rest(), s.block[i]) {
			s.emit(Comment, s.blockEnd(s.block[i], s.block[i+1]))
			return true
		}
	}
	for _, m := range s.line {
		if !strings.HasPrefix(s.rest(), m) {
			continue
		}
		if s.lang.flags&spaced != 0 && s.pos > 0 && strings.IndexByte(" \t\n;(", s.src[s.pos-1]) < 0 {
			continue
		}
		s.emit(Comment, s.lineEnd(s.pos))
		return true
	}
	return false
}

// blockEnd returns where the block comment at pos ends.
func (s *scanner) blockEnd(open, end string) int {
	i, deep := s.pos+len(open), 1
	for i < len(s.src) {
		j := strings.Index(s.src[i:], end)
		if j < 0 {
			return len(s.src)
		}
		if s.lang.flags&nested != 0 {
			deep += strings.Count(s.src[i:i+j], open)
		}
		i += j + len(end)
		if deep--; deep == 0 {
			return i
		}
	}
	return len(s.src)
}

// quoted reads a string.
func (s *scanner) quoted() bool {
	if s.lang.flags&heredoc != 0 && s.heredoc() {
		return true
	}
	for _, q := range s.quotes {
		if !strings.HasPrefix(s.rest(), q.open) {
			continue
		}
		if s.lang.flags&ticks != 0 && q.open == "'" && !s.character() {
			s.emit(Variable, max(s.wordEnd(s.pos+1), s.pos+1))
			return true
		}
		s.text(q)
		s.value = true
		return true
	}
	return false
}

// character reports whether a tick begins a character.
func (s *scanner) character() bool {
	r := s.rest()
	if len(r) > 2 && r[1] == '\\' {
		return true
	}
	i := strings.IndexByte(r[1:min(len(r), 7)], '\'')
	return i > 0 && (i == 1 || r[1] >= 0x80)
}

func (s *scanner) text(q quote) {
	i, end := s.pos+len(q.open), q.end
	for i < len(s.src) {
		switch c := s.src[i]; {
		case q.escape && c == '\\' && i+1 < len(s.src):
			s.emit(String, i)
			s.emit(Escape, i+2)
			i += 2
		case c == '\n' && !q.lines:
			s.emit(String, i)
			return
		case c == end[0] && strings.HasPrefix(s.src[i:], end):
			if q.doubled && strings.HasPrefix(s.src[i+len(end):], end) {
				i += 2 * len(end)
				continue
			}
			s.emit(String, i+len(end))
			return
		default:
			i++
		}
	}
	s.emit(String, i)
}

// heredoc reads <<WORD and what follows up to a line that is WORD.
func (s *scanner) heredoc() bool {
	r := s.rest()
	if !strings.HasPrefix(r, "<<") || strings.HasPrefix(r, "<<<") {
		return false
	}
	line := r[:s.lineEnd(s.pos)-s.pos]
	w := strings.TrimLeft(strings.TrimPrefix(line[2:], "-"), "~ ")
	w = strings.Trim(w, "'\"\\")
	n := 0
	for n < len(w) && (w[n]|0x20 >= 'a' && w[n]|0x20 <= 'z' || w[n] == '_' || n > 0 && digit(w[n])) {
		n++
	}
	if n == 0 {
		return false
	}
	s.emit(Operator, s.pos+2)
	s.emit(String, s.lineEnd(s.pos))
	for s.pos < len(s.src) {
		start := s.pos + 1
		end := s.lineEnd(min(start, len(s.src)))
		done := start <= end && strings.TrimSpace(s.src[start:end]) == w[:n]
		s.emit(String, end)
		if done || end == len(s.src) {
			break
		}
		if end < start {
			break
		}
	}
	return true
}

// regexp reads /…/flags on one line.
func (s *scanner) regexp() bool {
	class := false
	for i := s.pos + 1; i < len(s.src); i++ {
		switch s.src[i] {
		case '\n':
			return false
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class && i > s.pos+1 {
				for i++; i < len(s.src) && s.src[i] >= 'a' && s.src[i] <= 'z'; i++ {
				}
				s.emit(String, i)
				return true
			}
		}
	}
	return false
}
