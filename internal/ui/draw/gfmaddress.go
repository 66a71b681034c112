package draw

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
)

// addresses finds what leads to a page or to somebody's mail, at the beginning of a
// line and behind a space or one of *_~(.
type addresses struct{}

// leads are what may stand before an address; a space stands for the beginning of a
// line, too.
const leads = " *_~("

func (addresses) Trigger() []byte { return []byte(leads) }

func (addresses) Parse(parent ast.Node, r gtext.Reader, pc parser.Context) ast.Node {
	if pc.IsInLinkLabel() {
		return nil
	}
	line, at := r.PeekLine()
	lead := 0
	if strings.IndexByte(leads, line[0]) >= 0 {
		lead = 1
	} else if before := r.PrecendingCharacter(); !unicode.IsSpace(before) && !strings.ContainsRune(leads, before) {
		return nil
	}
	kind, protocol := ast.AutoLinkURL, ""
	n := pageAddress(line[lead:])
	switch {
	case n > 0 && bytes.HasPrefix(line[lead:], []byte("www.")):
		protocol = "http"
	case n == 0:
		if n, kind = mailAddress(line[lead:]), ast.AutoLinkEmail; n == 0 {
			return nil
		}
	}
	if lead > 0 {
		ast.MergeOrAppendTextSegment(parent, at.WithStop(at.Start+lead))
	}
	r.Advance(lead + n)
	from := at.Start + lead
	out := ast.NewAutoLink(kind, ast.NewTextSegment(gtext.NewSegment(from, from+n)))
	if protocol != "" {
		out.Protocol = []byte(protocol)
	}
	return out
}

// pageAddress is how long the address of a page is that s begins with, 0 for none.
// Its host has a dot in it, and no underscore behind the last dot but one.
func pageAddress(s []byte) int {
	at := 0
	for _, p := range []string{"http://", "https://", "ftp://"} {
		if bytes.HasPrefix(s, []byte(p)) {
			at = len(p)
		}
	}
	if at == 0 && !bytes.HasPrefix(s, []byte("www.")) {
		return 0
	}
	host := run(s[at:], func(c byte) bool { return alphanumeric(c) || strings.IndexByte("-._@%+~=", c) >= 0 })
	for host > 0 && !alphanumeric(s[at+host-1]) {
		host--
	}
	labels := bytes.Split(s[at:at+host], []byte("."))
	if len(labels) < 2 || at == 0 && len(labels) < 3 || !letters(labels[len(labels)-1]) {
		return 0
	}
	for _, l := range labels[len(labels)-2:] {
		if len(l) == 0 || bytes.IndexByte(l, '_') >= 0 {
			return 0
		}
	}
	n := at + host
	if n < len(s) && s[n] == ':' {
		if port := run(s[n+1:], digit); port > 0 {
			n += 1 + port
		}
	}
	if n < len(s) && strings.IndexByte("/#?", s[n]) >= 0 {
		n += run(s[n:], func(c byte) bool { return c > ' ' && c <= '~' && strings.IndexByte(`<*|\`, c) < 0 })
	}
	return n - after(s[:n])
}

// after is how many of the last characters of an address are of the text around it:
// signs that end a sentence, a bracket that was opened before it, an entity.
func after(s []byte) int {
	n := len(s)
	for n > 0 {
		switch c := s[n-1]; {
		case strings.IndexByte("?!.,:*_~", c) >= 0:
			n--
			continue
		case c == ')' && bytes.Count(s[:n], []byte(")")) > bytes.Count(s[:n], []byte("(")):
			n--
			continue
		case c == ';':
			amp := bytes.LastIndexByte(s[:n], '&')
			if amp >= 0 && amp+2 < n && run(s[amp+1:], alphanumeric) == n-amp-2 {
				n = amp
				continue
			}
		}
		break
	}
	return len(s) - n
}

// mailAddress is how long the address of mail is that s begins with, 0 for none.
func mailAddress(s []byte) int {
	local := run(s, func(c byte) bool { return alphanumeric(c) || strings.IndexByte("._+-", c) >= 0 })
	if local == 0 || local == len(s) || s[local] != '@' {
		return 0
	}
	at := local + 1
	n := run(s[at:], func(c byte) bool { return alphanumeric(c) || strings.IndexByte("-_.", c) >= 0 })
	for n > 0 && s[at+n-1] == '.' {
		n--
	}
	domain := s[at : at+n]
	dot := bytes.LastIndexByte(domain, '.')
	if dot <= 0 || bytes.Contains(domain, []byte("..")) || !alphanumeric(domain[n-1]) || !alphanumeric(domain[0]) {
		return 0
	}
	return at + n
}

// run is how many bytes s begins with that are of a kind.
func run(s []byte, of func(byte) bool) int {
	n := 0
	for n < len(s) && of(s[n]) {
		n++
	}
	return n
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func alphanumeric(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }

func letters(s []byte) bool {
	return len(s) > 0 && run(s, func(c byte) bool { return alphanumeric(c) && !digit(c) }) == len(s)
}
