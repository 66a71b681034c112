package transcript_test

import (
	"encoding/json"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/view"
)

// A life is a log that the golden file of the fold has, event by event.
type life struct {
	name string
	log  []event.Body
}

// Events of lives, by what they tell.

func said(id, s string) event.Body { return event.InputAccepted{ID: id, Text: s} }

func replied(in, out int, parts ...llm.Part) event.Body {
	return event.Replied{Message: model(parts...), Model: "p/m", Usage: llm.Usage{In: in, Out: out}, Cost: 0.5, Priced: true}
}

func refused(parts ...llm.Part) event.Body {
	return event.Replied{Message: model(parts...), Model: "p/m", Stop: llm.Refused, Usage: llm.Usage{In: 50, Out: 1}}
}

func did(call string, effects ...effect.Effect) event.Body {
	return event.ToolFinished{Call: call, Name: "Bash", Text: "did " + call, Effects: effects}
}

func saw(paths ...string) (out effect.Saw) {
	for _, p := range paths {
		out.Files = append(out.Files, effect.File{Path: p, Hash: "h" + p})
	}
	return out
}

func begun(id string) event.Body {
	return event.TurnStarted{ID: id, Model: "p/m", Mode: policy.Default}
}

func ended(id string) event.Body { return event.TurnEnded{ID: id, How: event.Done} }

