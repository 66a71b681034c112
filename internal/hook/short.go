package hook

import (
	"net/url"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// maxShort bounds a short name, in characters.
const maxShort = 40

// runners are programs whose first argument says more than they do.
var runners = []string{"sh", "bash", "zsh", "dash", "python", "python3", "node", "deno", "bun", "ruby", "perl", "env", "exec", "npx", "uv", "uvx", "run", "nohup"}

var (
	assigns   = pattern.Lazy(`^[A-Za-z_][A-Za-z_0-9]*=`)
	plainName = pattern.Lazy(`^[\pL\pN_.@+-](?:[\pL\pN_.@+ -]*[\pL\pN_.@+-])?`)
)

// Short is what a hook is called where its own words would be too many: the name of
// its program or script, its host, its tool. A model needs no more, and how a person
// guards something is none of its business.
func (h Hook) Short() string {
	switch h.Type {
	case HTTP:
		if u, err := url.Parse(h.URL); err == nil && u.Host != "" {
			return clip.Line(u.Host, maxShort)
		}
		return "http"
	case MCPTool:
		return clip.Line(h.Server+"/"+h.Tool, maxShort)
	case Prompt, Agent:
		return string(h.Type)
	case Callback:
		return clip.Line("callback "+h.Callback, maxShort)
	case Command:
	}
	name := ""
	for _, w := range h.Words() {
		if assigns().MatchString(w) && name == "" {
			continue
		}
		w = plainName().FindString(w[strings.LastIndexAny(w, `/\`)+1:])
		if w == "" || strings.HasPrefix(w, "-") {
			break
		}
		if name = w; !slices.Contains(runners, w) {
			break
		}
	}
	if name == "" {
		return "command"
	}
	return clip.Line(name, maxShort)
}

// Words are the program of a hook's command and its arguments, as a shell would take them
// apart; variables in them stay.
func (h Hook) Words() []string {
	if len(h.Args) > 0 {
		return append([]string{h.Command}, h.Args...)
	}
	var out []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range h.Command + " " {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	return out
}
