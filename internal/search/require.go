package search

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Every match of most patterns holds some text that is easy to look for. This
// file works out what: windows of consecutive bytes, each byte from a set.

// A byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }
func (s *byteSet) addRange(lo, hi int) {
	for c := lo; c <= hi; c++ {
		s.add(byte(c))
	}
}

// weight is how often one of the bytes occurs, of 1.
func (s *byteSet) weight() float64 {
	n := 0
	for c := range 256 {
		if s.has(byte(c)) {
			n += int(frequency[c])
		}
	}
	return min(float64(n)/100_000, 1)
}

func (s *byteSet) bytes() []byte {
	var out []byte
	for c := range 256 {
		if s.has(byte(c)) {
			out = append(out, byte(c))
		}
	}
	return out
}

// A window is a run of sets; a choice is windows of which one must occur.
type (
	window []byteSet
	choice []window
)

// Bounds that keep the work out small.
const (
	maxWindowLen = 24
	maxChoice    = 24
	maxCopies    = 16
)

// needs is what is known of the matches of an expression.
type needs struct {
	exact    choice // all matches, when they are few; else nil
	pre, suf choice // what they start and end with; {{}} when nothing is known
	best     choice // what they hold anywhere; nil when nothing is known
}

var (
	anything = choice{window{}} // says nothing: the empty window occurs everywhere
)

func exactly(c choice) needs { return needs{exact: c, pre: c, suf: c, best: better(nil, c)} }

func unknown() needs { return needs{pre: anything, suf: anything} }

// require works out what every match of re holds.
func require(re *syntax.Regexp) needs {
	switch re.Op {
	case syntax.OpNoMatch:
		return unknown()
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return exactly(anything)
	case syntax.OpLiteral:
		n := exactly(anything)
		for _, r := range re.Rune {
			n = concat(n, literal(r, re.Flags&syntax.FoldCase != 0))
		}
		return n
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpAnyCharNotNL:
		return class([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune})
	case syntax.OpAnyChar:
		return class([]rune{0, unicode.MaxRune})
	case syntax.OpCapture:
		return require(re.Sub[0])
	case syntax.OpStar:
		return unknown()
	case syntax.OpPlus:
		return again(require(re.Sub[0]))
	case syntax.OpQuest:
		return either(require(re.Sub[0]), exactly(anything))
	case syntax.OpRepeat:
		return repeat(require(re.Sub[0]), re.Min, re.Max)
	case syntax.OpConcat:
		n := exactly(anything)
		for _, sub := range re.Sub {
			n = concat(n, require(sub))
		}
		return n
	case syntax.OpAlternate:
		n := require(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			n = either(n, require(sub))
		}
		return n
	}
	return unknown()
}

func literal(r rune, fold bool) needs {
	if fold {
		var runes []rune
		runes = append(runes, r, r)
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			runes = append(runes, f, f)
		}
		if len(runes) > 2 {
			return class(runes)
		}
	}
	var w window
	for _, c := range []byte(string(r)) {
		var s byteSet
		s.add(c)
		w = append(w, s)
	}
	return exactly(choice{w})
}

// class is a set of characters, given as pairs. Characters beyond ASCII have
// several bytes, so with one of them only the outer bytes are known.
func class(pairs []rune) needs {
	var s byteSet
	wide := false
	for i := 0; i+1 < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if lo < utf8.RuneSelf {
			s.addRange(int(lo), int(min(hi, utf8.RuneSelf-1)))
		}
		wide = wide || hi >= utf8.RuneSelf
	}
	if !wide {
		return exactly(choice{window{s}})
	}
	s.addRange(utf8.RuneSelf, 255)
	c := choice{window{s}}
	return needs{pre: c, suf: c, best: better(nil, c)}
}

// again is one or more times n.
func again(n needs) needs { return needs{pre: n.pre, suf: n.suf, best: n.best} }

func repeat(n needs, least, most int) needs {
	if least == 0 {
		if most == 1 {
			return either(n, exactly(anything))
		}
		return unknown()
	}
	out := n
	copies := min(least, maxCopies)
	for range copies - 1 {
		out = concat(out, n)
	}
	if most != copies {
		if least == copies { // the further copies come behind
			return needs{pre: out.pre, suf: out.suf, best: out.best}
		}
		out = needs{pre: out.pre, suf: out.suf, best: out.best}
	}
	return out
}

func concat(a, b needs) needs {
	out := needs{best: better(a.best, b.best)}
	switch {
	case a.exact != nil && b.exact != nil:
		if both, ok := cross(a.exact, b.exact); ok {
			out.exact, out.pre, out.suf = both, both, both
			out.best = better(out.best, both)
			return out
		}
		out.pre, out.suf = a.exact, b.exact
	case a.exact != nil:
		out.pre, out.suf = a.exact, b.suf
		if both, ok := cross(a.exact, b.pre); ok {
			out.pre = both
		}
	case b.exact != nil:
		out.pre, out.suf = a.pre, b.exact
		if both, ok := cross(a.suf, b.exact); ok {
			out.suf = both
		}
	default:
		out.pre, out.suf = a.pre, b.suf
	}
	if joint, ok := cross(a.suf, b.pre); ok {
		out.best = better(out.best, joint)
	}
	return out
}

func either(a, b needs) needs {
	out := needs{pre: union(a.pre, b.pre), suf: union(a.suf, b.suf)}
	if a.exact != nil && b.exact != nil && len(a.exact)+len(b.exact) <= maxChoice {
		out.exact = union(a.exact, b.exact)
	}
	if a.best != nil && b.best != nil && len(a.best)+len(b.best) <= maxChoice {
		out.best = slices.Concat(a.best, b.best)
	}
	return out
}

func union(a, b choice) choice {
	if len(a)+len(b) > maxChoice {
		return anything
	}
	return slices.Concat(a, b)
}

// cross joins each window of a with each of b.
func cross(a, b choice) (choice, bool) {
	if len(a)*len(b) > maxChoice {
		return nil, false
	}
	out := make(choice, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > maxWindowLen {
				return nil, false
			}
			out = append(out, slices.Concat(x, y))
		}
	}
	return out, true
}

// better returns the choice that is cheaper to look for.
func better(a, b choice) choice {
	switch {
	case usable(b) == nil:
		return a
	case a == nil, b.cost() < a.cost():
		return b
	}
	return a
}

// usable returns c unless one of its windows is empty.
func usable(c choice) choice {
	for _, w := range c {
		if len(w) == 0 {
			return nil
		}
	}
	return c
}

// Costs, in nanoseconds: of a byte that has to be looked at closer, and of a
// line that has to be matched.
const (
	costHit  = 5
	costLine = 150
)

// cost estimates the time to look for a choice, per byte of text.
func (c choice) cost() float64 {
	total := 0.0
	for _, w := range c {
		hits := w[w.anchor()].weight()
		lines := 1.0
		for i := range w {
			lines *= min(1, 1.5*w[i].weight()) // bytes are not independent
		}
		total += hits*costHit + lines*costLine
		if n := len(w[w.anchor()].bytes()); n > maxAnchor {
			total += 10
		} else {
			total += float64(n) * 0.05
		}
	}
	return total
}

// anchor is the place of the rarest set.
func (w window) anchor() int {
	at, least := 0, 2.0
	for i := range w {
		if f := w[i].weight(); f < least {
			at, least = i, f
		}
	}
	return at
}
