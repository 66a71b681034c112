package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/term"
)

// hiding are commands that hide what asks among other lines, and what the screen must
// have of them.
var hiding = []struct {
	name, command string
	parts         []string // that ask
}{
	{"empty lines", "echo ok" + strings.Repeat("\n", 60) + "rm -rf ~/x", []string{"rm -rf ~/x"}},
	{"blanks", "echo ok\n" + strings.Repeat(" \t \n", 60) + "rm -rf ~/x", []string{"rm -rf ~/x"}},
	{"other lines", strings.Repeat("echo ok\n", 80) + "rm -rf ~/x\n" + strings.Repeat("echo ok\n", 80), []string{"rm -rf ~/x"}},
	{"a long line", "echo " + strings.Repeat("x ", 3000) + "; rm -rf ~/x; echo " + strings.Repeat("y ", 3000), []string{"rm -rf ~/x"}},
	{"two", "rm -rf ~/x\n" + strings.Repeat("echo ok\n", 80) + "git push", []string{"rm -rf ~/x", "git push"}},
}

func hidingAsked(command string, parts []string) event.Asked {
	v := policy.Verdict{Effect: policy.Ask, Reason: "it is removed", Part: parts[0], Suggest: []string{"Bash(rm:*)"}}
	v.Parts = append(v.Parts, policy.Piece{Kind: "command", Text: "echo ok", Effect: policy.Allow, Reason: "it only prints"})
	for _, part := range parts {
		v.Parts = append(v.Parts, policy.Piece{Kind: "command", Text: part, Effect: policy.Ask, Reason: "it is removed"})
	}
	return asked("7", command, v)
}

// Whatever the screen, what asks is on it before somebody says yes.
func TestWhatAsksIsSeen(t *testing.T) {
	for _, z := range []term.Size{{Cols: 80, Rows: 24}, {Cols: 40, Rows: 10}, {Cols: 120, Rows: 40}} {
		for _, h := range hiding {
			r := newRig(t, z.Cols, z.Rows).open().event(event.TurnStarted{ID: "t"}, hidingAsked(h.command, h.parts)).pass(time.Second)
			text := r.text()
			if len(h.parts) == 1 && !strings.Contains(text, "❯ 1 Yes") {
				t.Errorf("%v, %s: the yes is not marked:\n%s", z, h.name, text)
			}
			all := true
			for _, part := range h.parts {
				all = all && strings.Contains(text, part)
			}
			if !all && (len(h.parts) == 1 || strings.Contains(text, "❯ 1 Yes")) || !strings.Contains(text, "not shown") && !strings.Contains(text, "empty lines") {
				t.Errorf("%v, %s: what asks is not seen:\n%s", z, h.name, text)
			}
		}
	}
}

// Of what asks and has no room it is said that it is hidden, and Enter is no yes; who
// has marked the yes has it.
func TestWhatIsHiddenIsNoYes(t *testing.T) {
	var parts, lines []string
	for i := range 30 {
		parts = append(parts, fmt.Sprintf("rm -r d%d", i))
		lines = append(lines, parts[i])
	}
	for _, z := range []term.Size{{Cols: 80, Rows: 24}, {Cols: 40, Rows: 10}, {Cols: 20, Rows: 5}, {Cols: 120, Rows: 40}} {
		open := func() *rig {
			return newRig(t, z.Cols, z.Rows).open().event(event.TurnStarted{ID: "t"}, hidingAsked(strings.Join(lines, "\n"), parts)).pass(time.Second)
		}
		r := open()
		r.has("❯ 3 No")
		r.keys("enter")
		if a, ok := last[op.Answer](r); ok && a.Allow {
			t.Errorf("%v: Enter is a yes", z)
		}
		r = open().keys("up", "up")
		r.has("❯ 1 Yes")
		r.keys("enter")
		if a, ok := last[op.Answer](r); !ok || !a.Allow {
			t.Errorf("%v: a yes that was marked: %+v", z, a)
		}
	}
	// a script that is a single part
	script := "python3 - <<E\n" + strings.Repeat("print(1)\n", 60) + "E"
	r := newRig(t, 80, 24).open().event(event.TurnStarted{ID: "t"}, asked("7", script, policy.Verdict{Effect: policy.Ask, Reason: "no rule allows it", Part: script})).pass(time.Second)
	r.has("❯ 2 No", "lines not shown")
}

// Where lines are printed, empty ones are few, and what asks stands above the answers.
func TestPlainHidesNothing(t *testing.T) {
	r := plainRig(t)
	r.event(event.TurnStarted{ID: "t"}, hidingAsked(hiding[0].command, hiding[0].parts)).pass(time.Second)
	r.has("59 empty lines", "rm -rf ~/x")
}
