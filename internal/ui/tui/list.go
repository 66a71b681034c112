package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/mention"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/pick"
)

// A list completes what is typed in the prompt box: a command after "/", a
// file after "@".
type list struct {
	files bool
	args  bool   // it completes what stands behind a command: Enter sends that as it is
	word  string // what is completed, to know it again
	token edit.Token
	found []Found
	at    int
	top   int
	busy  bool // the files are not known yet
	local int  // how many of found are files; resources of MCP servers follow
	moved bool // a person went to the marked one
	whole bool // what is typed is a file's or a folder's whole name
}

// fileList are the files of the working folder, once somebody typed "@".
type fileList struct {
	index  *pick.Files
	asked  bool
	closed string // the word at which the list was closed; it stays so
}

// complete opens, changes or closes the list after an edit.
func (m *Model) complete() []effect {
	m.list = nil
	if m.box.Recalled() { // the keys that brought it go on in the history
		return nil
	}
	t, ok := m.box.Token()
	if !ok {
		m.files.closed = ""
		return nil
	}
	word := fmt.Sprint(t.Kind, t.Query)
	if word == m.files.closed {
		return nil
	}
	m.files.closed = ""
	switch t.Kind {
	case edit.FileToken:
		m.list = &list{files: true, word: word, token: t}
		return append(m.findFiles(), m.findResources()...)
	case edit.CommandToken:
		if found := m.commandsFor(t.Query); len(found) > 0 {
			m.list = &list{word: word, token: t, found: found}
		}
	case edit.ArgToken:
		return m.findArguments(t, word)
	case edit.PathToken:
	}
	return nil
}

// findArguments asks what an argument may be. A list comes when there is something
// else than what is written.
func (m *Model) findArguments(t edit.Token, word string) []effect {
	s, before := m.s, m.box.Text()
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, _ := m.host.ask(ctx, s, ask.Arguments{Command: t.Command, Args: t.Args}) // what nobody knows is written by hand
		all := r.Choices
		return func(m *Model) []effect {
			if m.list != nil || m.box.Text() != before || len(all) == 0 || len(all) == 1 && all[0].ID == t.Query {
				return nil
			}
			m.list = &list{args: true, word: word, token: t}
			for _, c := range all {
				m.list.found = append(m.list.found, Found{Choice: c})
			}
			return nil
		}
	}}}
}

// findFiles fills the list with files, which are listed when first asked for.
func (m *Model) findFiles() []effect {
	if m.files.index != nil {
		query, _ := mention.SplitRange(m.list.token.Query)
		for _, h := range m.files.index.Find(query, 50) {
			if h.Path == query && strings.HasSuffix(query, "/") {
				m.list.whole = true // what is in it is what can be chosen
				continue
			}
			m.list.whole = m.list.whole || h.Path == query
			name := clip.Visible(h.Path)
			if name != h.Path {
				h.At = nil // it counts the letters of the path
			}
			m.list.found = append(m.list.found, Found{Choice{ID: h.Path, Name: name}, h.At})
		}
		m.list.local = len(m.list.found)
		return nil
	}
	m.list.busy = true
	if m.files.asked {
		return nil
	}
	m.files.asked = true
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, err := m.host.ask(ctx, nil, ask.Files{})
		index := pick.NewFiles(r.Names)
		return func(m *Model) []effect {
			m.files.asked = false
			if err != nil {
				m.say("the files cannot be listed: "+err.Error(), draw.Wrong)
				return nil
			}
			m.files.index = index
			return m.complete()
		}
	}}}
}

// maxResources bounds the resources of MCP servers in a list.
const maxResources = 20

// findResources asks MCP servers for what the word may mean. What comes when
// another word is there is dropped. Without any server, a list without files goes.
func (m *Model) findResources() []effect {
	l := m.list
	settle := func(m *Model) {
		if m.list == l && !l.busy && len(l.found) == 0 {
			m.list = nil
		}
	}
	connected := func(s event.ServerChanged) bool { return s.State == event.ServerConnected }
	if l.busy || !slices.ContainsFunc(m.st.Servers, connected) {
		settle(m)
		return nil
	}
	s, part := m.s, strings.Trim(l.token.Query, `"`)
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, _ := m.host.ask(ctx, s, ask.Resources{Part: part, Max: maxResources}) // servers that cannot say have none
		return func(m *Model) []effect {
			if m.list == l {
				for _, c := range r.Choices {
					l.found = append(l.found, Found{Choice: c})
				}
				settle(m)
			}
			return nil
		}
	}}}
}

// listRows bounds the rows of a list below the prompt box.
const listRows = 8

