package dialog

import (
	"reflect"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// What each key comes to in front of a permission: no effect is no answer.
func TestPermitKeys(t *testing.T) {
	command := event.Asked{Call: "7", Tool: "Bash", View: view.Terminal{Command: "git push"}, Verdict: policy.Verdict{Effect: policy.Ask, Suggest: []string{"Bash(git push:*)"}}}
	removal, edit := command, command
	removal.Verdict.Loses = true
	edit.View = view.Diff{Path: "a"}
	yes, no, interrupt := Answer{Answer: op.Answer{Allow: true}}, Answer{}, Interrupt{}
	rule := Answer{Answer: op.Answer{Allow: true, Rules: []string{"Bash(git push:*)"}, Keep: op.ForSession}}
	further := Answer{Answer: op.Answer{Allow: true, Mode: policy.AcceptEdits}}
	for _, c := range []struct {
		name    string
		q       event.Asked
		running bool
		keys    []string
		want    []Effect
	}{
		{"Enter takes what is marked", command, true, []string{"enter"}, []Effect{yes}},
		{"of a removal that is the no, which asks for words", removal, true, []string{"enter"}, nil},
		{"a letter marks", command, true, []string{"'y"}, nil},
		{"and Enter takes it", command, true, []string{"'y", "enter"}, []Effect{yes}},
		{"several letters are words", command, true, []string{"'y", "'e", "'s"}, nil},
		{"which say no", command, true, []string{"'y", "'e", "enter"}, []Effect{Answer{Answer: op.Answer{Comment: "ye"}}}},
		{"the letter that marks last counts", command, true, []string{"'n", "'y", "enter"}, []Effect{yes}},
		{"a letter that marked begins no words that come later", command, true, []string{"'n", "later", "'u", "'s", "'e", "enter"}, []Effect{Answer{Answer: op.Answer{Comment: "use"}}}},
		{"a digit marks", command, true, []string{"'1"}, nil},
		{"a digit marks, and Enter takes it", command, true, []string{"'3", "'1", "enter"}, []Effect{yes}},
		{"also one that keeps a rule", command, true, []string{"'2"}, nil},
		{"and Enter takes it, too", command, true, []string{"'2", "enter"}, []Effect{rule}},
		{"Esc stops the turn", command, true, []string{"esc"}, []Effect{interrupt}},
		{"and is a no without one", command, false, []string{"esc"}, []Effect{no}},
		{"the key for further edits is none of a command", command, true, []string{"shift+tab"}, nil},
		{"of an edit it is a yes", edit, true, []string{"shift+tab"}, []Effect{further}},
		{"and not with another answer marked", edit, true, []string{"down", "shift+tab"}, nil},
	} {
		d, _ := Ask(keymap.Default(keymap.Terminal{}), c.q, nil)
		ctx := Ctx{Paper: Paper{story.Paper{O: draw.Options{Width: 100}}}, Keys: keymap.Default(keymap.Terminal{}), Rows: 40, Mode: policy.Default, Running: c.running}
		var got []Effect
		for _, k := range c.keys {
			if k == "later" {
				ctx.Now = ctx.Now.Add(300 * time.Millisecond)
				continue
			}
			d.View(ctx, 40)
			got = append(got, press(d, ctx, k)...)
		}
		for i, e := range got {
			if a, ok := e.(Answer); ok {
				a.Refused = nil
				got[i] = a
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// press gives a key to a dialog: 'x is a letter.
func press(d Dialog, c Ctx, key string) []Effect {
	c.Pressed = keymap.Of(key, "")
	if key[0] == '\'' {
		c.Pressed = keymap.Rune(key[1:])
	}
	_, p := c.Keys.Press(keymap.Chord{}, d.In(), c.Pressed, c.Now)
	for _, a := range p.Actions {
		if out, done := d.Act(c, a); done {
			return out
		}
	}
	return Typed(c, d, c.Pressed)
}
