package shellread

import "strings"

// checkSed lets only scripts of sed pass that print.
func checkSed(u *use) string {
	for _, f := range u.flags {
		if (f.name == "-l" || f.name == "--line-length") && !plainNumber(f.val.text) {
			return "the line length of sed is not a number"
		}
	}
	var scripts []word
	for _, f := range u.flags {
		if f.name == "-e" || f.name == "--expression" {
			scripts = append(scripts, f.val)
		}
	}
	if len(scripts) == 0 {
		if len(u.args) == 0 {
			return "sed without a script"
		}
		scripts = append(scripts, u.args[0])
	}
	for _, s := range scripts {
		if s.kind != exact {
			return "the script of sed is not known before it runs"
		}
		if why := sedScript(s.text); why != "" {
			return why
		}
	}
	return ""
}

// sedScript reads a script of sed; it returns why it does more than print, ""
// when it does not. What it does not know is refused.
func sedScript(s string) string {
	p := &sedReader{s: s}
	for {
		p.skip(" \t\n;")
		if p.done() {
			return ""
		}
		if why := p.command(); why != "" {
			return why
		}
	}
}

type sedReader struct {
	s string
	i int
}

func (p *sedReader) done() bool { return p.i >= len(p.s) }

func (p *sedReader) peek() byte {
	if p.done() {
		return 0
	}
	return p.s[p.i]
}

func (p *sedReader) skip(set string) {
	for !p.done() && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *sedReader) command() string {
	if why := p.addresses(); why != "" {
		return why
	}
	p.skip(" \t")
	for p.peek() == '!' {
		p.i++
		p.skip(" \t")
	}
	c := p.peek()
	p.i++
	switch c {
	case '{', '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
		return p.end(c)
	case '#':
		p.line()
		return ""
	case 'q', 'Q', 'l', 'L':
		p.skip(" \t0123456789")
		return p.end(c)
	case ':', 'b', 't', 'T':
		p.skip(" \t")
		for !p.done() && strings.IndexByte(" \t;\n}", p.peek()) < 0 {
			p.i++
		}
		return p.end(c) // some seds go on with a command behind a blank
	case 'a', 'i', 'c':
		p.text()
		return ""
	case 's':
		return p.substitute()
	case 'y':
		if d := p.peek(); d == 0 || d == '\n' || d == '\\' || !p.until(d) || !p.until(d) {
			return "a y command of sed that is not closed"
		}
		p.i++
		return p.end(c)
	case 'w', 'W':
		return "sed's " + string(c) + " command writes a file"
	case 'r', 'R':
		return "sed's " + string(c) + " command reads a file"
	case 'e':
		return "sed's e command runs a program"
	case 0:
		return "an address of sed without a command"
	}
	return "the sed command " + string(c) + " is not known"
}

// end checks that nothing but the next command follows.
func (p *sedReader) end(c byte) string {
	p.skip(" \t")
	if p.done() || c == '{' || c == '}' {
		return ""
	}
	switch p.peek() {
	case ';', '\n':
		p.i++
		return ""
	case '}', '#':
		return ""
	}
	return "the text behind sed's " + string(c) + " is not known"
}

func (p *sedReader) line() {
	for !p.done() && p.peek() != '\n' {
		p.i++
	}
}

// text skips the text of a, i and c: to the end of the line, over escaped
// newlines.
func (p *sedReader) text() {
	for !p.done() && p.peek() != '\n' {
		if p.peek() == '\\' {
			p.i++
		}
		p.i++
	}
}

// until skips to the delimiter behind the one at i. Seds differ on one inside
// brackets and on what goes over a line's end.
func (p *sedReader) until(d byte) bool {
	p.i++
	bracket := false
	for !p.done() {
		switch c := p.peek(); {
		case c == '\\':
			p.i++
		case c == d:
			return !bracket
		case c == '\n':
			return false
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		}
		p.i++
	}
	return false
}

