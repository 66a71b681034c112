package shellread

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// Bounds of the trees that one script reads or makes.
const (
	maxBelow = 50_000 // entries listed
	maxMade  = 5_000  // paths that its copies make
)

// A pick says which files of a tree a command reads. The zero value is all.
type pick struct {
	tracked bool // those that git tracks
	visible bool // not what begins with a dot, as far as ignore files leave it so
	typed   bool // with visible: files that begin with a dot are read all the same
	// names and without are patterns of base names: those read (all when there
	// are none), and those not. folders are patterns of folders not entered.
	names, without, folders []string
}

// keeps reports whether a file or link of a listing is read.
func (p pick) keeps(e Entry, unhides bool) bool {
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
func (u *use) plainPatterns(flags ...string) (out []string, ok bool) {
	for _, f := range u.flags {
		if !slices.Contains(flags, f.name) {
			continue
		}
		if f.val.kind != exact || f.val.text == "" || strings.Trim(f.val.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-*?") != "" {
			return nil, false
		}
		out = append(out, f.val.text)
	}
	return out, true
}

// pickGrep is what grep -r reads: of flags that contradict each other the
// order decides, so that both together count for nothing.
func (u *use) pickGrep() {
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
func (u *use) pickRg() {
	u.visible = !u.has("--hidden", "-.", "-u", "-uu", "--unrestricted", "--iglob", "--type-add")
	names, drops := []string{}, 0
	for _, f := range u.flags {
		switch f.name {
		case "-g", "--glob":
			if f.val.kind == exact && strings.HasPrefix(f.val.text, "!") {
				drops++
				continue
			}
			names, u.visible = append(names, f.val.text), false
		case "-t", "--type":
			globs := rgTypes[f.val.text]
			u.visible = u.visible && f.val.kind == exact && globs != ""
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
var rgTypes = map[string]string{
	"go": "*.go", "py": "*.py *.pyi", "rust": "*.rs", "java": "*.java *.jsp *.jspx *.properties", "js": "*.js *.jsx *.vue *.cjs *.mjs",
	"ts": "*.ts *.tsx *.cts *.mts", "md": "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn", "markdown": "*.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn",
	"html": "*.htm *.html *.ejs", "css": "*.css *.scss", "sql": "*.sql *.psql", "json": "*.json composer.lock *.sarif", "yaml": "*.yaml *.yml",
}

// below lists the files that a command reads in a folder; nil when nobody can
// look. named is the folder as it is reached.
func (r *recorder) below(dir, named string, p pick) *policy.Below {
	if r.world.Tree == nil {
		return nil
	}
	out := &policy.Below{}
	add := func(rel string) {
		at := policy.Place{Path: strings.TrimSuffix(dir, "/") + "/" + rel}
		if named != dir && named != "" {
			at.Named = strings.TrimSuffix(named, "/") + "/" + rel
		}
		out.Paths = append(out.Paths, at)
	}
	if p.tracked && r.world.Tracked != nil {
		if files, ok := r.world.Tracked(dir, maxBelow); ok {
			for _, f := range files {
				if rel, in := strings.CutPrefix(f, strings.TrimSuffix(dir, "/")+"/"); in {
					add(rel)
				}
			}
			return out
		}
	}
	l, ok := r.tree(dir)
	if !ok {
		out.Short = fmt.Sprintf("there are more than %d files to look at", maxBelow)
		return out
	}
	for _, e := range l.Entries {
		if p.keeps(e, l.Unhides) {
			add(e.Name)
		}
	}
	return out
}

// fill adds to reads of trees what they read there.
func (u *use) fill(acts []policy.Action) []policy.Action {
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
	u     *use
	deep  bool // with what is in folders
	links bool // a link that is a source is made anew, not followed
	below policy.Below
	// why says what is not known, "" when all is.
	why string
}

// into notes what one source, resolved, makes of dst, which is its place in
// the end. both places count where systems differ.
func (m *making) source(t target, dsts []string) {
	r := m.u.r
	parent, err := r.real(path.Dir(t.named))
	if err != nil || m.links && path.Join(parent, path.Base(t.named)) != t.real {
		m.why = t.asked + " is a link, which would stand in another place"
	}
	var l Listing
	if m.deep && r.isFolder(t.real) {
		ok := false
		if l, ok = r.tree(t.real); !ok {
			m.why = "what is in " + t.asked + " is not known, or too much"
		}
		if slices.ContainsFunc(r.wrote, func(p string) bool { return policy.Within(t.real, p, true) }) {
			m.why = "what is in " + t.asked + " by then is not known"
		}
	} else if len(r.glob(escapeGlob(t.real))) == 0 {
		m.why = t.asked + " is not there yet"
		if !m.deep {
			m.why = "" // one file, whatever it holds
		}
	}
	for _, dst := range dsts {
		m.add(dst)
		for _, e := range l.Entries {
			if e.Link {
				m.why = "there are links in " + t.asked
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
	real, err := m.u.r.real(named)
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
func (u *use) copied(dst word, srcs []word, deep, links bool) (why string) {
	if dst.kind != exact {
		return "where it writes is not known"
	}
	m := making{u: u, deep: deep, links: links}
	for _, s := range srcs {
		if s.kind != exact && s.kind != pattern {
			u.any(dst)
			m.why = "what it copies is not known"
			continue
		}
		for _, from := range u.sources(s) {
			for _, to := range u.r.resolve(dst, u.dirs) {
				m.source(from, u.places(s, from, to))
			}
		}
	}
	u.put(dst, policy.Write{Below: &m.below})
	return m.why
}

// sources is what a word names now.
func (u *use) sources(s word) []target {
	found := u.r.resolve(s, u.dirs)
	if s.kind != pattern {
		return found
	}
	// The first is the folder that is listed, for each folder the shell may be in.
	names, _ := u.r.matches(s.text, u.dirs)
	return slices.DeleteFunc(found, func(t target) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return path.Clean(n) == t.named })
	})
}

// places are where a source comes to stand when it is copied to dst.
func (u *use) places(s word, from, dst target) []string {
	name := from.asked
	if u.has("--parents") {
		return []string{dst.named + "/" + strings.TrimLeft(name, "/")}
	}
	inside := []string{dst.named + "/" + path.Base(path.Clean(from.named))}
	switch last := name[strings.LastIndexByte(strings.TrimRight(name, "/"), '/')+1:]; {
	case strings.TrimRight(last, "/") == "." || strings.TrimRight(last, "/") == "..":
		inside = []string{dst.named}
	case strings.HasSuffix(name, "/") && s.kind == exact:
		inside = append(inside, dst.named) // on some systems, and for rsync
	}
	switch {
	case u.has("-T", "--no-target-directory"):
		return []string{dst.named}
	case u.r.isFolder(dst.real):
		return inside
	case u.has("-t", "--target-directory") || len(u.args) > 2:
		return inside
	case len(u.r.glob(escapeGlob(dst.real))) > 0:
		return []string{dst.named}
	}
	return append(inside, dst.named) // an earlier command may make the folder
}
