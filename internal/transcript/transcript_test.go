package transcript_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/usage"
	"github.com/adze-agent/adze/internal/view"
)

func fold(bs ...event.Body) transcript.State {
	var s transcript.State
	for i, b := range bs {
		s = s.Apply(event.Event{Seq: event.Seq(i + 1), Body: b})
	}
	return s
}

func user(ps ...llm.Part) llm.Message { return llm.Message{Role: llm.User, Parts: ps} }
func model(ps ...llm.Part) llm.Message {
	return llm.Message{Role: llm.Assistant, Parts: ps}
}
func text(s string) llm.Part { return llm.Text{S: s} }
func use(id string) llm.Part {
	return llm.ToolUse{ID: id, Name: "Read", Input: json.RawMessage(`{"file_path":"/f/` + id + `"}`)}
}
func result(id, s string) llm.Part { return llm.ToolResult{ID: id, Text: s} }
func stopped(id string) llm.Part {
	return llm.ToolResult{ID: id, Text: "interrupted", IsErr: true}
}

func in(s string) event.Body           { return event.InputAccepted{ID: s, Text: s} }
func hidden(s string) event.Body       { return event.InputAccepted{Text: s, Hidden: true} }
func reply(ps ...llm.Part) event.Body  { return event.Replied{Message: model(ps...), Stop: llm.EndTurn} }
func finished(id, s string) event.Body { return event.ToolFinished{Call: id, Name: "Read", Text: s} }

var (
	begin = event.TurnStarted{ID: "t1", Model: "m"}
	end   = event.TurnEnded{ID: "t1", How: event.Done}
	cut   = event.TurnEnded{ID: "t1", How: event.Interrupted}
)

