package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A server that does not know how its model writes calls passes them on as text. Such a
// call is not run: what stands in prose may be an example, and nobody wrote it as a call.

// writtenText asks the model for a real call.
const writtenText = "Your last reply has a call of %s in its text. It was not run: a call has to come as a tool call of this API. Make it so, or answer without it."

const writtenNote = "the model wrote a call of %s as text, and nothing was run: its server did not make a call of it; hint: llama-server wants --jinja, vLLM --enable-auto-tool-choice and --tool-call-parser, other servers a template of the model that has tools, or use another model"

// markup begins a call in the template of a model: Hermes and Qwen, Llama, Mistral, DeepSeek,
// Kimi, GLM, gpt-oss, and what other models make up. The name of the tool follows.
var markup = pattern.Lazy(`(?m)^[ \t]*(?:</?think>)?[ \t]*(?:<tool_calls?>|<function_calls?>|<function[ =]|<invoke |<\|tool_calls?\|>|<\|tool_call(?:s_section)?_begin\|>|<\|python_tag\|>|<\|channel\|>commentary to=|\[TOOL_CALLS?\]|<\x{FF5C}tool\x{2581}calls?\x{2581}begin\x{FF5C}>|<minimax:tool_call>)`)

// called are words that may name a tool.
var called = pattern.Lazy(`[A-Za-z_][A-Za-z0-9_-]*`)

// nearMarkup is how far behind the beginning of a call its tool may be named, in bytes.
const nearMarkup = 200

// written is the tool of which a text has a call, "" when it has none. known reports whether there
// is such a tool.
func written(text string, known func(string) bool) string {
	text = strings.TrimSpace(text)
	if name := bareCall(text, known); name != "" {
		return name
	}
	if !strings.ContainsAny(text, "<[") { // no markup begins otherwise, and most texts need no pattern
		return ""
	}
	for _, at := range markup().FindAllStringIndex(text, -1) {
		if strings.Count(text[:at[0]], "```")%2 != 0 {
			continue // an example
		}
		after := text[at[1]:]
		for _, word := range called().FindAllString(after[:min(len(after), nearMarkup)], -1) {
			if known(word) {
				return word
			}
		}
	}
	return ""
}

// bareCall is the tool of a text that is nothing but calls as JSON.
func bareCall(text string, known func(string) bool) string {
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		_, inner, _ = strings.Cut(inner, "\n")
		text = strings.TrimSpace(strings.TrimSuffix(inner, "```"))
	}
	if text == "" || text[0] != '{' && text[0] != '[' {
		return ""
	}
	type call struct {
		Name, Tool, Function               json.RawMessage
		Arguments, Parameters, Input, Args json.RawMessage
	}
	var list []call
	if text[0] == '{' {
		list = make([]call, 1)
		if json.Unmarshal([]byte(text), &list[0]) != nil {
			return ""
		}
	} else if json.Unmarshal([]byte(text), &list) != nil || len(list) == 0 {
		return ""
	}
	found := ""
	for _, c := range list {
		if len(c.Function) > 0 && c.Function[0] == '{' { // as the API has it
			var inner call
			if json.Unmarshal(c.Function, &inner) != nil {
				return ""
			}
			c = inner
		}
		name := ""
		for _, n := range []json.RawMessage{c.Name, c.Tool, c.Function} {
			if name == "" {
				_ = json.Unmarshal(n, &name) // no string is no name
			}
		}
		if !known(name) || len(c.Arguments)+len(c.Parameters)+len(c.Input)+len(c.Args) == 0 {
			return ""
		}
		found = name
	}
	return found
}

// writtenCall is the tool of a reply that has a call in its text, and none that is one.
func (r *run) writtenCall(fin llm.Finished) string {
	if fin.Stop != llm.EndTurn || fin.NoTools { // no other reply would have one
		return ""
	}
	return written(fin.Message.Text(), func(name string) bool { _, ok := r.find(name); return ok })
}

// askForCall has the model make a call that it wrote as text, and tells people.
func (r *run) askForCall(name string) error {
	if err := r.Host.Emit(event.Noted{Level: "warning", Text: fmt.Sprintf(writtenNote, name)}); err != nil {
		return err
	}
	return r.say(fmt.Sprintf(writtenText, name))
}

// writtenAnswer is the structured answer that a reply has as text, nil where it has none. Local
// models often write it in place of the call, also when they are asked for the call; then it may have words around it.
func (r *run) writtenAnswer(said llm.Message) json.RawMessage {
	t, ok := r.find(r.Structured)
	if !ok || r.Structured == "" {
		return nil
	}
	reader, ok := t.(interface {
		Written(text string, anywhere bool) (json.RawMessage, bool)
	})
	if !ok {
		return nil
	}
	answer, _ := reader.Written(said.Text(), r.mem.structured > 0)
	return answer
}
