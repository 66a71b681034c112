package ext

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/trust"
)

// libraryWait is how long a start waits for skills to be read. What comes later
// counts from the next step.
const libraryWait = 250 * time.Millisecond

// Begin has skills read in the background, for a session that is about to start.
func (w *World) Begin() { w.opened() }

// shelf opens the skills of the process, once.
func (w *World) opened() *skills.Shelf {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := time.Second
	if w.conf.Lasting {
		rest = 0
	}
	if w.shelf == nil && !w.closed {
		w.shelf = skills.Open(skills.ShelfConfig{
			Places: w.places, Agents: w.conf.Agents, Rest: rest,
			Changed: func() {
				bad := w.unusable(0)
				for _, x := range w.attached() {
					x.relearn()
					x.tell(bad)
					x.changed()
				}
			},
			Refuses:   w.relearns,
			Untrusted: func(files []string) { w.distrust(notUsed, files) },
		})
	}
	return w.shelf
}

// read waits a moment until skills and the like were read, and returns what of them
// cannot be used.
func (w *World) read() (bad []string) {
	return append(w.unusable(libraryWait), w.leftOut()...)
}

// unusable is what of skills and the like cannot be used, as far as they are read within
// wait. What can be used all the same, adze doctor, adze skills check and adze
// agents list say: it is mostly another's to mend, and would stand at every start.
func (w *World) unusable(wait time.Duration) (bad []string) {
	s := w.opened()
	if s == nil {
		return nil
	}
	_, problems := s.Contributions(wait)
	for _, p := range problems {
		if !p.Untrusted && !p.Used { // see distrust
			bad = append(bad, p.String())
		}
	}
	return bad
}

// learned is what brings skills and the like, as far as they were read by now, with
// the skills alone that the start named, and with none where it wants no slash commands.
func (w *World) learned() (list []contrib.Contribution) {
	s := w.opened()
	if s == nil {
		return nil
	}
	list, _ = s.Contributions(0)
	if w.conf.Skills == nil && !w.conf.NoCommands {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Skills = slices.DeleteFunc(slices.Clone(list[i].Skills), func(s skill.Skill) bool {
			return w.conf.NoCommands || !slices.Contains(w.conf.Skills, s.Name)
		})
	}
	return list
}

// leftOut says which added folders have skills and the like that are not read,
// because nobody trusts the folder.
func (w *World) leftOut() (out []string) {
	for _, v := range w.added() {
		n := 0
		for _, f := range v.Files {
			if slices.Contains([]trust.Kind{trust.Skill, trust.Command, trust.Agent, trust.Style}, f.Kind) {
				n++
			}
		}
		if v.State != trust.Trusted && n > 0 {
			out = append(out, fmt.Sprintf("the skills and the like of the added folder %s are not read, because nobody trusts it (%s): adze trust, there, shows them", clip.Visible(v.Folder.Root), clip.Count(n, "file")))
		}
	}
	return out
}

// added are the folders of the session beside the one that it works in, as they are
// trusted.
func (w *World) added() (out []trust.Verdict) {
	p := w.conf.Live.Paths
	if w.conf.Roots == nil || w.conf.Bare {
		return nil
	}
	for _, dir := range w.conf.Roots() {
		if dir == p.Dir || dir == p.Root {
			continue
		}
		f := trust.Folder{Root: dir, Dir: dir, Home: p.Home}
		v, err := p.Trust().Check(f)
		if err != nil { // its record cannot be read
			v = trust.Verdict{Folder: f}
		}
		out = append(out, v)
	}
	return out
}

// Bounds of what is said of files that changed since they were trusted.
const (
	maxDistrusted = 10 // files
	maxDistrust   = 40 // lines of the difference
)

// What is said of such files.
const (
	notUsed = "not used until it is trusted again (adze trust), because it changed: "
	asItWas = "its hooks stay what they were when it was trusted, until it is trusted again (adze trust), because it changed: "
)

