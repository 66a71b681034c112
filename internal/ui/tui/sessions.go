package tui

import (
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// A Saved is a session that can be gone on with.
type Saved = ask.Saved

// resumeCommand goes on with another session: the one that was named, or one
// from the picker.
func (m *Model) resumeCommand(args string) []effect {
	if args == "" {
		return m.pickSession(func(m *Model) []effect { return nil })
	}
	if m.turn.running {
		return m.begin(Start{Resume: args})
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		s, err := dataOf[ask.Saved](ctx, m.host, ask.Find{Words: args})
		return func(m *Model) []effect {
			if err != nil {
				return m.fail(err) // the session that is open stays
			}
			return m.goTo(s)
		}
	}}}
}

// goTo goes on with a session, and says where that is done when it is not here.
func (m *Model) goTo(s Saved) []effect {
	switch {
	case m.s != nil && s.ID == m.s.ID:
		m.say("that session is open here", draw.Quiet)
		return nil
	case s.Elsewhere != "":
		m.note("info", "That session works in another folder. Go on with it there:", s.Elsewhere)
		return nil
	case m.s != nil && s.Holder != "":
		m.note("info", "That session cannot go on here: "+s.Holder+".", "")
		m.open(m.taken(s))
		return nil
	}
	return m.begin(Start{Resume: s.ID})
}

// goInACopy is the choice in the place of a session that is open elsewhere.
var goInACopy = Choice{ID: "copy", Name: "Go on in a copy", About: "it is open elsewhere, and goes on there as it is"}

// taken asks before the session that is open makes room for one that is open
// elsewhere.
func (m *Model) taken(s Saved) dialog.Dialog {
	d := newMenu(m, "Go on with that session", []Choice{goInACopy, {ID: "stay", Name: "Stay in this session"}}, func(m *Model, c Choice) []effect {
		if c.ID == goInACopy.ID {
			return m.begin(Start{Resume: s.ID, Fork: true})
		}
		return nil
	})
	d.Fixed = true
	return d
}

// A sessionPicker is the menu of sessions and what narrows it.
type sessionPicker struct {
	d      *menu
	list   []Saved
	branch string // the one that is checked out here
	all    bool   // of all projects
	ours   bool   // of this branch only
	shows  bool   // the preview
	texts  map[string]string
	asked  string            // the words that were searched for last
	words  string            // the words of hits
	hits   map[string]string // what was found inside, by ID: a line of it
}

// pickSession opens the picker of sessions. dropped is for when none is
// chosen.
func (m *Model) pickSession(dropped func(*Model) []effect) []effect {
	k := &sessionPicker{texts: map[string]string{}}
	d := newMenu(m, "Go on with a session", nil, nil)
	d.chosen = func(m *Model, c Choice) []effect {
		s := k.find(c.ID)
		out := m.goTo(s)
		if s.Elsewhere != "" {
			return append(out, dropped(m)...)
		}
		return out
	}
	d.dropped, d.own, d.Loading, d.Slash = dropped, k.own, true, true
	d.Own = []keymap.Action{keymap.SelectEverywhere, keymap.SelectBranch, keymap.SelectMore, keymap.SelectRename}
	d.marked = func(m *Model, c Choice) []effect { return k.look(m) }
	d.sought = k.search
	d.Sample = k.preview
	d.Words = []dialog.Word{
		{Word: "all", About: "those of all projects"}, {Word: "branch", About: "those of this branch"},
		{Word: "preview", Args: "N", About: "how one began and ended"}, {Word: "rename", Args: "N TITLE", About: "titles one"},
	}
	d.said = k.said
	k.d = d
	k.hint(m)
	m.open(d)
	return k.load(m)
}

func (k *sessionPicker) find(id string) Saved {
	i := slices.IndexFunc(k.list, func(s Saved) bool { return s.ID == id })
	if i < 0 {
		return Saved{Choice: Choice{ID: id}}
	}
	return k.list[i]
}

func (k *sessionPicker) load(m *Model) []effect {
	all := k.all
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		l, err := dataOf[ask.SessionList](ctx, m.host, ask.Sessions{All: all})
		return func(m *Model) []effect {
			if k.d.Loading = false; err != nil {
				m.close(k.d)
				return m.fail(err)
			}
			k.branch = l.Branch
			k.list = slices.DeleteFunc(l.List, func(s Saved) bool { return m.s != nil && s.ID == m.s.ID })
			return k.fill(m, "")
		}
	}}}
}

// fill shows what is left of the list, forks below what they were forked from,
// and marks a session.
func (k *sessionPicker) fill(m *Model, marked string) []effect {
	var kept []Saved
	for _, s := range k.list {
		if !k.ours || s.Branch == k.branch {
			kept = append(kept, s)
		}
	}
	var out []Choice
	for _, s := range kept {
		if !slices.ContainsFunc(kept, func(o Saved) bool { return o.ID == s.Parent }) {
			out = k.family(out, kept, s, 0)
		}
	}
	k.d.Set(out)
	k.d.Mark(marked)
	k.hint(m)
	return k.look(m)
}

// minSearch is how many letters a search through whole conversations begins
// with.
const minSearch = 3

