// Package doctor says what adze finds in a folder and on this machine, and what is broken: of
// settings, hooks, servers, plugins, keys and files. It mends nothing.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/free"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/sandbox"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/store/sessions"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Finding is one line of what is found. Level is ok, note or broken.
type Finding struct {
	Name  string `json:"name"`
	Level string `json:"level"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// A Config is whose machine is looked at.
type Config struct {
	app.Invocation
	Env      func(string) string // of the process
	Terminal bool                // stdout is one
}

// Examine looks at all that a run here would use, and starts none of it.
func Examine(ctx context.Context, c Config) []Finding {
	o := c.Invocation
	list := []Finding{
		{Name: "version", Level: "ok", Text: fmt.Sprintf("adze %s, %s, %s/%s", o.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		terminal(c), program(ctx, c, "git"), shell(c),
	}
	p, cfg, err := o.Load()
	if err != nil {
		return append(list, Finding{Name: "settings", Level: "broken", Text: err.Error(), Hint: hint.Of(err)})
	}
	list = append(list, sandboxFinding(ctx, o, p, cfg))
	list = append(list, settingsFindings(p, cfg)...)
	list = append(list, providerFindings(ctx, o, p, cfg)...)
	list = append(list, foreignFindings(o, cfg)...)
	list = append(list, extensionFindings(o)...)
	list = append(list, pluginFindings(c, p, cfg)...)
	list = append(list, unreadFindings(c, p)...)
	list = append(list, memoryFindings(o, p, cfg)...)
	list = append(list, fileFindings(c, p)...)
	list = append(list, broughtFindings(o, list)...)
	return append(list, stateFindings(p)...)
}

// extensionFindings say which hooks, MCP servers and skills there are, what of them
// cannot be used, and what of the folder's own waits for trust. Nothing is started.
func extensionFindings(o app.Invocation) (out []Finding) {
	live, err := o.Open()
	if err != nil {
		return []Finding{{"settings", "broken", err.Error(), hint.Of(err)}}
	}
	defer live.Close()
	conf := o.Offered(live)
	plugins := ext.Plugins(conf)
	h := hooksOf(live.Config(), ext.Brought{Hooks: plugins.Hooks}) // what of plugins cannot be used has its own lines
	text := clip.Count(len(h.Set.All()), "hook")
	if live.Config().DisableAllHooks {
		text = "off: disableAllHooks"
		if n := len(h.Set.All()); n > 0 {
			text = fmt.Sprintf("%s of the administrator; all others are off: disableAllHooks", clip.Count(n, "hook"))
		}
	}
	out = append(out, Finding{"hooks", "ok", text, ""})
	for _, err := range h.Problems {
		out = append(out, Finding{"hooks", "broken", err.Error(), "adze hooks check"})
	}
	_, bad := hooks.OfFolder(live.Paths.Root, live.HookFiles())
	for _, s := range bad {
		out = append(out, Finding{"hooks", "note", s, "adze hooks check"})
	}
	set := live.Servers(settings.Servers{Given: o.Extensions.Servers, Strict: o.Extensions.Strict, Plugins: plugins.Servers})
	about := clip.Count(len(set.Servers), "server")
	off := 0
	var apart []string
	for _, s := range set.Servers {
		if s.Approval == servers.Refused {
			off++
		}
	}
	if off > 0 {
		about += fmt.Sprintf(", %d of them off", off)
	}
	out = append(out, Finding{"MCP servers", "ok", about + "; adze mcp list connects to them", ""})
	for _, s := range set.Servers {
		switch {
		case s.Approval == servers.Pending && s.Why == servers.Untrusted:
			out = append(out, Finding{"MCP servers", "note", s.Name + " is not used before this folder is trusted as it is now", "adze trust"})
		case s.Approval == servers.Pending:
			out = append(out, Finding{"MCP servers", "note", s.Name + " waits for your yes: " + s.Why, "adze mcp approve " + hint.Shell(s.Name)})
		case s.Approval != servers.Refused && s.Problem != "":
			out = append(out, Finding{"MCP servers", "note", s.Name + " cannot be used: " + s.Problem, "adze mcp get " + hint.Shell(s.Name)})
		case s.Approval == servers.Approved && s.Apart:
			apart = append(apart, s.Name)
		}
	}
	if len(apart) > 0 {
		out = append(out, Finding{"MCP servers", "ok", "of " + clip.Line(clip.Visible(strings.Join(apart, ", ")), 200) + ": " + servers.StartsApart, ""})
	}
	for _, x := range set.Problems {
		out = append(out, Finding{"MCP servers", "broken", x.String(), ""})
	}
	lib, problems := ext.Library(conf)
	out = append(out, Finding{"skills", "ok", clip.Count(len(lib.Skills()), "skill") + ", " + clip.Count(len(lib.Agents()), "agent"), ""})
	for _, x := range problems {
		out = append(out, Finding{"skills", "note", x.String(), ""})
	}
	for _, a := range lib.Agents() {
		for _, x := range a.Unknown() {
			out = append(out, Finding{"skills", "note", x, "adze agents list"})
		}
	}
	if list := live.Ignored(); len(list) > 0 {
		out = append(out, Finding{"trust", "note", "not used: " + clip.Visible(strings.Join(list, ", ")), "adze trust shows what they would do, and asks"})
	}
	return out
}

// pluginFindings say which plugins are active, which are not and why, and whose
// files are other than what was installed.
func pluginFindings(c Config, p settings.Paths, cfg *config.Config) (out []Finding) {
	store := ext.Market(p, c.Env, c.Environ, c.Version, nil)
	list, err := store.Installed()
	if err != nil {
		return []Finding{{"plugins", "broken", err.Error(), hint.Of(err)}}
	}
	active, problems := store.Active(cfg)
	if len(list)+len(problems) == 0 {
		return nil
	}
	var names []string
	for _, a := range active {
		names = append(names, strings.TrimSpace(a.ID()+" "+a.Version))
	}
	text := "none is active"
	if len(names) > 0 {
		text = "active: " + strings.Join(names, ", ")
	}
	out = []Finding{{"plugins", "ok", text, ""}}
	var broken []string
	for _, in := range list {
		if err := store.Verify(in); err != nil {
			broken = append(broken, in.ID())
			out = append(out, Finding{"plugins", "broken", in.ID() + ": " + err.Error(), "adze plugin update " + hint.Shell(in.ID()) + " installs it anew"})
		}
	}
	var missing []string
	for _, x := range problems {
		if x.Missing {
			missing = append(missing, x.Plugin)
		}
	}
	if len(missing) > 1 {
		out = append(out, Finding{"plugins", "note", fmt.Sprintf("%d are enabled and not installed: %s", len(missing), strings.Join(missing, ", ")), "adze plugin list says how to install each"})
	}
	for _, x := range problems {
		if !slices.Contains(broken, x.Plugin) && (!x.Missing || len(missing) == 1) {
			out = append(out, Finding{"plugins", "note", x.Error(), x.Hint})
		}
	}
	return out
}

// sandboxFinding says what confines commands, and how to get better.
func sandboxFinding(ctx context.Context, o app.Invocation, p settings.Paths, cfg *config.Config) Finding {
	if !cfg.Sandbox.Enabled {
		return Finding{"sandbox", "note", "off: commands run with your rights", "adze config set sandbox.enabled true"}
	}
	c, err := o.Sandbox(p, cfg, nil)
	if err != nil {
		return Finding{"sandbox", "broken", err.Error(), ""}
	}
	l := sandbox.Probe(ctx, c)
	f := Finding{"sandbox", "ok", strings.TrimSpace(fmt.Sprintf("%s %s (%s)", l.Name, l.Detail, l.Strength)), l.Hint}
	if l.Strength != sandbox.Full {
		f.Level = "note"
		if l.Why != "" {
			f.Text += ": " + l.Why
		}
		if cfg.Sandbox.FailIfUnavailable && l.Strength == sandbox.None {
			f.Level = "broken"
		}
	}
	if l.Cold != "" {
		if f.Level == "ok" {
			f.Level = "note"
		}
		f.Text += "; each command is started by bubblewrap, which takes longer, because there is no zygote: " + clip.Line(clip.VisibleText(strings.TrimSpace(l.Cold)), maxCold)
	}
	return f
}

// maxCold bounds the reason for a slow sandbox, in characters.
const maxCold = 600

func terminal(c Config) Finding {
	f := Finding{Name: "terminal", Level: "ok", Text: "none: stdout is not a terminal"}
	if c.Terminal { // or the terminal UI shows it
		f.Text = cmp.Or(c.Env("TERM"), "unknown")
		if c := c.Env("COLORTERM"); c != "" {
			f.Text += ", colours: " + c
		}
	}
	return f
}

func program(ctx context.Context, c Config, name string) Finding {
	wd, _ := os.Getwd()
	path, ok := proc.Lookup(name, c.Env("PATH"), []string{wd})
	if !ok {
		return Finding{name, "note", "not found on PATH", "install it; without it the model is not told what changed"}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.Env = filepath.Dir(path), []string{"PATH=" + c.Env("PATH")}
	out, err := cmd.Output()
	if err != nil {
		return Finding{name, "broken", fmt.Sprintf("%s does not run: %v", path, err), ""}
	}
	return Finding{name, "ok", strings.TrimSpace(string(out)) + " (" + path + ")", ""}
}

func shell(c Config) Finding {
	wd, _ := os.Getwd()
	path, err := proc.Shell(c.Env("PATH"), []string{wd})
	if err != nil {
		return Finding{"shell", "broken", err.Error(), "install bash"}
	}
	return Finding{"shell", "ok", path, ""}
}

func settingsFindings(p settings.Paths, cfg *config.Config) []Finding {
	var list []Finding
	for _, file := range cfg.Files {
		if file.State == config.Loaded {
			x := Finding{"settings", "ok", fmt.Sprintf("%s (%s)", clip.Visible(file.Path), file.Scope), ""}
			if len(file.NotUsed) > 0 {
				x.Level, x.Text = "note", x.Text+"; not used: "+strings.Join(file.NotUsed, ", ")
			}
			list = append(list, x)
		}
	}
	rules, problems, err := settings.Rules(cfg, p)
	var further []string
	for _, d := range cfg.Permissions.Dirs {
		if !slices.ContainsFunc(problems, func(x config.Problem) bool { return x.Origin == d.Origin }) {
			further = append(further, fmt.Sprintf("%s (%s)", clip.Visible(d.Text), d.Origin))
		}
	}
	if len(further) > 0 {
		list = append(list, Finding{"folders", "ok", "used as this one is: " + strings.Join(further, ", "), ""})
	}
	if err != nil {
		list = append(list, Finding{"permissions", "broken", err.Error(), hint.Of(err)})
	}
	if rules.Unsafe != "" {
		list = append(list, Finding{"permissions", "broken", "everything asks: " + rules.Unsafe, "adze config edit"})
	}
	for _, r := range rules.List {
		if w := policy.Lint(r); w != "" && policy.Dead(r) == "" { // dead ones are among the problems
			list = append(list, Finding{"permissions", "note", fmt.Sprintf("%s %s (%s): %s", r.Effect, r.Text(), r.Source, w), ""})
		}
	}
	for _, pr := range slices.Concat(cfg.Problems, problems) {
		level := "note"
		if pr.Severity == config.Error {
			level = "broken"
		}
		list = append(list, Finding{"settings", level, pr.String(), ""})
	}
	return list
}

func providerFindings(ctx context.Context, o app.Invocation, p settings.Paths, cfg *config.Config) []Finding {
	ch, err := o.Models(p.Folders, cfg, !o.Print, nil)
	if err != nil {
		return []Finding{{"providers", "broken", err.Error(), hint.Of(err)}}
	}
	seen := map[string]bool{}
	var list []Finding
	for _, r := range ch.List(ctx) {
		if seen[r.Provider] || !r.Usable {
			continue
		}
		seen[r.Provider] = true
		text := r.Provider + ": key from " + r.KeySource
		switch {
		case r.Found && r.Local:
			text = r.Provider + ": a local server answers"
		case r.Found:
			text = r.Provider + ": its server answers"
		case r.KeySource == "":
			text = r.Provider + ": it needs no key by the settings"
		}
		list = append(list, Finding{"providers", "ok", text, ""})
	}
	c, err := ch.Choose(ctx, ch.Wish())
	var none *choose.NoModelError
	if errors.As(err, &none) {
		return append(list, Finding{"model", "note", "none yet: no key is set and no local server answers", none.Hint()})
	}
	if err != nil {
		return append(list, Finding{"model", "broken", err.Error(), cmp.Or(hint.Of(err), "adze models --all")})
	}
	text := c.String()
	if why, assumed := strings.CutPrefix(c.Facts.Source, choose.Assumed); assumed {
		return append(list, Finding{"model", "note", fmt.Sprintf("%s, with an assumed window of %d tokens: %s", text, c.Facts.Window, why), "load it first, or set its window under \"models\" in the settings"})
	}
	return append(list, Finding{"model", "ok", text, ""})
}

func stateFindings(p settings.Paths) []Finding {
	dir := filepath.Join(p.State, "projects")
	f := Finding{Name: "state", Level: "ok", Text: p.State}
	if info, err := os.Stat(p.State); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		if sub, err := os.Stat(dir); err == nil && sub.Mode().Perm()&0o077 != 0 {
			f.Level, f.Text, f.Hint = "note", f.Text+": others on this machine can look into it", "chmod 700 "+dir
		}
	}
	if err := writable(p.State); err != nil {
		f.Level, f.Text = "broken", fmt.Sprintf("%s cannot be written to (%v): sessions are kept in memory only", p.State, hint.Cause(err))
		f.Hint = "make it writable, or set ADZE_HOME to a folder that is"
		return []Finding{f}
	}
	if free, ok := free.Space(existing(p.State)); ok {
		f.Text += ", " + clip.Size(free) + " free"
		if free < 100<<20 {
			f.Level, f.Hint = "broken", "make room: sessions stop when they cannot be recorded"
		}
	}
	out := []Finding{f}
	st := sessions.In(p.State)
	st.Unread = func(note string) {
		out = append(out, Finding{"sessions", "broken", note, "put the file log.jsonl itself there, or remove the session's folder"})
	}
	list, err := st.List(context.Background(), "")
	if err != nil {
		return append(out, Finding{"sessions", "broken", err.Error(), ""})
	}
	return append(out, Finding{"sessions", "ok", fmt.Sprintf("%d", len(list)), ""})
}

// existing is the nearest folder above path that exists.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// writable tries to make a file in a folder, or in the nearest one above.
func writable(dir string) error {
	f, err := os.CreateTemp(existing(dir), ".adze-doctor-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
