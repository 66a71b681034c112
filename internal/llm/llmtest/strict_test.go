package llmtest

import (
	"strings"
	"testing"
)

// What a provider refuses, a Strict refuses.
func TestAcceptRefuses(t *testing.T) {
	const (
		said   = `{"role":"user","content":[{"type":"text","text":"go"}]}`
		call   = `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"` + "SIG" + `"},{"type":"tool_use","id":"c1","name":"x","input":{}}]}`
		answer = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r"}]}]}`
	)
	for name, c := range map[string]struct {
		messages []string
		why      string // "" accepts
	}{
		"fine":            {[]string{said, call, answer}, ""},
		"unanswered":      {[]string{said, call, said}, `calls ["c1"] were made, and [] are answered`},
		"answered twice":  {[]string{said, call, answer[:len(answer)-2] + `,{"type":"tool_result","tool_use_id":"c1"}]}`}, "are answered"},
		"nobody's result": {[]string{answer}, "are answered"},
		"result late":     {[]string{said, call, strings.Replace(answer, `[{"type":"tool_result"`, `[{"type":"text","text":"well"},{"type":"tool_result"`, 1)}, "comes after words"},
		"two of one role": {[]string{said, said}, "message 1 is of user"},
		"a model first":   {[]string{call, answer}, "message 0 is of assistant"},
		"a model last":    {[]string{said, call}, "are not the user's"},
		"an id again":     {[]string{said, call, answer, call, answer}, "must be unique"},
		"another's words": {[]string{said, strings.Replace(call, `"hm"`, `"hm!"`, 1), answer}, "invalid signature"},
		"empty":           {[]string{`{"role":"user","content":[]}`}, "is empty"},
		"five marks":      {[]string{`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a","cache_control":{}},`, 4) + `{"type":"text","text":"a","cache_control":{}}]}`}, "maximum of 4"},
	} {
		body := strings.ReplaceAll(`{"messages":[`+strings.Join(c.messages, ",")+`]}`, "SIG", signature("hm"))
		_, err := Accept(Anthropic{}, []byte(body))
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}
