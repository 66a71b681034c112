package mcp

//lint:file-ignore SA1019 sampling belongs to the protocols that most servers speak

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a provider would refuse, or what would be lost, is refused in plain words.
func TestSamplingRefused(t *testing.T) {
	said := func(role sdk.Role, parts ...sdk.Content) *sdk.SamplingMessageV2 {
		return &sdk.SamplingMessageV2{Role: role, Content: parts}
	}
	text := &sdk.TextContent{Text: "Q"}
	use, result := &sdk.ToolUseContent{ID: "1", Name: "a"}, &sdk.ToolResultContent{ToolUseID: "1"}
	tool := &sdk.Tool{Name: "a", InputSchema: map[string]any{"type": "object"}}
	for name, c := range map[string]struct {
		p    sdk.CreateMessageWithToolsParams
		want string
	}{
		"nothing":       {sdk.CreateMessageWithToolsParams{}, "nothing to answer"},
		"sound":         {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("user", &sdk.AudioContent{})}}, "of this kind"},
		"null":          {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{nil}}, "is null"},
		"choice":        {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("user", text)}, ToolChoice: &sdk.ToolChoice{Mode: "any"}}, "none of auto, required and none"},
		"no tool":       {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("user", text)}, ToolChoice: &sdk.ToolChoice{Mode: "required"}}, "there is none"},
		"twice":         {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("user", text)}, Tools: []*sdk.Tool{tool, tool}}, "two tools named"},
		"no schema":     {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("user", text)}, Tools: []*sdk.Tool{{Name: "a"}}}, "is no object"},
		"user calls":    {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("user", use)}}, "of the assistant"},
		"mixed":         {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("assistant", use), said("user", result, text)}}, "nothing else"},
		"of nothing":    {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("user", result)}}, "answers no tool_use"},
		"open":          {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("assistant", use), said("user", text)}}, "not answered"},
		"open at last":  {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("assistant", use)}}, "not answered"},
		"sound inside":  {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("assistant", use), said("user", &sdk.ToolResultContent{ToolUseID: "1", Content: []sdk.Content{&sdk.AudioContent{}}})}}, "text and images"},
		"large":         {sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("user", &sdk.TextContent{Text: strings.Repeat("x", maxPrompt+1)})}}, "more than"},
		"many of tools": {sdk.CreateMessageWithToolsParams{Tools: make([]*sdk.Tool, maxOffered+1)}, "more than 128 tools"},
	} {
		q := &sampler{names: map[string]string{}}
		if _, err := q.sampling(&c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	q := &sampler{names: map[string]string{}}
	if _, err := q.sampling(&sdk.CreateMessageWithToolsParams{Messages: []*sdk.SamplingMessageV2{said("user", text), said("assistant", use, text), said("user", result)}, Tools: []*sdk.Tool{tool}}); err != nil {
		t.Error(err)
	}
}
