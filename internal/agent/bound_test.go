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
	c := &calls{r: &run{Loop: &Loop{Spill: func(string, string) (string, error) { spilt++; return "/s/x.txt", nil }}}}
	give := func(limit int, text string) string {
		k := &call{use: llm.ToolUse{ID: "c1"}, tool: limited(limit)}
		out, _ := c.bound(k, tool.Result{Text: text})
		return out
	}
	euros := strings.Repeat("€", 5000) // three bytes each
	if out := give(5000, euros); out != euros || spilt != 0 {
		t.Errorf("5,000 characters are over a limit of 5,000: %.80q", out)
	}
	if out := give(4999, euros); spilt != 1 || !strings.Contains(out, "/s/x.txt") {
		t.Errorf("5,000 characters are within a limit of 4,999: %.80q", out)
	}
	if c.chars != 5000+previewBytes {
		t.Errorf("%d characters are counted", c.chars)
	}
	// What a tool read of a file goes to no other file, however much it is.
	c.chars = maxMessage - 3000
	out := give(tool.NoLimit, strings.Repeat("a line of text\n", 1000))
	if spilt != 1 || len(out) > 3200 || len(out) < 2500 || !strings.Contains(out, "[Cut here") {
		t.Errorf("%d characters, spilt %d times, of what a tool bounds itself: %.80q", len(out), spilt, out)
	}
	if c.chars != maxMessage {
		t.Errorf("%d characters are counted", c.chars)
	}
}

// limited is a tool with a limit.
type limited int

func (l limited) Spec() tool.Spec { return tool.Spec{Name: "Read", Again: true, Limit: int(l)} }

func (limited) Plan(json.RawMessage, tool.Env) (tool.Plan, error) { return tool.Plan{}, nil }

func (limited) Run(context.Context, json.RawMessage, tool.Env) (tool.Result, error) {
	return tool.Result{}, nil
}
