package tui

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
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
	"github.com/adze-agent/adze/internal/ui/picture"
	"github.com/adze-agent/adze/internal/ui/term"
)

func TestNoIsSaidOnce(t *testing.T) {
	for name, b := range map[string]struct{ reason, comment string }{
		"in the reason":    {"the person said no: use main", "use main"},
		"beside a reason":  {"the person said no", "use main"},
		"without a remark": {"the person said no", ""},
	} {
		r := newRig(t, 80, 24).open()
		r.event(event.Asked{Call: "c", Tool: "Bash", Title: "Bash: x"}, event.Answered{Answer: op.Answer{Call: "c", Comment: b.comment}},
			event.ToolFinished{Call: "c", Name: "Bash", Denied: true, Verdict: policy.Verdict{Reason: b.reason}}, event.TurnEnded{})
		r.frame()
		all := draw.TextOf(r.printed)
		if n := strings.Count(all, "said no"); n != 1 {
			t.Errorf("%s: %d times no:\n%s", name, n, all)
		}
		if n := strings.Count(all, "use main"); b.comment != "" && n != 1 {
			t.Errorf("%s: the remark stands there %d times:\n%s", name, n, all)
		}
	}
}

// Each part of a command has its own verdict; one that is the only part is
// explained in one line.
func TestPartsAreExplainedEach(t *testing.T) {
	unknown := "it is not known to be read-only"
	parts := []policy.Piece{
		{Kind: "command", Text: "git commit -qm x", Effect: policy.Ask, Reason: unknown},
		{Kind: "read", Text: "x", Effect: policy.Allow, Reason: "it reads"},
		{Kind: "command", Text: "git push", Effect: policy.Ask, Reason: "it reaches github.com"},
	}
	r := newRig(t, 80, 30).open()
	r.event(asked("c", "git commit -qm x && git push", policy.Verdict{Effect: policy.Ask, Reason: unknown, Parts: parts})).pass(time.Second)
	for _, want := range []string{"▲ git commit -qm x  " + unknown, "▲ git push  it reaches github.com"} {
		if !strings.Contains(r.text(), want) {
			t.Errorf("%q is missing:\n%s", want, r.text())
		}
	}
	if strings.Contains(r.text(), "asks because") || strings.Contains(r.text(), "it reads") {
		t.Errorf("too much is said:\n%s", r.text())
	}
	r = newRig(t, 80, 30).open()
	r.event(asked("c", "git commit -qm x", policy.Verdict{Effect: policy.Ask, Reason: unknown, Parts: parts[:2]})).pass(time.Second)
	if got := r.text(); !strings.Contains(got, "asks because: "+unknown) || strings.Contains(got, "▲ git") && strings.Count(got, unknown) != 1 {
		t.Errorf("one part:\n%s", got)
	}
}

func TestTheOpenSessionIsNotOffered(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.m.s.ID = "a"
	r.keys("'/resume", "enter")
	if got := r.text(); strings.Contains(got, "The first one") || !strings.Contains(got, "❯ A fork of it") {
		t.Errorf("\n%s", got)
	}
}

// live is what the live area says.
func (r *rig) live() string { return draw.TextOf(r.frame()) }

func TestSessionPicker(t *testing.T) {
	r := newRig(t, 100, 30).open()
	r.keys("'/resume", "enter")
	has := func(what string, want ...string) {
		t.Helper()
		got, at := r.live(), 0
		for _, w := range want {
			i := strings.Index(got[at:], w)
			if i < 0 {
				t.Fatalf("%s: %q is missing, or in another order:\n%s", what, w, got)
			}
			at += i
		}
	}
	gone := func(what, word string) {
		t.Helper()
		if got := r.live(); strings.Contains(got, word) {
			t.Errorf("%s: %q is there:\n%s", what, word, got)
		}
	}
	has("a fork is below what it was forked from", "❯ The first one", "└ A fork of it", "Another")
	r.keys("ctrl+b")
	gone("this branch", "Another")
	has("this branch", "The first one", "all branches")
	r.keys("ctrl+b")
	r.keys("'overflow")
	gone("found by its prompt", "Another")
	has("found by its prompt", "The first one")
	r.keys("ctrl+u", "'walrus")
	gone("found by what was said in it", "The first one")
	has("found by what was said in it", "Another", "and then a walrus came")
	r.keys("ctrl+u", "down", "ctrl+v")
	has("the preview", "❯ └ A fork of it", "began c")
	r.keys("down")
	has("the next preview", "began b")
	r.keys("ctrl+r", "'taken", "enter")
	has("refused", "it is open elsewhere")
	r.keys("ctrl+r", "ctrl+u", "'renamed", "enter")
	has("renamed", "❯ renamed")
	r.keys("ctrl+r", "'no", "esc", "ctrl+a")
	has("all projects", "Elsewhere", "this project")
	r.keys("down", "down", "down", "enter")
	r.frame()
	if s := draw.TextOf(r.printed); !strings.Contains(s, "cd /src/web && adze --resume d") {
		t.Errorf("the way to another project is not said:\n%s", s)
	}
	r.keys("'/resume", "enter", "enter")
	if o, ok := r.effects[len(r.effects)-1].(open); !ok || o.start.Resume != "a" {
		t.Errorf("chosen: %+v", r.effects[len(r.effects)-1])
	}
}

