package settings

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/trust"
)

// Sources say which settings count.
type Sources struct {
	Flags   []config.Given
	Inline  string   // --settings: a file, or JSON
	Only    []string // --setting-sources, nil for all
	Trusted bool     // --trust: those of the folder count, as they are at the start
	Bare    bool     // none of the project; no memory and no git either
	// Draft has files as they would be, by path, of which nothing is kept.
	Draft map[string][]byte
	once  bool // it was Trusted, with other content than there is now
}

// From are the same sources for work in other folders: what a start names by a relative
// path counts from its own folder, dir.
func (s Sources) From(dir, home string) Sources {
	if f := strings.TrimSpace(s.Inline); f != "" && !strings.HasPrefix(f, "{") {
		s.Inline = paths.Absolute(dir, home, f)
	}
	s.Flags = slices.Clone(s.Flags)
	for i, g := range s.Flags {
		list, ok := g.Value.([]string)
		if !ok || g.Key != dirsKey {
			continue
		}
		list = slices.Clone(list)
		for j := range list {
			list[j] = paths.Absolute(dir, home, list[j])
		}
		s.Flags[i].Value = list
	}
	return s
}

// UntrustedNote begins what is said of a folder whose own settings do not
// count.
const UntrustedNote = "this folder's own settings are not used"

// loadConfig reads the settings, and tells what a person should know of them.
func loadConfig(e Environment, s Sources, p Paths) (*config.Config, trust.Verdict, error) {
	cfg, seen, err := readConfig(e, s, p, nil)
	if err != nil {
		return nil, seen, err
	}
	unused, loud := withoutEffect(cfg)
	cfg.Problems = append(cfg.Problems, unused...) // nobody else has cfg yet
	if len(loud) > 0 {
		e.Notef("without effect, because this version does not have it yet: %s", strings.Join(loud, ", "))
	}
	for _, pr := range cfg.Problems {
		if pr.Severity == config.Error || pr.Misplaced {
			e.Notef("settings: %s", pr)
		}
	}
	if ignored := p.ignored(cfg, seen, s); len(ignored) > 0 {
		why := "it is not trusted"
		if seen.State == trust.Changed {
			why = "they changed since it was trusted"
		}
		e.Notef(UntrustedNote+", because %s: %s (look at them with: adze trust; or use them once with --trust)", why, clip.Visible(strings.Join(ignored, ", ")))
	}
	return cfg, seen, nil
}

// mends says what to do about settings that were not given in a file.
func mends(err error) string {
	if strings.HasPrefix(err.Error(), "reading --settings") {
		return `give the path of a settings file, or JSON: --settings '{"max_turns": 5}'`
	}
	return "adze help flags says what each flag takes; adze config list --all shows the settings"
}

// readConfig reads the settings as readOnce does, again while another process changes the
// folder's files between the look at them and the reading.
func readConfig(e Environment, s Sources, p Paths, held *config.Config) (cfg *config.Config, seen trust.Verdict, err error) {
	for range 3 {
		var moved bool
		if cfg, seen, moved, err = readOnce(e, s, p, held); !moved {
			break
		}
	}
	return cfg, seen, err
}

// readOnce reads the settings. held, for a reload, is what is in force. The
// verdict has the files that the folder brings; its state says whether they
// count; moved says that they are not what was looked at.
func readOnce(e Environment, s Sources, p Paths, held *config.Config) (cfg *config.Config, seen trust.Verdict, moved bool, err error) {
	own, cc := config.ManagedDirs(runtime.GOOS, e.Env)
	sources := s.Only
	if s.Bare && sources == nil {
		sources = []string{string(config.User)}
	}
	for _, x := range sources {
		if !slices.Contains([]string{"user", "project", "local"}, x) {
			return nil, trust.Verdict{}, false, &hint.Mistake{Why: fmt.Sprintf("--setting-sources: there is no source %q", x), What: "the sources are user, project and local"}
		}
	}
	seen, err = p.Trust().Check(p.TrustFolder())
	switch {
	case s.Trusted:
		seen.State = trust.Trusted
	case err != nil:
		e.Notef("who is trusted is not known: %v", err)
	}
	if s.once && seen.State != trust.Trusted {
		seen.State = trust.Changed
	}
	var files config.Files = trust.Files{Folder: p.TrustFolder(), Disk: confedit.Disk{}}
	var keeper config.Keeper = p.lastGood()
	if s.Draft != nil {
		files, keeper = drafted{files, s.Draft}, nil
	}
	load := func(trusted, changed bool) (*config.Config, error) {
		cfg, err := config.Load(config.Options{
			Files: files, Keeper: keeper, Home: p.Home, Folders: p.Folders, Dir: p.Dir, Root: p.Root, Env: e.Env,
			Flags: s.Flags, Settings: s.Inline, ManagedDir: own, ManagedCC: cc, Sources: sources, Trusted: trusted, Held: held, Changed: changed,
		})
		if err != nil {
			return nil, &hint.Mistake{Why: err.Error(), What: mends(err)}
		}
		return cfg, nil
	}
	cfg, err = load(seen.State == trust.Trusted, seen.State == trust.Changed)
	// What counted when it changed in a running session goes on to count (Held).
	if err == nil && (held == nil || held.Permissions.Unsafe == guardsChanged) && seen.State == trust.Changed && !s.Bare && (sources == nil || slices.Contains(sources, string(config.Project))) && p.unguarded(seen) {
		cfg.Permissions.Unsafe = cmp.Or(cfg.Permissions.Unsafe, guardsChanged)
	}
	came := seen.State == trust.Nothing && s.Draft == nil // something, since it was looked at
	if err != nil || s.Trusted || !came && seen.State != trust.Trusted || seen.Covers(repoSums(cfg, p)) {
		return cfg, seen, false, err
	}
	if came {
		seen.State = trust.Untrusted
		return cfg, seen, true, err
	}
	cfg, err = load(false, true)
	seen.State = trust.Changed
	return cfg, seen, true, err
}

// guardsChanged is why everything asks in a folder that is unguarded.
const guardsChanged = "the settings of this folder changed since they were trusted and are not used, and they have hooks that may refuse calls: adze trust shows them, and asks whether they shall count"

// unguarded reports whether a folder that is trusted no more had hooks that may refuse what
// is about to happen, or has them now, and nobody said that they shall not count.
func (p Paths) unguarded(seen trust.Verdict) bool {
	if p.Trust().Declined(seen) {
		return false
	}
	return slices.ContainsFunc(hook.Events(), func(e hook.Event) bool { return e.Guards() && p.Trust().Mentions(seen, string(e)) }) ||
		p.Trust().Mentions(seen, "BeforeTool") || p.Trust().Mentions(seen, "BeforeAgent") // of Gemini
}

// drafted are files of which some are other than on disk.
type drafted struct {
	config.Files
	text map[string][]byte
}

func (d drafted) Read(path string, max int64) ([]byte, error) {
	if text, ok := d.text[path]; ok {
		return text, nil
	}
	return d.Files.Read(path, max)
}

// repoSums are the sums of the folder's own settings as they were read, by
// path below the root.
func repoSums(cfg *config.Config, p Paths) map[string]string {
	out := map[string]string{}
	for _, f := range cfg.Files {
		if rel, err := filepath.Rel(p.Root, f.Path); err == nil && f.Scope.Repo() && f.Sum != "" {
			out[filepath.ToSlash(rel)] = f.Sum
		}
	}
	return out
}
