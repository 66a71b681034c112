package tui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
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
	"github.com/adze-agent/adze/internal/slowtest"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// nobody has sessions that take everything.
type nobody struct{ given []op.Op }

func (n *nobody) Submit(_ context.Context, _ string, o op.Op) error {
	n.given = append(n.given, o)
	return nil
}

// answers are what a desk says.
type answers struct {
	nobody
	Status    func() ask.Facts
	Rules     func() ask.RuleSet
	Forget    func(r ask.Rule) error
	Context   func() view.Block
	Aside     func(question string) string
	Memory    func() []Choice
	Read      func() []Choice // of memory files
	Note      func(file, line string) error
	Past      []event.Event
	Report    func(q ask.Report) string
	Hooks     func() string
	Trust     func() ask.Claims
	Decide    func(trust bool) error
	Save      func(key, value string) error
	Pick      func(name string) []Choice
	Models    func(ctx context.Context) ([]Choice, error)
	Sessions  func(ctx context.Context, all bool) ([]Saved, string, error)
	Find      func(ctx context.Context, words string) (Saved, error)
	Search    func(ctx context.Context, words string, all bool) map[string]string
	Preview   func(ctx context.Context, id string) (string, error)
	Diff      func(ctx context.Context) ([]view.Block, error)
	Rename    func(ctx context.Context, id, title string) error
	Files     func(ctx context.Context) ([]string, error)
	Receivers []ask.Choice
	Resources func(ctx context.Context, part string, max int) []Choice
	Arguments func(ctx context.Context, command, args string) []Choice
	Defined   func(ask.Definitions) (ask.Reply, error)
	Tasks     func() []ask.Task
	Agent     func(prompt string) (string, error)
	Output    func(id string) string
}

// Follow yields what is past, and ends.
func (a *answers) Follow(_ context.Context, _ string, after event.Seq, _ event.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range a.Past {
			if e.Seq > after && !yield(e, nil) {
				return
			}
		}
	}
}

func (a *answers) Ask(ctx context.Context, _ string, q ask.Query) (r ask.Reply, err error) {
	with := func(v any, err error) (ask.Reply, error) {
		if err != nil {
			return r, err
		}
		return ask.With(v), nil
	}
	none := &op.Refusal{Code: op.Unsupported, Text: ask.Name(q)}
	switch q := q.(type) {
	case ask.Models:
		r.Choices, err = a.Models(ctx)
	case ask.Sessions:
		list, branch, err := a.Sessions(ctx, q.All)
		return with(ask.SessionList{List: list, Branch: branch}, err)
	case ask.Find:
		return with(a.Find(ctx, q.Words))
	case ask.Search:
		return with(a.Search(ctx, q.Words, q.All), nil)
	case ask.Preview:
		r.Text, err = a.Preview(ctx, q.ID)
	case ask.Diff:
		r.Shapes, err = a.Diff(ctx)
	case ask.Rename:
		err = a.Rename(ctx, q.ID, q.Title)
	case ask.Files:
		r.Names, err = a.Files(ctx)
	case ask.Resources:
		if a.Resources != nil {
			r.Choices = a.Resources(ctx, q.Part, q.Max)
		}
	case ask.Receivers:
		r.Choices = a.Receivers
	case ask.Arguments:
		if a.Arguments != nil {
			r.Choices = a.Arguments(ctx, q.Command, q.Args)
		}
	case ask.Status:
		if a.Status == nil {
			return r, none
		}
		return ask.With(a.Status()), nil
	case ask.Rules:
		if a.Rules == nil {
			return r, none
		}
		return ask.With(a.Rules()), nil
	case ask.Forget:
		err = a.Forget(q.Rule)
	case ask.Definitions:
		return a.Defined(q)
	case ask.Agent:
		if a.Agent == nil {
			return r, none
		}
		r.Text, err = a.Agent(q.Prompt)
	case ask.Tasks:
		return ask.With(a.Tasks()), nil
	case ask.Output:
		if a.Output == nil {
			return r, none
		}
		return ask.With(ask.Written{Text: a.Output(q.Task)}), nil
	case ask.Context:
		if a.Context == nil {
			return r, none
		}
		r.Shapes = []view.Block{a.Context()}
	case ask.Aside:
		r.Text = a.Aside(q.Question)
	case ask.Memory:
		if a.Memory == nil {
			return r, none
		}
		r.Choices = a.Memory()
	case ask.Remembered:
		if a.Read != nil {
			r.Choices = a.Read()
		}
	case ask.Hooks:
		if a.Hooks != nil {
			r.Text = a.Hooks()
		}
	case ask.Trust:
		if a.Trust != nil {
			c := a.Trust()
			c.Sum = "of " + c.Folder
			r = ask.With(c)
		}
	case ask.Decide:
		if a.Decide != nil {
			err = a.Decide(q.Trust)
		}
	case ask.Save:
		if a.Save != nil {
			err = a.Save(q.Key, string(q.Value))
		}
	case ask.Report:
		if a.Report == nil {
			return r, none
		}
		r.Text = a.Report(q)
	case ask.Pick:
		if a.Pick == nil {
			return r, none
		}
		r.Choices = a.Pick(q.Name)
	case ask.Note:
		err = a.Note(q.File, q.Line)
	default:
		err = none
	}
	return r, err
}

