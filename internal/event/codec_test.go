package event_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/schedule"
	"github.com/adze-agent/adze/internal/tasklist"
	"github.com/adze-agent/adze/internal/view"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)

// samples has every body once, with every field set.
func samples() []event.Body {
	raw := json.RawMessage(`{"k":[1,2.50,"x"]}`)
	img := llm.Image{Media: "image/png", Data: []byte{1, 2, 3}}
	verdict := policy.Verdict{Effect: policy.Deny, Reason: "r", Rule: "Bash(rm *)", Source: "f:1", Check: "c", Part: "p", Suggest: []string{"a"},
		Parts: []policy.Piece{{Kind: "read", Text: "a", Path: "/a", Effect: policy.Ask, Reason: "r"}}}
	blocks := view.Group{Blocks: []view.Block{
		view.Text{S: "t"}, view.Diff{Path: "p", Unified: "@@", Added: 1, Removed: 2, Created: true},
		view.Terminal{Command: "ls", Output: "o", Exit: 1, Dropped: 5, Note: "n"},
		view.Tasks{Items: []view.Task{{Text: "a", Active: "b", Status: view.InProgress}}},
		view.Group{Blocks: []view.Block{view.Image{Media: "image/png", Data: []byte{9}}}},
	}}
	attached := []event.Attached{{
		Name: "n", About: "a", Refused: true, Asks: true, Text: "t", Images: []llm.Image{img}, Saw: []effect.File{{Path: "/p", Size: 1, MTime: 2, Hash: "h", Partial: true, First: 3, Last: 4}},
	}}
	agent := event.Agent{ID: "a1", Type: "explore", Name: "n", Plans: true, Color: "blue"}
	tally := event.Tally{Requests: 1, Calls: 2, ByTool: map[string]int{"Read": 2}, Added: 3, Removed: 4, Usage: llm.Usage{In: 5, Out: 6}, Cost: 0.5, Models: []string{"p/m"}}
	return []event.Body{
		event.SessionStarted{ID: "i", Schema: 1, Version: "v", Dir: "/d", Root: "/r", Branch: "b", Parent: "p", At: 7, Child: &event.Child{Of: "r", Call: "c", Depth: 1, Agent: agent}},
		event.Resumed{Version: "v", Dir: "/d", Torn: 12},
		event.InputAccepted{ID: "i", Text: "<b>&\u2028 é \x00", Images: []llm.Image{img}, ImagesAt: []int{1}, Attached: attached, Steer: true, Hidden: true, Typed: op.Span{From: 1, To: 2}, From: &op.Sender{ID: "a1", Name: "n", N: 2, End: true},
			Read: "r", Skill: &effect.Skill{Name: "s", From: "f", Text: "t", Rules: []string{"r"}, Deny: []string{"d"}, Model: "m", Effort: "e"},
			Changed: &effect.Changed{Files: []effect.Change{{Path: "/p", Before: effect.Version{Kind: effect.IsFile, Hash: "h"}}}, Missed: []string{"m"}}},
		event.InputQueued{ID: "i", Text: "t", Typed: op.Span{To: 1}, Images: []llm.Image{img}, ImagesAt: []int{1}, Attached: attached, Tokens: 1, Later: true, Command: true, Rests: true, From: &op.Sender{ID: "a1", N: 1}},
		event.InputRemoved{ID: "i", Why: "w"},
		event.TurnStarted{ID: "t", Model: "m", Wish: "w", Mode: policy.PlanMode},
		event.Replied{
			Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
				llm.Thinking{S: "h", Opaque: json.RawMessage(`"sig"`), From: "a/b"}, llm.Text{S: "x"},
				llm.ToolUse{ID: "c", Name: "Read", Input: raw, Bad: "no", Opaque: raw, From: "f"},
				llm.ToolResult{ID: "c", Text: "r", IsErr: true, Images: []llm.Image{img}},
				img, llm.Document{Media: "application/pdf", Name: "n", Data: []byte("pdf")},
			}},
			Stop: llm.WantTools, Usage: llm.Usage{In: 1, Out: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5},
			Model: "p/m", ID: "id", Cost: 0.25, Priced: true, First: time.Second, Took: time.Minute, Attempts: 2,
			Tools: []llm.Spec{{Name: "Read"}, {Name: "ToolSearch", Loads: true}, {Name: "mcp__s__t", Description: "d", Schema: raw}},
		},
		event.Dropped{Reason: "r", Calls: []string{"c"}, Model: "m", Usage: llm.Usage{In: 1}, Cost: 1, Priced: true},
		event.Spent{For: event.ForRuling, Model: "p/small", Usage: llm.Usage{In: 1, Out: 2}, Cost: 0.5, Priced: true, Agent: "a1"},
		event.Asked{Call: "c", Tool: "Bash", Input: raw, Title: "t", Verdict: verdict, About: event.AboutCost, View: blocks, Agent: &agent},
		event.Answered{Answer: op.Answer{Call: "c", Allow: true, Comment: "c", Exact: true, Rules: []string{"r"}, Keep: op.ForLocal, Folders: []op.FolderChange{{Dirs: []string{"/d"}, Remove: true}}, Choices: [][]string{{"a"}}, Values: []byte(`{"n":1}`), Dismissed: true, Input: []byte(`{}`), Mode: policy.AcceptEdits}, By: event.By{Kind: event.ByHook, Name: "b"}},
		event.ToolStarted{Call: "c", Name: "n", Input: raw, Title: "t", Fold: "file", Shell: true},
		event.ToolFinished{
			Call: "c", Name: "n", Text: "t", Images: []llm.Image{img}, View: blocks, IsErr: true, Verdict: verdict,
			Denied: true, Input: raw, Took: 1, Spill: "s", Effects: []effect.Effect{
				effect.Dir{Path: "/d"}, effect.Answer{JSON: raw}, effect.Mode{To: policy.PlanMode}, effect.Fresh{}, effect.Final{Text: "t"},
				effect.Saw{Files: []effect.File{{Path: "p", Size: 1, MTime: 2, Hash: "h", Partial: true, First: 1, Last: 2}}},
			},
		},
		event.Ran{ID: "r", Command: "ls", Text: "t", View: blocks, IsErr: true, Took: 1, Dir: "/d"},
		event.ModelChanged{Model: "m", Wish: "w", Cause: event.CauseFallback, Why: "w"},
		event.ModeChanged{Mode: policy.Auto, Cause: event.CauseAsked, Why: "w"},
		event.ToolsChanged{Added: []string{"a"}, Removed: []string{"b"}, Named: []string{"a"}, Reworded: []string{"c 1x"}, Text: "there is a"},
		event.Extended{Commands: []event.Offer{{Name: "n", Args: "a", About: "b", From: "f", Path: "p"}}, Skills: []event.Offer{{Name: "n"}}, Agents: []event.Offer{{Name: "n"}}, Plugins: []event.Offer{{Name: "n", Version: "1"}}, PluginErrors: []event.PluginError{{Plugin: "p", Kind: "k", Text: "t", Path: "/p"}}, Styles: []event.Offer{{Name: "n"}}, Style: "s"},
		event.ServerChanged{Name: "n", State: event.ServerFailed, Why: "w", From: "f", Tools: 3},
		event.Titled{Title: "t", By: "b"},
		event.MessageSent{To: "s", Name: "n", Text: "t", Summary: "s", Typed: op.Span{To: 1}, Call: "c", Input: "p1", Mode: policy.Default, Idle: true}, event.MessageSettled{N: 3, How: event.MessageReturned, Why: "w"},
		event.Cleared{Calls: []string{"a", "b"}},
		event.Bounded{Results: []event.Cut{{Call: "a", Text: "the beginning\n[…]\nthe end", Spill: "/r/1"}, {Call: "b", Text: "x"}}},
		event.Stripped{Cause: event.CauseMedia, Why: "w"},
		event.TaskStarted{Run: "w1", Phase: "p", ID: "b1", Call: "c", Kind: "shell", Text: "make", Agent: &agent, Session: "s", After: 3, Model: "p/m", Effort: "low", Waits: true, N: 2, Worktree: &event.Worktree{Path: "/w", Branch: "b"},
			Schedule: &schedule.Entry{ID: "s1", Cron: "* * * * *", Every: 60, At: 1, Prompt: "p", Created: 2, Recurring: true, Permanent: true, Missed: schedule.Skip, By: schedule.ByPerson, Wakeup: "w"}}, event.TaskEnded{ID: "b1", Exit: 2, Killed: "k", Took: time.Second, Output: "/o", Status: event.TaskCompleted, Text: "t", Tally: tally, Did: []event.Deed{{Tool: "Edit", Input: raw, Look: true, Failed: true, Denied: true, Changed: []string{"/a"}}}, Left: 2, Doubt: "d", Worktree: &event.Worktree{Path: "/w", Branch: "b", Work: "1 commit"}},
		event.Noted{Level: "info", Text: "t", About: "window", Input: "p1"},
		event.Situated{Parts: []event.Situation{{Name: "environment", Text: "t"}}},
		event.Compacted{
			Notes:   6,
			Trigger: "plan", Text: "the plan", Tokens: 9, Before: 2, From: 3, Left: 4, Record: "/r",
			Undo: 5, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "t"}}}},
			Earlier: 1, Origin: event.Origin{Parts: [][]event.Seq{{1}}, Boundary: 1},
		},
		event.NotesKept{Through: 7},
		event.TodoChanged{Tasks: []tasklist.Task{
			{ID: "1", Subject: "a", Description: "b", Active: "c", Status: view.InProgress, Owner: "d", BlockedBy: []string{"2"}, Metadata: map[string]json.RawMessage{"n": json.RawMessage("1")}, Step: true}, {ID: "2", Subject: "e", Status: view.Deleted},
		}, Order: []string{"1"}, By: "d"},
		event.FilesChanged{Changed: effect.Changed{Files: []effect.Change{{Path: "/a", Before: effect.Version{Kind: effect.IsFile, Hash: "h"}}}, Missed: []string{"b: why"}}},
		event.CompactFailed{Trigger: "full", Why: "w", Stops: true},
		event.GoalSet{Condition: "c", Typed: true, Prompt: "g1", Turns: 1, Tokens: 2, USD: 0.5},
		event.GoalChanged{Status: event.GoalBudget, Why: "w", By: event.GoalByPerson, Same: 1, Still: 2, Turns: 3, Tokens: 4, USD: 0.25},
		event.RewindBegan{To: 1, ID: "i", Text: "t", Undo: true, Changes: []effect.Change{{Path: "/p"}}},
		event.Rewound{
			Foreign: []string{"/p"}, Cut: "interrupted",
			To: 3, ID: "p", Text: "t", Undo: true, Dropped: 2, Origin: event.Origin{Parts: [][]event.Seq{{1}}, Boundary: 1}, Conversation: true, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: "t"}}}},
			Tasks: []view.Task{{Text: "t"}}, List: tasklist.List{Tasks: []tasklist.Task{{ID: "1", Subject: "t"}}, Last: 2}, Seen: []effect.File{{Path: "p"}}, Dir: "/d", Last: "l", Tokens: 5,
			Code: true, Changes: []effect.Change{{Path: "p", Before: effect.Version{Kind: effect.IsFile}}}, Problems: []string{"p"}, Missed: []string{"m"},
		},
		event.SettingsChanged{Mended: []string{"a can be read again"},
			Changes:   []event.SettingChange{{Key: "model", Old: json.RawMessage(`null`), New: json.RawMessage(`"x"`), From: "f:1:2", Later: true}, {Key: "env", Added: []string{"A"}, Removed: []string{"B"}}},
			Untrusted: []string{"f"}, Problems: []string{"p"},
		},
		event.TurnEnded{ID: "t", How: event.Failed, Reason: "r", Err: "e", Hint: "h", Kind: "k", Status: 500, Steps: 3, Took: 1, Final: "done", API: 2, Answer: raw},
	}
}

