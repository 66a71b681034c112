package policy

import (
	"fmt"
	"slices"
	"testing"
)

// TestParts: a question lists every part with what was asked for, what it
// resolves to and its own verdict.
func TestParts(t *testing.T) {
	rules := Rules{Dir: "/w", Dirs: []string{"/w"}, List: []Rule{{Tool: "Bash", Spec: "lint:*", Effect: Allow, Source: "s.json:3"}}}
	as := []Action{
		Touching(Exec{Argv: []string{"cat", "link"}, Dir: "/w", ReadOnly: true}, Read{Path: "/etc/passwd", Asked: "link"}),
		Exec{Argv: []string{"make", "a b"}, Dir: "/w", Why: "make runs programs"}, Write{Path: "/w/x", Remove: true}, Opaque{Source: "$(x)", Why: "why"},
		Net{Host: "h", URL: "https://h/p"}, Call{Server: "s", Tool: "t"}, Spawn{Agent: "a"}, Skill{Name: "k"}, None{},
		Exec{Argv: []string{"make", "a b"}, Dir: "/w", Why: "make runs programs"}, Exec{Argv: []string{"rm"}, ReadOnly: true, Sure: Inside},
		Touching(Exec{Argv: []string{"cp", "a", "b"}, Dir: "/w", Edits: true}, Read{Path: "/w/a", Asked: "a"}, Write{Path: "/w/b", Asked: "b"}),
		Exec{Argv: []string{"lint", "$x", "a b"}, Spellings: Spellings{Loose: true}},
	}
	v := Decide(rules, Default, Request{Tool: "Bash", Actions: as})
	want := []Piece{
		{Kind: "command", Text: "cat link", Path: "/w", Effect: Allow, Reason: "it provably only reads", Check: CheckReadOnly},
		{Kind: "read", Text: "link", Of: "cat link", Path: "/etc/passwd", Effect: Ask, Reason: "link (/etc/passwd) is outside the folders that may be read", Check: CheckOutside},
		{Kind: "command", Text: "make 'a b'", Path: "/w", Effect: Ask, Reason: "no rule allows `make`; make runs programs", Check: CheckNotReadOnly},
		{Kind: "remove", Text: "/w/x", Path: "/w/x", Effect: Ask, Reason: "the mode default asks before /w/x is removed", Check: CheckWrite},
		{Kind: "unclear", Text: "$(x)", Effect: Ask, Reason: "part of this could not be read exactly: why", Check: CheckOpaque},
		{Kind: "connect", Text: "https://h/p", Effect: Ask, Reason: "no rule allows connections to h", Check: CheckNoRule},
		{Kind: "tool", Text: "mcp__s__t", Effect: Ask, Reason: "no rule allows this tool of the MCP server s", Check: CheckNoRule},
		{Kind: "agent", Text: "a", Effect: Allow, Reason: "what the agent does is decided call by call", Check: CheckSpawn},
		{Kind: "skill", Text: "k", Effect: Ask, Reason: "no rule allows the skill k", Check: CheckNoRule},
		{Kind: "command", Text: "cp a b", Path: "/w", Effect: Allow, Reason: "the paths it changes are judged one by one", Check: CheckEdits},
		{Kind: "read", Text: "a", Of: "cp a b", Path: "/w/a", Effect: Allow, Reason: "it reads inside the session's folders", Check: CheckReadOnly},
		{Kind: "write", Text: "b", Of: "cp a b", Path: "/w/b", Effect: Ask, Reason: "the mode default asks before b is changed", Check: CheckWrite},
		{Kind: "command", Text: "lint $x 'a b'", Effect: Allow, Reason: "a rule allows it: Bash(lint:*)", Rule: "Bash(lint:*)", Source: "s.json:3", Check: CheckRule},
	}
	if !slices.Equal(v.Parts, want) {
		for _, p := range v.Parts {
			t.Errorf("got %+v", p)
		}
	}
	if v := Decide(rules, Bypass, Request{Actions: as}); v.Parts != nil {
		t.Errorf("an allowed call lists parts: %+v", v.Parts)
	}
}

func TestPartsAreBounded(t *testing.T) {
	for asks, first := range map[int]string{30: "/w/0", 300: "/x/0"} {
		var as []Action
		for i := range 300 {
			as = append(as, Read{Path: fmt.Sprint("/w/", i)})
		}
		for i := range asks {
			as = append(as, Read{Path: fmt.Sprint("/x/", i)})
		}
		v := Decide(Rules{Dir: "/w", Dirs: []string{"/w"}}, Default, Request{Actions: as})
		open := 0
		for _, p := range v.Parts {
			if p.Effect == Ask {
				open++
			}
		}
		if len(v.Parts) != maxPieces || open != min(asks, maxPieces) || v.Parts[0].Path != first {
			t.Errorf("%d parts, %d of them ask, first %+v", len(v.Parts), open, v.Parts[0])
		}
	}
}

// TestDecidingPart: a verdict names what of the call decided it, as it stands there; of
// parts that weigh the same, the first.
func TestDecidingPart(t *testing.T) {
	rules := Rules{Dir: "/w", Dirs: []string{"/w"}, List: []Rule{{Tool: "Bash", Spec: "make:*", Effect: Allow}}}
	for _, c := range []struct {
		as   []Action
		want string
	}{
		{[]Action{Exec{Argv: []string{"cp", "a b"}}}, "cp 'a b'"}, {[]Action{Opaque{Source: "$x"}}, "$x"}, {[]Action{Read{Path: "/x"}}, "/x"}, {[]Action{Write{Path: "/x"}}, "/x"},
		{[]Action{Net{Host: "h"}}, "h"}, {[]Action{Net{Host: "h", URL: "https://h/p"}}, "https://h/p"}, {[]Action{Call{Server: "s", Tool: "t"}}, "mcp__s__t"},
		{[]Action{Spawn{Agent: "a"}}, "a"}, {[]Action{Skill{Name: "k"}}, "k"}, {[]Action{Skill{Name: "k", Plain: true}}, "k"},
		{[]Action{Exec{Argv: []string{"make", "a"}}, Exec{Argv: []string{"make", "b"}}}, "make a"}, {[]Action{Exec{Argv: []string{"x"}}, Exec{Argv: []string{"y"}}}, "x"},
	} {
		if v := Decide(rules, Default, Request{Tool: "Other", Actions: c.as}); v.Part != c.want {
			t.Errorf("%+v: %q, want %q", c.as, v.Part, c.want)
		}
	}
	for _, a := range []Action{Spawn{Agent: "a"}, Exec{Argv: []string{"a"}}, Skill{Name: "a"}} {
		if v := Decide(rules, Bypass, Request{Tool: "Other", Actions: []Action{a}}); v.Part != "a" {
			t.Errorf("%+v: %q", a, v.Part)
		}
	}
}
