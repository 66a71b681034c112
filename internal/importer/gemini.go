package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/llm"
)

func (a *Agents) gemini() string { return filepath.Join(a.folder("GEMINI_CLI_HOME"), ".gemini") }

func (a *Agents) findGemini(context.Context) ([]Source, error) {
	var files []string
	for _, pattern := range []string{"tmp/*/chats/session-*.jsonl", "tmp/*/chats/session-*.json"} {
		names, err := glob(a.gemini(), pattern)
		if err != nil {
			return nil, err
		}
		files = append(files, names...)
	}
	return sources(Gemini, files), nil
}

// A geminiRecord is a line of a chat, or the whole of one in a file of an older
// version: a message, a change of what is known of the chat, or a way back.
type geminiRecord struct {
	SessionID string          `json:"sessionId"`
	Hash      string          `json:"projectHash"`
	Kind      string          `json:"kind"`
	Messages  []geminiMessage `json:"messages"`
	Rewind    string          `json:"$rewindTo"` // the message that goes, with all after it
	Set       *struct {
		Messages []geminiMessage `json:"messages"`
		Summary  string          `json:"summary"`
	} `json:"$set"`
	geminiMessage
}

type geminiMessage struct {
	ID      string          `json:"id"`
	Time    time.Time       `json:"timestamp"`
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
	Calls   []geminiCall    `json:"toolCalls"`
}

type geminiCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
	Status string          `json:"status"`
}

type geminiPart struct {
	Text    string      `json:"text"`
	Thought bool        `json:"thought"`
	Call    *geminiCall `json:"functionCall"`
	Result  *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
	Inline *struct {
		Media string `json:"mimeType"`
		Data  string `json:"data"`
	} `json:"inlineData"`
}

// readGemini folds the records of a chat: a message that comes again takes the
// place of the one before. What is held in memory is bounded by maxWhole.
func (a *Agents) readGemini(ctx context.Context, s *Session, put func(step)) error {
	raw, err := whole(s.Path)
	if err != nil {
		return err
	}
	var c chat
	lines := bytes.Split(raw, []byte("\n"))
	if filepath.Ext(s.Path) == ".json" {
		lines = [][]byte{raw}
	}
	for _, line := range lines {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var r geminiRecord
		if json.Unmarshal(line, &r) != nil {
			s.leave("lines that are not whole")
			continue
		}
		c.record(r)
	}
	if c.id != "" {
		s.ID = c.id
	}
	if c.kind == "subagent" {
		return ErrHelper
	}
	s.Dir, s.Title = a.geminiFolder(s.Path, c.hash), c.title
	for _, m := range c.messages {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.geminiMessage(m, put)
	}
	return nil
}

// A chat is what records come to.
type chat struct {
	id, hash, kind, title string
	messages              []geminiMessage
	at                    map[string]int // by ID, where a message was put
}

// find returns where a message is, -1 when it is nowhere. One that was taken
// out may still be in at.
func (c *chat) find(id string) int {
	if i, ok := c.at[id]; ok && i < len(c.messages) && c.messages[i].ID == id {
		return i
	}
	return -1
}

func (c *chat) replace(list []geminiMessage) {
	c.messages, c.at = list, make(map[string]int, len(list))
	for i, m := range slices.Backward(list) { // of two with one ID the first is found
		c.at[m.ID] = i
	}
}

func (c *chat) record(r geminiRecord) {
	if r.SessionID != "" && r.Hash != "" {
		c.id, c.hash, c.kind = r.SessionID, r.Hash, r.Kind
	}
	if r.Messages != nil {
		c.replace(r.Messages)
	}
	switch {
	case r.Rewind != "":
		c.messages = c.messages[:max(0, c.find(r.Rewind))]
	case r.Set != nil:
		if r.Set.Messages != nil {
			c.replace(r.Set.Messages)
		}
		if r.Set.Summary != "" {
			c.title = r.Set.Summary
		}
	case r.ID != "":
		if i := c.find(r.ID); i >= 0 {
			c.messages[i] = r.geminiMessage
		} else {
			if c.at == nil {
				c.at = map[string]int{}
			}
			c.at[r.ID] = len(c.messages)
			c.messages = append(c.messages, r.geminiMessage)
		}
	}
}