func (l *list) view(p Paper, rows int) []draw.Line {
	if l.busy {
		return []draw.Line{draw.L(draw.S("  looking for files …", draw.Quiet))}
	}
	room := max(min(rows, listRows), 1)
	more := 0
	if n := len(l.found); n > room && room > 2 {
		room--
		more = n - room
	}
	l.top = max(min(l.top, l.at), l.at-room+1)
	width := 0
	for _, f := range l.found {
		if f.About != "" {
			width = max(width, draw.Width(f.Name))
		}
	}
	width = min(width, p.Cols()*2/5)
	var out []draw.Line
	for i := l.top; i < min(len(l.found), l.top+room); i++ {
		f := l.found[i]
		if f.About != "" && l.files && i >= l.local {
			f.Name = middle(p, f.Name, width) // addresses are told apart by their ends
		}
		if f.About != "" {
			f.fit(p, width)
		}
		out = append(out, p.choice(f, i, i == l.at, false, p.Cols()))
	}
	if more > 0 {
		out = append(out, draw.L(draw.S(fmt.Sprintf("  %s %d more", p.Sign(draw.Ellipsis), more), draw.Quiet)))
	}
	return out
}

// middle is a name of at most width columns, without its middle where it is longer.
func middle(p Paper, name string, width int) string {
	if draw.Width(name) <= width {
		return name
	}
	cut := p.Sign(draw.Ellipsis)
	head := draw.L(draw.S(name, draw.Plain)).Truncate(max(width/3, 2), p.O)[0].Text
	tail := []rune(name)
	tail = tail[max(0, len(tail)-4*width):] // more never fits, whatever it combines
	for len(tail) > 0 && draw.Width(head+cut+string(tail)) > width {
		tail = tail[1:]
	}
	return head + cut + string(tail)
}

// fit makes the name of a choice as wide as the column of names.
func (f *Found) fit(p Paper, width int) {
	name := draw.L(draw.S(f.Name, draw.Plain)).Truncate(width, p.O)
	if len(name) > 1 { // it was cut: what matched behind the cut is not shown
		f.At = slices.DeleteFunc(slices.Clone(f.At), func(i int) bool { return i >= len(name[0].Text) })
		f.Name = name[0].Text + name[1].Text
	}
	f.About = strings.Repeat(" ", max(0, width-name.Width())) + f.About
}

func (l *list) act(m *Model, a keymap.Action) ([]effect, bool) {
	switch a {
	case keymap.AutocompletePrev, keymap.AutocompleteNext, keymap.AutocompletePageUp, keymap.AutocompletePageDn:
		l.moved = true
	}
	switch a {
	case keymap.AutocompletePrev:
		l.at = (l.at + len(l.found) - 1) % max(len(l.found), 1)
	case keymap.AutocompleteNext:
		l.at = (l.at + 1) % max(len(l.found), 1)
	case keymap.AutocompletePageUp:
		l.at = max(0, l.at-8)
	case keymap.AutocompletePageDn:
		l.at = max(0, min(len(l.found)-1, l.at+8))
	case keymap.AutocompleteDismiss:
		l.dismissed(m)
		m.list = nil
	case keymap.AutocompleteAccept:
		return l.take(m, false), true
	case keymap.AutocompleteSubmit:
		if l.args || l.whole && !l.moved {
			m.list = nil
			return nil, false
		}
		if l.busy || len(l.found) == 0 || !l.meant() {
			return nil, false
		}
		return l.take(m, true), true
	default:
		return nil, false
	}
	return nil, true
}

// meant reports whether Enter takes the marked choice: what was typed begins its
// name, or what of it follows who brought it (plugin:name), or a person went to
// it. A command that only has the letters somewhere is not run.
func (l *list) meant() bool {
	id, word := l.found[l.at].ID, l.token.Query
	return l.files || l.moved || strings.HasPrefix(id, word) || strings.HasPrefix(id[strings.LastIndexByte(id, ':')+1:], word)
}

func (l *list) dismissed(m *Model) { m.files.closed = l.word }

// take puts the marked choice into the prompt box. A command without arguments
// runs at once.
func (l *list) take(m *Model, run bool) []effect {
	if l.at >= len(l.found) { // servers are still asked: there is nothing to take
		m.list = nil
		return nil
	}
	c := l.found[l.at]
	m.list = nil
	if l.args {
		m.box.Complete(l.token, c.ID+" ")
		return m.complete()
	}
	if !l.files {
		if run && !strings.HasPrefix(c.Right, "<") { // what it needs can be left out
			m.box.Set("/" + c.ID)
			return m.enter()
		}
		m.box.Complete(l.token, "/"+c.ID+" ")
		return nil
	}
	if l.at >= l.local && c.Part {
		m.box.Complete(l.token, "@"+c.ID)
		return m.complete() // values of the template
	}
	if l.at >= l.local {
		m.box.Complete(l.token, mention.Mention{Path: c.ID}.String()+" ")
		return nil
	}
	if clip.Clean(c.ID) != c.ID { // it would name another file
		m.say(c.Name+" has characters that a prompt cannot hold", draw.Attention)
		return nil
	}
	_, lines := mention.SplitRange(l.token.Query)
	name := mention.Mention{Path: c.ID}.String() + lines
	if strings.HasSuffix(c.ID, "/") {
		m.box.Complete(l.token, "@"+c.ID)
		return m.complete() // what is in the folder
	}
	m.box.Complete(l.token, name+" ")
	return nil
}
