package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// A valued finds what is wrong with values that only other parts of adze can judge:
// names of what there is, and addresses.
type valued struct {
	cfg *config.Config
	out []config.Problem
}

// values are the problems of values that name agents, output styles, themes, tools,
// files and domains.
func values(i app.Invocation, cfg *config.Config, live *settings.Live) []config.Problem {
	v := valued{cfg: cfg}
	if cfg.Agent != "" || cfg.OutputStyle != "" {
		v.extensions(i.Offered(live))
	}
	v.theme(i.Offered(live))
	v.tools("tools.allowed", cfg.Tools.Allowed)
	v.tools("tools.disallowed", cfg.Tools.Disallowed)
	for _, g := range cfg.Memory.Excludes {
		if !doublestar.ValidatePattern(g) {
			v.wrong(config.Error, "memory.excludes", "%q is no glob", g)
		}
	}
	for key, list := range map[string][]string{"sandbox.network.allowed_domains": cfg.Sandbox.Network.AllowedDomains, "sandbox.network.denied_domains": cfg.Sandbox.Network.DeniedDomains} {
		for _, d := range list {
			if strings.ContainsAny(d, "/ @?#") {
				v.wrong(config.Error, key, "%q is no domain: write example.com or *.example.com, without http:// and path", d)
			}
		}
	}
	return v.out
}

func (v *valued) wrong(sev config.Severity, key, format, value string) {
	s, _ := v.cfg.Setting(key)
	message := strings.Replace(format, "%q", `"`+clip.Line(clip.Visible(value), 100)+`"`, 1)
	v.out = append(v.out, config.Problem{Severity: sev, Origin: s.Origin, Key: key, Message: message})
}

func (v *valued) extensions(c ext.FolderConfig) {
	lib, _ := ext.Library(c)
	if name := v.cfg.Agent; name != "" {
		if _, ok := lib.Agent(name); !ok {
			var names []string
			for _, d := range lib.Agents() {
				names = append(names, d.Name)
			}
			v.wrong(config.Error, "agent", "there is no agent %q"+near.Hint(name, names)+"; adze agents list shows them", name)
		}
	}
	if name := v.cfg.OutputStyle; name != "" {
		if _, ok := lib.Style(name); !ok {
			v.wrong(config.Warning, "output_style", "there is no output style %q; the usual one is used", name)
		}
	}
}

// theme looks for the theme: a built-in one, a file of the person's, or of a plugin.
func (v *valued) theme(c ext.FolderConfig) {
	name := v.cfg.UI.Theme
	if _, ok := draw.Named(name, true); ok {
		return
	}
	names := draw.ThemeNames()
	if name == filepath.Base(name) {
		if _, err := os.Stat(filepath.Join(c.Live.Paths.Folders.Config, "themes", name+".json")); err == nil {
			return
		}
	}
	for _, t := range ext.Themes(c) {
		if names = append(names, t.Name); t.Name == name {
			return
		}
	}
	v.wrong(config.Warning, "ui.theme", "there is no theme %q"+near.Hint(name, append(names, "auto"))+"; auto is used", name)
}

func (v *valued) tools(key string, list []string) {
	for _, name := range list {
		if name != "default" && name != "none" && !policy.Known(name) {
			v.wrong(config.Error, key, "there is no tool %q"+near.Hint(name, policy.Tools()), name)
		}
	}
}

// networkProblem is an error of the settings of the network, as a problem of its key.
func networkProblem(cfg *config.Config, err error) (config.Problem, bool) {
	key, message, ok := strings.Cut(err.Error(), ": ")
	if !ok || !slices.Contains([]string{"network.proxy", "network.ca_file"}, key) {
		return config.Problem{}, false
	}
	s, _ := cfg.Setting(key)
	return config.Problem{Severity: config.Error, Origin: s.Origin, Key: key, Message: message}, true
}
