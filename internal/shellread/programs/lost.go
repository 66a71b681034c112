package programs

import "slices"

// maxLostWords bounds the words behind a program among which those are looked for that
// make it lose something. With more than that, no rule names the loss.
const maxLostWords = 80

// LostWords are the words by which a command destroys something for good, the program
// first, in the order in which they stand there: a rule that has all of them means the
// loss. They are nil when no words say it, or some that are needed are not known.
func LostWords(name string, ws []Word) (out []string) {
	at := lostAt(name, ws)
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
func lostAt(name string, ws []Word) (all []int) {
	p, rests := Standard().of(name), [][]Word{ws[1:]}
	if name == "git" {
		rests = gitRests(ws[1:])
	}
	for _, rest := range rests {
		from := len(ws) - len(rest)
		at := p.lostAt(rest)
		if at == nil && name == "git" && rest[0].Is("checkout") {
			at = []int{0} // of a file, which no word says
		}
		for _, i := range at {
			all = append(all, 0, from+i)
		}
	}
	if all != nil || slices.ContainsFunc(p.forms, func(f form) bool { return f.loses != "" }) {
		return all
	}
	at, ok := needed(ws[1:], func(some []Word) bool { return loses(name, append(ws[:1:1], some...)) != "" })
	if !ok {
		return nil
	}
	for _, i := range at {
		all = append(all, 1+i)
	}
	return append(all, 0)
}

// lostAt are the places of the words that make a command a form which loses something.
func (p *program) lostAt(args []Word) (at []int) {
	for i := range p.forms {
		f := &p.forms[i]
		if m, ok := p.match(f, args); ok && f.loses != "" {
			if at = append(at, m.words...); !f.plain {
				at = append(at, m.flags...)
			}
		}
	}
	return at
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
