package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/disk/inode"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A Kind is what a file may do.
type Kind string

// Kinds.
const (
	Settings Kind = "settings"
	Servers  Kind = "MCP servers"
	Skill    Kind = "skill"
	Command  Kind = "command"
	Agent    Kind = "agent"
	Script   Kind = "hook script"
	Style    Kind = "output style"
	Workflow Kind = "workflow"
	Hooks    Kind = "hooks" // in a file of another agent's
)

// Bounds of what a folder may bring. Skills and the like beyond them are left out;
// a folder with more settings and scripts than that cannot be trusted.
const (
	maxFiles = 2000
	maxFile  = 2 << 20
	maxTotal = 32 << 20
	maxNames = 4000 // of one listing
	maxDepth = 6    // of commands and rules in folders
)

// single are files with one name. Folder names the others.
var single = []struct {
	path string
	kind Kind
}{
	{".adze/settings.json", Settings}, {".adze/settings.local.json", Settings},
	{".claude/settings.json", Settings}, {".claude/settings.local.json", Settings},
	{".mcp.json", Servers},
	// Of these only what has hooks counts, and is listed.
	{".codex/hooks.json", Hooks}, {".codex/config.toml", Hooks}, {".gemini/settings.json", Hooks},
}

// scripts are the folders beside files of the kind Hooks in which the programs of
// their hooks stand by custom. They count where such a file does.
var scripts = []string{".codex/hooks", ".gemini/hooks"}

// A list is a folder whose files count: every file with one of the endings, in lower case, also
// deeper, or, of skills, the one file that each folder in it has, with deep also in
// folders further down.
type list struct {
	path    string
	endings []string // none is every file
	kind    Kind
	deep    bool
}

// lists are the folders whose files count: those in which skill.Ground looks, and
// the scripts of hooks.
func lists() (out []list) {
	for _, k := range []struct {
		of   skill.Kind
		kind Kind
	}{{skill.Skills, Skill}, {skill.Commands, Command}, {skill.Styles, Style}, {skill.Agents, Agent}, {skill.Workflows, Workflow}} {
		for _, s := range skill.InProject(k.of) {
			out = append(out, list{s.Dir, s.Endings, k.kind, s.Deep})
		}
	}
	return append(out, list{path: ".adze/hooks", kind: Script}, list{path: ".claude/hooks", kind: Script})
}

// texts steer a model and need no trust.
var texts = []string{
	"AGENTS.md", "AGENTS.override.md", "AGENTS.local.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md",
	".adze/AGENTS.md", ".claude/CLAUDE.md", ".adze/rules", ".claude/rules",
}

// look finds what a folder brings.
func look(f Folder) Verdict {
	v := Verdict{Folder: f}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		v.refuse("", err)
		return v
	}
	defer root.Close()
	if v.id, err = inode.Of(root); err != nil {
		v.refuse("", err)
	}
	l := looker{v: &v, root: root}
	dirs := f.Dirs()
	for i, d := range dirs {
		own := f.Home != "" && filepath.Join(f.Root, filepath.FromSlash(d)) == f.Home
		l.folder(d, own, i > 0 && i < len(dirs)-1)
	}
	if l.over > 0 {
		v.Left = append(v.Left, fmt.Sprintf("%s: a folder brings at most %s files or %d MiB that need trust", clip.Count(l.over, "more file"), clip.Thousands(maxFiles), maxTotal>>20))
	}
	order.By(v.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return v
}

func (v *Verdict) refuse(path string, err error) {
	why := paths.Cause(err).Error()
	if path == "" {
		path = "the folder"
	}
	v.Refused = append(v.Refused, path+": "+why)
}

// apart reports whether a thing of a kind that cannot be read is only left out.
// Skills and the like are used when their content is that of a trusted file, and
// what is left out is none. Settings and what they run make up the folder's trust.
func (k Kind) apart() bool {
	return k == Skill || k == SkillFile || k == Command || k == Agent || k == Style || k == Workflow || k == Hooks
}

// bad leaves a thing out, or refuses the folder for it.
func (l *looker) bad(at string, kind Kind, err error) {
	if !kind.apart() {
		l.v.refuse(at, err)
		return
	}
	why := paths.Cause(err).Error()
	if link, target := l.leads(at); link != "" {
		at, why = link, fmt.Sprintf("a link out of the folder, or to nothing (%q)", target)
	}
	if text := at + ": " + why; !slices.Contains(l.v.Left, text) {
		l.v.Left = append(l.v.Left, text)
	}
}

// leads is the part of a path that is a link out of the root or to nothing, and
// where it leads as it is written; "" when no part is.
func (l *looker) leads(at string) (link, target string) {
	segs := strings.Split(at, "/")
	for i := range segs {
		link = strings.Join(segs[:i+1], "/")
		name := filepath.FromSlash(link)
		if _, err := l.root.Stat(name); err == nil {
			continue
		}
		target, err := l.root.Readlink(name)
		if err != nil {
			return "", ""
		}
		return link, target
	}
	return "", ""
}

type looker struct {
	v      *Verdict
	root   *os.Root
	total  int64
	full   bool
	beside int  // files beside those of skills
	over   int  // files beyond the bounds, of kinds that are left out
	much   bool // so are others, which was said
}

// Dirs are the folders that a session here reads, from the root to where it
// starts, as slash-separated paths below the root; the root is "".
func (f Folder) Dirs() []string {
	out := []string{""}
	rel, err := filepath.Rel(f.Root, f.Dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return out
	}
	at := ""
	for seg := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		at = path.Join(at, seg)
		out = append(out, at)
	}
	return out
}

