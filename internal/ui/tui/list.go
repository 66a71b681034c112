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
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/pick"
)

// A list completes what is typed in the prompt box: a command after "/", a
// file after "@".
type list struct {
	dialog.List
	args  bool   // it completes what stands behind a command: Enter sends that as it is
	word  string // what is completed, to know it again
	token edit.Token
	whole bool // what is typed is a file's or a folder's whole name
	who   int  // how many of the first are agents and sessions
}

// fileList are the files of the working folder, once somebody typed "@".
type fileList struct {
	index  *pick.Files
	asked  bool
	closed string // the word at which the list was closed; it stays so
	who    receivers
}

// complete opens, changes or closes the list after an edit.
func (m *Model) complete() []effect {
	m.list = nil
	if m.box.Recalled() { // the keys that brought it go on in the history
		return nil
	}
	t, ok := m.box.Token()
	if !ok {
		m.files.closed, m.files.who = "", receivers{}
		return nil
	}
	word := fmt.Sprint(t.Kind, t.Query)
	if word == m.files.closed {
		return nil
	}
	m.files.closed = ""
	switch t.Kind {
	case edit.FileToken:
		m.list = &list{List: dialog.List{Files: true}, word: word, token: t}
		return slices.Concat(m.findReceivers(), m.findFiles(), m.findResources())
	case edit.CommandToken:
		if found := m.commandsFor(t.Query); len(found) > 0 {
			m.list = &list{List: dialog.List{Found: found}, word: word, token: t}
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
				m.list.Found = append(m.list.Found, dialog.Found{Choice: c})
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
			m.list.Found = append(m.list.Found, dialog.Found{Choice: Choice{ID: h.Path, Name: name}, At: h.At})
		}
		m.list.Local = len(m.list.Found)
		return nil
	}
	m.list.Busy = true
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
		if m.list == l && !l.Busy && len(l.Found) == 0 {
			m.list = nil
		}
	}
	connected := func(s event.ServerChanged) bool { return s.State == event.ServerConnected }
	if l.Busy || !slices.ContainsFunc(m.st.Servers, connected) {
		settle(m)
		return nil
	}
	s, part := m.s, strings.Trim(l.token.Query, `"`)
	return []effect{work{func(ctx context.Context) func(*Model) []effect {
		r, _ := m.host.ask(ctx, s, ask.Resources{Part: part, Max: maxResources}) // servers that cannot say have none
		return func(m *Model) []effect {
			if m.list == l {
				for _, c := range r.Choices {
					l.Found = append(l.Found, dialog.Found{Choice: c})
				}
				settle(m)
			}
			return nil
		}
	}}}
}

func (l *list) act(m *Model, a keymap.Action) ([]effect, bool) {
	if l.Move(a) {
		return nil, true
	}
	switch a {
	case keymap.AutocompleteDismiss:
		l.dismissed(m)
		m.list = nil
	case keymap.AutocompleteAccept:
		return l.take(m, false), true
	case keymap.AutocompleteSubmit:
		if l.args || l.whole && !l.Moved {
			m.list = nil
			return nil, false
		}
		if l.Busy || len(l.Found) == 0 || !l.meant() {
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
	id, word := l.Found[l.At].ID, l.token.Query
	return l.Files || l.Moved || strings.HasPrefix(id, word) || strings.HasPrefix(id[strings.LastIndexByte(id, ':')+1:], word)
}

func (l *list) dismissed(m *Model) { m.files.closed = l.word }

// take puts the marked choice into the prompt box. A command without arguments
// runs at once.
func (l *list) take(m *Model, run bool) []effect {
	if l.At >= len(l.Found) { // servers are still asked: there is nothing to take
		m.list = nil
		return nil
	}
	c := l.Found[l.At]
	m.list = nil
	if l.args {
		m.box.Complete(l.token, c.ID+" ")
		return m.complete()
	}
	if !l.Files {
		if run && !strings.HasPrefix(c.Right, "<") { // what it needs can be left out
			m.box.Set("/" + c.ID)
			return m.enter()
		}
		m.box.Complete(l.token, "/"+c.ID+" ")
		return nil
	}
	if l.At < l.who {
		m.box.Complete(l.token, mention.Mention{Path: c.ID}.String()+" ")
		return nil
	}
	if l.At >= l.Local && c.Part {
		m.box.Complete(l.token, "@"+c.ID)
		return m.complete() // values of the template
	}
	if l.At >= l.Local {
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
