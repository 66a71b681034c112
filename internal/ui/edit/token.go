package edit

import (
	"strings"
	"unicode"
)

// A TokenKind is what can be completed.
type TokenKind uint8

// The kinds.
const (
	FileToken    TokenKind = iota // @ and a path
	CommandToken                  // / and a name, at the start of the prompt
	ArgToken                      // what follows a command's name
	PathToken                     // a word of a shell command
)

// A Token is what stands around the cursor and can be completed. It holds until
// the next key.
type Token struct {
	Kind    TokenKind
	Query   string // from the token's start to the cursor, without @, / and quotes
	Command string // of an ArgToken: the command's name
	Args    string // of an ArgToken: what stands between the name and the cursor
	First   bool   // of a FileToken: only blanks stand before it
	from    int    // what a completion replaces
	to      int
}

// Token finds what can be completed at the cursor.
func (e *Editor) Token() (Token, bool) {
	if _, _, selected := e.selection(); selected {
		return Token{}, false
	}
	if t, ok := e.fileToken(); ok {
		t.First = strings.TrimSpace(string(e.t.r[:t.from])) == ""
		return t, true
	}
	switch e.Mode() {
	case Command:
		return e.commandToken(), true
	case Shell:
		from := e.wordFrom(1)
		return Token{Kind: PathToken, Query: e.t.expand(e.t.r[from:e.at], true), from: from, to: e.wordTo()}, true
	case Chat:
		if e.t.len() > 0 && e.at == 1 && e.t.r[0] == '/' && !e.literal {
			return e.commandToken(), true
		}
	case Memory, Background:
	}
	return Token{}, false
}

func (e *Editor) commandToken() Token {
	end := 0
	for end < e.t.len() && !unicode.IsSpace(e.t.r[end]) {
		end++
	}
	if e.at <= end {
		return Token{Kind: CommandToken, Query: e.t.expand(e.t.r[min(1, e.at):e.at], true), from: 0, to: end}
	}
	from := e.wordFrom(end)
	return Token{
		Kind: ArgToken, Query: e.t.expand(e.t.r[from:e.at], true), Command: e.t.expand(e.t.r[1:end], true), Args: strings.TrimLeft(e.t.expand(e.t.r[end:e.at], true), " "),
		from: from, to: e.wordTo(),
	}
}

// wordFrom is where the word before the cursor starts, not before least.
func (e *Editor) wordFrom(least int) int {
	at := e.at
	for at > least && !unicode.IsSpace(e.t.r[at-1]) {
		at--
	}
	return at
}

func (e *Editor) wordTo() int {
	at := e.at
	for at < e.t.len() && !unicode.IsSpace(e.t.r[at]) && !isChip(e.t.r[at]) {
		at++
	}
	return at
}

// fileToken looks back for an "@" that begins a word.
func (e *Editor) fileToken() (Token, bool) {
	start, _ := e.t.bounds(e.at)
	spaced := false
	for at := e.at - 1; at >= start; at-- {
		r := e.t.r[at]
		switch {
		case isChip(r):
			return Token{}, false
		case r == '@' && (at == start || begins(e.t.r[at-1])):
			return e.fileTokenAt(at, spaced)
		case unicode.IsSpace(r):
			spaced = true
		}
	}
	return Token{}, false
}

// begins: an "@" after this character is no part of a word.
func begins(r rune) bool {
	return unicode.IsSpace(r) || isChip(r) || strings.ContainsRune(`([{<"'`+"`,;!", r)
}

func (e *Editor) fileTokenAt(at int, spaced bool) (Token, bool) {
	from := at + 1
	if from < e.at && e.t.r[from] == '"' {
		from++
		q := e.t.r[from:e.at]
		for _, r := range q {
			if r == '"' {
				return Token{}, false // it is closed before the cursor
			}
		}
		to := e.at
		for _, end := e.t.bounds(e.at); to < end && e.t.r[to] != '"'; to++ {
		}
		if _, end := e.t.bounds(e.at); to < end {
			to++
		} else {
			to = e.wordTo() // never closed: what follows is other text
		}
		return Token{Kind: FileToken, Query: string(q), from: at, to: to}, true
	}
	if spaced {
		return Token{}, false
	}
	return Token{Kind: FileToken, Query: string(e.t.r[from:e.at]), from: at, to: e.wordTo()}, true
}

// Complete puts text in the place of a token: with its "@" or "/", and with the
// space that follows it when the token is done.
func (e *Editor) Complete(t Token, with string) Result {
	with = e.fit(with)
	if t.from < 0 || t.to > e.t.len() || t.from > t.to {
		return Ignored
	}
	rs := runes(with)
	if n := len(rs); n > 0 && rs[n-1] == ' ' && t.to < e.t.len() && e.t.r[t.to] == ' ' {
		t.to++ // the space that is there is enough
	}
	e.step(doOther)
	defer e.closeStep()
	e.change(t.from, t.to, rs)
	e.at, e.anchor, e.goal = t.from+len(rs), -1, -1
	return Changed
}

// Drop reads a paste as files that were dragged onto the terminal: absolute
// paths, alone or several, in the quotes, escapes or file:// addresses that
// terminals use. Whether they exist is the caller's to see; nil means that it is
// plain text.
func Drop(s string) []string {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > maxDrop || strings.ContainsAny(s, "\x00\n") && !strings.HasPrefix(s, "file://") {
		return nil
	}
	var out []string
	for rest := s; rest != ""; rest = strings.TrimLeft(rest, " \n\r") {
		var p string
		p, rest = dropped(rest)
		p = fileURL(p)
		if !absolute(p) || s[0] == '/' && strings.Count(s, "/") == 1 { // "/help" is a command
			return nil
		}
		out = append(out, p)
	}
	return out
}

// maxDrop bounds what is looked at for paths, in bytes.
const maxDrop = 16 << 10

// dropped splits one path off, without its quotes and escapes.
func dropped(s string) (p, rest string) {
	if q := s[0]; q == '\'' || q == '"' {
		if body, after, ok := strings.Cut(s[1:], string(q)); ok {
			return body, after
		}
	}
	windows := len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && !windows && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == ' ' || c == '\n' || c == '\r':
			return b.String(), s[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// fileURL is the path of a file:// address; other text stays as it is.
func fileURL(s string) string {
	rest, ok := strings.CutPrefix(s, "file://")
	if !ok {
		return s
	}
	rest = strings.TrimPrefix(rest, "localhost")
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		if rest[i] == '%' && i+2 < len(rest) {
			hi, lo := hexDigit(rest[i+1]), hexDigit(rest[i+2])
			if hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(rest[i])
	}
	return b.String()
}

func hexDigit(c byte) int {
	if c >= 'A' && c <= 'F' {
		c += 'a' - 'A'
	}
	return strings.IndexByte("0123456789abcdef", c)
}

func absolute(p string) bool {
	return len(p) > 1 && p[0] == '/' || len(p) > 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}
