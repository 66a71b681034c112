package compat

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/schema"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// request writes the body: what stays first, the messages last.
func (c *Client) request(r llm.Request, reader string, q Quirks) (wire.Body, wire.Past) {
	facts, known := c.c.Facts.Of(r.Model)
	if !known {
		facts = price.Facts{}
	}
	w := writer{q: q, names: map[string]string{}, pdf: q.PDF || facts.Can(price.PDF)}
	w.marks = q.CacheMarks && strings.HasPrefix(r.Model, "anthropic/")
	j := &w.JSON
	j.Obj()
	j.Key("model")
	j.Str(r.Model)
	j.Key("stream")
	j.Bool(true)
	if !q.NoUsageOption {
		j.Key("stream_options")
		j.Obj()
		j.Key("include_usage")
		j.Bool(true)
		j.End()
	}
	if n := r.MaxTokens; n > 0 || facts.Output > 0 {
		if n <= 0 {
			n = facts.Output
		}
		if q.MaxCompletion {
			j.Key("max_completion_tokens")
		} else {
			j.Key("max_tokens")
		}
		j.Int(n)
	}
	w.effort(r, facts)
	if q.CacheKey {
		j.Member("prompt_cache_key", r.CacheKey)
	}
	past := c.sent.Past(r.Messages)
	tools, _ := past.Tools(r.Tools)
	tools, listed := wire.Dispatched(tools)
	w.tools(tools)
	if r.Force != "" && !q.NoForce {
		j.Key("tool_choice")
		j.Obj()
		j.Member("type", "function")
		j.Key("function")
		j.Obj()
		j.Member("name", r.Force)
		j.End()
		j.End()
	}
	j.Key("messages")
	j.Arr()
	w.system(r.System)
	rules := wire.Rules{Reader: reader, ID: longID, Listed: listed}
	if q.ShortIDs {
		rules.ID = shortID
	}
	out := c.sent.Begin(fmt.Sprint(reader, q, w.pdf, w.marks), r.Messages, rules)
	msgs := out.Messages()
	marked := 0
	for i := len(msgs) - 1; i >= 0 && marked < 2; i-- {
		if msgs[i].Role == llm.User {
			marked++
			w.markFrom = i
		}
	}
	out.Write(j, func(i int, m llm.Message) { w.message(m, w.marks && i >= w.markFrom) })
	j.EndArr()
	j.End()
	return out.Keep(j), past
}

// longID keeps ids that every server takes: at most 40 safe characters.
func longID(id string) string {
	if id = wire.SafeID(id); len(id) <= 40 {
		return id
	}
	return "call_" + digest(id, 24)
}

