package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/view"
)

// Every command of adze itself can be done here when the host can do all, and
// nothing is shown here that no command names.
func TestCommandsAndViewsMatch(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.host.EditFile = func(context.Context, string) error { return nil }
	views := r.m.views()
	for _, c := range op.Commands() {
		if c.Make == nil && views[c.Name] == nil {
			t.Errorf("/%s shows nothing", c.Name)
		}
		delete(views, c.Name)
	}
	for name := range views {
		t.Errorf("no command shows %s", name)
	}
	if got, all := len(r.m.commands()), len(op.Commands()); got != all {
		t.Errorf("%d commands of %d", got, all)
	}
	r.m.host.Themes = nil
	for _, c := range r.m.commands() {
		if c.name == "theme" {
			t.Error("/theme is offered where nobody knows themes")
		}
	}
}

// Enter runs what was typed, or what it begins, or what a person went to. A name
// that is none is told, with those that are near, and stays to be mended.
func TestEnterRunsNoOtherCommand(t *testing.T) {
	for _, c := range []struct{ keys, want, not string }{
		{"'/zqx|enter", "there is no command /zqx", "did you mean"},
		{"'/ntx|enter", "there is no command /ntx; did you mean /context?", "instructions"},
		{"'/ntx|tab", "› /context", "there is no command"},
		{"'/ntx|down|up|enter", "free", "there is no command"},
		{"'/moed|enter", "did you mean /mode", "Permission mode"},
		{"'/undo|enter", "there is no command /undo; did you mean /rewind?", ""},
		{"'/approvals|enter", "there is no command /approvals", ""},
		{"'/plan2|enter", "did you mean /plan?", ""},
		{"'/HELP|enter", "did you mean /help?", "Begin a prompt with"},
		{"'/hel|enter", "Begin a prompt with", "there is no command"},
	} {
		r := newRig(t, 80, 24)
		r.desk.Context = func() view.Block { return view.Text{S: "free"} }
		r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Model: "m"}}, nil})
		r.keys(strings.Split(c.keys, "|")...).has(c.want)
		if c.not != "" {
			r.hasNot(c.not)
		}
	}
}

// What a command takes stands behind its name until something is typed there.
func TestArgumentsAreHinted(t *testing.T) {
	r := newRig(t, 80, 24).open().event(event.Extended{Commands: []event.Offer{{Name: "deploy", Args: "[wh\x1b[2Jere]"}}})
	r.keys("'/rename ").has("› /rename <title>").keys("x").has("› /rename x").hasNot("<title>")
	r.keys("ctrl+c", "'/deploy ").has("› /deploy [wh", "ere]").hasNot("\x1b")
	r.keys("ctrl+c", "'/help ").hasNot("[")
}

// /memory lists the files that a line can be added to and all others that were
// read, each once, and opens the one that is chosen.
func TestMemoryListsWhatWasRead(t *testing.T) {
	r := newRig(t, 80, 24)
	var opened []string
	r.desk.Memory = func() []Choice {
		return []Choice{{ID: "/w/AGENTS.md", Name: "this project"}, {ID: "/h/AGENTS.md", Name: "all my projects"}}
	}
	r.m.host.EditFile = func(_ context.Context, path string) error {
		opened = append(opened, path)
		return nil
	}
	r.open()
	r.desk.Read = func() []Choice {
		return []Choice{{ID: "/w/AGENTS.md", Name: "twice?", Right: "12 tokens"}, {ID: "/w/sub/CLAUDE.md", Name: "w/sub/CLAUDE.md", About: "project"}, {ID: "/s/notes.md", Name: "s/notes.md", About: "notes of this session"}}
	}
	r.keys("'/memory", "enter").has("this project", "12 tokens", "all my projects", "w/sub/CLAUDE.md", "notes of this session").hasNot("twice?")
	r.keys("down", "down", "down", "enter")
	for _, e := range r.effects {
		if a, ok := e.(away); ok {
			a.run(t.Context())
		}
	}
	if len(opened) != 1 || opened[0] != "/s/notes.md" {
		t.Errorf("opened %q", opened)
	}
}

