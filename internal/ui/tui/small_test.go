package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// smallScreens are those on which every dialog has to be usable.
var smallScreens = []term.Size{{Cols: 20, Rows: 5}, {Cols: 30, Rows: 6}, {Cols: 30, Rows: 8}, {Cols: 40, Rows: 10}}

// dialogs with a text that is longer than a small screen, and words of it.
var longDialogs = []struct {
	name string
	open func(*rig)
	want []string // that have to be seen at some time, in this order
}{
	{"permission", func(r *rig) {
		r.open().event(asked("7", words("arg", 60), policy.Verdict{Effect: policy.Ask, Reason: "no rule allows it"}))
	}, []string{"arg1", "arg2", "arg30", "arg59", "arg60", "asks because"}},
	{"trust", func(r *rig) {
		r.desk.Trust = func() ask.Claims {
			return ask.Claims{Folder: "~/calc", List: []string{"hooks: " + words("arg", 60)}}
		}
		r.open()
	}, []string{"arg1", "arg2", "arg30", "arg60"}},
	{"plan", func(r *rig) {
		r.open().event(event.Asked{Call: "p", Tool: "ExitPlanMode", View: view.Group{Blocks: []view.Block{
			view.Text{S: words("arg", 60)}, view.Questions{Items: []view.Question{{Header: "Plan", Text: "Carry it out?", Options: []view.Option{{Label: "Yes"}}}}},
		}}})
	}, []string{"arg1", "arg2", "arg30", "arg60", "Carry it out?"}},
	{"form", func(r *rig) {
		formAsked(r.open(), view.Form{Server: "db", Message: words("arg", 60)})
	}, []string{"arg1", "arg2", "arg30", "arg60"}},
}

func words(word string, n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s%d", word, i+1))
	}
	return strings.Join(out, " ")
}

// On a small screen nothing of what a dialog is about is out of reach, by the
// page, by the line, and from its end; and its answers stay in sight.
func TestSmallScreensShowAll(t *testing.T) {
	slowtest.Alone(t)
	for _, z := range smallScreens {
		for _, d := range longDialogs {
			for _, key := range []string{"pgdown", "down"} {
				r := newRig(t, z.Cols, z.Rows)
				d.open(r)
				r.pass(time.Second)
				seen := ""
				for range 120 {
					seen += " " + strings.Join(strings.Fields(strings.NewReplacer("│", " ", "▾", " ", "▴", " ", "╭", "", "╮", "").Replace(r.text())), " ") + " "
					r.keys(key)
				}
				if d.name == "form" && key == "down" {
					continue // it goes from row to row
				}
				rest := seen
				for _, w := range d.want {
					i := strings.Index(rest, w)
					if i < 0 {
						i = strings.Index(strings.ReplaceAll(rest, " ", ""), strings.ReplaceAll(w, " ", ""))
					}
					if i < 0 {
						t.Errorf("%v, %s, by %s: %q is not seen:\n%s\n%s", z, d.name, key, w, r.text(), seen)
						break
					}
				}
				for _, back := range []string{"home", "pgup"} {
					for range 120 {
						r.keys(back).m.frame()
					}
					if d.name != "form" && !strings.Contains(r.text(), "arg1") && !strings.Contains(r.text(), "Trust") {
						t.Errorf("%v, %s: %s does not lead to the beginning:\n%s", z, d.name, back, r.text())
					}
					r.keys("end")
				}
				if lines, _ := r.m.first().View(r.m.around(), z.Rows-1); len(lines) > z.Rows-1 {
					t.Errorf("%v, %s: %d rows:\n%s", z, d.name, len(lines), r.text())
				}
			}
		}
	}
}

