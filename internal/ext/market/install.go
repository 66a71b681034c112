package market

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/disk/temp"
	"github.com/adze-agent/adze/internal/ext/plugin"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Plan is what would be installed: everything is fetched and read, nothing
// counts yet. Close it in any case.
type Plan struct {
	Steps []Step // in the order in which they need each other
	store *Store
	stage *temp.Folder
}

// A Step is one plugin of a plan.
type Step struct {
	Plugin   plugin.Plugin
	Problems []plugin.Problem
	Brings   []Item
	// Old is what is installed of it now, nil for nothing, and Changes how what it
	// brings differs from that.
	Old     *Installed
	Changes []Change
	Needed  bool // another step needs it; nobody named it

	next Installed
	tree string
}

// Same reports whether exactly this is installed already.
func (s Step) Same() bool { return s.Old != nil && s.Old.Sum == s.next.Sum }

// Asks reports whether something that runs, or is allowed, is new or other than
// what a person agreed to.
func (s Step) Asks() bool {
	if s.Old == nil {
		return true
	}
	return slices.ContainsFunc(s.Changes, func(c Change) bool { return c.Asks() })
}

// Pin is to what the step's content is fixed.
func (s Step) Pin() string { return first(s.next.Pin, s.next.Sum) }

// Source is where it comes from.
func (s Step) Source() Source { return s.next.Source }

// Close removes what was fetched and not installed.
func (p *Plan) Close() error {
	if p == nil || p.stage == nil {
		return nil
	}
	return mended(p.stage.Remove())
}

// SplitID cuts "name@marketplace".
func SplitID(id string) (name, market string) {
	name, market, _ = strings.Cut(id, "@")
	return name, market
}

