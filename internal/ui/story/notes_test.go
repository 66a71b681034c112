package story

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
)

func told(s *Story) (out []string) {
	for _, it := range s.Items {
		out = append(out, it.Text)
	}
	return out
}

// What is told while a reply streams does not cut it in two.
func TestNotesDoNotCutAReply(t *testing.T) {
	s, at := New(), time.Unix(0, 0)
	for _, b := range []event.Body{
		event.TurnStarted{ID: "t"}, event.ReplyStarted{}, event.TextDelta{S: "one "}, event.SettingsChanged{Problems: []string{"broken"}}, event.TextDelta{S: "two", At: 4},
	} {
		s.Apply(event.Event{Time: at, Body: b})
	}
	if d := cmp.Diff([]string{"one two", "settings: broken"}, told(s)); d != "" {
		t.Error(d)
	}
}

// What changed in the settings stands in one line, but for what decides about calls.
func TestChangesInOneLine(t *testing.T) {
	s := New()
	s.Apply(event.Event{Body: event.SettingsChanged{Changes: []event.SettingChange{
		{Key: "ui.theme", Old: []byte("null"), New: []byte("1")}, {Key: "permissions.deny", Added: []string{"Read(x)"}}, {Key: "ui.vim", Old: []byte("null"), New: []byte("true")},
	}}})
	if d := cmp.Diff([]string{"settings changed: ui.theme, ui.vim", "settings changed: permissions.deny: added Read(x)"}, told(s)); d != "" {
		t.Error(d)
	}
}
