package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/paths"
)

// MaxFile bounds a settings file, in bytes.
const MaxFile = 2 << 20

// Files is the disk as settings need it.
type Files interface {
	// Read returns a regular file's content. It refuses anything else and
	// anything over max bytes, and never blocks. A file that is not there is
	// fs.ErrNotExist.
	Read(path string, max int64) ([]byte, error)
	// Names lists a folder, sorted; none when there is no folder.
	Names(dir string) ([]string, error)
	// Owned says why a file may not speak for this machine's administrator.
	Owned(path string) error
}

// A Keeper remembers the last user settings that could be read.
type Keeper interface {
	Last(path string) []byte
	Keep(path string, text []byte)
}

// A Given is a value from outside the files. Value is a Go value that JSON
// can hold: string, bool, a number, []string.
type Given struct {
	Key   string // dotted
	Value any
	From  string // "--model"; text and lists of text are read by the key's kind
}

// Options say where to look. Paths are absolute.
type Options struct {
	Files   Files
	Keeper  Keeper // nil keeps nothing
	Home    string // for ~/.claude
	Folders Folders
	Dir     string // where the session starts
	Root    string // the repository's root, or Dir
	Env     func(string) string
	Flags   []Given
	// Settings is the argument of --settings: a file or a JSON object.
	Settings string
	// ManagedDir and ManagedCC are the folders of ManagedDirs; "" reads none.
	ManagedDir, ManagedCC string
	// Sources names the file layers to read, of user, project and local; nil
	// reads all. Managed settings are always read.
	Sources []string
	// Trusted: the person trusts what this folder's files may start.
	Trusted bool
	// Held, for a reload, is the configuration in force. A file that cannot be
	// read any more keeps what it said in it, and the folder's own files
	// loosen nothing of it while they are not trusted as they are now.
	Held *Config
	// Changed: the folder was trusted with other content. Only then does what
	// it brought before stay in force.
	Changed bool
}

type loader struct {
	o     Options
	table []Key
	spec  *spec
	tree  *node
	out   *Config
}

// Load reads and folds all layers: defaults < user < project < local <
// --settings < variables < flags < managed. An error is a mistake on the
// command line or in a variable; mistakes in files are in Config.Problems and
// cost only the value they stand at.
func Load(o Options) (*Config, error) {
	l := &loader{o: o, table: Table(), out: &Config{said: map[string]*node{}, repo: map[layerKey]*node{}}}
	l.spec = known()
	l.tree = &node{kind: '{', from: Origin{Scope: Default}}
	for _, k := range l.table {
		if k.Default == nil {
			continue
		}
		v, err := fromGo(k.Default, Origin{Scope: Default})
		if err != nil {
			return nil, fmt.Errorf("default of %s: %w", k.Name, err)
		}
		l.tree = l.tree.set(k.Name, v)
	}
	for _, layer := range l.fileLayers() {
		l.add(layer)
	}
	if err := l.addSettings(); err != nil {
		return nil, err
	}
	l.addForeign()
	if err := l.addGiven(); err != nil {
		return nil, err
	}
	l.addManaged()
	return l.finish()
}

// A layer is an own file and the other agent's file behind it.
type layer struct {
	scope   Scope
	own, cc string
	root    string
}