// On a screen of a few rows a dialog shows what would happen beside its answers.
func TestDialogsOnTinyScreens(t *testing.T) {
	for _, z := range []term.Size{{Cols: 20, Rows: 5}, {Cols: 10, Rows: 3}, {Cols: 80, Rows: 6}} {
		r := newRig(t, z.Cols, z.Rows).open().event(event.TurnStarted{ID: "t"}, asked("7", "git push origin main", verdict())).pass(time.Second)
		if r.has("git"); z.Cols == 80 {
			r.has("❯ 1 Yes")
		} else { // not all that asks is seen
			r.has("❯ 3 No")
		}
		if z.Cols == 20 {
			r.keys("up", "up")
			r.keys("pgdown", "pgdown").has("main", "▴")
			r.keys("down").has("Bash(git push", "❯ 2 Yes, and")
		}
		r.keys("y", "enter")
		if a, ok := last[op.Answer](r); !ok || !a.Allow {
			t.Errorf("%v: %+v", z, a)
		}
	}
	r := newRig(t, 20, 5).open().event(asked("7", "rm -r build", verdict())).pass(time.Second)
	r.keys("3", "'use mv").has("rm -r build", "use mv")
	r.keys("enter")
	if a, _ := last[op.Answer](r); a.Allow || a.Comment != "use mv" {
		t.Errorf("%+v", a)
	}
	r = newRig(t, 20, 5).open().event(event.Asked{Call: "q", View: survey2}).pass(time.Second)
	r.has("Which database?", "❯ 1 SQLite", "Postgres")
	r.keys("down", "enter", "space", "down", "down").has("Which checks?", "Something else")
}

// Pressed again before the session answered, the key goes on from the mode that was
// asked for.
func TestModesGoOnFromTheOneAskedFor(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.event(event.SessionStarted{ID: "s"})
	r.keys("shift+tab", "shift+tab", "shift+tab")
	var got []string
	for _, o := range r.ops {
		if m, ok := o.(op.SetMode); ok {
			got = append(got, m.Mode)
		}
	}
	if want := []string{"acceptEdits", "plan", "auto"}; !slices.Equal(got, want) {
		t.Errorf("asked for %v, not %v", got, want)
	}
	r.event(event.ModeChanged{Mode: policy.AcceptEdits}).keys("shift+tab") // the first was carried out
	if o, _ := last[op.SetMode](r); o.Mode != "dontAsk" {
		t.Errorf("then for %q", o.Mode)
	}
	r.event(event.ModeChanged{Mode: policy.DontAsk}, event.ModeChanged{Mode: policy.PlanMode}).keys("shift+tab")
	if o, _ := last[op.SetMode](r); o.Mode != "auto" {
		t.Errorf("and at last for %q", o.Mode)
	}
}

// The help of a question stands above it, and closing it answers nothing.
func TestHelpInADialog(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.event(event.TurnStarted{ID: "t"}, asked("7", "ls", verdict())).pass(time.Second)
	r.keys("f1").has("Begin a prompt with").hasNot("Run this command?")
	r.keys("esc").has("Run this command?").hasNot("Begin a prompt with")
	r.unanswered()
	if _, stopped := last[op.Interrupt](r); stopped {
		t.Error("the turn was stopped")
	}
	r.pass(time.Second).keys("1", "enter")
	if a, ok := last[op.Answer](r); !ok || !a.Allow {
		t.Errorf("it cannot be answered any more: %+v", a)
	}
}

func TestListsSayHowManyMoreThereAre(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'/")
	n := len(r.m.list.Found) - 7
	r.has(fmt.Sprintf("… %d more", n))
	for range len(r.m.list.Found) - 1 {
		r.keys("down")
	}
	r.has("vim keys on or off", fmt.Sprintf("… %d more", n))
}

func TestFooterHasTheEffort(t *testing.T) {
	r := newRig(t, 80, 24)
	level := ""
	r.desk.Status = func() ask.Facts { return ask.Facts{Effort: level} }
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Model: "m"}}, nil})
	r.hasNot("effort")
	level = "high"
	r.keys("'/effort high", "enter").pass(5 * time.Second).has("effort high")
	level = "none"
	r.keys("alt+t").pass(5 * time.Second).has("no thinking (Alt+T)")
}
