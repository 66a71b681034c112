package print

import (
	"encoding/json"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// The shapes below are the public print protocol (compat.md 4.4). Field names
// are interface facts and stay exactly as they are.

// An initLine begins each turn.
type initLine struct {
	Type           string       `json:"type"`    // system
	Subtype        string       `json:"subtype"` // init
	UUID           string       `json:"uuid"`
	SessionID      string       `json:"session_id"`
	Cwd            string       `json:"cwd"`
	Tools          []string     `json:"tools"`
	MCPServers     []initServer `json:"mcp_servers"`
	Model          string       `json:"model"`
	PermissionMode string       `json:"permissionMode"`
	SlashCommands  []string     `json:"slash_commands"`
	Agents         []string     `json:"agents"`
	Skills         []string     `json:"skills"`
	Plugins        []initPlugin `json:"plugins"`
	APIKeySource   string       `json:"apiKeySource"`
	Version        string       `json:"claude_code_version"`
	AdzeVersion    string       `json:"adze_version"`
	OutputStyle    string       `json:"output_style"`
	// PluginErrors are plugins, and parts of some, that are not used.
	PluginErrors []event.PluginError `json:"plugin_errors,omitempty"`
	// SettingsErrors are what of the settings is not used, dead rules among it, in words.
	SettingsErrors []string `json:"settings_errors,omitempty"`
	Capabilities   []string `json:"capabilities"`
}

type initServer struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Source string `json:"source,omitempty"` // sdk, plugin, or the scope that configures it
}

type initPlugin struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Version string `json:"version,omitempty"`
	Source  string `json:"source,omitempty"` // NAME@MARKETPLACE of one that was installed
}

type messageLine struct {
	Type      string  `json:"type"` // assistant or user
	UUID      string  `json:"uuid"`
	SessionID string  `json:"session_id"`
	Message   any     `json:"message"`
	Parent    *string `json:"parent_tool_use_id"`
	Synthetic bool    `json:"isSynthetic,omitempty"`
	Result    any     `json:"tool_use_result,omitempty"`
	Aborted   bool    `json:"aborted,omitempty"`
	Error     string  `json:"error,omitempty"`
	Timestamp string  `json:"timestamp,omitempty"`
	Replay    bool    `json:"isReplay,omitempty"`
	ofAgent
}

// ofAgent says which agent a message is of, by the names of its task; the zero value is
// the session itself.
type ofAgent struct {
	ID   string `json:"agent_id,omitempty"`
	Type string `json:"subagent_type,omitempty"`
	Task string `json:"task_description,omitempty"`
}

type apiMessage struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"`
	Role       string  `json:"role"`
	Model      string  `json:"model"`
	Content    []any   `json:"content"`
	StopReason *string `json:"stop_reason"`
	StopSeq    *string `json:"stop_sequence"`
	Usage      usage   `json:"usage"`
	// Nothing of these is known here.
	Container   *string `json:"container"`
	Management  *string `json:"context_management"`
	StopDetails *string `json:"stop_details"`
}

type userMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type usage struct {
	In         int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Out        int `json:"output_tokens"`
	// Kept is CacheWrite by how long the provider keeps it, which differs in price.
	Kept kept `json:"cache_creation"`
	// Tools of the provider are not used.
	ServerTools serverTools `json:"server_tool_use"`
}

type kept struct {
	Minutes int `json:"ephemeral_5m_input_tokens"`
	Hour    int `json:"ephemeral_1h_input_tokens"`
}

type serverTools struct {
	Searches int `json:"web_search_requests"`
	Fetches  int `json:"web_fetch_requests"`
}

type modelUsage struct {
	In         int     `json:"inputTokens"`
	Out        int     `json:"outputTokens"`
	Thinking   int     `json:"thinkingTokens,omitempty"` // part of Out
	CacheRead  int     `json:"cacheReadInputTokens"`
	CacheWrite int     `json:"cacheCreationInputTokens"`
	Searches   int     `json:"webSearchRequests"`
	Cost       float64 `json:"costUSD"`
	Window     int     `json:"contextWindow"`
	Cap        int     `json:"maxOutputTokens"`
	Provider   string  `json:"provider"`
	Basis      string  `json:"costBasis"` // list, or unknown when a price is
}

type denialLine struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

type resultLine struct {
	Type       string                `json:"type"` // result
	Subtype    string                `json:"subtype"`
	Duration   int64                 `json:"duration_ms"`
	API        int64                 `json:"duration_api_ms"`
	IsError    bool                  `json:"is_error"`
	Status     int                   `json:"api_error_status,omitempty"`
	Turns      int                   `json:"num_turns"`
	Result     *string               `json:"result,omitempty"`
	Errors     []string              `json:"errors,omitempty"`
	StopReason *string               `json:"stop_reason"`
	TTFT       int64                 `json:"ttft_ms,omitempty"`
	Cost       float64               `json:"total_cost_usd"`
	Usage      usage                 `json:"usage"`
	ModelUsage map[string]modelUsage `json:"modelUsage"`
	Denials    []denialLine          `json:"permission_denials"`
	Structured json.RawMessage       `json:"structured_output,omitempty"`
	Deferred   *deferredLine         `json:"deferred_tool_use,omitempty"`
	Reason     string                `json:"terminal_reason"`
	UUID       string                `json:"uuid"`
	SessionID  string                `json:"session_id"`
}

