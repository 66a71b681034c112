package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/tool"
)

func TestResultsAreBoundedInCharacters(t *testing.T) {
	spilt := 0
	r := &run{Loop: &Loop{Spill: func(string, string) (string, error) { spilt++; return "/s/x.txt", nil }}}
	give := func(limit int, text string) string {
		out, _ := r.within(&call{use: llm.ToolUse{ID: "c1"}, tool: limited(limit)}, tool.Result{Text: text})
		return out
	}
	euros := strings.Repeat("€", 5000) // three bytes each
	if out := give(5000, euros); out != euros || spilt != 0 {
		t.Errorf("5,000 characters are over a limit of 5,000: %.80q", out)
	}
	if out := give(4999, euros); spilt != 1 || !strings.Contains(out, "/s/x.txt") {
		t.Errorf("5,000 characters are within a limit of 4,999: %.80q", out)
	}
	if out := give(tool.NoLimit, euros); out != euros || spilt != 1 {
		t.Errorf("what a tool bounds itself became %.80q", out)
	}
}

// limited is a tool with a limit.
type limited int

func (l limited) Spec() tool.Spec { return tool.Spec{Name: "Read", Again: true, Limit: int(l)} }

func (limited) Plan(json.RawMessage, tool.Env) (tool.Plan, error) { return tool.Plan{}, nil }

func (limited) Run(context.Context, json.RawMessage, tool.Env) (tool.Result, error) {
	return tool.Result{}, nil
}