// Words after /resume are looked up before the session that is open makes room.
func TestResumeLooksBeforeItLeaves(t *testing.T) {
	for words, want := range map[string]string{
		"qqqq": `there is no session "qqqq"`, "far": "cd /src/web && adze --resume d", "0199": "that session is open here",
	} {
		r := newRig(t, 80, 24).open()
		r.desk.Find = func(_ context.Context, words string) (Saved, error) {
			switch words {
			case "far":
				return Saved{Choice: Choice{ID: "d"}, Elsewhere: "cd /src/web && adze --resume d"}, nil
			case "0199":
				return Saved{Choice: Choice{ID: r.m.s.ID}}, nil
			case "near":
				return Saved{Choice: Choice{ID: "a"}}, nil
			}
			return Saved{}, fmt.Errorf("there is no session %q", words)
		}
		r.keys("'/resume "+words, "enter").has(want)
		opens := func(e effect) bool { _, ok := e.(open); return ok }
		if slices.ContainsFunc(r.effects, opens) {
			t.Errorf("%s: the session that was open is left", words)
		}
		r.keys("'/resume near", "enter")
		if i := slices.IndexFunc(r.effects, opens); i < 0 || r.effects[i].(open).start.Resume != "a" {
			t.Errorf("%s: what fits is not opened: %+v", words, r.effects)
		}
	}
}

// One that is open elsewhere leaves the choice of a copy, and of staying.
func TestResumeOfWhatIsOpenElsewhere(t *testing.T) {
	opened := func(r *rig) (to []Start) {
		for _, e := range r.effects {
			if o, ok := e.(open); ok {
				to = append(to, o.start)
			}
		}
		return to
	}
	r := newRig(t, 80, 24).open()
	r.desk.Find = func(context.Context, string) (Saved, error) {
		return Saved{Choice: Choice{ID: "a"}, Holder: "process 7 has it open"}, nil
	}
	r.keys("'/resume first", "enter").has("process 7 has it open", "Go on in a copy")
	r.keys("down", "enter").hasNot("Go on in a copy")
	if to := opened(r); len(to) > 0 {
		t.Errorf("the session that was open is left for %+v", to)
	}
	r.keys("'/resume first", "enter", "enter")
	if to := opened(r); len(to) != 1 || to[0] != (Start{Resume: "a", Fork: true}) {
		t.Errorf("opened: %+v", to)
	}
}

func TestAnInterruptedTurnGoesOnWithOneKey(t *testing.T) {
	for _, how := range []event.End{event.Interrupted, event.Done} {
		r := newRig(t, 80, 24)
		r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s"}, After: 3}, nil})
		r.event(event.InputAccepted{ID: "i", Text: "do it"}, event.TurnStarted{ID: "t"}, event.TurnEnded{ID: "t", How: how})
		r.keys("enter", "enter")
		got, sent := last[op.Prompt](r)
		if want := how == event.Interrupted; sent != want || want && got.Text != goOn {
			t.Errorf("%s: sent %v, %q", how, sent, got.Text)
		}
	}
}

// A compaction that was interrupted leaves nothing to go on with.
func TestAnInterruptedCompaction(t *testing.T) {
	over := event.TurnEnded{ID: "t", How: event.Interrupted, Reason: event.InterruptedSummary, Err: "x"}
	r := newRig(t, 80, 24).open()
	r.keys("'/compact", "enter").event(event.TurnStarted{ID: "t"})
	r.has("the conversation is being compacted").event(over)
	r.has("The compaction was interrupted: the conversation is as it was.").hasNot("What should be done", "being compacted")

	r = newRig(t, 80, 24)
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s"}, After: 3}, nil})
	r.event(event.InputAccepted{ID: "i", Text: "do it"}, event.TurnStarted{ID: "t"}, over)
	r.hasNot("Enter with an empty prompt goes on with it").keys("enter", "enter")
	if got, sent := last[op.Prompt](r); sent {
		t.Errorf("sent %q", got.Text)
	}
}

