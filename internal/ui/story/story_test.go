package story_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// Next gives each item once, in order, and what is not settled yet later.
func TestNext(t *testing.T) {
	s, p := story.New(), story.Paper{O: draw.Options{Width: 60}}
	got := ""
	for i, b := range []event.Body{
		event.InputAccepted{ID: "p", Text: "Do it."}, event.TurnStarted{ID: "t"},
		event.ToolStarted{Call: "1", Name: "Bash", Title: "Bash: Try"},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "I try."}, llm.ToolUse{ID: "1", Name: "Bash"}}}},
		event.ToolFinished{Call: "1", Name: "Bash", View: view.Terminal{Command: "true", Output: "ok\n"}}, event.TurnEnded{ID: "t"},
	} {
		s.Apply(event.Event{Seq: event.Seq(i + 1), Body: b})
		for _, l := range s.Next(p) {
			got += strings.TrimRight(l.String(), " ") + "\n"
		}
		if _, ok := b.(event.ToolStarted); ok && strings.Contains(got, "Bash") {
			t.Error("a call that runs was drawn for good")
		}
	}
	if want := "› Do it.\n\n● I try.\n✓ Bash   true\n  │ ok\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWhoComesInTheMiddle: who begins to read in the middle of a reply is told it once, as a whole.
func TestWhoComesInTheMiddle(t *testing.T) {
	for name, pieces := range map[string][]event.Body{
		"before its text":     {event.TextDelta{S: "One. "}, event.TextDelta{At: 5, S: "Two."}},
		"in its text":         {event.TextDelta{At: 5, S: "Two."}, event.PartDone{Part: llm.Text{S: "One. Two."}}},
		"behind its thinking": {event.PartDone{Part: llm.Thinking{S: "Hm."}}, event.TextDelta{S: "One. Two."}},
	} {
		s, p, got := story.New(), story.Paper{O: draw.Options{Width: 60}}, ""
		bodies := append([]event.Body{event.TurnStarted{ID: "t"}}, pieces...)
		bodies = append(bodies, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "One. Two."}}}},
			event.ReplyStarted{}, event.TextDelta{S: "Three."}, event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{S: "Three."}}}}, event.TurnEnded{ID: "t"})
		for i, b := range bodies {
			s.Apply(event.Event{Seq: event.Seq(i + 1), Body: b})
			for _, l := range s.Next(p) {
				got += strings.TrimRight(l.String(), " ") + "\n"
			}
		}
		if want := "● One. Two.\n\n● Three.\n"; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// Calls that only look fold into one line in whatever order they start.
func TestFoldsWhatStartsOutOfOrder(t *testing.T) {
	for _, order := range []string{"123", "132", "213", "312", "321"} {
		s, p, seq := story.New(), story.Paper{O: draw.Options{Width: 60}}, event.Seq(0)
		apply := func(b event.Body) {
			seq++
			s.Apply(event.Event{Seq: seq, Body: b})
		}
		apply(event.TurnStarted{ID: "t"})
		var parts []llm.Part
		for _, id := range []string{"1", "2", "3"} {
			parts = append(parts, llm.ToolUse{ID: id, Name: "Read"})
		}
		apply(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: parts}})
		for _, id := range order {
			apply(event.ToolStarted{Call: string(id), Name: "Read", Title: "Read f" + string(id), Fold: "file"})
		}
		for _, id := range order {
			apply(event.ToolFinished{Call: string(id), Name: "Read"})
		}
		apply(event.TurnEnded{ID: "t"})
		lines := s.Next(p)
		if len(lines) != 1 || !strings.Contains(lines[0].String(), "3 files") {
			t.Errorf("%s:\n%s", order, draw.TextOf(lines))
		}
	}
}

// Whether a call runs a command is what its event says, whatever its name is.
func TestShell(t *testing.T) {
	s := story.New()
	for i, b := range []event.Body{
		event.TurnStarted{ID: "t"},
		event.ToolStarted{Call: "1", Name: "mcp__x__run", Shell: true},
		event.ToolStarted{Call: "2", Name: "Bash"},
	} {
		s.Apply(event.Event{Seq: event.Seq(i + 1), Body: b})
	}
	if !s.ByID["1"].Shell() || s.ByID["2"].Shell() {
		t.Error(s.ByID["1"].Shell(), s.ByID["2"].Shell())
	}
}

