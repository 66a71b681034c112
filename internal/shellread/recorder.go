package shellread

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// A recorder collects the actions of one script, and resolves the paths that
// its words name.
type recorder struct {
	cache
	table    *table
	src      string // the script, or the part of it that is being read
	acts     []policy.Action
	seen     map[string]bool // parts that were said to be unclear, with the reason
	unclear  bool            // something was Opaque
	unsafe   bool            // something is not read-only
	matched  int             // files that patterns named
	wrote    []string        // what commands so far write, resolved
	unpinned bool            // variables are taken away, maybe those that keep git from running programs
	piped    bool            // the command's input comes from a pipe
	fed      bool            // its arguments come from elsewhere (xargs)
}

// read adds a Read of a word in every folder the shell may stand in. like
// carries the other fields.
func (r *recorder) read(w word, dirs []string, like policy.Read) {
	if w.fd {
		return
	}
	for _, p := range r.resolve(w, dirs) {
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

func (r *recorder) write(w word, dirs []string, like policy.Write) {
	if w.fd {
		return
	}
	for _, p := range r.resolve(w, dirs) {
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
func (r *recorder) resolve(w word, dirs []string) []target {
	switch w.kind {
	case exact:
		return r.resolveText(w.text, w.src, dirs)
	case pattern:
		return r.resolveGlob(w, dirs)
	case unset, number, unknown:
	}
	r.opaque(w.src, "a path that is worked out when it runs")
	return nil
}

func (r *recorder) resolveText(text, src string, dirs []string) []target {
	if text == "" {
		return nil
	}
	if filepath.IsAbs(text) {
		return r.resolveIn("", text, src)
	}
	if len(dirs) == 0 {
		r.opaque(src, "the folder this runs in is not known")
		return nil
	}
	var out []target
	for _, d := range dirs {
		out = append(out, r.resolveIn(d, text, src)...)
	}
	return out
}

func (r *recorder) resolveIn(dir, text, src string) []target {
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

// resolveGlob lists the glob's folder and its matches, links resolved.
func (r *recorder) resolveGlob(w word, dirs []string) []target {
	var out []target
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

// there reports whether something of that name is there now.
func (r *recorder) there(w word, dirs []string) bool {
	saved := r.acts
	defer func() { r.acts = saved }()
	for _, t := range r.resolve(w, dirs) {
		if len(r.glob(escapeGlob(t.real))) > 0 {
			return true
		}
	}
	return false
}

// touchGlob notes that bash lists folders to expand a word, whatever the
// command does with it.
func (r *recorder) touchGlob(w word, dirs []string) {
	if w.kind != pattern {
		return
	}
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

// cleanMatches reports whether every match of a pattern is a single word that
// holds nothing to split or expand further.
func (r *recorder) cleanMatches(pattern string, dirs []string) bool {
	matches, ok := r.matches(pattern, dirs)
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
func (r *recorder) matchNames(pattern string, dirs []string) (names []string, ok bool) {
	if len(dirs) == 0 {
		return nil, false
	}
	for _, d := range dirs {
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

func (r *recorder) noMatches(pattern string, dirs []string) bool {
	matches, ok := r.matches(pattern, dirs)
	return ok && len(matches) == 0
}

// matches lists what a pattern matches now, in every folder the shell may
// stand in; ok is false when that is not known.
func (r *recorder) matches(pattern string, dirs []string) (all []string, ok bool) {
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

// add appends an action once.
func (r *recorder) add(a policy.Action) {
	switch a := a.(type) {
	case policy.Exec:
		if !a.ReadOnly {
			r.unsafe = true
		}
	case policy.Opaque:
		r.unclear = true
	case policy.Write:
		r.unsafe = true
		r.wrote = append(r.wrote, a.Path)
	case policy.Read, policy.Net, policy.Call, policy.Spawn, policy.Skill, policy.Person, policy.None:
	}
	if len(r.acts) >= maxActions {
		if !r.unclear {
			r.unclear = true
			r.acts = append(r.acts, policy.Opaque{Source: clip(r.src), Why: "it does too many things"})
		}
		// Commands are still listed: a deny rule must see them.
		if _, exec := a.(policy.Exec); !exec || len(r.acts) >= 4*maxActions {
			return
		}
	}
	r.acts = append(r.acts, a)
}

// opaque notes a part that cannot be read exactly.
func (r *recorder) opaque(source, why string) {
	key := source + "\x00" + why
	if r.seen[key] {
		return
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[key] = true
	r.add(policy.Opaque{Source: source, Why: why})
}

// clip bounds a piece of source for messages.
func clip(s string) string {
	const most = 400
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}
