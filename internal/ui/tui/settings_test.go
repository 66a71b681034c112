package tui

import (
	"context"
	"slices"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// Settings of the screen count when they change, in the session that runs.
func TestSettingsCountAtOnce(t *testing.T) {
	r := newRig(t, 80, 24).open()
	now, looks := Settings{}, 0
	r.m.host.Look = func(context.Context) (Settings, error) { looks++; return now, nil }
	change := func(key string) *rig {
		return r.event(event.SettingsChanged{Changes: []event.SettingChange{{Key: key}}})
	}
	if change("permissions.allow"); looks != 0 {
		t.Error("read for what is no matter of the screen")
	}
	keys, wrong := keymap.Load([]byte(`{"bindings":[{"context":"Chat","bindings":{"alt+q":"chat:cycleMode"}}]}`), keymap.Terminal{})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	now = Settings{Vim: true, ASCII: true, Theme: "light", Fullscreen: true, Keys: keys, KeysWrong: []string{"line 3 is wrong"}, Status: StatusLine{
		Run: func(context.Context, []byte) (string, error) { return "mine", nil },
	}}
	change("ui.theme").has("INSERT", "+--", "mine", "line 3 is wrong")
	if r.m.screen.chosen != "light" || !r.m.fills() || !slices.ContainsFunc(r.effects, func(e effect) bool { f, ok := e.(full); return ok && f.on }) {
		t.Errorf("%q, %v", r.m.screen.chosen, r.m.fills())
	}
	if r.keys("alt+q"); len(r.ops) == 0 || r.m.keys != keys {
		t.Error("the keys are those of before")
	}
	now = Settings{Theme: "dark", KeysWrong: now.KeysWrong}
	change("statusLine.command").hasNot("mine", "INSERT", "+--")
	if f, ok := r.effects[len(r.effects)-1].(full); !ok || f.on {
		t.Errorf("the screen was not given back: %+v", r.effects[len(r.effects)-1])
	}
}

// A command's report that settings count now is shown when they do.
func TestAReportIsTrueWhenItIsShown(t *testing.T) {
	r := newRig(t, 80, 24).open()
	keys, wrong := keymap.Load([]byte(`{"bindings":[{"context":"Chat","bindings":{"alt+q":"chat:cycleMode"}}]}`), keymap.Terminal{})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	r.m.host.Look = func(context.Context) (Settings, error) { return Settings{Keys: keys}, nil }
	edit := Report{Looks: true, Here: func(string) bool { return true }, Run: func(context.Context, string) (string, error) { return "They count now.", nil }}
	for _, e := range r.m.reportOf("keybindings", edit, "") {
		e.(away).run(t.Context())(r.m)
	}
	if r.has("They count now."); r.m.keys != keys {
		t.Error("the keys are those of before")
	}
}
