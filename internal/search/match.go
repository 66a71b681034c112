package search

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// A matcher finds the lines of a buffer that match a pattern.
type matcher struct {
	multi bool
	re    *regexp.Regexp
}

// compile reads a pattern in RE2 syntax. ^ and $ are the ends of lines.
func compile(pattern string, fold, multi bool) (*matcher, error) {
	flags := syntax.Perl &^ syntax.OneLine
	src := "(?m)"
	if fold {
		src = "(?mi)"
	}
	if multi {
		src += "(?s)"
	}
	if _, err := syntax.Parse(pattern, flags); err != nil {
		return nil, explain(pattern, err)
	}
	re, err := regexp.Compile(src + pattern)
	if err != nil {
		return nil, explain(pattern, err)
	}
	return &matcher{multi: multi, re: re}, nil
}

// explain turns a syntax error into one that says what to do: most are syntax
// of Perl and PCRE that RE2 leaves out.
func explain(pattern string, err error) error {
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

// next returns the next lines from offset at on that match, as one range.
func (m *matcher) next(b []byte, at int) (from, to int, ok bool) {
	if m.multi {
		loc := m.re.FindIndex(b[at:])
		if loc == nil || at+loc[0] >= len(b) {
			return 0, 0, false
		}
		from = bytes.LastIndexByte(b[:at+loc[0]], '\n') + 1
		end := at + loc[1]
		if loc[1] > loc[0] {
			end--
		}
		return from, lineEnd(b, min(end, len(b)-1)), true
	}
	for at < len(b) {
		e := lineEnd(b, at)
		if m.re.Match(trimLine(b[at:e])) {
			return at, e, true
		}
		at = e
	}
	return 0, 0, false
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
