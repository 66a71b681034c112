package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	"github.com/adze-agent/adze/internal/ui/draw"
)

// A finding is one line of doctor. Level is ok, note or broken.
type finding struct {
	Name  string `json:"name"`
	Level string `json:"level"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

func newDoctor(sys System, f *runFlags) *cobra.Command {
	return answering(sys, &cobra.Command{
		Use: "doctor", Short: "Say what adze found here, and what is broken", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string) (answer, error) {
		o, err := f.options(sys, cmd.Flags())
		if err != nil {
			return nil, err
		}
		o.Note = nil
		list := examine(cmd.Context(), sys, o)
		broken := slices.ContainsFunc(list, func(x finding) bool { return x.Level == "broken" })
		said := both{map[string]any{"version": sys.Version, "ok": !broken, "findings": list}, func() error { return printFindings(sys, list) }}
		if broken {
			return failing{said, &failure{code: exitFailed, cause: "something is broken; see above"}}, nil
		}
		return said, nil
	})
}

func printFindings(sys System, list []finding) error {
	var b strings.Builder
	color, width := sys.painter(), 0
	for _, x := range list {
		width = max(width, len(x.Name))
	}
	column := width + len("broken") + 4
	levels := map[string]draw.Role{"ok": draw.OK, "note": draw.Attention, "broken": draw.Wrong}
	for _, x := range list {
		fmt.Fprintf(&b, "%-*s  %s  %s\n", width, x.Name, color.cell(levels[x.Level], x.Level, len("broken")), wrapBelow(oneLine(x.Text), column, sys.asked()))
		name := "hint: "
		for line := range strings.Lines(x.Hint) {
			fmt.Fprintf(&b, "%-*s  %s%s\n", width+len("broken")+2, "", color.paint(draw.Quiet, name), wrapBelow(shown(line), column+len(name), sys.asked()))
			name = "      "
		}
	}
	_, err := io.WriteString(sys.Stdout, b.String())
	return err
}

// wrapBelow is a text that begins in a column, wrapped below that; as it is where nobody
// asks for a width.
func wrapBelow(s string, column, width int) string {
	if width < column+leastCol {
		return s
	}
	var out []string
	for _, l := range draw.L(draw.S(s, draw.Plain)).Wrap(width - column) {
		out = append(out, l.String())
	}
	return strings.Join(out, "\n"+strings.Repeat(" ", column))
}

func examine(ctx context.Context, sys System, o invocation) []finding {
	list := []finding{
		{Name: "version", Level: "ok", Text: fmt.Sprintf("adze %s, %s, %s/%s", sys.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		terminal(sys), program(ctx, sys, "git"), shell(sys),
	}
	p, cfg, err := o.load()
	if err != nil {
		return append(list, finding{Name: "settings", Level: "broken", Text: err.Error(), Hint: hint.Of(err)})
	}
	list = append(list, sandboxFinding(ctx, o, p, cfg))
	list = append(list, settingsFindings(p, cfg)...)
	list = append(list, providerFindings(ctx, o, p, cfg)...)
	list = append(list, foreignFindings(o, cfg)...)
	list = append(list, extensionFindings(o)...)
	list = append(list, pluginFindings(sys, o, p, cfg)...)
	list = append(list, unreadFindings(sys, o, p)...)
	list = append(list, memoryFindings(o, p, cfg)...)
	list = append(list, fileFindings(sys, p)...)
	list = append(list, broughtFindings(o, list)...)
	return append(list, stateFindings(p)...)
}

// extensionFindings say which hooks, MCP servers and skills there are, what of them
// cannot be used, and what of the folder's own waits for trust. Nothing is started.
func extensionFindings(o invocation) (out []finding) {
	live, err := settings.Open(o.Environment, o.Sources)
	if err != nil {
		return []finding{{"settings", "broken", err.Error(), hint.Of(err)}}
	}
	defer live.Close()
	conf := o.extended(live)
	plugins := ext.Plugins(conf)
	h := &hooked{cfg: live.Config()}
	h.read(ext.Brought{Hooks: plugins.Hooks}) // what of plugins cannot be used has its own lines
	text := clip.Count(len(h.set.All()), "hook")
	if live.Config().DisableAllHooks {
		text = "off: disableAllHooks"
		if n := len(h.set.All()); n > 0 {
			text = fmt.Sprintf("%s of the administrator; all others are off: disableAllHooks", clip.Count(n, "hook"))
		}
	}
	out = append(out, finding{"hooks", "ok", text, ""})
	for _, err := range h.problems {
		out = append(out, finding{"hooks", "broken", err.Error(), "adze hooks check"})
	}
	_, bad := hooks.OfFolder(live.Paths.Root, live.HookFiles())
	for _, s := range bad {
		out = append(out, finding{"hooks", "note", s, "adze hooks check"})
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
	out = append(out, finding{"MCP servers", "ok", about + "; adze mcp list connects to them", ""})
	for _, s := range set.Servers {
		switch {
		case s.Approval == servers.Pending && s.Why == servers.Untrusted:
			out = append(out, finding{"MCP servers", "note", s.Name + " is not used before this folder is trusted as it is now", "adze trust"})
		case s.Approval == servers.Pending:
			out = append(out, finding{"MCP servers", "note", s.Name + " waits for your yes: " + s.Why, "adze mcp approve " + hint.Shell(s.Name)})
		case s.Approval != servers.Refused && s.Problem != "":
			out = append(out, finding{"MCP servers", "note", s.Name + " cannot be used: " + s.Problem, "adze mcp get " + hint.Shell(s.Name)})
		case s.Approval == servers.Approved && s.Apart:
			apart = append(apart, s.Name)
		}
	}
	if len(apart) > 0 {
		out = append(out, finding{"MCP servers", "ok", "of " + clip.Line(clip.Visible(strings.Join(apart, ", ")), 200) + ": " + servers.StartsApart, ""})
	}
	for _, x := range set.Problems {
		out = append(out, finding{"MCP servers", "broken", x.String(), ""})
	}
	lib, problems := ext.Library(conf)
	out = append(out, finding{"skills", "ok", clip.Count(len(lib.Skills()), "skill") + ", " + clip.Count(len(lib.Agents()), "agent"), ""})
	for _, x := range problems {
		out = append(out, finding{"skills", "note", x.String(), ""})
	}
	for _, a := range lib.Agents() {
		for _, x := range a.Unknown() {
			out = append(out, finding{"skills", "note", x, "adze agents list"})
		}
	}
	if list := live.Ignored(); len(list) > 0 {
		out = append(out, finding{"trust", "note", "not used: " + clip.Visible(strings.Join(list, ", ")), "adze trust shows what they would do, and asks"})
	}
	return out
}

// pluginFindings say which plugins are active, which are not and why, and whose
// files are other than what was installed.
func pluginFindings(sys System, o invocation, p settings.Paths, cfg *config.Config) (out []finding) {
	store := ext.Market(p, sys.Env, o.Environ, sys.Version, nil)
	list, err := store.Installed()
	if err != nil {
		return []finding{{"plugins", "broken", err.Error(), hint.Of(err)}}
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
	out = []finding{{"plugins", "ok", text, ""}}
	var broken []string
	for _, in := range list {
		if err := store.Verify(in); err != nil {
			broken = append(broken, in.ID())
			out = append(out, finding{"plugins", "broken", in.ID() + ": " + err.Error(), "adze plugin update " + hint.Shell(in.ID()) + " installs it anew"})
		}
	}
	var missing []string
	for _, x := range problems {
		if x.Missing {
			missing = append(missing, x.Plugin)
		}
	}
	if len(missing) > 1 {
		out = append(out, finding{"plugins", "note", fmt.Sprintf("%d are enabled and not installed: %s", len(missing), strings.Join(missing, ", ")), "adze plugin list says how to install each"})
	}
	for _, x := range problems {
		if !slices.Contains(broken, x.Plugin) && (!x.Missing || len(missing) == 1) {
			out = append(out, finding{"plugins", "note", x.Error(), x.Hint})
		}
	}
	return out
}

// sandboxFinding says what confines commands, and how to get better.
func sandboxFinding(ctx context.Context, o invocation, p settings.Paths, cfg *config.Config) finding {
	if !cfg.Sandbox.Enabled {
		return finding{"sandbox", "note", "off: commands run with your rights", "adze config set sandbox.enabled true"}
	}
	c, err := o.Sandbox(p, cfg, nil)
	if err != nil {
		return finding{"sandbox", "broken", err.Error(), ""}
	}
	l := sandbox.Probe(ctx, c)
	f := finding{"sandbox", "ok", strings.TrimSpace(fmt.Sprintf("%s %s (%s)", l.Name, l.Detail, l.Strength)), l.Hint}
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
		f.Text += "; each command is started by bubblewrap, which takes longer, because there is no zygote: " + oneLine(l.Cold)
	}
	return f
}

func terminal(sys System) finding {
	f := finding{Name: "terminal", Level: "ok", Text: "none: stdout is not a terminal"}
	if sys.OutTTY || sys.asked() > 0 { // or the terminal UI shows it
		f.Text = first(sys.Env("TERM"), "unknown")
		if c := sys.Env("COLORTERM"); c != "" {
			f.Text += ", colours: " + c
		}
	}
	return f
}

func program(ctx context.Context, sys System, name string) finding {
	wd, _ := os.Getwd()
	path, ok := proc.Lookup(name, sys.Env("PATH"), []string{wd})
	if !ok {
		return finding{name, "note", "not found on PATH", "install it; without it the model is not told what changed"}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.Env = filepath.Dir(path), []string{"PATH=" + sys.Env("PATH")}
	out, err := cmd.Output()
	if err != nil {
		return finding{name, "broken", fmt.Sprintf("%s does not run: %v", path, err), ""}
	}
	return finding{name, "ok", strings.TrimSpace(string(out)) + " (" + path + ")", ""}
}

func shell(sys System) finding {
	wd, _ := os.Getwd()
	path, err := proc.Shell(sys.Env("PATH"), []string{wd})
	if err != nil {
		return finding{"shell", "broken", err.Error(), "install bash"}
	}
	return finding{"shell", "ok", path, ""}
}

func settingsFindings(p settings.Paths, cfg *config.Config) []finding {
	var list []finding
	for _, file := range cfg.Files {
		if file.State == config.Loaded {
			x := finding{"settings", "ok", fmt.Sprintf("%s (%s)", clip.Visible(file.Path), file.Scope), ""}
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
		list = append(list, finding{"folders", "ok", "used as this one is: " + strings.Join(further, ", "), ""})
	}
	if err != nil {
		list = append(list, finding{"permissions", "broken", err.Error(), hint.Of(err)})
	}
	if rules.Unsafe != "" {
		list = append(list, finding{"permissions", "broken", "everything asks: " + rules.Unsafe, "adze config edit"})
	}
	for _, r := range rules.List {
		if w := policy.Lint(r); w != "" && policy.Dead(r) == "" { // dead ones are among the problems
			list = append(list, finding{"permissions", "note", fmt.Sprintf("%s %s (%s): %s", r.Effect, r.Text(), r.Source, w), ""})
		}
	}
	for _, pr := range slices.Concat(cfg.Problems, problems) {
		level := "note"
		if pr.Severity == config.Error {
			level = "broken"
		}
		list = append(list, finding{"settings", level, pr.String(), ""})
	}
	return list
}

func providerFindings(ctx context.Context, o invocation, p settings.Paths, cfg *config.Config) []finding {
	ch, err := o.models(p, cfg)
	if err != nil {
		return []finding{{"providers", "broken", err.Error(), hint.Of(err)}}
	}
	seen := map[string]bool{}
	var list []finding
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
		list = append(list, finding{"providers", "ok", text, ""})
	}
	c, err := ch.Choose(ctx, ch.Wish())
	var none *choose.NoModelError
	if errors.As(err, &none) {
		return append(list, finding{"model", "note", "none yet: no key is set and no local server answers", none.Hint()})
	}
	if err != nil {
		return append(list, finding{"model", "broken", err.Error(), first(hint.Of(err), "adze models --all")})
	}
	text := c.String()
	if why, assumed := strings.CutPrefix(c.Facts.Source, choose.Assumed); assumed {
		return append(list, finding{"model", "note", fmt.Sprintf("%s, with an assumed window of %d tokens: %s", text, c.Facts.Window, why), "load it first, or set its window under \"models\" in the settings"})
	}
	return append(list, finding{"model", "ok", text, ""})
}

func stateFindings(p settings.Paths) []finding {
	dir := filepath.Join(p.State, "projects")
	f := finding{Name: "state", Level: "ok", Text: p.State}
	if info, err := os.Stat(p.State); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		if sub, err := os.Stat(dir); err == nil && sub.Mode().Perm()&0o077 != 0 {
			f.Level, f.Text, f.Hint = "note", f.Text+": others on this machine can look into it", "chmod 700 "+dir
		}
	}
	if err := writable(p.State); err != nil {
		f.Level, f.Text = "broken", fmt.Sprintf("%s cannot be written to (%v): sessions are kept in memory only", p.State, hint.Cause(err))
		f.Hint = "make it writable, or set ADZE_HOME to a folder that is"
		return []finding{f}
	}
	if free, ok := free.Space(existing(p.State)); ok {
		f.Text += ", " + clip.Size(free) + " free"
		if free < 100<<20 {
			f.Level, f.Hint = "broken", "make room: sessions stop when they cannot be recorded"
		}
	}
	out := []finding{f}
	st := sessions.In(p.State)
	st.Unread = func(note string) {
		out = append(out, finding{"sessions", "broken", note, "put the file log.jsonl itself there, or remove the session's folder"})
	}
	list, err := st.List(context.Background(), "")
	if err != nil {
		return append(out, finding{"sessions", "broken", err.Error(), ""})
	}
	return append(out, finding{"sessions", "ok", fmt.Sprintf("%d", len(list)), ""})
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
