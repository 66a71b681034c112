package policy

import (
	"fmt"
	"slices"
	"testing"
)

// TestParts: a question lists every part with what was asked for, what it
// resolves to and its own verdict.
func TestParts(t *testing.T) {
	rules := Rules{Dir: "/w", Dirs: []string{"/w"}}
	as := []Action{
		Exec{Argv: []string{"cat", "link"}, Dir: "/w", ReadOnly: true}, Read{Path: "/etc/passwd", Asked: "link", Arg: true},
		Exec{Argv: []string{"make", "a b"}, Dir: "/w", Why: "make runs programs"}, Write{Path: "/w/x", Remove: true}, Opaque{Source: "$(x)", Why: "why"},
		Net{Host: "h", URL: "https://h/p"}, Call{Server: "s", Tool: "t"}, Spawn{Agent: "a"}, Skill{Name: "k"}, None{},
		Exec{Argv: []string{"make", "a b"}, Dir: "/w", Why: "make runs programs"}, Exec{Argv: []string{"rm"}, ReadOnly: true, Inside: true},
	}
	v := Decide(rules, Default, Request{Tool: "Bash", Actions: as})
	want := []Piece{
		{Kind: "command", Text: "cat link", Path: "/w", Effect: Allow, Reason: "it provably only reads"},
		{Kind: "read", Text: "link", Of: "cat link", Path: "/etc/passwd", Effect: Ask, Reason: "link (/etc/passwd) is outside the folders that may be read"},
		{Kind: "command", Text: "make 'a b'", Path: "/w", Effect: Ask, Reason: "no rule allows `make`; make runs programs"},
		{Kind: "remove", Text: "/w/x", Path: "/w/x", Effect: Ask, Reason: "the mode default asks before /w/x is removed"},
		{Kind: "unclear", Text: "$(x)", Effect: Ask, Reason: "part of this could not be read exactly: why"},
		{Kind: "connect", Text: "https://h/p", Effect: Ask, Reason: "no rule allows connections to h"},
		{Kind: "tool", Text: "mcp__s__t", Effect: Ask, Reason: "no rule allows this tool of the MCP server s"},
		{Kind: "agent", Text: "a", Effect: Allow, Reason: "what the agent does is decided call by call"},
		{Kind: "skill", Text: "k", Effect: Ask, Reason: "no rule allows the skill k"},
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
	var as []Action
	for i := range 300 {
		as = append(as, Read{Path: fmt.Sprint("/w/", i)})
	}
	for i := range 30 {
		as = append(as, Read{Path: fmt.Sprint("/x/", i)})
	}
	v := Decide(Rules{Dir: "/w", Dirs: []string{"/w"}}, Default, Request{Actions: as})
	open := 0
	for _, p := range v.Parts {
		if p.Effect == Ask {
			open++
		}
	}
	if len(v.Parts) != maxPieces || open != 30 || v.Parts[0].Path != "/w/0" {
		t.Errorf("%d parts, %d of them ask, first %+v", len(v.Parts), open, v.Parts[0])
	}
}
