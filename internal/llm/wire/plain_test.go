package wire

import (
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

// Words of servers, and of templates that they run; and words about one tool or one message,
// which must not take all of them away.
func TestPlainRefusals(t *testing.T) {
	body := Body{[][]byte{[]byte("{}")}}
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}`, toolsHabit},
		{400, `{"error":"tools is not supported by this model"}`, toolsHabit},
		{400, `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}}`, toolsHabit},
		{500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, toolsHabit},
		{404, `{"error":{"message":"No endpoints found that support tool use. Try disabling \"Read\".","code":404}}`, toolsHabit},
		{400, `{"error":{"message":"` + "`tool calling` is not supported with this model" + `","type":"invalid_request_error"}}`, toolsHabit},
		{400, `{"error":{"code":400,"message":"Function calling is not enabled for models/gemma-3-1b-it","status":"INVALID_ARGUMENT"}}`, toolsHabit},
		{400, `{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"tools\": Cannot find field.","status":"INVALID_ARGUMENT"}}`, toolsHabit},
		{400, `{"error":{"message":"Unrecognized request argument supplied: tools"}}`, toolsHabit},
		{422, `{"detail":[{"loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}`, toolsHabit},
		{400, `{"error":{"message":"This model doesn't support function calling."}}`, toolsHabit},
		{400, `{"message":"This model doesn't support tool use in streaming mode."}`, toolsHabit},
		{501, `{"error":{"message":"tool calls are not implemented"}}`, toolsHabit},
		{400, `{"error":{"message":"Tool use is not supported for this model"}}`, toolsHabit},

		{400, `{"object":"error","message":"System role not supported","code":400}`, apartHabit},
		{500, `{"error":{"code":500,"message":"Value is not callable: null at row 1: {{ raise_exception('System role not supported') }}"}}`, apartHabit},
		{400, `{"error":"Error rendering prompt with jinja template: \"System role not supported\"."}`, apartHabit},
		{400, `{"error":{"message":"Only user and assistant roles are supported!"}}`, apartHabit},
		{400, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role"}}`, apartHabit},
		{400, `{"error":{"code":400,"message":"Developer instruction is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}`, apartHabit},
		{422, `{"detail":[{"loc":["body","messages",0,"role"],"msg":"Input should be 'user' or 'assistant'"}]}`, apartHabit},
		{400, `{"error":{"message":"invalid role: system"}}`, apartHabit},
		{400, `{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"systemInstruction\": Cannot find field."}}`, apartHabit},
		{400, `{"error":{"message":"system messages are not supported by this model"}}`, apartHabit},

		{400, `{"error":{"message":"tools[3].function.parameters: unsupported keyword 'oneOf'"}}`, ""},
		{400, `{"error":{"message":"tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"}}`, ""},
		{400, `{"error":{"message":"Invalid schema for function 'Read': 'format' is not permitted"}}`, ""},
		{400, `{"error":{"message":"Unsupported value: 'tools[0].type' is not supported"}}`, ""},
		{400, `{"error":{"message":"too many tools: at most 128 are allowed"}}`, ""},
		{400, `{"error":{"message":"tool_choice is not supported"}}`, ""},
		{400, `{"error":{"message":"the tool Read does not support images"}}`, ""},
		{400, `{"error":{"message":"messages with role 'tool' must follow a message with tool_calls"}}`, ""},
		{400, `{"error":{"message":"unexpected tool_use_id found in tool_result blocks"}}`, ""},
		{429, `{"error":{"message":"this model does not support tools at this rate"}}`, ""},
		{401, `{"error":{"message":"System role not supported"}}`, ""},
		{500, `{"error":{"message":"the system is not available"}}`, ""},
		{400, `{"error":{"message":"Your account does not support this operating system"}}`, ""},
	} {
		f := ReadFault([]byte(c.body))
		err := &llm.Error{Kind: classify(c.status, f), Status: c.status, Err: f}
		r := llm.Request{System: []string{"be good"}, Tools: []llm.Spec{{Name: "Read"}}}
		names, _ := givenUp(err, body, plainHabits(r), nil, true)
		got := ""
		if len(names) > 0 {
			got = names[0]
		}
		if got != c.want || len(names) > 1 {
			t.Errorf("%d %s: given up %q, want %q (%v)", c.status, c.body, names, c.want, err)
		}
		if names, _ := givenUp(err, body, plainHabits(llm.Request{}), nil, true); len(names) > 0 {
			t.Errorf("%s: given up %q, and a request had none of it", c.body, names)
		}
	}
}
