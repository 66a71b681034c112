package programs

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// maxMade bounds the paths that the copies of one script make.
const maxMade = 5_000

// A pick says which files of a tree a command reads. The zero value is all.
type pick struct {
	tracked bool // those that git tracks
	visible bool // not what begins with a dot, as far as ignore files leave it so
	typed   bool // with visible: files that begin with a dot are read all the same
	kept    bool // not what git ignores
	// names and without are patterns of base names: those read (all when there
	// are none), and those not. folders are patterns of folders not entered.
	names, without, folders []string
}

// keeps reports whether a file or link of a listing is read.
func (p pick) keeps(e world.Entry, unhides bool) bool {
	if e.Dir || e.Link {
		return false
	}
	dirs, name := path.Split(e.Name)
	if p.visible && !unhides && (name[0] == '.' && !p.typed || strings.HasPrefix(dirs, ".") || strings.Contains(dirs, "/.")) {
		return false
	}
	if len(p.folders) > 0 {
		for dir := range strings.SplitSeq(strings.TrimSuffix(dirs, "/"), "/") {
			if anyMatch(p.folders, dir) {
				return false
			}
		}
	}
	return (len(p.names) == 0 || anyMatch(p.names, name)) && !anyMatch(p.without, name)
}

func anyMatch(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}

// plainPatterns are values of a flag that every program matches against base
// names in the same way; ok is false when one of them is not.
func (u *Invocation) plainPatterns(flags ...string) (out []string, ok bool) {
	for _, f := range u.flags {
		if !slices.Contains(flags, f.name) {
			continue
		}
		if f.val.Kind != Exact || f.val.Text == "" || strings.Trim(f.val.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-*?") != "" {
			return nil, false
		}
		out = append(out, f.val.Text)
	}
	return out, true
}

// pickGrep is what grep -r reads: of flags that contradict each other the
// order decides, so that both together count for nothing.
func (u *Invocation) pickGrep() {
	names, ok1 := u.plainPatterns("--include")
	without, ok2 := u.plainPatterns("--exclude")
	if ok1 && ok2 && (len(names) == 0 || len(without) == 0) {
		u.pick.names, u.pick.without = names, without
	}
	if folders, ok := u.plainPatterns("--exclude-dir"); ok {
		u.pick.folders = folders
	}
}

// pickRg is what rg reads: a name or type that is asked for is searched even if
// it begins with a dot, in folders that do not.
func (u *Invocation) pickRg() {
	u.visible = !u.has("--hidden", "-.", "-u", "-uu", "--unrestricted", "--iglob", "--type-add")
	u.pick.kept = !slices.ContainsFunc(u.flags, func(f given) bool {
		return strings.HasPrefix(f.name, "--no-ignore") || f.name == "-u" || f.name == "-uu" || f.name == "--unrestricted" || f.name == "--iglob"
	})
	names, drops := []string{}, 0
	for _, f := range u.flags {
		switch f.name {
		case "-g", "--glob":
			if f.val.Kind == Exact && strings.HasPrefix(f.val.Text, "!") {
				drops++
				continue
			}
			names, u.visible = append(names, f.val.Text), false
			u.pick.kept = false // it finds ignored files, too
		case "-t", "--type":
			globs := rgTypes()[f.val.Text]
			u.visible = u.visible && f.val.Kind == Exact && globs != ""
			u.pick.names = append(u.pick.names, strings.Fields(globs)...)
		}
	}
	switch {
	case len(names) > 0:
		// The last that matches decides, and types are not looked at.
		u.pick.names = nil
		if plain, ok := u.plainPatterns("-g", "--glob"); ok && drops == 0 {
			u.pick.names = plain
		}
	case !u.visible:
		u.pick.names = nil
	case len(u.pick.names) > 0:
		u.pick.typed = true
	}
}

// rgTypes are types of ripgrep with what they stand for.
var rgTypes = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"go": "*.go", "py": "*.py *.pyi", "rust": "*.rs", "java": "*.java *.jsp *.jspx *.properties", "js": "*.js *.jsx *.vue *.cjs *.mjs",
		"ts": "*.ts *.tsx *.cts *.mts", "md": "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn", "markdown": "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn",
		"html": "*.htm *.html *.ejs", "css": "*.css *.scss", "sql": "*.sql *.psql", "json": "*.json composer.lock *.sarif", "yaml": "*.yaml *.yml",
	}
})

