package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// Who types a name means what has it: not what has its letters somewhere, and not
// the first that it is a part of.
func TestModelByItsAlias(t *testing.T) {
	r := newRig(t, 80, 24)
	r.desk.Models = func(context.Context) ([]Choice, error) {
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

// Where there is little room, what is chosen by is kept, and prices and places go.
func TestNarrowMenusKeepNames(t *testing.T) {
	models := func(r *rig) {
		r.desk.Models = func(context.Context) ([]Choice, error) {
			return []Choice{
				{ID: "a", Name: "anthropic/claude-sonnet-4-5", Right: "200k  $3 in, $15 out"},
				{ID: "b", Name: "anthropic/opus-4", Right: "200k  $5 in, $25 out"},
				{ID: "c", Name: "anthropic/claude-sonnet-4-5-20250929", Right: "1M  $5 in, $25 out"},
			}, nil
		}
		r.open().keys("'/model", "enter")
	}
	r := newRig(t, 40, 20)
	models(r)
	r.has("anthropic/claude-sonnet-4-5   200k ", "anthropic/opus-4  ", "…/claude-sonnet-4-5-20250929 ").hasNot("$5 in")
	r = newRig(t, 80, 20)
	models(r)
	r.has("anthropic/claude-sonnet-4-5-20250929", "$3 in, $15 out")
	withRules(newRig(t, 40, 20)).keys("'/permissions", "enter").has("deny  Bash(git push --force:*)")
}

// Where nothing is there to be chosen, no key is said to choose it.
func TestNothingToChoose(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.InputAccepted{ID: "p", Text: "hello"}).keys("'/rewind", "enter").has("Enter shows")
	if r.keys("'zzzz").has("nothing matches"); strings.Contains(r.live(), "Enter shows") {
		t.Errorf("Enter chooses nothing:\n%s", r.live())
	}
}
