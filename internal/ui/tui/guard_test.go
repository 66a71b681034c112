package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/view"
)

// shown has the terminal take the frame.
func (r *rig) shown() *rig {
	r.t.Helper()
	r.frame()
	r.m.painted(r.m.unseen(), r.m.now)
	return r
}

// unanswered fails when a dialog was answered.
func (r *rig) unanswered() *rig {
	r.t.Helper()
	if a, ok := last[op.Answer](r); ok {
		r.t.Fatalf("it was answered: %+v", a)
	}
	return r
}

// A key counts for a dialog only when a person can have meant it for that: after it
// was painted, a quarter of a second later, and not before a pause of typing.
func TestStrayKeysAnswerNothing(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'I was typ")
	r.event(asked("c", "rm -r /", verdict()))
	r.keys("'ing ") // before it is painted
	r.shown()
	for range 100 { // and on, with pauses to think
		r.pass(time.Minute).keys("'1", "shift+tab").unanswered()
	}
	r.has("the arrows choose here · what you type goes into your prompt", "› 111")
	if got := r.m.box.Text(); got != "I was typing "+strings.Repeat("1", 100) {
		t.Errorf("what was typed became %q", got)
	}
	r.pass(time.Minute).keys("enter").unanswered() // it was meant for the prompt
	if p, _ := last[op.Prompt](r); !strings.HasPrefix(p.Text, "I was typing 1") {
		t.Errorf("what was being typed was not sent: %+v", p)
	}
	r.has("waits for a pause in your typing")
	r.now = r.now.Add(typingPause)
	if at := r.m.wake(); !at.Equal(r.now) {
		t.Errorf("it wakes at %s, not %s", at, r.now)
	}
	r.do(tickMsg{})
	r.keys("enter").unanswered() // the frame that says that it listens is on its way
	r.pass(typingPause).hasNot("waits for a pause").keys("enter")
	if a, ok := last[op.Answer](r); !ok || !a.Allow {
		t.Error("it cannot be answered any more")
	}
	if got := r.m.box.Text(); got != "" {
		t.Errorf("the box has %q", got)
	}
}

// While a prompt stands half written in the box, Enter is no answer, however long somebody
// thinks, and what is typed goes on in it: an arrow takes the dialog, for the next Enter.
func TestDraftsAnswerNothing(t *testing.T) {
	for name, b := range map[string]event.Asked{
		"permission": asked("c", "rm -rf .git build", verdict()),
		"question":   {Call: "q", View: survey2},
		"plan":       {Call: "p", View: plan},
		"page":       {Call: "f", View: view.Form{Server: "x", Message: "m", URL: "https://example.com/"}},
		"cost":       {Call: "x", Title: "dear", About: event.AboutCost},
	} {
		t.Run(name, func(t *testing.T) {
			begin := func() *rig {
				return newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}).keys("'also update the docs").event(b).pass(time.Minute)
			}
			r := begin().keys("' and tests").unanswered().pass(time.Minute).keys("enter").unanswered()
			if p, _ := last[op.Prompt](r); p.Text != "also update the docs and tests" || len(r.m.shown) != 1 {
				t.Errorf("sent %q, %d dialogs", p.Text, len(r.m.shown))
			}
			r = begin().keys("up").has("Enter answers · what you type goes into your prompt").keys("' y1").has("the arrows choose here").pass(time.Minute).keys("enter").unanswered()
			if p, _ := last[op.Prompt](r); p.Text != "also update the docs y1" {
				t.Errorf("sent %q", p.Text)
			}
			r = begin()
			r.do(pasteMsg{"!"})
			r.keys("up", "enter").hasNot("the arrows choose here")
			if r.m.box.Text() != "also update the docs!" || name != "question" && len(r.m.shown) > 0 {
				t.Errorf("the prompt is %q, %d dialogs", r.m.box.Text(), len(r.m.shown))
			}
		})
	}
}

