package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/schema"
	"github.com/adze-agent/adze/internal/llm/wire"
)

const minOutput = 16 // the API refuses a smaller cap

// request writes the body: what stays first, the conversation last.
func (c *Client) request(r llm.Request, reader string, without ...string) (wire.Body, wire.Past) {
	facts, known := c.c.Facts.Of(r.Model)
	if !known {
		facts = price.Facts{}
	}
	no := func(habit string) bool { return slices.Contains(without, habit) }
	var j wire.JSON
	j.Obj()
	j.Key("model")
	j.Str(r.Model)
	j.Key("stream")
	j.Bool(true)
	if !no("store") {
		j.Key("store")
		j.Bool(false)
	}
	if n := r.MaxTokens; (n > 0 || facts.Output > 0) && !no("max_output_tokens") {
		if n <= 0 {
			n = facts.Output
		}
		j.Key("max_output_tokens")
		j.Int(max(n, minOutput))
	}
	switch reasoned := reasons(r.Model, facts, known) || hasReasoned(r.Messages, reader); {
	case no("reasoning"):
	case reasoned, !known && (r.Effort != "" && r.Effort != llm.EffortNone || r.ThinkingTokens > 0):
		writeReasoning(&j, r, facts, reasoned, c.c.Summary, no)
	}
	if !no("prompt_cache_key") {
		j.Member("prompt_cache_key", cacheKey(r.CacheKey))
	}
	if !no("prompt_cache_retention") {
		j.Member("prompt_cache_retention", c.c.Retention)
	}
	past := c.sent.Past(r.Messages)
	tools, loaded := past.Tools(r.Tools)
	rules := wire.Rules{Reader: reader, ID: callID}
	w := writer{JSON: &j, no: no, searches: map[string]bool{}, loaded: map[string]bool{}}
	for _, t := range loaded {
		w.loaded[t.Name] = true
	}
	key := reader
	if no("phase") || no("detail") {
		key += " plain"
	}
	if w.search = c.search(facts, tools); w.search != "" && no("tool_search") {
		w.search = ""
	}
	if w.search != "" {
		rules.Native = true
		key += " searches"
		tools = append(tools, bare(r.Messages, reader, loaded)...)
	} else {
		tools, rules.Listed = wire.Dispatched(tools)
	}
	w.tools(tools)
	if r.Force != "" && !no("tool_choice") {
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
	out := c.sent.Begin(key, r.Messages, rules)
	out.Write(&j, func(_ int, m llm.Message) {
		if m.Role == llm.Assistant {
			w.assistant(m.Parts)
		} else {
			w.user(m.Parts)
		}
	})
	j.EndArr()
	j.End()
	return out.Keep(&j), past
}

// bare are the loaded tools that were called outside of the namespace in which
// the API has them, by another model or before they were loaded. It refuses such calls
// ("Missing namespace for function_call"), unless the tool is listed as well.
func bare(msgs []llm.Message, reader string, loaded []llm.Spec) (out []llm.Spec) {
	if len(loaded) == 0 {
		return nil
	}
	named := map[string]bool{}
	for _, m := range msgs {
		for _, p := range m.Parts {
			if u, ok := p.(llm.ToolUse); ok && (len(u.Opaque) == 0 || u.From != reader) {
				named[u.Name] = true
			}
		}
	}
	for _, t := range loaded {
		if named[t.Name] {
			out = append(out, t)
		}
	}
	return out
}

// A writer writes the parts of a request that know of the search for tools.
type writer struct {
	*wire.JSON
	no       func(habit string) bool // what the server refuses
	search   string                  // the tool that loads others, where the provider has a kind of its own for it
	searches map[string]bool         // calls of it
	loaded   map[string]bool         // tools that it loaded
}

// search is the tool that is sent as the provider's own tool_search, which the
// client executes; "" where there is none, or it is not known to be understood. What
// it finds is added at the end of what the model has read, so that nothing before it
// changes. (Tool search, "Client-executed tool search", in the provider's
// documentation: gpt-5.4 and later.)
func (c *Client) search(f price.Facts, tools []llm.Spec) string {
	if c.c.BaseURL != BaseURL || !f.Can(price.Search) {
		return ""
	}
	for _, t := range tools {
		if t.Loads {
			return t.Name
		}
	}
	return ""
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
func writeReasoning(j *wire.JSON, r llm.Request, f price.Facts, sure bool, summary string, no func(habit string) bool) {
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
	if !no("effort") {
		j.Member("effort", name)
	}
	if sure && summary != "none" && !no("summary") {
		j.Member("summary", summary)
	}
	j.End()
	if !sure || no("include") {
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

func (w writer) tools(tools []llm.Spec) {
	if len(tools) == 0 {
		return
	}
	w.Key("tools")
	w.Arr()
	for _, t := range tools {
		w.tool(t, false)
	}
	w.EndArr()
}

func (w writer) tool(t llm.Spec, loaded bool) {
	w.Obj()
	if w.search != "" && t.Name == w.search {
		w.Member("type", "tool_search")
		w.Member("execution", "client")
	} else {
		w.Member("type", "function")
		w.Member("name", t.Name)
	}
	w.Member("description", t.Description)
	w.Key("parameters")
	if len(t.Schema) == 0 {
		t.Schema = json.RawMessage(schema.Any)
	}
	w.Raw(t.Schema)
	switch {
	case loaded:
		w.Key("defer_loading")
		w.Bool(true)
	case t.Name != w.search && !w.no("strict"):
		w.Key("strict")
		w.Bool(false)
	}
	w.End()
}

// sendable reports whether an item of reasoning can go back: nothing is stored
// at the provider, so one without its content there is not found.
func sendable(item json.RawMessage) bool {
	var it struct {
		Content string `json:"encrypted_content"`
	}
	return len(item) > 0 && item[0] == '{' && json.Unmarshal(item, &it) == nil && it.Content != ""
}

func (w writer) assistant(parts []llm.Part) {
	j := w.JSON
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
			if len(p.Opaque) > 0 && !w.no("phase") {
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
			if w.search != "" && p.Name == w.search {
				w.searches[p.ID] = true
				w.searched(p)
				continue
			}
			j.Obj()
			j.Member("type", "function_call")
			j.Member("call_id", p.ID)
			j.Member("name", wire.CallName(p.Name))
			if len(p.Opaque) > 0 && w.search != "" && w.loaded[p.Name] {
				j.Key("namespace")
				j.Exact(p.Opaque)
			}
			j.Key("arguments")
			var in wire.JSON
			in.Raw(p.Input)
			j.Str(string(in.Bytes()))
			j.End()
		case llm.ToolResult, llm.Image, llm.Document: // nothing a model says
		}
	}
}

// searched writes a search for tools.
func (w writer) searched(p llm.ToolUse) {
	w.Obj()
	w.Member("type", "tool_search_call")
	w.Member("call_id", p.ID)
	w.Member("execution", "client")
	w.Member("status", "completed")
	w.Key("arguments")
	if len(p.Input) > 0 && p.Input[0] == '{' {
		w.Raw(p.Input)
	} else { // it has to be an object
		w.Obj()
		w.Key("query")
		w.Raw(p.Input)
		w.End()
	}
	w.End()
}

// found writes what a search for tools found.
func (w writer) found(res llm.ToolResult) {
	w.Obj()
	w.Member("type", "tool_search_output")
	w.Member("call_id", res.ID)
	w.Member("execution", "client")
	w.Member("status", "completed")
	w.Key("tools")
	w.Arr()
	for _, t := range res.Loaded {
		w.tool(t, true)
	}
	w.EndArr()
	w.End()
}

func (w writer) user(parts []llm.Part) {
	j := w.JSON
	open := false
	parts = w.results(parts)
	for _, p := range parts {
		if _, ok := p.(llm.ToolResult); ok {
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
		w.content(p)
	}
	if open {
		j.EndArr()
		j.End()
	}
}

// results writes the results among parts, and returns what is to be said in words:
// the parts, behind what a search that loaded nothing said of it, for which its
// output has no place.
func (w writer) results(parts []llm.Part) []llm.Part {
	var words []llm.Part
	for _, p := range parts {
		res, ok := p.(llm.ToolResult)
		switch {
		case !ok:
		case w.searches[res.ID]:
			w.found(res)
			if len(res.Loaded) == 0 && res.Text != "" {
				words = append(words, llm.Text{S: "[the search for tools] " + res.Text})
			}
		default:
			w.result(res)
		}
	}
	if len(words) > 0 {
		parts = slices.Concat(words, parts)
	}
	return parts
}

func (w writer) content(p llm.Part) {
	j := w.JSON
	switch p := p.(type) {
	case llm.Text:
		j.Obj()
		j.Member("type", "input_text")
		j.Member("text", p.S)
		j.End()
	case llm.Image:
		j.Obj()
		j.Member("type", "input_image")
		if !w.no("detail") {
			j.Member("detail", "auto")
		}
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

func (w writer) result(res llm.ToolResult) {
	j := w.JSON
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
		w.content(llm.Text{S: res.Text})
	}
	for _, img := range res.Images {
		w.content(img)
	}
	j.EndArr()
	j.End()
}