// rig drives a model without a terminal.
type rig struct {
	t       testing.TB
	m       *Model
	now     time.Time
	seq     event.Seq
	printed []draw.Line
	ops     []op.Op
	effects []effect
	ids     int
	desk    *answers
}

func newRig(t testing.TB, cols, rows int) *rig {
	r := &rig{t: t, now: start, desk: &answers{
		Models: func(context.Context) ([]Choice, error) { return nil, errors.New("no") },
		Sessions: func(_ context.Context, all bool) ([]Saved, string, error) {
			list := []Saved{
				{Choice: Choice{ID: "c", Name: "A fork of it", Right: "1h · 14 KB · main"}, Branch: "main", Parent: "a"},
				{Choice: Choice{ID: "a", Name: "The first one", Right: "2h · 12 KB · main", Find: "overflow"}, Branch: "main"},
				{Choice: Choice{ID: "b", Name: "Another", Right: "3d · 1.1 MB"}, Branch: "fix"},
			}
			if all {
				list = append(list, Saved{Choice: Choice{ID: "d", Name: "Elsewhere", About: "web"}, Elsewhere: "cd /src/web && adze --resume d"})
			}
			return list, "main", nil
		},
		Search: func(_ context.Context, words string, all bool) map[string]string {
			if words != "walrus" {
				return nil
			}
			return map[string]string{"b": "and then a walrus came"}
		},
		Preview: func(_ context.Context, id string) (string, error) { return "> began " + id, nil },
		Rename: func(_ context.Context, id, title string) error {
			if title == "taken" {
				return errors.New("it is open elsewhere")
			}
			return nil
		},
		Diff: func(context.Context) ([]view.Block, error) {
			return []view.Block{view.Diff{Path: "calc.go", Unified: diffText, Added: 1, Removed: 1}, view.Diff{Path: "new.go", Created: true, Unified: "@@ -0,0 +1,1 @@\n+package calc\n", Added: 1}}, nil
		},
		Files: func(context.Context) ([]string, error) { return []string{"calc.go", "calc_test.go", "a b.txt"}, nil },
	}}
	h := Host{
		Version: "1.2.3", Dir: "~/src/calc",
		NewID: func() string { r.ids++; return fmt.Sprint("id", r.ids) },
		Looks: Looks{Themes: draw.ThemeNames}, Client: r.desk,
	}
	r.desk.Tasks = r.beside
	r.m = newModel(h, Start{}, screen{size: term.Size{Cols: cols, Rows: rows}, dark: true, focused: true})
	r.m.now = r.now
	r.m.setTheme("")
	return r
}

