package shellread

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func hasBrace(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return true
		}
	}
	return false
}

// plainBraces reports that no shell expands a brace in the text: there is no
// comma and no .. in it, or each pair, as in @{u}.. , holds only letters,
// digits and dashes.
func plainBraces(text string) bool {
	if !strings.Contains(text, ",") && !strings.Contains(text, "..") {
		return true
	}
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return !strings.Contains(text, "}")
		}
		end := strings.IndexByte(text[open:], '}')
		if end < 2 || strings.Contains(text[:open], "}") || strings.TrimLeft(text[open+1:open+end], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
			return false
		}
		text = text[open+end+1:]
	}
}

// expandBraces multiplies out the alternatives of a split word.
func expandBraces(w *syntax.Word) ([]*syntax.Word, bool) {
	out := []*syntax.Word{{}}
	for _, p := range w.Parts {
		be, ok := p.(*syntax.BraceExp)
		if !ok {
			for _, o := range out {
				o.Parts = append(o.Parts, p)
			}
			continue
		}
		elems, ok := braceElems(be)
		if !ok || len(out)*len(elems) > maxBraces {
			return nil, false
		}
		var next []*syntax.Word
		for _, o := range out {
			for _, e := range elems {
				next = append(next, &syntax.Word{Parts: append(append([]syntax.WordPart(nil), o.Parts...), e.Parts...)})
			}
		}
		out = next
	}
	return out, true
}

func braceElems(be *syntax.BraceExp) ([]*syntax.Word, bool) {
	if be.Sequence {
		return braceSequence(be)
	}
	var out []*syntax.Word
	for _, e := range be.Elems {
		more, ok := expandBraces(e)
		if !ok || len(out)+len(more) > maxBraces {
			return nil, false
		}
		out = append(out, more...)
	}
	return out, true
}

// braceSequence reads {1..5}; other sequences are left to a person.
func braceSequence(be *syntax.BraceExp) ([]*syntax.Word, bool) {
	if len(be.Elems) != 2 {
		return nil, false
	}
	a, b := be.Elems[0].Lit(), be.Elems[1].Lit()
	if len(a) == 1 && len(b) == 1 && a[0] >= 'a' && b[0] <= 'z' && a[0] <= b[0] {
		var out []*syntax.Word
		for c := a[0]; c <= b[0]; c++ {
			out = append(out, literalWord(string(c)))
		}
		return out, true
	}
	from, err1 := strconv.Atoi(a)
	to, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || from < 0 || to < from || to-from >= maxBraces || len(a) > 1 && a[0] == '0' || len(b) > 1 && b[0] == '0' {
		return nil, false
	}
	var out []*syntax.Word
	for n := from; n <= to; n++ {
		out = append(out, literalWord(strconv.Itoa(n)))
	}
	return out, true
}

func literalWord(s string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}}
}
