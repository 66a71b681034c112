package machine

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/draft"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/ui/tui"
)

func drafts(p settings.Paths) *draft.Keeper {
	return draft.In(filepath.Join(p.State, "drafts"), lease.ThisProcess())
}

// keep keeps what is in the prompt box, for the case that this process is killed.
func (m *Machine) keep(session string, unsent edit.Prompt) error {
	return m.keepDraft(session, unsent, false)
}

func (m *Machine) keepDraft(session string, unsent edit.Prompt, ended bool) error {
	p, _, err := m.Loaded()
	if err != nil {
		return err
	}
	d := draft.Draft{Project: m.Dir, Session: session, Time: time.Now(), Text: unsent.Shown, Pastes: unsent.Pastes, Ended: ended}
	for _, img := range unsent.Images {
		d.Images = append(d.Images, draft.Image{Name: img.Name, Media: img.MediaType, Data: img.Data})
	}
	return drafts(p).Keep(d)
}

// Leave takes it away again, unless there was something in the box.
func (m *Machine) Leave(left tui.Left) {
	if m.Extensions() == nil || m.Forgets { // no session was open
		return
	}
	if strings.TrimSpace(left.Unsent.Shown) != "" && left.Session != nil {
		_ = m.keepDraft(left.Session.ID, left.Unsent, left.Signal == "") // an older one may be there
		return
	}
	if p, _, err := m.Loaded(); err == nil {
		_ = drafts(p).Drop()
	} // what stays is taken for what a killed process left, and says no more than that
}

// lost is what a process in this folder left that was killed. open is the
// session that this one has open.
func (m *Machine) lost(_ context.Context, open string) (*tui.Lost, error) {
	p, _, err := m.Loaded()
	if err != nil {
		return nil, err
	}
	d, taken, ok := drafts(p).Left(m.Dir)
	if !ok {
		return nil, nil
	}
	l := &tui.Lost{Killed: !d.Ended, Entry: history.Entry{Text: clip.Clean(d.Text), Pastes: d.Pastes}, Taken: taken}
	for _, img := range d.Images {
		l.Images = append(l.Images, edit.Image{Name: clip.Clean(img.Name), MediaType: img.Media, Data: img.Data})
	}
	if i, err := sessions.In(p.State).At(sessions.Key(p.Root), d.Session); err == nil && (!i.Running || i.ID == open) { // nothing may have been said in it
		l.Session, l.Title = i.ID, clip.Line(clip.Clean(i.Name()), 60)
		if l.Ago = clip.Age(time.Since(i.Changed)); l.Ago == "now" {
			l.Ago = "a moment"
		}
	}
	return l, nil
}
