package policy

import (
	"slices"
	"strings"
	"unicode"
)

// A step is one command of a rule.
type step struct {
	commandPattern
	piped bool // it stands behind a pipe
	fails bool // it stands behind ||
}

// A reading is one way to read a rule's text: its commands, in order. bad says why it
// can match nothing.
type reading struct {
	steps []step
	// writes are, instead, the files that redirects of a rule which forbids or asks write:
	// > /dev/sda is about whatever a command writes there.
	writes []string
	bad    string
}

const (
	badRedirect = "this rule can never match: redirects are not part of a command; a rule about a file is Edit(path) or Read(path)"
	badEmpty    = "this rule can never match: a command is missing beside && || | or ;"
	badEnv      = "this rule can never match: it names no program behind what it sets"
)

// read makes commands of tokens.
func (l *lexer) read() (out reading) {
	var words []token
	op := ""
	end := func(last bool) {
		if len(words) == 0 {
			if !last || len(out.steps) == 0 || op != ";" && op != "&" {
				out.bad = badEmpty
			}
			return
		}
		p, bad := pattern(words, l.wide)
		if bad != "" {
			out.bad = bad
		}
		out.steps = append(out.steps, step{p, op != "" && op[0] == '|' && op != "||", op == "||"})
		words = nil
	}
	all := l.tokens()
	if len(l.writes) > 0 {
		return reading{writes: l.writes}
	}
	for i, t := range all {
		switch {
		case t.redirs:
			out.bad = badRedirect
		case t.op == ";" && i == len(all)-1 && slices.ContainsFunc(words, startsFound): // find's own
			words = append(words, token{text: ";", quoted: -1})
		case t.op != "":
			end(false)
			op = t.op
		default:
			words = append(words, t)
		}
	}
	end(true)
	return out
}

// sets reports NAME=value, the name not quoted.
func (t token) sets() bool {
	return isAssignment(t.text) && (t.quoted < 0 || t.quoted > strings.IndexByte(t.text, '='))
}

func startsFound(t token) bool {
	return t.text == "-exec" || t.text == "-execdir" || t.text == "-ok" || t.text == "-okdir"
}

// A commandPattern is one command of a Bash rule.
type commandPattern struct {
	any    bool     // matches every command
	none   bool     // matches none: the rule is about several
	prefix bool     // tokens, then anything
	host   bool     // the last of the tokens is a host, of which any port and path are meant
	tokens []string // literal words, when wild is ""
	wild   string   // words joined by NUL, with wildcards
	env    []string // what must be set before it: NAME=value, with wildcards
}

// pattern is what the words of one command match.
func pattern(words []token, wide bool) (p commandPattern, bad string) {
	for len(words) > 0 && words[0].sets() && !strings.HasSuffix(words[0].text, ":"+string(star)) {
		p.env = append(p.env, words[0].text)
		words = words[1:]
	}
	last := len(words) - 1
	switch {
	case last < 0:
	case words[last].text == string(star) && words[last].tail == 1:
		words, p.prefix = words[:last], true
		if last--; last >= 0 && words[last].text == ":" && words[last].tail == 1 {
			words = words[:last]
		}
	case strings.HasSuffix(words[last].text, ":"+string(star)) && words[last].tail > 1:
		p.prefix, p.host = true, true
		if words[last].text = strings.TrimSuffix(words[last].text, ":"+string(star)); words[last].text == "" {
			words = words[:last]
		} else if last == 0 && words[0].sets() {
			p.env, words = append(p.env, words[last].text), nil
		}
	}
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	switch {
	case len(texts) == 0 && len(p.env) == 0:
		p.any, p.prefix = true, false
		return p, ""
	case len(texts) == 0 && !(wide && p.prefix):
		return commandPattern{none: true}, badEnv
	}
	if joined := strings.Join(texts, "\x00"); strings.ContainsAny(joined, string(star)+string(within)) {
		p.wild = joined
	} else {
		p.tokens = texts
	}
	p.host = p.host && !wide && hostWord(p.tokens)
	return p, bad
}

// readings are the ways to read the text of a rule for commands, the plainest first.
// One that allows is read in one way, and with each name of the home folder; what
// forbids or asks in every way in which it may be meant.
func readings(spec string, wide bool, homes []string) (out []reading) {
	spec = strings.TrimSpace(spec)
	if wide {
		spec = strings.TrimFunc(spec, func(c rune) bool { return unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) })
	}
	if spec == "" {
		return []reading{{steps: []step{{commandPattern: commandPattern{any: true}}}}}
	}
	if len(homes) == 0 {
		homes = []string{""}
	}
	seen := map[string]bool{}
	add := func(r reading) {
		if k := r.key(); !seen[k] {
			seen[k], out = true, append(out, r)
		}
	}
	for _, home := range homes {
		add((&lexer{s: spec, home: home, wide: wide}).read())
		if !wide {
			continue
		}
		add((&lexer{s: spec, home: home, wide: true, tight: true}).read())
		if strings.Contains(spec, ":* ") { // nobody means the colon
			add((&lexer{s: strings.ReplaceAll(spec, ":* ", "* "), home: home, wide: true}).read())
		}
		if strings.Contains(spec, "**/") { // as in a path, where it may stand for no folder
			add((&lexer{s: strings.ReplaceAll(spec, "**/", ""), home: home, wide: true}).read())
		}
		add((&lexer{s: spec, wide: true}).read())
		add((&lexer{s: spec, home: home}).read())
	}
	if wide {
		for _, r := range slices.Clone(out) {
			if longer, ok := r.longer(); ok {
				add(longer)
			}
			for _, one := range r.addresses() {
				add(one)
			}
		}
	}
	return out
}

