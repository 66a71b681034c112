package config

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// hiddenText stands where a secret of a setting was.
const hiddenText = "••••••"

var (
	// login is the name and password in an address.
	login = pattern.Lazy(`://[^/@\s"]+@`)
	// secretQuery is a part of an address whose name says that it is secret.
	secretQuery = pattern.Lazy(`(?i)([?&][^=&\s"]*(?:key|token|secret|pass|cred|auth|sig)[^=&\s"]*=)[^&\s"#]+`)
	// secretFlag is an argument whose name says that its value is secret.
	secretFlag = pattern.Lazy(`^--?[A-Za-z][A-Za-z0-9_-]*$`)
	// secretOption is the name of an option of a plugin, or of a sign-in, that is secret.
	secretOption = pattern.Lazy(`(?i)token|secret|passw|api_?key|private`)
)

// masked is a value without the secrets that its place or its form tells.
func masked(n *node, path string) *node {
	if n == nil {
		return nil
	}
	out := *n
	switch n.kind {
	case '"':
		return withText(n, maskedText(n.text, path))
	case '[':
		out.elems = nil
		after := false // a flag stands before whose value is secret
		for _, e := range n.elems {
			e = masked(e, path)
			if e.kind == '"' && strings.HasSuffix(path, ".args") {
				name, _, has := strings.Cut(e.text, "=")
				flag := secretFlag().MatchString(name) && SecretName(name)
				switch {
				case flag && has:
					e = withText(e, name+"="+hiddenText)
				case after && !strings.HasPrefix(e.text, "-"):
					e = withText(e, hiddenText)
				}
				after = flag && !has
			}
			out.elems = append(out.elems, e)
		}
	case '{':
		out.members = nil
		for _, m := range n.members {
			out.members = append(out.members, member{m.name, m.from, masked(m.value, join(path, m.name))})
		}
	}
	return &out
}

// withText is a text node with another text, the same one where nothing changes.
func withText(n *node, text string) *node {
	if text == n.text {
		return n
	}
	raw, err := fastjson.Append(nil, text)
	if err != nil { // a text always encodes
		raw = []byte(`""`)
	}
	return &node{kind: '"', text: text, raw: raw, from: n.from}
}

// maskedText is a text that stands at a place, without what is secret of it. What names
// a variable ("${TOKEN}") is none.
func maskedText(text, path string) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	_, inEnv := strings.CutPrefix(path, "env.")
	inEnv = inEnv || strings.Contains(path, ".env.")
	free := strings.HasPrefix(path, "pluginConfigs.") || strings.Contains(path, ".oauth.")
	switch {
	case text == "", strings.HasPrefix(path, "permissions."):
		return text
	case strings.Contains(path, "headers."), inEnv && SecretName(name), free && secretOption().MatchString(name) && !strings.HasPrefix(text, "${"):
		return hiddenText
	}
	if !strings.ContainsAny(text, "@?&") { // nothing to find, and most texts need no pattern
		return text
	}
	return secretQuery().ReplaceAllString(login().ReplaceAllString(text, "://"+hiddenText+"@"), "${1}"+hiddenText)
}

// SecretName reports whether what has this name is taken for a secret.
func SecretName(name string) bool {
	u := strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "COOKIE", "PRIVATE", "SIGNATURE"}, func(w string) bool { return strings.Contains(u, w) }) ||
		strings.HasSuffix(u, "_PAT") || strings.HasSuffix(u, "_DSN")
}
