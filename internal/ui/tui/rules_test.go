package tui

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/ask"
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
	r := begin().keys("'push", "enter").has("not taken back here: Bash(git push --force:*) is from /etc/adze/")
	if o, ok := last[op.Revoke](r); ok {
		t.Errorf("an administrator's: %+v", o)
	}
	var gone []string
	wrong := error(nil)
	forgets := func() *rig {
		r := begin()
		r.desk.Forget = func(x ask.Rule) error { gone = append(gone, x.Text); return wrong }
		return r.keys("'pytest", "enter").has("Take a rule back?", "your settings for this project: ~/src/calc/.adze/settings.local.json:4:7")
	}
	forgets().keys("down", "enter").has("Mode: acceptEdits")
	if len(gone) > 0 {
		t.Errorf("%q", gone)
	}
	r = forgets().keys("enter").has("taken back: Bash(pytest:*)")
	if o, ok := last[op.Revoke](r); !ok || !cmp.Equal(o.Rules, gone) || len(gone) != 1 {
		t.Errorf("%+v, %q", o, gone)
	}
	wrong = errors.New("read-only file system")
	forgets().keys("enter").has("read-only file system").hasNot("taken back")
}

// Where a rule stands is said as people write it, and leaves room for the rule.
func TestPlacesOfRules(t *testing.T) {
	for _, c := range []struct {
		cols         int
		source, want string
	}{
		{100, "/home/u/.adze/settings.json:2:1", " ~/.adze/settings.json:2:1 "},
		{60, "/home/u/.adze/settings.json:2:1", " …/settings.json:2:1 "},
		{60, "/srv/a/project/with/a/long/name/.adze/settings.json:2:1", " …/settings.json:2:1 "},
	} {
		r := withRules(newRig(t, c.cols, 24))
		r.m.s.Home = "/home/u"
		r.desk.Rules = func() ask.RuleSet {
			return ask.RuleSet{List: []ask.Rule{{Text: "Bash(git push --force:*)", Effect: policy.Deny, Scope: policy.User, Source: c.source}}}
		}
		r.keys("'/permissions", "enter").has("Bash(git push --force:*)", c.want)
	}
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

// Rules that deny or ask go as well: those of the session at once, those of a file when it
// was asked, and of one that denies the answer that is marked is to leave it.
func TestRulesThatRefuseAreTakenBack(t *testing.T) {
	var gone []ask.Rule
	with := func(x ask.Rule) *rig {
		r := withRules(newRig(t, 100, 30))
		r.desk.Forget = func(x ask.Rule) error { gone = append(gone, x); return nil }
		r.desk.Rules = func() ask.RuleSet { return ask.RuleSet{List: []ask.Rule{x}} }
		return r.keys("'/permissions", "enter", "enter")
	}
	rule := ask.Rule{Text: "Bash(rm:*)", Effect: policy.Deny, Scope: policy.Session, Source: "this session"}
	for _, e := range []policy.Effect{policy.Deny, policy.Ask} {
		rule.Effect = e
		if o, ok := last[op.Revoke](with(rule)); !ok || o.Effect != e || !cmp.Equal(o.Rules, []string{"Bash(rm:*)"}) {
			t.Errorf("of the session: %+v", o)
		}
	}
	rule.Scope, rule.Source = policy.User, "~/.adze/settings.json:2:1"
	for e, c := range map[policy.Effect]struct {
		keys []string
		says string
	}{
		policy.Deny: {[]string{"down", "enter"}, "What it forbids is decided by the other rules"}, policy.Ask: {[]string{"enter"}, "may pass without a question then"},
	} {
		rule.Effect, gone = e, nil
		r := with(rule).has("Take a rule back?", e.String()+" Bash(rm:*)", c.says)
		if len(gone) > 0 {
			t.Errorf("%s: it went unasked", e)
		}
		if r.keys(c.keys...).has("taken back: Bash(rm:*)"); len(gone) != 1 || gone[0] != rule {
			t.Errorf("%s: %+v", e, gone)
		}
	}
	rule.Effect, gone = policy.Deny, nil
	if with(rule).keys("enter"); len(gone) > 0 {
		t.Errorf("Enter alone lifts %+v", gone)
	}
}
