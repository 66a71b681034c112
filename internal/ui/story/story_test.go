package story_test

import (
	"strings"
	"testing"

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

func TestChange(t *testing.T) {
	got := draw.TextOf(story.Paper{O: draw.Options{Width: 40}}.Change(view.Diff{Path: "a.go", Unified: "@@ -1 +1 @@\n-a\n+b\n", Added: 1, Removed: 1}))
	if !strings.HasPrefix(got, "✎ Edit   a.go") || !strings.Contains(got, "+1 −1") || !strings.Contains(got, "1 + b") {
		t.Errorf("\n%s", got)
	}
}
