package plugin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Bounds of a plugin.
const (
	maxFile     = 1 << 20 // bytes of a manifest, and of each JSON file it names
	maxPaths    = 500     // of one field
	maxPalettes = 100
	maxHooks    = 500 // groups
	maxServers  = 100 // of each kind
	maxOptions  = 100
	maxDepends  = 100
	maxWatch    = 50  // monitors
	maxBin      = 200 // programs
	maxRules    = 500 // of each list
	maxTold     = 100 // problems
	maxValue    = 64 << 10
	maxWords    = 1000 // characters of a description
)

// ErrNone says that a folder is no plugin.
var ErrNone = errors.New("the folder is no plugin: it has no manifest (.claude-plugin/plugin.json, .adze-plugin/plugin.json, .codex-plugin/plugin.json or gemini-extension.json), and none of the folders that a plugin has")

// manifests are in the order in which they count.
var manifests = []struct {
	path   string
	format Format
}{
	{".adze-plugin/plugin.json", Adze},
	{".claude-plugin/plugin.json", Claude},
	{".codex-plugin/plugin.json", Codex},
	{"gemini-extension.json", Gemini},
}

// NameOK reports whether a text can be the name of a plugin or a marketplace:
// at most 64 letters, digits, ".", "_" and "-", the first one a letter or digit.
func NameOK(name string) bool { return nameForm().MatchString(name) }

var (
	nameForm   = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	optionForm = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
)

// Source is what is known of a plugin from outside of its folder.
type Source struct {
	// Name is the plugin's where the manifest does not say: the name of its
	// folder, say.
	Name string
	// Entry is what a marketplace says of it, an object, nil for nothing. Its
	// fields count where the manifest has none.
	Entry json.RawMessage
}

// Read reads the plugin in fsys. Each problem is about one thing that is not
// used; the rest is. The error is for a folder that is no plugin, or whose
// manifest cannot be read. fsys must not follow links that lead out of it, as
// that of an os.Root does not.
func Read(fsys fs.FS, from Source) (Plugin, []Problem, error) {
	r := &reader{fsys: fsys}
	r.p.Format = Bare
	fields, err := r.manifest()
	if err != nil {
		return Plugin{}, r.told, err
	}
	if r.p.Format == Bare && !r.anyDefault() && from.Entry == nil {
		return Plugin{}, r.told, ErrNone
	}
	r.fields = fields
	if from.Entry != nil {
		entry, err := members(from.Entry, 1)
		if err != nil {
			return Plugin{}, r.told, fmt.Errorf("its entry in the marketplace: %w", err)
		}
		for _, m := range entry {
			m.line = 0
			if _, ok := r.field(m.name); !ok && !slices.Contains(ofMarket, m.name) {
				r.fields = append(r.fields, m)
			}
		}
	}
	r.p.Name = r.words("name", 64)
	if r.p.Name == "" {
		r.p.Name = from.Name
	}
	if !NameOK(r.p.Name) {
		return Plugin{Format: r.p.Format}, r.told, fmt.Errorf("the name %q cannot be used: expected at most 64 letters, digits, \".\", \"_\" and \"-\"", clip.Line(clip.Visible(r.p.Name), 80))
	}
	r.about()
	r.folders()
	r.hooks()
	r.servers()
	r.monitors()
	r.settings()
	r.programs()
	r.options()
	r.dependencies()
	r.leftOut()
	if n := len(r.told); n > maxTold {
		r.told = append(r.told[:maxTold:maxTold], Problem{Text: fmt.Sprintf("and %s more", clip.Count(n-maxTold, "problem"))})
	}
	return r.p, r.told, nil
}

// ofMarket are fields of a marketplace's entry that are not the plugin's.
var ofMarket = []string{"source", "category", "tags", "strict", "policy", "interface", "displayName", "lspRecommended", "relevance"}

type reader struct {
	fsys   fs.FS
	p      Plugin
	fields []member
	used   []string
	told   []Problem
}

func (r *reader) problem(file string, line int, format string, args ...any) {
	r.told = append(r.told, Problem{File: file, Line: line, Text: clip.Line(clip.Visible(fmt.Sprintf(format, args...)), 500)})
}

func (r *reader) note(file string, line int, format string, args ...any) {
	r.problem(file, line, format, args...)
	r.told[len(r.told)-1].Note = true
}

