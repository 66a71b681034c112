package llm_test

import (
	"errors"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

// A refusal counts as one for its length where the request is near the window, or where the
// words are about a length and the request is not small.
func TestMayBeTooLong(t *testing.T) {
	for _, c := range []struct {
		e              llm.Error
		tokens, window int
		want           bool
	}{
		{llm.Error{Kind: llm.BadRequest, Status: 400}, 80, 100, true}, {llm.Error{Kind: llm.BadRequest, Status: 422}, 200, 100, true},
		{llm.Error{Kind: llm.BadRequest, Status: 400}, 70, 100, false}, {llm.Error{Kind: llm.BadRequest, Status: 400, Length: true}, 30, 100, true},
		{llm.Error{Kind: llm.BadRequest, Status: 400, Length: true}, 20, 100, false}, {llm.Error{Kind: llm.BadRequest, Status: 400, Length: true}, 5000, 0, true},
		{llm.Error{Kind: llm.BadRequest, Status: 400, Length: true}, 2000, 0, false}, {llm.Error{Kind: llm.BadRequest, Status: 400}, 5000, 0, false},
		{llm.Error{Kind: llm.ServerError, Status: 500}, 99, 100, false}, {llm.Error{Kind: llm.ServerError, Status: 500, Length: true}, 99, 100, true},
		{llm.Error{Kind: llm.BadRequest, Status: 400, Begun: true}, 99, 100, false}, {llm.Error{Kind: llm.Unauthorized, Status: 401}, 99, 100, false},
	} {
		if got := c.e.MayBeTooLong(c.tokens, c.window); got != c.want {
			t.Errorf("%+v of %d in %d: %v", c.e, c.tokens, c.window, got)
		}
	}
}

// What a person is told names the exchange, because the provider's support asks for it.
func TestError(t *testing.T) {
	err := errors.New("overloaded")
	for want, e := range map[string]llm.Error{
		"overloaded":                             {Err: err},
		"anthropic: overloaded":                  {Provider: "anthropic", Err: err},
		"anthropic: overloaded (529)":            {Provider: "anthropic", Err: err, Status: 529},
		"anthropic: overloaded (529, request r)": {Provider: "anthropic", Err: err, Status: 529, RequestID: "r"},
		"anthropic: overloaded (request r)":      {Provider: "anthropic", Err: err, RequestID: "r"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