func liveSamples() []event.Body {
	return []event.Body{
		event.ReplyStarted{Model: "m", First: 5, ID: "i", Usage: llm.Usage{In: 1, Out: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, CacheWriteLong: 6}, Limits: []llm.Limit{{Name: "tokens", Used: 0.5, Most: 2, Left: 1, Resets: time.Unix(9, 0).UTC()}}}, event.TextDelta{At: 1, S: "s"}, event.ThinkingDelta{At: 1, S: "s"},
		event.ToolInputDelta{Call: "c", Name: "n", At: 1, S: "{"},
		event.PartDone{Part: llm.ToolUse{ID: "c", Name: "n", Input: json.RawMessage(`{}`)}},
		event.Retracted{Why: "w"}, event.Waiting{Attempt: 1, Max: 10, For: time.Second, Status: 529, Err: "e", Kind: "k"},
		event.ToolOutput{Call: "c", S: "s"}, event.HookStarted{ID: 1, Event: "Stop", Name: "n", Status: "s", Call: "c", Input: "{}"}, event.HookEnded{ID: 1, Event: "Stop", Name: "n", Code: 2, Stdout: "o", Stderr: "e", Err: "x", Took: 3, Terminal: "t"}, event.Compacting{Trigger: "full"}, event.GoalJudging{}, event.Suggested{Text: "t"}, event.TaskOutput{ID: "b1", S: "s"}, event.TaskProgress{ID: "a1", Doing: "Read x", Tally: event.Tally{Requests: 1, Calls: 2, ByTool: map[string]int{"Read": 2}, Models: []string{"p/m"}}, Took: 3, Summary: "s"}, event.Queued{IDs: []string{"a"}, Texts: []string{"b"}},
		event.RewindPlan{Dropped: 1, ID: "p", Files: []event.FileChange{{Path: "p", Kind: "changed", Added: 1, Removed: 2, Foreign: true}}, Lost: []string{"l"}},
		event.Rewinding{Done: 1, Of: 2},
	}
}

