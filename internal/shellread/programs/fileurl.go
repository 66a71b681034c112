package programs

import (
	"net/url"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// curlGlob is a set or range in an address or a name that curl expands itself:
// {a,b}, [a-z], [1-9:2] (curl(1), GLOBBING).
var curlGlob = pattern.Lazy(`\{[^{}]*\}|\[[^\[\]]*\]`)

// urls adds the files that addresses name (file:///a%2eb), and those that curl finds by
// patterns of its own, for rules that forbid.
func (u *Invocation) urls(ws []Word) {
	for _, w := range ws[1:min(len(ws), 100)] {
		if w.Kind != Exact || len(w.Text) > 5000 {
			continue
		}
		text, isURL := fileOf(w.Text)
		if u.name == "curl" && curlGlob().MatchString(text) {
			u.get(Word{Kind: Pattern, Text: curlGlob().ReplaceAllString(text, "*"), Source: w.Source}, policy.Read{Mention: true})
			text, isURL = strings.NewReplacer("[", "", "]", "", "{", "", "}", "").Replace(text), true
		}
		if isURL {
			u.get(Word{Kind: Exact, Text: text, Source: w.Source}, policy.Read{Mention: true})
		}
	}
}

// fileOf is the path in an address of a file (RFC 8089), decoded; ok is false when the
// text holds none.
func fileOf(text string) (path string, ok bool) {
	i := strings.Index(strings.ToLower(text), "file:")
	if i < 0 {
		return text, false
	}
	path = text[i+len("file:"):]
	if rest, host := strings.CutPrefix(path, "//"); host {
		_, rest, _ = strings.Cut(rest, "/")
		path = "/" + rest
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return path, true
}
