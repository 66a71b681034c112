package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxExtended bounds the words that one word with extended patterns may be.
const maxExtended = 20

// extended are the words that a word with an extended pattern, @(a|b), may be: nil when
// it has none, or too many.
func (r *reader) extended(w *syntax.Word, st state, text string) (out []word) {
	at := slices.IndexFunc(w.Parts, func(p syntax.WordPart) bool { _, ok := p.(*syntax.ExtGlob); return ok })
	if at < 0 {
		return nil
	}
	for _, alt := range extendedTexts(w.Parts[at].(*syntax.ExtGlob), at == 0) {
		one := &syntax.Word{Parts: slices.Clone(w.Parts)}
		one.Parts[at] = &syntax.Lit{Value: alt}
		got, ok := r.word(one, st, text)
		switch {
		case !ok:
		case got.Kind == unknown && got.Or != nil:
			out = append(out, got.Or...)
		case got.Kind == exact || got.Kind == pattern:
			out = append(out, got)
		}
		if len(out) > maxExtended {
			return nil
		}
	}
	return out
}

// extendedTexts are the patterns that an extended one may stand for; where it is one of
// many it counts as any text. first says that a name begins with it.
func extendedTexts(p *syntax.ExtGlob, first bool) (out []string) {
	if p.Op == syntax.GlobZeroOrOne {
		out = []string{""}
	}
	if p.Op == syntax.GlobOne || p.Op == syntax.GlobZeroOrOne {
		if !strings.ContainsAny(p.Pattern.Value, "($`") {
			plain := strings.NewReplacer(`"`, "", `'`, "").Replace(p.Pattern.Value)
			return append(out, strings.Split(plain, "|")...)
		}
	}
	out = append(out, "*")
	if first && p.Op != syntax.GlobExcept {
		out = append(out, ".*")
	}
	return out
}
