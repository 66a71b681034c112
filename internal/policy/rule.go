package policy

import (
	"fmt"
	"slices"
	"strings"
)

// ParseRule reads "Tool" or "Tool(spec)". The spec is checked as far as its
// tool is known; the error says what is wrong and what was expected.
func ParseRule(text string, effect Effect, scope Scope, source, root string) (Rule, error) {
	r := Rule{Effect: effect, Scope: scope, Source: source, Root: root}
	text = strings.TrimSpace(text)
	if text == "" {
		return r, fmt.Errorf("reading a rule: it is empty; expected Tool or Tool(spec)")
	}
	open := strings.IndexByte(text, '(')
	if open < 0 {
		r.Tool = text
	} else {
		if !strings.HasSuffix(text, ")") {
			return r, fmt.Errorf("reading rule %q: the closing parenthesis is missing", text)
		}
		r.Tool, r.Spec = text[:open], strings.TrimSpace(text[open+1:len(text)-1])
	}
	if err := checkToolName(r.Tool); err != nil {
		return r, fmt.Errorf("reading rule %q: %w", text, err)
	}
	if open >= 0 && r.Spec == "" {
		// Tool() is what people write for "any call".
		return r, nil
	}
	if err := checkSpec(r); err != nil {
		return r, fmt.Errorf("reading rule %q: %w", text, err)
	}
	return r, nil
}

func checkToolName(name string) error {
	if name == "" {
		return fmt.Errorf("the tool's name is missing; expected Tool or Tool(spec)")
	}
	for _, c := range name {
		ok := c == '_' || c == '-' || c == '.' || c == '*' || c == ':' || c == '/' || c == '@' ||
			c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !ok {
			return fmt.Errorf("%q cannot stand in a tool's name", c)
		}
	}
	return nil
}

func checkSpec(r Rule) error {
	switch family(r.Tool) {
	case "Read", "Edit":
		if strings.HasPrefix(r.Spec, "!") {
			return fmt.Errorf("a path rule cannot be negated; write a deny or ask rule instead")
		}
		if strings.ContainsRune(r.Spec, 0) {
			return fmt.Errorf("a path cannot hold a NUL character")
		}
		if _, err := compileGlob(pathPattern(pathSpec(r.Spec, onWindows))); err != nil {
			return err
		}
	case "WebFetch":
		if d, ok := strings.CutPrefix(r.Spec, "domain:"); ok && strings.ContainsAny(d, "/ @?#") {
			return fmt.Errorf("%q is not a host name; expected domain:example.com", d)
		}
	}
	return nil
}

// Text is the rule as it is written in a settings file.
func (r Rule) Text() string {
	if r.Spec == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Spec + ")"
}

// family folds tools that one rule governs together.
func family(tool string) string {
	switch tool {
	case "Write", "MultiEdit", "NotebookEdit", "Edit":
		return "Edit"
	case "Read", "Glob", "Grep", "LS", "NotebookRead":
		return "Read"
	case "Task", "Agent":
		return "Agent"
	}
	return tool
}

// A commandPattern is the compiled spec of a Bash rule.
type commandPattern struct {
	any    bool     // matches every command
	prefix bool     // tokens, then anything
	tokens []string // literal words, when wild is ""
	wild   string   // words joined by NUL, '*' already turned into star
}

// star stands for a wildcard in commandPattern.wild; no argument can hold it
// because NUL and this control character never pass the strict check.
const star = '\x01'

func compileCommand(spec string) commandPattern {
	spec = strings.TrimSpace(spec)
	if spec == "" || spec == "*" || spec == ":*" {
		return commandPattern{any: true}
	}
	prefix := false
	if s, ok := strings.CutSuffix(spec, ":*"); ok {
		spec, prefix = s, true
	} else if s, ok := strings.CutSuffix(spec, " *"); ok {
		spec, prefix = s, true
	}
	words := splitRule(strings.TrimSpace(spec))
	if joined := strings.Join(words, "\x00"); strings.ContainsRune(joined, star) {
		return commandPattern{wild: joined, prefix: prefix}
	}
	return commandPattern{tokens: words, prefix: prefix}
}

// splitRule splits a spec at blanks as a shell would: quotes and backslashes
// make a character literal, an unquoted '*' becomes star. A quote that is
// never closed is an ordinary character.
func splitRule(s string) []string {
	var words []string
	var b strings.Builder
	started := false
	flush := func() {
		if started {
			words = append(words, b.String())
			b.Reset()
			started = false
		}
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ' || c == '\t':
			flush()
			continue
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case c == '\'' || c == '"':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				b.WriteByte(c)
				break
			}
			b.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case c == '*':
			b.WriteByte(star)
		default:
			b.WriteByte(c)
		}
		started = true
	}
	flush()
	return words
}

