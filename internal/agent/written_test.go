package agent

import "testing"

func TestWritten(t *testing.T) {
	known := func(name string) bool { return name == "Bash" || name == "Read" || name == "mcp__a__b" }
	for text, want := range map[string]string{
		"<tool_call>\n{\"name\": \"Bash\", \"arguments\": {\"command\": \"ls\"}}\n</tool_call>":           "Bash",
		"I look.\n<function=Bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>":      "Bash",
		`{"name": "Bash", "arguments": {"command": "ls"}}`:                                                "Bash",
		"```json\n{\"name\": \"Bash\", \"parameters\": {\"command\": \"ls\"}}\n```":                       "Bash",
		`[{"name":"Read","arguments":"{}"},{"name":"Bash","arguments":{}}]`:                               "Bash",
		`{"type":"function","function":{"name":"Bash","arguments":"{}"}}`:                                 "Bash",
		`{"type":"function","function":"Read","parameters":{}}`:                                           "Read",
		`{"tool":"Read","args":{"file_path":"x"}}`:                                                        "Read",
		`[TOOL_CALLS][{"name": "Bash", "arguments": {}}]`:                                                 "Bash",
		"[TOOL_CALLS]Bash[ARGS]{}":                                                                        "Bash",
		"<|python_tag|>{\"name\": \"Bash\", \"parameters\": {}}":                                          "Bash",
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>Bash\n```json\n{}\n```":               "Bash",
		"<|tool_calls_section_begin|><|tool_call_begin|>functions.Bash:0<|tool_call_argument_begin|>{}":   "Bash",
		"<function_calls>\n<invoke name=\"Bash\">\n<parameter name=\"command\">ls</parameter>\n</invoke>": "Bash",
		"<tool_call>Bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>":            "Bash",
		"<|channel|>commentary to=functions.Bash <|constrain|>json<|message|>{}":                          "Bash",
		"<tool_call>{\"name\": \"mcp__a__b\"}":                                                            "mcp__a__b",
		"<tool_call>{\"name\": \"nosuch\", \"arguments\": {}}</tool_call>":                                "",
		"Models write <tool_call> before a call of Bash.":                                                 "",
		"For example:\n```\n<tool_call>{\"name\": \"Bash\"}</tool_call>\n```\nThat is all.":               "",
		`{"name": "Bash"}`:                   "",
		`{"name": "Read", "version": 1}`:     "",
		`{"name": "other", "arguments": {}}`: "",
		`[]`:                                 "", "": "", "Use Bash.": "", "{": "", "```": "", `[1]`: "", "{}": "",
	} {
		if got := written(text, known); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzWritten(f *testing.F) {
	f.Add("<tool_call>{\"name\": \"Bash\"}</tool_call>")
	f.Fuzz(func(t *testing.T, text string) {
		if got := written(text, func(name string) bool { return name == "Bash" }); got != "" && got != "Bash" {
			t.Error(got)
		}
	})
}
