package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

const minOutput = 16 // the API refuses a smaller cap

// request writes the body: what stays first, the conversation last.
func (c *Client) request(r llm.Request, reader string) []byte {
	facts, known := c.c.Facts.Of(r.Model)
	if !known {
		facts = price.Facts{}
	}
	var j wire.JSON
	j.Obj()
	j.Key("model")
	j.Str(r.Model)
	j.Key("stream")
	j.Bool(true)
	j.Key("store")
	j.Bool(false)
	if n := r.MaxTokens; n > 0 || facts.Output > 0 {
		if n <= 0 {
			n = facts.Output
		}
		j.Key("max_output_tokens")
		j.Int(max(n, minOutput))
	}
	switch reasoned := reasons(r.Model, facts, known) || hasReasoned(r.Messages, reader); {
	case reasoned, !known && (r.Effort != "" && r.Effort != llm.EffortNone || r.ThinkingTokens > 0):
		writeReasoning(&j, r, facts, reasoned, c.summary())
	}
	j.Member("prompt_cache_key", cacheKey(r.CacheKey))
	j.Member("prompt_cache_retention", c.c.Retention)
	writeTools(&j, r.Tools)
	if r.Force != "" {
		j.Key("tool_choice")
		j.Obj()
		j.Member("type", "function")
		j.Member("name", r.Force)
		j.End()
	}
	var system []string
	for _, s := range r.System {
		if s != "" {
			system = append(system, s)
		}
	}
	j.Member("instructions", strings.Join(system, "\n\n"))
	j.Key("input")
	j.Arr()
	w := c.sent.Begin(reader, r.Messages, wire.Rules{Reader: reader, ID: callID})
	w.Write(&j, func(_ int, m llm.Message) {
		if m.Role == llm.Assistant {
			writeAssistant(&j, m.Parts)
		} else {
			writeUser(&j, m.Parts)
		}
	})
	j.EndArr()
	j.End()
	return w.Keep(&j)
}

// summary is the kind of summary to ask for, "" for none.
func (c *Client) summary() string {
	if c.unsummed.Load() || c.c.Summary == "none" {
		return ""
	}
	return c.c.Summary
}

// reasons reports whether a model reasons; names decide where facts are missing.
func reasons(model string, f price.Facts, known bool) bool {
	if known {
		return f.Thinking != ""
	}
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6", "codex"} {
		if strings.HasPrefix(model, prefix) && !strings.Contains(model, "chat") {
			return true
		}
	}
	return false
}

// hasReasoned reports whether the model has reasoned in this conversation:
// that is how one is recognised that no table knows.
func hasReasoned(msgs []llm.Message, reader string) bool {
	return slices.ContainsFunc(msgs, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
			th, ok := p.(llm.Thinking)
			return ok && th.From == reader
		})
	})
}

// writeReasoning asks for reasoning. What only models that reason take is left
// out where that is not known.
func writeReasoning(j *wire.JSON, r llm.Request, f price.Facts, sure bool, summary string) {
	effort := r.Effort
	if r.ThinkingTokens > 0 {
		effort = llm.EffortFor(r.ThinkingTokens)
	}
	name := f.Effort(effort)
	if name == "" && f.ID == "" && effort != "" && effort != llm.EffortNone {
		name = string(effort)
		if effort == llm.EffortMax {
			name = "high"
		}
	}
	j.Key("reasoning")
	j.Obj()
	j.Member("effort", name)
	if sure {
		j.Member("summary", summary)
	}
	j.End()
	if !sure {
		return
	}
	j.Key("include")
	j.Arr()
	j.Str("reasoning.encrypted_content")
	j.EndArr()
}

const maxID = 64 // the API's bound for call ids and cache keys

func callID(id string) string {
	if id = wire.SafeID(id); len(id) <= maxID {
		return id
	}
	return "call_" + cacheKey(id)[:40]
}

