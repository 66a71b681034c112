package gemini

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// request writes the body: what stays first, the contents last.
func (c *Client) request(r llm.Request, reader string, without ...string) (wire.Body, wire.Past) {
	facts, known := c.c.Facts.Of(r.Model)
	if !known {
		facts = price.Facts{}
	}
	no := func(habit string) bool { return slices.Contains(without, habit) }
	w := writer{no: no, names: map[string]string{}, strict: facts.Thinking == price.Level || strings.HasPrefix(r.Model, "gemini-3") || strings.HasPrefix(r.Model, "gemini-4")}
	j := &w.JSON
	j.Obj()
	w.config(r, facts)
	past := c.sent.Past(r.Messages)
	tools, _ := past.Tools(r.Tools)
	tools, listed := wire.Dispatched(tools)
	w.tools(tools)
	if r.Force != "" && !no("toolConfig") {
		w.Key("toolConfig")
		w.Obj()
		w.Key("functionCallingConfig")
		w.Obj()
		w.Member("mode", "ANY")
		w.Key("allowedFunctionNames")
		w.Arr()
		w.Str(r.Force)
		w.EndArr()
		w.End()
		w.End()
	}
	w.system(r.System)
	j.Key("contents")
	j.Arr()
	key := reader + strconv.FormatBool(w.strict) + strconv.FormatBool(no("id")) + strconv.FormatBool(no("thoughtSignature"))
	out := c.sent.Begin(key, r.Messages, wire.Rules{Reader: reader, ID: wire.SafeID, Listed: listed})
	out.Write(j, func(_ int, m llm.Message) { w.message(m) })
	j.EndArr()
	j.End()
	return out.Keep(j), past
}

type writer struct {
	wire.JSON
	no    func(habit string) bool // what the server refuses
	names map[string]string       // call id → tool
	// strict models refuse the first call of a message without a signature.
	strict bool
}

// foreign is the documented stand-in for the signature of a call that another
// model made.
const foreign = `"skip_thought_signature_validator"`

func (w *writer) config(r llm.Request, f price.Facts) {
	n := r.MaxTokens
	if n <= 0 {
		n = f.Output
	}
	if f.ID == "" {
		f = generation(r.Model)
	}
	think := thinking(r, f)
	if w.no("thinkingConfig") {
		think = thought{}
	}
	if n <= 0 && think == (thought{}) {
		return
	}
	w.Key("generationConfig")
	w.Obj()
	if n > 0 {
		w.Key("maxOutputTokens")
		w.Int(n)
	}
	if think != (thought{}) {
		w.Key("thinkingConfig")
		w.Obj()
		w.Key("includeThoughts")
		w.Bool(!think.off)
		w.Member("thinkingLevel", think.level)
		if think.budget > 0 || think.off {
			w.Key("thinkingBudget")
			w.Int(think.budget)
		}
		w.End()
	}
	w.End()
}

var numbered = pattern.Lazy(`^gemini-(\d+)(?:\.(\d+))?`)

// generation tells how a model that no table knows is asked to reason: since
// the third generation by a level, in the second one by a budget.
func generation(model string) price.Facts {
	m := numbered().FindStringSubmatch(model)
	if m == nil {
		return price.Facts{}
	}
	major, _ := strconv.Atoi(m[1])
	switch {
	case major >= 3:
		return price.Facts{Thinking: price.Level, Efforts: []string{"low", "high"}} // those that all of them take
	case major == 2 && m[2] == "5":
		f := price.Facts{Thinking: price.Budget}
		if strings.Contains(model, "flash") { // the larger ones always think
			f.Off = "0"
		}
		return f
	}
	return price.Facts{}
}

type thought struct {
	show   bool
	off    bool
	level  string
	budget int
}

// thinking maps an effort or a number of tokens to a level or a budget.
func thinking(r llm.Request, f price.Facts) thought {
	switch f.Thinking {
	case price.Level:
		effort := r.Effort
		if r.ThinkingTokens > 0 {
			effort = llm.EffortFor(r.ThinkingTokens)
		}
		return thought{show: true, level: strings.ToUpper(f.Effort(effort))}
	case price.Budget:
		if r.Effort == llm.EffortNone && r.ThinkingTokens <= 0 && f.Off == "0" {
			return thought{off: true}
		}
		return thought{show: true, budget: budget(r)}
	case price.Adaptive, price.Effort, price.Toggle, price.Always:
		return thought{show: true}
	}
	if r.ThinkingTokens > 0 { // no facts: what was asked for by number
		return thought{show: true, budget: r.ThinkingTokens}
	}
	return thought{}
}