// Find says which plugin a person means by NAME or NAME@MARKET, among what is
// installed.
func (s *Store) Find(id string) (Installed, error) {
	l, err := s.lock()
	if err != nil {
		return Installed{}, err
	}
	if p, ok := l.Plugins[id]; ok {
		return p, nil
	}
	var found []Installed
	for _, p := range l.Plugins {
		if p.Name == id {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Installed{}, &hint.Mistake{Why: fmt.Sprintf("no plugin %q is installed%s", clip.Line(clip.Visible(id), 80), near.Hint(id, slices.Sorted(maps.Keys(l.Plugins)))), What: "adze plugin list"}
	}
	order.By(found, func(a, b Installed) int { return strings.Compare(a.Market, b.Market) })
	return Installed{}, fmt.Errorf("there are several of that name: say %s or %s", found[0].ID(), found[1].ID())
}

// Installed are all plugins that are installed, by ID.
func (s *Store) Installed() ([]Installed, error) {
	l, err := s.lock()
	out := slices.SortedFunc(maps.Values(l.Plugins), func(a, b Installed) int { return strings.Compare(a.ID(), b.ID()) })
	return out, err
}

// Prepare fetches a plugin and what it needs. id is NAME or NAME@MARKET.
func (s *Store) Prepare(ctx context.Context, id string, pol Policy) (p *Plan, err error) {
	l, err := s.lock()
	if err != nil {
		return nil, err
	}
	m, entry, err := s.offer(l, id)
	if err != nil {
		return nil, err
	}
	st, err := s.stage(ctx)
	if err != nil {
		return nil, err
	}
	p = &Plan{store: s, stage: st}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	return p, p.add(ctx, l, m, entry, pol, nil, s.needs(l, entry.Name+"@"+m.Name))
}

// offer finds a plugin in the marketplaces.
func (s *Store) offer(l lockFile, id string) (Market, Entry, error) {
	name, market := SplitID(id)
	var names []string
	type hit struct {
		m Market
		e Entry
	}
	var hits []hit
	var broken error
	for _, m := range l.Markets {
		if market != "" && m.Name != market {
			continue
		}
		c, err := s.Catalogue(m)
		if err != nil {
			broken = err
			continue
		}
		for _, e := range c.Plugins {
			names = append(names, e.Name)
			if e.Name == name {
				hits = append(hits, hit{m, e})
			}
		}
	}
	if _, ok := l.Markets[market]; market != "" && !ok {
		return Market{}, Entry{}, noMarket(market, l)
	}
	switch {
	case len(hits) == 1:
		return hits[0].m, hits[0].e, nil
	case len(hits) > 1:
		order.By(hits, func(a, b hit) int { return strings.Compare(a.m.Name, b.m.Name) })
		return Market{}, Entry{}, fmt.Errorf("several marketplaces have it: say %s@%s or %s@%s", name, hits[0].m.Name, name, hits[1].m.Name)
	case broken != nil:
		return Market{}, Entry{}, broken
	case len(l.Markets) == 0:
		return Market{}, Entry{}, &hint.Mistake{Why: "no marketplace was added yet", What: "adze plugin marketplace add OWNER/REPO, or an address or a folder"}
	}
	return Market{}, Entry{}, &hint.Mistake{
		Why:  fmt.Sprintf("no marketplace has a plugin %q%s", clip.Line(clip.Visible(name), 80), near.Hint(name, names)),
		What: "adze plugin marketplace list; what is new there comes with: adze plugin marketplace update",
	}
}

// maxDepth bounds how far plugins need each other.
const maxDepth = 20

// add fetches one plugin, and what it needs before it.
func (p *Plan) add(ctx context.Context, l lockFile, m Market, e Entry, pol Policy, above []string, want need) error {
	id := e.Name + "@" + m.Name
	if slices.Contains(above, id) {
		return fmt.Errorf("plugins need each other in a circle: %s", strings.Join(append(above[slices.Index(above, id):], id), " → "))
	}
	if len(above) > maxDepth {
		return fmt.Errorf("plugins need each other more than %d deep: %s …", maxDepth, strings.Join(above[:3], " → "))
	}
	if err := pol.Allows(m.Source); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	step, found := p.step(id)
	if !found {
		var err error
		if step, err = p.fetched(ctx, l, m, e, want, fmt.Sprint(len(p.Steps))+"-"+fmt.Sprint(len(above))); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		step.Needed = len(above) > 0
	}
	if err := want.fits(step.Plugin); err != nil {
		return fmt.Errorf("%s needs %s %s: %w", want.by, id, strings.Join(want.texts, " "), err)
	}
	if found {
		return nil
	}
	for _, d := range step.Plugin.Depends {
		market := first(d.Market, m.Name)
		name := d.Name + "@" + market
		n, err := need{by: id}.and(d.Range)
		if err != nil {
			return err
		}
		if have, ok := l.Plugins[name]; ok && !slices.Contains(above, name) && name != id {
			if err := n.fits(plugin.Plugin{Name: have.Name, Version: have.Version}); err != nil {
				return &fault{fmt.Errorf("%s needs %s: %w", id, name, err), "adze plugin update " + hint.Shell(name)}
			}
			continue
		}
		dm, de, err := p.store.offer(l, name)
		if err != nil { // which is the plugin's mistake, not that of whoever installs it
			return &fault{fmt.Errorf("%s needs %s: %v", id, name, err), hint.Of(err)}
		}
		if err := p.add(ctx, l, dm, de, pol, append(slices.Clip(above), id), n); err != nil {
			return err
		}
	}
	p.Steps = append(p.Steps, step)
	return nil
}

// fetched is a plugin in a version that is needed: the one that its marketplace has,
// or else the highest one that fits.
func (p *Plan) fetched(ctx context.Context, l lockFile, m Market, e Entry, want need, name string) (Step, error) {
	step, err := p.store.prepare(ctx, l, m, e, filepath.Join(p.stage.Path, name))
	if err != nil || want.fits(step.Plugin) == nil {
		return step, err
	}
	src, ok, err := p.store.other(ctx, m, e, want, filepath.Join(p.stage.Path, name+"-tags"))
	if err != nil || !ok {
		return step, err
	}
	e.Source = src
	return p.store.prepare(ctx, l, m, e, filepath.Join(p.stage.Path, name+"-other"))
}

func (p *Plan) step(id string) (Step, bool) {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.next.ID() == id })
	if i < 0 {
		return Step{}, false
	}
	return p.Steps[i], true
}

// fits says why a plugin's version is not what is needed.
func fits(p plugin.Plugin, want plugin.Range, ranged bool) error {
	if !ranged {
		return nil
	}
	v, err := plugin.ParseVersion(p.Version)
	if err != nil {
		return fmt.Errorf("a certain version is needed, and %w", err)
	}
	if !want.Has(v) {
		return fmt.Errorf("its version %s is not one that is needed", p.Version)
	}
	return nil
}