// Enter answers nothing while a dialog is new, and sends no prompt that was begun
// only after the dialog was seen.
func TestEarlyEnter(t *testing.T) {
	for name, c := range map[string]struct {
		before, after []string
		sent          string
		box           string
	}{
		"held down":       {nil, []string{"enter", "enter", "enter"}, "", ""},
		"of a prompt":     {[]string{"'go"}, []string{"'on", "enter", "enter"}, "goon", ""},
		"of an answer":    {nil, []string{"'y", "enter"}, "", "y"},
		"a line":          {[]string{"'a"}, []string{"ctrl+j", "'b"}, "", "a\nb"},
		"of a broken one": {[]string{`'a\`}, []string{"enter"}, "", "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"})
			r.keys(c.before...)
			r.event(asked("c", "rm -r /", verdict())).shown().keys(c.after...).unanswered()
			p, _ := last[op.Prompt](r)
			if p.Text != c.sent || r.m.box.Text() != c.box {
				t.Errorf("sent %q, the box has %q", p.Text, r.m.box.Text())
			}
		})
	}
}

// Who answers one dialog after the other waits for no pause: these keys were for dialogs.
func TestNextDialogListensSoon(t *testing.T) {
	r := newRig(t, 80, 24).open().event(asked("a", "ls", verdict())).pass(time.Second)
	r.event(asked("b", "rm x", verdict())).keys("enter")
	r.event(event.Answered{Answer: op.Answer{Call: "a"}}).pass(guard).keys("enter")
	if a, _ := last[op.Answer](r); a.Call != "b" {
		t.Errorf("the second one did not listen: %+v", a)
	}
}

// Each kind of dialog that the session waits for says that it waits.
func TestHeldDialogsSaySo(t *testing.T) {
	for name, b := range map[string]event.Asked{
		"permission": asked("c", "ls", verdict()),
		"question":   {Call: "q", View: survey2},
		"form":       {Call: "f", View: view.Form{Server: "x", Message: "m", Fields: []view.Field{{Name: "n", Kind: view.StringField}}}},
		"cost":       {Call: "x", Title: "dear", About: event.AboutCost},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 80, 24).open().event(b).shown().hasNot("waits for a pause")
			r.keys("'so").do(pasteMsg{" on"})
			r.has("the arrows choose here", "› so on").pass(time.Minute).has("the arrows choose here", "› so on").keys("up").hasNot("the arrows choose here").has("› so on")
			if r.m.box.Text() != "so on" {
				t.Errorf("the box has %q", r.m.box.Text())
			}
		})
	}
}

// What opens behind the transcript is not seen yet.
func TestDialogBehindTheTranscript(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}).keys("ctrl+o").event(asked("c", "ls", verdict()))
	r.pass(time.Second).keys("q", "enter").unanswered().pass(time.Second).keys("enter")
	if _, ok := last[op.Answer](r); !ok {
		t.Error("it cannot be answered")
	}
}

// Where something would be lost for good, or a change is not seen whole, Enter alone is no yes.
func TestLossIsNoAtFirst(t *testing.T) {
	v := verdict()
	v.Loses = true
	r := newRig(t, 80, 24).open().event(asked("c", "git push --force", v)).pass(time.Second).keys("enter")
	if a, ok := last[op.Answer](r); ok && a.Allow {
		t.Errorf("it was allowed: %+v", a)
	}
	r = newRig(t, 80, 24).open().event(asked("c", "git push --force", v)).pass(time.Second).keys("'1", "enter")
	if a, ok := last[op.Answer](r); !ok || !a.Allow {
		t.Errorf("a chosen yes is none: %+v", a)
	}
}

func TestCutChangeIsNoAtFirst(t *testing.T) {
	for n, yes := range map[int]bool{3: true, 200: false} {
		b := askedEdit()
		b.View = view.Code{S: strings.Repeat("a line\n", n)}
		r := newRig(t, 80, 24).open().event(b).pass(time.Second).keys("enter")
		if a, ok := last[op.Answer](r); ok != yes || a.Allow != yes {
			t.Errorf("%d lines: answered %t, %t", n, ok, a.Allow)
		}
	}
}

// What somebody types who does not look at the screen chooses nothing in menus that come
// by themselves, and is in the prompt box afterwards; what is clearly for the menu counts.
func TestPromptsChooseNothing(t *testing.T) {
	menus := map[string]struct {
		open func(*rig)
		goes bool // it makes room for a prompt
	}{
		"colours": {func(r *rig) {
			r.m.host.First = func() bool { return true }
			r.open()
		}, true},
		"no model": {func(r *rig) {
			r.m.host.Reports = map[string]Report{"login": {}}
			r.do(openedMsg{nil, &op.Refusal{Code: op.NoModel, Text: "no model"}})
		}, false},
		"no session": {func(r *rig) { r.do(openedMsg{nil, errors.New("damaged")}) }, false},
		"trust": {func(r *rig) {
			r.desk.Trust = func() ask.Claims {
				return ask.Claims{Folder: "~/calc", List: []string{"hooks: x"}}
			}
			r.desk.Decide = func(bool) error { r.t.Error("it is decided"); return nil }
			r.open()
		}, false},
		"cost": {func(r *rig) { r.open().event(event.Asked{Call: "x", Title: "dear", About: event.AboutCost}) }, false},
	}
	for name, c := range menus {
		for _, text := range []string{"fix 2 tests", "2 tests fail", "22", "yes", "no"} {
			t.Run(name+" "+text, func(t *testing.T) {
				r := newRig(t, 80, 24)
				c.open(r)
				r.pass(time.Second)
				was := r.m.first()
				effects := len(r.effects)
				for _, l := range text {
					r.keys("'" + string(l)).shown()
				}
				if text != r.m.box.Text() {
					t.Errorf("the prompt is %q", r.m.box.Text())
				}
				if c.goes {
					if len(r.m.shown) > 0 {
						t.Error("the question stays in the way")
					}
					return
				}
				r.keys("enter", "enter").unanswered()
				if len(r.m.shown) != 1 || r.m.first() != was || len(r.effects) > effects {
					t.Fatalf("%d dialogs, %d effects", len(r.m.shown), len(r.effects)-effects)
				}
				r.has("the arrows choose here", "› "+text).pass(time.Minute).keys("enter").has("the arrows choose here", "› "+text)
				r.keys("backspace").has("› "+text[:len(text)-1]).keys("'"+text[len(text)-1:], "down")
				if now, _ := was.(*menu).Now(); now.Name != r.answer(1) || r.m.box.Text() != text {
					t.Errorf("%q is marked, the prompt is %q", now.Name, r.m.box.Text())
				}
				r.keys("esc")
				if slices.Contains(r.m.shown, was) || r.m.box.Text() != text {
					t.Errorf("%d dialogs, the prompt is %q", len(r.m.shown), r.m.box.Text())
				}
			})
		}
		t.Run(name+" chosen", func(t *testing.T) {
			r := newRig(t, 80, 24)
			c.open(r)
			r.pass(time.Second).keys("'2")
			if now, _ := r.m.first().(*menu).Now(); now.Name != r.answer(1) {
				t.Errorf("the digit marks %q", now.Name)
			}
			r.keys("down", "up", "up").m.first().(*menu).chosen = func(_ *Model, c Choice) []effect { return []effect{submit{op: op.Prompt{Text: c.Name}}} }
			want := r.answer(0)
			r.keys("enter")
			if p, _ := last[op.Prompt](r); p.Text != want || !r.m.box.Empty() {
				t.Errorf("%q was chosen, not %q; the prompt is %q", p.Text, want, r.m.box.Text())
			}
		})
	}
}

// answer is the name of an answer of the dialog that is seen, counted from 0.
func (r *rig) answer(i int) string { return r.m.first().Poll(r.m.around()).Answers[i].Name }

// Who writes already is not asked for colours, and what is pasted answers nothing.
func TestStartMenusAndDrafts(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.host.First = func() bool { return true }
	r.keys("'fix")
	r.open().pass(time.Second).hasNot("Which colours").has("› fix")
	r = newRig(t, 80, 24)
	r.m.host.First = func() bool { return true }
	r.open().pass(time.Second).has("Which colours").do(pasteMsg{"fix 2 tests"})
	r.hasNot("Which colours").has("› fix 2 tests")
	r = newRig(t, 80, 24)
	r.do(openedMsg{nil, errors.New("damaged")})
	r.pass(time.Second).do(pasteMsg{"fix 2 tests"})
	if r.keys("enter"); len(r.m.shown) != 1 || r.m.box.Text() != "fix 2 tests" {
		t.Errorf("%d dialogs, the prompt is %q", len(r.m.shown), r.m.box.Text())
	}
}