func (p *sedReader) addresses() string {
	for n := 0; n < 2; n++ {
		p.skip(" \t")
		switch c := p.peek(); {
		case c >= '0' && c <= '9':
			p.skip("0123456789")
			p.skip(" \t")
			if p.peek() == '~' {
				p.i++
				p.skip("0123456789")
			}
		case n == 1 && (c == '+' || c == '~'):
			p.i++
			p.skip("0123456789")
		case c == '$':
			p.i++
		case c == '/' || c == '\\':
			d := c
			if c == '\\' {
				if p.i++; p.done() {
					return "an address of sed that is not closed"
				}
				d = p.peek()
			}
			if d == '\n' || d == '\\' || !p.until(d) {
				return "an address of sed that is not closed"
			}
			p.i++
			p.skip("IM")
		default:
			if n == 1 {
				return "an address of sed that is not known"
			}
			return ""
		}
		p.skip(" \t")
		if n == 0 {
			if p.peek() != ',' {
				return ""
			}
			p.i++
		}
	}
	return ""
}

// substitute reads s/…/…/flags.
func (p *sedReader) substitute() string {
	d := p.peek()
	if d == 0 || d == '\n' || d == '\\' || d >= 0x80 || !p.until(d) || !p.until(d) {
		return "an s command of sed that is not closed"
	}
	p.i++
	for !p.done() {
		switch c := p.peek(); {
		case c == 'g' || c == 'p' || c == 'i' || c == 'I' || c == 'm' || c == 'M' || c >= '0' && c <= '9':
			p.i++
		case c == 'e':
			return "the flag e of sed's s command runs a program"
		case c == 'w':
			return "the flag w of sed's s command writes a file"
		default:
			return p.end('s')
		}
	}
	return ""
}

var awkRow = &command{flags: "-F=x -v=x --field-separator=x --assign=x --posix --traditional --re-interval --sandbox --csv", args: "x p*", min: 1, early: true, check: checkAwk}

// checkAwk lets only programs of awk pass that print.
func checkAwk(u *use) string {
	if u.args[0].kind != exact {
		return "the program of awk is not known before it runs"
	}
	for i, w := range u.args[1:] {
		if w.kind == exact && isAwkAssignment(w.text) {
			u.args[i+1].kind, u.args[i+1].fd = unknown, true
		}
	}
	return awkProgram(u.args[0].text)
}

func isAwkAssignment(s string) bool {
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

// awkProgram returns why a program of awk does more than print.
func awkProgram(s string) string {
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

// jqTraps are what a program of jq sees the environment or other files with.
var jqTraps = []string{"env", "ENV", "input_filename", "import", "include", "modulemeta", "get_search_list", "__prog_args"}

// checkJQ refuses programs that see the environment or other files.
func checkJQ(u *use) string {
	if u.args[0].kind != exact {
		return "the program of jq is not known before it runs"
	}
	if i := wordIn(u.args[0].text, jqTraps); i != "" {
		return "the jq program uses " + i
	}
	return ""
}

// wordIn finds one of the names as a word of its own that is not a field.
func wordIn(s string, names []string) string {
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && (s[j] == '_' || s[j] >= '0' && s[j] <= '9' || s[j] >= 'a' && s[j] <= 'z' || s[j] >= 'A' && s[j] <= 'Z') {
			j++
		}
		if j == i {
			i++
			continue
		}
		if id := s[i:j]; contains(names, id) && !(i > 0 && s[i-1] == '.') {
			return id
		}
		i = j
	}
	return ""
}

// checkYQ refuses expressions that load files, run programs or see the environment.
func checkYQ(u *use) string {
	if u.args[0].kind != exact {
		return "the expression of yq is not known before it runs"
	}
	for _, bad := range append([]string{"load", "system", "eval"}, jqTraps...) {
		if strings.Contains(strings.ToLower(u.args[0].text), strings.ToLower(bad)) {
			return "the yq expression uses " + bad
		}
	}
	// One kind of yq takes the name of a file for a file here.
	if strings.HasSuffix(u.args[0].text, ".yq") || u.r.there(u.args[0], u.st) && !u.folder(u.args[0]) {
		return "the yq expression is also the name of a file"
	}
	return ""
}
