package programs

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// Bounds of what one script may do.
const (
	maxActions = 4_000
	maxMatched = 3_000 // files that patterns name, each time they do
)

// A Recorder collects the actions of one script, and resolves the paths that
// its words name.
type Recorder struct {
	world.Cache
	Table  *Table
	Source string // the script, or the part of it that is being read
	Notes
	matched  int        // files that patterns named
	Wrote    []string   // what commands so far write, resolved
	Unpinned bool       // variables are taken away, maybe those that keep git from running programs
	Piped    bool       // the command's input comes from a pipe
	Fed      bool       // its arguments come from elsewhere (xargs)
	links    []madeLink // links that commands so far make
	Pulls    []Pull     // what commands so far pull
	itself   bool       // what is resolved is removed: a link, not what it leads to

	// Of is the command as the script has it that is being read, Pipe and Stage where it
	// stands in its pipeline: they go into what is added.
	Of          *policy.Written
	Pipe, Stage int

	processes int              // how often the path being resolved has gone through /proc
	fits      map[string]*fits // what words that are not known may name
	fitted    int              // names that were compared for that
	stand     map[string]*policy.Standing
}

// Notes are what was found so far.
type Notes struct {
	Actions []policy.Action
	Seen    map[string]bool // parts that were said to be unclear, with the reason
	Unclear bool            // something was Opaque
	Unsafe  bool            // something is not read-only
	touched int             // actions of commands, besides Actions
}

// Apart are notes for what is read beside what was found so far.
func (n Notes) Apart() Notes { return Notes{Unclear: n.Unclear, Unsafe: n.Unsafe} }

// Read adds a Read of a word in every folder the shell may stand in. like
// carries the other fields.
func (r *Recorder) Read(w Word, dirs []string, like policy.Read) {
	if w.Substitution {
		return
	}
	if !like.List {
		r.somewhere(w, dirs, false)
	}
	for _, p := range r.Resolve(w, dirs) {
		a := like
		a.Path, a.Named, a.Asked = p.Real, p.Named, p.Asked
		if safeDevice(p.Named) {
			continue
		}
		a.Folder = (policy.HoldsSecrets(a.Path) || policy.HoldsSecrets(a.Named)) && r.IsFolder(a.Path)
		r.Add(a)
	}
}

// safeDevice is the device that gives nothing away, and ends.
func safeDevice(p string) bool { return p == "/dev/null" }

// Write is Read for what is created, changed or removed.
func (r *Recorder) Write(w Word, dirs []string, like policy.Write) {
	if w.Substitution {
		return
	}
	r.somewhere(w, dirs, true)
	r.itself = like.Remove
	found := r.Resolve(w, dirs)
	r.itself = false
	for _, p := range found {
		a := like
		a.Path, a.Named, a.Asked = p.Real, p.Named, p.Asked
		if !a.Remove && (p.Named == "/dev/null" || p.Named == "/dev/stderr" || p.Named == "/dev/stdout") { // where the command itself prints
			continue
		}
		if a.Tree && a.Standing == nil {
			a.Standing = r.standing(a.Path, !a.Remove, nil)
		}
		r.Add(a)
	}
}

// InSession reports whether a word names something in the folders of the session and nothing
// else, and the script has written or linked nothing that could change that.
func (r *Recorder) InSession(w Word, dirs []string) (ok bool) {
	var at []target
	if more := r.apart(func() { at = r.Resolve(w, dirs) }); len(more) > 0 || r.Links() > 0 {
		return false
	}
	return len(at) > 0 && !slices.ContainsFunc(at, func(t target) bool { return !r.writable(t.Real) })
}

// apart are the actions that f adds, which are not added.
func (r *Recorder) apart(f func()) []policy.Action {
	saved := r.Actions
	r.Actions = nil
	f()
	added := r.Actions
	r.Actions = saved
	return added
}

// Record adds what was found out about something that is no command.
func (u *Invocation) Record() {
	for _, a := range u.Actions {
		u.r.Add(a)
	}
}

// A target is one path that a word may mean.
type target struct{ Asked, Named, Real string }

// isLink reports whether a command before has made a link of that name.
func (r *Recorder) isLink(named string) bool {
	return slices.ContainsFunc(r.links, func(l madeLink) bool { return l.at == named || l.named == named })
}

// Resolve lists what a word may name, and notes what cannot be known.
func (r *Recorder) Resolve(w Word, dirs []string) []target {
	switch w.Kind {
	case Exact:
		return r.resolveText(w.Text, w.Source, dirs)
	case Pattern:
		return r.resolveGlob(w, dirs)
	case Unset, Number, Unknown:
	}
	r.OpaqueListed(w.Source, "a path that is worked out when it runs")
	return nil
}