// deferredLine is the call that a hook put off.
type deferredLine struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type retryLine struct {
	Type      string `json:"type"`    // system
	Subtype   string `json:"subtype"` // api_retry
	Attempt   int    `json:"attempt"`
	Max       int    `json:"max_retries"`
	Delay     int64  `json:"retry_delay_ms"`
	Status    *int   `json:"error_status"`
	Error     string `json:"error"`
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
}

type noteLine struct {
	Type      string `json:"type"`    // system
	Subtype   string `json:"subtype"` // informational, status
	Level     string `json:"level,omitempty"`
	Content   string `json:"content"`
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
}

type deniedLine struct {
	Type      string          `json:"type"`    // system
	Subtype   string          `json:"subtype"` // permission_denied
	Tool      string          `json:"tool_name"`
	ID        string          `json:"tool_use_id"`
	Input     json.RawMessage `json:"tool_input"`
	Reason    string          `json:"decision_reason"`
	Message   string          `json:"message"` // what the model reads
	UUID      string          `json:"uuid"`
	SessionID string          `json:"session_id"`
}

// A modeLine says that the permission mode is another one now.
type modeLine struct {
	Type      string  `json:"type"`                     // system
	Subtype   string  `json:"subtype"`                  // status
	Status    *string `json:"status"`                   // "compacting", null when only the mode changed
	Compacted string  `json:"compact_result,omitempty"` // success or failed, when that is over
	Mode      string  `json:"permissionMode"`
	UUID      string  `json:"uuid"`
	SessionID string  `json:"session_id"`
}

type hookLine struct {
	Type      string `json:"type"`    // system
	Subtype   string `json:"subtype"` // hook_started or hook_response
	ID        string `json:"hook_id"`
	Name      string `json:"hook_name"`
	Event     string `json:"hook_event"`
	Output    string `json:"output"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	Code      *int   `json:"exit_code,omitempty"`
	Outcome   string `json:"outcome,omitempty"` // success or error
	UUID      string `json:"uuid"`
	SessionID string `json:"session_id"`
}

type boundaryLine struct {
	Type      string   `json:"type"`    // system
	Subtype   string   `json:"subtype"` // compact_boundary
	Metadata  boundary `json:"compact_metadata"`
	UUID      string   `json:"uuid"`
	SessionID string   `json:"session_id"`
}

type boundary struct {
	Trigger string `json:"trigger"` // manual or auto
	Tokens  int    `json:"pre_tokens"`
	Left    int    `json:"post_tokens,omitempty"` // with instructions and tools
}

type streamLine struct {
	Type      string  `json:"type"` // stream_event
	Event     any     `json:"event"`
	Parent    *string `json:"parent_tool_use_id"`
	UUID      string  `json:"uuid"`
	SessionID string  `json:"session_id"`
	TTFT      int64   `json:"ttft_ms,omitempty"`
}

func toUsage(u llm.Usage) usage {
	return usage{In: u.In, CacheWrite: u.CacheWrite, CacheRead: u.CacheRead, Out: u.Out, Kept: kept{Minutes: u.CacheWrite - u.CacheWriteLong, Hour: u.CacheWriteLong}}
}

// content turns parts into the blocks of the public message shape.
func content(parts []llm.Part) []any {
	out := make([]any, 0, len(parts))
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			out = append(out, map[string]any{"type": "text", "text": p.S})
		case llm.Thinking:
			out = append(out, thinking(p))
		case llm.ToolUse:
			out = append(out, map[string]any{"type": "tool_use", "id": p.ID, "name": p.Name, "input": p.Input})
		case llm.ToolResult:
			out = append(out, toolResult(p))
		case llm.Image:
			out = append(out, image(p.Media, p.Data))
		case llm.Document:
			out = append(out, map[string]any{"type": "document", "source": source(p.Media, p.Data)})
		}
	}
	return out
}

// thinking carries the signature only when it is a plain string, which is
// what readers of this protocol know.
func thinking(p llm.Thinking) map[string]any {
	sig := ""
	var o struct {
		Signature string `json:"signature"`
	}
	if json.Unmarshal(p.Opaque, &sig) != nil && json.Unmarshal(p.Opaque, &o) == nil {
		sig = o.Signature
	}
	return map[string]any{"type": "thinking", "thinking": p.S, "signature": sig}
}

func toolResult(p llm.ToolResult) map[string]any {
	m := map[string]any{"type": "tool_result", "tool_use_id": p.ID, "content": p.Text, "is_error": p.IsErr}
	if len(p.Images) > 0 {
		list := []any{map[string]any{"type": "text", "text": p.Text}}
		for _, im := range p.Images {
			list = append(list, image(im.Media, im.Data))
		}
		m["content"] = list
	}
	return m
}

func image(media string, data []byte) map[string]any {
	return map[string]any{"type": "image", "source": source(media, data)}
}

func source(media string, data []byte) map[string]any {
	return map[string]any{"type": "base64", "media_type": media, "data": data}
}

func ms(d time.Duration) int64 { return d.Milliseconds() }