func TestRoundTrip(t *testing.T) {
	for i, b := range samples() {
		e := event.Event{Seq: event.Seq(i + 1), Time: at, Body: b}
		line, err := event.AppendLine([]byte("x"), e)
		if err != nil {
			t.Fatal(err)
		}
		line = line[1:]
		if bytes.ContainsAny(line, "\n\r") || !json.Valid(line) {
			t.Errorf("%T is not one line of JSON: %s", b, line)
		}
		got, err := event.ParseLine(append(bytes.Clone(line), '\n'))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, got); d != "" {
			t.Errorf("%T changed (-want +got):\n%s", b, d)
		}
		again, err := event.AppendLine(nil, got)
		if err != nil || !bytes.Equal(again, line) {
			t.Errorf("%T: second line differs, %v:\n%s\n%s", b, err, line, again)
		}
	}
}

func TestLiveRoundTrip(t *testing.T) {
	for i, b := range append(liveSamples(), samples()...) {
		e := event.Event{Seq: event.Seq(i % 2 * 9), Time: at, Body: b} // 0: before the log began
		line, err := event.AppendLive(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := event.ParseLive(line)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, got); d != "" {
			t.Errorf("%T changed (-want +got):\n%s", b, d)
		}
		if _, isLive := b.(event.Live); isLive {
			if _, err := event.AppendLine(nil, e); err == nil {
				t.Errorf("%T was stored", b)
			}
		}
	}
}

