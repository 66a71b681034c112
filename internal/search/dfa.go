package search

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// This file matches lines with a deterministic automaton that is built while
// it is used, so that each byte costs one or two table look-ups. It works on
// bytes and is exact for ASCII. A character beyond ASCII counts as any run of
// bytes from 0x80 on, and a CR may be the end of a line or not: there it may
// find a match too many, never one too few, and the caller has to confirm.

// An op is one instruction of the nondeterministic automaton.
type op struct {
	kind      opKind
	set       byteSet // opByte
	out, alt  int
	condition syntax.EmptyOp
}

type opKind uint8

const (
	opByte  opKind = iota // one byte of set, then out
	opSplit               // out or alt
	opIf                  // out, where condition holds
	opMatch
	opFail
)

// An automaton is the compiled form of a pattern; it is read-only.
type automaton struct {
	ops     []op
	start   int
	classOf [256]uint8 // bytes that no instruction tells apart share a class
	sample  []byte     // one byte of each class
	words   bool       // word boundaries matter
}

// build compiles a simplified expression.
func build(re *syntax.Regexp) (*automaton, error) {
	prog, err := syntax.Compile(re)
	if err != nil {
		return nil, err
	}
	a := &automaton{start: prog.Start}
	for _, in := range prog.Inst {
		a.ops = append(a.ops, convert(in))
		if in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
			a.words = true
		}
	}
	// Behind a wide character, more bytes of it may follow.
	for i, in := range prog.Inst {
		if a.ops[i].kind == opByte && a.ops[i].set.has(0x80) {
			loop, more := len(a.ops), len(a.ops)+1
			var high byteSet
			high.addRange(utf8.RuneSelf, 255)
			a.ops = append(a.ops, op{kind: opSplit, out: more, alt: int(in.Out)}, op{kind: opByte, set: high, out: loop})
			a.ops[i].out = loop
		}
	}
	a.classes()
	return a, nil
}

func convert(in syntax.Inst) op {
	o := op{out: int(in.Out), alt: int(in.Arg)}
	switch in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		o.kind = opSplit
	case syntax.InstCapture, syntax.InstNop:
		o.kind, o.condition = opIf, 0
	case syntax.InstEmptyWidth:
		o.kind, o.condition = opIf, syntax.EmptyOp(in.Arg)
	case syntax.InstMatch:
		o.kind = opMatch
	case syntax.InstFail:
		o.kind = opFail
	case syntax.InstRune1, syntax.InstRune, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		o.kind = opByte
		for c := range utf8.RuneSelf {
			if in.MatchRune(rune(c)) {
				o.set.add(byte(c))
			}
		}
		if wide(in) {
			o.set.addRange(utf8.RuneSelf, 255)
		}
	}
	// A match never spans lines.
	o.set[0] &^= 1 << '\n'
	return o
}

// wide reports whether an instruction can take a character beyond ASCII.
func wide(in syntax.Inst) bool {
	switch in.Op {
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	if len(in.Rune) == 0 {
		return false
	}
	if in.Rune[len(in.Rune)-1] >= utf8.RuneSelf {
		return true
	}
	if len(in.Rune) == 1 && syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		r := in.Rune[0]
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if f >= utf8.RuneSelf {
				return true
			}
		}
	}
	return false
}

