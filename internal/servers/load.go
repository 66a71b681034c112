package servers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/paths"
)

const key = "mcpServers" // in every file

// A File is one that was read. One that is not there has the error
// fs.ErrNotExist.
type File struct {
	Path string
	Text []byte
	Err  error
}

// A Given is a server from elsewhere than the files: of --mcp-config, of the
// program that drives adze, or of a plugin.
type Given struct {
	Name   string
	JSON   json.RawMessage
	Origin config.Origin
	Plugin string
	// Inside: the program that drives adze serves it (type "sdk").
	Inside bool
	// Vars are further variables, such as CLAUDE_PLUGIN_ROOT.
	Vars map[string]string
	// Problem is why it cannot be used, "" when it can.
	Problem string
	// Repo: a repository brings it, whatever its Origin is.
	Repo bool
}

// An Answer is what a person said to a server that a project brings.
type Answer struct {
	Hash string `json:"hash"` // of what was answered; see Server.Hash
	Yes  bool   `json:"yes"`
	Said string `json:"said,omitempty"` // how it was described
	// Texts are the programs that it named, by path, as far as they are short.
	Texts map[string]string `json:"texts,omitempty"`
	// Sums tell what all of them were; see Server.Sums.
	Sums map[string]string `json:"sums,omitempty"`
}

// Sources are all places where servers are configured.
type Sources struct {
	Config *config.Config
	// Managed is managed-mcp.json. When it is there, its servers are the only ones.
	Managed File
	// Given are those of flags and of the program that drives adze; of two with
	// one name the later counts.
	Given []Given
	// Strict leaves only Given and Managed.
	Strict bool
	// Person is ~/.claude.json. Dirs are the folders under which it may keep
	// servers of this project, the nearest first.
	Person File
	Dirs   []string
	// Project are the .mcp.json files, the nearest first. Trusted: exactly what the
	// folder brings is trusted.
	Project []File
	Trusted bool
	// Plugins are named "plugin:NAME:SERVER" here.
	Plugins []Given
	Env     func(name string) (string, bool)
	// Private says of a variable that it is a model provider's; nil knows none. No server
	// of a repository gets it.
	Private func(name string) bool
	// Programs are the files of the folder that a server's command names; nil knows none.
	Programs func(Server) []Program
	// Apart is asked of servers that are configured for all folders where this one is
	// not trusted: see Server.Apart and Server.Problem. nil has nothing against any.
	Apart func(Server) (apart bool, problem string)
	// Answers are what the person said of this folder's servers, by name.
	Answers map[string]Answer
}

// A Set is what is configured.
type Set struct {
	Servers []Server // by name
	// Hidden are those of which another one with the same name counts.
	Hidden   []Server
	Problems []config.Problem // of files, and of lists
}

// Get returns the server of a name.
func (s Set) Get(name string) (Server, bool) {
	i := slices.IndexFunc(s.Servers, func(x Server) bool { return x.Name == name })
	if i < 0 {
		return Server{}, false
	}
	return s.Servers[i], true
}

// Load puts everything together. It fails never: what cannot be used says why.
// Of several servers with one name the first that may be used counts, in the
// order of scopes; a project's server that waits for a person hides nobody's.
func Load(from Sources) Set {
	l := loader{from: from}
	lists, bad := readLists(from.Config)
	l.lists, l.set.Problems = lists, bad
	managed := !errors.Is(from.Managed.Err, fs.ErrNotExist) && from.Managed.Path != ""
	l.file(from.Managed, Managed, config.Managed)
	settings := map[Scope][]config.Entry{}
	for _, e := range from.Config.ServerEntries() {
		settings[scopeOf(e.Scope)] = append(settings[scopeOf(e.Scope)], e)
	}
	l.entries(settings[Managed], Managed)
	for _, g := range slices.Backward(from.Given) {
		if !managed || g.Inside {
			l.given(g, Flag)
		}
	}
	if !managed && !from.Strict {
		local, user := l.person()
		l.entries(settings[Flag], Flag)
		l.entries(settings[Local], Local)
		l.entries(local, Local)
		for _, f := range from.Project {
			l.file(f, Project, config.Project)
		}
		l.entries(settings[User], User)
		l.entries(user, User)
		for _, g := range from.Plugins {
			g.Name = "plugin:" + g.Plugin + ":" + g.Name
			l.given(g, FromPlugin)
		}
	}
	l.choose()
	return l.set
}

