package ext

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext/hooks"
	"github.com/adze-agent/adze/internal/ext/market"
	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Market is the person's plugins. What is downloaded comes through the proxies of environ, and
// of proxy where that is not nil.
func Market(p settings.Paths, env func(string) string, environ []string, version string, proxy func(*http.Request) (*url.URL, error)) *market.Store {
	var web *http.Client
	if proxy != nil {
		web = &http.Client{Transport: &http.Transport{Proxy: proxy, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second}}
	}
	return market.Open(market.Config{
		HTTP: web,
		Dir:  filepath.Join(p.State, "plugins"), Environ: environ, Avoid: []string{p.Root, p.Dir}, Agent: "adze/" + version,
		Keyring: auth.System(runtime.GOOS, env),
	})
}

// plugged are the plugins that are active, and what they bring that is worked out
// once. It does not change.
type plugged struct {
	list    []plugin.Plugin
	hooks   []extension.Contribution // of plugins, and of the person's files for other agents
	folder  []extension.Contribution // of the repository's, which are trusted
	servers []servers.Given
	environ map[string][]string // of a plugin's own processes, by its ID
	secrets []string            // values
	bad     []string            // for people
	missing []string            // likewise, of plugins that are enabled and not installed
	errs    []event.PluginError // for clients
	// unguarded, when set, says that hooks which may refuse something are not there.
	unguarded string
}

// wrong says what of a plugin is not used.
func (p *plugged) wrong(plugin, kind, text string) {
	p.bad = append(p.bad, text)
	p.errs = append(p.errs, event.PluginError{Plugin: plugin, Kind: kind, Text: clip.Line(clip.Visible(text), 1000)})
}

// absent says in a line which plugins are enabled and not installed; none for none.
func (p *plugged) absent() []string {
	if n := len(p.missing); n > 1 {
		return []string{fmt.Sprintf("%d plugins are enabled and not installed: adze plugin list shows them", n)}
	}
	return p.missing
}

// Kinds of an event.PluginError.
const (
	noPath      = "path-not-found"
	badManifest = "manifest-validation-error"
	badHook     = "hook-load-failed"
	badPlugin   = "generic-error"
)

// Brought is what active plugins have besides skills and what is like them.
type Brought struct {
	Hooks    []extension.Contribution
	Servers  []servers.Given // with the values of secrets, where they are used
	Secrets  []string        // these values; they are not for showing
	Problems []string
}

// Plugins reads what active plugins bring, without a session.
func Plugins(c FolderConfig) Brought {
	p := NewProcess(ProcessConfig{}).Open(c).replug()
	return Brought{slices.Concat(p.hooks, p.folder), p.servers, p.secrets, p.bad}
}

// plugins are the active plugins, as they were when settings last changed.
func (f *Folder) plugins() *plugged {
	f.plug.Do(func() { f.replug() }) // at a start, several ask at the same time
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.plugs
}

// Hooks are the hooks of the session at the root, as they count now;
// ok is false when there is none.
func (f *Folder) Hooks() (set hook.Set, ok bool) {
	x := f.root()
	if x == nil {
		return set, false
	}
	return x.gate.Set(), true
}

// hooks are those of plugins and of files for other agents, those of the repository
// as they are trusted at this moment.
func (f *Folder) hooks() []extension.Contribution {
	own, _ := hooks.OfFolder(f.conf.Live.Paths.Root, f.conf.Live.HookFiles()) // replug says what is left out
	return slices.Concat(f.plugins().hooks, own)
}

