package servers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// A row of allowedMcpServers and deniedMcpServers has exactly one of these, as
// Claude Code's documentation describes managed settings.
type row struct {
	Name    *string  `json:"serverName"`
	Command []string `json:"serverCommand"`
	URL     *string  `json:"serverUrl"`
}

// Lists are the servers that may, and that may not, be used.
type lists struct {
	restricted      bool // there is a list of the allowed, if an empty one
	allowed, denied []row
}

// readLists reads both. A row that cannot be read denies nothing and allows
// nothing; bad names it.
func readLists(cfg *config.Config) (l lists, bad []config.Problem) {
	rows := func(key string, raw []json.RawMessage) (out []row) {
		for i, text := range raw {
			var r row
			n := 0
			if fastjson.Unmarshal(text, &r) == nil {
				for _, has := range []bool{r.Name != nil, r.Command != nil, r.URL != nil} {
					if has {
						n++
					}
				}
			}
			if n != 1 {
				bad = append(bad, config.Problem{Severity: config.Error, Origin: whose(cfg, key, i), Key: key, Message: fmt.Sprintf("entry %d is not used: it is to have one of serverName (a text), serverCommand (a list of texts), serverUrl (a text)", i+1)})
				continue
			}
			out = append(out, r)
		}
		return out
	}
	c := cfg.MCP
	return lists{c.Allowed != nil, rows("allowedMcpServers", c.Allowed), rows("deniedMcpServers", c.Denied)}, bad
}

// whose is where an entry of a list stands, or the list.
func whose(cfg *config.Config, key string, entry int) config.Origin {
	s, _ := cfg.Setting(key)
	if entry < len(s.Parts) {
		return s.Parts[entry]
	}
	return s.Origin
}

// refuses says why a server may not be used, "" when it may. A denial always
// counts. Where the allowed ones are listed by command, a program has to be
// among these, and where by URL, a server elsewhere: its name, which anybody can
// choose, is not enough then.
func (l lists) refuses(s Server) string {
	for _, r := range l.denied {
		if r.matches(s) {
			return "deniedMcpServers forbids it"
		}
	}
	if !l.restricted || s.Transport == Host { // who drives adze could do all of it without adze
		return ""
	}
	byCommand := slices.ContainsFunc(l.allowed, func(r row) bool { return r.Command != nil })
	byURL := slices.ContainsFunc(l.allowed, func(r row) bool { return r.URL != nil })
	for _, r := range l.allowed {
		enough := r.Name == nil || s.Transport == Stdio && !byCommand || s.Transport != Stdio && !byURL
		if enough && r.matches(s) {
			return ""
		}
	}
	return "allowedMcpServers does not list it"
}

func (r row) matches(s Server) bool {
	switch {
	case r.Name != nil:
		return *r.Name == s.Name
	case r.Command != nil:
		return s.Transport == Stdio && slices.Equal(r.Command, append([]string{s.Command}, s.Args...))
	case r.URL != nil:
		return s.Transport != Stdio && s.Transport != Host && matchURL(*r.URL, s.URL)
	}
	return false
}

// matchURL compares a URL with a pattern in which "*" is any text. The scheme
// and the host are compared without case, and the host as a whole: a "*" in it
// matches no "/".
func matchURL(pattern, raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.User != nil { // nobody reads the host off a URL with a user in it
		return false
	}
	scheme, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		return pattern == "*"
	}
	host, path, hasPath := strings.Cut(rest, "/")
	if !glob(strings.ToLower(scheme), strings.ToLower(u.Scheme)) || !glob(strings.ToLower(host), strings.ToLower(u.Host)) {
		return false
	}
	have := strings.TrimPrefix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		have += "?" + u.RawQuery
	}
	if !hasPath { // "https://host" is the host with nothing behind it
		return have == "" || strings.HasSuffix(host, "*")
	}
	return glob(path, have)
}

// glob matches text as a whole; "*" is any text.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