func (l *loader) fileLayers() []layer {
	wants := func(s Scope) bool { return l.o.Sources == nil || slices.Contains(l.o.Sources, string(s)) }
	user := layer{scope: User, own: filepath.Join(l.o.Folders.Config, "settings.json")}
	if dir := l.o.Folders.ClaudeDir(l.o.Home); dir != "" {
		user.cc = filepath.Join(dir, "settings.json")
	}
	var out []layer
	further := layer{scope: User}
	if f := l.o.Folders.Further; f != "" {
		further.own = filepath.Join(f, "settings.json")
	}
	if wants(User) {
		if further.own != "" {
			out = append(out, further)
		}
		out = append(out, user)
	}
	dirs := []string{l.o.Root, l.o.Dir}
	if l.o.Root == "" || l.o.Root == l.o.Dir {
		dirs = dirs[1:]
	}
	for _, scope := range []Scope{Project, Local} {
		name := "settings.json"
		if scope == Local {
			name = "settings.local.json"
		}
		for _, d := range dirs {
			at := layer{scope, filepath.Join(d, ".adze", name), filepath.Join(d, ".claude", name), d}
			// In the home folder these are the user's own files.
			if at.own == user.own || at.own == further.own {
				at.own = ""
			}
			if at.cc == user.cc {
				at.cc = ""
			}
			if d != "" && wants(scope) && (at.own != "" || at.cc != "") {
				out = append(out, at)
			}
		}
	}
	return out
}

func (l *loader) add(a layer) {
	own := l.file(a.own, a.scope, a.root, false)
	cc := l.file(a.cc, a.scope, a.root, true)
	both := underlay(own, cc, "")
	if both != nil && a.scope.Repo() {
		l.claims(both)
	}
	if a.scope.Repo() {
		switch {
		case l.o.Trusted:
		case l.o.Held != nil:
			both = l.hold(a, own, cc, both)
		case both != nil:
			both = l.distrust(a, own, cc, both)
		}
		l.out.repo[a.key()] = both
	}
	if both == nil {
		return
	}
	l.lay(l.guard(both, l.tree, a.scope))
}

// distrust leaves of an untrusted folder's files only what forbids.
func (l *loader) distrust(a layer, own, cc, both *node) *node {
	for path, n := range map[string]*node{a.own: own, a.cc: cc} {
		if n == nil {
			continue
		}
		if _, dropped := untrusted(n); dropped {
			l.ignore(path)
		}
	}
	kept, _ := untrusted(both)
	return kept
}

// ignore notes a file that wants more than may count.
func (l *loader) ignore(path string) {
	l.out.Ignored = append(l.out.Ignored, path)
	slices.Sort(l.out.Ignored)
	for i := range l.out.Files {
		if l.out.Files[i].Path == path {
			l.out.Files[i].State = Ignored
		}
	}
}

// file reads one file; nil when there is nothing in it for us.
func (l *loader) file(path string, scope Scope, root string, cc bool) *node {
	if path == "" {
		return nil
	}
	if root == "" {
		root = filepath.Dir(path)
	}
	base := Origin{Scope: scope, File: path, Root: root}
	f := File{Path: path, Scope: scope, CC: cc, State: Loaded}
	text, err := l.o.Files.Read(path, MaxFile)
	if err == nil {
		f.Sum = Sum(text)
	}
	var n *node
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.State = Missing
		l.out.Files = append(l.out.Files, f)
		return nil
	case err != nil:
		f.State = Broken
		l.problem(Error, base, "", "not read: "+paths.Cause(err).Error())
		l.unsafe(base.File + " could not be read: " + paths.Cause(err).Error())
		if text, n = nil, l.held(path); n == nil {
			text = l.last(path, scope)
		}
	case blank(text) && scope == Managed: // an administrator's file that says nothing was cut
		n, f.State = l.held(path), Broken
		l.problem(Error, base, "", "not read: "+errEmpty.Error())
		l.unsafe(base.File + " could not be read: " + errEmpty.Error())
	case blank(text):
		if n = l.held(path); n != nil {
			f.State = LastGood
			l.problem(Warning, base, "", "the file is empty; what it said before is used until you write it again")
			if bytes.IndexByte(text, 0) >= 0 {
				l.unsafe(base.File + " could not be read: " + errNUL.Error())
			}
		} else if good := l.last(path, scope); good != nil {
			f.State, text = LastGood, good
			l.problem(Warning, base, "", "the file is empty; the last good copy is used until you write it again")
		} else if bytes.IndexByte(text, 0) >= 0 {
			f.State = Broken
			l.problem(Error, base, "", "not read: "+errNUL.Error())
			l.unsafe(base.File + " could not be read: " + errNUL.Error())
		}
	}
	if !blank(text) {
		n = l.text(text, base, &f)
	}
	l.out.Files = append(l.out.Files, f)
	if f.State != Broken || l.held(path) != nil { // else a copy or a part stands in for what it says
		l.out.said[path] = n
	}
	return n
}

