package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/shellread/world"
)

// maxLinks is how many names below a folder are looked at for links.
const maxLinks = 400

// linksBelow says why a command that follows links out of the folders it walks
// is not confined to them: one of them holds a link, or too much to look at.
func (u *Invocation) linksBelow(folders []Word) string {
	looked := 0
	if u.r.Links() > 0 {
		return u.name + " follows links, and the commands before it make some"
	}
	for _, w := range folders {
		if w.Kind != Exact && w.Kind != Pattern {
			return w.Source + " is not known before it runs"
		}
		saved := u.r.Actions
		todo := u.r.Resolve(w, u.dirs)
		u.r.Actions = saved
		for len(todo) > 0 {
			at := todo[0].Real
			todo = todo[1:]
			if !u.r.IsFolder(at) {
				continue
			}
			if l, ok := u.r.Tree(at); ok {
				if slices.ContainsFunc(l.Entries, func(e world.Entry) bool { return e.Link }) {
					return u.name + " follows links, and below " + w.Source + " there are some"
				}
				continue
			}
			for _, p := range []string{"/*", "/.[!.]*", "/..?*"} {
				names := u.r.Glob(world.EscapeGlob(strings.TrimSuffix(at, "/")) + p)
				if names == nil {
					return "what is below " + w.Source + " is not known"
				}
				for _, n := range names {
					real, err := u.r.Real(n)
					if looked++; err != nil || real != n || looked > maxLinks {
						return u.name + " follows links, and below " + w.Source + " there are some or too many files to know"
					}
					todo = append(todo, target{Real: n})
				}
			}
		}
	}
	return ""
}
