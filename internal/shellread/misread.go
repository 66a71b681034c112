package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// misread says what the parser and real shells are known to read differently
// in a text, "" when nothing is. stmts is what the parser made of it.
func misread(text string, stmts []*syntax.Stmt) string {
	plain, why := withoutBodies(text, stmts)
	if why == "" {
		why = badContinuation(plain)
	}
	if why == "" {
		why = badExpansion(plain)
	}
	if why == "" {
		why = badComments(text)
	}
	return why
}

// withoutBodies blanks the here-documents in which nothing is expanded, since
// they are only text. why says that one may end before the parser thinks.
func withoutBodies(text string, stmts []*syntax.Stmt) (plain, why string) {
	if !strings.Contains(text, "<<") {
		return text, ""
	}
	out := []byte(text)
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			rd, ok := n.(*syntax.Redirect)
			if !ok || rd.Hdoc == nil || !quotedDelimiter(rd.Word) {
				return true
			}
			from, to := int(rd.Hdoc.Pos().Offset()), int(rd.Hdoc.End().Offset())
			if from < 1 || to > len(text) || from > to || text[from-1] != '\n' || endsEarly(text[from:to], rd) {
				why = "a here-document with a line in it that ends it"
				return true
			}
			for i := from; i < to; i++ {
				if out[i] != '\n' {
					out[i] = 'x'
				}
			}
			return true
		})
	}
	return string(out), why
}

// endsEarly reports a line of a here-document, before its last, that is its
// delimiter. The parser skips one that stands in a substitution, shells do not.
func endsEarly(body string, rd *syntax.Redirect) bool {
	delimiter, ok := delimiter(rd.Word)
	if !ok {
		return true
	}
	lines := strings.Split(body, "\n")
	for _, line := range lines[:len(lines)-1] {
		if rd.Op == syntax.DashHdoc {
			line = strings.TrimLeft(line, "\t")
		}
		if line == delimiter {
			return true
		}
	}
	return false
}