// Sum is how File.Sum tells contents apart.
func Sum(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// blank: nothing in it, or only what a power cut leaves.
func blank(b []byte) bool { return len(bytes.Trim(b, "\x00 \t\r\n")) == 0 }

func (l *loader) last(path string, scope Scope) []byte {
	if scope != User || l.o.Keeper == nil {
		return nil
	}
	return l.o.Keeper.Last(path)
}

func (l *loader) text(text []byte, base Origin, f *File) *node {
	n, problems, err := parse(text, base)
	l.out.Problems = append(l.out.Problems, problems...)
	if err != nil {
		n = l.broken(text, err, base, f)
		if n == nil {
			return nil
		}
	} else if base.Scope == User && !f.CC && f.State == Loaded && l.o.Keeper != nil {
		l.o.Keeper.Keep(base.File, text)
	}
	c := checker{cc: f.CC}
	if f.CC {
		n = ccThinking(n)
	}
	n = c.root(n, l.spec)
	if f.CC {
		if m := n.get("model"); m != nil {
			if name, ok := l.ccModel(n, m.text, base.Scope); ok {
				n = n.set("model", withText(m, name))
			} else {
				n = n.unset("model")
				c.notUsed = append(c.notUsed, "model")
			}
		}
	}
	f.NotUsed = c.notUsed
	l.out.Problems = append(l.out.Problems, c.problems...)
	for _, u := range c.unsafe {
		l.unsafe(u)
	}
	if len(c.unsafe) > 0 {
		n = l.keepProhibitions(n, l.held(base.File))
	}
	if !base.Scope.Repo() {
		n = l.withVariables(n)
	}
	return n
}

// broken handles a file that does not parse: what it forbids is saved, the
// last good copy stands in for a user's file, and everything asks if there was
// a permissions block to lose.
func (l *loader) broken(text []byte, err error, base Origin, f *File) *node {
	f.State = Broken
	at := base
	why := err.Error()
	if se := (*syntaxError)(nil); errors.As(err, &se) {
		at.Line, at.Column, why = se.line, se.column, se.why
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		why = "it is UTF-16; save it as UTF-8"
	}
	held, n := l.held(base.File), salvageRules(text, base)
	if held != nil {
		why += "; what it said before is used instead"
	}
	if n != nil {
		why += "; its deny and ask rules count all the same"
	}
	l.problem(Error, at, "", "the file is not used: "+why)
	text = unescaped(text)
	switch {
	case base.Scope == Managed:
		l.unsafe(fmt.Sprintf("%s could not be read, and it is the administrator's", at))
	case bytes.Contains(text, []byte(`permissions`)) || n != nil || held.get("permissions") != nil:
		l.unsafe(fmt.Sprintf("%s could not be read, and it holds permissions", at))
	case held == nil && (!utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0):
		l.unsafe(fmt.Sprintf("%s could not be read, and what it holds cannot be told", at))
	case held == nil && mayForbid(text):
		l.unsafe(fmt.Sprintf("%s could not be read, and it holds settings that forbid or confine something", at))
	case held == nil && slices.ContainsFunc([]string{"PreToolUse", "PermissionRequest", "UserPromptSubmit", "UserPromptExpansion"}, func(event string) bool { return bytes.Contains(text, []byte(event)) }):
		l.unsafe(fmt.Sprintf("%s could not be read, and it holds hooks that may refuse calls", at))
	}
	if held != nil {
		return merge(held, n)
	}
	if good := l.last(base.File, base.Scope); good != nil && !f.CC {
		if old, _, err := parse(good, base); err == nil {
			l.problem(Warning, base, "", "the last good copy is used instead")
			n = merge(old, n)
		}
	}
	return n
}

// addManaged lays the administrator's files over everything: managed.json,
// then managed.d in the order of names.
func (l *loader) addManaged() {
	var own *node
	if l.o.ManagedDir != "" {
		files := []string{filepath.Join(l.o.ManagedDir, "managed.json")}
		dir := filepath.Join(l.o.ManagedDir, "managed.d")
		l.out.Dirs = append(l.out.Dirs, dir)
		names, err := l.o.Files.Names(dir)
		if err != nil {
			l.problem(Error, Origin{Scope: Managed, File: dir}, "", "not read: "+paths.Cause(err).Error())
			l.unsafe(dir + " could not be read: " + paths.Cause(err).Error())
		}
		for _, name := range names {
			if strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
				files = append(files, filepath.Join(dir, name))
			}
		}
		for _, path := range files {
			if n := l.managed(path, false); n != nil {
				own = stack(own, n)
			}
		}
	}
	if l.o.ManagedCC != "" {
		own = underlay(own, l.managed(filepath.Join(l.o.ManagedCC, "managed-settings.json"), true), "")
	}
	if own == nil {
		return
	}
	if v := own.at("permissions.managed_only"); v != nil && string(v.raw) == "true" {
		l.tree = l.tree.unset("permissions.allow")
	}
	if v := own.at("allowManagedMcpServersOnly"); v != nil && string(v.raw) == "true" {
		l.tree = l.tree.unset("allowedMcpServers")
	}
	l.lay(l.guard(own, l.tree, Managed))
}

