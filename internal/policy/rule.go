package policy

import (
	"fmt"
	"maps"
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
		switch {
		case several(text):
			return r, fmt.Errorf("reading rule %q: it holds more than one rule; each is a text of its own in the list", text)
		case !strings.HasSuffix(text, ")") && strings.Contains(text, ")"):
			return r, fmt.Errorf("reading rule %q: a rule ends with its closing parenthesis, and something stands outside of it", text)
		case !strings.HasSuffix(text, ")"):
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
	if shellTool(r.Tool) && effect != Allow && closesEarly(r.Spec) {
		return r, fmt.Errorf("reading rule %q: a rule ends with its closing parenthesis, and something stands behind it", text)
	}
	if err := checkSpec(r); err != nil {
		return r, fmt.Errorf("reading rule %q: %w", text, err)
	}
	return r, nil
}

// several reports a text that holds more than one rule: behind a parenthesis, another tool
// begins.
func several(text string) bool {
	for i := strings.IndexByte(text, ')'); i >= 0 && i < len(text); i++ {
		if text[i] != ')' {
			continue
		}
		rest := strings.TrimLeft(text[i+1:], " \t\r\n,;|&")
		for _, word := range []string{"and ", "or "} {
			rest = strings.TrimPrefix(rest, word)
		}
		name, _, open := strings.Cut(rest, "(")
		if open && slices.ContainsFunc(known, func(tool string) bool { return strings.EqualFold(tool, name) }) {
			return true
		}
	}
	return false
}

// closesEarly reports a command with a parenthesis, outside of quotes, that closes what the
// rule opens.
func closesEarly(spec string) bool {
	depth, quote := 0, byte(0)
	for i := 0; i < len(spec); i++ {
		switch c := spec[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return true
			}
		}
	}
	return false
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
		for _, spec := range pathSpecs(r.Spec, false) {
			if _, err := compileGlob(pathPattern(pathSpec(spec, onWindows))); err != nil {
				return err
			}
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

// family is what the rule governs. A rule for a special tool that allows is about that
// tool, and so is one that forbids all of it: neither Glob nor NotebookEdit stands for
// Read or Write. One that forbids a path for it forbids the path.
func (r Rule) family() string {
	if f := family(r.Tool); r.Tool == f || r.Tool == "Write" || f == "Agent" || r.Effect != Allow && r.Spec != "" {
		return f
	}
	return r.Tool
}

// governs reports whether the rule speaks of what a tool does with files of a family.
func (r Rule) governs(of, tool string) bool {
	return r.family() == of || r.Tool == tool && family(tool) == of
}

// notebooks are the files that NotebookEdit and NotebookRead are about, whatever tool
// edits or reads them here.
const notebooks = "**/*.ipynb"

// meant is a rule for a tool that adze has not, as the tools have it that do the same.
func (r Rule) meant() Rule {
	if r.Spec == "" && (r.Tool == "NotebookEdit" || r.Tool == "NotebookRead") {
		r.Tool, r.Spec = family(r.Tool), notebooks
	}
	return r
}

// A form is one command of a rule that forbids or asks, in all its spellings.
type form struct {
	step
	// near is the same with paths as call.near writes them; nil where that is no other.
	near    *commandPattern
	spelled []spelled
}

// A compiledRule has its spec compiled once per decision.
type compiledRule struct {
	Rule
	// cmd is the plainest reading of a rule for one command.
	cmd commandPattern
	// allows, of one that allows, are its readings; forms, of one that forbids or asks,
	// are those.
	allows []reading
	forms  [][]form
	places []place
	// defines is the function that one which forbids or asks is about.
	defines function
}

type compiled struct {
	Rules
	by [3][]compiledRule // by effect
	// heads are the programs that rules with an effect speak of; "*" is any.
	heads [3]map[string]bool
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
		rule = rule.meant()
		rd := compiledRule{Rule: rule}
		if shellTool(rule.Tool) {
			rd.compile(e, r)
		} else if f := family(rule.Tool); f == "Read" || f == "Edit" {
			rd.places = rule.compilePaths(e, r)
		}
		c.by[e] = append(c.by[e], rd)
		programs := rd.programs()
		if rule.Tool == "WebFetch" && rule.Spec != "" && e != Allow {
			programs = slices.Sorted(maps.Keys(fetchers))
		}
		for _, program := range programs {
			if c.heads[e] == nil {
				c.heads[e] = map[string]bool{}
			}
			c.heads[e][program] = true
		}
	}
	return c
}

// compile reads the rule's commands.
func (rule *compiledRule) compile(e Effect, r Rules) {
	all := readings(rule.Spec, e != Allow, r.homes())
	rule.cmd = commandPattern{none: true}
	if len(all[0].steps) == 1 && all[0].bad == "" {
		rule.cmd = all[0].steps[0].commandPattern
	}
	if e != Allow {
		rule.defines = functionOf(rule.Spec)
	}
	for _, one := range all {
		switch {
		case one.bad != "" || rule.defines.name != "":
		case len(one.writes) > 0:
			for _, file := range one.writes {
				if begin, more := strings.CutSuffix(file, ":*"); more { // > /dev/sda:*
					file = begin + "*"
				}
				if strings.HasPrefix(file, "/") && !strings.HasPrefix(file, "//") {
					file = "/" + file
				}
				rule.places = append(rule.places, Rule{Tool: "Edit", Spec: file}.compilePaths(e, r)...)
			}
		case e == Allow:
			rule.allows = append(rule.allows, one)
		default:
			rule.forms = append(rule.forms, r.formsOf(one)...)
		}
	}
}

// formsOf are the commands of a reading that forbids or asks, also by the name by which
// people call a program of the system.
func (r Rules) formsOf(one reading) (out [][]form) {
	forms := make([]form, len(one.steps))
	for i, s := range one.steps {
		if len(one.steps) > 1 && s.piped && len(s.tokens) == 1 {
			s.prefix = true // curl * | sh means what is piped into sh -s, too
		}
		forms[i] = r.form(s)
	}
	out = append(out, forms)
	if words := forms[0].words(); len(forms) == 1 && len(words) > 0 && strings.ToLower(words[0]) != words[0] {
		lower := slices.Clone(words) // as systems that fold case run it
		lower[0] = strings.ToLower(lower[0])
		out = append(out, []form{r.form(step{commandPattern: forms[0].with(lower)})})
	}
	if len(forms) == 1 {
		if p, ok := byName(forms[0].commandPattern); ok {
			out = append(out, []form{r.form(step{commandPattern: p})})
		}
	}
	return out
}

func (r Rules) form(s step) form {
	f := form{step: s, spelled: spelledOf(s.commandPattern)}
	if p, ok := r.nearPattern(s.commandPattern); ok {
		f.near, f.spelled = &p, append(f.spelled, spelledOf(p)...)
	}
	return f
}

// byName is the pattern of a command without the folder of its program, where that is
// one of the system's, in which names are looked up.
func byName(p commandPattern) (commandPattern, bool) {
	words := slices.Clone(p.words())
	if len(words) == 0 {
		return p, false
	}
	for _, dir := range programPlaces {
		if rest, ok := strings.CutPrefix(words[0], dir+"/"); ok && rest != "" && !strings.Contains(rest, "/") {
			words[0] = rest
			return p.with(words), true
		}
	}
	return p, false
}

// with is the pattern with other words.
func (p commandPattern) with(words []string) commandPattern {
	if p.wild != "" {
		p.wild = strings.Join(words, "\x00")
	} else {
		p.tokens = words
	}
	return p
}

// programs are those that a rule which forbids or asks about some commands speaks of, by
// all their names.
func (rule *compiledRule) programs() (out []string) {
	for _, forms := range rule.forms {
		if f := forms[0]; len(forms) == 1 && !f.any && !f.none {
			first := "*"
			if words := f.words(); len(words) > 0 && !strings.ContainsRune(words[0], star) {
				first = words[0]
			}
			out = append(out, first)
			for _, s := range f.spelled {
				out = append(out, s.program)
			}
		}
	}
	return out
}
