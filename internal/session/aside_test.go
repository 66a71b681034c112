package session_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/session"
)

// The mode auto sets broad rules aside, says so each time that it begins and of rules that
// come meanwhile, and gives them back.
func TestAutoSetsRulesAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		allow := func(text string) policy.Rule {
			r, err := policy.ParseRule(text, policy.Allow, policy.User, "settings.json:1", "/w")
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		no := rule("soft_deny", "nobody asked for it")
		judge := &fake.Model{Replies: []fake.Reply{no, no, no}}
		var replies []fake.Reply
		for _, id := range []string{"c1", "c2", "c3", "c4", "c5"} {
			replies = append(replies, fake.Use(call(id, "risk", "", 0)), fake.Say("done"))
		}
		r := start(t, nil, func(c *session.Config) {
			autoMode(judge)(c)
			c.Mode = policy.Default
			c.Rules.List = []policy.Rule{allow("Bash(*)"), allow("Bash(ls:*)")}
		}, replies...)
		turn := func(n int) (noted []string, ran int32) {
			t.Helper()
			before := r.bench.started.Load()
			r.prompt("go")
			for _, e := range all[event.Noted](r.turns(n, nil)) {
				noted = append(noted, strings.Split(e.Text, " do")[0])
			}
			return noted, r.bench.started.Load() - before
		}
		mode := func(m policy.Mode) {
			t.Helper()
			if err := r.Submit(t.Context(), op.SetMode{Mode: string(m)}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string, noted []string, ran int32, want []string, runs int32) {
			t.Helper()
			if !slices.Equal(noted, want) || ran != runs {
				t.Errorf("%s: %q was said, and %d calls ran; want %q and %d", when, noted, ran, want, runs)
			}
		}
		noted, ran := turn(1)
		check("in the mode default", noted, ran, nil, 1)
		mode(policy.Auto)
		noted, ran = turn(2)
		check("in the mode auto", noted, ran, []string{"Bash(*)"}, 0)
		err := r.Apply(t.Context(), session.Settings{
			Rules: policy.Rules{Dir: "/w", List: []policy.Rule{allow("Bash"), allow("Bash(*)"), allow("Bash(sh:*)")}}, Auto: r.cfg.Auto, Loop: r.cfg.Loop,
		}, event.SettingsChanged{})
		if err != nil {
			t.Fatal(err)
		}
		noted, ran = turn(3)
		check("when settings brought more rules", noted, ran, []string{"Bash(*)", "Bash, Bash(sh:*)"}, 0)
		mode(policy.Default)
		noted, ran = turn(4)
		check("in the mode default again", noted, ran, []string{"Bash(*)", "Bash, Bash(sh:*)"}, 1)
		mode(policy.Auto)
		noted, ran = turn(5)
		check("in the mode auto again", noted, ran, []string{"Bash(*)", "Bash, Bash(sh:*)", "Bash, Bash(*), Bash(sh:*)"}, 0)
		r.Close()
	})
}