func (p commandPattern) match(argv []string) bool {
	switch {
	case p.any:
		return true
	case p.wild != "":
		joined := strings.Join(argv, "\x00")
		if wildMatch(p.wild, joined) {
			return true
		}
		return p.prefix && wildMatch(p.wild+"\x00"+string(star), joined)
	case p.prefix:
		return len(argv) >= len(p.tokens) && slices.Equal(argv[:len(p.tokens)], p.tokens)
	default:
		return slices.Equal(argv, p.tokens)
	}
}

// exact reports whether the pattern names one command and nothing else.
func (p commandPattern) exact() bool { return !p.any && !p.prefix && p.wild == "" }

// wildMatch matches star against any run of bytes, in linear space and
// quadratic time at worst.
func wildMatch(pattern, s string) bool {
	pi, si, mark, back := 0, 0, -1, 0
	for si < len(s) {
		switch {
		case pi < len(pattern) && pattern[pi] == star:
			mark, back = pi, si
			pi++
		case pi < len(pattern) && pattern[pi] == s[si]:
			pi++
			si++
		case mark >= 0:
			back++
			pi, si = mark+1, back
		default:
			return false
		}
	}
	for pi < len(pattern) && pattern[pi] == star {
		pi++
	}
	return pi == len(pattern)
}

// QuoteCommand writes an argv so that a rule with this spec matches exactly it.
func QuoteCommand(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = quoteWord(a)
	}
	return strings.Join(out, " ")
}

func quoteWord(a string) string {
	plain := a != ""
	for _, c := range a {
		if c <= ' ' || strings.ContainsRune("'\"\\*", c) {
			plain = false
		}
	}
	if plain {
		return a
	}
	if !strings.Contains(a, "'") {
		return "'" + a + "'"
	}
	var b strings.Builder
	for i := 0; i < len(a); i++ {
		if a[i] <= ' ' || strings.IndexByte("'\"\\*", a[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(a[i])
	}
	return b.String()
}

// A compiledRule has its spec compiled once per decision.
type compiledRule struct {
	Rule
	cmd commandPattern
	// named, of one that forbids or asks and has the path of a program of the system,
	// is the same with the name by which people call it.
	named *commandPattern
	path  place
	// spelled, of one that forbids or asks, are the ways to spell the command.
	spelled []spelled
}

type compiled struct {
	Rules
	by [3][]compiledRule // by effect
	// heads are the programs that rules with an effect speak of; "*" is any.
	heads [3]map[string]bool
}

// byName is the pattern of a command without the folder of its program, where that is
// one of the system's, in which names are looked up; nil for another.
func byName(spec string) *commandPattern {
	for _, dir := range programPlaces {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(spec), dir+"/"); ok && rest != "" && !strings.Contains(strings.Fields(rest)[0], "/") {
			p := compileCommand(rest)
			return &p
		}
	}
	return nil
}

func compileRules(r Rules) compiled {
	c := compiled{Rules: r}
	for _, rule := range r.List {
		if rule.Effect == Allow && r.ManagedOnly && rule.Scope != Managed {
			continue
		}
		e := rule.Effect
		if e < Allow || e > Deny {
			e = Ask
		}
		rd := compiledRule{Rule: rule}
		if rule.Tool == "Bash" || rule.Tool == "PowerShell" {
			if rd.cmd = compileCommand(rule.Spec); e != Allow {
				rd.spelled, rd.named = spelledOf(rd.cmd), byName(rule.Spec)
			}
		} else if f := family(rule.Tool); f == "Read" || f == "Edit" {
			rd.path = rule.compilePath(r)
		}
		c.by[e] = append(c.by[e], rd)
		for _, program := range rd.programs() {
			if c.heads[e] == nil {
				c.heads[e] = map[string]bool{}
			}
			c.heads[e][program] = true
		}
	}
	return c
}

// programs are those that a rule which forbids or asks about some commands speaks of, by
// all their names.
func (rule *compiledRule) programs() (out []string) {
	if rule.Effect == Allow || rule.cmd.any || !shellTool(rule.Tool) {
		return nil
	}
	add := func(p commandPattern) {
		first, _, _ := strings.Cut(p.wild, "\x00")
		if len(p.tokens) > 0 {
			first = p.tokens[0]
		}
		if strings.ContainsRune(first, star) {
			first = "*"
		}
		out = append(out, first)
	}
	add(rule.cmd)
	if rule.named != nil {
		add(*rule.named)
	}
	for _, s := range rule.spelled {
		out = append(out, s.program)
	}
	return out
}