// open opens a session.
func (r *rig) open() *rig {
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "0199c5a2", Dir: "~/src/calc", Branch: "main", Model: "anthropic/sonnet-4.6", Window: 200_000, Mode: policy.Default}}, nil})
	return r
}

func (r *rig) do(in Msg) {
	r.carry(r.m.update(r.now, in))
}

// carry does what effects ask for, as far as it matters here.
func (r *rig) carry(list []effect) {
	for _, e := range list {
		r.effects = append(r.effects, e)
		switch e := e.(type) {
		case submit:
			r.ops = append(r.ops, e.op)
			if e.then != nil {
				r.carry(e.then(r.m, nil))
			}
		case work:
			if then := e.run(context.Background()); then != nil {
				r.carry(then(r.m))
			}
		default: // the terminal's
		}
	}
}

func (r *rig) event(bodies ...event.Body) *rig {
	for _, b := range bodies {
		e := event.Event{Seq: r.seq, Time: r.now, Body: b}
		if _, live := b.(event.Live); !live {
			r.seq++
			e.Seq = r.seq
		}
		r.do(eventsMsg{of: r.m.s, events: []event.Event{e}})
	}
	return r
}

// pass lets time pass, with a frame that the terminal shows before.
func (r *rig) pass(d time.Duration) *rig {
	r.frame()
	r.m.painted(r.m.unseen(), r.m.now)
	r.now = r.now.Add(d)
	r.do(tickMsg{})
	r.frame()
	r.m.painted(r.m.unseen(), r.m.now)
	return r
}

// keys presses keys by name; a text in quotes is typed.
func (r *rig) keys(names ...string) *rig {
	for _, n := range names {
		if text, typed := strings.CutPrefix(n, "'"); typed {
			for _, c := range text {
				r.do(keyMsg{keymap.Rune(string(c))})
			}
			continue
		}
		r.do(keyMsg{keymap.Of(n, "")})
	}
	return r
}

// frame takes a frame: the live area, checked to fit.
// misleads reports whether a character changes how others read, or is not seen;
// joiners within emoji are seen.
func misleads(c rune) bool {
	return c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 || c == 0x200b || c == 0x200e || c == 0x200f || c == 0xfeff || c == 0x2028 || c == 0x115f || c >= 0xe0000 && c <= 0xe007f
}

func (r *rig) frame() []draw.Line {
	r.t.Helper()
	printed, live, cur := r.m.frame()
	r.printed = append(r.printed, printed...)
	z := r.m.screen.size
	for _, l := range slices.Concat(printed, live) {
		if w := l.Width(); w > z.Cols {
			r.t.Errorf("%d columns on a screen of %d: %q", w, z.Cols, l.String())
		}
		if s := l.String(); strings.ContainsFunc(s, func(c rune) bool { return c < 0x20 || c >= 0x7f && c < 0xa0 }) {
			r.t.Errorf("a control character gets through: %q", s)
		}
		if s := l.String(); strings.ContainsFunc(s, misleads) {
			i := strings.IndexFunc(s, misleads)
			r.t.Errorf("what cannot be seen, or turns text around, gets through: %q", s[max(0, i-20):min(len(s), i+20)])
		}
	}
	if len(live) > z.Rows {
		r.t.Errorf("%d rows on a screen of %d:\n%s", len(live), z.Rows, draw.TextOf(live))
	}
	if !cur.Hidden && (cur.Row < 0 || cur.Row >= max(len(live), 1) || cur.Col < 0 || cur.Col >= z.Cols) {
		r.t.Errorf("the cursor is at %d, %d of %d rows and %d columns", cur.Row, cur.Col, len(live), z.Cols)
	}
	return live
}

func (r *rig) text() string {
	r.t.Helper()
	live := r.frame()
	return draw.TextOf(append(slices.Clone(r.printed), live...))
}

