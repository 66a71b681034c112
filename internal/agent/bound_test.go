package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
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

// A result that is kept in a file says how long it is, and begins with its head.
func TestWhatIsSaidOfALargeResult(t *testing.T) {
	r := &run{Loop: &Loop{Spill: func(string, string) (string, error) { return "/s/x.txt", nil }}}
	text := "first\n" + strings.Repeat("x", 2000) + "\nlast"
	out, path := r.within(&call{use: llm.ToolUse{ID: "c1"}, tool: limited(1000)}, tool.Result{Text: text})
	if path != "/s/x.txt" || !strings.Contains(out, "3 lines") || !strings.Contains(out, "2.0 KB") || !strings.HasPrefix(out[strings.IndexByte(out, '\n')+1:], "first\nxxx") {
		t.Errorf("%q: %.200s", path, out)
	}
}

func TestTheLastTextIsTheModels(t *testing.T) {
	model := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Thinking{S: "hm"}, llm.Text{S: "one "}, llm.Text{S: "two"}}}
	user := llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: "and?"}}}
	for _, c := range []struct {
		ms   []llm.Message
		want string
	}{{nil, ""}, {[]llm.Message{user}, ""}, {[]llm.Message{user, model}, "one two"}, {[]llm.Message{model, user}, "one two"}} {
		if got := lastText(c.ms); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// These names are in logs and in the print protocol: they stay as they are.
func TestNamesOfErrors(t *testing.T) {
	for kind, want := range map[llm.Kind]string{
		llm.Transport: "network", llm.Cut: "stream_cut", llm.Stalled: "stream_stalled", llm.RateLimited: "rate_limit", llm.Overloaded: "overloaded",
		llm.ServerError: "server_error", llm.Unauthorized: "authentication_failed", llm.NoCredit: "billing_error", llm.NotFound: "model_not_found",
		llm.TooLong: "prompt_too_long", llm.MediaTooBig: "media_too_large", llm.BadRequest: "invalid_request", llm.BadReply: "bad_reply", llm.Kind(-1): "unknown",
	} {
		if got := KindName(kind); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// What is left of a budget is told when half, three quarters and nine tenths are
// gone.
func TestSharesThatAreTold(t *testing.T) {
	for used, want := range map[float64]int{0: 0, 0.99: 0, 1: 50, 1.49: 50, 1.5: 75, 1.79: 75, 1.8: 90, 2: 90, 3: 90} {
		if got := share(used, 2); got != want {
			t.Errorf("%v of 2: %d %%, want %d", used, got, want)
		}
	}
}

// A refused call reads what whoever answered said; where nothing was, why it was
// refused.
func TestWhatARefusedCallReads(t *testing.T) {
	denied := policy.Verdict{Effect: policy.Deny, Reason: "it is late"}
	const why = "This call was refused: it is late. Do not try to get around it; find another way, or say what you need."
	for want, v := range map[string]Verdict{why: {Verdict: denied}, "do it so": {Verdict: denied, Answer: &tool.Answer{Comment: "do it so"}}} {
		if got := refusal(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := refusal(Verdict{Verdict: denied, Answer: &tool.Answer{}}); got != why {
		t.Errorf("without a comment: %q", got)
	}
}