// longer is the reading of `npm run test:*` in which the star stands for the rest of the
// last word: npm run test:unit.
func (r reading) longer() (reading, bool) {
	n := len(r.steps) - 1
	if n < 0 || !r.steps[n].prefix {
		return r, false
	}
	words := r.steps[n].words()
	if len(words) < 2 || strings.HasPrefix(words[len(words)-1], "-") {
		return r, false
	}
	words = append(slices.Clone(words[:len(words)-1]), words[len(words)-1]+":"+string(star))
	out := reading{steps: slices.Clone(r.steps), bad: r.bad}
	out.steps[n].tokens, out.steps[n].wild = nil, strings.Join(words, "\x00")
	return out, true
}

func (r reading) key() string {
	var b strings.Builder
	for _, s := range r.steps {
		b.WriteString(strings.Join(s.env, "\x00") + "\x04" + strings.Join(s.tokens, "\x00") + "\x04" + s.wild)
		for _, f := range []bool{s.piped, s.fails, s.prefix, s.any, s.host} {
			if f {
				b.WriteByte('!')
			}
			b.WriteByte('\x05')
		}
	}
	return b.String() + strings.Join(r.writes, "\x06") + r.bad
}

// compileCommand is a rule's text for one command, in its plainest reading.
func compileCommand(spec string) commandPattern {
	r := readings(spec, false, nil)[0]
	if len(r.steps) != 1 {
		return commandPattern{none: true}
	}
	return r.steps[0].commandPattern
}

// words are those of the pattern.
func (p commandPattern) words() []string {
	if p.wild != "" {
		return strings.Split(p.wild, "\x00")
	}
	return p.tokens
}

func (p commandPattern) match(argv []string) bool {
	if words := p.words(); len(argv) > 0 && len(words) > 0 && argv[0] != words[0] && (argv[0] == "." || argv[0] == "source") && (words[0] == "." || words[0] == "source") {
		argv = slices.Concat(words[:1], argv[1:])
	}
	switch {
	case p.none:
		return false
	case p.any:
		return true
	case p.wild != "":
		joined := strings.Join(argv, "\x00")
		if wildMatch(p.wild, joined) {
			return true
		}
		return p.prefix && wildMatch(p.wild+"\x00"+string(star), joined)
	case p.host:
		return p.matchHost(argv)
	case p.prefix:
		return len(argv) >= len(p.tokens) && slices.Equal(argv[:len(p.tokens)], p.tokens)
	default:
		return slices.Equal(argv, p.tokens)
	}
}

// exact reports whether the pattern names one command and nothing else.
func (p commandPattern) exact() bool { return !p.any && !p.none && !p.prefix && p.wild == "" }

// fixed are the words before the first wildcard.
func (p commandPattern) fixed() []string {
	words := p.words()
	for i, w := range words {
		if strings.ContainsAny(w, string(star)+string(within)) {
			return words[:i]
		}
	}
	return words
}

// wildMatch matches star against any run of bytes, and within against any that holds no
// NUL: in linear space and quadratic time at worst.
func wildMatch(pattern, s string) bool {
	if strings.IndexByte(pattern, within) >= 0 {
		return withinMatch(pattern, s)
	}
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

// withinMatch is wildMatch for patterns that hold both wildcards.
func withinMatch(pattern, s string) bool {
	if len(pattern)*len(s) > maxOverlap {
		return false
	}
	// row[j]: what is read of the pattern fits s[:j].
	row := make([]bool, len(s)+1)
	row[0] = true
	for i := range len(pattern) {
		c := pattern[i]
		next := make([]bool, len(s)+1)
		next[0] = row[0] && (c == star || c == within)
		for j := 1; j <= len(s); j++ {
			switch c {
			case star:
				next[j] = row[j] || next[j-1]
			case within:
				next[j] = row[j] || next[j-1] && s[j-1] != 0
			default:
				next[j] = row[j-1] && s[j-1] == c
			}
		}
		row = next
	}
	return row[len(s)]
}

// ruleCommand writes an argv so that a rule with this spec matches exactly it.
func ruleCommand(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		if out[i] = quoteWord(a); out[i] == a && strings.ContainsAny(a, "~$|&;<>") || i == 0 && isAssignment(a) {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// QuoteCommand writes an argv for people to read, as a shell would take it.
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