// shortID is nine letters or digits, the same for the same id.
func shortID(id string) string {
	if len(id) == 9 && strings.Trim(id, alphabet) == "" {
		return id
	}
	return digest(id, 9)
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func digest(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(out)
}

type writer struct {
	wire.JSON
	q        Quirks
	names    map[string]string // call id → tool
	pdf      bool
	marks    bool
	markFrom int
}

func (w *writer) effort(r llm.Request, f price.Facts) {
	effort := r.Effort
	if effort == "" && r.ThinkingTokens > 0 {
		effort = llm.EffortFor(r.ThinkingTokens)
	}
	switch effort {
	case "":
		return
	case llm.EffortNone:
		w.noEffort(f)
		return
	}
	name := f.Effort(effort)
	if name == "" && (f.ID == "" || w.q.EffortSaid) { // a model nobody described: the names everyone knows
		name = map[llm.Effort]string{llm.EffortLow: "low", llm.EffortMedium: "medium", llm.EffortHigh: "high", llm.EffortXHigh: "high", llm.EffortMax: "high"}[effort]
		if r.ThinkingTokens == 0 && w.q.Effort != ReasoningObject && !w.q.EffortSaid {
			return // it may not reason at all, and many servers refuse what they do not know
		}
	}
	switch w.q.Effort {
	case NoEffort:
	case ReasoningEffort:
		w.Member("reasoning_effort", name)
	case ReasoningObject:
		if f.ID != "" && f.Thinking == "" && !w.q.EffortSaid {
			return
		}
		w.Key("reasoning")
		w.Obj()
		switch {
		case r.ThinkingTokens > 0:
			w.Key("max_tokens")
			w.Int(r.ThinkingTokens)
		case name != "":
			w.Member("effort", name)
		default:
			w.Key("enabled")
			w.Bool(true)
		}
		w.End()
	case ThinkingObject:
		w.Key("thinking")
		w.Obj()
		w.Member("type", "enabled")
		w.End()
		w.Member("reasoning_effort", name)
	case ReasoningToggle:
		if f.Thinking == price.Toggle {
			w.Key("reasoning")
			w.Obj()
			w.Key("enabled")
			w.Bool(true)
			w.End()
			return
		}
		w.Member("reasoning_effort", name)
	}
}

// noEffort asks for a reply without reasoning, where that can be said.
func (w *writer) noEffort(f price.Facts) {
	flag := func(key, value string, off bool) {
		w.Key(key)
		w.Obj()
		if off {
			w.Key(value)
			w.Bool(false)
		} else {
			w.Member("type", value)
		}
		w.End()
	}
	switch w.q.Effort {
	case NoEffort:
	case ReasoningEffort:
		if w.q.EffortSaid {
			f.Off = string(llm.EffortNone)
		}
		w.Member("reasoning_effort", f.Off)
	case ReasoningObject:
		if f.ID == "" || f.Thinking != "" || w.q.EffortSaid {
			flag("reasoning", "enabled", true)
		}
	case ThinkingObject:
		flag("thinking", "disabled", false)
	case ReasoningToggle:
		if f.Thinking == price.Toggle {
			flag("reasoning", "enabled", true)
		}
	}
}

func (w *writer) tools(tools []llm.Spec) {
	if len(tools) == 0 {
		return
	}
	w.Key("tools")
	w.Arr()
	for _, t := range tools {
		w.Obj()
		w.Member("type", "function")
		w.Key("function")
		w.Obj()
		w.Member("name", t.Name)
		w.Member("description", t.Description)
		w.Key("parameters")
		if len(t.Schema) == 0 {
			t.Schema = json.RawMessage(schema.Any)
		}
		w.Raw(t.Schema)
		w.End()
		w.End()
	}
	w.EndArr()
}

func (w *writer) system(blocks []string) {
	var keep []string
	for _, b := range blocks {
		if b != "" {
			keep = append(keep, b)
		}
	}
	if len(keep) == 0 {
		return
	}
	w.Obj()
	w.Member("role", "system")
	w.Key("content")
	text := strings.Join(keep, "\n\n")
	if w.marks || w.q.ObjectContents {
		w.Arr()
		w.text(text, w.marks)
		w.EndArr()
	} else {
		w.Str(text)
	}
	w.End()
}

// text writes a text part.
func (w *writer) text(s string, marked bool) {
	w.Obj()
	w.Member("type", "text")
	w.Member("text", s)
	if marked {
		w.Key("cache_control")
		w.Obj()
		w.Member("type", "ephemeral")
		w.End()
	}
	w.End()
}

func (w *writer) message(m llm.Message, marked bool) {
	if m.Role == llm.Assistant {
		w.assistant(m)
		return
	}
	var rest []llm.Part
	results := 0
	for _, p := range m.Parts {
		res, ok := p.(llm.ToolResult)
		if !ok {
			rest = append(rest, p)
			continue
		}
		results++
		w.result(res, marked && results == len(m.Parts))
		for _, img := range res.Images {
			rest = append(rest, img)
		}
	}
	if len(rest) == 0 {
		return
	}
	if results > 0 && w.q.BridgeResults {
		w.Obj()
		w.Member("role", "assistant")
		w.Member("content", "I have the results.")
		w.End()
	}
	w.user(rest, marked)
}

func (w *writer) result(res llm.ToolResult, marked bool) {
	text := res.Text
	if text == "" {
		text = "[no text]"
	}
	w.Obj()
	w.Member("role", "tool")
	w.Member("tool_call_id", res.ID)
	if w.q.ToolName {
		w.Member("name", w.names[res.ID])
	}
	w.Key("content")
	if marked {
		w.Arr()
		w.text(text, true)
		w.EndArr()
	} else {
		w.Str(text)
	}
	w.End()
}

func (w *writer) user(parts []llm.Part, marked bool) {
	w.Obj()
	w.Member("role", "user")
	w.Key("content")
	if !marked && !w.q.ObjectContents && prose(parts) {
		var texts []string
		for _, p := range parts {
			texts = append(texts, p.(llm.Text).S)
		}
		w.Str(strings.Join(texts, "\n\n"))
		w.End()
		return
	}
	w.Arr()
	for i, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			w.text(p.S, marked && i == len(parts)-1)
		case llm.Image:
			w.Obj()
			w.Member("type", "image_url")
			w.Key("image_url")
			w.Obj()
			w.Key("url")
			w.Base64("data:"+p.Media+";base64,", p.Data)
			w.End()
			w.End()
		case llm.Document:
			w.document(p)
		case llm.Thinking, llm.ToolUse, llm.ToolResult: // not of a user, or written before
		}
	}
	w.EndArr()
	w.End()
}

