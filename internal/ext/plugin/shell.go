package plugin

import (
	"encoding/json"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// plainWord is a value that a shell takes as it is, wherever it stands.
var plainWord = pattern.Lazy(`^[A-Za-z0-9_@%+=:,./~-]*$`)

// ExpandShell is Expand of a command for a shell (sh, bash), without secrets: a value stands there
// as the text that it is, whatever characters it has, outside of quotes and inside of
// either kind.
func (p Plugin) ExpandShell(s string) string {
	pairs := p.pairs(nil)
	var b strings.Builder
	quote := byte(0)
next:
	for i := 0; i < len(s); {
		c := s[i]
		if c == '$' {
			for k := 0; k+1 < len(pairs); k += 2 {
				if strings.HasPrefix(s[i:], pairs[k]) {
					b.WriteString(inShell(pairs[k+1], quote))
					i += len(pairs[k])
					continue next
				}
			}
		}
		b.WriteByte(c)
		i++
		switch {
		case c == '\\' && quote != '\'' && i < len(s):
			b.WriteByte(s[i])
			i++
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return b.String()
}

// inShell is a value as it is written between quotes of a kind, 0 for none. A variable
// of the shell's stays one.
func inShell(v string, quote byte) string {
	if list := Split(v); len(list) > 1 { // each is a word
		for i := range list {
			list[i] = inShell(list[i], quote)
		}
		return strings.Join(list, " ")
	}
	single := func(v string) string { return strings.ReplaceAll(v, "'", `'\''`) }
	switch {
	case plainWord().MatchString(v) || strings.HasPrefix(v, "${CLAUDE_"):
		return v
	case quote == '\'':
		return single(v)
	case quote == '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(v)
	}
	return "'" + single(v) + "'"
}

// ExpandHooks is Expand of the hooks of one matcher, without secrets. Commands for a
// shell get values as ExpandShell puts them.
func (p Plugin) ExpandHooks(raw json.RawMessage) (json.RawMessage, error) {
	var group map[string]json.RawMessage
	var hooks []map[string]json.RawMessage
	if json.Unmarshal(raw, &group) != nil || json.Unmarshal(group["hooks"], &hooks) != nil {
		return p.Expand(raw, nil) // its reader says what is wrong
	}
	for _, h := range hooks {
		var command, shell string
		_ = json.Unmarshal(h["shell"], &shell)
		isShell := json.Unmarshal(h["command"], &command) == nil && len(h["args"]) == 0 && shell != "powershell"
		for k, v := range h {
			out, err := p.Expand(v, nil)
			if k == "command" && isShell {
				out, err = json.Marshal(p.ExpandShell(command))
			}
			if err != nil {
				return nil, err
			}
			h[k] = out
		}
	}
	list, err := json.Marshal(hooks)
	if err != nil {
		return nil, err
	}
	for k, v := range group {
		if group[k], err = p.Expand(v, nil); err != nil {
			return nil, err
		}
	}
	group["hooks"] = list
	return json.Marshal(group)
}
