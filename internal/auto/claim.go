package auto

import "encoding/json"

// shellFields are the fields of a shell command that say what runs and how.
var shellFields = map[string]bool{
	"command": true, "timeout": true, "run_in_background": true, "dangerously_disable_sandbox": true,
}

// prose names the fields of built-in tools that hold nothing but the model's
// words, by tool.
var prose = map[string][]string{
	"TodoWrite": {"todos"}, "ExitPlanMode": {"plan"}, "AskUserQuestion": {"questions"},
}

// withoutClaims returns a call's input without what the model only says about
// it: of a shell command, everything but what runs; the words that a tool of
// ours takes for people to read; and beside any other command its
// description. What a foreign tool takes stays whole, because there a
// description may be what is written somewhere. So do comments inside of a
// command: whoever cuts them out wrongly hides what runs.
func withoutClaims(tool string, input any) any {
	in, ok := input.(map[string]any)
	if !ok {
		return input
	}
	_, command := in["command"].(string)
	out := map[string]any{}
	for name, value := range in {
		if tool == "Bash" && !shellFields[name] || command && name == "description" {
			continue
		}
		out[name] = value
	}
	for _, name := range prose[tool] {
		delete(out, name)
	}
	return out
}

// claimless is withoutClaims for an input that is still JSON.
func claimless(tool string, raw json.RawMessage) json.RawMessage {
	var in map[string]any
	if json.Unmarshal(raw, &in) != nil {
		return raw
	}
	out, err := json.Marshal(withoutClaims(tool, in))
	if err != nil {
		return raw
	}
	return out
}
