package shellread

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// read adds a Read of a word in every folder the shell may stand in. like
// carries the other fields.
func (r *reader) read(w word, st state, like policy.Read) {
	if w.fd {
		return
	}
	for _, p := range r.resolve(w, st) {
		a := like
		a.Path, a.Named, a.Asked = p.real, p.named, p.asked
		if safeDevice(p.named) {
			continue
		}
		r.add(a)
	}
}

// safeDevice is the device that gives nothing away, and ends.
func safeDevice(p string) bool { return p == "/dev/null" }

func (r *reader) write(w word, st state, like policy.Write) {
	if w.fd {
		return
	}
	for _, p := range r.resolve(w, st) {
		a := like
		a.Path, a.Named, a.Asked = p.real, p.named, p.asked
		if p.named == "/dev/null" && !a.Remove {
			continue
		}
		r.add(a)
	}
}

// A target is one path that a word may mean.
type target struct{ asked, named, real string }

// resolve lists what a word may name, and notes what cannot be known.
func (r *reader) resolve(w word, st state) []target {
	switch w.kind {
	case exact:
		return r.resolveText(w.text, w.src, st)
	case pattern:
		return r.resolveGlob(w, st)
	case unset, number, unknown:
	}
	r.opaque(w.src, "a path that is worked out when it runs")
	return nil
}

func (r *reader) resolveText(text, src string, st state) []target {
	if text == "" {
		return nil
	}
	if filepath.IsAbs(text) {
		return r.resolveIn("", text, src)
	}
	if len(st.dirs) == 0 {
		r.opaque(src, "the folder this runs in is not known")
		return nil
	}
	var out []target
	for _, d := range st.dirs {
		out = append(out, r.resolveIn(d, text, src)...)
	}
	return out
}

func (r *reader) resolveIn(dir, text, src string) []target {
	full := text
	if dir != "" {
		full = strings.TrimSuffix(dir, "/") + "/" + text
	}
	named := path.Clean(full)
	real, err := r.real(full)
	if err != nil {
		r.opaque(src, err.Error())
		return nil
	}
	return []target{{asked: text, named: named, real: real}}
}

func (r *reader) real(p string) (string, error) {
	if r.w.Real == nil {
		return path.Clean(p), nil
	}
	if got, ok := r.reals[p]; ok {
		return got.path, got.err
	}
	var got resolved
	got.path, got.err = r.w.Real(p)
	if r.reals == nil {
		r.reals = map[string]resolved{}
	}
	r.reals[p] = got
	return got.path, got.err
}

// resolved is what World.Real said of a path; a script is read against one
// state of the file system.
type resolved struct {
	path string
	err  error
}

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

// cd moves the shell: ok is where it stands when that worked.
func (r *reader) cd(args []word, st state) (ok, any state) {
	for len(args) > 0 && args[0].kind == exact && slices.Contains([]string{"-L", "-P", "-e", "--"}, args[0].text) {
		args = args[1:]
	}
	to := word{kind: exact, text: r.w.Home, src: "cd"}
	switch {
	case len(args) > 1 || len(args) == 1 && (args[0].kind != exact || args[0].many):
		return r.lost("the folder cd goes to is not known", args, st)
	case len(args) == 1 && args[0].text == "-":
		if len(st.old) == 0 {
			return r.lost("the folder cd goes back to is not known", args, st)
		}
		ok = st
		ok.dirs, ok.old = st.old, st.dirs
		r.readDirs(ok, "-")
		return ok, ok
	case len(args) == 1 && (args[0].text == "" || strings.HasPrefix(args[0].text, "-") || strings.HasPrefix(args[0].text, "+")):
		return r.lost("a form of cd that is not known", args, st)
	case len(args) == 1:
		to = args[0]
	case r.w.Home == "" || st.vars["HOME"].kind != unset:
		return r.lost("the folder cd goes to is not known", args, st)
	}
	if st.linked && strings.Contains(to.text, "..") {
		return r.lost("cd .. behind a link goes by names", args, st)
	}
	found := r.resolve(to, st)
	if len(found) == 0 {
		return r.lost("the folder cd goes to is not known", args, st)
	}
	ok, sure := st, true
	ok.old, ok.dirs = st.dirs, nil
	for _, t := range found {
		r.add(policy.Read{Path: t.real, Named: t.named, Asked: t.asked, List: true})
		if !slices.Contains(ok.dirs, t.real) {
			ok.dirs = append(ok.dirs, t.real)
		}
		// cd goes by names, everything else by places: after cd link, "cd .."
		// leaves the link, and "cat ../x" the folder it leads to.
		if t.real != t.named {
			ok.linked = true
		}
		sure = sure && r.isFolder(t.real)
	}
	if sure {
		return ok, ok
	}
	return ok, merge(st, ok)
}

func (r *reader) readDirs(st state, asked string) {
	for _, d := range st.dirs {
		r.add(policy.Read{Path: d, Asked: asked, List: true})
	}
}

func (r *reader) lost(why string, args []word, st state) (ok, any state) {
	src := "cd"
	for _, a := range args {
		src += " " + a.src
	}
	r.opaque(src, why)
	st.old, st.dirs = st.dirs, nil
	return st, st
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
