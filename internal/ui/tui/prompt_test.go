package tui

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/history"
)

// prompts is a history.
type prompts []string

func (p prompts) Entry(i int) (history.Entry, bool) {
	if i >= len(p) {
		return history.Entry{}, false
	}
	return history.Entry{Text: p[i]}, true
}

func (prompts) Renew() {}

// What still waits is not offered a second time: neither by ↑ nor by a walk that began before.
func TestHistoryLeavesOutWhatWaits(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.box = edit.New(edit.Options{Keys: r.m.keys, Past: prompts{"steer me", "go"}, Skip: r.m.stillWaits})
	r.open().event(event.TurnStarted{ID: "t"})
	r.keys("'steer me", "enter", "'x").hasNot("takes it back").keys("up")
	if got := r.m.box.Text(); got != "go" {
		t.Errorf("the box has %q", got)
	}
	r.keys("down", "backspace").has("takes it back").keys("up")
	if u, ok := last[op.Unqueue](r); !ok || r.m.box.Text() != "steer me" {
		t.Errorf("%+v, the box has %q", u, r.m.box.Text())
	}
	r.keys("ctrl+u", "up")
	if got := r.m.box.Text(); got != "steer me" {
		t.Errorf("what was taken back is not in the history: %q", got)
	}
}

// ↑ takes back what waits in vim's normal mode, too: the hint says so.
func TestTakenBackInVim(t *testing.T) {
	r := newRig(t, 80, 24)
	r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s", Dir: "~/src/calc", Model: "m"}, UI: Settings{Vim: true}}, nil})
	r.event(event.TurnStarted{ID: "t"}).keys("'steer me", "enter", "esc").has("NORMAL", "takes it back").keys("up")
	if got := r.m.box.Text(); got != "steer me" {
		t.Errorf("the box has %q", got)
	}
}

// What the history brings opens no list until it is edited: the key that brought it
// goes on to what is older.
func TestHistoryPassesCommands(t *testing.T) {
	r := newRig(t, 80, 24)
	r.m.box = edit.New(edit.Options{Keys: r.m.keys, Past: prompts{"/status", "see @calc", "mend the parser"}})
	r.m.host.Everyone = prompts{"/status"}
	r.open()
	for _, key := range []string{"up", "ctrl+p"} {
		for _, want := range []string{"/status", "see @calc", "mend the parser"} {
			r.keys(key).hasNot("❯ status", "❯ calc.go")
			if got := r.m.box.Text(); got != want {
				t.Errorf("%s shows %q, want %q", key, got, want)
			}
		}
		r.keys("down", "down", "backspace").has("status")
		r.keys("ctrl+u")
	}
	r.keys("ctrl+r", "enter").hasNot("❯ status")
	if got := r.m.box.Text(); got != "/status" {
		t.Errorf("the search brings %q", got)
	}
}

func TestHistorySearch(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.m.host.Everyone, r.m.host.Past = prompts{"newest", "mend the parser", "oldest"}, prompts{"only here"}
	r.keys("ctrl+r", "'pars", "enter")
	if got := r.m.box.Text(); got != "mend the parser" {
		t.Errorf("the box has %q", got)
	}
	r.keys("ctrl+u", "ctrl+r", "ctrl+s", "enter")
	if got := r.m.box.Text(); got != "only here" {
		t.Errorf("the box has %q", got)
	}
}

func TestDroppedFilesAreNamed(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.do(pasteMsg{"'/home/u/a b.png'"})
	if got := r.m.box.Text(); got != `@"/home/u/a b.png" ` {
		t.Errorf("the box has %q", got)
	}
}

func TestDroppedPicturesAreAttached(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.m.host.Picture = func(_ context.Context, path string) (op.Image, error) {
		if path == "/home/u/bad.png" {
			return op.Image{}, errors.New("it is none")
		}
		return op.Image{Media: "image/png", Data: []byte(path)}, nil
	}
	r.keys("'see ")
	r.do(pasteMsg{"/home/u/a.PNG /home/u/bad.png /home/u/c.txt"})
	r.has("bad.png is not attached: it is none")
	r.keys("enter")
	got, _ := last[op.Prompt](r)
	if got.Text != "see @/home/u/c.txt [Image 1] @/home/u/bad.png" || len(got.Images) != 1 || string(got.Images[0].Data) != "/home/u/a.PNG" {
		t.Errorf("%q with %d images", got.Text, len(got.Images))
	}
	r.do(pasteMsg{"/help"})
	if got := r.m.box.Text(); got != "/help" {
		t.Errorf("a pasted command became %q", got)
	}
}