func prose(parts []llm.Part) bool {
	for _, p := range parts {
		if _, ok := p.(llm.Text); !ok {
			return false
		}
	}
	return true
}

func (w *writer) document(p llm.Document) {
	name := p.Name
	if name == "" {
		name = "document.pdf"
	}
	if !w.pdf {
		w.text("[the document "+name+" was left out: this model takes none]", false)
		return
	}
	w.Obj()
	w.Member("type", "file")
	w.Key("file")
	w.Obj()
	w.Member("filename", name)
	w.Key("file_data")
	w.Base64("data:"+p.Media+";base64,", p.Data)
	w.End()
	w.End()
}

func (w *writer) assistant(m llm.Message) {
	var texts []string
	var calls []llm.ToolUse
	var thoughts []llm.Thinking
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			texts = append(texts, p.S)
		case llm.ToolUse:
			calls = append(calls, p)
			w.names[p.ID] = wire.CallName(p.Name)
		case llm.Thinking:
			thoughts = append(thoughts, p)
		case llm.ToolResult, llm.Image, llm.Document: // nothing a model says
		}
	}
	w.Obj()
	w.Member("role", "assistant")
	switch {
	case len(texts) > 0:
		w.Key("content")
		w.Str(strings.Join(texts, "\n\n"))
	case w.q.NoEmpty && w.q.NoNull:
	case w.q.NoNull:
		w.Key("content")
		w.Str("")
	default:
		w.Key("content")
		w.Null()
	}
	w.thoughts(thoughts)
	if len(calls) > 0 {
		w.Key("tool_calls")
		w.Arr()
		for _, c := range calls {
			w.Obj()
			w.Member("id", c.ID)
			w.Member("type", "function")
			w.Key("function")
			w.Obj()
			w.Member("name", wire.CallName(c.Name))
			w.Key("arguments")
			w.Str(arguments(c.Input))
			w.End()
			w.End()
		}
		w.EndArr()
	}
	w.End()
}

// arguments are the text of a call's input, which chat templates want to be
// an object.
func arguments(in json.RawMessage) string {
	var j wire.JSON
	if len(in) > 0 && in[0] == '{' {
		j.Raw(in)
		return string(j.Bytes())
	}
	j.Obj()
	j.Key("input")
	j.Raw(in)
	j.End()
	return string(j.Bytes())
}

func (w *writer) thoughts(thoughts []llm.Thinking) {
	var text strings.Builder
	var details json.RawMessage
	for _, t := range thoughts {
		text.WriteString(t.S)
		if len(t.Opaque) > 0 {
			details = t.Opaque
		}
	}
	if w.q.Reasoning != "" {
		w.Member(w.q.Reasoning, text.String())
	}
	if w.q.Details && len(details) > 0 {
		w.Key("reasoning_details")
		w.Exact(details)
	}
}