func (r *rig) has(want ...string) *rig {
	r.t.Helper()
	s := r.text()
	for _, w := range want {
		if !strings.Contains(s, w) {
			r.t.Fatalf("%q is missing:\n%s", w, s)
		}
	}
	return r
}

func (r *rig) hasNot(not ...string) *rig {
	r.t.Helper()
	s := r.text()
	for _, w := range not {
		if strings.Contains(s, w) {
			r.t.Fatalf("%q should not be there:\n%s", w, s)
		}
	}
	return r
}

// Events of a small session.
func asked(call string, cmd string, v policy.Verdict) event.Asked {
	return event.Asked{Call: call, Tool: "Bash", Title: "Bash: " + cmd, Verdict: v, View: view.Terminal{Command: cmd}, Input: []byte(fmt.Sprintf(`{"command":%q}`, cmd))}
}

func verdict() policy.Verdict {
	return policy.Verdict{
		Effect: policy.Ask, Reason: "no rule allows `git push`, which is not known to be read-only (git blame, git log, git show and others are)", Part: "git push origin main", Suggest: []string{"Bash(git push:*)"},
		Parts: []policy.Piece{
			{Kind: "command", Text: "go test ./...", Path: "/home/u/src/calc", Effect: policy.Allow, Reason: "a rule allows it: Bash(go test:*)"},
			{Kind: "command", Text: "git push origin main", Path: "/home/u/src/calc", Effect: policy.Ask, Reason: "no rule allows `git push`, which is not known to be read-only (git blame, git log, git show and others are)"},
		},
	}
}

var plan = view.Group{Blocks: []view.Block{
	view.Text{S: "# Plan\n\n1. Read the **parser**\n2. Mend it\n", File: "/s/plan.md"},
	view.Questions{Items: []view.Question{{Header: "Plan", Text: "Carry out this plan?", Options: []view.Option{
		{Label: "Yes, and accept edits", About: "changes of files run without a question"}, {Label: "Yes, and ask before each edit"},
	}}}},
}}

var survey2 = view.Questions{Items: []view.Question{
	{Header: "Database", Text: "Which database?", Options: []view.Option{{Label: "SQLite", About: "a file"}, {Label: "Postgres", About: "a server"}}},
	{Header: "Checks", Text: "Which checks?", Multi: true, Options: []view.Option{{Label: "lint"}, {Label: "race"}}},
}}

const diffText = "@@ -5,3 +5,3 @@\n \tt := 0\n-\tfor i := 1; i < len(nums); i++ {\n+\tfor i := range nums {\n \t\tt += nums[i]\n"

// busy is a session in the middle of its work.
func busy(r *rig) {
	r.open().event(
		event.SessionStarted{ID: "0199c5a2", Dir: "/home/u/src/calc"},
		event.InputAccepted{ID: "p", Text: "The test in this module fails. Find out why and fix it."},
		event.TurnStarted{ID: "t1", Model: "anthropic/sonnet-4.6", Mode: policy.AcceptEdits},
		event.ReplyStarted{}, event.TextDelta{S: "Two places can be wrong; I read both first.\n\n"},
		event.PartDone{Part: llm.Text{S: "Two places can be wrong; I read both first.\n\n"}},
		event.ToolStarted{Call: "1", Name: "Grep", Title: `Grep Sum\(`, Fold: "search"},
		event.ToolStarted{Call: "2", Name: "Read", Title: "Read calc.go", Fold: "file"},
		event.ToolStarted{Call: "3", Name: "Read", Title: "Read calc_test.go", Fold: "file"},
		event.ToolFinished{Call: "1", Name: "Grep", Text: "3 matches"},
		event.ToolFinished{Call: "2", Name: "Read", View: view.Code{S: "package calc\n"}},
		event.ToolFinished{Call: "3", Name: "Read", View: view.Code{S: "package calc\n"}},
		event.ToolStarted{Call: "4", Name: "Bash", Title: "Bash: Run the tests"},
		event.ToolFinished{Call: "4", Name: "Bash", IsErr: true, Took: 1200 * time.Millisecond, View: view.Terminal{
			Command: "go test ./...", Exit: 1, Output: "--- FAIL: TestSum (0.00s)\n    calc_test.go:9: Sum(1, 2, 3) = 5, want 6\nFAIL\n", Note: "exit code 1"}},
		event.ToolStarted{Call: "5", Name: "Edit", Title: "Edit calc.go"},
		event.ToolFinished{Call: "5", Name: "Edit", View: view.Diff{Path: "calc.go", Unified: diffText, Added: 1, Removed: 1}},
		event.ToolFinished{Call: "6", Name: "TodoWrite", View: view.Tasks{Items: []view.Task{
			{Text: "Mend Sum", Status: view.Completed}, {Text: "Run the tests", Active: "Running the tests", Status: view.InProgress}, {Text: "Report", Status: view.Pending}}}},
		event.Replied{Usage: llm.Usage{In: 1200, Out: 300}, Model: "anthropic/sonnet-4.6", Cost: 0.02, Priced: true},
		event.ToolStarted{Call: "7", Name: "Bash", Title: "Bash: Run the tests again"},
		event.ToolOutput{Call: "7", S: "ok one\nok two\n"},
	)
	r.pass(3 * time.Second)
}