// prepare fetches and reads one plugin.
func (s *Store) prepare(ctx context.Context, l lockFile, m Market, e Entry, work string) (Step, error) {
	if err := os.MkdirAll(work, 0o700); err != nil {
		return Step{}, mended(err)
	}
	st := Step{tree: filepath.Join(work, "tree")}
	pin, err := s.fetch(ctx, e.Source, s.root(m), m.Source.local(), work, st.tree)
	if err != nil {
		return st, err
	}
	st.Plugin, st.Problems, err = readDir(st.tree, plugin.Source{Name: e.Name, Entry: e.Raw})
	if err != nil {
		return st, err
	}
	if st.Plugin.Name != e.Name {
		st.Problems = append(st.Problems, plugin.Problem{File: st.Plugin.Manifest, Text: fmt.Sprintf("it calls itself %q; the marketplace's name counts", st.Plugin.Name), Note: true})
		st.Plugin.Name = e.Name
	}
	all, err := sumOf(st.tree)
	if err != nil {
		return st, mended(err)
	}
	if pin == "" && m.Pin != "" {
		pin = m.Pin
	}
	st.Plugin.Market = m.Name
	st.next = Installed{
		Name: e.Name, Market: m.Name, Version: st.Plugin.Version, Source: e.Source, Pin: pin, Sum: all.Sum, From: m.Source, Entry: e.Raw,
		Folder: strings.Join([]string{m.Name, e.Name, versionName(st.Plugin.Version) + "-" + short(all.Sum)}, "/"),
		At:     s.conf.Now().UTC().Truncate(time.Second),
	}
	st.Brings = brings(st.Plugin, st.tree, all)
	if old, ok := l.Plugins[st.next.ID()]; ok {
		st.Old = &old
		if !st.Same() { // what was agreed to is the same, whatever became of its files
			st.Changes = s.changes(old, st.Plugin, st.tree, all, st.Brings)
		}
	}
	return st, nil
}

// readDir reads the plugin in a folder.
func readDir(dir string, from plugin.Source) (plugin.Plugin, []plugin.Problem, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return plugin.Plugin{}, nil, paths.Cause(err)
	}
	defer root.Close()
	return plugin.Read(root.FS(), from)
}

// Look reads the plugin in a folder that a person gave, in place.
func (s *Store) Look(dir string) (plugin.Plugin, []plugin.Problem, error) {
	p, problems, err := readDir(dir, plugin.Source{Name: filepath.Base(dir)})
	p.Root, p.Data, p.Bytecode = dir, s.path(dataDir, "local", p.Name), s.bytecode()
	p.Values = defaults(p)
	return p, problems, err
}

// LookAll is Look with what the plugin brings.
func (s *Store) LookAll(dir string) (plugin.Plugin, []Item, []plugin.Problem, error) {
	p, problems, err := s.Look(dir)
	if err != nil {
		return p, nil, problems, err
	}
	all, err := sumOf(dir)
	if err != nil {
		return p, nil, problems, mended(err)
	}
	return p, brings(p, dir, all), problems, nil
}

// Uninstall forgets a plugin. Its version's folder stays for sessions that run;
// with data, what it kept is removed, and so are its secret options. needed
// names plugins that need it; the error is nil all the same only with force.
func (s *Store) Uninstall(ctx context.Context, id string, data, force bool) error {
	p, err := s.Find(id)
	if err != nil {
		return err
	}
	if by := s.neededBy(p.ID()); len(by) > 0 && !force {
		return &fault{fmt.Errorf("%s is needed by %s", p.ID(), strings.Join(by, ", ")), "uninstall that first, or use --force"}
	}
	err = s.change(ctx, func(l *lockFile) error {
		now, ok := l.Plugins[p.ID()]
		if !ok {
			return nil
		}
		l.retire(filepath.ToSlash(filepath.Join(versionDir, now.Folder)), s.conf.Now())
		delete(l.Plugins, p.ID())
		s.sweep(l)
		return nil
	})
	if err != nil {
		return err
	}
	err = s.forget(ctx, p.ID()) // who has this name next may be somebody else
	if data {
		err = errors.Join(err, mended(safe.RemoveAll(s.dataOf(p))))
	}
	return err
}

func (s *Store) dataOf(p Installed) string { return s.path(dataDir, p.Market, p.Name) }

// Data is the folder in which a plugin keeps what lasts.
func (s *Store) Data(p Installed) string { return s.dataOf(p) }

// neededBy are installed plugins that need another one.
func (s *Store) neededBy(id string) (out []string) {
	l, err := s.lock()
	if err != nil {
		return nil
	}
	for other, p := range l.Plugins {
		sum, err := s.summary(p)
		if err != nil {
			continue
		}
		for _, d := range sum.Depends {
			if d.Name+"@"+first(d.Market, p.Market) == id && other != id {
				out = append(out, other)
			}
		}
	}
	slices.Sort(out)
	return out
}
