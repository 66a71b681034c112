// Package syntax tells the words of a source text by their kind: keyword,
// string, comment. It knows some forty languages by tables, reads a text once
// from its start to its end, and is right about what a reader looks at; it is
// no compiler, and what it cannot tell it leaves plain.
package syntax

import (
	"path"
	"strings"
	"sync"
)

// A Kind is what a piece of a text is.
type Kind uint8

// The kinds.
const (
	Plain Kind = iota
	Keyword
	Type
	Function
	String
	Number
	Comment
	Operator
	Variable
	Constant
	Tag
	Attribute
	Escape
	Inserted
	Deleted
)

// A Token is a piece of a text. Its text ends at End; it begins where the one
// before it ends.
type Token struct {
	Kind Kind
	End  int
}

// Tokens returns the pieces of src, which together are all of it. name is a
// language or a file name; nil is returned for one that is not known.
func Tokens(name, src string) []Token {
	e := find(name)
	if e == nil {
		return nil
	}
	s := scanner{src: src, other: Tokens, lang: &e.language, parts: e.parts(), out: make([]Token, 0, len(src)/5+4)}
	s.run()
	return s.out
}

// An entry is a language, and its parts once they are needed.
type entry struct {
	language
	parts func() *parts
}

// index leads from each name and each ending to its language. It is made when
// the first text is read.
var index = sync.OnceValue(func() map[string]*entry {
	m := map[string]*entry{}
	for _, l := range languages() {
		e := &entry{language: l, parts: sync.OnceValue(func() *parts { return split(l) })}
		for _, n := range strings.Fields(l.names) {
			m[n] = e
		}
	}
	return m
})

// find returns the language of a name: "go", "Go", "main.go", "a/Makefile".
func find(name string) *entry {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.IndexAny(name, " ,{:"); i > 0 { // as in: go title="x"
		name = name[:i]
	}
	if name == "" || len(name) > 4096 {
		return nil
	}
	m := index()
	if e := m[name]; e != nil {
		return e
	}
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	if e := m[base]; e != nil {
		return e
	}
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		return m[base[i+1:]]
	}
	return nil
}

// A language is how to read one.
type language struct {
	names string // of the language, of files, and endings of files
	line  string // what begins a comment to the end of the line
	block string // pairs that enclose a comment
	// pairs that enclose a string, each written as what opens it, a comma, what
	// closes it, a comma, and any of: e a backslash escapes, d the closing mark
	// doubled is itself, m it goes over lines
	quotes   string
	keywords string
	types    string
	consts   string
	ident    string // characters of a word besides letters, digits and _
	sigils   string // characters that begin a variable
	flags    flags
	special  func(*scanner) bool // reads what the table cannot tell
}

type flags uint16

const (
	nocase  flags = 1 << iota // keywords in any case
	capital                   // a word that begins with a capital is a type
	nested                    // comments stand within comments
	at                        // @word is an attribute
	hash                      // #word at the start of a line is a keyword
	spaced                    // a comment needs a space or a line start before it
	nocalls                   // a word before ( is no function
	regexps                   // /…/ is a string where a value can stand
	ticks                     // 'a is a lifetime or a variable, 'a' a character
	heredoc                   // <<WORD begins a string
)

// parts are the table of a language, ready to be looked up.
type parts struct {
	words  map[string]Kind
	line   []string
	block  []string // what opens, what closes, and so on
	quotes []quote
	starts [256]bool // what a comment or a string can begin with
	longer [256]bool // what a word is made of
}

// A quote is how a string is written.
type quote struct {
	open, end              string
	escape, doubled, lines bool
}

func split(l language) *parts {
	p := &parts{words: map[string]Kind{}, line: strings.Fields(l.line), block: strings.Fields(l.block)}
	for _, set := range [...]struct {
		list string
		kind Kind
	}{{l.types, Type}, {l.consts, Constant}, {l.keywords, Keyword}} {
		for w := range strings.FieldsSeq(set.list) {
			p.words[w] = set.kind
		}
	}
	for q := range strings.FieldsSeq(l.quotes) {
		open, rest, _ := strings.Cut(q, ",")
		end, how, _ := strings.Cut(rest, ",")
		p.quotes = append(p.quotes, quote{open: open, end: end, escape: strings.Contains(how, "e"),
			doubled: strings.Contains(how, "d"), lines: strings.Contains(how, "m")})
		p.starts[open[0]] = true
	}
	for _, m := range append(p.line, p.block...) {
		p.starts[m[0]] = true
	}
	if l.flags&heredoc != 0 {
		p.starts['<'] = true
	}
	for c := range 256 {
		b := byte(c)
		p.longer[c] = b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' || b >= 0x80 || digit(b) || strings.IndexByte(l.ident, b) >= 0
	}
	return p
}
