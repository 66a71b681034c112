package importer

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

func (a *Agents) findCodex(context.Context) ([]Source, error) {
	files, err := glob(a.folder("CODEX_HOME", ".codex"), "sessions/*/*/*/rollout-*.jsonl")
	return sources(Codex, files), err
}

// A codexLine is a line of a rollout: an item of the Responses API, or something
// of the program itself.
type codexLine struct {
	Time    time.Time `json:"timestamp"`
	Type    string    `json:"type"`
	Payload struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Cwd       string          `json:"cwd"`
		Thread    string          `json:"thread_source"`
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Input     string          `json:"input"`
		Action    json.RawMessage `json:"action"`
		CallID    string          `json:"call_id"`
		Output    json.RawMessage `json:"output"`
	} `json:"payload"`
}

// readCodex reads a rollout.
func (a *Agents) readCodex(ctx context.Context, s *Session, put func(step)) error {
	begun, helper := false, false
	err := s.each(ctx, s.Path, func(_ int, raw []byte) {
		if helper {
			return
		}
		var l codexLine
		if fastjson.Unmarshal(raw, &l) != nil {
			s.leave("lines that are not whole")
			return
		}
		switch l.Type {
		case "session_meta": // a copy of a session begins with that of its parent behind its own
			if !begun {
				begun, helper = true, l.Payload.Thread == "subagent"
				s.Dir = l.Payload.Cwd
				if l.Payload.ID != "" {
					s.ID = l.Payload.ID
				}
			}
		case "response_item":
			s.codexItem(l, put)
		case "event_msg":
			if l.Payload.Type == "thread_rolled_back" {
				s.leave("turns that were taken back there, and are in the copy")
			}
		case "compacted":
			s.leave("summaries of compactions (what they stand for is taken)")
		case "turn_context", "world_state", "token_usage_record":
		default:
			s.leave("lines of a kind that is not known, " + l.Type)
		}
	})
	if err == nil && helper {
		return ErrHelper
	}
	return err
}

func (s *Session) codexItem(l codexLine, put func(step)) {
	p := l.Payload
	switch p.Type {
	case "message":
		switch p.Role {
		case "user":
			s.codexPrompt(l, put)
		case "assistant":
			put(step{at: l.Time, text: text(p.Content)})
		}
	case "function_call":
		put(step{at: l.Time, call: &llm.ToolUse{ID: p.CallID, Name: p.Name, Input: json.RawMessage(p.Arguments)}})
	case "custom_tool_call":
		input, _ := json.Marshal(map[string]string{"input": p.Input})
		put(step{at: l.Time, call: &llm.ToolUse{ID: p.CallID, Name: p.Name, Input: input}})
	case "local_shell_call":
		put(step{at: l.Time, call: &llm.ToolUse{ID: p.CallID, Name: "shell", Input: p.Action}})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		put(step{at: l.Time, result: &llm.ToolResult{ID: p.CallID, Text: text(p.Output)}})
	case "reasoning", "ghost_snapshot":
	default:
		s.leave("parts of a kind that is not known, " + p.Type)
	}
}

func (s *Session) codexPrompt(l codexLine, put func(step)) {
	var texts []string
	var images []llm.Image
	for _, b := range blocks(l.Payload.Content) {
		var url string
		switch {
		case json.Unmarshal(b.ImageURL, &url) == nil && url != "":
			img, instead := s.picture(dataURL(url))
			images, texts = append(images, img...), append(texts, instead)
		case !told(b.Text):
			texts = append(texts, b.Text)
		}
	}
	if t := said(texts); t != "" || len(images) > 0 {
		put(step{at: l.Time, prompt: t, images: images})
	}
}

// told reports whether a program says a text to the model by itself.
func told(t string) bool {
	for _, tag := range []string{"<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md instructions",
		"<turn_aborted>", "<session_context>"} {
		if strings.HasPrefix(strings.TrimSpace(t), tag) {
			return true
		}
	}
	return false
}
