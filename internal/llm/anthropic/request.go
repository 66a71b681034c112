package anthropic

import (
	"encoding/json"
	"slices"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/schema"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// Output caps in tokens. The API wants one in every request.
const (
	unknownOutput = 8192 // for a model without facts: what every model takes
	minBudget     = 1024
)

const interleaved = "interleaved-thinking-2025-05-14"

// Context editing, as the provider documents it ("Context editing", 2026-08-21).
const (
	editing  = "context-management-2025-06-27"
	clearing = "clear_tool_uses_20250919"
)

// request writes the body. The members that do not change come first and the
// messages last, so that a longer conversation begins with the same bytes,
// apart from the moving cache marks.
func (c *Client) request(r llm.Request, reader string, without ...string) (body wire.Body, past wire.Past, betas []string) {
	facts, _ := c.c.Facts.Of(r.Model)
	no := func(habit string) bool { return slices.Contains(without, habit) }
	rules := wire.Rules{Reader: reader, ID: wire.SafeID}
	past = c.sent.Past(r.Messages)
	tools, loaded := past.Tools(r.Tools)
	key := reader
	if rules.Native = len(tools) > 0 && c.own() && facts.Can(price.Search) && !no("deferred tools"); rules.Native {
		key += " defers"
	} else {
		tools, rules.Listed = wire.Dispatched(tools)
		loaded = nil
	}
	if no("cache_control") || no("ttl") {
		key += " unmarked"
	}
	w := c.sent.Begin(key, r.Messages, rules)
	msgs := w.Messages()
	maxTokens := r.MaxTokens
	if maxTokens <= 0 {
		maxTokens = facts.Output
	}
	if maxTokens <= 0 {
		maxTokens = unknownOutput
	}
	think := thinking(r, facts, maxTokens)
	force := r.Force
	if no("tool_choice") {
		force = ""
	}
	if force != "" { // the API refuses it together with reasoning
		think = thought{off: facts.Thinking == price.Adaptive}
	}
	if no("thinking") {
		think = thought{}
	}
	if no("output_config") {
		think.effort = ""
	}
	think.off = think.off && !no("no thinking")
	if think.budget > 0 && !startsThinking(msgs) {
		think = thought{} // the API refuses a budget when the running tool loop began without reasoning
	}
	if think.budget > 0 {
		maxTokens = max(maxTokens, think.budget+minBudget)
		if len(r.Tools) > 0 {
			betas = append(betas, interleaved)
		}
	}
	var j wire.JSON
	j.Obj()
	j.Key("model")
	j.Str(r.Model)
	j.Key("max_tokens")
	j.Int(maxTokens)
	j.Key("stream")
	j.Bool(true)
	think.write(&j)
	if r.Clear != nil && !no("context_management") {
		betas = append(betas, editing)
		writeClearing(&j, *r.Clear)
	}
	k := c.marker()
	if no("ttl") {
		k.ttl = ""
	}
	k.off = no("cache_control")
	k.writeTools(&j, tools, loaded, c.own() && !no("eager_input_streaming"))
	if force != "" {
		j.Key("tool_choice")
		j.Obj()
		j.Member("type", "tool")
		j.Member("name", force)
		j.End()
	}
	k.writeSystem(&j, r.System)
	j.Key("messages")
	j.Arr()
	marks := markedMessages(msgs)
	w.Write(&j, func(i int, m llm.Message) { k.writeMessage(&j, m, marks[i]) })
	j.EndArr()
	j.End()
	return w.Keep(&j), past, betas
}

// writeClearing asks for old results to be left out.
func writeClearing(j *wire.JSON, c llm.Clearing) {
	count := func(key, of string, n int) {
		j.Key(key)
		j.Obj()
		j.Member("type", of)
		j.Key("value")
		j.Int(n)
		j.End()
	}
	j.Key("context_management")
	j.Obj()
	j.Key("edits")
	j.Arr()
	j.Obj()
	j.Member("type", clearing)
	count("trigger", "input_tokens", c.Trigger)
	count("keep", "tool_uses", c.Keep)
	if c.AtLeast > 0 {
		count("clear_at_least", "input_tokens", c.AtLeast)
	}
	if len(c.Except) > 0 {
		j.Key("exclude_tools")
		j.Arr()
		for _, name := range c.Except {
			j.Str(name)
		}
		j.EndArr()
	}
	j.End()
	j.EndArr()
	j.End()
}

// A thought is how reasoning is asked for.
type thought struct {
	adaptive bool
	off      bool
	effort   string
	budget   int
}

// thinking maps an effort or a number of tokens to what the model takes.
func thinking(r llm.Request, f price.Facts, maxTokens int) thought {
	if r.Effort == llm.EffortNone && r.ThinkingTokens <= 0 { // only some reason without being asked
		return thought{off: f.Thinking == price.Adaptive}
	}
	switch f.Thinking {
	case price.Adaptive:
		effort := r.Effort
		if r.ThinkingTokens > 0 {
			effort = llm.EffortFor(r.ThinkingTokens)
		}
		if effort == "" { // work with tools profits, a title or a summary does not
			return thought{adaptive: len(r.Tools) > 0}
		}
		return thought{adaptive: true, effort: f.Effort(effort)}
	case price.Budget, price.Effort, price.Level, price.Toggle, price.Always:
		return thought{budget: clampBudget(r, maxTokens)}
	}
	if r.ThinkingTokens > 0 { // no facts: only what was asked for by number
		return thought{budget: clampBudget(r, maxTokens)}
	}
	return thought{}
}

func clampBudget(r llm.Request, maxTokens int) int {
	n := r.ThinkingTokens
	if n <= 0 {
		switch r.Effort {
		case llm.EffortLow:
			n = 4000
		case llm.EffortMedium:
			n = 10000
		case llm.EffortHigh:
			n = 20000
		case llm.EffortXHigh, llm.EffortMax:
			n = 31999
		default:
			return 0
		}
	}
	return max(minBudget, min(n, maxTokens-minBudget))
}

func (t thought) write(j *wire.JSON) {
	switch {
	case t.off:
		j.Key("thinking")
		j.Obj()
		j.Member("type", "disabled")
		j.End()
	case t.adaptive:
		j.Key("thinking")
		j.Obj()
		j.Member("type", "adaptive")
		j.Member("display", "summarized")
		j.End()
		if t.effort != "" {
			j.Key("output_config")
			j.Obj()
			j.Member("effort", t.effort)
			j.End()
		}
	case t.budget > 0:
		j.Key("thinking")
		j.Obj()
		j.Member("type", "enabled")
		j.Key("budget_tokens")
		j.Int(t.budget)
		j.End()
	}
}

// startsThinking reports whether the assistant message of a running tool loop
// begins with reasoning, as the API wants with a budget. Without a running
// loop it does.
func startsThinking(msgs []llm.Message) bool {
	n := len(msgs)
	if n < 2 || msgs[n-1].Role != llm.User {
		return true
	}
	running := false
	for _, p := range msgs[n-1].Parts {
		if _, ok := p.(llm.ToolResult); ok {
			running = true
		}
	}
	if !running {
		return true
	}
	first, ok := msgs[n-2].Parts[0].(llm.Thinking)
	return ok && len(first.Opaque) > 0 // what has no signature is not sent
}

// A marker ends blocks with cache breakpoints.
type marker struct {
	ttl string // "": the provider's own, 5 minutes
	off bool   // the server takes none
}

func (c *Client) marker() marker {
	if c.c.CacheTTL == "1h" || c.c.CacheTTL == "" && c.c.Pauses && c.own() {
		return marker{ttl: "1h"}
	}
	return marker{}
}

// own reports whether the provider's own API is asked, and not one like it.
func (c *Client) own() bool { return c.c.BaseURL == BaseURL }

// Where own and the table of models say so, the provider itself says tools where a result
// refers to them (tool_reference). What such tools are is sent beside the others, marked
// defer_loading, and is no part of the prefix that is cached. (Tool search tool, "Custom tool
// search implementation" and "Deferred tool loading", in the provider's documentation.)
//
// writeTools writes those to list, the last of which ends what is cached, and
// behind them those that results loaded. It asks for inputs as they are written
// where that is known to be understood: else a long one comes at once, after minutes.
func (k marker) writeTools(j *wire.JSON, tools, loaded []llm.Spec, eager bool) {
	if len(tools) == 0 {
		return
	}
	j.Key("tools")
	j.Arr()
	for i, t := range slices.Concat(tools, loaded) {
		j.Obj()
		j.Member("name", t.Name)
		j.Member("description", t.Description)
		j.Key("input_schema")
		if len(t.Schema) == 0 {
			t.Schema = json.RawMessage(schema.Any)
		}
		j.Raw(t.Schema)
		if eager {
			j.Key("eager_input_streaming")
			j.Bool(true)
		}
		if i >= len(tools) {
			j.Key("defer_loading")
			j.Bool(true)
		}
		k.mark(j, i == len(tools)-1) // a deferred one must not have a mark
		j.End()
	}
	j.EndArr()
}

func (k marker) writeSystem(j *wire.JSON, system []string) {
	var blocks []string
	for _, s := range system {
		if s != "" {
			blocks = append(blocks, s)
		}
	}
	if len(blocks) == 0 {
		return
	}
	j.Key("system")
	j.Arr()
	for i, s := range blocks {
		j.Obj()
		j.Member("type", "text")
		j.Member("text", s)
		k.mark(j, i == len(blocks)-1)
		j.End()
	}
	j.EndArr()
}

// mark ends a block with a cache breakpoint when on.
func (k marker) mark(j *wire.JSON, on bool) {
	if on && !k.off {
		j.Key("cache_control")
		j.Obj()
		j.Member("type", "ephemeral")
		j.Member("ttl", k.ttl)
		j.End()
	}
}

// markedMessages are the last two user messages: the newest writes the cache,
// the one before reads what the last request wrote.
func markedMessages(msgs []llm.Message) map[int]bool {
	marks := map[int]bool{}
	for i := len(msgs) - 1; i >= 0 && len(marks) < 2; i-- {
		if msgs[i].Role == llm.User {
			marks[i] = true
		}
	}
	return marks
}

func (k marker) writeMessage(j *wire.JSON, m llm.Message, marked bool) {
	j.Obj()
	j.Member("role", string(m.Role))
	j.Key("content")
	j.Arr()
	for i, p := range m.Parts {
		k.writePart(j, p, marked && i == len(m.Parts)-1)
	}
	j.EndArr()
	j.End()
}

func (k marker) writePart(j *wire.JSON, p llm.Part, marked bool) {
	switch p := p.(type) {
	case llm.Text:
		j.Obj()
		j.Member("type", "text")
		j.Member("text", p.S)
	case llm.Thinking:
		if !writeThinking(j, p) {
			return
		}
	case llm.ToolUse:
		j.Obj()
		j.Member("type", "tool_use")
		j.Member("id", p.ID)
		j.Member("name", wire.CallName(p.Name))
		j.Key("input")
		writeInput(j, p.Input)
	case llm.ToolResult:
		j.Obj()
		j.Member("type", "tool_result")
		j.Member("tool_use_id", p.ID)
		writeResult(j, p)
	case llm.Image:
		j.Obj()
		j.Member("type", "image")
		writeSource(j, p.Media, p.Data)
	case llm.Document:
		j.Obj()
		j.Member("type", "document")
		writeSource(j, p.Media, p.Data)
		j.Member("title", p.Name)
	}
	k.mark(j, marked)
	j.End()
}

// writeThinking writes a reasoning block as it came. One without a signature
// cannot be sent back.
func writeThinking(j *wire.JSON, p llm.Thinking) bool {
	if len(p.Opaque) == 0 {
		return false
	}
	j.Obj()
	if p.Opaque[0] == '{' {
		var o struct {
			Redacted json.RawMessage `json:"redacted"`
		}
		_ = json.Unmarshal(p.Opaque, &o) // we wrote it
		j.Member("type", "redacted_thinking")
		j.Key("data")
		j.Exact(o.Redacted)
		return true
	}
	j.Member("type", "thinking")
	j.Key("thinking")
	j.Str(p.S)
	j.Key("signature")
	j.Exact(p.Opaque)
	return true
}

// writeInput writes a call's input, which this wire wants to be an object.
func writeInput(j *wire.JSON, in json.RawMessage) {
	if len(in) > 0 && in[0] == '{' {
		j.Raw(in)
		return
	}
	j.Obj()
	j.Key("input")
	j.Raw(in)
	j.End()
}

func writeResult(j *wire.JSON, p llm.ToolResult) {
	if len(p.Loaded) > 0 {
		j.Key("content")
		j.Arr()
		for _, s := range p.Loaded {
			j.Obj()
			j.Member("type", "tool_reference")
			j.Member("tool_name", s.Name)
			j.End()
		}
		j.EndArr()
		return
	}
	text := p.Text
	if text == "" && p.IsErr {
		text = "[no text]" // an error without content is refused
	}
	if text != "" || len(p.Images) > 0 {
		j.Key("content")
		j.Arr()
		if text != "" {
			j.Obj()
			j.Member("type", "text")
			j.Member("text", text)
			j.End()
		}
		for _, img := range p.Images {
			j.Obj()
			j.Member("type", "image")
			writeSource(j, img.Media, img.Data)
			j.End()
		}
		j.EndArr()
	}
	if p.IsErr {
		j.Key("is_error")
		j.Bool(true)
	}
}

func writeSource(j *wire.JSON, media string, data []byte) {
	j.Key("source")
	j.Obj()
	j.Member("type", "base64")
	j.Member("media_type", media)
	j.Key("data")
	j.Base64("", data)
	j.End()
}
