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
	plainName = pattern.Lazy(`^[\pL\pN_.@+-]+`)
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
	for _, w := range append(strings.Fields(h.Command), h.Args...) {
		if assigns().MatchString(w) && name == "" {
			continue
		}
		w = strings.Trim(w, `"'`)
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
