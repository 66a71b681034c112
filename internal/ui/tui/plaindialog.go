package tui

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

// How dialogs are answered by lines. What begins with "/" is a word for the dialog
// itself; "?" says which there are.

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

// nothingHere says that a line is no word of the dialog.
func (m *Model) nothingHere(text string) {
	m.tell("“" + draw.String(text) + "” means nothing here. ? lists what does.")
}

func (d *permit) plain(*Model) (how, asks string) {
	n := len(d.answers)
	how = fmt.Sprintf("1 or y: yes. %d or n: no. A sentence: no, and do that instead. ?: more.", n)
	return how, upTo(n)
}

// more is all that a line can be.
func (d *permit) more() string {
	out := "/more shows the whole decision. /comment WORDS gives words along with the answer."
	if len(d.answers) > 2 {
		out += " /rule RULE changes the rule of answer 2; /for session, /for folder, /for project or /for everywhere says how long it holds."
	}
	if _, edits := d.q.View.(view.Diff); edits {
		out += " /accept says yes, and that changes are accepted from now on."
	}
	return out + " Ctrl+C stops the turn."
}

func (d *permit) line(m *Model, text string) []effect {
	how, _ := d.plain(m)
	low := strings.ToLower(text)
	if word, rest, ok := slashed(text); ok {
		return d.word(m, text, word, rest)
	}
	n, number := numberIn(text)
	switch {
	case text == "?":
		m.tell(d.more())
	case text == "":
		m.tell("It waits for an answer: " + how)
	case number && n >= 0 && n < len(d.answers):
		return d.decide(m, n)
	case number:
		m.tell(text + " is no number of an answer: " + how)
	case isYes(low):
		return d.decide(m, 0)
	case isNo(low):
		return d.decide(m, len(d.answers)-1)
	case !sentence(text):
		m.tell("Nothing was answered: is “" + draw.String(text) + "” a yes or a no? " + how)
	default:
		m.tell("No, and: “" + draw.String(text) + "”")
		return d.answer(m, op.Answer{Comment: strings.TrimSpace(d.said + "\n" + text)})
	}
	return nil
}

// decide answers with answer i.
func (d *permit) decide(m *Model, i int) []effect {
	d.at = i
	if d.answers[i] == no {
		return d.answer(m, op.Answer{Comment: d.said})
	}
	return d.choose(m)
}

// word takes a word for the dialog.
func (d *permit) word(m *Model, text, word, rest string) []effect {
	rules := len(d.answers) > 2
	_, edits := d.q.View.(view.Diff)
	switch {
	case word == "help":
		m.tell(d.more())
	case word == "more":
		d.whole = true
		m.again()
	case word == "comment" && rest != "":
		d.said = rest
		m.tell("It goes along with the answer.")
	case word == "accept" && edits:
		return d.answer(m, op.Answer{Allow: true, Comment: d.said, Mode: policy.AcceptEdits})
	case word == "rule" && rules && rest != "":
		list := policy.SplitList(rest)
		for _, r := range list {
			if _, err := policy.ParseRule(r, policy.Allow, policy.Session, "", "/"); err != nil {
				m.tell("The rule stays as it was: " + draw.String(err.Error()))
				return nil
			}
		}
		d.rules = list
		d.toldRule(m)
	case word == "for" && rules:
		i, ok := map[string]int{"session": 0, "folder": 1, "project": 2, "everywhere": 3}[rest]
		if !ok {
			m.tell("/for takes session, folder, project or everywhere.")
			return nil
		}
		d.keep = i
		d.toldRule(m)
	default:
		m.nothingHere(text)
	}
	return nil
}

// toldRule says what answer 2 is now.
func (d *permit) toldRule(m *Model) {
	m.tell("2 is now: Yes, and do not ask again for " + draw.String(strings.Join(d.rules, ", ")) + " " + keeps[d.keep].name)
	for _, w := range d.lint() {
		m.tell(w)
	}
}

