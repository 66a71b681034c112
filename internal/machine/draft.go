package machine

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draft"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// A desk is the folder that a session works in, and where drafts of it are kept.
type desk struct {
	Away
	state  string
	drafts *draft.Keeper
}

// desk is that of the session that is shown.
func (m *Machine) desk() (d desk, err error) {
	if m.Away != nil {
		f, err := config.FindFolders(m.Home, m.Env, there)
		d = desk{Away: *m.Away, state: f.State}
		if err != nil {
			return d, err
		}
	} else {
		p, _, err := m.Loaded()
		if err != nil {
			return d, err
		}
		d = desk{Away: Away{Dir: p.Dir, Root: p.Root}, state: p.State}
	}
	d.drafts = draft.In(filepath.Join(d.state, "drafts"), lease.ThisProcess())
	return d, nil
}

// keep keeps what is in the prompt box, for the case that this process is killed.
func (m *Machine) keep(session string, unsent edit.Prompt) error {
	return m.keepDraft(session, unsent, false)
}

func (m *Machine) keepDraft(session string, unsent edit.Prompt, ended bool) error {
	at, err := m.desk()
	if err != nil {
		return err
	}
	d := draft.Draft{Project: at.Dir, Session: session, Time: time.Now(), Text: unsent.Shown, Pastes: unsent.Pastes, Ended: ended}
	for _, img := range unsent.Images {
		d.Images = append(d.Images, draft.Image{Name: img.Name, Media: img.MediaType, Data: img.Data})
	}
	return at.drafts.Keep(d)
}

// Leave takes it away again, unless there was something in the box.
func (m *Machine) Leave(left tui.Left) {
	if m.Forgets || m.Away == nil && m.Extensions() == nil { // no session was open
		return
	}
	if strings.TrimSpace(left.Unsent.Shown) != "" && left.Session != nil {
		_ = m.keepDraft(left.Session.ID, left.Unsent, left.Signal == "") // an older one may be there
		return
	}
	if at, err := m.desk(); err == nil {
		_ = at.drafts.Drop()
	} // what stays is taken for what a killed process left, and says no more than that
}

// lost is what a process left that was killed, or had something in its box, and that showed
// a session of this folder. open is the session that this one shows.
func (m *Machine) lost(_ context.Context, open string) (*tui.Lost, error) {
	at, err := m.desk()
	if err != nil {
		return nil, err
	}
	d, taken, ok := at.drafts.Left(at.Dir, open)
	if !ok {
		return nil, nil
	}
	l := &tui.Lost{Killed: !d.Ended, Entry: history.Entry{Text: clip.Clean(d.Text), Pastes: d.Pastes}, Taken: taken}
	for _, img := range d.Images {
		l.Images = append(l.Images, edit.Image{Name: clip.Clean(img.Name), MediaType: img.Media, Data: img.Data})
	}
	if i, err := sessions.In(at.state).At(sessions.Key(at.Root), d.Session); err == nil && (!i.Running || i.ID == open) { // nothing may have been said in it
		l.Session, l.Title = i.ID, clip.Line(clip.Clean(i.Name()), 60)
		if l.Ago = clip.Age(time.Since(i.Changed)); l.Ago == "now" {
			l.Ago = "a moment"
		}
	}
	return l, nil
}