func cacheKey(key string) string {
	if len(key) <= maxID {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func writeTools(j *wire.JSON, tools []llm.Spec) {
	if len(tools) == 0 {
		return
	}
	j.Key("tools")
	j.Arr()
	for _, t := range tools {
		j.Obj()
		j.Member("type", "function")
		j.Member("name", t.Name)
		j.Member("description", t.Description)
		j.Key("parameters")
		if len(t.Schema) == 0 {
			t.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		j.Raw(t.Schema)
		j.Key("strict")
		j.Bool(false)
		j.End()
	}
	j.EndArr()
}

// sendable reports whether an item of reasoning can go back: nothing is stored
// at the provider, so one without its content there is not found.
func sendable(item json.RawMessage) bool {
	var it struct {
		Content string `json:"encrypted_content"`
	}
	return len(item) > 0 && item[0] == '{' && json.Unmarshal(item, &it) == nil && it.Content != ""
}

func writeAssistant(j *wire.JSON, parts []llm.Part) {
	last := -1 // reasoning must be followed by what it led to
	for i, p := range parts {
		switch p.(type) {
		case llm.Text, llm.ToolUse:
			last = i
		case llm.Thinking, llm.ToolResult, llm.Image, llm.Document:
		}
	}
	for i, p := range parts {
		switch p := p.(type) {
		case llm.Thinking:
			if i < last && sendable(p.Opaque) {
				j.Exact(p.Opaque)
			}
		case llm.Text:
			j.Obj()
			j.Member("type", "message")
			j.Member("role", "assistant")
			if len(p.Opaque) > 0 {
				j.Key("phase")
				j.Exact(p.Opaque)
			}
			j.Key("content")
			j.Arr()
			j.Obj()
			j.Member("type", "output_text")
			j.Member("text", p.S)
			j.End()
			j.EndArr()
			j.End()
		case llm.ToolUse:
			j.Obj()
			j.Member("type", "function_call")
			j.Member("call_id", p.ID)
			j.Member("name", p.Name)
			j.Key("arguments")
			var in wire.JSON
			in.Raw(p.Input)
			j.Str(string(in.Bytes()))
			j.End()
		case llm.ToolResult, llm.Image, llm.Document: // nothing a model says
		}
	}
}

func writeUser(j *wire.JSON, parts []llm.Part) {
	open := false
	for _, p := range parts {
		if res, ok := p.(llm.ToolResult); ok {
			writeResult(j, res)
			continue
		}
		if !open {
			open = true
			j.Obj()
			j.Member("type", "message")
			j.Member("role", "user")
			j.Key("content")
			j.Arr()
		}
		writeContent(j, p)
	}
	if open {
		j.EndArr()
		j.End()
	}
}

func writeContent(j *wire.JSON, p llm.Part) {
	switch p := p.(type) {
	case llm.Text:
		j.Obj()
		j.Member("type", "input_text")
		j.Member("text", p.S)
		j.End()
	case llm.Image:
		j.Obj()
		j.Member("type", "input_image")
		j.Member("detail", "auto")
		j.Key("image_url")
		j.Base64("data:"+p.Media+";base64,", p.Data)
		j.End()
	case llm.Document:
		name := p.Name
		if name == "" {
			name = "document.pdf"
		}
		j.Obj()
		j.Member("type", "input_file")
		j.Member("filename", name)
		j.Key("file_data")
		j.Base64("data:"+p.Media+";base64,", p.Data)
		j.End()
	case llm.Thinking, llm.ToolUse, llm.ToolResult: // not of a user, or written before
	}
}

func writeResult(j *wire.JSON, res llm.ToolResult) {
	j.Obj()
	j.Member("type", "function_call_output")
	j.Member("call_id", res.ID)
	j.Key("output")
	if len(res.Images) == 0 {
		j.Str(res.Text)
		j.End()
		return
	}
	j.Arr()
	if res.Text != "" {
		writeContent(j, llm.Text{S: res.Text})
	}
	for _, img := range res.Images {
		writeContent(j, img)
	}
	j.EndArr()
	j.End()
}