// classes groups bytes.
func (a *automaton) classes() {
	kinds := map[string]uint8{}
	for c := range 256 {
		key := make([]byte, 0, len(a.ops)+3)
		for i := range a.ops {
			if a.ops[i].kind == opByte {
				if a.ops[i].set.has(byte(c)) {
					key = append(key, '1')
				} else {
					key = append(key, '0')
				}
			}
		}
		if a.words && isWord(byte(c)) {
			key = append(key, 'w')
		}
		switch c {
		case '\n':
			key = append(key, 'n')
		case '\r':
			key = append(key, 'r')
		}
		k, ok := kinds[string(key)]
		if !ok {
			k = uint8(len(a.sample))
			kinds[string(key)] = k
			a.sample = append(a.sample, byte(c))
		}
		a.classOf[c] = k
	}
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Fixed states. A state is an offset into the table of transitions.
const (
	matched  = 0
	todo     = -1 // not worked out yet
	maxState = 4000
	maxFlush = 8 // how often the table may fill up before the caller is told to give up
)

// A dfa is one goroutine's table of an automaton.
type dfa struct {
	a      *automaton
	width  int
	table  []int32
	states []state
	ids    map[string]int32
	begin  int32 // the state at the start of a line
	dead   int32 // no match can begin in the rest of the line, or -1
	flush  int
	stay   [256]bool // bytes that lead from begin's successor back to itself
	rest   int32     // that successor
	marks  []uint32  // per instruction: the round it was seen in
	round  uint32
	stack  []int
}

// A state is the instructions that wait for a byte, before empty steps are
// taken, and what stands before it.
type state struct {
	pcs   []int32
	first bool // at the start of a line
	word  bool // behind a word character
}

func newDFA(a *automaton) *dfa {
	d := &dfa{a: a, width: len(a.sample), marks: make([]uint32, len(a.ops))}
	d.clear()
	return d
}

func (d *dfa) clear() {
	d.table = d.table[:0]
	d.states = d.states[:0]
	d.ids = map[string]int32{}
	d.dead, d.rest = -1, -1
	d.add(state{}, "match")
	d.begin = d.intern(state{first: true})
}

func (d *dfa) add(s state, key string) int32 {
	id := int32(len(d.table))
	for range d.width {
		d.table = append(d.table, todo)
	}
	d.states = append(d.states, s)
	d.ids[key] = id
	return id
}

func (d *dfa) intern(s state) int32 {
	key := make([]byte, 0, 4*len(s.pcs)+1)
	flags := byte(0)
	if s.first {
		flags |= 1
	}
	if s.word {
		flags |= 2
	}
	key = append(key, flags)
	for _, pc := range s.pcs {
		key = binary.LittleEndian.AppendUint32(key, uint32(pc))
	}
	if id, ok := d.ids[string(key)]; ok {
		return id
	}
	return d.add(s, string(key))
}

// conditions that hold between s and the byte c.
func (d *dfa) conditions(s state, c byte) syntax.EmptyOp {
	var e syntax.EmptyOp
	if s.first {
		e |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if c == '\n' || c == '\r' { // a CR may end the line; the caller confirms
		e |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	if d.a.words {
		if s.word != isWord(c) {
			e |= syntax.EmptyWordBoundary
		} else {
			e |= syntax.EmptyNoWordBoundary
		}
	}
	return e
}

// step works out where c leads from a state; '\n' leads to the next line.
func (d *dfa) step(id int32, class uint8) int32 {
	c := d.a.sample[class]
	s := d.states[int(id)/d.width]
	e := d.conditions(s, c)
	d.round++
	next := make([]int32, 0, len(s.pcs)+4)
	d.stack = append(d.stack[:0], d.a.start)
	for _, pc := range s.pcs {
		d.stack = append(d.stack, int(pc))
	}
	hit := false
	for len(d.stack) > 0 && !hit {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.marks[pc] == d.round {
			continue
		}
		d.marks[pc] = d.round
		switch o := &d.a.ops[pc]; o.kind {
		case opMatch:
			hit = true
		case opSplit:
			d.stack = append(d.stack, o.alt, o.out)
		case opIf:
			if o.condition&^e == 0 {
				d.stack = append(d.stack, o.out)
			}
		case opByte:
			if o.set.has(c) {
				next = append(next, int32(o.out))
			}
		case opFail:
		}
	}
	var to int32
	switch {
	case hit:
		to = matched
	case c == '\n':
		to = d.begin
	default:
		slices.Sort(next)
		next = slices.Compact(next)
		if len(d.states) >= maxState {
			d.clear()
			d.flush++
			return d.intern(state{pcs: next, word: d.a.words && isWord(c)}) // not entered: id is gone
		}
		to = d.intern(state{pcs: next, word: d.a.words && isWord(c)})
		if len(next) == 0 && d.rest < 0 && !d.a.words && len(d.states)+d.width < maxState {
			d.learnRest(to)
		}
	}
	d.table[int(id)+int(class)] = to
	return to
}

// learnRest learns which bytes keep the automaton in the state in which nothing
// has begun; most text is passed over there.
func (d *dfa) learnRest(rest int32) {
	d.rest = rest
	quiet := true
	for class := range d.width {
		to := d.step(rest, uint8(class))
		if d.a.sample[class] != '\n' && to != rest {
			quiet = false
		}
	}
	for c := range 256 {
		d.stay[c] = d.table[int(rest)+int(d.a.classOf[c])] == rest
	}
	if quiet {
		d.dead = rest
	}
}

// find returns the place where a match is known to exist in b[at:end], which
// starts at a line's start; -1 when no line matches. end counts as a line's
// end. ok is false when the automaton grew too large to be of use.
func (d *dfa) find(b []byte, at, end int) (place int, ok bool) {
	if d.flush > maxFlush {
		return 0, false
	}
	s := d.begin
	classOf := &d.a.classOf
	for i := at; i < end; {
		if s == d.rest {
			for i < end && d.stay[b[i]] {
				i++
			}
			if i == end {
				break
			}
		}
		if s == d.dead {
			j := bytes.IndexByte(b[i:end], '\n')
			if j < 0 {
				break
			}
			i += j
		}
		t := d.table[int(s)+int(classOf[b[i]])]
		if t <= matched {
			if t == todo {
				if t = d.step(s, classOf[b[i]]); d.flush > maxFlush {
					return 0, false
				}
			}
			if t == matched {
				return i, true
			}
		}
		s = t
		i++
	}
	if end > at && b[end-1] == '\n' {
		return -1, true
	}
	if t := d.step(s, classOf['\n']); t == matched {
		return end, true
	}
	return -1, true
}
