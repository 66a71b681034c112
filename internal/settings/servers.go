package settings

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/trust"
)

// maxPerson bounds ~/.claude.json, in bytes: beside servers it holds what
// people once typed.
const maxPerson = 32 << 20

// Servers are the MCP servers beside those of files.
type Servers struct {
	Given   []servers.Given // of --mcp-config, and of the program that drives adze
	Strict  bool            // --strict-mcp-config: only these
	Plugins []servers.Given
}

// Answers is the record of what the person said to servers of projects.
func (p Paths) Answers() trust.Answers {
	return trust.Answers{Path: filepath.Join(p.State, "mcp-answers.json")}
}

// Servers are the MCP servers that are configured now. It reads files, which
// takes milliseconds.
func (l *Live) Servers(s Servers) servers.Set {
	return l.servers(l.Config(), s, l.Paths.ProgramsOf)
}

func (l *Live) servers(cfg *config.Config, s Servers, programs func(servers.Server) []servers.Program) servers.Set {
	p, counts := l.Paths, l.counts
	from := servers.Sources{Config: cfg, Given: s.Given, Strict: s.Strict, Plugins: s.Plugins, Dirs: []string{p.Dir}}
	if p.Root != p.Dir {
		from.Dirs = append(from.Dirs, p.Root)
	}
	from.Env = func(name string) (string, bool) {
		if v, ok := cfg.Env[name]; ok {
			return v, true
		}
		v := l.env.Env(name)
		return v, v != ""
	}
	from.Private = l.Private
	from.Managed = l.serverFile(l.managedServers())
	if counts(config.User) && p.Home != "" && !s.Strict {
		from.Person = l.serverFile(l.personServers())
	}
	from.Programs, from.Apart = programs, p.apart
	var bad error
	from.Answers, bad = p.Answers().Of(p.Root)
	seen := l.brings.Load()
	from.Trusted = seen.State == trust.Trusted
	if counts(config.Project) && !l.sources.Bare {
		for _, f := range slices.Backward(seen.Files) { // by path: the deepest last
			if f.Kind == trust.Servers {
				from.Project = append(from.Project, servers.File{Path: filepath.Join(p.Root, filepath.FromSlash(f.Path)), Text: f.Text()})
			}
		}
		order.By(from.Project, func(a, b servers.File) int { return len(b.Path) - len(a.Path) })
	}
	set := servers.Load(from)
	if bad != nil {
		set.Problems = append(set.Problems, config.Problem{Severity: config.Error, Origin: config.Origin{Scope: config.User, File: p.Answers().Path}, Key: "mcpServers", Message: "what you answered about servers of folders is not used: " + strings.TrimPrefix(bad.Error(), "reading "+p.Answers().Path+": ")})
	}
	return set
}

// waiting are the files of a folder that would count if it were trusted.
func (p Paths) waiting(cfg *config.Config, seen trust.Verdict, s Sources) (out []trust.File) {
	if seen.State == trust.Trusted || s.Bare || s.Only != nil && !slices.Contains(s.Only, string(config.Project)) {
		return nil
	}
	for _, f := range seen.Files {
		path := filepath.Join(p.Root, filepath.FromSlash(f.Path))
		switch f.Kind {
		case trust.Settings:
			if !slices.Contains(cfg.Ignored, path) {
				continue
			}
		case trust.Servers:
			if list, err := config.Entries(f.Text(), config.Origin{File: path}, "mcpServers"); len(list) == 0 && err == nil {
				continue
			}
		case trust.Script: // nothing runs it but a hook of the settings
			continue
		case trust.SkillFile: // with its skill
			continue
		case trust.Skill, trust.Command, trust.Agent, trust.Style, trust.Workflow, trust.Hooks:
		}
		out = append(out, f)
	}
	return out
}

// ignored says in a few words what of a folder does not count.
func (p Paths) ignored(cfg *config.Config, seen trust.Verdict, s Sources) []string {
	out, many := slices.Clone(cfg.Ignored), map[trust.Kind]int{}
	for _, f := range p.waiting(cfg, seen, s) {
		switch f.Kind {
		case trust.Settings, trust.Script, trust.SkillFile: // cfg.Ignored has its settings
		case trust.Servers, trust.Hooks:
			out = append(out, filepath.Join(p.Root, filepath.FromSlash(f.Path)))
		case trust.Skill, trust.Command, trust.Agent, trust.Style, trust.Workflow:
			many[f.Kind]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(many)) {
		out = append(out, clip.Count(many[k], string(k)))
	}
	return out
}

// Private reports whether a variable is a model provider's: one that adze knows, or one
// that settings name as holding a key.
func (l *Live) Private(name string) bool {
	for _, p := range l.Config().Providers {
		if strings.EqualFold(p.KeyEnv, name) {
			return true
		}
	}
	return proc.OfProvider(name)
}

// counts reports whether settings of a scope are read.
func (l *Live) counts(s config.Scope) bool {
	return l.sources.Only == nil || slices.Contains(l.sources.Only, string(s))
}

func (l *Live) managedServers() (string, int64) {
	_, cc := config.ManagedDirs(runtime.GOOS, l.env.Env)
	return filepath.Join(cc, "managed-mcp.json"), config.MaxFile
}

func (l *Live) personServers() (string, int64) {
	return l.Paths.ClaudeFile(l.Paths.Home), maxPerson
}

func (l *Live) serverFile(path string, max int64) servers.File {
	f := servers.File{Path: path}
	f.Text, f.Err = confedit.Disk{}.Read(path, max)
	return f
}

// serverFiles are the files that say which servers there are, beside settings.
func (l *Live) serverFiles() []string {
	managed, _ := l.managedServers()
	person, _ := l.personServers()
	out := []string{managed, person, l.Paths.Answers().Path}
	for _, dir := range l.Paths.TrustFolder().Dirs() {
		out = append(out, filepath.Join(l.Paths.Root, filepath.FromSlash(path.Join(dir, ".mcp.json"))))
	}
	return out
}

// serverPrint tells sets of servers apart, with what was said to them. Files that hold
// more than servers change often without it. What servers run is not looked at.
func (l *Live) serverPrint(cfg *config.Config) string {
	set := l.servers(cfg, Servers{}, nil)
	said, err := l.Paths.Answers().Of(l.Paths.Root)
	h := sha256.New()
	fmt.Fprintln(h, err)
	for _, s := range set.Servers {
		fmt.Fprintf(h, "%q %q %q %q %q %s\n", s.Name, s.Scope, s.Approval, s.Why, s.Problem, s.Raw)
		if s.Answered {
			fmt.Fprintf(h, "%s %v\n", said[s.Name].Hash, said[s.Name].Yes)
		}
	}
	for _, p := range set.Problems {
		fmt.Fprintln(h, p)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