// What says that a conversation is being compacted goes when it was.
func TestCompactedIsSaidOnce(t *testing.T) {
	for _, b := range []event.Body{event.Compacted{Trigger: event.CauseAsked}, event.CompactFailed{Why: "w"}} {
		r := newRig(t, 80, 24).open()
		r.keys("'/compact", "enter")
		r.has("is being compacted")
		r.event(b)
		if s := r.live(); strings.Contains(s, "is being compacted") {
			t.Errorf("after %T:\n%s", b, s)
		}
	}
}

// A search never scrolls past the end, and goes on from what it found last.
func TestSearchKeepsThePageFull(t *testing.T) {
	r := newRig(t, 60, 12).open()
	for i := range 30 {
		word := "line"
		if i >= 27 {
			word = "needle"
		}
		r.event(event.InputAccepted{ID: string(rune('a' + i)), Text: strings.Repeat(word+" ", 3)})
	}
	r.frame()
	r.keys("ctrl+o", "g", "/", "'needle", "enter")
	full := draw.TextOf(r.frame())
	if strings.Count(full, "needle") != 9 || strings.Count(full, "line") < 6 {
		t.Errorf("the page is not full:\n%s", full)
	}
	for range 3 { // around, over all three of them
		r.keys("n")
	}
	if r.m.pager.wrong != "" || r.m.pager.hit.item < 27 {
		t.Errorf("at %+v, %q", r.m.pager.hit, r.m.pager.wrong)
	}
	first := r.m.pager.hit
	r.keys("n")
	if r.m.pager.hit == first {
		t.Error("n found the same line again")
	}
}

func TestThemesAreShownOnCode(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'/theme ", "enter")
	if got := r.text(); !strings.Contains(got, "for i := range nums {") || !strings.Contains(got, "light-colorblind") {
		t.Errorf("\n%s", got)
	}
	r.m.screen.size.Rows = 12
	if got := r.text(); strings.Contains(got, "range nums") || !strings.Contains(got, "❯ auto") {
		t.Errorf("on a small screen:\n%s", got)
	}
}

// A picture is not printed before it is ready, stands where its prompt or call
// is, and one that cannot be read holds up nothing.
func TestPicturesWaitToBePrinted(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, 80, 24).open()
	r.m.screen.canvas = canvas{on: true, how: picture.Kitty}
	held := r.m.update(r.now, eventsMsg{of: r.m.s, events: []event.Event{{Seq: 1, Body: event.InputAccepted{
		ID: "i", Text: "[Image 1] [Image 2]", Images: []op.Image{{Media: "image/png", Data: file.Bytes()}, {Media: "image/png", Data: []byte("none")}},
	}}}})
	r.frame()
	if s := draw.TextOf(r.printed); strings.Contains(s, "[Image 1]") {
		t.Errorf("printed without its picture:\n%s", s)
	}
	r.carry(held)
	before := len(r.printed)
	r.frame()
	if s := draw.TextOf(r.printed[before:]); !strings.Contains(s, "[Image 1]") || len(r.m.placed) != 1 {
		t.Fatalf("%d pictures in\n%s", len(r.m.placed), s)
	}
	f := r.m.placed[0]
	if !bytes.HasPrefix(f.Seq, []byte("\x1b[4C\x1b_G")) || len(f.Lines) == 0 || before+f.at+len(f.Lines) != len(r.printed) {
		t.Errorf("%d lines at %d of %d, as %.20q", len(f.Lines), f.at, len(r.printed)-before, f.Seq)
	}
	r.event(event.InputAccepted{ID: "j", Text: "next"})
	if r.frame(); len(r.m.placed) != 0 {
		t.Error("the picture is printed twice")
	}
}