// A sample must exist for every body that the package declares, and every
// field of a sample must be set, so that the round trip proves something.
func TestEveryBodyHasAName(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var decls []ast.Decl
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		decls = append(decls, f.Decls...)
	}
	have := map[string]event.Body{"Unknown": event.Unknown{Type: "x"}}
	for _, b := range append(samples(), liveSamples()...) {
		have[reflect.TypeOf(b).Name()] = b
	}
	names := map[string]string{}
	for _, d := range decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "body" {
			continue
		}
		body := fn.Recv.List[0].Type.(*ast.Ident).Name
		b, ok := have[body]
		if !ok {
			t.Errorf("no sample of %s: is it in the codec's table?", body)
			continue
		}
		name := event.TypeName(b)
		if name == "" || names[name] != "" {
			t.Errorf("%s has no name of its own (%q, %s)", body, name, names[name])
		}
		names[name] = body
		if v := reflect.ValueOf(b); body != "Unknown" {
			for i := range v.NumField() {
				if _, live := v.Field(i).Interface().(event.Data); !live && v.Field(i).IsZero() {
					t.Errorf("the sample of %s leaves %s empty", body, v.Type().Field(i).Name)
				}
				tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
				if tag == "seq" || tag == "time" || tag == "type" {
					t.Errorf("%s.%s takes a name of the head", body, tag)
				}
			}
		}
	}
	if len(names) < 42 {
		t.Errorf("only %d bodies were found", len(names))
	}
}