func scopeOf(s config.Scope) Scope {
	switch s {
	case config.Managed:
		return Managed
	case config.Local:
		return Local
	case config.Settings, config.EnvVar, config.Flag:
		return Flag
	case config.User, config.Project, config.Default:
	}
	return User
}

type loader struct {
	from  Sources
	lists lists
	all   []Server
	set   Set
}

// file reads the servers of a file.
func (l *loader) file(f File, scope Scope, layer config.Scope) {
	if f.Path == "" || errors.Is(f.Err, fs.ErrNotExist) {
		return
	}
	at := config.Origin{Scope: layer, File: f.Path, Root: filepath.Dir(f.Path)}
	if f.Err != nil {
		l.problem(at, "not read: "+paths.Cause(f.Err).Error())
		return
	}
	list, err := config.Entries(f.Text, at, key)
	if err != nil {
		l.problem(at, "its MCP servers are not used: "+err.Error())
		return
	}
	if names := flat(f.Text, at); len(list) == 0 && names != "" {
		l.problem(at, fmt.Sprintf("its MCP servers are not used: %s stand beside each other as in a plugin; write {%q: {…}} around them", names, key))
	}
	l.entries(list, scope)
}

// flat names what stands at the top of a file as servers do in a plugin's: objects with a
// command or an address. "" is that something else stands there.
func flat(text []byte, at config.Origin) string {
	list, err := config.Entries(slices.Concat([]byte(`{"`+key+`":`), bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n}")), at, key)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range list {
		var s struct{ Command, URL string }
		if json.Unmarshal(e.JSON, &s) != nil || s.Command == "" && s.URL == "" {
			return ""
		}
		names = append(names, e.Name)
	}
	return clip.Line(clip.Visible(strings.Join(names, ", ")), 100)
}

func (l *loader) problem(at config.Origin, message string) {
	p := config.Problem{Severity: config.Error, Origin: at, Key: key, Message: message}
	if n := len(l.set.Problems); n == 0 || l.set.Problems[n-1] != p { // a file is looked at for several folders
		l.set.Problems = append(l.set.Problems, p)
	}
}

func (l *loader) entries(list []config.Entry, scope Scope) {
	if len(list) > MaxServers {
		l.problem(list[MaxServers].Origin, fmt.Sprintf("from here on its MCP servers are not used: there are more than %d", MaxServers))
		list = list[:MaxServers]
	}
	for _, e := range list {
		l.add(e.Name, scope, e.JSON, e.Origin, e.Problem, nil, e.Origin.Scope.Repo())
	}
}

func (l *loader) given(g Given, scope Scope) {
	if g.Inside {
		var more struct{ Timeout int64 } // in milliseconds
		if g.JSON != nil {
			_ = json.Unmarshal(g.JSON, &more) // the host wrote it with adze
		}
		l.all = append(l.all, Server{
			Name: g.Name, Scope: scope, Origin: g.Origin, Transport: Host, Raw: json.RawMessage(`{"type":"sdk"}`), Timeout: time.Duration(more.Timeout) * time.Millisecond,
		})
		l.rule(&l.all[len(l.all)-1])
		return
	}
	l.add(g.Name, scope, g.JSON, g.Origin, g.Problem, g.Vars, g.Repo || g.Origin.Scope.Repo())
	l.all[len(l.all)-1].Plugin = g.Plugin
}

