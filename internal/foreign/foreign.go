// Package foreign reads sessions that other agents keep in a person's home, and
// makes events of ours of them. It writes nothing and changes nothing of theirs;
// what it does not understand it leaves out.
package foreign

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A Session is one of another agent.
type Session struct {
	From    string // the agent: ClaudeCode or Codex
	ID      string // there
	Path    string // of its file
	Dir     string // where it worked, "" when that is not known
	Title   string
	Began   time.Time
	Prompts int
	steps   []step
}

// Names of agents.
const (
	ClaudeCode = "claude-code"
	Codex      = "codex"
)

// Names are the agents whose sessions can be read.
func Names() []string { return []string{ClaudeCode, Codex} }

// Bounds of what is read.
const (
	maxLine   = 32 << 20
	maxResult = 40_000 // bytes of one call's result; the middle of more is left out
)

// A step is one thing that was said or done, in order.
type step struct {
	at     time.Time
	prompt string // by the person
	text   string // by the model
	call   *llm.ToolUse
	result *llm.ToolResult
}

// Find lists the session files of an agent below a home, in order of their
// names. Links are not followed.
func Find(home, from string) ([]string, error) {
	var pattern string
	switch from {
	case ClaudeCode:
		pattern = filepath.Join(".claude", "projects", "*", "*.jsonl")
	case Codex:
		pattern = filepath.Join(".codex", "sessions", "*", "*", "*", "rollout-*.jsonl")
	default:
		return nil, fmt.Errorf("there is no agent %q", from)
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := fsGlob(root, pattern)
	if err != nil {
		return nil, err
	}
	for i, n := range names {
		names[i] = filepath.Join(home, n)
	}
	slices.Sort(names)
	return names, nil
}

// Read reads one file of an agent. The error is ErrEmpty when no prompt is in
// it.
func Read(from, path string) (Session, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return Session{}, err
	}
	defer f.Close()
	s := Session{From: from, Path: path, ID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
	take := s.claude
	if from == Codex {
		take = s.codex
	}
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := readLine(r)
		if len(line) > 0 {
			take(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s, err
		}
	}
	if s.Prompts == 0 {
		return s, ErrEmpty
	}
	return s, nil
}

// ErrEmpty: nobody wrote a prompt in a session.
var ErrEmpty = errors.New("there is no prompt in it")

// readLine returns a line without its end; one that is too long is empty.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(line) > maxLine {
				line = nil
			}
			return line, err
		}
	}
}

func (s *Session) add(x step) {
	if s.Began.IsZero() {
		s.Began = x.at
	}
	if x.prompt != "" {
		s.Prompts++
	}
	s.steps = append(s.steps, x)
}

// NewID is the ID of the copy of a session: the same each time, a UUID of
// version 7 with the time when it began.
func (s Session) NewID() string {
	sum := sha256.Sum256([]byte(s.From + "\x00" + s.ID))
	u := sum[:16]
	ms := uint64(max(0, s.Began.UnixMilli()))
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i))
	}
	u[6], u[8] = u[6]&0x0f|0x70, u[8]&0x3f|0x80
	h := hex.EncodeToString(u)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Events are the events of the copy, from first on. Each call has a result,
// and each result its call; reasoning is left out, because only the model that
// wrote it may read it.
func (s Session) Events(first event.SessionStarted) []event.Event {
	w := writer{at: s.Began}
	first.ID, first.Schema = s.NewID(), event.Schema
	w.put(first)
	if s.Title != "" {
		w.put(event.Titled{Title: clip.Line(clip.Clean(s.Title), 200), By: s.From})
	}
	for _, x := range s.steps {
		if x.at.After(w.at) {
			w.at = x.at
		}
		switch {
		case x.prompt != "":
			w.prompt(x.prompt)
		case w.turn == 0: // before the first prompt nobody is answered
		case x.text != "":
			w.reply = append(w.reply, llm.Text{S: x.text})
		case x.call != nil:
			w.call(*x.call)
		case x.result != nil:
			w.result(*x.result)
		}
	}
	w.end()
	return w.events
}

// A writer makes events of steps.
type writer struct {
	at     time.Time
	events []event.Event
	turn   int
	calls  int
	reply  []llm.Part        // that is not recorded yet
	open   []llm.ToolUse     // recorded, without a result
	ids    map[string]string // of calls: theirs to ours
}

func (w *writer) put(b event.Body) {
	w.events = append(w.events, event.Event{Seq: event.Seq(len(w.events) + 1), Time: w.at, Body: b})
}

func (w *writer) prompt(text string) {
	w.end()
	w.turn++
	id := fmt.Sprintf("import%d", w.turn)
	w.put(event.InputAccepted{ID: id, Text: text})
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
	u.ID = fmt.Sprintf("import_%d", w.calls)
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
		return // of no call that is open
	}
	w.finish(w.open[i], clip.Middle(r.Text, maxResult, ""), r.IsErr)
	w.open = slices.Delete(w.open, i, i+1)
}

func (w *writer) finish(u llm.ToolUse, text string, failed bool) {
	w.put(event.ToolStarted{Call: u.ID, Name: u.Name, Input: u.Input, Title: u.Name})
	w.put(event.ToolFinished{Call: u.ID, Name: u.Name, Text: text, IsErr: failed})
}

// close answers calls that have no result.
func (w *writer) close() {
	for _, u := range w.open {
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

// value makes valid JSON of a call's arguments.
func value(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}