func TestUnknownSurvivesByteForByte(t *testing.T) {
	line := `{"seq":3,"time":"2031-01-01T00:00:00Z","type":"hologram_shown", "x": 1.0e2,  "nested":{"b":1,"a":2}}`
	e, err := event.ParseLine([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	want := event.Event{Seq: 3, Time: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), Body: event.Unknown{Type: "hologram_shown", Raw: []byte(line)}}
	if d := cmp.Diff(want, e); d != "" {
		t.Error(d)
	}
	if got, err := event.AppendLine(nil, e); err != nil || string(got) != line {
		t.Errorf("%s %v", got, err)
	}
	if _, err := event.AppendLine(nil, event.Event{Body: event.Unknown{Raw: []byte("a\nb")}}); err == nil {
		t.Error("two lines were written as one")
	}
}

func TestParseLine(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       event.Body // nil for a line that is no event
	}{
		{"other order and space", ` { "type":"input_removed", "id":"x", "time":"2026-01-02T03:04:05Z", "seq":4 } `, event.InputRemoved{ID: "x"}},
		{"a member of a newer version", `{"seq":4,"time":"2026-01-02T03:04:05Z","type":"input_removed","id":"x","whence":{"a":1}}`, event.InputRemoved{ID: "x"}},
		{"invalid UTF-8", "{\"seq\":4,\"time\":\"2026-01-02T03:04:05Z\",\"type\":\"input_removed\",\"id\":\"a\xff\xfeb\"}", event.InputRemoved{ID: "a��b"}},
		{"a lone surrogate", `{"seq":4,"time":"2026-01-02T03:04:05Z","type":"input_removed","id":"\ud83d"}`, event.InputRemoved{ID: "�"}},
		{"a body that is {}", `{"seq":4,"time":"2026-01-02T03:04:05Z","type":"stripped"}`, event.Stripped{}},
		{"cut", `{"seq":4,"time":"2026-01-02T03:04:05Z","type":"input_removed","id":"x`, nil},
		{"cut, of an unknown type", `{"seq":4,"time":"2026-01-02T03:04:05Z","type":"new","id":"x`, nil},
		{"no seq", `{"time":"2026-01-02T03:04:05Z","type":"stripped"}`, nil},
		{"seq 0", `{"seq":0,"time":"2026-01-02T03:04:05Z","type":"stripped"}`, nil},
		{"NUL bytes", "\x00\x00\x00", nil},
		{"empty", ``, nil},
		{"a list", `[1]`, nil},
		{"wrong type of a member", `{"seq":4,"time":"2026-01-02T03:04:05Z","type":"input_removed","id":7}`, nil},
	} {
		e, err := event.ParseLine([]byte(c.line))
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: read as %+v", c.name, e)
			}
			continue
		}
		if err != nil || !cmp.Equal(e.Body, c.want) || e.Seq != 4 {
			t.Errorf("%s: got %+v, %v", c.name, e, err)
		}
	}
}