// person reads what ~/.claude.json says. The file holds much else and may be
// large, so only these values of it are looked at closely.
func (l *loader) person() (local, user []config.Entry) {
	f := l.from.Person
	if f.Path == "" || errors.Is(f.Err, fs.ErrNotExist) {
		return nil, nil
	}
	at := config.Origin{Scope: config.User, File: f.Path, Root: filepath.Dir(f.Path)}
	if f.Err != nil {
		l.problem(at, "not read: "+paths.Cause(f.Err).Error())
		return nil, nil
	}
	text := bytes.TrimPrefix(f.Text, []byte("\ufeff"))
	part := func(path ...string) []config.Entry {
		raw, offset, err := fastjson.Find(text, path...)
		if err != nil {
			l.problem(at, "its MCP servers are not used: it is not valid JSON: "+fastjson.Where(text, err).Error())
			return nil
		}
		if raw == nil {
			return nil
		}
		list, err := config.Entries(slices.Concat([]byte(`{"`+key+`":`), raw, []byte("}")), at, key)
		if err != nil {
			l.problem(at, "its MCP servers are not used: "+err.Error())
		}
		for i := range list {
			list[i].Line += bytes.Count(text[:offset], []byte("\n"))
		}
		return list
	}
	for _, dir := range l.from.Dirs {
		local = append(local, part("projects", dir, key)...)
	}
	return local, part(key)
}

