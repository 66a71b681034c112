package market

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Problem is why a plugin that somebody wants is not active.
type Problem struct {
	Plugin string        `json:"plugin"`
	From   config.Origin `json:"from"` // the setting that wants it
	Text   string        `json:"text"`
	Hint   string        `json:"hint,omitempty"`
	// Dropped, of a plugin that is installed, is what it would have brought; nil when it
	// is not known. Its hooks may be what other plugins and people count on.
	Dropped *plugin.Plugin `json:"-"`
	Lost    bool           `json:"-"` // it is installed, and not active
	Note    bool           `json:"-"` // it is active all the same
	Missing bool           `json:"-"` // it is not installed
}

func (p Problem) Error() string { return "the plugin " + p.Plugin + ": " + p.Text }

// PolicyOf is what the managed settings let people use. A file of theirs that cannot be
// read may have said more.
func PolicyOf(cfg *config.Config) Policy {
	p := ParsePolicy(cfg.StrictMarkets, cfg.BlockedMarkets)
	for _, f := range cfg.Files {
		if f.Scope == config.Managed && f.State == config.Broken {
			p.bad = errors.Join(p.bad, errors.New(clip.Visible(f.Path)+" is broken: adze config check"))
		}
	}
	return p
}

// Active are the plugins that count with these settings, by ID: those that
// enabledPlugins names, that the person installed, and whose dependencies are
// active. It reads the lock file and a summary of each plugin, asks the system
// whether one of their files changed, and asks no keyring. What a project's settings say is
// in cfg only when the project is trusted; what it wants and nobody installed
// is a problem, with the command that would install it.
func (s *Store) Active(cfg *config.Config) (active []plugin.Plugin, problems []Problem) {
	var want []string
	for id, on := range cfg.EnabledPlugins {
		if on {
			want = append(want, id)
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	slices.Sort(want)
	l, err := s.lock()
	bad := func(id, hint, format string, args ...any) {
		p := Problem{Plugin: clip.Visible(id), Text: fmt.Sprintf(format, args...), Hint: hint}
		if set, ok := cfg.Setting("enabledPlugins." + id); ok {
			p.From = set.Origin
		}
		problems = append(problems, p)
	}
	lost := func(p *plugin.Plugin) {
		problems[len(problems)-1].Dropped, problems[len(problems)-1].Lost = p, true
	}
	if err != nil {
		bad(want[0], "", "%v", err)
		lost(nil)
		return nil, problems
	}
	pol := PolicyOf(cfg)
	found := map[string]plugin.Plugin{}
	for _, id := range want {
		in, ok := l.Plugins[id]
		if !ok {
			name, market := SplitID(id)
			fix := "adze plugin install " + hint.Shell(id)
			if !plugin.NameOK(name) || !plugin.NameOK(market) {
				bad(id, "", "a plugin is named NAME@MARKETPLACE")
				continue
			}
			if _, known := l.Markets[market]; !known {
				fix = "adze plugin marketplace add SOURCE, where " + market + " is; then: " + fix
				if src, ok := Offered(cfg, market); ok {
					fix = fmt.Sprintf("adze plugin marketplace add %s; then: adze plugin install %s", hint.Shell(fmt.Sprint(src)), hint.Shell(id))
				}
			}
			bad(id, fix, "it is enabled, and not installed%s", near.Hint(id, slices.Sorted(maps.Keys(l.Plugins))))
			problems[len(problems)-1].Missing = true
			continue
		}
		if err := pol.Allows(in.From); err != nil {
			bad(id, "", "%v", err)
			continue
		}
		p, strays, err := s.intact(in)
		if err != nil {
			bad(id, "adze plugin update "+hint.Shell(id), "%v", err)
			if lost(nil); p.Root != "" {
				lost(&p)
			}
			continue
		}
		if len(strays) > 0 {
			bad(id, "", "its programs wrote into its folder, which is to stay as it was installed: %s; moved to %s", clip.Line(clip.Visible(strings.Join(strays, ", ")), 300), s.path(strayDir))
			problems[len(problems)-1].Note = true
		}
		p.Values = Values(p, cfg)
		if miss := missing(p); len(miss) > 0 {
			bad(id, "adze plugin enable "+hint.Shell(id)+" --set "+hint.Shell(miss[0])+"=…", "it needs the option %s", strings.Join(miss, ", "))
			lost(&p)
			continue
		}
		found[id] = p
	}
	for id, why := range unmet(found) {
		p := found[id]
		bad(id, why.hint, "%s", why.text)
		lost(&p)
		delete(found, id)
	}
	for _, id := range want {
		if p, ok := found[id]; ok {
			active = append(active, p)
		}
	}
	order.By(problems, func(a, b Problem) int { return cmp.Compare(a.Plugin, b.Plugin) })
	return active, problems
}

// official is the marketplace that settings of Claude Code name without saying where it is
// (code.claude.com/docs/en/discover-plugins, 2026-11).
const official = "claude-plugins-official"

// Offered is a marketplace that settings name in extraKnownMarketplaces, or official. It is
// an offer: nothing is fetched from it before a person adds it.
func Offered(cfg *config.Config, name string) (Source, bool) {
	raw, ok := cfg.Marketplaces[name]
	if !ok && name == official {
		raw = json.RawMessage(`{"source":{"source":"github","repo":"anthropics/` + official + `"}}`)
	} else if !ok {
		return Source{}, false
	}
	var o struct{ Source json.RawMessage }
	if json.Unmarshal(raw, &o) != nil {
		return Source{}, false
	}
	src, err := parseSource(o.Source)
	return src, err == nil
}

// unmet are plugins whose dependencies are not active, or need each other in a
// circle, and why.
func unmet(found map[string]plugin.Plugin) map[string]struct{ text, hint string } {
	out := map[string]struct{ text, hint string }{}
	say := func(id, hint, format string, args ...any) {
		out[id] = struct{ text, hint string }{fmt.Sprintf(format, args...), hint}
	}
	for id := range found {
		if circle := circleOf(found, id, nil); circle != nil {
			say(id, "", "plugins need each other in a circle: %s", strings.Join(circle, " → "))
		}
	}
	for again := true; again; { // what needs one that is out is out as well
		again = false
		for id, p := range found {
			if _, gone := out[id]; gone {
				continue
			}
			for _, d := range p.Depends {
				need := d.Name + "@" + first(d.Market, p.Market)
				other, ok := found[need]
				if _, gone := out[need]; !ok || gone {
					say(id, "adze plugin install "+hint.Shell(need), "it needs %s, which is not active", need)
					again = true
					break
				}
				r, err := plugin.ParseRange(d.Range)
				if err == nil {
					err = fits(other, r, d.Range != "")
				}
				if err != nil {
					say(id, "adze plugin update "+hint.Shell(need), "it needs %s %s: %v", need, d.Range, err)
					again = true
					break
				}
			}
		}
	}
	return out
}

// circleOf is the way from a plugin through its dependencies back to it.
func circleOf(found map[string]plugin.Plugin, id string, way []string) []string {
	if len(way) > 0 && way[0] == id {
		return append(way, id)
	}
	if slices.Contains(way, id) || len(way) > maxDepth {
		return nil
	}
	p := found[id]
	for _, d := range p.Depends {
		if c := circleOf(found, d.Name+"@"+first(d.Market, p.Market), append(slices.Clip(way), id)); c != nil {
			return c
		}
	}
	return nil
}

// summary is a plugin as it was read when it was installed, or as it is read
// now when another adze wrote that.
func (s *Store) summary(in Installed) (plugin.Plugin, error) {
	sum, err := s.stored(in)
	return sum.Plugin, err
}

func (s *Store) stored(in Installed) (summary, error) {
	rel := filepath.FromSlash(in.Folder)
	if !filepath.IsLocal(rel) {
		return summary{}, errors.New("its folder in " + lockName + " leads elsewhere")
	}
	dir := s.path(versionDir, rel)
	var sum summary
	b, err := regular.Read(dir+".json", 8<<20)
	if err == nil {
		err = fastjson.Unmarshal(b, &sum)
	}
	if err != nil || sum.Format != summaryFormat || sum.Sum != in.Sum {
		sum = summary{Format: summaryFormat, Sum: in.Sum}
		if sum.Plugin, _, err = readDir(dir, plugin.Source{Name: in.Name, Entry: in.Entry}); err != nil {
			return summary{}, gone(err)
		}
		sum.Plugin.Name = in.Name
		_ = s.writeSummary(dir, sum) // the next start reads again
	}
	p := &sum.Plugin
	p.Market, p.Root, p.Data, p.Bytecode = in.Market, dir, s.dataOf(in), s.bytecode()
	return sum, nil
}

func gone(err error) error {
	return fmt.Errorf("what was installed is gone, or cannot be read: %w", paths.Cause(err))
}

// intact is a plugin whose files are those that were installed. They are read again
// only when the system says that one of them changed. What was written beside them is
// moved away, so that nothing of it is ever read or run; strays names it.
func (s *Store) intact(in Installed) (p plugin.Plugin, strays []string, err error) {
	sum, err := s.stored(in)
	if err != nil {
		return sum.Plugin, nil, err
	}
	now, err := stampOf(sum.Plugin.Root)
	switch {
	case err != nil:
		return sum.Plugin, nil, gone(err)
	case now == sum.Stamp:
		return sum.Plugin, nil, nil
	}
	all, more, err := s.compare(in, sum.Files)
	if err == nil && len(more) > 0 {
		if strays, err = s.clear(in, more); err == nil {
			now, err = stampOf(sum.Plugin.Root)
		}
	}
	if err != nil {
		return sum.Plugin, nil, err
	}
	if sum.Stamp = now; len(sum.Files) == 0 {
		sum.Files = all
	}
	_ = s.writeSummary(sum.Plugin.Root, sum) // the next start reads again
	return sum.Plugin, strays, nil
}

// Plugin is an installed plugin with the options that are set.
func (s *Store) Plugin(in Installed, cfg *config.Config) (plugin.Plugin, error) {
	p, err := s.summary(in)
	p.Values = Values(p, cfg)
	return p, err
}

func defaults(p plugin.Plugin) map[string]string {
	out := map[string]string{}
	for _, o := range p.Options {
		if !o.Secret && o.Default != "" {
			out[o.Key] = o.Default
		}
	}
	return out
}

// Values are the options of a plugin that are no secrets: pluginConfigs in the
// person's settings, or their defaults.
func Values(p plugin.Plugin, cfg *config.Config) map[string]string {
	out := defaults(p)
	for k, v := range cfg.PluginConfigs[p.ID()].Options {
		o, known := p.Option(k)
		text := fmt.Sprint(v)
		if list, ok := v.([]any); ok && o.Multiple {
			var values []string
			for _, x := range list {
				values = append(values, fmt.Sprint(x))
			}
			text = plugin.Join(values)
		}
		if known && !o.Secret && v != nil && o.Check(text) == nil {
			out[k] = text
		}
	}
	return out
}

// missing are options that are required and not set, but for secret ones, of
// which only a keyring knows.
func missing(p plugin.Plugin) []string {
	return slices.DeleteFunc(p.Missing(p.Values), func(k string) bool {
		o, _ := p.Option(k)
		return o.Secret
	})
}
