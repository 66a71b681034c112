package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// Bounds of what is followed of the links that one script makes.
const (
	maxMadeLinks = 60
	maxThrough   = 40
)

// A madeLink is a link that a command of the script makes, or moves, and that is not
// there while the script is read.
type madeLink struct {
	at    string // where it stands: its folder resolved
	named string // the same as it was written
	to    string // where it leads, absolute, not resolved; "" when not known
}

// linked notes a link. That it is made is not sure, so that its name goes on to stand
// for what is there now as well.
func (r *Recorder) linked(named, to string) {
	parent, err := r.Real(path.Dir(named))
	if err != nil {
		return
	}
	named = path.Clean(named)
	for _, above := range append([]string{parent}, r.Through(path.Dir(named))...) {
		l := madeLink{at: path.Join(above, path.Base(named)), named: named, to: to}
		switch {
		case to != "" && path.Clean(to) == l.at, slices.Contains(r.links, l):
		case len(r.links) >= maxMadeLinks:
			r.Opaque(Clip(r.Source), "it makes too many links to follow")
		default:
			r.links = append(r.links, l)
		}
	}
}

// Links is how many links commands so far have made.
func (r *Recorder) Links() int { return len(r.links) }

// Through lists what an absolute path also leads to, through links that commands before
// have made; links resolved.
func (r *Recorder) Through(full string) []string {
	var out []string
	for _, p := range r.alternatives(full, false) {
		if real, err := r.Real(p); err == nil && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// alternatives are the paths, or patterns, that one stands for when the links are
// there. One that leads nobody knows where may lead to any place: to / above all.
func (r *Recorder) alternatives(full string, glob bool) (out []string) {
	if len(r.links) == 0 {
		return nil
	}
	for todo := []string{full}; len(todo) > 0; todo = todo[1:] {
		segs := strings.Split(todo[0], "/")
		for n := 2; n <= len(segs); n++ {
			prefix := strings.Join(segs[:n], "/")
			for _, l := range r.links {
				if segs[n-1] == "" || !r.leadsTo(prefix, l, glob) {
					continue
				}
				to := l.to
				if to == "" {
					lost := Word{Kind: Unknown, Tail: "/" + strings.Join(segs[n:], "/"), Source: path.Base(l.at)}
					r.OpaqueListed(lost.Source, "it is a link, and where it leads is not known before it runs")
					r.MayName(lost, nil, false)
					r.MayName(lost, nil, true)
				}
				if glob {
					to = world.EscapeGlob(to)
				}
				next := strings.TrimSuffix(to, "/") + "/" + strings.Join(segs[n:], "/")
				if len(segs) == n && to != "" && to != "/" {
					next = to
				}
				if next == full || slices.Contains(out, next) {
					continue
				}
				if len(out) >= maxThrough {
					r.Opaque(Clip(r.Source), "it goes through too many links that it makes")
					return out
				}
				out, todo = append(out, next), append(todo, next)
			}
		}
	}
	return out
}

// linkedBelow adds to what a command reads in a folder what the links there lead to,
// one folder deep in links.
func (r *Recorder) linkedBelow(dir string, p pick, out *policy.Below) {
	for _, l := range r.links {
		if l.to == "" || !policy.Within(dir, l.at, false) || l.at == dir {
			continue
		}
		to, err := r.Real(l.to)
		if err != nil || policy.Within(dir, to, false) {
			continue
		}
		if len(r.Glob(world.EscapeGlob(to))) > 0 && !r.IsFolder(to) {
			out.Paths = append(out.Paths, policy.Place{Path: to, Named: l.at})
			continue
		}
		below, ok := r.Tree(to)
		if !ok {
			out.Short = "there is too much behind " + l.named + " to look at"
			continue
		}
		for _, e := range below.Entries {
			if p.keeps(e, true) {
				out.Paths = append(out.Paths, policy.Place{Path: path.Join(to, e.Name), Named: path.Join(l.at, e.Name)})
			}
		}
	}
}

// leadsTo reports whether a path or pattern may name a link itself.
func (r *Recorder) leadsTo(p string, l madeLink, glob bool) bool {
	if glob && world.GlobBase(p+"/*") != unescaped(p) {
		for _, at := range []string{l.at, l.named} {
			if fits, _ := path.Match(strings.ReplaceAll(path.Clean(p), "[!", "[^"), at); fits {
				return true
			}
		}
		return false
	}
	if glob {
		p = unescaped(p)
	}
	if c := path.Clean(p); strings.EqualFold(c, l.named) || strings.EqualFold(c, l.at) {
		return true
	}
	if !strings.EqualFold(path.Base(p), path.Base(l.at)) {
		return false
	}
	parent, err := r.Real(path.Dir(strings.TrimSuffix(p, "/")))
	return err == nil && strings.EqualFold(path.Join(parent, path.Base(p)), l.at)
}

// unescaped is a pattern without the backslashes that make characters literal.
func unescaped(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' && i+1 < len(p) {
			i++
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// linksMade notes the links that ln, cp and mv make, whatever else of them is known.
func (u *Invocation) linksMade(ws []Word) {
	row := u.r.Table.of(u.name).changes
	if row == nil || u.name != "ln" && u.name != "cp" && u.name != "mv" {
		return
	}
	c := &Invocation{r: u.r, dirs: u.dirs, name: u.name, row: &row.command}
	if c.parse(&row.command, ws[1:]) != "" {
		c.args = nil
		for _, w := range ws[1:] { // -t is a flag that is known
			if w.Kind != Exact || !strings.HasPrefix(w.Text, "-") {
				c.args = append(c.args, w)
			}
		}
	}
	into, from := c.destination()
	if len(c.args) == 1 && u.name == "ln" {
		into, from = []Word{Lit(".")}, c.args
	}
	if len(into) == 0 {
		return
	}
	dirs := u.dirs
	if len(dirs) == 0 {
		dirs = []string{u.r.World.Dir}
	}
	for _, d := range dirs {
		for _, s := range from {
			c.standsAt(d, into[0], s)
		}
	}
}

// standsAt notes the link that is made of a source: under the name it is given, or in
// the folder of that name.
func (u *Invocation) standsAt(dir string, into, src Word) {
	if into.Kind != Exact || into.Text == "" {
		return
	}
	at := absolute(dir, into.Text)
	folder := false
	if real, err := u.r.Real(at); err == nil {
		folder = u.r.IsFolder(real) && !slices.Contains(u.r.Wrote, real)
	}
	if !folder || u.has("-T", "--no-target-directory") {
		for _, to := range u.leads(dir, path.Dir(at), src) {
			u.r.linked(at, to)
		}
	}
	if name := path.Base(src.Text); src.Kind == Exact && name != "." && name != ".." && name != "/" {
		for _, to := range u.leads(dir, at, src) {
			u.r.linked(at+"/"+name, to)
		}
	}
}

// leads are the places that a link in a folder leads to which is made of a source, ""
// for one that is not known; none where no link is made.
func (u *Invocation) leads(dir, folder string, src Word) []string {
	switch {
	case u.name == "ln" || u.has("-s", "--symbolic-link", "-l", "--link"):
		switch {
		case src.Kind != Exact:
			return []string{""}
		case u.name != "ln" || u.has("-r", "--relative"):
			return []string{absolute(dir, src.Text)}
		case u.has("-s", "--symbolic"):
			return []string{absolute(folder, src.Text)}
		}
		return []string{absolute(folder, src.Text), absolute(dir, src.Text)} // of flags that are not known, -s may be one
	case u.name == "mv" || u.has("-a", "-d", "-P", "-r", "-R", "--archive", "--recursive", "--no-dereference"):
		return u.carried(dir, folder, src)
	}
	return nil
}

// carried are the places that links lead to which are moved or copied as such.
func (u *Invocation) carried(dir, folder string, src Word) (out []string) {
	if src.Kind != Exact && src.Kind != Pattern {
		return nil
	}
	var found []target
	u.r.apart(func() { found = u.r.Resolve(src, []string{dir}) })
	for _, t := range found {
		parent, err := u.r.Real(path.Dir(t.Named))
		if err != nil || t.Real == path.Join(parent, path.Base(t.Named)) {
			continue
		}
		if out = append(out, t.Real); path.Clean(folder) != path.Dir(t.Named) {
			out = append(out, "") // what it says may count from its own folder
		}
	}
	return out
}

// absolute is a path from a folder, not resolved.
func absolute(dir, p string) string {
	if path.IsAbs(p) {
		return p
	}
	return strings.TrimSuffix(dir, "/") + "/" + p
}
