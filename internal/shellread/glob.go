package shellread

import (
	"slices"
	"strings"
)

// maxLinks is how many names below a folder are looked at for links.
const maxLinks = 400

// linksBelow says why a command that follows links out of the folders it walks
// is not confined to them: one of them holds a link, or too much to look at.
func (u *use) linksBelow(folders []word) string {
	looked := 0
	for _, w := range folders {
		if w.kind != exact && w.kind != pattern {
			return w.src + " is not known before it runs"
		}
		saved := u.r.acts
		todo := u.r.resolve(w, u.dirs)
		u.r.acts = saved
		for len(todo) > 0 {
			at := todo[0].real
			todo = todo[1:]
			if !u.r.isFolder(at) {
				continue
			}
			if l, ok := u.r.tree(at); ok {
				if slices.ContainsFunc(l.Entries, func(e Entry) bool { return e.Link }) {
					return u.name + " follows links, and below " + w.src + " there are some"
				}
				continue
			}
			for _, p := range []string{"/*", "/.[!.]*", "/..?*"} {
				names := u.r.glob(escapeGlob(strings.TrimSuffix(at, "/")) + p)
				if names == nil {
					return "what is below " + w.src + " is not known"
				}
				for _, n := range names {
					real, err := u.r.real(n)
					if looked++; err != nil || real != n || looked > maxLinks {
						return u.name + " follows links, and below " + w.src + " there are some or too many files to know"
					}
					todo = append(todo, target{real: n})
				}
			}
		}
	}
	return ""
}
