package wire

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
)

// badURL is the failure of a request that the base URL does not allow.
func (c *Client) badURL(text string) *llm.Error {
	return &llm.Error{Kind: llm.BadRequest, Provider: c.c.Provider, Fix: "correct the provider's base URL" + c.setting("base_url"), Err: errors.New(text)}
}

// setting names where a value of the provider stands, as far as settings have it.
func (c *Client) setting(key string) string {
	if c.c.Provider == "" {
		return ""
	}
	return " (the setting providers." + c.c.Provider + "." + key + ")"
}

// badHeader says which of the person's own headers HTTP has no room for, nil when all
// can be sent: trying again would not change it.
func (c *Client) badHeader() error {
	for _, name := range slices.Sorted(maps.Keys(c.c.Headers)) {
		what := ""
		switch {
		case !token(name):
			what = fmt.Sprintf("%q cannot be the name of a header", clean(name, 60))
		case strings.ContainsFunc(c.c.Headers[name], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			what = "the value of the header " + name + " has a line break or another control character"
		default:
			continue
		}
		return &llm.Error{Kind: llm.BadRequest, Provider: c.c.Provider, Fix: "correct the provider's headers" + c.setting("headers"), Err: errors.New(what)}
	}
	return nil
}

// token reports whether a header may be named so (RFC 9110, 5.6.2).
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// credential is the name of the person's own header that holds a key, "" when none does.
func (c *Client) credential() string {
	for _, name := range slices.Sorted(maps.Keys(c.c.Headers)) {
		switch low := strings.ToLower(name); {
		case c.c.Headers[name] == "":
		case strings.HasSuffix(low, "authorization"), strings.HasSuffix(low, "key"), strings.HasSuffix(low, "token"):
			return http.CanonicalHeaderKey(name)
		}
	}
	return ""
}