// below lists the files that a command reads in a folder; nil when nobody can
// look. named is the folder as it is reached.
func (r *Recorder) below(dir, named string, p pick) *policy.Below {
	if r.World.Tree == nil {
		return nil
	}
	out := &policy.Below{}
	add := func(rel string) {
		at := policy.Place{Path: strings.TrimSuffix(dir, "/") + "/" + rel}
		at.Tracked = policy.HoldsSecrets(at.Path) && r.isTracked(at.Path)
		if named != dir && named != "" {
			at.Named = strings.TrimSuffix(named, "/") + "/" + rel
		}
		out.Paths = append(out.Paths, at)
	}
	if p.tracked && r.World.Tracked != nil {
		if files, ok := r.World.Tracked(dir, world.MaxListed); ok {
			for _, f := range files {
				if rel, in := strings.CutPrefix(f, strings.TrimSuffix(dir, "/")+"/"); in {
					add(rel)
				}
			}
			return out
		}
	}
	var l world.Listing
	ok := false
	if p.kept {
		l, ok = r.Searched(dir)
	}
	if !ok {
		l, ok = r.Tree(dir)
	}
	if !ok {
		out.Short = fmt.Sprintf("there are more than %d files to look at", world.MaxListed)
		return out
	}
	for _, e := range l.Entries {
		if p.keeps(e, l.Unhides) {
			add(e.Name)
		}
	}
	r.linkedBelow(dir, p, out)
	return out
}

// isTracked reports whether git may have the content of a file.
func (r *Recorder) isTracked(file string) bool {
	if r.World.Repo != nil {
		if _, _, ok := r.Repo(path.Dir(file)); !ok {
			return false
		}
	}
	files, ok := r.Tracked(r.GitTop(path.Dir(file)))
	return !ok || slices.Contains(files, file)
}

// fill adds to reads of trees what they read there.
func (u *Invocation) fill(acts []policy.Action) []policy.Action {
	for i, a := range acts {
		if a, ok := a.(policy.Read); ok && a.Tree && !a.List && a.Below == nil {
			if a.Below = u.r.below(a.Path, a.Named, u.pick); a.Below != nil && a.Below.Short != "" {
				a.Visible = false // by ignore files that were not looked at
			}
			acts[i] = a
		}
	}
	return acts
}

// A making collects the paths that a copy makes.
type making struct {
	u     *Invocation
	deep  bool // with what is in folders
	links bool // a link that is a source is made anew, not followed
	below policy.Below
	// why says what is not known, "" when all is.
	why string
}

// source adds the paths that copying t makes. dsts are the places where it may come
// to stand: more than one where systems differ.
func (m *making) source(t target, dsts []string) {
	r := m.u.r
	parent, err := r.Real(path.Dir(t.Named))
	if err != nil || m.links && path.Join(parent, path.Base(t.Named)) != t.Real {
		m.why = t.Asked + " is a link, which would stand in another place"
	}
	var l world.Listing
	if m.deep && r.IsFolder(t.Real) {
		ok := false
		if l, ok = r.Tree(t.Real); !ok {
			m.why = "what is in " + t.Asked + " is not known, or too much"
		}
		if slices.ContainsFunc(r.Wrote, func(p string) bool { return policy.Within(t.Real, p, true) }) {
			m.why = "what is in " + t.Asked + " by then is not known"
		}
	} else if len(r.Glob(world.EscapeGlob(t.Real))) == 0 {
		m.why = t.Asked + " is not there yet"
		if !m.deep {
			m.why = "" // one file, whatever it holds
		}
	}
	for _, dst := range dsts {
		m.add(dst)
		for _, e := range l.Entries {
			if e.Link {
				m.why = "there are links in " + t.Asked
			}
			if m.add(dst + "/" + e.Name); m.why != "" && len(m.below.Paths) > maxMade {
				return
			}
		}
	}
}

