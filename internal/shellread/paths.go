package shellread

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// cd moves the shell: ok is where it stands when that worked.
func (r *reader) cd(args []word, st state) (ok, any state) {
	for len(args) > 0 && args[0].Kind == exact && slices.Contains([]string{"-L", "-P", "-e", "--"}, args[0].Text) {
		args = args[1:]
	}
	to := word{Kind: exact, Text: r.World.Home, Source: "cd"}
	switch {
	case len(args) == 1 && args[0].Kind == pattern:
		return r.cdMatch(args[0], st)
	case len(args) > 1 || len(args) == 1 && (args[0].Kind != exact || args[0].Many):
		return r.folderUnknown("the folder cd goes to is not known", args, st)
	case len(args) == 1 && args[0].Text == "-":
		if len(st.old) == 0 {
			return r.folderUnknown("the folder cd goes back to is not known", args, st)
		}
		ok = st
		ok.dirs, ok.old = st.old, st.dirs
		r.readDirs(ok, "-")
		return ok, ok
	case len(args) == 1 && (args[0].Text == "" || strings.HasPrefix(args[0].Text, "-") || strings.HasPrefix(args[0].Text, "+")):
		return r.folderUnknown("a form of cd that is not known", args, st)
	case len(args) == 1:
		to = args[0]
	case r.World.Home == "" || st.vars["HOME"].kind != unset:
		return r.folderUnknown("the folder cd goes to is not known", args, st)
	}
	if st.linked && strings.Contains(to.Text, "..") {
		return r.folderUnknown("cd .. behind a link goes by names", args, st)
	}
	found := r.Resolve(to, st.dirs)
	for _, dir := range r.searched(to.Text, st) {
		found = append(found, r.Resolve(lit(path.Join(dir, to.Text)), st.dirs)...)
	}
	if len(found) == 0 {
		return r.folderUnknown("the folder cd goes to is not known", args, st)
	}
	ok, sure := st, true
	ok.old, ok.dirs = st.dirs, nil
	for _, t := range found {
		r.Add(policy.Read{Path: t.Real, Named: t.Named, Asked: t.Asked, List: true})
		if !slices.Contains(ok.dirs, t.Real) {
			ok.dirs = append(ok.dirs, t.Real)
		}
		// cd goes by names, everything else by places: after cd link, "cd .."
		// leaves the link, and "cat ../x" the folder it leads to.
		if t.Real != t.Named {
			ok.linked = true
		}
		sure = sure && r.IsFolder(t.Real)
	}
	if sure {
		return ok, ok
	}
	return ok, merge(st, ok)
}

// searched are the folders of a CDPATH that the script sets, in which cd looks for a
// folder first.
func (r *reader) searched(to string, st state) []string {
	list := ""
	if v := st.vars["CDPATH"]; v.kind == exact {
		list = v.text
	}
	for _, e := range r.env {
		if val, ok := strings.CutPrefix(e, "CDPATH="); ok {
			list = val
		}
	}
	first, _, _ := strings.Cut(to, "/")
	if list == "" || first == "" || first == "." || first == ".." {
		return nil
	}
	return strings.Split(list, ":")
}

// cdMatch is cd to what a pattern matches: one of the folders that it matches now, as
// far as anybody can say.
func (r *reader) cdMatch(to word, st state) (ok, any state) {
	const why = "the folder cd goes to is not known"
	found := r.Resolve(to, st.dirs)
	ok, any = r.folderUnknown(why, []word{to}, st)
	for _, t := range found {
		if fit, _ := path.Match(path.Base(to.Text), path.Base(t.Named)); fit && r.IsFolder(t.Real) && !slices.Contains(ok.dirs, t.Real) {
			ok.dirs = append(ok.dirs, t.Real)
		}
	}
	any.dirs = ok.dirs
	return ok, any
}

func (r *reader) readDirs(st state, asked string) {
	for _, d := range st.dirs {
		r.Add(policy.Read{Path: d, Asked: asked, List: true})
	}
}

func (r *reader) folderUnknown(why string, args []word, st state) (ok, any state) {
	src := "cd"
	for _, a := range args {
		src += " " + a.Source
	}
	r.OpaqueListed(src, why)
	st.old, st.dirs = st.dirs, nil
	return st, st
}

// tilde replaces a leading ~ and returns what is left of s.
func (r *reader) tilde(b *builder, s string, last bool, st state) string {
	name, rest, slash := strings.Cut(s[1:], "/")
	if name != "" || !slash && !last {
		r.Opaque(s, "the home folder of another user, or a folder the shell remembers")
		return r.remembered(b, name, rest, slash, st)
	}
	if v, set := st.vars["HOME"]; set || r.World.Home == "" {
		_ = v
		r.Opaque(s, "HOME is changed")
		b.unknown(false)
		return ""
	}
	b.quoted = true
	b.add(r.World.Home)
	if slash {
		return "/" + rest
	}
	return ""
}

// remembered adds what ~+, ~- and ~NAME stand for, as far as that is known, and
// returns what is left of the word.
func (r *reader) remembered(b *builder, name, rest string, slash bool, st state) string {
	at := ""
	switch {
	case name == "+":
		at = "." // whichever folder that is
		if len(st.dirs) == 1 {
			at = st.dirs[0]
		}
	case name == "-" && len(st.old) == 1:
		at = st.old[0]
	case r.World.Home != "" && path.Base(r.World.Home) == name:
		at = r.World.Home
	}
	b.quoted = true
	if at == "" {
		b.unknown(false)
	} else {
		b.add(at)
	}
	if slash {
		return "/" + rest
	}
	return ""
}