// local reports whether settings are a person's for one folder. Those of the home
// folder count there alone, and only they tell it from other folders.
func local(name string) bool { return strings.HasSuffix(name, "/settings.local.json") }

// read reports whether a file with one name counts in a folder; own and between as in folder.
func read(name string, own, between bool) bool {
	return !(own && name != ".mcp.json" && !local(name) || between && !inherited(name))
}

// folder looks at one folder below the root. In the home folder .adze and
// its like are the person's own. between: it is neither the root nor where the
// session starts.
func (l *looker) folder(d string, own, between bool) {
	for _, s := range single {
		if !read(s.path, own, between) {
			continue
		}
		l.file(path.Join(d, s.path), s.kind)
	}
	for _, s := range lists() {
		if own || between && s.kind == Script {
			continue
		}
		at := path.Join(d, s.path)
		if s.kind != Skill {
			l.tree(at, s.endings, s.kind, maxDepth)
			continue
		}
		depth := 0
		if s.deep {
			depth = maxDepth
		}
		l.skills(at, depth)
	}
	for _, s := range scripts {
		if l.listed(d, path.Dir(s)) {
			l.tree(path.Join(d, s), nil, Script, maxDepth)
		}
	}
	for _, t := range texts {
		if _, err := l.root.Lstat(filepath.FromSlash(path.Join(d, t))); err == nil {
			l.v.Steering = append(l.v.Steering, path.Join(d, t))
		}
	}
}

// skills takes those in a folder, and as deep as that in folders that are none.
func (l *looker) skills(at string, depth int) {
	for _, e := range l.names(at, Skill) {
		dir := path.Join(at, e.Name())
		l.skill(path.Join(dir, skillFile))
		if _, err := l.root.Lstat(filepath.FromSlash(path.Join(dir, skillFile))); err != nil && e.IsDir() && depth > 0 {
			l.skills(dir, depth-1)
		}
	}
}

// listed reports whether a folder of another agent's, below a folder, has hooks.
func (l *looker) listed(d, agent string) bool {
	return slices.ContainsFunc(l.v.Files, func(f File) bool { return f.Kind == Hooks && path.Dir(f.Path) == path.Join(d, agent) })
}

// tree takes every file with one of the endings. Folders that are links are not
// entered here; the readers of these files do not enter them either.
func (l *looker) tree(at string, endings []string, kind Kind, depth int) {
	for _, e := range l.names(at, kind) {
		p := path.Join(at, e.Name())
		switch {
		case e.IsDir() && depth > 0:
			l.tree(p, endings, kind, depth-1)
		case e.IsDir():
			l.bad(p, kind, errors.New("too deep"))
		case endings == nil || slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(strings.ToLower(e.Name()), end) }):
			l.file(p, kind)
		}
	}
}

// names lists a folder below the root; none when there is none.
func (l *looker) names(at string, kind Kind) []fs.DirEntry {
	info, err := l.root.Stat(filepath.FromSlash(at))
	if absent(err) || err == nil && !info.IsDir() {
		return nil
	}
	if err != nil {
		l.bad(at, kind, err)
		return nil
	}
	d, err := l.root.Open(filepath.FromSlash(at))
	if err != nil {
		l.bad(at, kind, err)
		return nil
	}
	defer d.Close()
	list, err := d.ReadDir(maxNames + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		l.bad(at, kind, err)
	}
	if len(list) > maxNames {
		l.bad(at, kind, fmt.Errorf("it holds more than %d names", maxNames))
		return nil
	}
	order.By(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// file reads one file, if it is there. What is no regular file, or a link
// that leaves the folder, is left out, or makes the folder one that cannot be
// trusted: see Kind.apart.
func (l *looker) file(at string, kind Kind) {
	if l.full && kind.apart() {
		l.over++
		return
	}
	name := filepath.FromSlash(at)
	info, err := l.root.Lstat(name)
	if absent(err) || err == nil && info.Mode().Type() == fs.ModeSocket {
		// Nobody can read settings out of a socket, and while a command runs the
		// sandbox puts one where a file must not come into being.
		return
	}
	text, err := readBelow(l.root, name, maxFile)
	if err != nil {
		l.bad(at, kind, err)
		return
	}
	if kind == Hooks && len(hooksIn(at, text)) == 0 {
		return
	}
	if l.total+int64(len(text)) > maxTotal || len(l.v.Files)-l.beside >= maxFiles {
		if l.full = true; kind.apart() {
			l.over++
		} else if !l.much {
			l.much = true
			l.v.refuse("", fmt.Errorf("it brings more than %s files or %d MiB that need trust", clip.Thousands(maxFiles), maxTotal>>20))
		}
		return
	}
	l.total += int64(len(text))
	l.v.Files = append(l.v.Files, File{Path: at, Kind: kind, Sum: sum(text), text: text})
}

// readBelow reads a regular file of at most max bytes. It follows no link out
// of the root and waits for nobody.
func readBelow(root *os.Root, name string, max int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		if target, lerr := root.Readlink(name); lerr == nil {
			return nil, fmt.Errorf("a link out of the folder, or to nothing (%q)", target)
		}
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file (%v)", info.Mode().Type())
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, max+1))
	if int64(len(text)) > max {
		return nil, fmt.Errorf("larger than %d MiB", max>>20)
	}
	return text, err
}

// absent: there is no such name; also where a folder was expected and a file
// stands.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || err != nil && strings.Contains(err.Error(), "not a directory")
}