func TestGoldenFrames(t *testing.T) {
	for _, s := range slices.Concat(scenes, rareScenes) {
		t.Run(s.name, func(t *testing.T) {
			slowtest.Alone(t)
			var b strings.Builder
			sizes := []term.Size{{Cols: 80, Rows: 24}, {Cols: 40, Rows: 10}, {Cols: 200, Rows: 50}}
			for _, z := range sizes {
				r := newRig(t, z.Cols, z.Rows)
				s.play(r)
				fmt.Fprintf(&b, "== %dx%d\n%s", z.Cols, z.Rows, r.text())
			}
			for _, z := range sizes {
				for _, name := range []string{"dark", "light"} {
					r := newRig(t, z.Cols, z.Rows)
					s.play(r)
					r.frame()
					live := r.frame()
					th, _ := draw.Named(name, false)
					fmt.Fprintf(&b, "== %s %dx%d\n", name, z.Cols, z.Rows)
					for _, l := range append(r.printed, live...) {
						b.WriteString(strings.ReplaceAll(string(th.Append(nil, l, draw.Profile{Depth: draw.Colors256})), "\x1b", "␛") + "\n")
					}
				}
			}
			golden(t, s.name, b.String())
		})
	}
}

// Each dialog that has a name in the code is in a golden frame.
func TestEveryDialogHasAFrame(t *testing.T) {
	read := func(pattern string) (all string) {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all += string(raw)
		}
		return all
	}
	frames := read("testdata/frames/*.txt")
	named := regexp.MustCompile(`newMenu\(m, "([^"]+)"|Sheet\{Heading: "([^"]+)"`).FindAllStringSubmatch(read("*.go"), -1)
	for _, m := range named {
		if head := m[1] + m[2]; !strings.Contains(frames, "╭ "+head) {
			t.Errorf("no frame shows %q", head)
		}
	}
	if len(named) < 12 {
		t.Errorf("only %d dialogs are found in the code", len(named))
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "frames", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s changed; run with -update and look at the difference:\n%s", file, got)
	}
}

// A prompt that is typed when the first start asks for colours is not lost: it takes the
// place of the choice.
func TestAPromptSkipsTheColours(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.host.First = func() bool { return true }
	r.open().pass(time.Second)
	if !strings.Contains(r.text(), "Which colours?") {
		t.Fatal("no colours are asked for")
	}
	if r.keys("'hello"); len(r.m.shown) != 0 || r.m.box.Prompt().Text != "hello" {
		t.Errorf("%d dialogs, the prompt is %q", len(r.m.shown), r.m.box.Prompt().Text)
	}
}