func (d *survey) plain(*Model) (how, asks string) {
	pg := &d.pages[d.at]
	n := len(pg.Options)
	switch {
	case d.own && len(d.about) > 0:
		return "Say what to change. An empty line is a no without words.", "what to change"
	case d.own:
		return "Say it in your own words. An empty line goes back to the answers.", "your answer"
	case len(d.about) > 0:
		return fmt.Sprintf("%s: yes. %d or n: no. A sentence: no, and change that. ?: more.", upTo(n), n+1), upTo(n + 1)
	case pg.Multi:
		return fmt.Sprintf("The numbers of answers, with blanks between them (such as 1 %d), or an answer in your own words. ?: more.", max(n, 2)), "numbers or words"
	}
	return "The number of an answer, or an answer in your own words. ?: more.", "number or words"
}

func (d *survey) more() string {
	out := "/skip declines to answer. Ctrl+C stops the turn."
	if d.at > 0 {
		out = "/back goes back to the question before. " + out
	}
	return out
}

func (d *survey) line(m *Model, text string) []effect {
	pg := &d.pages[d.at]
	how, _ := d.plain(m)
	low := strings.ToLower(text)
	if word, _, ok := slashed(text); ok && !d.own {
		switch {
		case word == "skip":
			return d.answer(m, op.Answer{Comment: "closed without an answer"})
		case word == "back" && d.at > 0:
			d.at--
			m.again()
		case word == "help":
			m.tell(d.more())
		default:
			m.nothingHere(text)
		}
		return nil
	}
	numbers, all := pg.numbers(text)
	label := pg.labelled(low)
	switch {
	case d.own && text == "" && len(d.about) > 0:
		return d.answer(m, op.Answer{})
	case d.own && text == "":
		d.own = false
		m.again()
	case d.own:
		return d.words(m, text)
	case text == "?":
		m.tell(d.more())
	case text == "":
		m.tell("It waits for an answer: " + how)
	case all && (len(numbers) == 1 || pg.Multi):
		return d.numbered(m, numbers)
	case all:
		m.tell("One answer is wanted: " + how)
	case strings.Trim(text, "0123456789 ,") == "":
		m.tell(fmt.Sprintf("%s is no number of an answer: there are %s.", text, upTo(len(pg.Options)+1)))
	case label >= 0:
		return d.numbered(m, []int{label})
	case len(d.about) > 0 && isNo(low):
		return d.answer(m, op.Answer{})
	case len(d.about) > 0 && !sentence(text), len([]rune(text)) < 2:
		m.tell("Nothing was answered: “" + draw.String(text) + "” is none of the answers. " + how)
	default:
		return d.words(m, text)
	}
	return nil
}

// numbers are the answers that a line numbers, counted from 0; all is false where
// something else stands in it.
func (pg *page) numbers(text string) (out []int, all bool) {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, ok := numberIn(f)
		if !ok || n < 0 || n > len(pg.Options) {
			return nil, false
		}
		out = append(out, n)
	}
	return out, len(out) > 0
}

// labelled is the answer that a line is word for word, or that it begins and no
// other; -1 for none.
func (pg *page) labelled(low string) int {
	at := -1
	for i, o := range pg.Options {
		switch l := strings.ToLower(o.Label); {
		case l == low:
			return i
		case low != "" && strings.HasPrefix(l, low) && (len(low) > 2 || isYes(low) || isNo(low)):
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// numbered answers with what was numbered.
func (d *survey) numbered(m *Model, list []int) []effect {
	pg := &d.pages[d.at]
	pg.ticks, pg.own = map[int]bool{}, ""
	for _, i := range list {
		if i == len(pg.Options) {
			d.own = true
			how, _ := d.plain(m)
			m.tell(how)
		} else {
			pg.ticks[i] = true
		}
	}
	if d.own {
		return nil
	}
	pg.at = list[0]
	return d.next(m)
}

// words answers in a person's own words.
func (d *survey) words(m *Model, text string) []effect {
	pg := &d.pages[d.at]
	pg.own, pg.at, d.own = text, len(pg.Options), false
	pg.ticks[pg.at] = true
	if len(d.about) > 0 {
		m.tell("No, and: “" + draw.String(text) + "”")
	} else {
		m.tell("Your answer: “" + draw.String(text) + "”")
	}
	return d.next(m)
}

// next takes the page, and shows the one after it.
func (d *survey) next(m *Model) []effect {
	before := d.at
	out := d.choose(m)
	if d.at != before {
		m.again()
	}
	return out
}
