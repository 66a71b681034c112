package search

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// A matcher is a compiled pattern. It is read-only; a finder uses it.
type matcher struct {
	multi bool
	re    *regexp.Regexp
	auto  *automaton // nil when matches may span lines
	pre   *prefilter // nil when nothing is easy to look for
	sure  bool       // what pre finds is a match
	cr    bool       // the pattern asks for CR, so one before a newline is text
	// beyond: the pattern names characters above ASCII, which bytes of other encodings are not.
	beyond bool
}

// beyondASCII finds what names characters above ASCII by class or number.
var beyondASCII = pattern.Lazy(`\\[pPx]`)

// compile reads a pattern in RE2 syntax. ^ and $ are the ends of lines.
func compile(pattern string, fold, multi bool) (*matcher, error) {
	return compileFor(pattern, fold, multi, worth)
}

// compileFor is compile with a limit for the cost of a prefilter.
func compileFor(pattern string, fold, multi bool, limit float64) (*matcher, error) {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, syntaxError(pattern, err)
	}
	flags := "(?m)"
	if fold {
		flags += "(?i)"
	}
	if multi {
		flags += "(?s)"
	}
	tree, err := syntax.Parse(flags+pattern, syntax.Perl)
	if err != nil {
		return nil, syntaxError(pattern, err)
	}
	if multi && !namesCR(tree) {
		tree = endsOfLines(tree)
		flags, pattern = "", tree.String()
	}
	re, err := regexp.Compile(flags + pattern)
	if err != nil {
		return nil, syntaxError(pattern, err)
	}
	m := &matcher{multi: multi, re: re, cr: namesCR(tree)}
	m.beyond = strings.ContainsFunc(pattern, func(r rune) bool { return r >= utf8.RuneSelf }) || beyondASCII().MatchString(pattern)
	need := require(tree)
	if !multi {
		if m.auto, err = build(tree.Simplify()); err != nil {
			return nil, syntaxError(pattern, err)
		}
		oneLine(need.exact)
		oneLine(need.best)
		if usable(need.exact) != nil && !asserts(tree) && (m.cr || !takesCR(need.exact)) {
			m.pre = newPrefilter(need.exact, limit)
			m.sure = m.pre != nil
		}
	}
	if m.pre == nil {
		m.pre = newPrefilter(need.best, limit)
	}
	return m, nil
}

// oneLine takes the newline out of all sets: a match never spans lines.
func oneLine(c choice) {
	for _, w := range c {
		for i := range w {
			w[i][0] &^= 1 << '\n'
		}
	}
}

// takesCR reports whether a CR may be part of a match: one at a line's end is
// not text.
func takesCR(c choice) bool {
	return slices.ContainsFunc(c, func(w window) bool {
		return slices.ContainsFunc(w, func(s byteSet) bool { return s.has('\r') })
	})
}

// namesCR reports whether a literal of re is a carriage return.
func namesCR(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\r') || slices.ContainsFunc(re.Sub, namesCR)
}

// asserts reports whether re looks at what stands around a match.
func asserts(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, asserts)
}

// endsOfLines returns re with each newline that it asks for standing for a line
// end of either kind, as a file is shown without CR.
func endsOfLines(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') {
		out := &syntax.Regexp{Op: syntax.OpConcat, Flags: re.Flags}
		literal := func(rs []rune) *syntax.Regexp {
			return &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: rs}
		}
		from := 0
		for i, r := range re.Rune {
			if r != '\n' {
				continue
			}
			if i > from {
				out.Sub = append(out.Sub, literal(re.Rune[from:i]))
			}
			cr := &syntax.Regexp{Op: syntax.OpQuest, Flags: re.Flags &^ syntax.NonGreedy, Sub: []*syntax.Regexp{literal([]rune{'\r'})}}
			out.Sub = append(out.Sub, cr, literal([]rune{'\n'}))
			from = i + 1
		}
		if from < len(re.Rune) {
			out.Sub = append(out.Sub, literal(re.Rune[from:]))
		}
		return out
	}
	for i, sub := range re.Sub {
		re.Sub[i] = endsOfLines(sub)
	}
	return re
}

// place is where the match begins in a line that matches.
func (m *matcher) place(line []byte) int {
	if loc := m.re.FindIndex(line); loc != nil {
		return loc[0]
	}
	return 0
}