func (l *loader) managed(path string, cc bool) *node {
	n := l.file(path, Managed, "", cc)
	if n == nil {
		return nil
	}
	if err := l.o.Files.Owned(path); err != nil {
		l.problem(Error, Origin{Scope: Managed, File: path}, "", "only what it forbids is used: "+err.Error())
		n, _ = untrusted(n)
	}
	return n
}

func (l *loader) problem(sev Severity, at Origin, key, message string) {
	l.out.Problems = append(l.out.Problems, Problem{Severity: sev, Origin: at, Key: key, Message: message})
}

func (l *loader) unsafe(why string) {
	if l.out.Permissions.Unsafe != "" {
		why = l.out.Permissions.Unsafe + "; " + why
	}
	l.out.Permissions.Unsafe = why
}

// finish turns the tree into typed values.
func (l *loader) finish() (*Config, error) {
	c := l.out
	c.tree = l.tree
	for path, to := range map[string]any{"": c, "autoMode": &c.Permissions.AutoMode, "mcp": &c.MCP} {
		from := l.tree
		if path == "autoMode" {
			from = l.tree.at(path)
		}
		if from == nil {
			continue
		}
		if err := json.Unmarshal(from.json(), to); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
	}
	p := &c.Permissions
	for name, to := range map[string]*[]Rule{"allow": &p.Allow, "ask": &p.Ask, "deny": &p.Deny, "additionalDirectories": &p.Dirs} {
		if list := l.tree.at("permissions." + name); list != nil {
			for _, e := range list.elems {
				*to = append(*to, Rule{e.text, e.from})
			}
		}
	}
	l.forbidModes()
	return c, nil
}

// forbidModes holds the mode to what the settings forbid.
func (l *loader) forbidModes() {
	p := &l.out.Permissions
	m := p.Mode()
	off := m == policy.Bypass && bool(p.DisableBypass) || m == policy.Auto && bool(p.DisableAuto)
	if off {
		at := l.tree.at("permissions.defaultMode").from
		if at.Scope == Flag || at.Scope == EnvVar {
			p.Refused = m
		}
		l.problem(Warning, at, "permissions.defaultMode", "not used: settings forbid the mode "+string(m))
		p.DefaultMode = string(policy.Default)
	}
}
