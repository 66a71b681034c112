package compat

import (
	"context"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// Reasoning that a server leaves in the content is reasoning, however it is cut, and a mark
// in later text is text.
func TestMarksOfReasoning(t *testing.T) {
	for _, c := range []struct{ content, thought, text string }{
		{"<think>let me\n see</think>\n\nanswer", "let me\n see", "answer"},
		{"\n <think>\nlet me é😀\n</think>answer </think> <think> x", "let me é😀", "answer </think> <think> x"},
		{"[THINK]hm[/THINK]answer", "hm", "answer"},
		{"<thinking>hm</thinking>\nanswer", "hm", "answer"},
		{"<think>\n\n</think>\n\nanswer", "", "answer"},
		{"<think>never closed <", "never closed <", ""},
		{"let me see\n</think>\n\nanswer", "let me see", "answer"},
		{"let me see</think>\nanswer", "let me see", "answer"},
		{"let me see\n</think>", "let me see", ""},
		{"the mark `</think>` closes", "", "the mark `</think>` closes"},
		{"so:\n```\n</think>\n```\n", "", "so:\n```\n</think>\n```\n"},
		{"so: <think>\nx\n</think>\nend", "", "so: <think>\nx\n</think>\nend"},
		{"<thin ice", "", "<thin ice"},
		{"  <", "", "  <"},
		{"< 漢😀", "", "< 漢😀"},
	} {
		for _, size := range []int{1, 2, 5, 1000} {
			for _, escaped := range []bool{false, true} {
				var b strings.Builder
				raw := llmtest.RawJSON(c.content)
				if escaped {
					raw = strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(raw)
				}
				for _, piece := range pieces(raw, size) {
					b.WriteString(say(`{"content":"` + piece + `"}`))
				}
				m := New(Config{Config: wire.Config{Provider: "x", Transport: llmtest.Body(b.String() + finish)}, BaseURL: "http://x/v1"})
				g := llmtest.Collect(t, context.Background(), m, llm.Request{Model: "m"})
				if g.Err != nil || g.Thinking != c.thought || g.Text != c.text {
					t.Errorf("%q in pieces of %d: thought %q, text %q, %v", c.content, size, g.Thinking, g.Text, g.Err)
				}
			}
		}
	}
}

// pieces cuts the inside of a JSON string, at any place but within an escape.
func pieces(raw string, size int) (out []string) {
	for len(raw) > 0 {
		n := 0
		for k := 0; k < size && n < len(raw); k++ {
			switch {
			case strings.HasPrefix(raw[n:], `\u`):
				n += 6
			case raw[n] == '\\':
				n += 2
			default:
				n++
			}
		}
		out, raw = append(out, raw[:n]), raw[n:]
	}
	return out
}
