package ext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/llm"
)

// A person sees all that a server would have a model read, tools too.
func TestWholeSampling(t *testing.T) {
	got := whole(mcp.Sampling{
		System: "Be.", MaxTokens: 7, Choice: mcp.ChoiceRequired, Tools: []llm.Spec{{Name: "buy", Description: "buys", Schema: json.RawMessage(`{"x":1}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Parts: []llm.Part{llm.Text{S: "Q"}, llm.Image{Media: "image/png"}}},
			{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "1", Name: "buy", Input: json.RawMessage(`{"x":2}`)}}},
			{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "1", Text: "bought"}}},
		},
	})
	for _, want := range []string{"Be.", "buy\nbuys\n{\"x\":1}", "Q\n[an image, image/png]", "[calls buy with {\"x\":2}]", "bought", "has to call a tool", "7 tokens"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func TestSamplingsChoice(t *testing.T) {
	a, b := llm.Spec{Name: "a"}, llm.Spec{Name: "b"}
	called := []llm.Message{{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "1", Name: "a"}}}}
	for _, c := range []struct {
		s     mcp.Sampling
		force string
		tools int
		words string
	}{
		{mcp.Sampling{Tools: []llm.Spec{a}}, "", 1, ""},
		{mcp.Sampling{Tools: []llm.Spec{a}, Choice: mcp.ChoiceRequired}, "a", 1, ""},
		{mcp.Sampling{Tools: []llm.Spec{a, b}, Choice: mcp.ChoiceRequired}, "", 2, "a call of one"},
		{mcp.Sampling{Tools: []llm.Spec{a}, Choice: mcp.ChoiceNone}, "", 0, ""},
		{mcp.Sampling{Tools: []llm.Spec{a}, Choice: mcp.ChoiceNone, Messages: called}, "", 1, "no tool"},
	} {
		r := asked("m", c.s)
		if r.Force != c.force || len(r.Tools) != c.tools || !strings.Contains(strings.Join(r.System, ""), c.words) || (c.words == "") != (len(r.System) == 0) {
			t.Errorf("%+v: %+v", c.s, r)
		}
	}
	text := llm.Finished{Message: llm.Message{Parts: []llm.Part{llm.Text{S: "A"}}}, Stop: llm.EndTurn}
	call := llm.Finished{Message: llm.Message{Parts: []llm.Part{llm.ToolUse{ID: "1", Name: "a"}}}}
	if out, err := answered("m", "", text); err != nil || out.Text != "A" || out.Stop != "endTurn" || out.Model != "m" {
		t.Errorf("%+v %v", out, err)
	}
	text.Model = "m-2026"
	if out, err := answered("m", "", text); err != nil || out.Model != "m-2026" {
		t.Errorf("another model answered: %+v %v", out, err)
	}
	if out, err := answered("m", mcp.ChoiceRequired, call); err != nil || len(out.Calls) != 1 || out.Stop != "toolUse" {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := answered("m", mcp.ChoiceRequired, text); err == nil {
		t.Error("a call was required")
	}
	if _, err := answered("m", mcp.ChoiceNone, call); err == nil {
		t.Error("no call was wanted")
	}
}
