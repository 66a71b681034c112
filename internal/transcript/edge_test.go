package transcript_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// What a prompt brings stands behind it, without empty parts, and a queued one
// that is accepted in few words is taken from the queue.
func TestPromptsBringWhatTheyName(t *testing.T) {
	img := llm.Image{Media: "image/png", Data: []byte("x")}
	queued := event.InputQueued{ID: "q", Text: "look", Images: []llm.Image{img}, Attached: []event.Attached{{Text: "the file"}, {Images: []llm.Image{img}}}}
	for name, accepted := range map[string]event.InputAccepted{
		"whole":  {ID: "q", Text: "look", Images: queued.Images, Attached: queued.Attached},
		"by id":  {ID: "q"},
		"hidden": {ID: "q", Hidden: true},
	} {
		s := fold(event.SessionStarted{ID: "id", Dir: "/d"}, queued, accepted)
		want := []llm.Part{img, llm.Text{S: "look"}, llm.Text{S: "the file"}, img}
		if d := cmp.Diff([]llm.Message{{Role: llm.User, Parts: want}}, s.Messages()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		first := "look"
		if accepted.Hidden {
			first = ""
		}
		if len(s.Queue) != 0 || s.First != first || s.Last != first {
			t.Errorf("%s: queue %v, first %q, last %q", name, s.Queue, s.First, s.Last)
		}
	}
	if s := fold(event.SessionStarted{ID: "id"}, queued, event.InputAccepted{ID: "other", Text: "x"}, event.InputRemoved{ID: "nosuch"}); len(s.Queue) != 1 || len(s.Messages()) != 1 || len(s.Messages()[0].Parts) != 1 {
		t.Errorf("%v %v", s.Queue, s.Messages())
	}
}

// A file that is seen again is one file, as it was seen last, however many
// there are.
func TestFilesAreSeenAgain(t *testing.T) {
	s := fold(event.SessionStarted{ID: "id"})
	for round := range 2 {
		for i := range 500 {
			s = s.Apply(event.Event{Seq: s.Seq + 1, Body: event.ToolFinished{Call: "c", Effects: []effect.Effect{effect.Saw{Files: []effect.File{{Path: fmt.Sprint("/f", i), Size: int64(round)}}}}}})
		}
	}
	n := 0
	for path, f := range s.Files() {
		if n++; f.Size != 1 || f.Path != path {
			t.Errorf("%s: %+v", path, f)
		}
	}
	if n != 500 {
		t.Errorf("%d files", n)
	}
	if _, ok := s.File("/f500"); ok {
		t.Error("a file that nobody saw")
	}
}