// rareLives are what lives has not: what extensions bring, caches, what happens
// while calls run, and conversations that come back.
func rareLives() []life {
	cached := func(read, write int, took time.Duration) event.Body {
		return event.Replied{Message: model(llm.Text{S: "A"}), Model: "p/m", Usage: llm.Usage{In: 10, CacheRead: read, CacheWrite: write}, Took: took}
	}
	server := func(name string, state event.ServerState) event.Body {
		return event.ServerChanged{Name: name, State: state}
	}
	spec := func(names ...string) (out effect.Loaded) {
		for _, n := range names {
			out.Tools = append(out.Tools, llm.Spec{Name: n, Schema: json.RawMessage(`{}`)})
		}
		return out
	}
	picture := llm.Image{Media: "image/png", Data: []byte("x")}
	paper := llm.Document{Media: "application/pdf", Name: "a.pdf", Data: []byte("%PDF")}
	return []life{
		{"extensions", []event.Body{
			event.SessionStarted{ID: "s", Dir: "/w"}, event.Extended{Style: "terse", Skills: []event.Offer{{Name: "k"}}}, server("m", event.ServerConnected), server("z", event.ServerConnected), server("a", event.ServerFailed), server("m", event.ServerFailed), server("z", event.ServerClosed), server("never", event.ServerClosed),
			event.InputAccepted{ID: "p1", Text: "/k now", Read: "what k says", Skill: &effect.Skill{Name: "k", Text: "one"}, Changed: &effect.Changed{Files: []effect.Change{{Path: "/w/made"}}}}, begun("t1"),
			event.ToolsChanged{Added: []string{"hidden"}}, event.ToolsChanged{Added: []string{"x"}, Named: []string{"x"}, Text: "x came"}, replied(100, 5, use("1"), use("2")), event.ToolsChanged{Removed: []string{"x", "hidden"}, Text: "x went"}, did("1", effect.Skill{Name: "l"}, spec("y", "w")), did("2", effect.Skill{Name: "k", Text: "two"}, spec("y")),
			replied(150, 5, llm.Text{S: "A1"}), ended("t1"), event.Resumed{Version: "2", Dir: "/w"},
		}},
		{"caches", []event.Body{
			said("p1", "go"), begun("t1"), cached(0, 0, 0), event.ModelChanged{Model: "p/n"}, event.ToolsChanged{Added: []string{"x"}}, event.ModelChanged{Model: "p/m"}, cached(0, 1, 0), cached(900, 0, 300*time.Millisecond), event.Stripped{}, cached(0, 0, time.Hour),
			event.Replied{Message: model(llm.Text{S: "nothing was said of tokens"})}, event.Replied{Message: model(llm.Text{S: "cleared"}), Usage: llm.Usage{In: 1000, Cleared: 500}}, cached(2000, 0, 0), event.Cleared{}, event.Compacted{Text: "x"}, event.Rewound{To: 99, Conversation: true}, event.Resumed{}, cached(1, 0, 0),
		}},
		{"made small while calls run", []event.Body{
			said("p1", "one"), begun("t1"), event.ToolStarted{Call: "lost"}, event.Dropped{Calls: []string{"lost"}}, replied(100, 5, use("1"), use("2")), did("1", saw("/w/a")), event.InputAccepted{ID: "p2", Text: "meanwhile", Steer: true}, event.Asked{Call: "2", Tool: "Bash"},
			event.Cleared{Calls: []string{"1"}}, event.Bounded{Results: []event.Cut{{Call: "2", Text: "not yet"}}}, event.Stripped{}, event.Compacted{Trigger: event.CauseFull, Text: "the sum", From: 5, Tokens: 100, Left: 50}, did("2"), did("lost"), replied(60, 5, llm.Text{S: "A1"}), ended("t1"),
		}},
		{"gone back while calls run", []event.Body{
			said("p1", "one"), begun("t1"), event.ToolStarted{Call: "lost"}, event.Dropped{Calls: []string{"lost"}}, replied(100, 5, use("1")), did("1", spec("y")), said("p2", "two"), replied(150, 5, use("2"), use("3")), did("2", spec("w")), event.Rewound{To: 7, ID: "p2", Conversation: true, Last: "one", Tokens: 105}, did("lost"), did("3"), replied(120, 1, llm.Text{S: "A"}), ended("t1"),
		}},
		{"a call that was put off", []event.Body{
			said("p1", "one"), begun("t1"), replied(100, 5, llm.Text{S: "look"}, use("1"), use("2")), did("1"), event.TurnEnded{ID: "t1", How: event.Done, Reason: event.ToolDeferred}, event.Resumed{Version: "2"}, begun("t2"), did("2"), replied(120, 1, llm.Text{S: "A"}), ended("t2"),
		}},
		{"brought back with their events", []event.Body{
			event.InputAccepted{ID: "p1", Text: "one", Images: []llm.Image{picture}}, begun("t1"), replied(100, 5, llm.Thinking{S: "hm"}, use("1"), use("2")), did("1"), event.ToolFinished{Call: "2", Text: "see", Images: []llm.Image{picture}}, replied(150, 5, llm.Text{S: "A1"}), ended("t1"), event.Compacted{Trigger: event.CauseFull, Text: "the sum", Record: "/r/1"}, said("p2", "two"), begun("t2"), replied(40, 5, llm.Text{S: "A2"}), ended("t2"),
			event.Compacted{Undo: 8, Left: 160, Messages: []llm.Message{user(picture, text("one")), model(llm.Thinking{S: "hm"}, use("1"), use("2")), user(result("1", "did 1"), llm.ToolResult{ID: "2", Text: "see", Images: []llm.Image{picture}}), model(text("A1"))},
				Origin: event.Origin{Parts: [][]event.Seq{{1, 1}, {3, 3, 3}, {4, 5}, {6}}}},
			event.Rewound{To: 9, ID: "p2", Conversation: true, Messages: []llm.Message{user(text("the sum"), paper), model(text("A2")), user(text("and"))}, Origin: event.Origin{Boundary: 8, Parts: [][]event.Seq{{8, 8}, {11}, {14}}}, Tokens: 45},
			event.Stripped{Cause: event.CauseMedia},
			event.Rewound{To: 9, Conversation: true, Messages: []llm.Message{user(text("one")), model(text("A1"))}, Origin: event.Origin{Parts: [][]event.Seq{{1}}, Boundary: 3}},
			event.Rewound{To: 9, Conversation: true, Messages: []llm.Message{user(text("one"), text("more")), model(text("A1"))}, Origin: event.Origin{Parts: [][]event.Seq{{1}, {2}}, Boundary: 3}},
		}},
		{"gone back and forth", []event.Body{
			said("p1", "one"), begun("t1"), replied(10, 1, llm.Text{S: "A1"}), ended("t1"), said("p2", "two"), begun("t2"), replied(20, 1, use("1")), event.ToolFinished{Call: "1", View: view.Tasks{Items: []view.Task{{Text: "a"}}}}, replied(30, 1, llm.Text{S: "A2"}), ended("t2"), event.NotesKept{Through: 6},
			said("p3", "three"), event.Rewound{To: 12, ID: "p3", Conversation: true, Last: "two"}, event.Rewound{To: 5, ID: "p2", Conversation: true, Last: "one"}, event.Rewound{To: 14, Undo: true, Conversation: true, Last: "two", Messages: []llm.Message{user(text("one")), model(text("A1")), user(text("two")), model(text("A2"))}, Origin: event.Origin{Parts: [][]event.Seq{{1}, {3}, {5}, {9}}}},
			said("p4", "four"), event.Compacted{Text: "the sum", From: 16},
		}},
		{"cleared, and gone back", []event.Body{
			said("p1", "one"), begun("t1"), replied(100, 5, use("1")), did("1"), replied(150, 5, llm.Text{S: "A1"}), ended("t1"), event.Cleared{Calls: []string{"1"}}, said("p2", "two"), event.Rewound{To: 8, ID: "p2", Conversation: true, Last: "one", Tokens: 120},
		}},
		{"refused after what a plan began", []event.Body{
			said("p1", "one"), begun("t1"), replied(100, 10, use("1"), use("2")), did("1"), event.Compacted{Trigger: event.CausePlan, Text: "the plan"}, said("p2", "two"), refused(llm.Text{S: "no"}), ended("t1"), said("p3", "three"), begun("t2"), replied(60, 5, use("3")), did("3"), said("p4", "four"), said("p5", "five"), replied(70, 5, use("4")), did("4"), refused(use("5")), did("5"), ended("t2"),
			said("p6", "six"), begun("t3"), refused(), ended("t3"),
		}},
		{"refused, and words that nobody answered", []event.Body{
			said("p1", "one"), begun("t1"), replied(100, 10, use("1")), said("p2", "steered"), ended("t1"), said("p3", "two"), begun("t2"), event.Ran{ID: "r", Text: "$ ls"}, refused(), ended("t2"), said("p4", "three"), begun("t3"), did("x", saw("/w/x")), did("y"), event.Dropped{Calls: []string{"x"}}, refused(use("z")), did("z"), ended("t3"),
		}},
	}
}