// distrust says in every session which files of folders do not count as they are now,
// as something changed since they were trusted, with the difference. what is the
// sentence that their names end. Each content is told once.
func (w *World) distrust(what string, files []string) {
	p := w.conf.Live.Paths
	var names []string
	for i, f := range files {
		if i == maxDistrusted {
			names = append(names, fmt.Sprintf("and %d more", len(files)-i))
			break
		}
		if rel, err := filepath.Rel(p.Root, f); err == nil && filepath.IsLocal(rel) {
			f = filepath.ToSlash(rel)
		}
		names = append(names, clip.Visible(f))
	}
	text := what + strings.Join(names, ", ")
	if v, err := p.Trust().Check(p.TrustFolder()); err == nil {
		diff := slices.Collect(strings.Lines(p.Trust().Diff(v)))
		if n := len(diff) - maxDistrust; n > 0 {
			diff = append(diff[:maxDistrust], "["+clip.Count(n, "more line")+"]\n")
		}
		text = strings.TrimRight(text+"\n"+strings.Join(diff, ""), "\n")
	}
	w.mu.Lock()
	list := slices.Clone(w.sessions)
	if len(list) == 0 { // the first one is told
		w.untold = append(w.untold, text)
	}
	w.mu.Unlock()
	for _, x := range list {
		x.warn(text)
	}
}

// lost says what is not used any more, when the folder was trusted and is not now. A file that
// is written may be seen gone or empty first, so that is said of each content.
func (w *World) lost() {
	w.mu.Lock()
	now := len(w.conf.Live.Brings()) > 0
	lost := w.trusted && !now
	w.trusted = w.trusted || now
	w.mu.Unlock()
	if !lost {
		return
	}
	held := map[string]string{} // what hooks stay in force of, and its sum
	for _, f := range w.conf.Live.HookFiles() {
		held[f.Path] = f.Sum
	}
	at := func(path string) string { return filepath.Join(w.conf.Live.Paths.Root, filepath.FromSlash(path)) }
	var files []string
	for _, f := range w.conf.Live.Untrusted() {
		switch sum, ok := held[f.Path]; {
		case f.Kind == trust.Settings, f.Kind == trust.Servers: // settings say so themselves
		case ok && sum == f.Sum:
			delete(held, f.Path)
		case !ok:
			files = append(files, at(f.Path))
		}
	}
	if len(files) > 0 {
		w.distrust(notUsed, files)
	}
	if len(held) > 0 {
		var files []string
		for path := range held {
			files = append(files, at(path))
		}
		slices.Sort(files)
		w.distrust(asItWas, files)
	}
}

// Library reads what skills, commands, agents and output styles there are, without a
// session, and what of them cannot be used.
func Library(c WorldConfig) (skill.Library, []skill.Problem) {
	list, problems := skills.Read(NewProcess(ProcessConfig{}).Open(c).places(), c.Agents)
	return contrib.Library(list...), problems
}

// places are where skills, commands, agents and output styles are looked for now.
func (w *World) places() []skill.Place {
	p := w.conf.Live.Paths
	own, cc := config.ManagedDirs(runtime.GOOS, w.conf.Env)
	g := skill.Ground{
		Managed: []string{own, cc}, Config: p.Folders.Config, Home: p.Home, Claude: p.Folders.Claude, Homes: skill.Homes(w.conf.Env),
		Root: p.Root, Dir: p.Dir,
		Trusted: within(p.Root, w.conf.Live.Brings()),
	}
	if w.conf.Bare {
		g.Root, g.Dir, g.Trusted = "", "", nil
	}
	if s := w.conf.Live.Only(); w.conf.Bare || s != nil && !slices.Contains(s, string(config.User)) {
		g.Home, g.Config, g.Claude, g.Homes = "", "", "", nil // what is the person's own does not count
	}
	for _, v := range w.added() {
		added := skill.Added{Dir: v.Folder.Root}
		if v.State == trust.Trusted {
			added.Trusted = within(added.Dir, v.Files)
		}
		g.Added = append(g.Added, added)
	}
	return append(g.Places(skill.Skills, skill.Commands, skill.Agents, skill.Styles), w.plugins().places()...)
}

// within reports of a file below root whether exactly its content is trusted, and of a
// skill's whether all that lies beside it is, too; nil is that nothing there is.
func within(root string, files []trust.File) func(path string, text []byte) bool {
	if len(files) == 0 {
		return nil
	}
	by := make(map[string]trust.File, len(files))
	for _, f := range files {
		by[f.Path] = f
	}
	return func(path string, text []byte) bool {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return false
		}
		f, ok := by[filepath.ToSlash(rel)]
		return ok && bytes.Equal(f.Text(), text) && (f.Kind != trust.Skill || trust.Beside(root, f.Path, files))
	}
}
