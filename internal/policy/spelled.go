package policy

import (
	"slices"
	"strings"
)

// A spelled is the beginning of a command that a rule forbids or asks about, in one of
// its spellings. Where commands are compared with it, flags may stand between its
// words, and those that it has itself anywhere.
type spelled struct {
	program string
	words   []string // behind the program, without flags
	flags   []string
	open    bool // further words may follow
}

// A surety says whether a command is the one that a rule names.
type surety int

const (
	not     surety = iota
	maybeIs        // it depends on which flags take a value
	surely
)

// spelledOf are the spellings of a rule; of one that names a program alone those under
// another name.
func spelledOf(p commandPattern) (out []spelled) {
	tokens := p.words()
	if len(tokens) == 0 || strings.HasPrefix(tokens[0], string(star)) {
		return nil
	}
	all := spellings(tokens)
	if len(tokens) == 1 {
		if all = all[1:]; !p.prefix {
			return nil
		}
	}
	for _, words := range all {
		s := spelled{program: words[0], open: p.prefix || strings.HasSuffix(p.wild, string(star)) || operandOf(words[len(words)-1])}
		with := s // the word behind a flag is its value
		for i, w := range words[1:] {
			switch value := isFlag(words[i]) && !strings.Contains(words[i], "="); {
			case w == "--":
			case isFlag(w):
				s.flags = append(s.flags, w)
				if i+2 >= len(words) || isFlag(words[i+2]) || strings.Contains(w, "=") {
					with.flags = append(with.flags, w)
				} else {
					with.flags = append(with.flags, w+"="+words[i+2])
				}
			default:
				s.words = append(s.words, w)
				if !value {
					with.words = append(with.words, w)
				}
			}
		}
		if out = append(out, s); len(with.words) < len(s.words) {
			out = append(out, with)
		}
	}
	return out
}

// operandOf reports a word of a rule that is a path or an address, which may stand behind
// others.
func operandOf(w string) bool { return pathWord(w) || strings.Contains(w, "://") }

func isFlag(w string) bool { return len(w) > 1 && w[0] == '-' }

// spells reports whether a command may be one of the spellings of the form.
func (f *form) spells(a Exec, argv []string) (best surety) {
	if len(argv) == 0 || len(f.spelled) == 0 {
		return not
	}
	program := argv[0]
	if base := baseName(argv); base != "" {
		program = base
	}
	for _, s := range f.spelled {
		if wildMatch(s.program, program) {
			best = max(best, min(s.flagged(program, argv[1:]), s.worded(program, a, argv[1:])))
		}
	}
	return best
}

// An operand is a word of a command that is no flag.
type operand struct {
	text  string
	value bool  // it stands behind a flag, and may be its value
	open  *Open // it is not known before it runs
}

func operands(program string, a Exec, args []string) (out []operand) {
	flag, over, valued := false, false, false
	for i, w := range args {
		if valued && !slices.ContainsFunc(a.Open, func(o Open) bool { return o.Source == w }) {
			flag, valued = false, false
			continue
		}
		valued = !over && len(out) == 0 && slices.Contains(valuedFlags[program], w)
		if !over && (isFlag(w) || i == 0 && strings.HasPrefix(w, "+")) { // cargo +nightly
			over = w == "--"
			flag = !over && w[0] == '-' && !strings.Contains(w, "=") && !plainFlags[program] && !slices.Contains(bareFlagsOf[program], w)
			continue
		}
		o := operand{text: w, value: flag}
		for j := range a.Open {
			if a.Open[j].Source == w {
				o.open = &a.Open[j]
			}
		}
		out, flag = append(out, o), false
	}
	return out
}

// worded compares the words that are no flags.
func (s spelled) worded(program string, a Exec, args []string) surety {
	if program == "dd" {
		return s.assigned(a, args)
	}
	// reached[n]: how surely the first n words of s are found so far.
	reached := make([]surety, len(s.words)+1)
	reached[0] = surely
	best := not
	if len(s.words) == 0 && s.open {
		return surely
	}
	for _, o := range operands(program, a, args) {
		next := make([]surety, len(reached))
		for n, sure := range reached {
			if sure == not {
				continue
			}
			if o.value || listing[program] || o.open != nil && (o.open.Head == "" || o.open.Head[0] == '-') {
				next[n] = max(next[n], min(sure, o.skipped(program)))
			}
			if n < len(s.words) && operandOf(s.words[n]) {
				next[n] = max(next[n], sure) // it may stand behind others
			}
			if n < len(s.words) {
				next[n+1] = max(next[n+1], min(sure, o.is(program, s.words[n])))
			}
		}
		if s.open {
			best = max(best, next[len(s.words)])
			next[len(s.words)] = not
		}
		if reached = next; best == surely || !slices.ContainsFunc(reached, func(s surety) bool { return s != not }) {
			break
		}
	}
	if !s.open {
		best = reached[len(s.words)]
	}
	return best
}

// assigned compares words of dd, which stand in any order: a NAME=* of a rule is given as
// well where dd reads or writes what it does without.
func (s spelled) assigned(a Exec, args []string) surety {
	all := operands("dd", a, args)
	sure := surely
	for _, word := range s.words {
		best := not
		if strings.HasSuffix(word, "="+string(star)) {
			best = surely
		}
		for _, o := range all {
			best = max(best, o.is("dd", word))
		}
		sure = min(sure, best)
	}
	return sure
}

// skipped is how surely an operand stands in the way of none behind it.
func (o operand) skipped(program string) surety {
	if o.value && globalFlags[program] {
		return surely
	}
	return maybeIs
}

