package compat

import (
	"net/http"
	"regexp"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// habits are what some servers refuse, in the order in which an answer is searched for
// them. "max_tokens" and those in which reasoning returns are the other way round
// when they are refused.
var habits = []wire.Habit{
	{Name: "+reasoning_content", Sent: `"reasoning_content":`, Words: []string{"reasoning_content"}, Missed: true},
	{Name: "stream_options"}, {Name: "max_completion_tokens"}, {Name: "max_tokens"}, {Name: "reasoning_effort"},
	{Name: "reasoning_content"}, {Name: "reasoning_details"}, {Name: "prompt_cache_key"}, {Name: "cache_control"},
	{Name: "tool_choice"}, {Name: "thinking"}, {Name: "reasoning"},
	{Name: "null content", Sent: `"content":null`, Refused: refusesNull, Shape: true},
	{Name: "empty content", Sent: `"content":""`, Refused: refusesEmpty},
	{Name: "long ids", Sent: `"tool_calls":`, Refused: refusesIDs, Shape: true},
	{Name: "user after tool", Sent: `"role":"tool"`, Refused: refusesOrder},
	{Name: "no name", Sent: `"role":"tool"`, Words: []string{"name"}, Refused: missesName},
	{Name: "no /v1", Sent: `"model":`, Refused: missesVersion, Guess: true},
}

var (
	noValue = pattern.Lazy(`\bnull|\bnone(?:type)?\b|\bnil\b|\bundefined\b`)
	ofText  = pattern.Lazy(`string|required|missing|type|empty|blank|iterable`)
	ofIDs   = pattern.Lazy(`tool.?call.?id|call_id|\bids?\b`)
	ofSize  = pattern.Lazy(`\blength|characters|alphanumeric|too long|a-z|pattern|format|at most|malformed`)
	inOrder = pattern.Lazy(`after role|role.{0,40}(?:after|follow|alternat)|alternat.{0,40}role|after a tool|last role`)
	strange = pattern.Lazy(`template|jinja|filter|concatenate|render`)
)

// refusesNull: a message with calls has no words, which is written as null. Chat
// templates that want text fail in their own words, and as the server's fault.
func refusesNull(a wire.Answer) bool {
	text := a.Text
	if a.Kind == llm.ServerError {
		return noValue().MatchString(text) || strange().MatchString(text)
	}
	return a.About() && (noValue().MatchString(text) || a.Has("content") && ofText().MatchString(text))
}

func refusesEmpty(a wire.Answer) bool {
	return a.About() && a.Has("content") && a.Says("empty", "blank", "at least", "min_length", "too short", "required", "missing")
}

// refusesIDs: servers with Mistral's tokenizer take ids of nine letters and digits.
func refusesIDs(a wire.Answer) bool {
	return a.About() && both(ofIDs(), ofSize(), a.Text)
}

func both(a, b *regexp.Regexp, text string) bool { return a.MatchString(text) && b.MatchString(text) }

func refusesOrder(a wire.Answer) bool {
	return (a.About() || a.Kind == llm.ServerError) && inOrder().MatchString(a.Text)
}

func missesName(a wire.Answer) bool {
	return a.About() && a.Has("name") && a.Has("tool", "function") && a.Says("missing", "required")
}

// missesVersion: nothing is at the address; see Client.url.
func missesVersion(a wire.Answer) bool {
	return (a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed) && !a.Has("model")
}

// without are the quirks of a server that refused these habits.
func (q Quirks) without(names []string) Quirks {
	for _, f := range names {
		switch f {
		case "stream_options":
			q.NoUsageOption = true
		case "max_completion_tokens":
			q.MaxCompletion = false
		case "max_tokens":
			q.MaxCompletion = true
		case "reasoning_effort", "thinking":
			q.Effort = NoEffort
		case "prompt_cache_key":
			q.CacheKey = false
		case "cache_control":
			q.CacheMarks = false
		case "tool_choice":
			q.NoForce = true
		case "reasoning_details":
			q.Details = false
		case "+reasoning_content":
			q.Reasoning = "reasoning_content"
		case "reasoning_content":
			q.Reasoning = ""
		case "reasoning":
			if q.Effort == ReasoningObject || q.Effort == ReasoningToggle {
				q.Effort = NoEffort
			}
			if q.Reasoning == "reasoning" {
				q.Reasoning = ""
			}
		case "null content":
			q.NoNull = true
		case "empty content":
			q.NoEmpty = true
		case "long ids":
			q.ShortIDs = true
		case "user after tool":
			q.BridgeResults = true
		case "no name":
			q.ToolName = true
		case "no /v1":
			q.Version = true
		}
	}
	return q
}
