package auto

import (
	"encoding/json"
	"slices"
)

// Facts are, by tool, the fields of its input that say what a call does, of tools
// whose other fields are only what the model says about a call (tool.Spec.Facts). A
// history has calls of tools that a session does not have any more, so these are
// there for all tools that adze has in any run.
type Facts map[string][]string

// of returns a call's input without what the model only says about it: of a tool
// with Facts, everything else, and beside the command of any other tool its
// description. What a foreign tool takes stays whole, because there a
// description may be what is written somewhere. So do comments inside of a
// command: whoever cuts them out wrongly hides what runs.
func (f Facts) of(tool string, input any) any {
	in, ok := input.(map[string]any)
	if !ok {
		return input
	}
	facts, known := f[tool]
	_, command := in["command"].(string)
	out := map[string]any{}
	for name, value := range in {
		if known && !slices.Contains(facts, name) || command && name == "description" {
			continue
		}
		out[name] = value
	}
	return out
}

// raw is of for an input that is still JSON.
func (f Facts) raw(tool string, raw json.RawMessage) json.RawMessage {
	var in map[string]any
	if json.Unmarshal(raw, &in) != nil {
		return raw
	}
	out, err := json.Marshal(f.of(tool, in))
	if err != nil {
		return raw
	}
	return out
}
