package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/adze-agent/adze/internal/ui/draw"
)

// A Poll is what a dialog asks for where lines are printed and typed: one reader knows
// what lines can be, and no dialog reads them by itself.
type Poll struct {
	How     string // what lines mean to it, for people
	Wanted  string // a word or two, before the cursor: what is wanted now
	More    string // what else lines can be, for people; "" is How
	Answers []Named
	Many    bool     // several of them can be taken
	Begun   bool     // the beginning of a name takes an answer, where no other begins so
	Words   []string // that can follow a "/"
	Text    bool     // what is none of these is taken as it is
	Field   bool     // so is all but the words: a text is wanted
	Empty   bool     // so is an empty line
	Letters bool     // it may be letters to look for: so are numbers beyond those that are printed

	Waits bool // it does not know yet what to ask
	Read  bool // there is nothing to answer: it is closed when it was printed
}

// A Named is an answer by its number, and by what it is called; one without a name has
// a number alone.
type Named struct {
	Name string
	Also []string // in lower case
}

// A Reply is what a line is to a dialog: words of its own, answers, else a text.
type Reply struct {
	Word, Rest string
	Picks      []int // counted from 0
	Text       string
}

// yesAlso and noAlso are what answers that mean so are called, too.
var yesAlso, noAlso = []string{"y", "yes"}, []string{"n", "no"}

// AnswerLine answers a dialog by a line.
func AnswerLine(c Ctx, d Dialog, line string) []Effect {
	r, wrong := d.Poll(c).read(line)
	if wrong != "" {
		return tell(wrong)
	}
	return d.Take(c, r)
}

// read says what a line is, or what is wrong with it.
func (p Poll) read(line string) (r Reply, wrong string) {
	how := cmp.Or(p.How, "There are "+upTo(len(p.Answers))+".")
	word, rest, slash := slashed(line)
	numbers, out := p.numbers(line)
	switch name := p.named(strings.ToLower(line)); {
	case slash && slices.Contains(p.Words, word):
		return Reply{Word: word, Rest: rest}, ""
	case p.Field:
	case line == "?", slash && word == "help":
		return r, cmp.Or(p.More, how)
	case slash:
		return r, nothingHere(line)
	case line == "" && !p.Empty:
		return r, "It waits for an answer: " + how
	case line == "":
	case len(numbers) > 0 && p.Many, len(numbers) == 1 && !strings.ContainsAny(line, " ,"):
		return Reply{Picks: numbers}, ""
	case len(numbers) > 0:
		return r, "One answer is wanted: " + how
	case out:
		return r, fmt.Sprintf("%s is no number of an answer: there are %s.", line, upTo(len(p.Answers)))
	case name >= 0:
		return Reply{Picks: []int{name}}, ""
	case !p.Text:
		return r, "“" + draw.String(line) + "” is none of the answers. " + how
	}
	return Reply{Text: line}, ""
}

// numbers are the answers that a line numbers; out says that it numbers others.
func (p Poll) numbers(line string) (all []int, out bool) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' })
	for _, f := range fields {
		n, ok := numberIn(f)
		if !ok || p.Letters && (fields[0] != line || n >= max(len(p.Answers), plainChoices)) {
			return nil, false
		}
		out = out || n < 0 || n >= len(p.Answers)
		all = append(all, n)
	}
	if out {
		all = nil
	}
	return all, out
}

// named is the answer that a line is word for word, or that it begins; -1 for none, and
// where it may be several.
func (p Poll) named(low string) int {
	one := func(is func(n Named, name string) bool) int {
		at := -1
		for i, n := range p.Answers {
			if name := strings.ToLower(n.Name); is(n, name) {
				if at >= 0 {
					return -1
				}
				at = i
			}
		}
		return at
	}
	at := one(func(n Named, name string) bool {
		return low != "" && name == low || slices.Contains(n.Also, low)
	})
	switch {
	case at >= 0 || !p.Begun:
	case isYes(low):
		at = one(func(_ Named, name string) bool { return strings.HasPrefix(name, "yes") })
	case isNo(low):
		at = one(func(_ Named, name string) bool { return strings.HasPrefix(name, "no") })
	case len(low) > 2:
		at = one(func(_ Named, name string) bool { return strings.HasPrefix(name, low) })
	}
	return at
}

// nothingHere says that a line is no word of the dialog.
func nothingHere(line string) string {
	return "“" + draw.String(line) + "” means nothing here. ? lists what does."
}

// isYes and isNo are the words that a line can be.
func isYes(s string) bool { return s == "y" || s == "yes" }
func isNo(s string) bool  { return s == "n" || s == "no" }

// numberIn is the number that a line is, counted from 0; ok is false where it is none.
func numberIn(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n - 1, err == nil
}

// upTo names the numbers of n answers.
func upTo(n int) string {
	switch n {
	case 1:
		return "1"
	case 2:
		return "1 or 2"
	}
	return fmt.Sprintf("1 to %d", n)
}

// sentence reports whether a line says something, and is no word that was meant as
// an answer and written wrong.
func sentence(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	if len(words) < 3 && draw.Width(text) < 24 {
		return false
	}
	for _, yes := range []string{"y", "yes", "yep", "yeah", "ok", "okay", "sure", "fine", "go", "1", "2"} {
		if len(words) > 0 && words[0] == yes {
			return false // it may be a yes
		}
	}
	return true
}

// A slashed line is a word for the dialog, with what follows it.
func slashed(text string) (word, rest string, ok bool) {
	if !strings.HasPrefix(text, "/") {
		return "", "", false
	}
	word, rest, _ = strings.Cut(text[1:], " ")
	return word, strings.TrimSpace(rest), true
}
