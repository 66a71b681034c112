package shellread

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// precheck refuses, before parsing, what the parser and real shells are known
// to read differently. It returns why, "" when the text may be parsed.
func precheck(s string) string {
	if !utf8.ValidString(s) {
		return "it is not valid UTF-8"
	}
	n := 0
	for i, c := range s {
		if n++; n > MaxChars {
			return fmt.Sprintf("it is longer than %d characters", MaxChars)
		}
		if why := badRune(s, i, c); why != "" {
			return why
		}
	}
	if why := badContinuation(s); why != "" {
		return why
	}
	return badExpansion(s)
}

// badRune refuses control characters and what a person cannot see.
func badRune(s string, i int, c rune) string {
	switch {
	case c == '\n' || c == '\t':
		return ""
	case c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0:
		return fmt.Sprintf("it holds the control character U+%04X", c)
	case c < 0x7f:
		return ""
	case c == 0xfe0f && i > 0:
		// The emoji selector, behind an emoji.
		if prev, _ := utf8.DecodeLastRuneInString(s[:i]); prev >= 0x2000 || prev >= '0' && prev <= '9' || prev == '#' || prev == '*' {
			return ""
		}
	case c != ' ' && unicode.IsSpace(c), unicode.In(c, unicode.Zs, unicode.Zl, unicode.Zp):
		return fmt.Sprintf("it holds the look-alike space U+%04X", c)
	case unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) && !invisible(c):
		return ""
	}
	return fmt.Sprintf("it holds the invisible character U+%04X", c)
}

// invisible are characters that are letters, marks or symbols by category but
// draw nothing.
func invisible(c rune) bool {
	switch {
	case c == 0x034f, c == 0x115f, c == 0x1160, c == 0x17b4, c == 0x17b5, c == 0x2800, c == 0x3164, c == 0xffa0,
		c >= 0x180b && c <= 0x180f, c >= 0xfe00 && c <= 0xfe0f, c >= 0xe0000 && c <= 0xe0fff, c == 0x1d159, c == 0xfffc:
		return true
	}
	return false
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
	if strings.Contains(s, "`") && hashInWord(s) {
		return hashed // quotes are not followed into backquotes
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
			if hashAt(s, i+1) {
				return hashed
			}
		case s[i] == ')' && top() == 0 && hashAt(s, i+1):
			return hashed
		case s[i] == '$' && hashAt(s, afterName(s, i+1)):
			return hashed
		case s[i] == '}' && top() == '{':
			stack = stack[:len(stack)-1]
			if hashAt(s, i+1) {
				return hashed
			}
		case s[i] == '`' && hashAt(s, i+1):
			return hashed
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
				if hashAt(s, i+1) {
					return hashed
				}
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
				if i = skipSingle(s, i); hashAt(s, i+1) {
					return hashed
				}
			}
		}
	}
	return ""
}

// hashed: the parser takes some of these for the start of a comment, and
// shells do not.
const hashed = "a # directly behind a quote or an expansion"

// hashInWord reports whether a # stands behind anything but a blank.
func hashInWord(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == '#' && s[i-1] != ' ' && s[i-1] != '\t' && s[i-1] != '\n' {
			return true
		}
	}
	return false
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

func hashAt(s string, i int) bool { return i < len(s) && s[i] == '#' }

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