// search looks through whole conversations for what was typed, unless that was
// done.
func (k *sessionPicker) search(m *Model) []effect {
	words, all := k.d.Menu.Sought(), k.all
	if words == k.asked || len(words) < minSearch {
		return nil
	}
	k.asked = words
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		hits, _ := dataOf[map[string]string](ctx, m.host, ask.Search{Words: words, All: all}) // titles are searched all the same
		return func(m *Model) []effect {
			if k.asked != words || len(hits) == 0 && len(k.hits) == 0 {
				return nil
			}
			k.words, k.hits = words, hits
			now, _ := k.d.Now()
			return k.fill(m, now.ID)
		}
	}}}
}

// maxForks bounds how deep forks of forks are shown below each other.
const maxForks = 8

// family adds s and its forks.
func (k *sessionPicker) family(out []Choice, all []Saved, s Saved, depth int) []Choice {
	c := s.Choice
	if line := k.hits[s.ID]; line != "" {
		c.Find, c.About = c.Find+" "+k.words, line
	}
	if depth > 0 {
		c.Lead = strings.Repeat("  ", depth-1) + "└ "
	}
	out = append(out, c)
	for _, o := range all {
		if o.Parent == s.ID && o.ID != s.ID && depth < maxForks {
			out = k.family(out, all, o, depth+1)
		}
	}
	return out
}

func (k *sessionPicker) hint(m *Model) {
	everywhere, branch := m.keys.Hint(keymap.SelectEverywhere), m.keys.Hint(keymap.SelectBranch)
	switch {
	case k.ours:
		k.d.None = "There is no other session of this branch. " + branch + " shows those of all branches."
	case k.all:
		k.d.None = "There is no other session yet. What is said here can be gone on with later."
	default:
		k.d.None = "There is no other session of this project. " + everywhere + " shows those of all projects."
	}
	words := []string{everywhere + " all projects", branch + " this branch", m.keys.Hint(keymap.SelectMore) + " preview", m.keys.Hint(keymap.SelectRename) + " rename"}
	if k.all {
		words[0] = everywhere + " this project"
	}
	if k.ours {
		words[1] = branch + " all branches"
	}
	k.d.Hint = strings.Join(words, ", ")
}

func (k *sessionPicker) own(m *Model, a keymap.Action) []effect {
	now := ""
	if c, ok := k.d.Now(); ok {
		now = c.ID
	}
	switch a {
	case keymap.SelectEverywhere:
		k.all, k.asked = !k.all, ""
		return append(k.load(m), k.search(m)...)
	case keymap.SelectBranch:
		if k.branch == "" {
			m.say("this folder is on no branch", draw.Quiet)
			return nil
		}
		k.ours = !k.ours
		return k.fill(m, now)
	case keymap.SelectMore:
		k.shows = !k.shows
		return k.look(m)
	case keymap.SelectRename:
		if s := k.find(now); now != "" {
			k.d.ask(m, "title", s.Title, func(m *Model, title string) []effect { return k.rename(m, s.ID, title) })
		}
		return nil
	}
	return nil
}

// said does what a line asks for.
func (k *sessionPicker) said(m *Model, word string, c Choice, rest string) []effect {
	switch word {
	case "all":
		k.d.Loading = true
		m.again()
		return k.own(m, keymap.SelectEverywhere)
	case "branch":
		m.again()
		return k.own(m, keymap.SelectBranch)
	case "preview":
		return k.printPreview(m, c.ID)
	}
	if rest == "" {
		m.tell("The title has to follow: /rename 1 The new parser")
		return nil
	}
	return k.rename(m, c.ID, rest)
}

// printPreview prints how a session began and ended.
func (k *sessionPicker) printPreview(m *Model, id string) []effect {
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, nil, ask.Preview{ID: id})
		return func(m *Model) []effect {
			if err != nil {
				return m.fail(err)
			}
			p := m.paper()
			m.spoken.out = append(m.spoken.out, draw.Indent(draw.Markdown(r.Text, p.Inner(2, 0, false)), draw.S("  ", draw.Plain))...)
			return nil
		}
	}}}
}

func (k *sessionPicker) rename(m *Model, id, title string) []effect {
	if title == "" {
		return nil
	}
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		_, err := m.host.ask(ctx, nil, ask.Rename{ID: id, Title: title})
		return func(m *Model) []effect {
			switch {
			case err != nil && m.screen.plain:
				m.tell("The title stays: " + draw.String(err.Error()) + ".")
				return nil
			case err != nil:
				k.d.Wrong = err.Error()
				return nil
			}
			m.again()
			for i := range k.list {
				if k.list[i].ID == id {
					k.list[i].Name, k.list[i].Title = title, title
				}
			}
			return k.fill(m, id)
		}
	}}}
}

// look has the preview of the marked session made, when it is shown and not
// there yet.
func (k *sessionPicker) look(m *Model) []effect {
	c, ok := k.d.Now()
	if _, there := k.texts[c.ID]; !ok || there || !k.shows {
		return nil
	}
	k.texts[c.ID] = ""
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, nil, ask.Preview{ID: c.ID})
		return func(*Model) []effect {
			if k.texts[c.ID] = r.Text; err != nil {
				k.texts[c.ID] = err.Error()
			}
			return nil
		}
	}}}
}

// previewLines bounds the preview.
const previewLines = 8

func (k *sessionPicker) preview(p dialog.Paper, width int) []draw.Line {
	c, ok := k.d.Now()
	if !k.shows || !ok {
		return nil
	}
	o := p.Inner(0, 0, false)
	o.Width, o.MaxLines, o.Hint = width, previewLines, ""
	return o.Bound(draw.Markdown(k.texts[c.ID], o))
}
