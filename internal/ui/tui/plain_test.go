package tui

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/history"
	"github.com/adze-agent/adze/internal/view"
)

// plainRig is a rig in plain mode, with a session.
func plainRig(t testing.TB) *rig {
	r := newRig(t, 160, 24)
	r.m.screen.plain = true
	r.open()
	r.said()
	return r
}

// said is what was printed since it was asked last, and the line that asks.
func (r *rig) said() string {
	r.t.Helper()
	if at := r.m.spoken.hush; !at.IsZero() {
		r.now = at
		r.do(tickMsg{})
	}
	before := len(r.printed)
	ask := r.frame()
	return draw.TextOf(slices.Concat(r.printed[before:], ask))
}

// line types a line, and waits until it counts.
func (r *rig) line(text string) string {
	r.t.Helper()
	r.do(lineMsg{text})
	if !r.m.spoken.due.IsZero() {
		r.now = r.m.spoken.due
		r.do(tickMsg{})
	}
	return r.said()
}

// seen lets time pass, so that a dialog takes lines.
func (r *rig) seen() *rig {
	r.m.painted(r.m.unseen(), r.m.now)
	r.now = r.now.Add(time.Second)
	r.do(tickMsg{})
	r.m.painted(r.m.unseen(), r.m.now)
	return r
}

// want checks what got has: with - what it has not, and with $ what it ends with.
func want(t testing.TB, got string, words ...string) {
	t.Helper()
	for _, w := range words {
		if ask, last := strings.CutPrefix(w, "$"); last {
			if lines := strings.Split(strings.TrimSpace(got), "\n"); lines[len(lines)-1] != ask {
				t.Errorf("it does not ask with %q:\n%s", ask, got)
			}
			continue
		}
		if text, not := strings.CutPrefix(w, "-"); not == strings.Contains(got, text) {
			t.Errorf("%q (missing, or with - there):\n%s", w, got)
		}
	}
}

// fullKey is a key that plain mode does not have.
var fullKey = regexp.MustCompile(`\b(Esc|Tab|Space|PgUp|PgDn|F1|Delete|Home|End)\b|\bCtrl\+[^CD]|\b(Shift|Alt)\+|❯|[←→] |\bx stops|Enter (takes|shows|keeps|answers)`)

// Nothing that plain mode says names a key that is not there.
func TestPlainNamesNoKeysOfTheFullUI(t *testing.T) {
	for _, s := range slices.Concat(scenes, rareScenes) {
		r := newRig(t, 100, 24)
		r.m.screen.plain = true
		s.play(r)
		r.frame()
		for r.m.pager == nil && len(r.m.shown) > 0 { // and what is behind
			r.seen()
			r.line("?")
			r.m.close(r.m.first())
			r.frame()
		}
		text := draw.TextOf(r.printed)
		if s.name == "transcript" || s.name == "transcript-search" { // only by a key
			continue
		}
		for line := range strings.Lines(text) {
			if key := fullKey.FindString(line); key != "" {
				t.Errorf("%s: %q in %q", s.name, key, strings.TrimSpace(line))
			}
		}
	}
}

func TestPlainSaysWhoseTurnItIs(t *testing.T) {
	r := newRig(t, 120, 24)
	r.m.screen.plain = true
	if got := r.said(); strings.Contains(got, ">") {
		t.Errorf("it asks before there is a session:\n%s", got)
	}
	r.open()
	want(t, r.said(), "/help says what can be typed", "\n>\n")
	got := r.line("mend it")
	want(t, got, "-mend it", "->")
	r.event(event.InputAccepted{ID: "id1", Text: "mend it"}, event.TurnStarted{ID: "t"})
	want(t, r.said(), "-mend it", "->")
	want(t, r.line("and hurry"), "The model gets it with its next step", "->")
	r.event(event.InputAccepted{ID: "id2", Text: "and hurry", Steer: true})
	r.now = r.now.Add(12 * time.Second)
	r.event(event.Replied{Usage: llm.Usage{In: 1200, Out: 300}, Message: llm.Message{Parts: []llm.Part{llm.Text{S: "It works."}}}}, event.TurnEnded{How: event.Done})
	want(t, r.said(), "It works.", "Done: 12 s, 1.2k tokens in, 300 out.\n>\n", "-hurry")
	r.event(event.TurnStarted{ID: "t2"}, event.TurnEnded{How: event.Failed, Err: "overloaded"})
	want(t, r.said(), "overloaded", "Not done.\n>\n")
	// what others say is printed, and the prompt stands below it again
	r.event(event.InputAccepted{ID: "x", Text: "from elsewhere"})
	want(t, r.said(), "from elsewhere", "\n>\n")
}