func TestBadViewCostsOnlyItsDrawing(t *testing.T) {
	e, err := event.ParseLine([]byte(`{"seq":4,"time":"2026-01-02T03:04:05Z","type":"tool_finished","call":"c","text":"kept","view":{"kind":"diff","body":7}}`))
	if err != nil {
		t.Fatal(err)
	}
	b := e.Body.(event.ToolFinished)
	if _, ok := b.View.(view.Text); !ok || b.Text != "kept" {
		t.Errorf("got %+v", b)
	}
}

func TestBadInputIsStored(t *testing.T) {
	e := event.Event{Seq: 1, Time: at, Body: event.ToolStarted{Call: "c", Input: json.RawMessage(`{"a":`)}}
	line, err := event.AppendLine(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := event.ParseLine(line)
	if err != nil || string(got.Body.(event.ToolStarted).Input) != `"{\"a\":"` {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestLines(t *testing.T) {
	in := "one\n\n" + strings.Repeat("x", 700_000) + "\nlast\ntorn"
	for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)), iotest.DataErrReader(strings.NewReader(in))} {
		var got []string
		off := int64(100)
		for l, err := range event.Lines(r, 100) {
			if err != nil {
				t.Fatal(err)
			}
			if l.Off != off || l.Number != len(got)+1 {
				t.Errorf("line %d at %d, want %d", l.Number, l.Off, off)
			}
			off += l.Len
			got = append(got, string(l.Bytes))
			if l.Torn != (string(l.Bytes) == "torn") {
				t.Errorf("torn is %t for %.10s", l.Torn, l.Bytes)
			}
		}
		if strings.Join(got, "\n") != in || off != int64(100+len(in)) {
			t.Errorf("%d lines, off %d", len(got), off)
		}
	}
}

type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.left))
	clear(p[:n])
	z.left -= int64(n)
	return n, nil
}

func TestTooLongLineIsSkipped(t *testing.T) {
	r := io.MultiReader(strings.NewReader("a\n"), &zeros{event.MaxLine + 1}, strings.NewReader("\nb\n"))
	var got []string
	for l, err := range event.Lines(r, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if l.Bytes == nil && l.Len != event.MaxLine+2 {
			t.Errorf("too long line has length %d", l.Len)
		}
		got = append(got, string(l.Bytes))
	}
	if !reflect.DeepEqual(got, []string{"a", "", "b"}) {
		t.Errorf("got %q", got)
	}
}

