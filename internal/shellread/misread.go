package shellread

import (
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
	type frame struct {
		open  byte // '{', '(' for $((, '"'
		depth int
	}
	var stack []frame
	top := func() byte {
		if len(stack) == 0 {
			return 0
		}
		return stack[len(stack)-1].open
	}
	inside := func(open byte) bool {
		for _, f := range stack {
			if f.open == open {
				return true
			}
		}
		return false
	}
	for i := 0; i < len(s); i++ {
		rest := s[i:]
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(rest, "${"):
			stack = append(stack, frame{open: '{'})
			i++
		case strings.HasPrefix(rest, "$(("), strings.HasPrefix(rest, "((") && top() == 0:
			stack = append(stack, frame{open: 'a'})
			if s[i] == '$' {
				i++
			}
			i++
		case strings.HasPrefix(rest, "$["):
			return "$[ ] arithmetic is read differently by shells"
		case strings.HasPrefix(rest, "$("):
			stack = append(stack, frame{open: '('})
			i++
		case s[i] == '(' && (top() == '(' || top() == 'a'):
			stack[len(stack)-1].depth++
		case s[i] == ')' && (top() == '(' || top() == 'a'):
			f := &stack[len(stack)-1]
			if f.depth > 0 {
				f.depth--
				break
			}
			if f.open == 'a' && i+1 < len(s) && s[i+1] == ')' {
				i++
			}
			stack = stack[:len(stack)-1]
		case s[i] == '}' && top() == '{':
			stack = stack[:len(stack)-1]
		case (s[i] == '<' || s[i] == '>' || s[i] == '=') && i+1 < len(s) && s[i+1] == '(' && inside('{') && top() == '{':
			return "a process substitution stands inside ${…}"
		case s[i] == '"':
			switch {
			case top() == '{' && inside('"'):
				return "a quote stands inside ${…} within double quotes"
			case top() == 'a':
				return "a quote stands inside arithmetic"
			case top() == '"':
				stack = stack[:len(stack)-1]
			default:
				stack = append(stack, frame{open: '"'})
			}
		case s[i] == '\'':
			switch {
			case top() == '{' && inside('"'):
				return "a quote stands inside ${…} within double quotes"
			case top() == 'a':
				return "a quote stands inside arithmetic"
			case top() == '"':
			default:
				i = skipSingle(s, i)
			}
		}
	}
	return ""
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
