package skill

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Use is what is put into the text of a skill when it is used.
type Use struct {
	Args    string // as they were written behind the name
	Session string
	Project string
	Effort  string
	Log     string // the file of the session's debug log
}

// A Piece is a part of a text: words, or one thing to put in their place.
//
//sumtype:decl
type Piece interface{ piece() }

// Pieces.
type (
	// Words stand as they are.
	Words string
	// Run is a command whose output stands here.
	Run string
	// File is the content of a file, or the names in a folder.
	File string
)

func (Words) piece() {}
func (Run) piece()   {}
func (File) piece()  {}

// Runs lists what a text would run, with these values put in.
func Runs(ps []Piece) (out []string) {
	for _, p := range ps {
		if r, ok := p.(Run); ok {
			out = append(out, string(r))
		}
	}
	return out
}

// Expand puts values into a text and finds what is to run. What counts as a
// command is found before anything is put in, so that no argument becomes one. In
// blocks of code nothing runs, but in those that begin with "```!".
func (s Skill) Expand(body string, u Use) []Piece {
	v := values{s: s, u: u, args: splitArgs(u.Args)}
	if s.toml {
		return v.braces(body)
	}
	switch s.of {
	case Prompts:
		return v.prompts(body)
	case OpenCode:
		v.counted(body)
	}
	var out []Piece
	add := func(p Piece) {
		if w, ok := p.(Words); ok {
			if w == "" {
				return
			}
			if n := len(out); n > 0 {
				if before, ok := out[n-1].(Words); ok {
					out[n-1] = before + w
					return
				}
			}
		}
		out = append(out, p)
	}
	for _, part := range commandsIn(body) {
		switch part := part.(type) {
		case Run:
			add(Run(v.fill(string(part))))
		case Words:
			add(Words(v.fill(string(part))))
		case File:
		}
	}
	if u.Args != "" && !v.used {
		add(Words("\n\nArguments: " + u.Args))
	}
	return out
}

var inlineCommand = pattern.Lazy("(?:^|[ \t(\\[>*-])!`([^`\n]+)`")

// commandsIn splits a text into words and commands.
func commandsIn(text string) (out []Piece) {
	var words strings.Builder
	flush := func() {
		if words.Len() > 0 {
			out = append(out, Words(words.String()))
			words.Reset()
		}
	}
	fence, runs := "", false
	var block strings.Builder
	for line := range strings.Lines(text) {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			fence = mark
			rest := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), mark[:1]))
			if runs = mark[0] == '`' && rest == "!"; runs {
				block.Reset()
				continue
			}
			words.WriteString(line)
		case fence != "" && len(mark) >= len(fence) && mark[0] == fence[0] && strings.Trim(strings.TrimSpace(line), mark[:1]) == "":
			fence = ""
			if !runs {
				words.WriteString(line)
				continue
			}
			runs = false
			if cmd := strings.TrimSpace(block.String()); cmd != "" {
				flush()
				out = append(out, Run(cmd))
				if strings.HasSuffix(line, "\n") {
					words.WriteString("\n")
				}
			}
		case runs:
			block.WriteString(line)
		case fence != "":
			words.WriteString(line)
		default:
			for line != "" {
				m := inlineCommand().FindStringSubmatchIndex(line)
				if m == nil || strings.TrimSpace(line[m[2]:m[3]]) == "" {
					words.WriteString(line)
					break
				}
				words.WriteString(line[:m[2]-2])
				flush()
				out = append(out, Run(strings.TrimSpace(line[m[2]:m[3]])))
				line = line[m[1]:]
			}
		}
	}
	if runs { // a block that never ends is text
		words.WriteString("```!\n" + block.String())
	}
	flush()
	return out
}

// fenceOf is the run of ` or ~ that opens or ends a block of code in this line,
// "" when there is none.
func fenceOf(line string) string {
	t := strings.TrimLeft(line, " \t")
	for _, c := range []string{"`", "~"} {
		n := len(t) - len(strings.TrimLeft(t, c))
		if n >= 3 && !(c == "`" && strings.Contains(t[n:], "`")) {
			return t[:n]
		}
	}
	return ""
}

type values struct {
	s    Skill
	u    Use
	args []string
	used bool // an argument had its place
}

var placeholder = pattern.Lazy(`\\?\$(?:\{([A-Z_]+)\}|ARGUMENTS(?:\[([0-9]{1,3})\])?|([0-9]{1,3})([.,]?)|([A-Za-z_][A-Za-z0-9_]*))`)

