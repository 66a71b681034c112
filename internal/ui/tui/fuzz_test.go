package tui

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

func FuzzUI(f *testing.F) {
	for i := range uint64(20) {
		f.Add(i, uint8(80), uint8(24))
	}
	f.Add(uint64(99), uint8(1), uint8(1))
	f.Add(uint64(98), uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, cols, rows uint8) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := newRig(t, max(int(cols), 1), max(int(rows), 1))
		r.m.screen.canvas.on = rnd.IntN(2) == 0
		switch rnd.IntN(5) {
		case 0: // nothing is open yet
		case 1:
			r.do(openedMsg{&Session{Facts: ask.Facts{ID: "s"}, UI: Settings{Fullscreen: true}}, nil})
		default:
			r.open()
		}
		for range 150 {
			randomly(r, rnd)
			if rnd.IntN(2) == 0 {
				r.frame()
			}
			if t.Failed() {
				return
			}
		}
	})
}

var fuzzKeys = []string{
	"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "backspace", "delete", "ctrl+o", "ctrl+t", "ctrl+r", "ctrl+s", "ctrl+l", "ctrl+g", "ctrl+u",
	"ctrl+w", "ctrl+_", "ctrl+x", "ctrl+k", "alt+p", "alt+enter", "pgup", "pgdown", "home", "end", "?", "/", "@", "!", "#", "g", "G", "n", "N", "q", "y", "e", "1", "2", "space", "f1", "ctrl+b", "ctrl+a", "ctrl+v", "alt+t",
}

// dot is a picture of one pixel.
var dot = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")

func randomly(r *rig, rnd *rand.Rand) {
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	text := pick("x", "héllo wörld", "界界界", "\x1b[31mred", "- a\n- b\n\n", "```go\nfunc x() {}\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", strings.Repeat("long ", 60), "\n\n", "👩\u200d👧")
	id := pick("1", "2", "3")
	switch rnd.IntN(26) {
	case 0, 1, 2, 3, 4:
		r.keys(fuzzKeys[rnd.IntN(len(fuzzKeys))])
	case 5, 6:
		r.keys("'" + pick("hello", "/cl", "@ca", "/theme", "/mode", "/resume", "/help", "/cost", "/tasks", "/diff", "/nothing", "a b c"))
	case 7:
		r.do(pasteMsg{strings.Repeat(text, 1+rnd.IntN(30))})
		r.do(mouseMsg{rnd.IntN(9) - 4})
	case 8:
		r.do(sizeMsg{term.Size{Cols: 1 + rnd.IntN(120), Rows: 1 + rnd.IntN(50)}})
	case 9:
		r.pass(time.Duration(rnd.IntN(400)) * time.Millisecond)
	case 10:
		r.event(event.InputAccepted{ID: pick("id1", "id2", "x"), Text: text, Images: []op.Image{{Data: dot}}[rnd.IntN(2):], Attached: []event.Attached{{Name: text, About: text, Refused: rnd.IntN(2) == 0}}, Steer: rnd.IntN(2) == 0})
	case 11:
		r.event(event.TurnStarted{ID: "t"})
	case 12:
		r.event(event.ReplyStarted{})
	case 13, 14, 15:
		r.event(event.TextDelta{At: rnd.IntN(3) * 5, S: text})
	case 16:
		r.event(event.ThinkingDelta{S: text})
	case 17:
		r.event(event.PartDone{Part: []llm.Part{llm.Text{S: text}, llm.Thinking{S: text}, llm.ToolUse{ID: id, Name: "X"}}[rnd.IntN(3)]})
	case 18:
		r.event(event.ToolStarted{Call: id, Name: "X", Title: text, Fold: pick("", "file")})
	case 19:
		r.event(event.ToolOutput{Call: id, S: text})
	case 20:
		r.event(event.ToolFinished{Call: id, Name: "X", IsErr: rnd.IntN(3) == 0, View: []view.Block{nil, view.Text{S: text}, view.Diff{Path: "p", Unified: diffText}, view.Terminal{Command: text, Output: text}, view.Image{Data: dot}}[rnd.IntN(5)]})
	case 21:
		r.event(asked(id, text, verdict()))
	case 22:
		r.event(event.Asked{Call: id, View: []view.Block{survey2, plan, wanted, view.Form{URL: "https://a.b/c"}}[rnd.IntN(4)]})
	case 23:
		r.event([]event.Body{event.Retracted{Why: "w"}, event.Dropped{Calls: []string{id}}, event.Answered{Answer: op.Answer{Call: id}}, event.Noted{Level: "info", Text: text}}[rnd.IntN(4)])
	case 24:
		r.event(event.Replied{Message: llm.Message{Parts: []llm.Part{llm.Text{S: text}, llm.ToolUse{ID: id, Name: "X"}}}})
	case 25:
		r.event(event.TurnEnded{How: []event.End{event.Done, event.Interrupted, event.Failed}[rnd.IntN(3)], Err: text})
	}
}
