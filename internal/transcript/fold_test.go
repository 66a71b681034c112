package transcript_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/view"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// lives are logs whose events, together, are of every kind and in every order
// that the fold tells apart.
func lives() []life {
	picture := llm.Image{Media: "image/png", Data: []byte("x")}
	return []life{
		{"a turn", []event.Body{
			event.SessionStarted{ID: "s", Dir: "/w", Root: "/w", Branch: "main", Parent: "p", Version: "1"}, event.Situated{Parts: []event.Situation{{Name: "env", Text: "here"}}},
			event.InputQueued{ID: "p1", Text: "look", Images: []llm.Image{picture}}, event.InputQueued{ID: "p2", Text: "later"}, event.InputQueued{ID: "p3", Text: "never"},
			event.InputAccepted{ID: "p1"}, begun("t1"), event.TextDelta{S: "live"}, replied(100, 10, llm.Text{S: "a"}, llm.Text{S: " \n"}, use("1"), use("2")), event.Asked{Call: "1", Tool: "Bash"},
			event.Answered{Answer: op.Answer{Call: "1", Allow: true, Rules: []string{"Bash(ls)"}}}, event.ToolStarted{Call: "1", Name: "Bash"}, event.ToolStarted{Call: "2", Name: "Bash"}, event.InputAccepted{ID: "p2", Steer: true}, event.InputRemoved{ID: "p3"},
			did("2", effect.Dir{Path: "/w/sub"}, saw("/w/a", "/w/b")), did("1", saw("/w/a"), effect.Changed{Files: []effect.Change{{Path: "/w/a"}, {Path: "/w/c"}, {Path: "/w/a"}}}, effect.Planned{Text: "1. do it"}),
			replied(160, 20, use("3")), event.ToolFinished{Call: "3", Name: "Edit", Denied: true, Input: json.RawMessage(`{}`), Verdict: policy.Verdict{Reason: "no"}}, replied(200, 5, llm.Text{S: "done"}), ended("t1"),
			event.Ran{ID: "r", Command: "ls", Text: "$ ls", Dir: "/w/other"}, event.Ran{ID: "r2", Command: "pwd", Text: "$ pwd"},
		}},
		{"what changes", []event.Body{
			event.SessionStarted{ID: "s", Dir: "/w"}, said("p1", "go"), begun("t1"), event.ModelChanged{Model: "p/n"}, event.ModeChanged{Mode: policy.PlanMode}, event.Titled{Title: "T"}, event.Titled{Title: "U", By: "person"},
			event.ToolsChanged{Removed: []string{"a", "b"}}, event.ToolsChanged{Added: []string{"a"}}, event.TaskStarted{ID: "b1", Kind: "shell", Text: "make"}, event.TaskStarted{ID: "b2", Kind: "shell"}, event.TaskEnded{ID: "b1"}, event.TaskEnded{ID: "b9"},
			event.MessageSent{To: "s2", Text: "a"}, event.MessageSent{To: "s3", Text: "b"}, event.MessageSettled{N: 15, How: event.MessageQueued}, event.InputAccepted{ID: "m1", Text: "hello", From: &op.Sender{ID: "s2", As: "the agent n"}}, event.InputAccepted{ID: "m2", Text: "typed", Typed: op.All("typed"), From: &op.Sender{ID: "s2", As: "the main session"}},
			event.Noted{Text: "n"}, event.Noted{Text: "full", About: event.AboutWindow}, event.Noted{Text: "n"}, event.NotesKept{Through: 5}, event.CompactFailed{Why: "x"}, event.CompactFailed{Why: "x"}, event.SettingsChanged{Problems: []string{"x"}}, event.Unknown{Type: "new"},
			event.Spent{For: event.ForTitle, Model: "p/s", Usage: llm.Usage{In: 5}, Cost: 0.25, Priced: true}, event.Spent{For: event.ForRuling, Model: "p/u", Usage: llm.Usage{In: 1}},
			replied(10, 1, use("1")), did("1", effect.Exported{Vars: []effect.Variable{{Name: "A", Value: "1"}, {Name: "B", Hidden: true}}}, effect.Exported{Confined: true, Vars: []effect.Variable{{Name: "A", Value: "2"}, {Name: "C", Hidden: true}}}), replied(10, 1, use("2")),
			did("2", effect.Exported{Vars: []effect.Variable{{Name: "A", Value: "3"}}}), event.Asked{Call: "9"}, ended("t1"), event.Resumed{Version: "2", Dir: "/w"}, event.Resumed{Version: "3", Dir: "/elsewhere"}, event.Resumed{Version: "3"},
		}},
		{"a goal", []event.Body{
			event.GoalChanged{Status: event.GoalPaused}, event.Spent{For: event.ForGoal, Model: "p/s", Usage: llm.Usage{In: 7}, Cost: 0.5, Priced: true}, event.GoalSet{Condition: "it works", Typed: true, Prompt: "p1", Turns: 3}, said("p1", "it works"), begun("t1"), replied(10, 1, llm.Text{S: "A"}),
			event.TurnEnded{ID: "t1", How: event.Done, Took: time.Minute}, event.GoalChanged{Status: event.GoalActive, Why: "it does not", By: event.GoalByJudge, Same: 1, Still: 2}, begun("t2"), event.TurnEnded{ID: "t2", How: event.Interrupted, Took: time.Second}, event.GoalChanged{Status: event.GoalPaused, By: event.GoalByTurn},
			begun("t3"), ended("t3"), event.GoalChanged{Status: event.GoalActive, By: event.GoalByPerson, Tokens: 100}, event.GoalChanged{Status: event.GoalComplete, Why: "it does", By: event.GoalByJudge}, event.GoalSet{Condition: "more"}, event.GoalChanged{Status: event.GoalCleared},
			event.GoalSet{Condition: "again", Prompt: "p2"}, said("p2", "again"), event.Rewound{To: 18, ID: "p2", Conversation: true, Messages: []llm.Message{}},
		}},
		{"todo lists", []event.Body{
			said("p1", "go"), begun("t1"), replied(10, 1, use("1"), use("2"), use("3")), event.ToolFinished{Call: "1", Name: "TodoWrite", View: view.Tasks{Items: []view.Task{{Text: "a"}}}},
			event.ToolFinished{Call: "2", View: view.Group{Blocks: []view.Block{view.Tasks{Items: []view.Task{{Text: "b"}}}, view.Group{Blocks: []view.Block{view.Tasks{Items: []view.Task{{Text: "c"}}}}}, view.Text{S: "x"}}}}, event.ToolFinished{Call: "3", View: view.Text{S: "x"}},
		}},
		{"dropped replies", []event.Body{
			said("p1", "go"), begun("t1"), event.ToolStarted{Call: "1"}, did("1", saw("/w/a")), event.ToolStarted{Call: "2"}, event.Asked{Call: "2"}, event.Dropped{Calls: []string{"1", "2"}, Model: "p/m", Usage: llm.Usage{In: 9, Out: 1}, Cost: 1, Priced: true},
			did("2", saw("/w/b"), effect.Dir{Path: "/w/x"}), event.ToolStarted{Call: "3"}, did("3"), replied(20, 2, use("3"), use("4")), event.Answered{Answer: op.Answer{Call: "4"}}, ended("t1"), event.ToolStarted{Call: "5"}, event.Dropped{Calls: []string{"5"}}, ended("t2"), did("5"),
		}},
		{"cleared and stripped", []event.Body{
			said("p1", "go"), begun("t1"), replied(10, 1, use("1"), use("2")), did("1"), did("2"), replied(90, 1, use("3"), use("4")), event.ToolFinished{Call: "3", Text: "see", Images: []llm.Image{picture, picture}}, event.Cleared{Calls: []string{"2", "3", "nosuch"}},
			did("4"), event.InputAccepted{ID: "p2", Text: "and", Images: []llm.Image{picture}, Attached: []event.Attached{{Name: "d", Text: "the file", Saw: []effect.File{{Path: "/w/d"}}}}}, event.Stripped{Cause: event.CauseMedia}, replied(100, 1, llm.Text{S: "ok"}), event.Cleared{Calls: []string{"1"}},
		}},
		{"compacted", []event.Body{
			said("p1", "one"), begun("t1"), replied(100, 10, llm.Text{S: "A1"}), ended("t1"), said("p2", "two"), begun("t2"), replied(200, 10, use("1")), did("1"), replied(300, 10, llm.Text{S: "A2"}), ended("t2"),
			event.Noted{About: event.AboutWindow}, event.Compacted{Trigger: event.CauseFull, Text: "the sum", Tokens: 300, Left: 100, From: 5, Record: "/r/1"}, said("p3", "three"), begun("t3"), replied(120, 10, llm.Text{S: "A3"}), ended("t3"),
			event.Cleared{Calls: []string{"1"}}, event.Compacted{Trigger: event.CauseAsked, Text: "the beginning stays", Before: 13, From: 99, Tokens: 100, Left: 90, Record: "/r/2"},
			event.Compacted{Trigger: event.CauseAsked, Text: "little", Tokens: 100, Left: 91, From: 12}, event.Compacted{Trigger: event.CauseAsked, Undo: 18, Tokens: 10, Left: 200, Messages: []llm.Message{user(text("one")), model(use("1")), user(result("1", "cleared"))}},
		}},
		{"a plan in a fresh context", []event.Body{
			said("p1", "one"), begun("t1"), replied(100, 10, use("1")), event.InputAccepted{ID: "p2", Text: "meanwhile", Steer: true}, event.Compacted{Trigger: event.CausePlan, Text: "the plan", Tokens: 50}, did("1"), replied(30, 3, llm.Text{S: "A"}), ended("t1"),
		}},
		{"gone back", []event.Body{
			event.SessionStarted{ID: "s", Dir: "/w"}, said("p1", "one"), begun("t1"), replied(100, 10, use("1"), use("2")), did("1", saw("/w/a")), did("2"), replied(150, 5, llm.Text{S: "A1"}), ended("t1"), event.NotesKept{Through: 8}, said("p2", "two"), begun("t2"), replied(200, 10, llm.Text{S: "A2"}), ended("t2"),
			event.Rewound{To: 10, ID: "p2", Code: true}, event.Rewound{To: 10, ID: "p2", Conversation: true, Dir: "/w/then", Last: "one", Tokens: 150, Seen: []effect.File{{Path: "/w/a", Hash: "old"}}, Tasks: []view.Task{{Text: "then"}}},
			event.Rewound{To: 15, Undo: true, Conversation: true, Messages: []llm.Message{user(text("one")), model(text("A1")), user(text("two")), model(text("A2"))}, Last: "two", Tokens: 210}, said("p3", "three"), event.Rewound{To: 2, ID: "p1", Conversation: true, Messages: []llm.Message{}},
		}},
		{"todo list", []event.Body{
			said("p1", "go"), begun("t1"), replied(10, 1, use("1")), event.ToolFinished{Call: "1", Name: "TodoWrite", View: view.Tasks{Items: []view.Task{{Text: "old"}}}}, ended("t1"), said("p2", "on"), begun("t2"),
			event.TodoChanged{Tasks: []tasklist.Task{{ID: "1", Subject: "old", Status: view.Completed}, {ID: "2", Subject: "new", Status: view.Pending, BlockedBy: []string{"1", "3"}}, {ID: "3", Subject: "step", Status: view.InProgress, Owner: "ann", Step: true}}},
			event.ToolFinished{Call: "2", View: view.Tasks{Items: []view.Task{{ID: "9", Text: "an older view"}}}}, event.TodoChanged{Tasks: []tasklist.Task{{ID: "4", Subject: "more", Status: view.Pending}, {ID: "1", Status: view.Deleted}}, Order: []string{"3", "4", "2"}, By: "ann"},
			ended("t2"), event.Rewound{To: 6, ID: "p2", Conversation: true, Tasks: []view.Task{{Text: "old"}}, List: tasklist.List{Tasks: []tasklist.Task{{ID: "1", Subject: "old"}}, Last: 1}},
		}},
		{"refused", []event.Body{
			said("p1", "one"), begun("t1"), replied(100, 10, llm.Text{S: "A1"}), ended("t1"), said("p2", "bad"), begun("t2"), replied(150, 10, use("1")), did("1"), event.InputAccepted{ID: "h", Text: "hidden", Hidden: true}, did("early"), refused(use("2")), ended("t2"), said("p3", "worse"), begun("t3"), refused(llm.Text{S: "no"}), ended("t3"),
			said("p4", "fine"), begun("t4"), replied(60, 1, llm.Text{S: "A4"}), ended("t4"),
		}},
	}
}

