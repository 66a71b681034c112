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
func lostAt(name string, ws []Word) []int {
	if name == "git" {
		return gitLostAt(ws)
	}
	at, ok := []int(nil), true
	if rows := losses()[name]; rows != nil {
		for _, l := range rows {
			for _, i := range l.at(ws[1:]) {
				at = append(at, 1+i)
			}
		}
		ok = at != nil
	} else if at, ok = needed(ws[1:], func(some []Word) bool { return loses(name, append(ws[:1:1], some...)) != "" }); ok {
		for i := range at {
			at[i]++
		}
	}
	if !ok {
		return nil
	}
	return append(at, 0)
}

func gitLostAt(ws []Word) (all []int) {
	for _, rest := range gitRests(ws[1:]) {
		sub := len(ws) - len(rest)
		if gitLoses(rest) == "" {
			if rest[0].Is("checkout") { // of a file, which no word says
				all = append(all, 0, sub)
			}
			continue
		}
		at, ok := needed(rest[1:], func(some []Word) bool { return gitLoses(append(rest[:1:1], some...)) != "" })
		if !ok {
			return nil
		}
		all = append(all, 0, sub)
		for _, i := range at {
			all = append(all, sub+1+i)
		}
	}
	return all
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
