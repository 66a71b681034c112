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