// add reads one server. repo: somebody else may have written it.
func (l *loader) add(name string, scope Scope, raw json.RawMessage, at config.Origin, problem string, vars map[string]string, repo bool) {
	w, err := read(raw)
	e := expander{lookup: func(name string) (string, bool) {
		if v, ok := vars[name]; ok {
			return v, true
		}
		if l.from.Env == nil {
			return "", false
		}
		return l.from.Env(name)
	}}
	if repo {
		e.withheld = l.from.Private
	}
	command, env := e.text(w.Command), e.values(w.Env)
	s := Server{
		Name: name, Scope: scope, Origin: at, Transport: w.Type,
		Command: command, Args: e.arguments(w.Args, env), Env: env,
		URL: e.text(w.URL), Headers: e.values(w.Headers), HeadersHelper: w.HeadersHelper, OAuth: w.OAuth,
		Timeout: w.timeout, AlwaysLoad: w.alwaysLoad, TrustAnnotations: w.trustAnnotations, AllowSampling: w.sampling, Raw: raw, Keyless: repo,
	}
	if len(vars) > 0 && s.Transport == Stdio { // a plugin's program gets them too
		env := maps.Clone(vars)
		maps.Copy(env, s.Env)
		s.Env = env
	}
	if len(vars) > 0 && w.HeadersHelper != "" { // a plugin's own folder
		only := expander{lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
		s.HeadersHelper = only.text(w.HeadersHelper)
	}
	switch {
	case problem != "":
	case err != nil:
		problem = strings.ReplaceAll(err.Error(), "\n", "; ")
	case w.Type == Host:
		problem = `only the program that drives adze has servers of type "sdk"`
	default:
		if err := errors.Join(e.err(), s.check(), s.OAuth.wants(e.withheld)); err != nil {
			problem = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
	}
	s.Problem = clip.Line(problem, 400)
	l.rule(&s)
	if s.Approval == Approved && w.disable {
		s.Approval, s.Why = Refused, `its configuration says "disabled"`
	}
	warn := func(message string) {
		if s.Approval == Approved && s.Problem == "" {
			l.set.Problems = append(l.set.Problems, config.Problem{Severity: config.Warning, Origin: at, Key: key + "." + name, Message: message})
		}
	}
	if len(e.left) > 0 {
		warn(strings.Join(e.left, ", ") + " is left out: a server of a repository gets no key of a model provider (adze mcp add has one of your own get it)")
	}
	if len(e.stayed) > 0 {
		warn(clip.Line(strings.Join(e.stayed, ", "), 300) + " is not set, so its arguments have it as it is written: set it, or give it in its env")
	}
	l.all = append(l.all, s)
}

// wants says which variable that is withheld is to sign the server in.
func (o OAuth) wants(withheld func(name string) bool) error {
	refs := []string{o.ClientSecret, o.PrivateKey}
	if o.IdP != nil {
		refs = append(refs, o.IdP.ClientSecret)
	}
	for _, ref := range refs {
		if name := Variable(ref); name != "" && withheld != nil && withheld(name) {
			return fmt.Errorf("it wants to sign in with %s, and a server of a repository gets no key of a model provider", clip.Line(name, 100))
		}
	}
	return nil
}

// Untrusted is why a project's server waits that no yes to it would start.
const Untrusted = "the folder is not trusted as it is now: look at it with adze trust"

// rule says whether a server may be started.
func (l *loader) rule(s *Server) {
	s.Approval = Approved
	if why := l.lists.refuses(*s); why != "" {
		s.Approval, s.Why = Refused, why
		return
	}
	if !s.Origin.Scope.Repo() {
		if s.Everywhere() && s.Problem == "" && !l.from.Trusted && l.from.Apart != nil {
			s.Apart, s.Problem = l.from.Apart(*s)
		}
		return
	}
	mcp := l.from.Config.MCP
	answer, answered := l.from.Answers[s.Name]
	enabled := s.Scope == Project && l.from.Trusted && (mcp.EnableAllProject || slices.Contains(mcp.Enabled, s.Name))
	// Somebody else may have written it, and what it runs.
	if s.Answered = answered && !enabled; s.Answered && l.from.Programs != nil {
		s.Programs = l.from.Programs(*s)
	}
	switch {
	case s.Scope == Project && slices.Contains(mcp.Disabled, s.Name):
		s.Approval, s.Why = Refused, "disabledMcpjsonServers names it"
	case s.Scope == Project && !l.from.Trusted:
		s.Approval, s.Why = Pending, Untrusted
	case enabled:
	case answered && answer.Hash == s.Hash() && answer.Yes:
	case answered && answer.Hash == s.Hash():
		s.Approval, s.Why = Refused, "you said no to it; adze mcp reset-choices has it asked again"
	case answered && answer.Yes:
		s.Approval, s.Why = Pending, "it is not what you said yes to any more"
	default:
		s.Approval, s.Why = Pending, "nobody has said yes to it yet"
	}
}

// choose takes one server of each name.
func (l *loader) choose() {
	best := map[string]int{}
	for i, s := range l.all {
		old, taken := best[s.Name]
		if !taken || l.all[old].Approval != Approved && s.Approval == Approved {
			best[s.Name] = i
		}
	}
	for i, s := range l.all {
		if best[s.Name] != i {
			l.set.Hidden = append(l.set.Hidden, s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(best)) {
		l.set.Servers = append(l.set.Servers, l.all[best[name]])
	}
}

// FromFlags reads the values of --mcp-config: files, or JSON. read reads a
// file by its path as it was given. A value that cannot be read is an error,
// a server of it that cannot be used is not.
func FromFlags(values []string, read func(path string) ([]byte, error)) ([]Given, error) {
	var out []Given
	for _, v := range values {
		at := config.Origin{Scope: config.Flag, From: "--mcp-config"}
		text := []byte(v)
		if strings.TrimSpace(v) == "" {
			return nil, errors.New("--mcp-config is empty")
		}
		if !strings.HasPrefix(strings.TrimSpace(v), "{") {
			b, err := read(v)
			if err != nil {
				return nil, fmt.Errorf("--mcp-config %s: %w", clip.Visible(clip.Line(v, 200)), paths.Cause(err))
			}
			text, at.File = b, v
		}
		list, err := config.Entries(text, at, key)
		if err != nil {
			return nil, fmt.Errorf("--mcp-config %s: %w", clip.Visible(clip.Line(v, 60)), err)
		}
		if raw, _, _ := fastjson.Find(text, key); raw == nil && len(list) == 0 {
			return nil, fmt.Errorf(`--mcp-config %s: it has no "mcpServers": {…}`, clip.Visible(clip.Line(v, 60)))
		}
		if len(list) > MaxServers {
			return nil, fmt.Errorf("--mcp-config: more than %d servers", MaxServers)
		}
		for _, e := range list {
			out = append(out, Given{Name: e.Name, JSON: e.JSON, Origin: e.Origin, Problem: e.Problem})
		}
	}
	return out, nil
}