// replug looks which plugins are active now.
func (f *Folder) replug() *plugged {
	c := f.conf
	cfg := c.Live.Config()
	store := Market(c.Live.Paths, c.Env, c.Environment, c.Version, nil) // nothing is downloaded here
	p := &plugged{environ: map[string][]string{}}
	var problems []market.Problem
	if !c.Bare {
		p.list, problems = store.Active(cfg)
	}
	for _, x := range problems {
		switch text := x.Error() + hinted(x.Hint); {
		case x.Missing:
			p.missing = append(p.missing, text)
			p.errs = append(p.errs, event.PluginError{Plugin: x.Plugin, Kind: badPlugin, Text: clip.Line(clip.Visible(text), 1000)})
		case x.Note:
			p.bad = append(p.bad, text)
		case x.Lost && (x.Dropped == nil || guards(*x.Dropped)):
			mend := cmp.Or(x.Hint, "adze plugin list")
			p.unguarded = fmt.Sprintf("the plugin %s is not used, and its hooks may refuse calls: %s (%s brings it back, adze plugin disable %s does without it)", x.Plugin, x.Text, mend, hint.Shell(x.Plugin))
			p.wrong(x.Plugin, badPlugin, text+". Its hooks may refuse calls, so everything asks until then, or until adze plugin disable "+hint.Shell(x.Plugin))
		default:
			p.wrong(x.Plugin, badPlugin, text)
		}
	}
	for i, dir := range c.PluginDirs {
		x, bad, err := store.Look(dir)
		if err != nil {
			kind := badManifest
			if errors.Is(err, fs.ErrNotExist) {
				kind = noPath
			}
			p.wrong(fmt.Sprintf("inline[%d]", i), kind, fmt.Sprintf("the plugin in %s cannot be used: %v", dir, err))
			p.errs[len(p.errs)-1].Path = dir
			continue
		}
		for _, b := range bad {
			if text := x.Origin() + ": " + b.String(); b.Note {
				p.bad = append(p.bad, text)
			} else {
				p.wrong(x.ID(), badManifest, text)
			}
		}
		p.list = append(slices.DeleteFunc(p.list, func(o plugin.Plugin) bool { return o.Name == x.Name }), x)
	}
	for _, x := range p.list {
		p.add(store, x, enabledBy(cfg, x.ID()).Repo())
	}
	if !c.Bare {
		list, bad := hooks.Others(c.Live.Paths.Home)
		p.hooks, p.bad = append(p.hooks, list...), append(p.bad, bad...)
		p.folder, bad = hooks.OfFolder(c.Live.Paths.Root, c.Live.HookFiles())
		p.bad = append(p.bad, bad...)
	}
	if c.Hidden != nil {
		c.Hidden(p.secrets...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plugs = p
	return p
}

func hinted(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}

// enabledBy is whose settings have a plugin used.
func enabledBy(cfg *config.Config, id string) config.Scope {
	set, _ := cfg.Setting("enabledPlugins." + id)
	return set.Origin.Scope
}

// add works out what a plugin brings. repo: it is used because a repository says so.
func (p *plugged) add(store *market.Store, x plugin.Plugin, repo bool) {
	var secrets map[string]string
	if len(x.Secrets()) > 0 {
		var err error
		if secrets, err = store.Secrets(context.Background(), x); err != nil {
			p.wrong(x.ID(), badPlugin, fmt.Sprintf("%s: its secrets cannot be read: %v", x.Origin(), err))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(secrets)) {
		p.secrets = append(p.secrets, plugin.Split(secrets[k])...)
	}
	environ := x.Environ(secrets)
	p.environ[x.ID()] = environ
	for _, text := range unset(x, secrets) {
		p.wrong(x.ID(), badPlugin, text)
	}
	brings := extension.Contribution{From: extension.Origin{Kind: extension.FromPlugin, Name: x.ID()}}
	at := hook.Place{Scope: "plugin", Root: x.Root, Data: x.Data, Env: environ}
	for _, g := range x.Hooks {
		at.From = x.Origin() + ", " + g.From
		raw, err := x.ExpandHooks(g.JSON) // secrets are variables of its processes, and in no command line
		list, bad := parsed(x, g.Event, raw, at)
		for _, err := range append(bad, err) {
			if err != nil {
				p.wrong(x.ID(), badHook, fmt.Sprintf("%s: %v", at.From, err))
			}
		}
		brings.Hooks = append(brings.Hooks, list...)
	}
	at.From = x.Origin()
	for _, err := range x.Unread { // which is among its problems
		brings.Hooks = append(brings.Hooks, hook.Lost(at, "of "+x.ID(), err))
	}
	p.hooks = append(p.hooks, brings)
	for _, s := range x.Servers {
		raw, err := x.Expand(s.JSON, secrets)
		g := servers.Given{
			Name: s.Name, JSON: raw, Plugin: x.Name, Origin: config.Origin{File: x.Path(s.From), From: x.Origin()},
			Vars: vars(environ), Repo: repo,
		}
		if err != nil {
			g.Problem = err.Error()
		}
		p.servers = append(p.servers, g)
	}
}

// parsed reads the hooks of one matcher in the words of who the plugin was written for.
func parsed(x plugin.Plugin, event string, group json.RawMessage, at hook.Place) ([]hook.Hook, []error) {
	dialect := map[plugin.Format]hook.Dialect{plugin.Gemini: hook.Gemini, plugin.Codex: hook.Codex}[x.Format]
	if dialect == "" {
		return hook.Parse(event, group, at)
	}
	doc, err := json.Marshal(map[string]any{"hooks": map[string]any{event: []json.RawMessage{group}}})
	if err != nil {
		return nil, []error{err}
	}
	return hook.ParseOther(dialect, doc, at)
}

// guards reports whether a plugin has hooks that may refuse what is about to happen.
func guards(x plugin.Plugin) bool {
	return slices.ContainsFunc(x.Hooks, func(g plugin.HookGroup) bool {
		list, bad := parsed(x, g.Event, g.JSON, hook.Place{From: g.From, Scope: "plugin"})
		return len(bad) > 0 || slices.ContainsFunc(list, func(h hook.Hook) bool { return h.Event.Guards() })
	})
}

// HookProblems are the hooks of a plugin that cannot be used, and those of which it is
// doubtful, in words.
func HookProblems(x plugin.Plugin) (out []string) {
	for _, g := range x.Hooks {
		list, bad := parsed(x, g.Event, g.JSON, hook.Place{From: g.From, Scope: "plugin"})
		for _, err := range bad {
			out = append(out, clip.Visible(g.From+": "+err.Error()))
		}
		for _, h := range list {
			for _, d := range h.Doubts() {
				out = append(out, clip.Visible(g.From+": "+d))
			}
		}
	}
	return out
}

// vars are variables by name.
func vars(environ []string) map[string]string {
	out := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		out[name] = value
	}
	return out
}

// unset says which secrets of a plugin are not there although it needs them, or
// its servers and hooks name them.
func unset(x plugin.Plugin, secrets map[string]string) (out []string) {
	for _, o := range x.Options {
		names := func(raw []byte) bool { return strings.Contains(string(raw), "${user_config."+o.Key+"}") }
		used := o.Required || slices.ContainsFunc(x.Servers, func(s plugin.Server) bool { return names(s.JSON) }) ||
			slices.ContainsFunc(x.Hooks, func(g plugin.HookGroup) bool { return names(g.JSON) })
		if _, ok := secrets[o.Key]; o.Secret && used && !ok {
			out = append(out, fmt.Sprintf("%s: its secret option %s is not set (adze plugin enable %s --set %s=- reads it)", x.Origin(), o.Key, hint.Shell(x.ID()), hint.Shell(o.Key)))
		}
	}
	return out
}

// same reports whether the same is plugged in.
func (p *plugged) same(q *plugged) bool { return q != nil && reflect.DeepEqual(p, q) }

// places are where plugins have skills, commands, agents and output styles.
func (p *plugged) places() (out []skill.Place) {
	for _, x := range p.list {
		for _, k := range []struct {
			kind  skill.Kind
			paths []string
		}{{skill.Skills, x.Skills}, {skill.Commands, x.Commands}, {skill.Agents, x.Agents}, {skill.Styles, x.Styles}} {
			for _, rel := range k.paths {
				out = append(out, skill.Place{
					Dir: x.Path(rel), Kind: k.kind, From: x.Origin(), Scope: "plugin", Plugin: x.Name, Root: x.Root, Data: x.Data, Roots: []string{x.Root},
				})
			}
		}
	}
	return out
}

// A Theme is a file with colours that a plugin brings.
type Theme struct {
	Name string // plugin:name
	File string
	// Palette is the theme itself, in the form of Gemini's agent; File is "" then.
	Palette json.RawMessage
}

// maxThemes bounds the themes of a plugin.
const maxThemes = 100

// Themes are the themes of active plugins, without a session.
func Themes(c FolderConfig) []Theme { return NewProcess(ProcessConfig{}).Open(c).Themes() }

// Themes are the themes of the active plugins: files they name, and those that end
// in .json in folders they name.
func (f *Folder) Themes() (out []Theme) {
	for _, x := range f.plugins().list {
		var files []string
		for _, rel := range x.Themes {
			path := x.Path(rel)
			if list, err := os.ReadDir(path); err == nil {
				for _, e := range list {
					if filepath.Ext(e.Name()) == ".json" && e.Type().IsRegular() {
						files = append(files, filepath.Join(path, e.Name()))
					}
				}
			} else if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() {
				files = append(files, path)
			}
		}
		for _, file := range files[:min(len(files), maxThemes)] {
			out = append(out, Theme{Name: x.Name + ":" + strings.TrimSuffix(filepath.Base(file), ".json"), File: file})
		}
		for _, p := range x.Palettes {
			out = append(out, Theme{Name: x.Name + ":" + p.Name, Palette: p.JSON})
		}
	}
	return out
}

// maxContext bounds a file that a plugin has the model read, in bytes.
const maxContext = 100_000

// notes are what plugins have the model read from the start.
func (p *plugged) notes() (out []prompt.Note) {
	for _, x := range p.list {
		for _, rel := range x.Context {
			text, err := regular.Read(x.Path(rel), maxContext)
			if err != nil {
				continue // a plugin was checked when it was installed
			}
			out = append(out, prompt.Note{Name: "plugin " + x.Name, Text: "# From " + x.Origin() + "\n" + string(text)})
		}
	}
	return out
}

// Unguarded says that a plugin is missing whose hooks may refuse calls; "" when none is.
func (x *Session) Unguarded() string { return x.conf.Folder.plugins().unguarded }

// Rules are what plugins deny, and want to be asked about.
func (x *Session) Rules() (out []policy.Rule, err error) {
	var errs []error
	dir := x.conf.Folder.conf.Live.Paths.Dir
	for _, p := range x.conf.Folder.plugins().list {
		for effect, texts := range map[policy.Effect][]string{policy.Deny: p.Deny, policy.Ask: p.Ask} {
			for _, text := range texts {
				r, err := policy.ParseRule(text, effect, policy.User, p.Origin(), dir)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", p.Origin(), err))
					continue
				}
				out = append(out, r)
			}
		}
	}
	return out, errors.Join(errs...)
}

// StatusLine is the command of an active plugin that draws the last line of a screen,
// and its environment besides; nil is none. Of several plugins the last one's counts.
func (f *Folder) StatusLine() (line *config.StatusLine, environ []string) {
	p := f.plugins()
	for _, x := range p.list {
		var l config.StatusLine
		if len(x.StatusLine) == 0 || json.Unmarshal(x.StatusLine, &l) != nil || l.Command == "" {
			continue
		}
		l.Command = x.ExpandShell(l.Command)
		line, environ = &l, p.environ[x.ID()]
	}
	return line, environ
}

// bins are the folders of plugins' own programs, for the end of PATH.
func (p *plugged) bins() string {
	var dirs []string
	for _, x := range p.list {
		if x.Bin != "" {
			dirs = append(dirs, x.Path(x.Bin))
		}
	}
	return strings.Join(dirs, string(os.PathListSeparator))
}

// PluginRoots are the folders of the active plugins that lie among adze's own, for
// commands that run their programs.
func (f *Folder) PluginRoots() (out []string) {
	own := filepath.Join(f.conf.Live.Paths.State, "plugins")
	for _, x := range f.plugins().list {
		if x.Root != own && paths.Within(own, x.Root) {
			out = append(out, x.Root)
		}
	}
	return out
}

// Path is the PATH of commands, as environ has it, with the programs of plugins behind it.
func (x *Session) Path(environ []string) string {
	path, bins := proc.Getenv(environ, "PATH"), x.conf.Folder.plugins().bins()
	if bins == "" || path == "" {
		return path
	}
	return path + string(os.PathListSeparator) + bins
}
