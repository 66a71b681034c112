package wire

import (
	"encoding/json"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// Dispatcher is the tool through which a model calls tools that were loaded
// behind the beginning of a conversation, on wires and for models that have no way
// of their own to say them there. It is there from the first request on, so that
// what a provider has read of the list of tools stays as it is. Nobody but this
// package knows of it: a call of it is one of the tool that it names.
const Dispatcher = "CallTool"

var dispatcher = llm.Spec{
	Name:        Dispatcher,
	Description: "Calls a tool that a result in this conversation describes, and that is no tool of its own in your list.",
	Schema:      json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","description":"its name"},"arguments":{"type":"object","description":"what it is called with: an object that fits its parameters"}},"required":["tool","arguments"]}`),
}

// Dispatched adds the Dispatcher to a list with a tool that loads others, behind
// that one, and names what can be called without. names is nil when there is none.
func Dispatched(listed []llm.Spec) (out []llm.Spec, names map[string]bool) {
	for i, s := range listed {
		if s.Loads {
			out = append(append(append(make([]llm.Spec, 0, len(listed)+1), listed[:i+1]...), dispatcher), listed[i+1:]...)
			names = make(map[string]bool, len(listed))
			for _, s := range listed {
				names[s.Name] = true
			}
			return out, names
		}
	}
	return listed, nil
}

// through is a call of a tool as one of the Dispatcher.
func through(u llm.ToolUse) llm.ToolUse {
	var j JSON
	j.Obj()
	j.Member("tool", u.Name)
	j.Key("arguments")
	j.Raw(u.Input)
	j.End()
	u.Name, u.Input = Dispatcher, j.Bytes()
	return u
}

// direct is a call of the Dispatcher as one of the tool that it names. Models
// send arguments as text, or beside the name, too.
func direct(u llm.ToolUse) llm.ToolUse {
	var members map[string]json.RawMessage
	var name string
	if json.Unmarshal(u.Input, &members) != nil || json.Unmarshal(members["tool"], &name) != nil || strings.TrimSpace(name) == "" {
		if u.Bad == "" {
			u.Bad = `it has to name a tool in "tool", and its arguments in "arguments"`
		}
		return u
	}
	args, ok := members["arguments"]
	var text string
	if ok && json.Unmarshal(args, &text) == nil {
		args, u.Bad = Input(text)
	}
	if !ok {
		delete(members, "tool")
		args, _ = json.Marshal(members) // of raw values
	}
	u.Name, u.Input = strings.TrimSpace(name), args
	return u
}

// described is the text of a result with the tools that it loaded.
func described(text string, loaded []llm.Spec, dispatched bool) string {
	var b strings.Builder
	b.WriteString(text)
	if text != "" {
		b.WriteString("\n\n")
	}
	if dispatched {
		b.WriteString("Call each with " + Dispatcher + `, {"tool": its name, "arguments": {…}}:`)
	} else {
		b.WriteString("They are described as:")
	}
	for _, s := range loaded {
		var j JSON
		j.Obj()
		j.Member("name", s.Name)
		j.Member("description", s.Description)
		if len(s.Schema) > 0 {
			j.Key("parameters")
			j.Raw(s.Schema)
		}
		j.End()
		b.WriteString("\n")
		b.Write(j.Bytes())
	}
	return b.String()
}