// What extensions bring is found, says who brought it, and is the session's to
// carry out; adze's own commands of the same name count.
func TestCommandsOfExtensions(t *testing.T) {
	r := newRig(t, 80, 24)
	r.keys("'/deploy early", "enter") // before anything is known of them
	r.open().event(event.Extended{Commands: []event.Offer{
		{Name: "deploy", Args: "[where]", About: "Ship it\nsecond line", From: "the plugin ops@market"}, {Name: "db:ask", Args: "<question>", From: "the MCP server db"},
		{Name: "help", About: "not ours"}, {Name: "e\x1b[2Jvil", About: "\x1b]0;x\x07"},
	}})
	sent := func(want string) {
		t.Helper()
		if p, ok := last[op.Prompt](r); !ok || p.Text != want || !p.Command {
			t.Errorf("%+v, want %q", p, want)
		}
	}
	sent("/deploy early")
	r.keys("'/dep").has("/deploy", "Ship it … (the plugin ops@market)", "[where]").hasNot("second line")
	r.keys("enter")
	sent("/deploy")
	r.keys("'/deploy to  prod", "enter")
	sent("/deploy to  prod")
	r.keys("'/ask", "enter").has("/db:ask")
	r.keys("'why", "enter")
	sent("/db:ask why")
	r.keys("'/help", "enter").has("Begin a prompt with").hasNot("not ours")
	r.keys("G").has("/vim")
	r.keys("pgup").has("/db:ask")
}

// A copy says that it is one, and how to come back.
func TestForkSaysHowToComeBack(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.start = Start{Resume: "0199aaaa", Fork: true}
	r.open().has("This is a copy", "/resume 0199aaaa goes back")
	r = newRig(t, 80, 24)
	r.m.start = Start{Resume: "0199aaaa"}
	r.open().hasNot("This is a copy")
}

// /copy takes the last answer or the one that a number names, and says what is known
// of the copy.
func TestCopy(t *testing.T) {
	r := newRig(t, 100, 24).open().keys("'/copy", "enter").has("there is no answer to copy yet")
	for _, s := range []string{"first", "second"} {
		r.event(event.InputAccepted{ID: s, Text: s}, event.TurnStarted{ID: "t"}, event.ReplyStarted{}, event.TextDelta{S: s}, event.PartDone{Part: llm.Text{S: s}}, event.TurnEnded{ID: "t"})
	}
	for args, want := range map[string]string{"": "second", " 1": "second", " 2": "first"} {
		r.keys("'/copy"+args, "enter")
		if c, ok := r.effects[len(r.effects)-1].(clipping); !ok || c.text != want {
			t.Errorf("/copy%s: %+v", args, r.effects[len(r.effects)-1])
		}
	}
	n := len(r.effects)
	r.keys("'/copy 3", "enter").has("there is no such answer: there are 2")
	r.keys("'/copy x", "enter").has("/copy takes a number", "/copy x")
	for _, e := range r.effects[n:] {
		if _, ok := e.(clipping); ok {
			t.Errorf("copied %+v", e)
		}
	}
	for want, c := range map[string]struct {
		sent  bool
		where string
		err   error
	}{
		"copied it to tmux's buffer, and sent it to the terminal": {true, "tmux's buffer", nil},
		"copied it to the clipboard":                              {false, "the clipboard", nil},
		"sent it to the terminal, for its clipboard":              {true, "", nil},
		"no way": {false, "", errors.New("no way")},
	} {
		r.carry(r.m.copied("it", c.sent, c.where, c.err))
		r.has(want)
	}
}

// A command that takes nothing says so, and what was typed can be mended; one that does
// is told as it was typed.
func TestArgumentsAreNotDropped(t *testing.T) {
	r := newRig(t, 80, 24)
	ran := ""
	r.m.host.Reports = map[string]Report{"doctor": {}, "config": {Args: "[set KEY VALUE]"}}
	r.desk.Report = func(q ask.Report) string {
		ran = q.Args
		return "done"
	}
	r.open()
	for _, c := range []string{"cost", "context", "clear", "help", "memory", "exit", "doctor", "todos"} {
		if slices.ContainsFunc(r.m.commands(), func(x command) bool { return x.name == c }) {
			r.keys("'/"+c+" foo", "enter").has("/"+c+" takes no arguments", "/"+c+" foo").keys("ctrl+u")
		}
	}
	if len(r.m.shown) > 0 || r.m.left || r.m.s == nil {
		t.Error("it was done all the same")
	}
	r.keys("'/config set a b", "enter").has("› /config set a b")
	if ran != "set a b" {
		t.Errorf("it ran with %q", ran)
	}
	r.event(event.TurnStarted{ID: "t"}, event.TurnEnded{ID: "t"})
	r.keys("'/diff new", "enter").has("1 file changed", "new.go").hasNot("calc.go").keys("esc")
	r.keys("'/diff nothing", "enter").has("no file with nothing in its path, of 2 files")
}