func TestWhatAPromptNamesIsSaidInALine(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.event(event.InputAccepted{ID: "i", Text: "see @a.go#L3-9 and @.env", Attached: []event.Attached{
		{Name: "a.go#L3-9", About: "7 lines", Text: "…"}, {Name: "b/", About: "folder"}, {Name: ".env", About: "it may hold secrets", Refused: true},
	}})
	r.has("with a.go#L3-9 (7 lines), b/ (folder)", "not attached: .env: it may hold secrets")
}

func TestVimShowsItsMode(t *testing.T) {
	r := newRig(t, 80, 24).open()
	r.keys("'/vim", "enter").pass(5 * time.Second) // until what was done is not told any more
	r.has("INSERT")
	r.keys("'abc", "esc")
	r.has("NORMAL")
	if _, ok := last[op.Interrupt](r); ok {
		t.Error("Esc that leaves vim's insert mode interrupts")
	}
	r.keys("'cc").has("INSERT ·").hasNot("INSERT c")
	r.keys("esc", "'?").has("╭ Help").keys("esc", "'r?").hasNot("╭ Help") // a "?" that another key waits for is none
	r = newRig(t, 80, 24).open().keys("'/vim", "enter").pass(5 * time.Second)
	if r.keys("'precious", "esc", "esc", "esc", "esc").has("NORMAL"); r.m.box.Text() != "precious" {
		t.Errorf("Esc in normal mode leaves %q", r.m.box.Text())
	}
}

// What empties the prompt box says how the text comes back.
func TestWhatIsClearedComesBack(t *testing.T) {
	for _, keys := range [][]string{{"esc", "esc"}, {"ctrl+c"}} {
		r := newRig(t, 80, 24).open().keys("'precious").keys(keys...).has("Ctrl+_ brings the text back")
		if r.keys("ctrl+_"); r.m.box.Text() != "precious" {
			t.Errorf("%v: %q", keys, r.m.box.Text())
		}
	}
}

// A name that is typed to its end is no choice: Enter sends the prompt, and Tab goes on
// to what is in a folder.
func TestWholeNamesAreSent(t *testing.T) {
	for _, c := range []struct {
		keys []string
		sent string // "" sends nothing
		box  string
	}{
		{[]string{"'see @calc.go", "enter"}, "see @calc.go", ""},
		{[]string{"'see @sub/", "enter"}, "see @sub/", ""},
		{[]string{"'see @sub/", "down", "enter"}, "", "see @sub/deep/"},
		{[]string{"'see @sub/", "tab"}, "", "see @sub/parser.go "},
		{[]string{"'see @calc", "enter"}, "", "see @calc.go "},
	} {
		r := newRig(t, 80, 24)
		r.desk.Files = func(context.Context) ([]string, error) {
			return []string{"calc.go", "calc_test.go", "sub/parser.go", "sub/deep/x.go"}, nil
		}
		r.open().keys(c.keys...)
		got, _ := last[op.Prompt](r)
		if got.Text != c.sent || r.m.box.Text() != c.box {
			t.Errorf("%q: sent %q, the box has %q", c.keys, got.Text, r.m.box.Text())
		}
	}
}

// At the start of a prompt "@" lists whom it can be sent to, before the files; elsewhere files
// alone. What was sent there is not in the queue any more once that is told.
func TestReceiversAreCompleted(t *testing.T) {
	who := []ask.Choice{{ID: "calm", Name: "calm", About: "agent: tests: works"}, {ID: "be the site", Name: "be the site", About: "session in /w: idle"}}
	for _, c := range []struct {
		keys []string
		box  string
	}{
		{[]string{"'@cal", "tab"}, "@calm "},
		{[]string{"'@cal", "down", "tab"}, "@calc.go "},
		{[]string{"'@site", "enter"}, `@"be the site" `},
		{[]string{"'see @cal", "tab"}, "see @calc.go "},
	} {
		r := newRig(t, 80, 24)
		r.desk.Receivers = who
		r.open().keys(c.keys...)
		if r.m.box.Text() != c.box {
			t.Errorf("%q: the box has %q, want %q", c.keys, r.m.box.Text(), c.box)
		}
	}
	r := newRig(t, 80, 24)
	r.desk.Receivers = who
	r.open().keys("'@calm go", "enter")
	if n := len(r.m.queue); n != 1 {
		t.Fatalf("%d prompts wait", n)
	}
	r.event(event.Noted{Level: "info", Text: `"go" to the agent calm: delivered`, Input: r.m.queue[0].id}).has("to the agent calm: delivered")
	if n := len(r.m.queue); n != 0 {
		t.Errorf("%d prompts wait still", n)
	}
}