// What is pasted is one prompt, and a line can go on in the next one.
func TestPlainPromptsOfSeveralLines(t *testing.T) {
	r := plainRig(t)
	paste := func(lines ...string) string {
		for _, l := range lines {
			r.do(lineMsg{l})
			r.now = r.now.Add(pasteGap / 2)
		}
		r.now = r.now.Add(pasteGap)
		r.do(tickMsg{})
		return r.said()
	}
	sent := func(text string) {
		t.Helper()
		if p, _ := last[op.Prompt](r); p.Text != text {
			t.Errorf("sent %q, not %q", p.Text, text)
		}
		r.event(event.InputAccepted{ID: fmt.Sprint("id", r.ids)}, event.TurnStarted{}, event.TurnEnded{})
		r.said()
	}
	want(t, paste("# not a note", "", "two"), "\n  3 lines. An empty line sends them, Ctrl+C drops them.", ">>")
	want(t, r.line("three"), "4 lines.", ">>")
	r.line("")
	sent("# not a note\n\ntwo\nthree")
	want(t, r.line(`one \`), ">>", "-lines")
	want(t, r.line(`two \`), ">>")
	r.line("three")
	sent("one \ntwo \nthree")
	paste("a", "b")
	r.keys("ctrl+c")
	want(t, r.said(), "Dropped.", "Press Ctrl+C again to quit", "\n>\n")
	r.line("c")
	sent("c")
}

// What could not be sent is told, and an empty line sends it.
func TestPlainPromptThatComesBack(t *testing.T) {
	r := plainRig(t)
	r.event(event.TurnStarted{ID: "t"})
	r.line("steer it")
	r.keys("ctrl+c")
	want(t, r.said(), "Not sent: “steer it”. An empty line sends it")
	r.event(event.TurnEnded{How: event.Interrupted})
	want(t, r.said(), "Interrupted", "\n>\n")
	want(t, r.line("/cost"), "model  requests", "-Not sent", "$>") // it waits on
	n := len(r.ops)
	r.line("")
	if p, ok := last[op.Prompt](r); !ok || p.Text != "steer it" || len(r.ops) == n {
		t.Errorf("sent %+v", p)
	}
	r = plainRig(t)
	r.m.host.Remember = func(history.Entry) {}
	want(t, r.line("/nosuch thing"), "there is no command /nosuch", "\n>\n", "-Not sent")
	want(t, r.line("/cost much"), "takes no arguments", "-Not sent")
	r.desk.Agent = func(string) (string, error) { return "the agent a1 works on it in the background", nil }
	want(t, r.line("&later"), "the agent a1 works on it in the background: later", "/tasks shows what it does", "-Not sent")
	if got := r.m.box.Text(); got != "" {
		t.Errorf("the box holds %q", got)
	}
}

func TestPlainProgress(t *testing.T) {
	r := plainRig(t)
	r.event(event.TurnStarted{ID: "t"}, event.ToolStarted{Call: "1", Name: "Bash", Title: "Bash: Wait", Input: json.RawMessage(`{"command":"sleep 900"}`), Shell: true})
	r.said()
	var told []string
	for range 900 {
		at := r.m.wake()
		if at.IsZero() || at.After(start.Add(11*time.Minute)) {
			break
		}
		r.now = at
		r.do(tickMsg{})
		told = append(told, strings.TrimSpace(r.said()))
	}
	if got := strings.Join(told, "\n"); got != `Still running Bash Wait: 10 s. Ctrl+C stops it.
Still running Bash Wait: 30 s. Ctrl+C stops it.
Still running Bash Wait: 1 min 0 s. Ctrl+C stops it.
Still running Bash Wait: 2 min 0 s. Ctrl+C stops it.
Still running Bash Wait: 5 min 0 s. Ctrl+C stops it.
Still running Bash Wait: 10 min 0 s. Ctrl+C stops it.` {
		t.Errorf("told\n%s", got)
	}
	r.event(event.ToolFinished{Call: "1", Name: "Bash", View: view.Terminal{Command: "sleep 900", Output: strings.Repeat("line\n", 200)}})
	r.event(event.Waiting{Err: "overloaded (529)", For: 4 * time.Second, Attempt: 2, Max: 10})
	want(t, r.said(), "195 earlier lines (/transcript)", "Trying again in 4 s (2 of 10): overloaded (529)")
	if at := r.m.wake(); !at.IsZero() {
		t.Errorf("it wakes at %s", at)
	}
	r.event(event.TurnEnded{How: event.Done})
	r.said()
	if n := strings.Count(r.line("/transcript"), "line\n"); n < 200 {
		t.Errorf("%d lines of what was folded are shown", n)
	}
	if at := r.m.wake(); !at.IsZero() {
		t.Errorf("idle, it wakes at %s", at)
	}
}

// The permission mode is said at the beginning, and whenever it is another one: there is
// no line below the prompt that shows it.
func TestPlainSaysTheMode(t *testing.T) {
	r := plainRig(t)
	want(t, r.line("/mode acceptEdits"), "mode: acceptEdits, accepts edits")
	r.event(event.TurnStarted{ID: "t"}, event.TurnEnded{ID: "t"})
	r.said()
	r.event(event.ModeChanged{Mode: policy.PlanMode})
	want(t, r.said(), "mode: plan, reads only, then plans")
	want(t, r.line("/mode plan"), "mode: plan, reads only")
	r.line("/mode")
	want(t, r.seen().line("4"), "-mode: plan")
	r.event(event.ModeChanged{Mode: policy.Auto})
	want(t, r.said(), "mode: auto, a model says yes or no")

	for mode, head := range map[policy.Mode]string{policy.Default: "-asks", policy.DontAsk: "calc on main · refuses what it would ask", policy.PlanMode: "calc on main · plan mode"} {
		r := newRig(t, 160, 24)
		r.m.screen.plain = true
		r.do(openedMsg{&Session{Facts: ask.Facts{ID: "0199c5a2", Dir: "~/src/calc", Branch: "main", Model: "anthropic/sonnet-4.6", Mode: mode}}, nil})
		want(t, r.said(), head)
	}
}