// delimiter is what ends a here-document; ok is false where it is not plain.
func delimiter(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok || p.Dollar {
					return "", false
				}
				b.WriteString(unescapeQuoted(l.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// badComments asks the parser what it took for comments: some begin in the
// middle of a word, and then shells run what stands in them; and it joins one
// that ends in a backslash with the next line.
func badComments(text string) (why string) {
	if !strings.Contains(text, "#") {
		return ""
	}
	defer func() {
		if recover() != nil {
			why = "the parser gave up"
		}
	}()
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil || f == nil {
		return "" // it is not valid shell, which asks
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		c, ok := n.(*syntax.Comment)
		if !ok {
			return why == ""
		}
		from, to := int(c.Pos().Offset()), int(c.End().Offset())
		switch {
		case from < 0 || to > len(text) || from > to:
			why = "a comment that is not known"
		case from > 0 && strings.IndexByte("\n \t;&|", text[from-1]) < 0:
			why = "a # directly behind a quote or an expansion"
		case strings.Contains(text[from:to], "\n") || strings.HasSuffix(text[from:to], "\\"):
			why = "a comment may end in a backslash, which shells read differently"
		}
		return why == ""
	})
	return why
}

// badContinuation refuses a backslash before a newline unless it stands
// between words, and any in a line that may hold a comment: shells join such
// lines, the parser's comments do too, bash's do not.
func badContinuation(s string) string {
	for i := strings.Index(s, "\\\n"); i >= 0; {
		slashes := 0
		for j := i; j >= 0 && s[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 1 {
			start := strings.LastIndexByte(s[:i], '\n') + 1
			line := s[start:i]
			if mayComment(line) {
				return "a comment may end in a backslash, which shells read differently"
			}
			if i > 0 && s[i-1] != ' ' && s[i-1] != '\t' && i > start {
				return "a word is split over two lines by a backslash"
			}
		}
		next := strings.Index(s[i+2:], "\\\n")
		if next < 0 {
			break
		}
		i += 2 + next
	}
	return ""
}

// mayComment reports whether a '#' in the line could begin a comment.
func mayComment(line string) bool {
	for i := 0; i < len(line); i++ {
		if line[i] == '#' && (i == 0 || strings.IndexByte(" \t;&|()`", line[i-1]) >= 0) {
			return true
		}
	}
	return false
}

// badExpansion refuses quotes inside ${…} within double quotes or arithmetic,
// and process substitutions inside ${…}. It follows quotes as a shell does,
// roughly: where it is unsure it refuses.
func badExpansion(s string) string {
	e := expansions{s: s}
	for i := 0; i < len(s); i++ {
		var why string
		switch s[i] {
		case '\\':
			i++
		case '$':
			i, why = e.dollar(i)
		case '"', '\'':
			i, why = e.quote(i)
		default:
			i, why = e.bracket(i)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// expansions is what is open at some place of a script.
type expansions struct {
	s     string
	stack []expansion
}

// An expansion that is open, by what began it: '{' for ${, '(' for $(, 'a' for
// arithmetic, '"' for a quote. depth counts the parentheses that are open in it.
type expansion struct {
	open  byte
	depth int
}

// top is what was opened last, 0 when nothing is open.
func (e *expansions) top() byte {
	if len(e.stack) == 0 {
		return 0
	}
	return e.stack[len(e.stack)-1].open
}

func (e *expansions) inside(open byte) bool {
	return slices.ContainsFunc(e.stack, func(x expansion) bool { return x.open == open })
}

func (e *expansions) push(open byte) { e.stack = append(e.stack, expansion{open: open}) }
func (e *expansions) pop()           { e.stack = e.stack[:len(e.stack)-1] }

// next reports whether c stands behind the byte at i.
func (e *expansions) next(i int, c byte) bool { return i+1 < len(e.s) && e.s[i+1] == c }

// dollar reads the dollar sign at i and what it begins. Like quote and bracket
// it returns the index of the last byte that was read, or why it refuses.
func (e *expansions) dollar(i int) (int, string) {
	switch rest := e.s[i+1:]; {
	case strings.HasPrefix(rest, "{"):
		e.push('{')
	case strings.HasPrefix(rest, "["):
		return i, "$[ ] arithmetic is read differently by shells"
	case strings.HasPrefix(rest, "(("):
		e.push('a')
		i++
	case strings.HasPrefix(rest, "("):
		e.push('(')
	default:
		return i, ""
	}
	return i + 1, ""
}

// quote reads a quote.
func (e *expansions) quote(i int) (int, string) {
	top := e.top()
	switch {
	case top == '{' && e.inside('"'):
		return i, "a quote stands inside ${…} within double quotes"
	case top == 'a':
		return i, "a quote stands inside arithmetic"
	case e.s[i] == '"' && top == '"':
		e.pop()
	case e.s[i] == '"':
		e.push('"')
	case top != '"':
		return skipSingle(e.s, i), ""
	}
	return i, ""
}

// bracket reads a bracket, if there is one at i.
func (e *expansions) bracket(i int) (int, string) {
	top := e.top()
	round := top == '(' || top == 'a'
	switch c := e.s[i]; {
	case c == '(' && top == 0 && e.next(i, '('):
		e.push('a')
		return i + 1, ""
	case c == '(' && round:
		e.stack[len(e.stack)-1].depth++
	case c == ')' && round:
		return e.closing(i), ""
	case c == '}' && top == '{':
		e.pop()
	case strings.IndexByte("<>=", c) >= 0 && e.next(i, '(') && top == '{':
		return i, "a process substitution stands inside ${…}"
	}
	return i, ""
}

// closing reads a closing parenthesis, or two where they end arithmetic.
func (e *expansions) closing(i int) int {
	last := &e.stack[len(e.stack)-1]
	if last.depth > 0 {
		last.depth--
		return i
	}
	if last.open == 'a' && e.next(i, ')') {
		i++
	}
	e.pop()
	return i
}

// afterName is the index behind a parameter's name; a special parameter has
// one character.
func afterName(s string, i int) int {
	j := i
	for j < len(s) && (s[j] == '_' || s[j] >= '0' && s[j] <= '9' || s[j] >= 'a' && s[j] <= 'z' || s[j] >= 'A' && s[j] <= 'Z') {
		j++
	}
	if j == i && j < len(s) && strings.IndexByte("@*#?$!-", s[j]) >= 0 {
		j++
	}
	return j
}

// skipSingle returns the index of the quote that closes the one at i.
func skipSingle(s string, i int) int {
	ansi := i > 0 && s[i-1] == '$'
	for j := i + 1; j < len(s); j++ {
		if ansi && s[j] == '\\' {
			j++
			continue
		}
		if s[j] == '\'' {
			return j
		}
	}
	return len(s)
}
