package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/store/mem"
)

// What an answer changes of the rules are those that the session was granted, of the
// effect that it names; rules of settings stay.
func TestChangesOfGrantedRules(t *testing.T) {
	granted := func(text string, e policy.Effect, s policy.Scope) policy.Rule {
		r, err := policy.ParseRule(text, e, s, "test", "/w")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	list := []policy.Rule{
		granted("risk", policy.Allow, policy.User), granted("risk", policy.Allow, policy.Session),
		granted("look", policy.Allow, policy.Session), granted("act", policy.Deny, policy.Session),
	}
	for name, c := range map[string]struct {
		changes []op.RuleChange
		want    []string
		code    op.Code
	}{
		"none":                   {nil, []string{"user allow risk", "session allow risk", "session allow look", "session deny act"}, ""},
		"one is taken back":      {[]op.RuleChange{{Kind: op.RemoveRules, Effect: policy.Allow, Rules: []string{"risk"}}}, []string{"user allow risk", "session allow look", "session deny act"}, ""},
		"of another effect":      {[]op.RuleChange{{Kind: op.RemoveRules, Effect: policy.Deny, Rules: []string{"risk"}}}, []string{"user allow risk", "session allow risk", "session allow look", "session deny act"}, ""},
		"all of an effect":       {[]op.RuleChange{{Kind: op.ReplaceRules, Effect: policy.Allow, Rules: []string{"conf"}}}, []string{"user allow risk", "session deny act", "session allow conf"}, ""},
		"one comes":              {[]op.RuleChange{{Kind: op.AddRules, Effect: policy.Ask, Rules: []string{"conf"}}}, []string{"user allow risk", "session allow risk", "session allow look", "session deny act", "session ask conf"}, ""},
		"one goes, another one":  {[]op.RuleChange{{Kind: op.RemoveRules, Effect: policy.Deny, Rules: []string{"act"}}, {Kind: op.AddRules, Effect: policy.Allow, Rules: []string{"act"}}}, []string{"user allow risk", "session allow risk", "session allow look", "session allow act"}, ""},
		"in a way there is not":  {[]op.RuleChange{{Kind: "twist", Effect: policy.Allow, Rules: []string{"risk"}}}, nil, op.BadRule},
		"a rule that is no rule": {[]op.RuleChange{{Kind: op.AddRules, Effect: policy.Allow, Rules: []string{"Bash("}}}, nil, op.BadRule},
	} {
		st := &state{rules: policy.Rules{Dir: "/w", List: slices.Clone(list)}}
		got, err := st.changed(c.changes)
		var texts []string
		for _, r := range got {
			texts = append(texts, map[policy.Scope]string{policy.User: "user ", policy.Session: "session "}[r.Scope]+r.Effect.String()+" "+r.Text())
		}
		var code op.Code
		if no, ok := err.(*op.Refusal); ok {
			code = no.Code
		}
		if d := cmp.Diff(c.want, texts); d != "" || code != c.code {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, d)
		}
		if len(st.rules.List) != len(list) || !slices.EqualFunc(st.rules.List, list, func(a, b policy.Rule) bool { return a.Text() == b.Text() && a.Scope == b.Scope }) {
			t.Errorf("%s: the rules in force changed before the answer was recorded: %v", name, st.rules.List)
		}
	}
}

// Of the boundaries of a log that stand for a summary those are in force that neither
// an undo nor a rewind took back, and a rewind that is taken back brings them again.
func TestBoundariesInForce(t *testing.T) {
	said, sum := event.InputAccepted{Text: "go"}, event.Compacted{From: 1}
	some := []llm.Message{{Role: llm.User}}
	for name, c := range map[string]struct {
		log  []event.Body
		want bounds
	}{
		"none":                        {[]event.Body{said}, bounds{}},
		"one":                         {[]event.Body{said, sum}, bounds{force: []event.Seq{2}}},
		"two":                         {[]event.Body{said, sum, said, sum}, bounds{force: []event.Seq{2, 4}}},
		"the newest was taken back":   {[]event.Body{said, sum, said, sum, event.Compacted{Undo: 4}}, bounds{force: []event.Seq{2}, undone: []event.Seq{4}}},
		"an undo without any":         {[]event.Body{said, event.Compacted{Undo: 9}}, bounds{undone: []event.Seq{9}}},
		"a fresh context":             {[]event.Body{said, sum, event.Compacted{}}, bounds{}},
		"a rewind of the code":        {[]event.Body{said, sum, event.Rewound{To: 1, Code: true}}, bounds{force: []event.Seq{2}}},
		"a rewind to before it":       {[]event.Body{said, sum, event.Rewound{To: 1, Conversation: true}}, bounds{}},
		"a rewind to before both":     {[]event.Body{said, sum, said, sum, event.Rewound{To: 1, Conversation: true}}, bounds{}},
		"a rewind to between them":    {[]event.Body{said, sum, said, sum, event.Rewound{To: 3, Conversation: true}}, bounds{force: []event.Seq{2}}},
		"such a rewind taken back":    {[]event.Body{said, sum, event.Rewound{To: 1, Conversation: true}, event.Rewound{To: 3, Undo: true, Conversation: true, Messages: some}}, bounds{force: []event.Seq{2}}},
		"a rewind to before its undo": {[]event.Body{said, sum, said, event.Compacted{Undo: 2}, event.Rewound{To: 3, Conversation: true, Messages: some}}, bounds{force: []event.Seq{2}}},
	} {
		log := &mem.Log{}
		for i, b := range c.log {
			if err := log.Append(t.Context(), event.Event{Seq: event.Seq(i + 1), Time: time.Unix(0, 0), Body: b}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := (&Session{cfg: Config{Record: Record{Log: log}}}).boundaries(t.Context())
		if d := cmp.Diff(c.want, got, cmp.AllowUnexported(bounds{}), cmpopts.EquateEmpty()); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, d)
		}
	}
}

// Of a skill's rules those that cannot be read are told, and count for nothing.
func TestWhatASkillLends(t *testing.T) {
	s, err := Start(t.Context(), Config{Record: Record{Log: &mem.Log{}}, Permissions: Permissions{Rules: policy.Rules{Dir: "/w"}}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	l := s.lends(t.Context(), effect.Skill{Name: "fmt", From: "here", Rules: []string{"Bash(", "look"}, Deny: []string{"act"}, Effort: "loud"})
	var got []string
	for _, r := range l.rules {
		got = append(got, r.Effect.String()+" "+r.Text())
	}
	if !slices.Equal(got, []string{"allow look", "deny act"}) || l.target != nil || l.effort != (op.SetEffort{}) {
		t.Errorf("%v, %+v", got, l)
	}
	var noted string
	for e := range s.Past(t.Context(), 0, s.State().Seq) {
		if n, ok := e.Body.(event.Noted); ok {
			noted = n.Text
		}
	}
	if !strings.HasPrefix(noted, "the skill fmt (here): ") || !strings.Contains(noted, "Bash(") || !strings.Contains(noted, "there is no effort loud") {
		t.Errorf("told %q", noted)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