func TestMessages(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []event.Body
		want []llm.Message
	}{
		{"nothing", nil, nil},
		{"a prompt", []event.Body{in("a"), begin}, []llm.Message{user(text("a"))}},
		{
			"prompts in a row are one message",
			[]event.Body{in("a"), begin, end, in("b"), begin},
			[]llm.Message{user(text("a"), text("b"))},
		},
		{
			"images come before their text",
			[]event.Body{event.InputAccepted{Text: "a", Images: []llm.Image{{Media: "image/png"}}}},
			[]llm.Message{user(llm.Image{Media: "image/png"}, text("a"))},
		},
		{
			"of a refused turn, what was asked and the reply are left out",
			[]event.Body{in("a"), begin, reply(text("x"), use("1")), finished("1", "r"), reply(text("y")), end, in("b"), begin, reply(use("2")), finished("2", "done"), in("steered"), reply(use("4")), finished("4", "too"),
				event.Replied{Message: model(text("no"), use("3")), Stop: llm.Refused}, finished("3", "late"), end, in("c"), begin},
			[]llm.Message{user(text("a")), model(text("x"), use("1")), user(result("1", "r")), model(text("y")), user(text(transcript.LeftOut)), model(use("2")), user(result("2", "done")),
				model(use("4")), user(result("4", "too"), text(transcript.Refused), text("c"))},
		},
		{
			"what else is in a refused turn's input stays",
			[]event.Body{hidden("h"), in("b"), begin, event.Replied{Message: model(text("no")), Stop: llm.Refused}, end},
			[]llm.Message{user(text("h"), text(transcript.LeftOut))},
		},
		{
			"what a call of the refused reply came to stays",
			[]event.Body{in("b"), begin, finished("3", "early"), event.Replied{Message: model(use("3")), Stop: llm.Refused}, end},
			[]llm.Message{user(text(transcript.LeftOut), text("[a call had run before: early]"), text(transcript.Refused))},
		},
		{
			"results that were cut stand as they are sent",
			[]event.Body{
				in("a"), begin, reply(use("1"), use("2"), use("3")), finished("1", "long"), finished("2", "whole"), finished("3", "longer"),
				event.Bounded{Results: []event.Cut{{Call: "1", Text: "lo…"}, {Call: "3", Text: "…er"}}},
			},
			[]llm.Message{user(text("a")), model(use("1"), use("2"), use("3")), user(result("1", "lo…"), result("2", "whole"), result("3", "…er"))},
		},
		{
			"what nobody answered before a place that was gone back to is left out with the refused prompt",
			[]event.Body{
				in("a"), begin, cut, in("b"), begin, cut, event.Rewound{To: 4, ID: "b", Conversation: true},
				in("c"), begin, event.Replied{Message: model(text("no")), Stop: llm.Refused}, end,
			},
			[]llm.Message{user(text(transcript.LeftOut))},
		},
		{
			"refused again, and nothing of both turns is left",
			[]event.Body{in("a"), begin, reply(use("1")), finished("1", "r"), event.Replied{Stop: llm.Refused}, end, in("b"), begin, event.Replied{Stop: llm.Refused}, end, in("c")},
			[]llm.Message{user(text(transcript.AllLeftOut), text("c"))},
		},
		{
			"a reply between two refused turns keeps the first one's work",
			[]event.Body{in("a"), begin, reply(use("1")), finished("1", "r"), event.Replied{Stop: llm.Refused}, end, in("b"), begin, reply(text("fine")), end, in("c"), begin, event.Replied{Stop: llm.Refused}, end},
			[]llm.Message{user(text(transcript.LeftOut)), model(use("1")), user(result("1", "r"), text(transcript.Refused), text("b")), model(text("fine")), user(text(transcript.LeftOut))},
		},
		{
			"a prompt that nobody answered goes with the refused one",
			[]event.Body{in("a"), begin, end, in("b"), begin, event.Replied{Stop: llm.Refused}, end},
			[]llm.Message{user(text(transcript.LeftOut))},
		},
		{
			"two refused turns leave one line, and the first one nothing before it",
			[]event.Body{in("a"), begin, event.Replied{Message: model(text("no")), Stop: llm.Refused}, end, in("b"), begin, event.Replied{Stop: llm.Refused}, end},
			[]llm.Message{user(text(transcript.AllLeftOut))},
		},
		{
			"results of a turn that was broken off stay beside one that was refused",
			[]event.Body{in("a"), begin, reply(use("1")), end, in("b"), begin, event.Replied{Message: model(text("no")), Stop: llm.Refused}, end},
			[]llm.Message{user(text("a")), model(use("1")), user(stopped("1"), text(transcript.LeftOut))},
		},
		{
			"what a conversation begins with stays beside a refused turn",
			[]event.Body{in("a"), begin, event.Compacted{Text: "the plan"}, end, in("b"), begin, event.Replied{Message: model(text("no")), Stop: llm.Refused}, end},
			[]llm.Message{user(text("the plan"), text(transcript.LeftOut))},
		},
		{
			"results stand in the order of the calls",
			[]event.Body{in("a"), begin, reply(text("x"), use("1"), use("2"), use("3")), finished("3", "c"), finished("1", "a"), finished("2", "b")},
			[]llm.Message{user(text("a")), model(text("x"), use("1"), use("2"), use("3")), user(result("1", "a"), result("2", "b"), result("3", "c"))},
		},
		{
			"what is said while calls run comes after their results",
			[]event.Body{in("a"), begin, reply(use("1"), use("2")), finished("2", "b"), in("s1"), finished("1", "a"), hidden("h"), reply(text("ok"))},
			[]llm.Message{user(text("a")), model(use("1"), use("2")), user(result("1", "a"), result("2", "b"), text("s1"), text("h")), model(text("ok"))},
		},
		{
			"results may come before their reply",
			[]event.Body{in("a"), begin, event.ToolStarted{Call: "1"}, finished("1", "a"), reply(use("1"), use("2")), finished("2", "b")},
			[]llm.Message{user(text("a")), model(use("1"), use("2")), user(result("1", "a"), result("2", "b"))},
		},
		{
			"TestFault52: calls without a result",
			[]event.Body{in("a"), begin, reply(use("1"), use("2"), use("3")), finished("2", "b"), cut, in("go on")},
			[]llm.Message{user(text("a")), model(use("1"), use("2"), use("3")), user(stopped("1"), result("2", "b"), stopped("3"), text("go on"))},
		},
		{
			"while calls run the conversation is whole all the same",
			[]event.Body{in("a"), begin, reply(use("1"), use("2")), finished("2", "b")},
			[]llm.Message{user(text("a")), model(use("1"), use("2")), user(stopped("1"), result("2", "b"))},
		},
		{
			"a dropped reply leaves no trace",
			[]event.Body{
				in("a"), begin, event.ToolStarted{Call: "1"}, event.ToolStarted{Call: "2"}, finished("1", "x"),
				event.Dropped{Calls: []string{"1", "2"}}, finished("2", "late"), reply(text("ok")),
			},
			[]llm.Message{user(text("a")), model(text("ok"))},
		},
		{
			"a dropped call whose ID comes again",
			[]event.Body{
				in("a"), begin, event.ToolStarted{Call: "1"}, event.Dropped{Calls: []string{"1"}}, finished("1", "late"),
				event.ToolStarted{Call: "1"}, finished("1", "good"), reply(use("1")),
			},
			[]llm.Message{user(text("a")), model(use("1")), user(result("1", "good"))},
		},
		{
			"cut off, and asked to go on",
			[]event.Body{in("a"), begin, event.Replied{Message: model(text("half")), Stop: llm.MaxTokens}, hidden("resume"), reply(text("rest"))},
			[]llm.Message{user(text("a")), model(text("half")), user(text("resume")), model(text("rest"))},
		},
		{
			"a paused reply and its continuation are one message",
			[]event.Body{in("a"), begin, event.Replied{Message: model(text("half")), Stop: llm.Paused}, reply(text("rest"))},
			[]llm.Message{user(text("a")), model(text("half"), text("rest"))},
		},
		{
			"an empty reply is none",
			[]event.Body{in("a"), begin, reply(), reply(text(" \n")), end, in("b")},
			[]llm.Message{user(text("a"), text("b"))},
		},
		{
			"the same call ID in two replies",
			[]event.Body{in("a"), begin, reply(use("1")), finished("1", "x"), reply(use("1")), finished("1", "y")},
			[]llm.Message{user(text("a")), model(use("1")), user(result("1", "x")), model(use("1")), user(result("1", "y"))},
		},
		{
			"the same call ID twice in a reply",
			[]event.Body{in("a"), begin, reply(use("1"), use("1")), finished("1", "x"), finished("1", "y")},
			[]llm.Message{user(text("a")), model(use("1"), use("1")), user(result("1", "x"), result("1", "y"))},
		},
		{
			"a result twice",
			[]event.Body{in("a"), begin, reply(use("1"), use("2")), finished("1", "x"), finished("1", "again"), finished("2", "y"), reply(text("ok"))},
			[]llm.Message{user(text("a")), model(use("1"), use("2")), user(result("1", "x"), result("2", "y")), model(text("ok"))},
		},
		{
			"TestFault04: the line of a result is lost",
			[]event.Body{in("a"), begin, reply(use("1")), reply(text("ok"))},
			[]llm.Message{user(text("a")), model(use("1")), user(stopped("1")), model(text("ok"))},
		},
		{
			"TestFault04: the first prompt is lost",
			[]event.Body{begin, reply(text("ok"))},
			[]llm.Message{user(text("[the beginning of the conversation could not be read]")), model(text("ok"))},
		},
		{
			"TestFault04: the line of a reply is lost",
			[]event.Body{in("a"), begin, finished("1", "x"), end, in("b")},
			[]llm.Message{user(text("a"), text("b"))},
		},
		{
			"a queued prompt is no part before it is accepted",
			[]event.Body{
				in("a"), begin, event.InputQueued{ID: "q1", Text: "one"}, event.InputQueued{ID: "q2", Text: "two"}, reply(use("1")), finished("1", "x"),
				event.InputAccepted{ID: "q2", Text: "two", Steer: true}, event.InputRemoved{ID: "q1"},
			},
			[]llm.Message{user(text("a")), model(use("1")), user(result("1", "x"), text("two"))},
		},
		{
			"cleared and stripped",
			[]event.Body{
				event.InputAccepted{Text: "a", Images: []llm.Image{{Media: "image/png"}}}, begin, reply(use("1"), use("2")),
				finished("1", "long"), event.ToolFinished{Call: "2", Text: "b", Images: []llm.Image{{Media: "image/png"}}},
				event.Cleared{Calls: []string{"1"}}, event.Stripped{}, in("b"),
			},
			[]llm.Message{
				user(text("[an image was removed here: image/png]"), text("a")), model(use("1"), use("2")),
				user(result("1", "[the result of Read /f/1 was cleared to save room; Read result:1 has it as it was]"),
					result("2", "b\n[1 images were removed here]"), text("b")),
			},
		},
	} {
		s := fold(c.in...)
		got := s.Messages()
		if len(got) == 0 {
			got = nil
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestEntriesNameTheirEvents(t *testing.T) {
	s := fold(in("a"), begin, reply(use("1"), use("2")), finished("2", "b"), in("s"), finished("1", "a"))
	var got [][]event.Seq
	for _, e := range s.Entries() {
		got = append(got, e.From)
	}
	if d := cmp.Diff([][]event.Seq{{1}, {3, 3}, {6, 4, 5}}, got); d != "" {
		t.Error(d)
	}
}

func TestState(t *testing.T) {
	s := fold(
		event.SessionStarted{ID: "id", Dir: "/d", Root: "/r", Branch: "b", Parent: "p", Version: "1"},
		in("first"), begin, event.InputQueued{ID: "q", Text: "queued"},
		reply(use("1"), use("2"), use("3")),
		event.Asked{Call: "1", Tool: "Bash"}, event.Asked{Call: "2"},
		event.Answered{Answer: op.Answer{Call: "1", Allow: true, Rules: []string{"Bash(ls *)"}}},
		event.Answered{Answer: op.Answer{Call: "2", Rules: []string{"not granted"}}},
		event.ToolStarted{Call: "1"}, event.ToolStarted{Call: "3"},
		event.ToolFinished{Call: "1", Name: "Bash", Effects: []effect.Effect{effect.Dir{Path: "/d/sub"}, effect.Saw{Files: []effect.File{{Path: "/f", Hash: "h1"}}}}},
		event.ToolFinished{Call: "2", Name: "Bash", Denied: true, Input: json.RawMessage(`{}`)},
		event.Titled{Title: "T"}, event.Asked{Call: "3"},
		event.ToolsChanged{Removed: []string{"a", "b"}}, event.ToolsChanged{Added: []string{"a"}, Removed: []string{"c"}},
	)
	if d := cmp.Diff([]string{"b", "c"}, s.Gone); d != "" {
		t.Error(d)
	}
	if s.Start != "/d" || s.Dir != "/d/sub" || s.Root != "/r" || s.Title != "T" {
		t.Errorf("got %+v", s)
	}
	if s.Running != "t1" || s.Model != "m" || len(s.Turn.Denials) != 1 {
		t.Errorf("turn %+v", s.Turn)
	}
	if len(s.Pending) != 1 || len(s.Started) != 1 || len(s.Queue) != 1 || len(s.Open()) != 1 || s.Open()[0].ID != "3" {
		t.Errorf("pending %v, started %v, queue %v, open %v", s.Pending, s.Started, s.Queue, s.Open())
	}
	if d := cmp.Diff([]string{"Bash(ls *)"}, s.Rules); d != "" {
		t.Error(d)
	}
	if f, ok := s.File("/f"); !ok || f.Hash != "h1" {
		t.Errorf("file %+v", f)
	}
	mid := s
	for i, b := range []event.Body{cut, event.InputAccepted{ID: "q", Text: "queued"}, event.Resumed{Dir: "/d"}} {
		s = s.Apply(event.Event{Seq: 100 + event.Seq(i), Body: b})
	}
	if s.Running != "" || len(s.Pending)+len(s.Started)+len(s.Queue)+len(s.Open()) != 0 || s.Turn.End.How != event.Interrupted {
		t.Errorf("after the end: %+v", s)
	}
	if s.First != "first" || s.Last != "queued" || s.Dir != "/d/sub" || s.Seq != 102 || s.Turns != 1 {
		t.Errorf("got %+v", s)
	}
	if mid.Running != "t1" || len(mid.Queue) != 1 || len(mid.Open()) != 1 {
		t.Error("an earlier state changed")
	}
	if s = s.Apply(event.Event{Body: event.Resumed{Dir: "/other"}}); s.Dir != "/other" || s.Start != "/other" {
		t.Errorf("resumed elsewhere: %s, %s", s.Dir, s.Start)
	}
}

func TestFilesOfADroppedReplyAreUnread(t *testing.T) {
	read := func(call, path string) event.Body {
		return event.ToolFinished{Call: call, Effects: []effect.Effect{effect.Saw{Files: []effect.File{{Path: path, Hash: "h"}}}}}
	}
	s := fold(in("a"), begin, event.ToolStarted{Call: "1"}, event.ToolStarted{Call: "2"}, read("1", "/1"))
	if _, ok := s.File("/1"); !ok {
		t.Error("a later call of the same reply must know the file")
	}
	for _, b := range []event.Body{event.Dropped{Calls: []string{"1", "2"}}, read("2", "/2")} {
		s = s.Apply(event.Event{Body: b})
	}
	for _, path := range []string{"/1", "/2"} {
		if _, ok := s.File(path); ok {
			t.Errorf("%s counts as read", path)
		}
	}
}

func TestSpentBesideReplies(t *testing.T) {
	s := fold(in("a"), begin,
		event.Replied{Message: model(text("x")), Model: "m", Usage: llm.Usage{In: 10, Out: 1}, Cost: 0.5, Priced: true},
		event.Spent{For: event.ForRuling, Model: "s", Usage: llm.Usage{In: 3}, Cost: 0.25, Priced: true},
		event.Spent{For: event.ForRuling, Model: "u", Usage: llm.Usage{In: 1}})
	want := usage.Spent{Usage: llm.Usage{In: 14, Out: 1}, Cost: 0.75, Replies: 1, Helped: 2, Unpriced: 1}
	if s.Total != want || s.Turn.Spent != want || s.Turn.Unpriced != "u" {
		t.Errorf("total %+v, turn %+v", s.Total, s.Turn)
	}
	if got := s.ByModel["s"]; got != (usage.Spent{Usage: llm.Usage{In: 3}, Cost: 0.25, Helped: 1}) {
		t.Errorf("the small model: %+v", got)
	}
	if n := len(s.Messages()); n != 2 {
		t.Errorf("%d messages", n)
	}
}

func TestTasksAndCost(t *testing.T) {
	todo := view.Tasks{Items: []view.Task{{Text: "a"}}}
	s := fold(in("a"), begin,
		event.Replied{Message: model(use("1")), Model: "m1", Usage: llm.Usage{In: 10, Out: 1}, Cost: 0.5, Priced: true},
		event.ToolFinished{Call: "1", View: view.Group{Blocks: []view.Block{view.Text{S: "x"}, todo}}},
		event.Dropped{Model: "m2", Usage: llm.Usage{In: 3}, Cost: 0.25},
		event.Replied{Message: model(text("x")), Model: "m2", Usage: llm.Usage{In: 7}}, end,
		in("b"), begin, finished("9", "no list"),
		event.Replied{Message: model(text("x")), Model: "m2", Usage: llm.Usage{In: 1}})
	if d := cmp.Diff(todo.Items, s.Tasks); d != "" {
		t.Error(d)
	}
	if s.Total.Usage.In != 21 || s.Total.Cost != 0.75 || s.Total.Unpriced != 2 || s.ByModel["m2"].Usage.In != 11 || s.Turn.Spent.Usage.In != 1 {
		t.Errorf("total %+v, by model %+v, turn %+v", s.Total, s.ByModel, s.Turn.Spent)
	}
}