// fill puts values in the place of their names. What has no value of that name
// stays as it stands: it may be a shell's.
func (v *values) fill(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	for text != "" {
		m := placeholder().FindStringSubmatchIndex(text)
		if m == nil {
			break
		}
		b.WriteString(text[:m[0]])
		whole := text[m[0]:m[1]]
		text = text[m[1]:]
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return whole[m[2*i]-m[0] : m[2*i+1]-m[0]]
		}
		switch {
		case whole[0] == '\\':
			b.WriteString(whole[1:])
		case m[2] >= 0:
			value, ok := v.named(group(1))
			if !ok {
				value = whole
			}
			b.WriteString(value)
		case m[6] >= 0: // $1; "$1.50" is money
			n, _ := strconv.Atoi(group(3))
			if value, ok := v.arg(n); ok && (text == "" || text[0] < '0' || text[0] > '9') {
				whole = value + group(4)
			}
			b.WriteString(whole)
		case m[8] < 0 && m[10] >= 0: // a name
			if i := indexOf(v.s.Arguments, group(5)); i >= 0 {
				value, _ := v.arg(i)
				v.used = true
				b.WriteString(value)
				continue
			}
			b.WriteString(whole)
		case m[4] >= 0:
			n, _ := strconv.Atoi(group(2))
			if value, ok := v.arg(n); ok {
				whole = value
			}
			b.WriteString(whole)
		default:
			v.used = true
			b.WriteString(v.u.Args)
		}
	}
	b.WriteString(text)
	return b.String()
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return -1
}

// arg is an argument by its number. Where there is none, false, its place stays as it is
// written, as it may be a shell's or awk's (Claude Code 2.1.278 does the same); in commands
// of OpenCode it is nothing.
func (v *values) arg(n int) (string, bool) {
	if n < len(v.args) {
		v.used = true
		return v.args[n], true
	}
	return "", v.s.of == OpenCode
}

// named is a value of ${…}. Both spellings of the prefix are understood.
func (v *values) named(name string) (string, bool) {
	key, ok := strings.CutPrefix(name, "CLAUDE_")
	if !ok {
		key, ok = strings.CutPrefix(name, "ADZE_")
	}
	if !ok {
		return "", false
	}
	switch key {
	case "SKILL_DIR":
		return v.s.Dir, true
	case "SESSION_ID":
		return v.u.Session, true
	case "PROJECT_DIR":
		return v.u.Project, true
	case "PLUGIN_ROOT":
		return v.s.Root, v.s.Root != ""
	case "PLUGIN_DATA":
		return v.s.Data, v.s.Data != ""
	case "EFFORT":
		return v.u.Effort, true
	case "DEBUG_LOG":
		return v.u.Log, true
	}
	return "", false
}

// braces reads the commands of Gemini: {{args}}, !{command} with the arguments in
// quotes, @{file}.
func (v *values) braces(text string) (out []Piece) {
	var words strings.Builder
	flush := func() {
		if words.Len() > 0 {
			out = append(out, Words(words.String()))
			words.Reset()
		}
	}
	had := false
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "{{args}}"):
			had = true
			words.WriteString(v.u.Args)
			i += len("{{args}}")
		case strings.HasPrefix(rest, "!{") || strings.HasPrefix(rest, "@{"):
			n := balanced(rest[1:])
			inner := ""
			if n > 0 {
				inner = strings.TrimSpace(rest[2:n])
			}
			if inner == "" {
				words.WriteString(rest[:2])
				i += 2
				continue
			}
			flush()
			if rest[0] == '!' {
				had = had || strings.Contains(inner, "{{args}}")
				out = append(out, Run(strings.ReplaceAll(inner, "{{args}}", shellWord(v.u.Args))))
			} else {
				had = had || strings.Contains(inner, "{{args}}")
				out = append(out, File(strings.ReplaceAll(inner, "{{args}}", v.u.Args)))
			}
			i += n + 1
		default:
			words.WriteByte(text[i])
			i++
		}
	}
	if v.u.Args != "" && !had {
		words.WriteString("\n\nArguments: " + v.u.Args)
	}
	flush()
	return out
}

// balanced returns the index of the brace that ends what the first one of s
// begins, counted from one character before it; 0 when none does.
func balanced(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// shellWord is a text as one word of a shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// splitArgs splits arguments as a shell would split words: at spaces outside of
// quotes. A quote that never ends is a character.
func splitArgs(s string) (out []string) {
	var word strings.Builder
	in := false
	rs := []rune(s)
	for i := 0; i < len(rs); i++ {
		r := rs[i]
		switch {
		case unicode.IsSpace(r):
			if in {
				out = append(out, word.String())
				word.Reset()
				in = false
			}
		case r == '\\' && i+1 < len(rs) && (rs[i+1] == '"' || rs[i+1] == '\'' || rs[i+1] == '\\' || rs[i+1] == ' '):
			in = true
			i++
			word.WriteRune(rs[i])
		case r == '"' || r == '\'':
			in = true
			end := -1
			for j := i + 1; j < len(rs); j++ {
				if rs[j] == r && rs[j-1] != '\\' {
					end = j
					break
				}
			}
			if end < 0 || r == '\'' && i > 0 && unicode.IsLetter(rs[i-1]) { // an apostrophe
				word.WriteRune(r)
				continue
			}
			word.WriteString(strings.ReplaceAll(string(rs[i+1:end]), `\`+string(r), string(r)))
			i = end
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if in {
		out = append(out, word.String())
	}
	return out
}