// syntaxError turns a syntax error into one that says what to do: most are syntax
// of Perl and PCRE that RE2 leaves out.
func syntaxError(pattern string, err error) error {
	for _, p := range []struct{ has, name string }{
		{"(?=", "lookahead"}, {"(?!", "negative lookahead"}, {"(?<=", "lookbehind"}, {"(?<!", "negative lookbehind"},
		{"(?>", "an atomic group"}, {"(?#", "a comment"}, {"(?(", "a condition"}, {"(?|", "a branch reset"}, {"(?R)", "recursion"}, {`\k<`, "a back reference"}, {`\K`, `\K`}, {`\G`, `\G`}, {`\R`, `\R`},
	} {
		if strings.Contains(pattern, p.has) {
			return fmt.Errorf("the pattern uses %s (%s…), which exists in PCRE only; patterns have RE2 syntax: no lookaround and no back references", p.name, p.has)
		}
	}
	for i := '1'; i <= '9'; i++ {
		if strings.Contains(pattern, `\`+string(i)) {
			return errors.New(`the pattern uses a back reference, which exists in PCRE only; patterns have RE2 syntax: no lookaround and no back references`)
		}
	}
	var se *syntax.Error
	if errors.As(err, &se) {
		hint := ""
		switch se.Code {
		case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket, syntax.ErrMissingRepeatArgument:
			hint = `; a literal ( ) [ { * + ? needs a backslash before it`
		}
		if se.Code == syntax.ErrInvalidRepeatOp {
			hint = "; possessive and stacked repetitions exist in PCRE only"
		}
		return fmt.Errorf("the pattern is not a valid regular expression (RE2 syntax): %s: %q%s", se.Code, se.Expr, hint)
	}
	return fmt.Errorf("the pattern is not a valid regular expression (RE2 syntax): %w", err)
}

// A finder is one goroutine's use of a matcher.
type finder struct {
	m *matcher
	h *hunt
	d *dfa
}

func newFinder(m *matcher) *finder {
	f := &finder{m: m}
	if m.pre != nil {
		f.h = newHunt(m.pre)
	}
	if m.auto != nil {
		f.d = newDFA(m.auto)
	}
	return f
}

// reset is for a new buffer.
func (f *finder) reset() {
	if f.h != nil {
		f.h.reset()
	}
}

// next returns the next lines that match, as one range, from offset at on,
// which must be a line's start and must rise from call to call.
func (f *finder) next(b []byte, at int) (from, to int, ok bool) {
	switch {
	case f.m.multi:
		return f.span(b, at)
	case f.h == nil:
		return f.scan(b, at)
	}
	for at < len(b) {
		p := f.h.next(b, at)
		if p < 0 {
			return 0, 0, false
		}
		from, to = at+bytes.LastIndexByte(b[at:p], '\n')+1, lineEnd(b, p)
		if f.m.sure || f.line(b, from, to) {
			return from, to, true
		}
		at = to
	}
	return 0, 0, false
}

// span finds a match that may have several lines.
func (f *finder) span(b []byte, at int) (from, to int, ok bool) {
	if f.h != nil && f.h.next(b, at) < 0 {
		return 0, 0, false
	}
	loc := f.m.re.FindIndex(b[at:])
	if loc == nil || at+loc[0] >= len(b) {
		return 0, 0, false
	}
	end := at + loc[1]
	if loc[1] > loc[0] {
		end--
	}
	from = bytes.LastIndexByte(b[:at+loc[0]], '\n') + 1
	return from, lineEnd(b, min(end, len(b)-1)), true
}

// scan finds a line without a prefilter.
func (f *finder) scan(b []byte, at int) (from, to int, ok bool) {
	for at < len(b) {
		p, ok := f.d.find(b, at, len(b))
		if !ok {
			break
		}
		if p < 0 {
			return 0, 0, false
		}
		if p == len(b) { // behind the last line, which has no end
			p--
		}
		from, to = at+bytes.LastIndexByte(b[at:p], '\n')+1, lineEnd(b, p)
		if f.confirm(b[from:to]) {
			return from, to, true
		}
		at = to
	}
	for ; at < len(b); at = to { // the automaton gave up
		if to = lineEnd(b, at); f.m.match(b[at:to]) {
			return at, to, true
		}
	}
	return 0, 0, false
}

// line reports whether b[from:to], one line, matches.
func (f *finder) line(b []byte, from, to int) bool {
	p, ok := f.d.find(b, from, to)
	if !ok {
		return f.m.match(b[from:to])
	}
	return p >= 0 && f.confirm(b[from:to])
}

// confirm settles a match that the automaton reports in a line: its word is
// final unless the line holds bytes it does not know exactly.
func (f *finder) confirm(line []byte) bool {
	for _, c := range line {
		if c >= utf8.RuneSelf || c == '\r' {
			return f.m.match(line)
		}
	}
	return true
}

// match reports whether a line matches, by package regexp.
func (m *matcher) match(line []byte) bool {
	if m.cr {
		return m.re.Match(bytes.TrimSuffix(line, newline))
	}
	return m.re.Match(trimLine(line))
}

// trimLine drops the end of a line, of either kind.
func trimLine(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}