// maxBudget is what every model with a budget takes (2.5 Flash's bound; Pro takes 32768).
const maxBudget = 24576

func budget(r llm.Request) int {
	if r.ThinkingTokens > 0 {
		return min(r.ThinkingTokens, maxBudget)
	}
	switch r.Effort {
	case llm.EffortLow:
		return 2048
	case llm.EffortMedium:
		return 8192
	case llm.EffortHigh:
		return 16384
	case llm.EffortXHigh, llm.EffortMax:
		return maxBudget
	}
	return 0
}

func (w *writer) tools(tools []llm.Spec) {
	if len(tools) == 0 {
		return
	}
	w.Key("tools")
	w.Arr()
	w.Obj()
	w.Key("functionDeclarations")
	w.Arr()
	for _, t := range tools {
		w.Obj()
		w.Member("name", t.Name)
		w.Member("description", t.Description)
		if params := downConvert(t.Schema); params != nil {
			w.Key("parameters")
			w.Exact(params)
		}
		w.End()
	}
	w.EndArr()
	w.End()
	w.EndArr()
}

func (w *writer) system(blocks []string) {
	open := false
	for _, b := range blocks {
		if b == "" {
			continue
		}
		if !open {
			open = true
			w.Key("systemInstruction")
			w.Obj()
			w.Key("parts")
			w.Arr()
		}
		w.text(b)
	}
	if open {
		w.EndArr()
		w.End()
	}
}

func (w *writer) text(s string) {
	w.Obj()
	w.Member("text", s)
	w.End()
}

func (w *writer) data(media string, data []byte) {
	w.Obj()
	w.Key("inlineData")
	w.Obj()
	w.Member("mimeType", media)
	w.Key("data")
	w.Base64("", data)
	w.End()
	w.End()
}

func (w *writer) message(m llm.Message) {
	w.Obj()
	if m.Role == llm.Assistant {
		w.Member("role", "model")
	} else {
		w.Member("role", "user")
	}
	w.Key("parts")
	w.Arr()
	var signature json.RawMessage // of reasoning, waiting for the part it belongs to
	calls := 0
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			w.Obj()
			w.Member("text", p.S)
			w.signature(signature)
			signature = nil
			w.End()
		case llm.Thinking:
			signature = p.Opaque // summaries are not sent back, tokens are
		case llm.ToolUse:
			w.names[p.ID] = wire.CallName(p.Name)
			if calls++; calls == 1 && w.strict && len(signature)+len(p.Opaque) == 0 {
				signature = json.RawMessage(foreign)
			}
			w.call(p, signature)
			signature = nil
		case llm.Image:
			w.data(p.Media, p.Data)
		case llm.Document:
			w.data(p.Media, p.Data)
		case llm.ToolResult:
			w.result(p)
		}
	}
	if len(signature) > 0 && !w.no("thoughtSignature") { // it came after the last words, and goes back there
		w.Obj()
		w.Key("text")
		w.Str("")
		w.signature(signature)
		w.End()
	}
	for _, p := range m.Parts { // pictures of results stand beside them
		if res, ok := p.(llm.ToolResult); ok {
			for _, img := range res.Images {
				w.data(img.Media, img.Data)
			}
		}
	}
	w.EndArr()
	w.End()
}

func (w *writer) signature(sig json.RawMessage) {
	if len(sig) > 0 && !w.no("thoughtSignature") {
		w.Key("thoughtSignature")
		w.Exact(sig)
	}
}

func (w *writer) call(p llm.ToolUse, signature json.RawMessage) {
	w.Obj()
	w.Key("functionCall")
	w.Obj()
	if !w.no("id") {
		w.Member("id", p.ID)
	}
	w.Member("name", wire.CallName(p.Name))
	w.Key("args")
	if len(p.Input) > 0 && p.Input[0] == '{' {
		w.Raw(p.Input)
	} else {
		w.Obj()
		w.Key("input")
		w.Raw(p.Input)
		w.End()
	}
	w.End()
	if len(p.Opaque) > 0 {
		signature = p.Opaque
	}
	w.signature(signature)
	w.End()
}

func (w *writer) result(p llm.ToolResult) {
	w.Obj()
	w.Key("functionResponse")
	w.Obj()
	if !w.no("id") {
		w.Member("id", p.ID)
	}
	w.Member("name", w.names[p.ID])
	w.Key("response")
	w.Obj()
	if p.IsErr {
		w.Key("error")
	} else {
		w.Key("output")
	}
	w.Str(p.Text)
	w.End()
	w.End()
	w.End()
}
