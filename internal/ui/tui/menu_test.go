package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/op"
)

// Who types a name means what has it: not what has its letters somewhere, and not
// the first that it is a part of.
func TestModelByItsAlias(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.host.Models = func(context.Context) ([]Choice, error) {
		return []Choice{
			{ID: "a/opus-4-5", Name: "a/opus-4-5"}, {ID: "a/on-plus", Name: "a/on-plus"},
			{ID: "a/opus-5-5", Name: "a/opus-5-5", About: "opus", Also: []string{"opus"}}, {ID: "a/sonnet", Name: "a/sonnet"},
		}, nil
	}
	r.open().keys("'/model", "enter", "'opus").has("❯ a/opus-5-5").hasNot("on-plus")
	if s := r.live(); strings.Index(s, "opus-5-5") > strings.Index(s, "opus-4-5") {
		t.Errorf("the alias is not first:\n%s", s)
	}
	r.keys("enter")
	if o, _ := last[op.SetModel](r); o.Name != "a/opus-5-5" {
		t.Errorf("%q was chosen", o.Name)
	}
	r.keys("'/model", "enter", "'snt").has("❯ a/sonnet") // letters count where no word does
}
