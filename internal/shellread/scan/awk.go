package scan

import "strings"

// AwkAssignment reports whether awk takes an operand for NAME=value instead of a file.
func AwkAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(i > 0 && c >= '0' && c <= '9') {
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
	depth, print, printDepth := 0, false, 0
	operand := false // the token before could end an operand, so / divides
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			continue
		case c == '\\' && i+1 < len(s) && s[i+1] == '\n':
			i++
			continue
		case c == '#':
			for i+1 < len(s) && s[i+1] != '\n' {
				i++
			}
			operand = false
			continue
		case c == '"':
			end := closing(s, i, '"')
			if end < 0 {
				return "a string in the awk program is not closed"
			}
			i, operand = end, true
			continue
		case c == '/' && afterParenthesis(s[:i]):
			return "a slash behind a parenthesis in the awk program may mean two things"
		case c == '/' && !operand:
			end := closing(s, i, '/')
			if end < 0 {
				return "a pattern in the awk program is not closed"
			}
			i, operand = end, true
			continue
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
			j := i
			for j < len(s) && (s[j] == '_' || s[j] >= '0' && s[j] <= '9' || s[j] >= 'a' && s[j] <= 'z' || s[j] >= 'A' && s[j] <= 'Z') {
				j++
			}
			switch id := s[i:j]; id {
			case "print", "printf":
				print, printDepth, operand = true, depth, false
			case "in", "return", "case", "else", "do", "if", "while", "for", "getline", "delete", "exit", "next":
				operand = false
			case "extension", "load":
				return "the awk program uses " + id
			default:
				operand = true
			}
			i = j - 1
			continue
		case c >= '0' && c <= '9' || c == '.':
			operand = true
			continue
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
			operand = true
			continue
		case c == '\n': // a statement may go on behind it
		case c == ';' || c == '}' || c == '{':
			print = false
		case c == '|':
			if i+1 < len(s) && s[i+1] == '|' {
				i++
				break
			}
			return "the awk program pipes to or from a command"
		case c == '>' && print && depth <= printDepth:
			return "the awk program writes a file"
		case c == '<' && !(i+1 < len(s) && s[i+1] == '=') && strings.Contains(s, "getline"):
			return "the awk program reads another file"
		case (c == '+' || c == '-') && i+1 < len(s) && s[i+1] == c:
			// x++ / 2 or x ++/re/: which one is not decided here.
			if rest := strings.TrimLeft(s[i+2:], " \t"); strings.HasPrefix(rest, "/") {
				return "a slash in the awk program may mean two things"
			}
			i++
			continue
		case c == '$':
		}
		operand = false
	}
	return ""
}

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
