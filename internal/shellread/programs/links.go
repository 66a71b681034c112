package programs

import (
	"slices"

	"github.com/adze-agent/adze/internal/shellread/world"
)

// linksBelow says why a command that follows links out of the folders it walks
// is not confined to them: one of them holds a link, or too much to look at.
func (u *Invocation) linksBelow(folders []Word) string {
	if u.r.Links() > 0 {
		return u.name + " follows links, and the commands before it make some"
	}
	for _, w := range folders {
		if w.Kind != Exact && w.Kind != Pattern {
			return w.Source + " is not known before it runs"
		}
		var found []target
		u.r.apart(func() { found = u.r.Resolve(w, u.dirs) })
		for _, t := range found {
			if !u.r.IsFolder(t.Real) {
				continue
			}
			if l, ok := u.r.Tree(t.Real); !ok || slices.ContainsFunc(l.Entries, func(e world.Entry) bool { return e.Link }) {
				return u.name + " follows links, and below " + w.Source + " there are some, or too many files to know"
			}
		}
	}
	return ""
}