// manifest reads the first manifest there is.
func (r *reader) manifest() ([]member, error) {
	for _, m := range manifests {
		b, err := r.read(m.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
		fields, err := members(b, 1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
		r.p.Format, r.p.Manifest = m.format, m.path
		return fields, nil
	}
	return nil, nil
}

// read reads a regular file.
func (r *reader) read(name string) ([]byte, error) {
	info, err := fs.Stat(r.fsys, name)
	switch {
	case err != nil:
		return nil, paths.Cause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("larger than %s", clip.Size(maxFile))
	}
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, paths.Cause(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, paths.Cause(err)
	case len(b) > maxFile:
		return nil, fmt.Errorf("larger than %s", clip.Size(maxFile))
	}
	return b, nil
}

// is reports whether there is a file or folder of that name, by mode.
func (r *reader) is(name string, dir bool) bool {
	info, err := fs.Stat(r.fsys, name)
	return err == nil && (info.IsDir() && dir || info.Mode().IsRegular() && !dir)
}

func (r *reader) anyDefault() bool {
	for _, d := range []string{"skills", "commands", "agents", "output-styles", "themes", "monitors", "bin"} {
		if r.is(d, true) {
			return true
		}
	}
	for _, f := range []string{"hooks/hooks.json", ".mcp.json", ".lsp.json", "SKILL.md"} {
		if r.is(f, false) {
			return true
		}
	}
	return false
}

// field is one of the manifest, and counts as understood.
func (r *reader) field(name string) (member, bool) {
	i := slices.IndexFunc(r.fields, func(m member) bool { return m.name == name })
	if i < 0 || string(r.fields[i].raw) == "null" {
		return member{}, false
	}
	r.used = append(r.used, name)
	return r.fields[i], true
}

// place is where a field stands, for problems.
func (r *reader) place(m member) (string, int) {
	if m.line == 0 {
		return "the marketplace's entry", 0
	}
	return cmp.Or(r.p.Manifest, "the plugin"), m.line
}

func (r *reader) wrong(m member, format string, args ...any) {
	file, line := r.place(m)
	r.problem(file, line, "%s: %s", m.name, fmt.Sprintf(format, args...))
}

// words are a field that is a text.
func (r *reader) words(name string, most int) string {
	m, ok := r.field(name)
	if !ok {
		return ""
	}
	s, ok := text(m.raw)
	if !ok {
		r.wrong(m, "expected a text, found %s", clip.Line(string(m.raw), 60))
		return ""
	}
	return clip.Line(clip.Visible(s), most)
}

func (r *reader) about() {
	r.p.Version = r.words("version", 100)
	r.p.About = r.words("description", maxWords)
	r.p.Homepage = r.words("homepage", 300)
	r.p.License = r.words("license", 100)
	if m, ok := r.field("author"); ok {
		var a struct{ Name string }
		if s, isText := text(m.raw); isText {
			a.Name = s
		} else if json.Unmarshal(m.raw, &a) != nil {
			r.wrong(m, "expected {\"name\": …}")
		}
		r.p.Author = clip.Line(clip.Visible(a.Name), 200)
	}
}

// folders finds what is in files of their own. Skills that a manifest names come
// beside the default folder. Where a marketplace names them its list is the whole:
// several of its plugins may be parts of one folder. So it is of the rest.
func (r *reader) folders() {
	r.p.Skills = r.paths("skills")
	m, named := r.named("skills")
	chosen := named && m.line == 0 && len(r.p.Skills) > 0
	if !chosen && r.is("skills", true) && !slices.Contains(r.p.Skills, "skills") {
		r.p.Skills = append([]string{"skills"}, r.p.Skills...)
	}
	if len(r.p.Skills) == 0 && r.is("SKILL.md", false) {
		r.p.Skills = []string{"."}
	}
	r.p.Commands = r.either("commands", "commands")
	r.p.Agents = r.either("agents", "agents")
	r.p.Styles = r.either("outputStyles", "output-styles")
	if r.p.Format == Gemini {
		r.palettes()
		r.context()
		return
	}
	r.p.Themes = r.either("themes", "themes")
}

// palettes are the themes of a Gemini extension: objects with a name.
func (r *reader) palettes() {
	m, ok := r.field("themes")
	if !ok {
		return
	}
	list, ok := elements(m.raw)
	if !ok {
		r.wrong(m, "expected a list")
	}
	for _, raw := range r.atMost(maxPalettes, m, list) {
		var o struct{ Name string }
		if json.Unmarshal(raw, &o) != nil || o.Name == "" {
			r.wrong(m, "expected {\"name\": …}, found %s", clip.Line(string(raw), 60))
			continue
		}
		name := clip.Line(clip.Visible(o.Name), 60)
		if slices.ContainsFunc(r.p.Palettes, func(p Palette) bool { return p.Name == name }) {
			r.wrong(m, "there are two of the name %s; the first counts", name)
			continue
		}
		r.p.Palettes = append(r.p.Palettes, Palette{name, compact(raw)})
	}
}

func (r *reader) either(field, dir string) []string {
	if _, ok := r.named(field); ok {
		return r.paths(field)
	}
	if r.is(dir, true) {
		return []string{dir}
	}
	return nil
}

// context is what Gemini's agent reads into each session.
func (r *reader) context() {
	if _, ok := r.field("contextFileName"); ok {
		r.p.Context = r.paths("contextFileName")
	} else if r.is("GEMINI.md", false) {
		r.p.Context = []string{"GEMINI.md"}
	}
}

// named is a field, or the one of that name below "experimental".
func (r *reader) named(name string) (member, bool) {
	if m, ok := r.field(name); ok {
		return m, true
	}
	e, ok := r.field("experimental")
	if !ok || !isObject(e.raw) {
		return member{}, false
	}
	list, err := members(e.raw, max(e.line, 1))
	if err != nil {
		return member{}, false // cannot be: the manifest was read
	}
	for _, m := range list {
		if m.name == name {
			if e.line == 0 {
				m.line = 0
			}
			return m, true
		}
	}
	return member{}, false
}

// paths reads a field that is a path or a list of them.
func (r *reader) paths(name string) (out []string) {
	m, ok := r.named(name)
	if !ok {
		return nil
	}
	for _, raw := range r.atMost(maxPaths, m, oneOrMore(m.raw)) {
		s, isText := text(raw)
		if !isText {
			r.wrong(m, "expected a path, found %s", clip.Line(string(raw), 60))
			continue
		}
		rel, err := r.local(s)
		if err != nil {
			r.wrong(m, "%q %v", clip.Line(s, 100), err)
			continue
		}
		if !slices.Contains(out, rel) {
			out = append(out, rel)
		}
	}
	return out
}

// atMost are the first max entries of a field's list; that there are more is a
// problem.
func (r *reader) atMost(max int, m member, list []json.RawMessage) []json.RawMessage {
	if len(list) > max {
		r.wrong(m, "has %d entries; only the first %d are used", len(list), max)
		list = list[:max]
	}
	return list
}

// local is a path of a manifest, below the root and there.
func (r *reader) local(s string) (string, error) {
	rel, err := Local(s)
	if err != nil {
		return "", err
	}
	info, err := fs.Stat(r.fsys, rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("is not there")
	case err != nil:
		return "", fmt.Errorf("cannot be used: %w", paths.Cause(err))
	case !info.IsDir() && !info.Mode().IsRegular():
		return "", errors.New("is neither a file nor a folder")
	}
	return rel, nil
}

// Local cleans a path that somebody else wrote, which must stay in the folder
// it counts from. The error says why it does not: "is an absolute path".
func Local(s string) (string, error) {
	s = strings.ReplaceAll(s, "${CLAUDE_PLUGIN_ROOT}/", "")
	switch {
	case s == "":
		return "", errors.New("is empty")
	case len(s) > 1024:
		return "", errors.New("is too long")
	case strings.HasPrefix(s, "/") || len(s) > 1 && s[1] == ':':
		return "", errors.New("is an absolute path; expected one in the plugin, such as ./skills")
	case strings.ContainsRune(s, '\\'):
		return "", errors.New("has a backslash; expected /")
	case clip.Visible(s) != s:
		return "", errors.New("has characters that cannot be seen")
	case slices.Contains(strings.Split(s, "/"), ".."):
		return "", errors.New("leads out of its folder")
	}
	return path.Clean(s), nil
}

// leftOut tells of fields that nothing here uses.
func (r *reader) leftOut() {
	known := []string{"$schema", "keywords", "repository", "interface", "displayName", "metadata", "id"}
	idle := map[string]string{
		"channels": "nothing in this version uses channels", "workflows": "nothing in this version uses workflows",
		"apps": "apps of Codex are not used", "excludeTools": "is not used; people forbid tools with permissions.deny",
		"plan": "is not used", "migratedTo": "is not used",
	}
	for _, m := range r.fields {
		if slices.Contains(r.used, m.name) || slices.Contains(known, m.name) {
			continue
		}
		file, line := r.place(m)
		if why, ok := idle[m.name]; ok {
			r.note(file, line, "%s: %s", m.name, why)
			continue
		}
		r.note(file, line, "%s: there is no such field", clip.Line(m.name, 60))
	}
	if r.is("workflows", true) {
		r.note("workflows", 0, "nothing in this version uses workflows")
	}
	if len(r.p.LSP) > 0 {
		r.note(r.p.LSP[0].From, 0, "language servers have no effect yet")
	}
}
