package dialog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/view"
)

// edit changes the rule that would be kept, or the arguments of the call.
func (d *permit) edit(c Ctx) []Effect {
	if d.answers[d.at] == yesRule {
		d.rule, d.run = Field(c.Keys, strings.Join(d.rules, ", ")), "" // the letter began no word
		return nil
	}
	if !c.Editor || len(d.q.Input) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Indent(&b, d.q.Input, "", "  ") != nil {
		return nil
	}
	was, begin := b.String(), cmp.Or(d.draft, b.String())
	d.run = ""
	return []Effect{Edit{begin, func(now string, err error) []Effect {
		if err != nil {
			d.wrong = err.Error()
			return nil
		}
		var parsed any
		if err := json.Unmarshal([]byte(now), &parsed); err != nil { // it can be mended
			d.draft, d.wrong = now, "what was written is no JSON: "+fastjson.Where([]byte(now), err).Error()+"; "+c.Keys.Hint(keymap.ConfirmEdit)+" opens it again"
			return nil
		}
		if d.draft, d.wrong = "", ""; strings.TrimSpace(now) != strings.TrimSpace(was) {
			return d.answer(op.Answer{Allow: true, Comment: d.said, Input: json.RawMessage(now)})
		}
		return nil
	}}}
}

func (d *permit) Poll(Ctx) Poll {
	n := len(d.answers)
	p := Poll{
		How: fmt.Sprintf("1 or y: yes. %d or n: no. A sentence: no, and do that instead. ?: more.", n), Wanted: upTo(n),
		More: "/more shows the whole decision. /comment WORDS gives words along with the answer.", Words: []string{"more", "comment"},
		Answers: make([]Named, n), Text: true,
	}
	p.Answers[0].Also, p.Answers[n-1].Also = yesAlso, noAlso
	if len(d.rules) > 0 {
		p.Words = append(p.Words, "rule", "for")
		p.More += " /rule RULE changes the rule of answer 2; /for session, /for folder, /for project or /for everywhere says how long it holds."
	}
	if _, edits := d.q.View.(view.Diff); edits {
		p.Words = append(p.Words, "accept")
		p.More += " /accept says yes, and that changes are accepted from now on."
	}
	p.More += " Ctrl+C stops the turn."
	return p
}

func (d *permit) Take(c Ctx, r Reply) []Effect {
	switch {
	case r.Word != "":
		return d.word(r.Word, r.Rest)
	case len(r.Picks) == 0 && !sentence(r.Text):
		return tell("Nothing was answered: is “" + draw.String(r.Text) + "” a yes or a no? " + d.Poll(c).How)
	case len(r.Picks) == 0:
		return append(tell("No, and: “"+draw.String(r.Text)+"”"), d.answer(op.Answer{Comment: strings.TrimSpace(d.said + "\n" + r.Text)})...)
	}
	if d.at = r.Picks[0]; d.answers[d.at] == no {
		return d.answer(op.Answer{Comment: d.said})
	}
	return d.choose(c)
}

// word takes a word for the dialog.
func (d *permit) word(word, rest string) []Effect {
	switch {
	case word == "more":
		d.whole = true
		return []Effect{Again{}}
	case word == "comment" && rest != "":
		d.said = rest
		return tell("It goes along with the answer.")
	case word == "accept":
		return d.answer(op.Answer{Allow: true, Comment: d.said, Mode: policy.AcceptEdits})
	case word == "rule" && rest != "":
		list := policy.SplitList(rest)
		for _, r := range list {
			if _, err := policy.ParseRule(r, policy.Allow, policy.Session, "", "/"); err != nil {
				return tell("The rule stays as it was: " + draw.String(err.Error()))
			}
		}
		d.rules = list
		return d.toldRule()
	case word == "for":
		i, ok := map[string]int{"session": 0, "folder": 1, "project": 2, "everywhere": 3}[rest]
		if !ok {
			return tell("/for takes session, folder, project or everywhere.")
		}
		d.keep = i
		return d.toldRule()
	}
	return tell(nothingHere("/" + word))
}

// toldRule says what answer 2 is now.
func (d *permit) toldRule() []Effect {
	out := tell("2 is now: Yes, and do not ask again for " + draw.String(strings.Join(d.rules, ", ")) + " " + keeps[d.keep].name)
	for _, w := range d.lint() {
		out = append(out, tell(w)...)
	}
	return out
}
