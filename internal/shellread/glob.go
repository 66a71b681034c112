package shellread

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// resolveGlob lists the glob's folder and its matches, links resolved.
func (r *reader) resolveGlob(w word, st state) []target {
	var out []target
	dirs := st.dirs
	if strings.HasPrefix(w.text, "/") {
		dirs = []string{""}
	}
	if len(dirs) == 0 {
		r.opaque(w.src, "the folder this runs in is not known")
		return nil
	}
	for _, d := range dirs {
		full := w.text
		if strings.Contains(full, "***/") {
			r.opaque(w.src, "zsh follows links to any depth for ***/")
		}
		if d != "" {
			full = escapeGlob(strings.TrimSuffix(d, "/")) + "/" + w.text
		}
		matches := r.glob(full)
		if matches == nil {
			r.opaque(w.src, "what this pattern matches is not known")
			continue
		}
		if r.matched += len(matches); r.matched > maxMatched {
			r.opaque(clip(r.src), "its patterns match too many files")
			continue
		}
		out = append(out, r.resolveIn("", globBase(full), w.src)...)
		for _, m := range matches {
			out = append(out, r.resolveIn("", m, w.src)...)
		}
	}
	return out
}

func (r *reader) glob(full string) []string {
	if r.w.Glob == nil {
		return nil
	}
	if got, ok := r.globs[full]; ok {
		return got
	}
	got := r.w.Glob(full)
	if r.globs == nil {
		r.globs = map[string][]string{}
	}
	r.globs[full] = got
	return got
}

// globBase is the folder of a pattern above its first wildcard.
func globBase(p string) string {
	var out []string
	for _, seg := range strings.Split(p, "/") {
		plain, wild := strings.Builder{}, false
		for i := 0; i < len(seg); i++ {
			if strings.IndexByte("*?[", seg[i]) >= 0 {
				wild = true
				break
			}
			if seg[i] == '\\' && i+1 < len(seg) {
				i++
			}
			plain.WriteByte(seg[i])
		}
		if wild {
			break
		}
		out = append(out, plain.String())
	}
	base := strings.Join(out, "/")
	if base == "" {
		return "/"
	}
	return base
}

func escapeGlob(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// there reports whether something of that name is there now.
func (r *reader) there(w word, st state) bool {
	saved := r.acts
	defer func() { r.acts = saved }()
	for _, t := range r.resolve(w, st) {
		if len(r.glob(escapeGlob(t.real))) > 0 {
			return true
		}
	}
	return false
}

// isFolder reports whether a folder is surely there now.
func (r *reader) isFolder(p string) bool {
	if r.w.Glob == nil {
		return false
	}
	return len(r.glob(escapeGlob(p)+"/.")) > 0
}

// touchGlob notes that bash lists folders to expand a word, whatever the
// command does with it.
func (r *reader) touchGlob(w word, st state) {
	if w.kind != pattern {
		return
	}
	dirs := st.dirs
	if strings.HasPrefix(w.text, "/") {
		dirs = []string{""}
	}
	if len(dirs) == 0 {
		r.opaque(w.src, "the folder this runs in is not known")
	}
	for _, d := range dirs {
		full := w.text
		if d != "" {
			full = escapeGlob(strings.TrimSuffix(d, "/")) + "/" + w.text
		}
		for _, t := range r.resolveIn("", globBase(full), w.src) {
			r.add(policy.Read{Path: t.real, Named: t.named, Asked: w.src, List: true})
		}
	}
}

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
		todo := u.r.resolve(w, u.st)
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

// cleanMatches reports whether every match of a pattern is a single word that
// holds nothing to split or expand further.
func (r *reader) cleanMatches(pattern string, st state) bool {
	matches, ok := r.matches(pattern, st)
	if !ok || len(matches) == 0 {
		return false
	}
	for _, m := range matches {
		if strings.ContainsAny(m, " \t\n*?[\\") {
			return false
		}
	}
	return true
}

// matchNames is how the matches of a pattern without a folder before it are
// spelled: from where the shell stands.
func (r *reader) matchNames(pattern string, st state) (names []string, ok bool) {
	if len(st.dirs) == 0 {
		return nil, false
	}
	for _, d := range st.dirs {
		prefix := strings.TrimSuffix(d, "/") + "/"
		got := r.glob(escapeGlob(prefix) + pattern)
		if got == nil {
			return nil, false
		}
		for _, m := range got {
			if m = strings.TrimPrefix(m, prefix); m != "" {
				names = append(names, m)
			}
		}
	}
	return names, true
}

func (r *reader) noMatches(pattern string, st state) bool {
	matches, ok := r.matches(pattern, st)
	return ok && len(matches) == 0
}

// matches lists what a pattern matches now, in every folder the shell may
// stand in; ok is false when that is not known.
func (r *reader) matches(pattern string, st state) (all []string, ok bool) {
	dirs := st.dirs
	if strings.HasPrefix(pattern, "/") {
		dirs = []string{""}
	}
	if len(dirs) == 0 {
		return nil, false
	}
	for _, d := range dirs {
		full := pattern
		if d != "" {
			full = escapeGlob(strings.TrimSuffix(d, "/")) + "/" + pattern
		}
		got := r.glob(full)
		if got == nil {
			return nil, false
		}
		all = append(all, got...)
	}
	return all, true
}
