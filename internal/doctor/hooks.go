package doctor

import (
	"errors"
	"fmt"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/settings"
)

// Hooked are the hooks that would run in a folder.
type Hooked struct {
	Paths    settings.Paths
	Config   *config.Config
	Set      hook.Set
	Problems []error // what of them cannot be used
}

// Hooks are those of the settings and of plugins.
func Hooks(live *settings.Live, plugins ext.Brought) Hooked {
	h := hooksOf(live.Config(), plugins)
	h.Paths = live.Paths
	return h
}

func hooksOf(cfg *config.Config, plugins ext.Brought) Hooked {
	list, problems := hooks.Load(cfg, plugins.Hooks...)
	h := Hooked{Config: cfg, Set: extension.Hooks(list...), Problems: problems}
	for _, s := range plugins.Problems {
		h.Problems = append(h.Problems, errors.New(s))
	}
	return h
}

// ToMend is all that is wrong with them: what cannot be used, files that cannot be read,
// and what is taken and probably not meant.
func (h Hooked) ToMend() []error {
	out := h.Problems
	for _, file := range h.Config.Files {
		if file.State == config.Broken {
			out = append(out, fmt.Errorf("%s cannot be read: adze config check says why", file.Path))
		}
	}
	for _, x := range h.Set.All() {
		for _, s := range x.Doubts() {
			out = append(out, fmt.Errorf("%s: %s", x.From, s))
		}
	}
	return out
}

// Doubts are what hooks of the settings say that is taken, and probably not meant.
func Doubts(cfg *config.Config) (out []config.Problem) {
	list, _ := hooks.Load(cfg)
	for _, h := range extension.Hooks(list...).All() {
		for _, s := range h.Doubts() {
			out = append(out, config.Problem{Severity: config.Warning, Key: "hooks", Message: h.From + ": " + s + " (adze hooks check)"})
		}
	}
	return out
}
