package tui

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
)

// /permissions shows what holds now, and takes rules back where they can be: those of
// the session at once, those of a file when it was asked.
func TestRulesAreTakenBack(t *testing.T) {
	begin := func() *rig {
		r := withRules(newRig(t, 100, 30))
		r.event(event.ModeChanged{Mode: policy.AcceptEdits})
		return r.keys("'/permissions", "enter").has("Mode: acceptEdits (accepts edits)", "allow Bash  this rule allows every command", "in this session", "/home/u/src/lib")
	}
	for _, key := range []string{"enter", "delete"} {
		r := begin().keys(key)
		if o, ok := last[op.Revoke](r); !ok || !cmp.Equal(o.Rules, []string{"Bash"}) {
			t.Errorf("%s: %+v", key, o)
		}
	}
	for find, want := range map[string]string{"push": "only rules that allow", "WebFetch": "only rules that allow"} {
		r := begin().keys("'"+find, "enter").has(want)
		if o, ok := last[op.Revoke](r); ok {
			t.Errorf("%s: %+v", find, o)
		}
	}
	var gone []string
	wrong := error(nil)
	forgets := func() *rig {
		r := begin()
		r.m.host.Forget = func(_ context.Context, x policy.Rule) error { gone = append(gone, x.Text()); return wrong }
		return r.keys("'pytest", "enter").has("Take a rule back?", "your settings for this project: ~/src/calc/.adze/settings.local.json:4:7")
	}
	forgets().keys("down", "enter").has("Mode: acceptEdits")
	if len(gone) > 0 {
		t.Errorf("%q", gone)
	}
	r := forgets().keys("enter").has("taken back: Bash(pytest:*)")
	if o, ok := last[op.Revoke](r); !ok || !cmp.Equal(o.Rules, gone) || len(gone) != 1 {
		t.Errorf("%+v, %q", o, gone)
	}
	wrong = errors.New("read-only file system")
	forgets().keys("enter").has("read-only file system").hasNot("taken back")
}

// What an answer allows for longer is said, with the way back; what a hook or another
// client allows, too.
func TestGrantsAreTold(t *testing.T) {
	r := newRig(t, 100, 30).open().event(event.TurnStarted{ID: "t"}, asked("c", "ls", verdict()))
	r.event(event.Answered{Answer: op.Answer{Call: "c", Allow: true, Rules: []string{"Bash(git push:*)"}}})
	r.has("Bash(git push:*) is not asked about any more in this session", "/permissions takes it back")
	r.event(event.Answered{Answer: op.Answer{Call: "d", Allow: true, Rules: []string{"Edit"}, Keep: op.ForUser}}).has("Edit is not asked about any more everywhere")
	r.event(event.Answered{Answer: op.Answer{Call: "e", Rules: []string{"Read"}}}).hasNot("Read is not asked")
}

// A rule that was widened says what it means before it is kept.
func TestWideRuleIsTold(t *testing.T) {
	r := newRig(t, 100, 30).open().event(asked("c", "git push origin main", verdict())).pass(time.Second)
	r.keys("down").hasNot("this rule allows").keys("'e", "ctrl+u", "'Bash", "enter").has("this rule allows every command").keys("up").hasNot("this rule allows")
}