// A question that a running command raised ends with its turn or with the command,
// whichever is told first: nobody waits for its answer, and nobody refused it.
func TestQuestionsEndWithTheirCommand(t *testing.T) {
	withdrawn := event.Answered{By: event.By{Kind: event.ByInterrupt}}
	withdrawn.Call = "x1"
	for name, end := range map[string][]event.Body{
		"turn first":     {event.TurnEnded{ID: "t", How: event.Interrupted}, withdrawn},
		"turn alone":     {event.TurnEnded{ID: "t", How: event.Interrupted}},
		"question first": {withdrawn, event.TurnEnded{ID: "t", How: event.Interrupted}},
	} {
		s, p := story.New(), story.Paper{O: draw.Options{Width: 70}}
		for i, b := range append([]event.Body{
			event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t"}, event.ToolStarted{Call: "1", Name: "Bash", Title: "Bash: fetch"},
			event.Asked{Call: "x1", Tool: "Net", Title: "Connect to new.example:443", View: view.Text{S: "A command connects."}},
		}, end...) {
			s.Apply(event.Event{Seq: event.Seq(i + 1), Body: b})
		}
		out := draw.TextOf(s.Next(p))
		if !strings.Contains(out, "no longer asked") || strings.Contains(out, "waits for") || strings.Contains(out, "refused") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

func TestChange(t *testing.T) {
	got := draw.TextOf(story.Paper{O: draw.Options{Width: 40}}.Change(view.Diff{Path: "a.go", Unified: "@@ -1 +1 @@\n-a\n+b\n", Added: 1, Removed: 1}))
	if !strings.HasPrefix(got, "✎ Edit   a.go") || !strings.Contains(got, "+1 −1") || !strings.Contains(got, "1 + b") {
		t.Errorf("\n%s", got)
	}
}

// A call that a hook put off waits: it is not one that was interrupted, and it is
// seen to go on.
func TestPutOff(t *testing.T) {
	begin := []event.Body{
		event.SessionStarted{ID: "s1"}, event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t"},
		event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "1", Name: "Bash", Input: []byte(`{"command":"touch ran"}`)}}}},
		event.TurnEnded{ID: "t", How: event.Done, Reason: event.ToolDeferred}, event.TurnStarted{ID: "t2"},
	}
	ran := event.ToolFinished{Call: "1", Name: "Bash", View: view.Terminal{Command: "touch ran", Output: "it ran\n"}}
	for name, rest := range map[string][]event.Body{
		"runs":       {event.ToolStarted{Call: "1", Name: "Bash"}, ran},
		"is asked":   {event.Asked{Call: "1", Tool: "Bash"}},
		"is refused": {event.ToolFinished{Call: "1", Name: "Bash", Denied: true, IsErr: true}},
	} {
		for _, printed := range []bool{false, true} {
			s, p := story.New(), story.Paper{O: draw.Options{Width: 70}}
			out := ""
			for i, b := range slices.Concat(begin, rest) {
				s.Apply(event.Event{Seq: event.Seq(i + 1), Body: b})
				if i != len(begin)-2 {
					continue
				}
				off := draw.TextOf(p.Item(s.Items[1]))
				if strings.Contains(off, "interrupted") || !strings.Contains(off, "put off") || !strings.Contains(off, "adze -p --resume s1") {
					t.Errorf("%s: while it waits:\n%s", name, off)
				}
				if printed {
					out = draw.TextOf(s.Next(p))
				}
			}
			for _, it := range s.Items[s.Printed:] {
				out += draw.TextOf(p.Item(it))
			}
			want := map[string]string{"runs": "it ran", "is asked": "waits for your answer", "is refused": "refused"}[name]
			if !strings.Contains(out, want) || strings.Contains(out, "put off") != printed {
				t.Errorf("%s, printed %v:\n%s", name, printed, out)
			}
		}
	}
}

