package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// maxResult is how much of a call's result a model is sent, in bytes.
const maxResult = 40_000

// A writer makes events of steps. After an error it makes none.
type writer struct {
	s     *Session
	begin func(Session) (Sink, error)
	sink  Sink
	err   error

	at    time.Time
	seq   event.Seq
	turn  int
	calls int
	reply []llm.Part        // that is not recorded yet
	open  []llm.ToolUse     // recorded, without a result
	ids   map[string]string // of calls: theirs to ours
}

func (w *writer) put(b event.Body) {
	w.seq++
	if w.err == nil {
		w.err = w.sink.Put(event.Event{Seq: w.seq, Time: w.at, Body: b})
	}
}

// start begins the copy, with the first prompt.
func (w *writer) start() {
	if w.sink, w.err = w.begin(*w.s); w.err != nil {
		return
	}
	w.sink.First.ID, w.sink.First.Schema = w.s.NewID(), event.Schema
	w.put(w.sink.First)
	if w.s.Title != "" {
		w.put(event.Titled{Title: clip.Line(clip.Clean(w.s.Title), 200), By: w.s.From})
	}
}

func (w *writer) step(x step) {
	if x.at.After(w.at) {
		w.at = x.at
	}
	switch {
	case strings.TrimSpace(x.prompt) != "" || len(x.images) > 0:
		w.prompt(x.prompt, x.images)
	case w.turn == 0:
		w.s.leave("what came before the first prompt")
	case x.call != nil:
		w.call(*x.call)
	case x.result != nil:
		w.result(*x.result)
	case strings.TrimSpace(x.text) != "": // providers refuse a text of nothing
		w.reply = append(w.reply, llm.Text{S: x.text})
	}
}

func (w *writer) prompt(text string, images []llm.Image) {
	if w.turn == 0 {
		w.start()
	}
	w.end()
	w.turn++
	w.s.Prompts++
	id := fmt.Sprintf("import%d", w.turn)
	w.put(event.InputAccepted{ID: id, Text: text, Images: images})
	w.put(event.TurnStarted{ID: id, Mode: policy.Default})
	w.ids = map[string]string{}
}

// flush records what the model said.
func (w *writer) flush() {
	if len(w.reply) == 0 {
		return
	}
	w.close()
	stop := llm.EndTurn
	for _, p := range w.reply {
		if u, ok := p.(llm.ToolUse); ok {
			w.open, stop = append(w.open, u), llm.WantTools
		}
	}
	w.put(event.Replied{Message: llm.Message{Role: llm.Assistant, Parts: w.reply}, Stop: stop, Priced: true})
	w.reply = nil
}

func (w *writer) call(u llm.ToolUse) {
	w.calls++
	theirs := u.ID
	u.ID, u.Name, u.Input = fmt.Sprintf("import_%d", w.calls), toolName(u.Name), object(u.Input)
	w.ids[theirs] = u.ID
	w.reply = append(w.reply, u)
}

func (w *writer) result(r llm.ToolResult) {
	of := func(u llm.ToolUse) bool { return u.ID == w.ids[r.ID] }
	i := slices.IndexFunc(w.open, of)
	if i < 0 {
		w.flush()
		i = slices.IndexFunc(w.open, of)
	}
	if i < 0 {
		if w.ids[r.ID] == "" { // else it is there a second time
			w.s.leave("results of no open call")
		}
		return
	}
	w.finish(w.open[i], r.Text, r.IsErr)
	w.open = slices.Delete(w.open, i, i+1)
}

func (w *writer) finish(u llm.ToolUse, text string, failed bool) {
	if len(text) > maxResult {
		how := ""
		if w.sink.Spill != nil && w.err == nil {
			path, err := w.sink.Spill(text)
			if w.err = err; err == nil {
				how = "all of it is in " + path
			}
		}
		text = clip.Middle(text, maxResult, how)
	}
	w.put(event.ToolStarted{Call: u.ID, Name: u.Name, Input: u.Input, Title: u.Name})
	w.put(event.ToolFinished{Call: u.ID, Name: u.Name, Text: text, IsErr: failed})
}

// close answers calls that have no result.
func (w *writer) close() {
	for _, u := range w.open {
		w.s.leave("calls without a result, which say so now")
		w.finish(u, "[the result of this call was not kept]", true)
	}
	w.open = nil
}

func (w *writer) end() {
	if w.turn == 0 {
		return
	}
	w.flush()
	w.close()
	w.put(event.TurnEnded{ID: fmt.Sprintf("import%d", w.turn), How: event.Done, Reason: "completed"})
}

// object makes a JSON object of a call's arguments, which is what all providers
// take.
func object(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return json.RawMessage("{}")
	case !fastjson.Valid(raw): // it becomes a text
	case raw[0] == '{':
		return raw
	default:
		return json.RawMessage(`{"input":` + string(raw) + `}`)
	}
	out, err := json.Marshal(map[string]string{"input": string(raw)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}

// toolName is a name that every provider takes.
func toolName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if out == "" {
		return "unknown"
	}
	return out[:min(len(out), 64)]
}