func FuzzParseLine(f *testing.F) {
	for i, b := range samples() {
		line, _ := event.AppendLine(nil, event.Event{Seq: event.Seq(i + 1), Time: at, Body: b})
		f.Add(line)
	}
	f.Add([]byte(`{"seq":1,"type":"new","time":"2026-01-02T03:04:05Z"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := event.ParseLine(line)
		if err != nil {
			return
		}
		out, err := event.AppendLine(nil, e)
		if err != nil {
			if _, ok := e.Body.(event.Unknown); ok {
				return // a value over several lines
			}
			t.Fatal(err)
		}
		again, err := event.ParseLine(out)
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, line, out)
		}
		two, err := event.AppendLine(nil, again)
		if err != nil || !bytes.Equal(out, two) {
			t.Fatalf("not stable, %v:\n%s\n%s", err, out, two)
		}
	})
}

func BenchmarkParseLine(b *testing.B) {
	var lines [][]byte
	n := 0
	for i, s := range samples() {
		line, _ := event.AppendLine(nil, event.Event{Seq: event.Seq(i + 1), Time: at, Body: s})
		lines = append(lines, line)
		n += len(line)
	}
	b.SetBytes(int64(n / len(lines)))
	b.ReportAllocs()
	for i := range b.N {
		if _, err := event.ParseLine(lines[i%len(lines)]); err != nil {
			b.Fatal(err)
		}
	}
}

// Before there were effects, each kind of them had a member of its own.
func TestOldResultsAreRead(t *testing.T) {
	const head = `{"seq":7,"time":"2026-01-02T03:04:05Z","type":"tool_finished","call":"c","name":"n","text":"t","verdict":{"effect":"allow"}`
	for _, c := range []struct {
		members string
		want    []effect.Effect
	}{
		{``, nil},
		{`,"dir":"/d"`, []effect.Effect{effect.Dir{Path: "/d"}}},
		{`,"files":[{"path":"p","size":1,"mtime":2,"hash":"h"}]`, []effect.Effect{effect.Saw{Files: []effect.File{{Path: "p", Size: 1, MTime: 2, Hash: "h"}}}}},
		{`,"dir":"/d","files":[{"path":"p","size":1,"mtime":2,"hash":"h","partial":true,"first":3,"last":4}],"answer":{"n":3}`, []effect.Effect{
			effect.Dir{Path: "/d"}, effect.Saw{Files: []effect.File{{Path: "p", Size: 1, MTime: 2, Hash: "h", Partial: true, First: 3, Last: 4}}}, effect.Answer{JSON: json.RawMessage(`{"n":3}`)},
		}},
		{`,"effects":[{"type":"dir","path":"/d"},{"type":"of a later version","x":1}]`, []effect.Effect{
			effect.Dir{Path: "/d"}, effect.Unknown{Type: "of a later version", Raw: []byte(`{"type":"of a later version","x":1}`)},
		}},
	} {
		e, err := event.ParseLine([]byte(head + c.members + "}"))
		if err != nil {
			t.Errorf("%s: %v", c.members, err)
			continue
		}
		if d := cmp.Diff(c.want, e.Body.(event.ToolFinished).Effects); d != "" {
			t.Errorf("%s: %s", c.members, d)
		}
	}
	if _, err := event.ParseLine([]byte(head + `,"effects":[{}]}`)); err == nil {
		t.Error("an effect without a type was read")
	}
}

// Lines that were written with other letters, or more members, are read.
func TestOldFormsAreRead(t *testing.T) {
	const head = `{"seq":7,"time":"2026-01-02T03:04:05Z","type":`
	for line, want := range map[string]event.Body{
		`"input_accepted","id":"i","text":"t","images":[{"Media":"image/png","Data":"AQI="}]}`: event.InputAccepted{ID: "i", Text: "t", Images: []llm.Image{{Media: "image/png", Data: []byte{1, 2}}}},
		`"input_accepted","id":"i","text":"t","images":[{"media":"image/png","data":"AQI="}]}`: event.InputAccepted{ID: "i", Text: "t", Images: []llm.Image{{Media: "image/png", Data: []byte{1, 2}}}},
		`"answered","call":"c","allow":false,"by":"tui","comment":"no","keep":"user"}`:         event.Answered{Answer: op.Answer{Call: "c", Comment: "no", Keep: op.ForUser}, By: event.Client("tui")},
		`"answered","call":"c","allow":true,"by":"hook:fmt","input":{"a":1}}`:                  event.Answered{Answer: op.Answer{Call: "c", Allow: true, Input: json.RawMessage(`{"a":1}`)}, By: event.By{Kind: event.ByHook, Name: "fmt"}},
	} {
		e, err := event.ParseLine([]byte(head + line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if d := cmp.Diff(want, e.Body); d != "" {
			t.Errorf("%s: %s", line, d)
		}
	}
}
