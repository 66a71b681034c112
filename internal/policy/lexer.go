package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wildcards of compiled patterns: control characters, which the strict check keeps out
// of every command.
const (
	star    = '\x01' // any run of bytes, blanks between words included
	within  = '\x03' // any run of bytes in one word
	unknown = '\x02' // in a command: what is not known of it
)

// A token is a word of a rule's text, or what stands between two commands.
type token struct {
	text   string
	op     string // "&&", "||", ";", "|", "|&", "&": no word
	quoted int    // how much of it stands before the first quote, -1 when none does
	tail   int    // how much stands behind the last one
	redirs bool   // a redirect that the rule would have to speak of
}

// A lexer reads the text of a rule as a shell would.
type lexer struct {
	s    string
	home string // what ~ and $HOME stand for; "" leaves them as they are
	// wide is for rules that forbid or ask, which err to the strict side: * and ~ count
	// in every quote, every blank of Unicode divides, and what nobody sees is not there.
	wide bool
	// tight: what stands between commands does so without blanks around it, too.
	tight bool

	at      int
	word    strings.Builder
	started bool
	quoted  int // as in token
	behind  int // where what stands behind the last quote begins
	out     []token
	writes  []string // where redirects of a rule that forbids or asks lead
}

// tokens takes a rule's text apart.
func (l *lexer) tokens() []token {
	l.quoted = -1
	for l.at < len(l.s) {
		c, size := utf8.DecodeRuneInString(l.s[l.at:])
		switch {
		case c == ' ' || c == '\t' || l.wide && c != '\n' && unicode.IsSpace(c):
			l.flush()
			l.at += size
		case l.wide && unicode.Is(unicode.Cf, c):
			l.at += size
		case (!l.started || l.wide && c == '>') && l.redirect(), l.operator():
		default:
			l.char(c, size)
		}
	}
	l.flush()
	return l.out
}

// char adds what begins with one character outside of quotes.
func (l *lexer) char(c rune, size int) {
	rest := l.s[l.at+size:]
	begin := !l.started
	l.started = true
	switch {
	case c == '\\' && rest != "":
		_, n := utf8.DecodeRuneInString(rest)
		l.quote()
		l.word.WriteString(rest[:n])
		l.behind = l.word.Len()
		size += n
	case c == '\'' && strings.Contains(rest, "'"):
		end := strings.IndexByte(rest, '\'')
		l.single(rest[:end], begin)
		size += end + 1
	case c == '"' && closing(rest) >= 0:
		end := closing(rest)
		l.double(rest[:end], begin)
		size += end + 1
	case c == '*':
		if s := l.word.String(); !strings.HasSuffix(s, string(star)) || l.behind == len(s) {
			l.word.WriteByte(star)
		}
	default:
		if n := l.homes(l.s[l.at:], begin, true); n > 0 {
			size = n
			break
		}
		l.word.WriteString(l.s[l.at : l.at+size])
	}
	l.at += size
}

// closing is where a double quote ends, -1 where none does.
func closing(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// single adds what stands in single quotes, which is meant as it is; in a rule that
// forbids or asks, what an author most likely meant.
func (l *lexer) single(s string, begin bool) {
	l.quote()
	defer func() { l.behind = l.word.Len() }()
	if !l.wide {
		l.word.WriteString(s)
		return
	}
	for i := 0; i < len(s); {
		n := l.homes(s[i:], begin && i == 0, true)
		switch {
		case n > 0:
			i += n
			continue
		case s[i] == '*':
			l.word.WriteByte(star)
		default:
			l.word.WriteByte(s[i])
		}
		i++
	}
}

// double adds what stands in double quotes.
func (l *lexer) double(s string, begin bool) {
	l.quote()
	defer func() { l.behind = l.word.Len() }()
	for i := 0; i < len(s); {
		n := l.homes(s[i:], begin && i == 0, l.wide)
		switch {
		case n > 0:
			i += n
			continue
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\*", s[i+1]) >= 0:
			i++
			l.word.WriteByte(s[i])
		case s[i] == '*' && l.wide:
			l.word.WriteByte(star)
		case s[i] == '*':
			l.word.WriteByte(within)
		default:
			l.word.WriteByte(s[i])
		}
		i++
	}
}

// homes writes the home folder where s begins with a way to name it, and says how long
// that is: $HOME, ${HOME} and, at the begin of a word, ~.
func (l *lexer) homes(s string, begin, tilde bool) int {
	n := 0
	switch {
	case l.home == "":
	case strings.HasPrefix(s, "${HOME}"):
		n = len("${HOME}")
	case strings.HasPrefix(s, "$HOME") && (len(s) == 5 || !nameByte(s[5])):
		n = len("$HOME")
	case tilde && s[0] == '~' && (len(s) == 1 || strings.IndexByte("/ \t:\"'*;|&", s[1]) >= 0):
		if before := l.word.String(); begin || l.wide && (strings.HasSuffix(before, "=") || strings.HasSuffix(before, ":")) {
			n = 1
		}
	}
	if n > 0 {
		l.word.WriteString(strings.TrimSuffix(l.home, "/"))
		if l.home == "/" && n == len(s) {
			l.word.WriteByte('/')
		}
	}
	return n
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// quote notes that a quote begins.
func (l *lexer) quote() {
	if l.quoted < 0 {
		l.quoted = l.word.Len()
	}
}

func (l *lexer) flush() {
	if l.started {
		l.out = append(l.out, token{text: l.word.String(), quoted: l.quoted, tail: l.word.Len() - l.behind})
	}
	l.word.Reset()
	l.started, l.quoted, l.behind = false, -1, 0
}

// operator reads what stands between two commands.
func (l *lexer) operator() bool {
	s := l.s[l.at:]
	op := ""
	for _, o := range []string{"&&", "||", "|&", "|", ";", "&", "\n"} {
		if strings.HasPrefix(s, o) {
			op = o
			break
		}
	}
	if op == "" {
		return false
	}
	alone := len(s) == len(op) || strings.IndexByte(" \t\n", s[len(op)]) >= 0
	if op != "\n" && !l.tight && !(alone && (!l.started || op == ";" && !l.quotedEnd())) {
		return false
	}
	l.flush()
	l.at += len(op)
	if op == "\n" {
		op = ";"
	}
	l.out = append(l.out, token{op: op})
	return true
}

// quotedEnd reports whether the character before is escaped.
func (l *lexer) quotedEnd() bool { return l.at > 0 && l.s[l.at-1] == '\\' }

// redirect reads a redirect with what it names. One to nowhere, or to where another
// descriptor leads, is not part of what a rule says.
func (l *lexer) redirect() bool {
	s := strings.TrimLeft(l.s[l.at:], "0123456789")
	if strings.HasPrefix(s, "&>") {
		s = s[1:]
	}
	rest := strings.TrimLeft(s, "<>")
	if rest == s || len(s)-len(rest) > 3 {
		return false
	}
	into := s[0] == '>'
	l.flush()
	rest = strings.TrimPrefix(rest, "|")
	name := strings.TrimLeft(rest, " \t")
	end := strings.IndexAny(name, " \t\n;|")
	if end < 0 {
		end = len(name)
	}
	target := name[:end]
	l.at = len(l.s) - len(name) + end
	if fd, dup := strings.CutPrefix(target, "&"); into && (target == "/dev/null" || dup && strings.Trim(fd, "0123456789-") == "") {
		return true
	}
	if into && l.wide {
		l.writes = append(l.writes, target)
	} else {
		l.out = append(l.out, token{text: target, redirs: true})
	}
	return true
}