// geminiParts reads a content: a text, a part, or a list of both.
func geminiParts(raw json.RawMessage) (out []geminiPart) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		var p geminiPart
		if json.Unmarshal(one, &p.Text) == nil || json.Unmarshal(one, &p) == nil {
			out = append(out, p)
		}
	}
	return out
}

func (s *Session) geminiMessage(m geminiMessage, put func(step)) {
	switch m.Type {
	case "user":
	case "gemini":
		s.geminiReply(m, put)
		return
	case "info", "warning", "error": // the program speaks
		return
	default:
		s.leave("messages of a kind that is not known, " + m.Type)
		return
	}
	var texts []string
	var images []llm.Image
	for _, p := range geminiParts(m.Content) {
		switch {
		case p.Result != nil:
			put(step{at: m.Time, result: &llm.ToolResult{ID: p.Result.ID, Text: geminiOutput(p.Result.Response)}})
		case p.Inline != nil:
			img, instead := s.picture(p.Inline.Media, p.Inline.Data)
			images, texts = append(images, img...), append(texts, instead)
		case !told(p.Text):
			texts = append(texts, p.Text)
		}
	}
	if t := said(texts); t != "" || len(images) > 0 {
		put(step{at: m.Time, prompt: t, images: images})
	}
}

// geminiReply is what the model said, its calls, and their results. Both may be
// there a second time, in the form in which the API has them.
func (s *Session) geminiReply(m geminiMessage, put func(step)) {
	calls := m.Calls
	for _, p := range geminiParts(m.Content) {
		switch {
		case p.Call != nil:
			if !slices.ContainsFunc(calls, func(c geminiCall) bool { return c.ID == p.Call.ID }) {
				calls = append(calls, *p.Call)
			}
		case !p.Thought:
			put(step{at: m.Time, text: p.Text})
		}
	}
	for _, c := range calls {
		put(step{at: m.Time, call: &llm.ToolUse{ID: c.ID, Name: c.Name, Input: c.Args}})
	}
	for _, c := range calls {
		if len(c.Result) == 0 {
			continue
		}
		var out []string
		for _, p := range geminiParts(c.Result) {
			if p.Result != nil {
				out = append(out, geminiOutput(p.Result.Response))
			} else {
				out = append(out, p.Text)
			}
		}
		put(step{at: m.Time, result: &llm.ToolResult{ID: c.ID, Text: said(out), IsErr: c.Status == "error" || c.Status == "cancelled"}})
	}
}

// geminiOutput is what a response says: its output, its error, or all of it.
func geminiOutput(raw json.RawMessage) string {
	var r struct{ Output, Error *string }
	_ = json.Unmarshal(raw, &r)
	switch {
	case r.Output != nil:
		return *r.Output
	case r.Error != nil:
		return *r.Error
	}
	return string(raw)
}

// geminiFolder is where a chat worked: a file beside the chats says it, or a
// list of projects has one with the hash.
func (a *Agents) geminiFolder(path, hash string) string {
	if raw, err := regular.Read(filepath.Join(filepath.Dir(filepath.Dir(path)), ".project_root"), 4096); err == nil {
		return strings.TrimSpace(string(raw))
	}
	var list struct {
		Projects map[string]string `json:"projects"`
	}
	if raw, err := regular.Read(filepath.Join(a.gemini(), "projects.json"), maxSettings); err == nil {
		_ = json.Unmarshal(raw, &list)
	}
	for dir := range list.Projects {
		if sum := sha256.Sum256([]byte(dir)); hex.EncodeToString(sum[:]) == hash {
			return dir
		}
	}
	return ""
}
