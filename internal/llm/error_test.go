package llm_test

import (
	"errors"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

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
