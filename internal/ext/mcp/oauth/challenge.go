package oauth

import (
	"net/http"
	"strings"
)

// maxChallenge bounds what is read of a response's WWW-Authenticate headers, in
// bytes.
const maxChallenge = 16 << 10

// Bounds of a list of scopes.
const (
	maxScopes = 100
	maxScope  = 256 // bytes
)

// A challenge is what a server says with a refusal (RFC 6750 3, RFC 9728 5.1).
type challenge struct {
	metadata string // where the server describes itself, "" when it does not say
	scopes   []string
	code     string // such as invalid_token or insufficient_scope
	text     string // error_description
}

// challengeOf reads the challenges of a response. What cannot be read is passed
// over: a server must not keep anybody out by writing its header badly.
func challengeOf(h http.Header) challenge {
	var c challenge
	left := maxChallenge
	for _, v := range h.Values("WWW-Authenticate") {
		v = v[:min(len(v), left)]
		left -= len(v)
		params(v, c.set)
	}
	return c
}

// set takes a parameter of a challenge. The first of a name counts.
func (c *challenge) set(scheme, name, value string) {
	bearer := strings.EqualFold(scheme, "bearer")
	switch strings.ToLower(name) {
	case "resource_metadata":
		if c.metadata == "" {
			c.metadata = value
		}
	case "scope":
		if bearer && c.scopes == nil {
			c.scopes = scopes(value)
		}
	case "error":
		if bearer && c.code == "" {
			c.code = value
		}
	case "error_description":
		if bearer && c.text == "" {
			c.text = value
		}
	}
}

// params reads a header of challenges (RFC 9110 11.6.1): schemes, each with
// parameters name=token or name="text".
func params(s string, set func(scheme, name, value string)) {
	scheme := ""
	for s != "" {
		word := span(s, tokenChar)
		if word == "" {
			if s[0] == '"' { // a text that belongs to nothing
				_, s = quoted(s)
			} else {
				s = s[1:]
			}
			continue
		}
		s = strings.TrimLeft(s[len(word):], " \t")
		if !strings.HasPrefix(s, "=") {
			scheme = word
			continue
		}
		s = strings.TrimLeft(s[1:], " \t")
		var value string
		if strings.HasPrefix(s, `"`) {
			value, s = quoted(s)
		} else { // also what no token may hold, such as a URL without quotes
			value = span(s, func(c byte) bool { return c > ' ' && c != ',' && c < 0x7f })
			s = s[len(value):]
		}
		set(scheme, word, value)
	}
}

// span is the beginning of s that consists of such bytes.
func span(s string, in func(byte) bool) string {
	for i := range len(s) {
		if !in(s[i]) {
			return s[:i]
		}
	}
	return s
}

func tokenChar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// quoted reads the text at the beginning of s and returns what follows. One
// that does not end ends with s.
func quoted(s string) (text, rest string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// scopes reads a list of scopes (RFC 6749 3.3): each once, in order, without
// what cannot be one.
func scopes(list string) []string { return together(strings.Fields(list)) }

// together is every scope of the lists once, in order.
func together(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, l := range lists {
		for _, s := range l {
			if !seen[s] && isScope(s) && len(out) < maxScopes {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

func isScope(s string) bool {
	return s != "" && len(s) <= maxScope && span(s, func(c byte) bool { return c > ' ' && c < 0x7f && c != '"' && c != '\\' }) == s
}

// covers reports whether all scopes of want are in have.
func covers(have, want []string) bool { return len(together(have, want)) == len(together(have)) }