// The newest pictures of an earlier run are drawn again, where what they belong
// to is.
func TestPicturesOfAnEarlierRun(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	var es []event.Body
	for i := range 100 {
		p := event.InputAccepted{ID: fmt.Sprint(i), Text: fmt.Sprintf("said %d [Image 1]", i)}
		if i < 4 || i > 88 && i%2 == 0 {
			p.Images = []op.Image{{Media: "image/png", Data: file.Bytes()}}
		}
		es = append(es, p, event.TurnStarted{ID: fmt.Sprint("t", i)},
			event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "yes"}}}}, event.TurnEnded{ID: fmt.Sprint("t", i)})
	}
	r := newRig(t, 80, 24)
	r.m.screen.canvas = canvas{on: true}
	r.do(openedMsg{&Session{Facts: ask.Facts{Dir: "~/src/calc", Model: "m/x"}, After: event.Seq(len(es))}, nil})
	r.event(es...)
	r.frame()
	drawn := 0
	for i, it := range r.m.story.Items {
		if drawn += len(it.Figures); len(it.Figures) > 0 && i < len(r.m.story.Items)-recent {
			t.Errorf("the picture of item %d of %d is drawn", i, len(r.m.story.Items))
		}
	}
	if drawn != 5 || len(r.m.placed) != 5 || r.m.hung != nil {
		t.Errorf("%d pictures are drawn, %d printed, %d kept", drawn, len(r.m.placed), len(r.m.hung))
	}
}

func TestThinkingSwitch(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("alt+t")
	if got, _ := last[op.SetEffort](r); got.Level != "none" {
		t.Errorf("off is %+v", got)
	}
	r.has("no thinking")
	r.keys("alt+t")
	if got, _ := last[op.SetEffort](r); got.Level != "" || r.m.effort != "" {
		t.Errorf("on is %+v", got)
	}
}

// With the whole screen, the prompt stays at its end, the conversation scrolls
// above it, and all of it is printed for when adze ends.
func TestFullscreen(t *testing.T) {
	r := newRig(t, 60, 16)
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Dir: "~/x"}, UI: Settings{Fullscreen: true}}, nil})
	if e := r.effects[len(r.effects)-1]; !slices.ContainsFunc(r.effects, func(e effect) bool { f, ok := e.(full); return ok && f.on }) {
		t.Errorf("the screen was not taken: %+v", e)
	}
	check := func(what string) string {
		t.Helper()
		lines := r.frame()
		if len(lines) != 16 || !strings.HasPrefix(lines[12].String(), "╭") {
			t.Errorf("%s: %d lines:\n%s", what, len(lines), draw.TextOf(lines))
		}
		return draw.TextOf(lines)
	}
	if s := check("empty"); !strings.Contains(s, "adze 1.2.3") {
		t.Errorf("no first line:\n%s", s)
	}
	for i := range 30 {
		r.event(event.InputAccepted{ID: fmt.Sprint("i", i), Text: fmt.Sprint("said ", i, ".")})
	}
	if s := check("at the end"); !strings.Contains(s, "said 29.") || strings.Contains(s, "said 3.") || strings.Contains(s, "more below") {
		t.Errorf("at the end:\n%s", s)
	}
	r.keys("pgup")
	r.do(mouseMsg{-3})
	if s := check("above"); strings.Contains(s, "said 29.") || !strings.Contains(s, "more below") {
		t.Errorf("above:\n%s", s)
	}
	r.event(event.InputAccepted{ID: "more", Text: "said while looking back"})
	if s := check("above"); strings.Contains(s, "while looking back") {
		t.Errorf("it jumped:\n%s", s)
	}
	r.keys("'next", "enter")
	if s := check("after a prompt"); !strings.Contains(s, "while looking back") {
		t.Errorf("a prompt does not go to the end:\n%s", s)
	}
	r.keys("ctrl+o", "q")
	if f, ok := r.effects[len(r.effects)-1].(full); !ok || !f.on {
		t.Errorf("the transcript gave the screen away: %+v", r.effects[len(r.effects)-1])
	}
	for i := range 30 {
		if n := strings.Count(draw.TextOf(r.printed), fmt.Sprint("said ", i, ".")); n != 1 {
			t.Errorf("what was said as number %d is printed %d times", i, n)
		}
	}
}

// What was drawn for good before the screen became narrower, and is printed
// after it, is wrapped: it does not come again.
func TestNothingIsCutOfWhatIsPrinted(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.event(event.InputAccepted{ID: "i", Text: "go"}, event.TurnStarted{ID: "t"}, event.ReplyStarted{}, event.TextDelta{S: "first"})
	r.frame()
	r.event(event.TextDelta{At: 5, S: strings.Repeat(" word", 13) + " last\n\nmore\n\nand"})
	r.do(sizeMsg{term.Size{Cols: 50, Rows: 24}})
	r.frame()
	if s := draw.TextOf(r.printed); !strings.Contains(s, "last") {
		t.Errorf("printed was\n%s", s)
	}
}