func (m *making) add(named string) {
	if len(m.below.Paths) > maxMade {
		m.why = fmt.Sprintf("it makes more than %d files", maxMade)
		return
	}
	named = path.Clean(named)
	real, err := m.u.r.Real(named)
	if err != nil {
		m.why = err.Error()
		return
	}
	p := policy.Place{Path: real}
	if real != named {
		p.Named = named
	}
	m.below.Paths = append(m.below.Paths, p)
}

// copied adds the destination of a copy with every path that is made there. It
// returns why that is not all, "" when it is.
func (u *Invocation) copied(dst Word, srcs []Word, deep, links bool) (why string) {
	if dst.Kind != Exact {
		return "where it writes is not known"
	}
	m := making{u: u, deep: deep, links: links}
	for _, s := range srcs {
		if s.Kind != Exact && s.Kind != Pattern {
			u.mayTouch(dst)
			m.why = "what it copies is not known"
			continue
		}
		for _, from := range u.sources(s) {
			for _, to := range u.r.Resolve(dst, u.dirs) {
				m.source(from, u.places(s, from, to))
			}
		}
	}
	u.put(dst, policy.Write{Below: &m.below})
	return m.why
}

// sources is what a word names now.
func (u *Invocation) sources(s Word) []target {
	found := u.r.Resolve(s, u.dirs)
	if s.Kind != Pattern {
		return found
	}
	// The first is the folder that is listed, for each folder the shell may be in.
	names, _ := u.r.matches(s.Text, u.dirs)
	return slices.DeleteFunc(found, func(t target) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return path.Clean(n) == t.Named })
	})
}

// places are where a source comes to stand when it is copied to dst.
func (u *Invocation) places(s Word, from, dst target) []string {
	name := from.Asked
	if u.has("--parents") {
		return []string{dst.Named + "/" + strings.TrimLeft(name, "/")}
	}
	inside := []string{dst.Named + "/" + path.Base(path.Clean(from.Named))}
	switch last := name[strings.LastIndexByte(strings.TrimRight(name, "/"), '/')+1:]; {
	case strings.TrimRight(last, "/") == "." || strings.TrimRight(last, "/") == "..":
		inside = []string{dst.Named}
	case strings.HasSuffix(name, "/") && s.Kind == Exact:
		inside = append(inside, dst.Named) // on some systems, and for rsync
	}
	switch {
	case u.has("-T", "--no-target-directory"):
		return []string{dst.Named}
	case u.r.IsFolder(dst.Real):
		return inside
	case u.has("-t", "--target-directory") || len(u.args) > 2:
		return inside
	case len(u.r.Glob(world.EscapeGlob(dst.Real))) > 0:
		return []string{dst.Named}
	}
	return append(inside, dst.Named) // an earlier command may make the folder
}

// starts adds the trees whose files find hands to a program.
func (u *Invocation) starts(ws []Word) {
	n := slices.IndexFunc(ws, func(w Word) bool { return strings.HasPrefix(w.Text, "-") || w.Is("(") || w.Is("!") })
	if n <= 0 {
		u.get(Lit("."), policy.Read{Tree: true})
	}
	for _, w := range ws[:max(n, 0)] {
		if w.Kind == Exact || w.Kind == Pattern {
			u.get(w, policy.Read{Tree: true})
		}
	}
}

// ofCommits are git's subcommands that print what is in the repository, whatever their
// arguments name.
var ofCommits = map[string]bool{"log": true, "show": true, "rev-parse": true, "rev-list": true, "ls-tree": true, "diff-tree": true, "merge-base": true}

// ReadsBelow adds that files below the folder a command runs in are read, by names
// that come from elsewhere.
func (u *Invocation) ReadsBelow(ws []Word) {
	u.pick.tracked = len(ws) > 1 && ws[0].Is("git") && ws[1].Kind == Exact && ofCommits[ws[1].Text]
	u.get(Lit("."), policy.Read{Tree: true, Elsewhere: true})
}

// NamesOnly reports a program that reads no content of the files it is given.
func NamesOnly(name string) bool {
	switch name {
	case "echo", "printf", "basename", "dirname", "realpath", "readlink", "stat", "ls", "test", "[", "rm", "rmdir", "mv", "touch", "mkdir", "chmod", "chown", "ln", "du", "true", "kill":
		return true
	}
	return false
}
