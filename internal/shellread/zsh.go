package shellread

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// zshSplit reports whether a word holds what zsh takes for an expansion with
// flags, modifiers or a name: $=x, $~x, $^x, $+x, $é, $x:h, $x[1].
func (r *reader) zshSplit(parts []syntax.WordPart) bool {
	text := r.ownText(parts)
	for i := 1; i < len(text); i++ {
		if text[i-1] == '$' && (text[i] >= utf8.RuneSelf || strings.IndexByte("=~^+", text[i]) >= 0 || zshTail(text[afterName(text, i):]) || twoDigits(text[i:])) {
			return true
		}
	}
	return false
}

// ownText is the text of a word without what stands in substitutions and single
// quotes.
func (r *reader) ownText(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.SglQuoted:
			b.WriteByte(' ')
		case *syntax.DblQuoted:
			b.WriteString(r.ownText(p.Parts))
		default:
			b.WriteString(r.text(p))
		}
	}
	return b.String()
}

// twoDigits reports $10, which is $1 and a 0 for bash.
func twoDigits(s string) bool {
	return len(s) > 1 && s[0] >= '0' && s[0] <= '9' && s[1] >= '0' && s[1] <= '9'
}

// zshTail reports what zsh reads as part of the expansion before it.
func zshTail(s string) bool {
	if strings.HasPrefix(s, "[") {
		return true
	}
	return len(s) > 1 && s[0] == ':' && strings.IndexByte("&aAcefFghilopPqQrsStuUvVwWx", s[1]) >= 0
}

// shortParam reports $x without braces.
func shortParam(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	return ok && e.Short
}

// assignsTilde reports whether an argument looks like an assignment with a
// tilde in its value: of=~/x. Bash expands it, other shells do not.
func assignsTilde(w *syntax.Word, src string) bool {
	if len(w.Parts) == 0 || !strings.Contains(src, "~") {
		return false
	}
	l, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return false
	}
	name, _, ok := strings.Cut(l.Value, "=")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "+"), "[")
	return ok && syntax.ValidName(name)
}
