package foreign

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

func fsGlob(root *os.Root, pattern string) ([]string, error) {
	return fs.Glob(root.FS(), path.Clean(filepath.ToSlash(pattern)))
}

// A block is a piece of a message's content.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocks reads a content, which may be a text alone.
func blocks(raw json.RawMessage) []block {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []block{{Type: "text", Text: s}}
	}
	var out []block
	_ = json.Unmarshal(raw, &out)
	return out
}

func text(raw json.RawMessage) string {
	var parts []string
	for _, b := range blocks(raw) {
		switch {
		case b.Text != "":
			parts = append(parts, b.Text)
		case strings.HasSuffix(b.Type, "image"):
			parts = append(parts, "[an image]")
		}
	}
	return strings.Join(parts, "\n")
}

// claude takes a line of a transcript of Claude Code: an API message with what
// belongs to it. Lines of sub-agents and of the program itself are left out.
func (s *Session) claude(line []byte) {
	var l struct {
		Type      string    `json:"type"`
		Cwd       string    `json:"cwd"`
		Time      time.Time `json:"timestamp"`
		SideChain bool      `json:"isSidechain"`
		Meta      bool      `json:"isMeta"`
		Summary   bool      `json:"isCompactSummary"`
		Title     string    `json:"customTitle"`
		Message   struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &l) != nil || l.SideChain || l.Meta || l.Summary {
		return
	}
	if s.Dir == "" {
		s.Dir = l.Cwd
	}
	if l.Title != "" {
		s.Title = l.Title
	}
	if l.Type != "user" && l.Type != "assistant" {
		return
	}
	var said []string
	for _, b := range blocks(l.Message.Content) {
		switch b.Type {
		case "text":
			if l.Type == "assistant" && b.Text != "" {
				s.add(step{at: l.Time, text: b.Text})
			} else if b.Text != "" {
				said = append(said, b.Text)
			}
		case "tool_use":
			s.add(step{at: l.Time, call: &llm.ToolUse{ID: b.ID, Name: b.Name, Input: value(b.Input)}})
		case "tool_result":
			s.add(step{at: l.Time, result: &llm.ToolResult{ID: b.ToolUseID, Text: text(b.Content), IsErr: b.IsError}})
		case "image":
			said = append(said, "[an image]")
		}
	}
	if len(said) > 0 {
		s.add(step{at: l.Time, prompt: strings.Join(said, "\n")})
	}
}

// codex takes a line of a rollout of Codex: an item of the Responses API.
func (s *Session) codex(line []byte) {
	var l struct {
		Time    time.Time `json:"timestamp"`
		Type    string    `json:"type"`
		Payload struct {
			Type      string          `json:"type"`
			ID        string          `json:"id"`
			Cwd       string          `json:"cwd"`
			Role      string          `json:"role"`
			Content   json.RawMessage `json:"content"`
			Name      string          `json:"name"`
			Arguments string          `json:"arguments"`
			Input     string          `json:"input"`
			CallID    string          `json:"call_id"`
			Output    json.RawMessage `json:"output"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &l) != nil {
		return
	}
	p := l.Payload
	switch {
	case l.Type == "session_meta":
		if s.Dir == "" {
			s.Dir = p.Cwd
		}
		if p.ID != "" && s.Prompts == 0 {
			s.ID = p.ID
		}
	case l.Type != "response_item":
	case p.Type == "message" && p.Role == "user":
		// What stands in a tag is what the program tells the model by itself.
		if t := text(p.Content); t != "" && !told(t) {
			s.add(step{at: l.Time, prompt: t})
		}
	case p.Type == "message" && p.Role == "assistant":
		if t := text(p.Content); t != "" {
			s.add(step{at: l.Time, text: t})
		}
	case p.Type == "function_call" || p.Type == "custom_tool_call":
		input := json.RawMessage(p.Arguments)
		if p.Type == "custom_tool_call" || !json.Valid(input) {
			input, _ = json.Marshal(map[string]string{"input": p.Input + p.Arguments})
		}
		s.add(step{at: l.Time, call: &llm.ToolUse{ID: p.CallID, Name: p.Name, Input: input}})
	case p.Type == "function_call_output" || p.Type == "custom_tool_call_output":
		s.add(step{at: l.Time, result: &llm.ToolResult{ID: p.CallID, Text: text(p.Output)}})
	}
}

func told(t string) bool {
	for _, tag := range []string{"<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md instructions"} {
		if strings.HasPrefix(strings.TrimSpace(t), tag) {
			return true
		}
	}
	return false
}
