package programs

import "slices"

// maxLostWords bounds the words behind a program among which those are looked for that
// make it lose something. With more than that, no rule names the loss.
const maxLostWords = 80

// LostWords are the words by which a command destroys something for good, the program
// first, in the order in which they stand there: a rule that has all of them means the
// loss. They are nil when no words say it, or some that are needed are not known.
func (t *Table) LostWords(name string, ws []Word) (out []string) {
	if name == "git" && gitAsFlags(ws) != nil {
		return Literals(ws) // a setting among them says it, or may
	}
	at := t.lostAt(name, ws)
	slices.Sort(at)
	for _, i := range slices.Compact(at) {
		if ws[i].Kind != Exact {
			return nil
		}
		out = append(out, ws[i].Text)
	}
	return out
}

// lostAt are the places of those words, nil when no words say it.
func (t *Table) lostAt(name string, ws []Word) (all []int) {
	_, p, rests := t.judged(name, ws)
	for _, rest := range rests {
		at, ok := p.lostAt(rest)
		if !ok && name == "git" && rest[0].Is("checkout") {
			at, ok = []int{0}, true // of a file, which no word says
		}
		for _, i := range at {
			all = append(all, len(ws)-len(rest)+i)
		}
		if ok {
			all = append(all, 0)
		}
	}
	return all
}

// lostAt are the places of the words that make a command lose something.
func (p *program) lostAt(args []Word) (at []int, ok bool) {
	for i := range p.forms {
		f := &p.forms[i]
		if m, fits := p.match(f, args); fits && f.loses != "" {
			if at, ok = append(at, m.words...), true; !f.plain {
				at = append(at, m.flags...)
			}
		}
	}
	if p.lost == nil || p.lost(args) == "" {
		return at, ok
	}
	more, ok := needed(args, func(some []Word) bool { return p.lost(some) != "" })
	if !ok {
		return nil, false
	}
	return append(at, more...), true
}

// needed are the places of the words that lose something alone, or two together: none of
// them where it takes no word. ok is false when it is for another reason.
func needed(words []Word, lose func(some []Word) bool) (at []int, ok bool) {
	if lose(nil) {
		return nil, true
	}
	if len(words) > maxLostWords {
		return nil, false
	}
	alone := make([]bool, len(words))
	for i, w := range words {
		if alone[i] = lose([]Word{w}); alone[i] {
			at = append(at, i)
		}
	}
	for i := range words {
		for j := i + 1; j < len(words) && !alone[i]; j++ {
			if !alone[j] && lose([]Word{words[i], words[j]}) {
				at = append(at, i, j)
			}
		}
	}
	return at, at != nil
}