// is reports whether an operand is, or may be, a word of a rule.
func (o operand) is(program, word string) surety {
	sure := surely
	if o.value && !strings.Contains(word, "://") { // an address is hardly a flag's
		sure = o.skipped(program)
	}
	switch {
	case o.open != nil:
		if !o.value && overlap(word, o.open.Head+string(star)+o.open.Tail) {
			return maybeIs
		}
		return not
	case wildMatch(word, o.text), program == "chmod" && o.text != "" && strings.Trim(o.text, "01234567") == "" && strings.TrimLeft(o.text, "0") == strings.TrimLeft(word, "0"):
		return sure
	case o.text == "" || !abbreviating[program]:
		return not
	case strings.HasPrefix(word, strings.ToLower(o.text)), strings.ReplaceAll(word, "-", "") == strings.ToLower(o.text): // npm takes runScript, too
		return maybeIs
	}
	return not
}

// flagged compares the flags, which may stand anywhere, together or apart, and
// under their longer names.
func (s spelled) flagged(program string, args []string) surety {
	best := surely
	for _, f := range s.flags {
		best = min(best, s.given(program, f, args))
	}
	return best
}

// given compares one flag.
func (s spelled) given(program, flag string, args []string) (best surety) {
	f := s.wanted(program, flag)
	missing := map[rune]bool{}
	for _, c := range f.letters {
		missing[c] = true
	}
	clustered := surely
	for i, w := range args {
		if w == "--" {
			break
		}
		if f.is(w, args[i+1:]) {
			return surely
		}
		if f.valued || f.named(w) {
			continue
		}
		switch got, _, _ := strings.Cut(w, "="); {
		case strings.HasPrefix(got, "--") && len(got) > 2:
			if f.begins(got[2:], missing) || f.initial(got[2:]) {
				best = maybeIs
			}
		case isFlag(w):
			if f.cluster(w, missing) && !plainFlags[program] && len(w) > 2 {
				clustered = maybeIs
			}
		}
	}
	if f.letters != "" && len(missing) == 0 {
		best = max(best, clustered)
	}
	return best
}

// A wantedFlag is a flag of a rule, under all its names.
type wantedFlag struct {
	text        string // as the rule has it
	name, value string
	valued      bool
	letters     string            // that may stand apart, and together with others; "" when it has none
	long        string            // its name behind "--", "" when it has none
	alike       map[string]string // of the program: long names by their letters
}

func (s spelled) wanted(program, flag string) wantedFlag {
	f := wantedFlag{text: flag, alike: flagsAlike[program]}
	if len(s.words) > 0 && f.alike == nil {
		f.alike = flagsAlike[program+" "+s.words[0]]
	}
	f.name, f.value, f.valued = strings.Cut(flag, "=")
	if !f.valued { // --force* is --force as well
		f.name = strings.TrimRight(f.name, string(star))
	}
	if strings.HasPrefix(f.name, "--") {
		f.long = f.name[2:]
		for short, l := range f.alike {
			if l == f.long {
				f.letters = short
			}
		}
	} else if f.letters = f.name[1:]; len(f.letters) > 3 {
		f.letters, f.long = "", f.letters // -destroy is --destroy
	}
	return f
}

// named reports whether a word is the flag by its name, whatever its value is.
func (f wantedFlag) named(w string) bool {
	got, _, _ := strings.Cut(w, "=")
	if long := f.alike[f.letters]; long != "" && (got == "--"+long || got == "-"+f.letters) {
		return true
	}
	return got == f.name || len(got) > 3 && strings.TrimLeft(got, "-") == strings.TrimLeft(f.name, "-")
}

// is reports whether a word, with those behind it, is the flag as the rule has it.
func (f wantedFlag) is(w string, behind []string) bool {
	if wildMatch(f.text, w) {
		return true
	}
	if !f.named(w) {
		if len(f.name) == 2 && len(w) > 2 && w[1] != '-' && wildMatch(f.name+f.value, w) {
			return true // -mtext
		}
		if !f.endsCluster(w) {
			return false
		}
	}
	_, with, glued := strings.Cut(w, "=")
	return !f.valued || glued && wildMatch(f.value, with) || !glued && len(behind) > 0 && wildMatch(f.value, behind[0])
}

// endsCluster reports short flags in one word, the last of which is the flag and all of
// which are known: -am of git commit.
func (f wantedFlag) endsCluster(w string) bool {
	if len(f.letters) != 1 || len(w) < 3 || w[0] != '-' || w[1] == '-' || !strings.HasSuffix(w, f.letters) {
		return false
	}
	for _, c := range w[1:] {
		if f.alike[string(c)] == "" {
			return false
		}
	}
	return true
}

// begins reports whether a long name may be an abbreviation of the flag's. Letters that
// it may stand for are missing no more.
func (f wantedFlag) begins(got string, missing map[rune]bool) (may bool) {
	for _, c := range f.letters {
		if l := f.alike[string(c)]; l != "" && strings.HasPrefix(l, got) {
			delete(missing, c)
		}
	}
	return f.long != "" && strings.HasPrefix(f.long, got)
}

// initial reports whether a long name may be that of the flag, of which none is known: it
// begins with its letter.
func (f wantedFlag) initial(got string) bool {
	return f.long == "" && len(f.letters) == 1 && f.alike[f.letters] == "" && strings.EqualFold(got[:1], f.letters)
}

// cluster reports whether letters of the flag are among those of a word, which are
// missing no more.
func (f wantedFlag) cluster(w string, missing map[rune]bool) (some bool) {
	for _, c := range w[1:] {
		if missing[c] {
			delete(missing, c)
			some = true
		}
	}
	if f.alike["r"] != "" && f.alike["r"] == f.alike["R"] && strings.ContainsAny(w, "rR") {
		delete(missing, 'r')
		delete(missing, 'R')
	}
	return some
}