func (r *Recorder) resolveText(text, src string, dirs []string) []target {
	if text == "" {
		return nil
	}
	if filepath.IsAbs(text) || strings.HasPrefix(text, "/") { // also where a drive comes first
		out := r.resolveIn("", text, src)
		return append(out, r.inProcess(throughLinks(text, out), src, dirs, false)...)
	}
	if len(dirs) == 0 {
		r.OpaqueListed(src, "the folder this runs in is not known")
		return nil
	}
	var out []target
	for _, d := range dirs {
		found := r.resolveIn(d, text, src)
		out = append(append(out, found...), r.inProcess(throughLinks(d+"/"+text, found), src, dirs, false)...)
	}
	return out
}

// throughLinks is a path as written, or what it leads to where a link leads to /proc.
func throughLinks(text string, found []target) string {
	if len(found) == 1 && !strings.Contains(text, "/proc/") && strings.HasPrefix(found[0].Real, "/proc/") {
		return found[0].Real
	}
	return text
}

func (r *Recorder) resolveIn(dir, text, src string) []target {
	full := text
	if dir != "" {
		full = strings.TrimSuffix(dir, "/") + "/" + text
	}
	named := path.Clean(full)
	real, err := r.Real(full)
	if err != nil {
		r.OpaqueListed(src, err.Error())
		return nil
	}
	out := []target{{Asked: text, Named: named, Real: real}}
	last := strings.TrimRight(full, "/")
	for _, to := range r.Through(full) {
		if r.itself && last == full && path.Base(full) != "." && r.isLink(named) {
			continue
		}
		out = append(out, target{Asked: text, Named: named, Real: to})
	}
	return out
}

// resolveGlob lists the glob's folder and its matches, links resolved.
func (r *Recorder) resolveGlob(w Word, dirs []string) []target {
	var out []target
	stands := dirs
	if strings.HasPrefix(w.Text, "/") {
		dirs = []string{""}
	}
	if len(dirs) == 0 {
		r.OpaqueListed(w.Source, "the folder this runs in is not known")
		return nil
	}
	for _, d := range dirs {
		if strings.Contains(w.Text, "***/") {
			r.Opaque(w.Source, "zsh follows links to any depth for ***/")
		}
		full := wholePattern(w.Text, d)
		out = append(out, r.inProcess(full, w.Source, stands, true)...)
		out = append(out, r.resolveIn("", world.GlobBase(full), w.Source)...)
		matches := r.Glob(full)
		if matches == nil {
			r.OpaqueListed(w.Source, "what this pattern matches is not known")
			out = append(out, r.secretsMatching(full, w.Source, w.Loose)...)
			continue
		}
		if w.Loose {
			out = append(out, r.secretsMatching(full, w.Source, true)...)
		}
		for _, p := range r.alternatives(full, true) {
			matches = slices.Concat(matches, r.Glob(p))
		}
		if r.matched += len(matches); r.matched > maxMatched {
			r.OpaqueListed(Clip(r.Source), "its patterns match too many files")
			out = append(out, r.secretsMatching(full, w.Source, w.Loose)...)
			continue
		}
		for _, m := range matches {
			out = append(out, r.resolveIn("", m, w.Source)...)
		}
	}
	return out
}

// mayBe reports whether something is at an absolute path when a command runs: it is
// there now, or a command before it in the script makes it.
func (r *Recorder) mayBe(file string) bool {
	return slices.ContainsFunc(r.Wrote, func(p string) bool { return strings.EqualFold(p, file) }) || len(r.Glob(world.EscapeGlob(file))) > 0
}

// there reports whether something of that name is there now.
func (r *Recorder) there(w Word, dirs []string) bool {
	var found []target
	r.apart(func() { found = r.Resolve(w, dirs) })
	return slices.ContainsFunc(found, func(t target) bool { return len(r.Glob(world.EscapeGlob(t.Real))) > 0 })
}

// There reports whether a file or folder of that name is there, or may be.
func (u *Invocation) There(name string) bool { return u.r.there(Lit(name), u.dirs) }

// TouchGlob notes that bash lists folders to expand a word, whatever the
// command does with it.
func (r *Recorder) TouchGlob(w Word, dirs []string) {
	if w.Kind != Pattern {
		return
	}
	if strings.HasPrefix(w.Text, "/") {
		dirs = []string{""}
	}
	if len(dirs) == 0 {
		r.OpaqueListed(w.Source, "the folder this runs in is not known")
	}
	for _, d := range dirs {
		full := w.Text
		if d != "" {
			full = world.EscapeGlob(strings.TrimSuffix(d, "/")) + "/" + w.Text
		}
		for _, t := range r.resolveIn("", world.GlobBase(full), w.Source) {
			r.Add(policy.Read{Path: t.Real, Named: t.Named, Asked: w.Source, List: true})
		}
	}
}

