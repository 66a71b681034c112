package scan

import "strings"

// AwkAssignment reports whether awk takes an operand for NAME=value instead of a file.
func AwkAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		if !isWord(name[i]) || i == 0 && isDigit(name[i]) {
			return false
		}
	}
	return true
}

// Awk returns why a program of awk does more than print.
func Awk(s string) string {
	for _, bad := range []string{"system", "getline", "ENVIRON", "ARGV", "PROCINFO", "SYMTAB", "FUNCTAB", "@", "/inet"} {
		if strings.Contains(s, bad) {
			return "the awk program uses " + bad
		}
	}
	a := awk{s: s}
	for i := 0; i < len(s); i++ {
		if j := blank(s, i); j > i {
			i = j - 1
			continue
		}
		var why string
		switch c := s[i]; {
		case c == '"' || c == '/':
			i, why = a.quoted(i)
		case isWord(c) && !isDigit(c):
			i, why = a.word(i)
		default:
			i, why = a.operator(i)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// blank returns the index behind the blank or the continued line that begins at
// i, or i. A newline is none: a statement may end there.
func blank(s string, i int) int {
	switch {
	case s[i] == ' ' || s[i] == '\t' || s[i] == '\r':
		return i + 1
	case strings.HasPrefix(s[i:], "\\\n"):
		return i + 2
	}
	return i
}

// awk is what is known of a program at some place.
type awk struct {
	s          string
	depth      int  // of parentheses and brackets
	print      bool // a print statement is open
	printDepth int  // depth where it began
	operand    bool // the token before could end an operand, so that / divides
}

// quoted reads a string, or what begins with a slash. Like word and operator it
// returns the index of the last byte that was read, or why it refuses.
func (a *awk) quoted(i int) (int, string) {
	c, what := a.s[i], "string"
	if c == '/' {
		what = "pattern"
		switch {
		case afterParenthesis(a.s[:i]):
			return i, "a slash behind a parenthesis in the awk program may mean two things"
		case a.operand: // it divides
			a.operand = false
			return i, ""
		}
	}
	end := closing(a.s, i, c)
	if end < 0 {
		return i, "a " + what + " in the awk program is not closed"
	}
	a.operand = true
	return end, ""
}

// word reads a name or a keyword.
func (a *awk) word(i int) (int, string) {
	end := i
	for end < len(a.s) && isWord(a.s[end]) {
		end++
	}
	switch id := a.s[i:end]; id {
	case "print", "printf":
		a.print, a.printDepth, a.operand = true, a.depth, false
	case "in", "return", "case", "else", "do", "if", "while", "for", "getline", "delete", "exit", "next":
		a.operand = false
	case "extension", "load":
		return i, "the awk program uses " + id
	default:
		a.operand = true
	}
	return end - 1, ""
}

// operator reads a comment, a byte of a number, or an operator.
func (a *awk) operator(i int) (int, string) {
	c, rest, before := a.s[i], a.s[i+1:], a.operand
	a.operand = isDigit(c) || c == '.' || c == ')' || c == ']'
	switch c {
	case '#':
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return i + n, ""
		}
		return len(a.s), ""
	case '(', '[':
		a.depth++
	case ')', ']':
		a.depth--
	case ';', '}', '{':
		a.print = false
	case '|':
		if strings.HasPrefix(rest, "|") {
			return i + 1, ""
		}
		return i, "the awk program pipes to or from a command"
	case '>':
		if a.print && a.depth <= a.printDepth {
			return i, "the awk program writes a file"
		}
	case '+', '-':
		if rest == "" || rest[0] != c {
			return i, ""
		}
		// x++ / 2 or x ++/re/: which one is not decided here.
		if strings.HasPrefix(strings.TrimLeft(rest[1:], " \t"), "/") {
			return i, "a slash in the awk program may mean two things"
		}
		a.operand = before
		return i + 1, ""
	}
	return i, ""
}

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// afterParenthesis reports whether what stands before a slash may end in a
// parenthesis: that of a call, behind which it divides, or of if, while and for,
// behind which a pattern begins.
func afterParenthesis(s string) bool {
	for {
		s = strings.TrimRight(s, " \t\r\n\\")
		if strings.HasSuffix(s, ")") {
			return true
		}
		line := s[strings.LastIndexByte(s, '\n')+1:]
		at := strings.LastIndexByte(line, '#')
		if at < 0 {
			return false
		}
		s = s[:len(s)-len(line)+at] // it may be a comment
	}
}

// closing finds the end of a string or pattern that begins at i.
func closing(s string, i int, q byte) int {
	bracket := false
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == '\\':
			j++
		case s[j] == '\n':
			return -1
		case q == '/' && s[j] == '[' && !bracket:
			// Awks differ on a slash inside brackets: refuse it there.
			bracket = true
			if strings.HasPrefix(s[j+1:], "[:") || strings.HasPrefix(s[j+1:], "^[:") {
				// A class in a bracket: with nothing else behind it, it ends at :]].
				end := strings.Index(s[j:], ":]")
				if end < 0 || strings.IndexByte(s[j:j+end], '/') >= 0 || !strings.HasPrefix(s[j+end:], ":]]") {
					return -1
				}
				bracket = false
				j += end + 2
				continue
			}
			if j+1 < len(s) && s[j+1] == '^' {
				j++
			}
			if j+1 < len(s) && s[j+1] == ']' {
				j++
			}
		case q == '/' && s[j] == '[' && bracket && j+1 < len(s) && strings.IndexByte(":.=", s[j+1]) >= 0:
			return -1
		case q == '/' && s[j] == ']' && bracket:
			bracket = false
		case s[j] == q:
			if bracket {
				return -1
			}
			return j
		}
	}
	return -1
}