// A call can be over before the reply that makes it is whole. Where nothing streams,
// what the reply said stands above the call, and each of both once.
func TestCallsThatAreOverBeforeTheirReply(t *testing.T) {
	s := story.New()
	var out strings.Builder
	feed := func(bodies ...event.Body) {
		for _, b := range bodies {
			s.Apply(event.Event{Body: b})
			for _, l := range s.NextButLast(story.Paper{O: draw.Options{Width: 80}}) {
				out.WriteString(l.String() + "\n")
			}
		}
	}
	feed(event.TurnStarted{ID: "t"})
	for _, n := range []string{"1", "2"} {
		feed(event.ToolFinished{Call: n, Name: "Edit", Text: "there is no file " + n, IsErr: true}, event.Noted{Level: "info", Text: "a note " + n},
			event.Replied{Message: llm.Message{Parts: []llm.Part{llm.Text{S: "I say " + n}, llm.ToolUse{ID: n, Name: "Edit"}}}})
	}
	feed(event.ToolStarted{Call: "3", Name: "Bash", Title: "Bash ls"}, event.ToolFinished{Call: "3", Name: "Bash"},
		event.Replied{Message: llm.Message{Parts: []llm.Part{llm.Text{S: "I say 3"}, llm.ToolUse{ID: "3", Name: "Bash"}}}}, event.TurnEnded{ID: "t", How: event.Done})
	got := out.String()
	at := -1
	for _, want := range []string{"I say 1", "there is no file 1", "I say 2", "there is no file 2", "I say 3", "Bash"} {
		i := strings.Index(got, want)
		if i <= at || strings.Count(got, want) != 1 {
			t.Errorf("%q is not once and in its order in\n%s", want, got)
		}
		at = i
	}
}

// Of a reply that is told anew, what was noted before it began stands above it, and what
// was noted while it streamed below.
func TestNotesOfARetoldReply(t *testing.T) {
	at := time.Unix(100, 0)
	s := story.New()
	for _, e := range []event.Event{
		{Time: at, Body: event.TurnStarted{ID: "t"}},
		{Time: at, Body: event.Noted{Level: "info", Text: "why it began"}},
		{Time: at.Add(5 * time.Second), Body: event.Noted{Level: "info", Text: "meanwhile"}},
		{Time: at.Add(6 * time.Second), Body: event.Replied{Message: llm.Message{Parts: []llm.Part{llm.Text{S: "said"}}}, First: time.Second, Took: 6 * time.Second}},
	} {
		s.Apply(e)
	}
	var got []string
	for _, it := range s.Items {
		got = append(got, it.Text)
	}
	if want := []string{"why it began", "said", "meanwhile"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// What a reply said that broke off is not printed for good until it is known whether
// another comes.
func TestNothingInDoubtIsPrinted(t *testing.T) {
	for name, c := range map[string]struct {
		then []event.Body
		want string
	}{
		"another comes": {[]event.Body{event.Retracted{}, event.ReplyStarted{}, event.TextDelta{S: "whole"}, event.PartDone{Part: llm.Text{S: "whole"}}}, "● whole\n"},
		"none comes":    {[]event.Body{event.Replied{Message: llm.Message{Parts: []llm.Part{llm.Text{S: "half"}}}}}, "● half\n"},
		"it is over":    {[]event.Body{event.TurnEnded{How: event.Done}}, "● half\n"},
	} {
		s, p := story.New(), story.Paper{O: draw.Options{Width: 70}}
		for _, b := range []event.Body{event.TurnStarted{ID: "t"}, event.ReplyStarted{}, event.TextDelta{S: "half"}, event.PartDone{Part: llm.Text{S: "half"}}, event.Waiting{}} {
			s.Apply(event.Event{Body: b})
		}
		got := draw.TextOf(s.Next(p))
		for _, b := range c.then {
			s.Apply(event.Event{Body: b})
		}
		if got += draw.TextOf(s.Next(p)); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