// messages are a conversation, a line each.
func messages(es []transcript.Entry) (out []string) {
	for _, e := range es {
		var parts []string
		for i, p := range e.Parts {
			s := ""
			switch p := p.(type) {
			case llm.Text:
				s = fmt.Sprintf("%q", p.S)
			case llm.ToolUse:
				s = "call " + p.ID
			case llm.ToolResult:
				s = fmt.Sprintf("result %s %q", p.ID, p.Text)
				if p.IsErr {
					s += " error"
				}
				s += strings.Repeat(" image", len(p.Images))
			case llm.Image:
				s = "image"
			default:
				s = fmt.Sprintf("%T", p)
			}
			parts = append(parts, fmt.Sprintf("%d: %s", e.From[i], s))
		}
		out = append(out, fmt.Sprintf("%s [%s]", e.Role, strings.Join(parts, ", ")))
	}
	return out
}

// facts are all that a state says, by name.
func facts(t *testing.T, s transcript.State) map[string]string {
	t.Helper()
	raw, err := json.Marshal(s)
	var fields map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(raw, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for k, v := range fields {
		if v := string(v); v != "null" && v != `""` && v != "0" && v != "false" && v != "{}" {
			out[k] = v
		}
	}
	delete(out, "Seq")
	delete(out, "Time")
	out["context"] = fmt.Sprintf("whole %t, begun at %d, stripped at %d", s.Whole(), s.Boundary(), s.Stripped())
	var open, files []string
	for _, u := range s.Open() {
		open = append(open, u.ID)
	}
	for p, f := range s.Files() {
		files = append(files, p+"="+f.Hash)
	}
	slices.Sort(files)
	out["open"], out["files"] = strings.Join(open, " "), strings.Join(files, " ")
	out["kept"] = beside(t, s)
	var prompts, newest []string
	for _, p := range s.Prompts() {
		prompts = append(prompts, p.ID)
	}
	for e := range s.Newest() {
		newest = append(newest, messages([]transcript.Entry{e})...)
	}
	slices.Reverse(newest)
	if d := cmp.Diff(messages(s.Entries()), newest); d != "" {
		t.Errorf("Newest is not Entries from its end:\n%s", d)
	}
	out["prompts"], out["told"] = strings.Join(prompts, " "), strings.Join(s.Told(), " ")
	if u := s.Deferred(); u != nil {
		out["deferred"] = u.ID
	}
	out["talk"] = strings.Join(messages(s.Entries()), "\n\t\t")
	return out
}

// beside is what the stored form has beside messages: what waits, what is gone, and
// the newest request.
func beside(t *testing.T, s transcript.State) string {
	t.Helper()
	var form struct {
		Talk map[string]json.RawMessage `json:"talk"`
	}
	if err := json.Unmarshal(stored(t, s), &form); err != nil {
		t.Fatal(err)
	}
	var out []string
	for k, v := range form.Talk {
		if k != "done" && k != "tail" {
			out = append(out, k+" "+string(v))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n\t\t")
}

// What each event changes of a state. The golden file has, for each event, the
// facts that are different after it, and is meant to be read.
func TestFoldOfEveryEvent(t *testing.T) {
	var b strings.Builder
	for _, life := range append(lives(), rareLives()...) {
		fmt.Fprintf(&b, "# %s\n", life.name)
		var s transcript.State
		was := facts(t, s)
		for i, body := range life.log {
			before := s
			s = s.Apply(event.Event{Seq: event.Seq(i + 1), Time: time.Unix(int64(1e9+i), 0).UTC(), Body: body})
			if d := cmp.Diff(was, facts(t, before)); d != "" {
				t.Errorf("%s: event %d changed an earlier state:\n%s", life.name, i+1, d)
			}
			now := facts(t, s)
			fmt.Fprintf(&b, "%d %s\n", i+1, strings.TrimPrefix(fmt.Sprintf("%T", body), "event."))
			for _, k := range slices.Sorted(func(yield func(string) bool) {
				for k := range now {
					if !yield(k) {
						return
					}
				}
				for k := range was {
					if _, ok := now[k]; !ok && !yield(k) {
						return
					}
				}
			}) {
				if now[k] != was[k] {
					fmt.Fprintf(&b, "\t%s: %s\n", k, now[k])
				}
			}
			was = now
		}
		b.WriteString("\n")
	}
	file := filepath.Join("testdata", "fold.txt")
	version := fmt.Sprintf("version %d\n", transcript.Version)
	b.WriteString(version)
	if old, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	} else if strings.HasSuffix(string(old), version) && strings.ReplaceAll(string(old), "\r", "") != b.String() {
		t.Error("the same events make another state: raise Version, then -update. Snapshots that were made before would be gone on from")
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(strings.ReplaceAll(string(want), "\r", ""), "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