// Matches reports whether a pattern matches something now, and all that it matches is
// known.
func (r *Recorder) Matches(pattern string, dirs []string) bool {
	names, ok := r.matches(pattern, dirs)
	return ok && len(names) > 0 && !strings.ContainsAny(pattern, `(\`) && !strings.Contains(pattern, "**")
}

// foldersOf are the folders that a pattern stands in, as they are reached.
func (r *Recorder) foldersOf(pattern string, dirs []string) map[string]bool {
	if strings.HasPrefix(pattern, "/") {
		dirs = []string{""}
	}
	out := map[string]bool{}
	for _, d := range dirs {
		out[path.Clean(world.GlobBase(wholePattern(pattern, d)))] = true
	}
	return out
}

// CleanMatches reports whether every match of a pattern is a single word that
// holds nothing to split or expand further.
func (r *Recorder) CleanMatches(pattern string, dirs []string) bool {
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

// MatchNames is how the matches of a pattern without a folder before it are
// spelled: from where the shell stands.
func (r *Recorder) MatchNames(pattern string, dirs []string) (names []string, ok bool) {
	if len(dirs) == 0 {
		return nil, false
	}
	for _, d := range dirs {
		prefix := strings.TrimSuffix(d, "/") + "/"
		got := r.Glob(world.EscapeGlob(prefix) + pattern)
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

// NoMatches reports whether a pattern surely matches nothing now.
func (r *Recorder) NoMatches(pattern string, dirs []string) bool {
	matches, ok := r.matches(pattern, dirs)
	return ok && len(matches) == 0
}

// matches lists what a pattern matches now, in every folder the shell may
// stand in; ok is false when that is not known.
func (r *Recorder) matches(pattern string, dirs []string) (all []string, ok bool) {
	if strings.HasPrefix(pattern, "/") {
		dirs = []string{""}
	}
	if len(dirs) == 0 {
		return nil, false
	}
	for _, d := range dirs {
		full := pattern
		if d != "" {
			full = world.EscapeGlob(strings.TrimSuffix(d, "/")) + "/" + pattern
		}
		got := r.Glob(full)
		if got == nil {
			return nil, false
		}
		all = append(all, got...)
		for _, p := range r.alternatives(full, true) {
			all = append(all, r.Glob(p)...)
		}
	}
	return all, true
}

// Add appends an action, and returns its place among Actions.
func (r *Recorder) Add(a policy.Action) (at int) {
	e, exec := a.(policy.Exec)
	if exec && len(e.Touches) > 0 {
		touches := e.Touches
		e.Touches = nil
		at = r.Add(e)
		r.Touch(at, touches)
		return at
	}
	if r.note(a); !r.full() || exec && len(r.Actions) < 4*maxActions { // a deny rule must see all commands
		r.Actions = append(r.Actions, a)
	}
	return len(r.Actions) - 1
}

// Touch appends what the command at a place among Actions, or the first one behind it, touches;
// where there is none, it stands for itself.
func (r *Recorder) Touch(at int, as []policy.Action) {
	for ; at < len(r.Actions) && len(as) > 0; at++ {
		e, ok := r.Actions[at].(policy.Exec)
		if !ok {
			continue
		}
		for _, a := range as {
			if r.note(a); !r.full() {
				e.Touches = append(e.Touches, a)
				r.touched++
			}
		}
		r.Actions[at] = e
		return
	}
	for _, a := range as {
		r.Add(a)
	}
}

// Touching is Touch of what f adds.
func (r *Recorder) Touching(at int, f func()) { r.Touch(at, r.apart(f)) }

// note keeps what an action means for those behind it.
func (r *Recorder) note(a policy.Action) {
	switch a := a.(type) {
	case policy.Exec:
		r.Unsafe = r.Unsafe || !a.ReadOnly
	case policy.Opaque:
		r.Unclear = true
	case policy.Write:
		r.Unsafe = true
		r.Wrote = append(r.Wrote, a.Path)
	case policy.Read, policy.Net, policy.Call, policy.Spawn, policy.Tell, policy.Workflow, policy.Skill, policy.Person, policy.None:
	}
}

// full reports that no more is noted, and says so.
func (r *Recorder) full() bool {
	if len(r.Actions)+r.touched < maxActions {
		return false
	}
	if !r.Unclear {
		r.Unclear = true
		r.Actions = append(r.Actions, policy.Opaque{Source: Clip(r.Source), Why: "it does too many things"})
	}
	return true
}

// Opaque notes a part that cannot be read exactly.
func (r *Recorder) Opaque(source, why string) {
	r.Unclearly(policy.Opaque{Source: source, Why: why})
}

// OpaqueListed notes a part whose commands are all listed: what is not known is
// which files it touches, or with which variables.
func (r *Recorder) OpaqueListed(source, why string) {
	r.Unclearly(policy.Opaque{Source: source, Why: why, Listed: true})
}

// OpaqueRuns notes a part that may run a command which is not listed.
func (r *Recorder) OpaqueRuns(source, why string) {
	r.Unclearly(policy.Opaque{Source: source, Why: why, Runs: true})
}

// Unclearly notes a part that is not judged by what was read of it.
func (r *Recorder) Unclearly(o policy.Opaque) {
	o.Of = r.Of
	key := fmt.Sprintf("%s\x00%s\x00%p", o.Source, o.Why, o.Of)
	if r.Seen[key] {
		return
	}
	if r.Seen == nil {
		r.Seen = map[string]bool{}
	}
	r.Seen[key] = true
	r.Add(o)
}

// Clip bounds a piece of source for messages.
func Clip(s string) string {
	const most = 400
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}
