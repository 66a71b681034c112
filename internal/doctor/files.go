package doctor

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/environment"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/machine"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/seal"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/ui/draw"
)

// fileFindings say what is wrong with files that only some runs read: who is trusted,
// saved keys, the key of sessions, key bindings, themes, and hooks of other agents.
func fileFindings(c Config, p settings.Paths) (out []Finding) {
	broken := func(name string, err error, fix string) {
		if h := hint.Of(err); h != "" {
			fix = h
		}
		out = append(out, Finding{name, "broken", err.Error(), fix})
	}
	if _, err := p.Trust().Check(p.TrustFolder()); err != nil {
		broken("trust", err, "correct it, or move it away: then folders are asked about anew")
	}
	if _, err := (auth.Store{Dir: p.Config, Keyring: auth.System(runtime.GOOS, c.Env)}).List(); err != nil {
		broken("keys", err, "adze login PROVIDER saves a key anew")
	}
	if there(filepath.Join(p.State, seal.KeyName)) { // else the first session makes it
		if _, err := seal.Key(p.State); err != nil {
			broken("state", fmt.Errorf("sessions are kept without seals: %w", err), "remove "+hint.Shell(filepath.Join(p.State, seal.KeyName))+": another one is made")
		}
	}
	file := filepath.Join(p.Config, machine.KeysFile)
	if b, err := regular.Read(file, config.MaxFile); err == nil {
		_, problems := machine.Keys(b)
		for _, x := range problems {
			what := "what is wrong does not count; the other keys do"
			if x.Warning {
				what = "it counts, and may not be what you meant"
			}
			out = append(out, Finding{"keyboard", "note", file + ": " + x.String(), what})
		}
	}
	themes, _ := filepath.Glob(filepath.Join(p.Config, "themes", "*.json"))
	for _, file := range themes {
		b, err := regular.Read(file, machine.MaxTheme)
		if err != nil {
			broken("themes", err, "")
			continue
		}
		_, problems := draw.ParseTheme(b)
		for _, x := range problems {
			out = append(out, Finding{"themes", "note", file + ": " + x.String(), "what is wrong does not count"})
		}
	}
	for _, at := range p.Unused(there) {
		out = append(out, Finding{"settings", "note", at + " is not used: the folder of your settings is " + p.Config, "move it there; of " + p.Further + " only settings.json counts"})
	}
	_, bad := hooks.Others(p.Home)
	for _, s := range bad {
		out = append(out, Finding{"hooks", "note", strings.TrimSpace(s), "adze hooks check says it again once it is mended"})
	}
	return out
}

// broughtFindings are what of plugins cannot be used, also of those that a flag
// brings, as far as no other line says it.
func broughtFindings(o app.Invocation, said []Finding) (out []Finding) {
	live, err := o.Open()
	if err != nil {
		return nil // settings have a line of their own
	}
	defer live.Close()
	for _, s := range ext.Plugins(o.Offered(live)).Problems {
		if !slices.ContainsFunc(said, func(f Finding) bool { return strings.Contains(s, f.Text) || strings.Contains(f.Text, s) }) {
			out = append(out, Finding{"plugins", "broken", s, "adze plugin validate DIR says more"})
		}
	}
	return out
}

// memoryFindings say which memory files a session here reads, and what of them or
// beside them it leaves out.
func memoryFindings(o app.Invocation, p settings.Paths, cfg *config.Config) (out []Finding) {
	files := environment.Place{Environment: o.Environment, Paths: p, Environ: o.Environ, Config: func() *config.Config { return cfg }}.Memory()
	text := "none is read here"
	var names []string
	for _, f := range files {
		names = append(names, clip.Visible(f.Path))
	}
	if len(names) > 0 {
		text = "read: " + strings.Join(names[:min(len(names), maxNamedFiles)], ", ")
	}
	if more := len(names) - maxNamedFiles; more > 0 {
		text += fmt.Sprintf(" and %d more (adze prompt)", more)
	}
	out = append(out, Finding{"memory files", "ok", text, ""})
	for _, f := range files {
		for _, w := range slices.Concat(f.Notes, f.Warnings) {
			out = append(out, Finding{"memory files", "note", clip.Visible(f.Path) + ": " + w, ""})
		}
	}
	return out
}

// maxNamedFiles is how many memory files doctor names.
const maxNamedFiles = 8

func there(path string) bool { return existing(path) == path }
