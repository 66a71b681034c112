package tui

import (
	"cmp"
	"strings"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
)

// What a part of the conversation begins or ends with, as words of /compact.
const (
	fromHere = "--from"
	upToHere = "--up-to"
)

// compactCommand asks the session for a summary. A part of the conversation that
// is named without a number is chosen from a list.
func (m *Model) compactCommand(c op.Command, args string) []effect {
	word, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	if (word == fromHere || word == upToHere) && (rest == "" || strings.Trim(rest[:1], "-0123456789") != "") {
		return m.pickPart(word, rest)
	}
	return m.opCommand(c, args)
}

// pickPart lists the prompts that stand in the conversation, newest last, and
// has the part before or after one of them compacted.
func (m *Model) pickPart(part, focus string) []effect {
	if m.s == nil || m.past {
		m.say("there is no session yet", draw.Quiet)
		return nil
	}
	ago := map[string]string{}
	for _, it := range m.story.Items {
		if it.Kind == story.Said && it.ID != "" {
			ago[it.ID] = story.Ago(m.now.Sub(it.At))
		}
	}
	var all []Choice
	for i, p := range m.st.Prompts() {
		if part == upToHere && i == 0 {
			continue // nothing is before it
		}
		all = append(all, Choice{ID: p.ID, Name: cmp.Or(story.FirstLine(p.Text), "(no words)"), Right: ago[p.ID], Find: p.Text})
	}
	if len(all) == 0 {
		m.say("there is no prompt to choose", draw.Quiet)
		return nil
	}
	heading := "Compact from here on …"
	if part == upToHere {
		heading = "Compact what came before …"
	}
	d := newMenu(m, heading, all, func(m *Model, c Choice) []effect { return m.compactPart(part, c.ID, focus) })
	d.Rank, d.Hint = dialog.RankRewind, "Enter replaces it by a summary"
	d.Mark(all[len(all)-1].ID)
	m.open(d)
	return nil
}

// compactPart has what came since a prompt, or before it, replaced by a summary.
func (m *Model) compactPart(part, id, focus string) []effect {
	o := op.Compact{Focus: focus, From: id}
	if part == upToHere {
		o.From, o.UpTo = "", id
	}
	return []effect{submit{op: o, then: func(m *Model, err error) []effect {
		if err == nil {
			m.say("that part of the conversation is being compacted", draw.Quiet)
		}
		return m.fail(err)
	}}}
}

// parts are what compacting can do about a prompt, in the menu of a rewind to it.
func (v *conversation) parts(id string) (out []Choice) {
	for i, p := range v.st.Prompts() {
		if p.ID != id {
			continue
		}
		out = append(out, Choice{ID: fromHere, Name: "Compact from here on", About: "a summary stands for it; files stay"})
		if i > 0 {
			out = append(out, Choice{ID: upToHere, Name: "Compact what came before", About: "a summary stands for it; files stay"})
		}
	}
	return out
}
