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
	"github.com/adze-agent/adze/internal/ext/skills"
	"github.com/adze-agent/adze/internal/extension"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/trust"
)

// libraryWait is how long a start waits for skills to be read. What comes later
// counts from the next step.
const libraryWait = 250 * time.Millisecond

// Begin has skills read in the background, for a session that is about to start.
func (f *Folder) Begin() { f.opened() }

// shelf opens the skills of the process, once.
func (f *Folder) opened() *skills.Shelf {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := time.Second
	if f.conf.Lasting {
		rest = 0
	}
	if f.shelf == nil && !f.closed {
		f.shelf = skills.Open(skills.ShelfConfig{
			Places: f.places, Agents: f.conf.Agents, Rest: rest,
			Changed: func() {
				bad := f.unusable(0)
				for _, x := range f.attached() {
					x.relearn()
					x.tell(bad)
					x.changed()
				}
			},
			Refuses:   f.relearns,
			Untrusted: func(files []string) { f.distrust(notUsed, files) },
		})
	}
	return f.shelf
}

// read waits a moment until skills and the like were read, and returns what of them
// cannot be used.
func (f *Folder) read() (bad []string) {
	return append(f.unusable(libraryWait), f.leftOut()...)
}

// unusable is what of skills and the like cannot be used, as far as they are read within
// wait. What can be used all the same, adze doctor, adze skills check and adze
// agents list say: it is mostly another's to mend, and would stand at every start.
func (f *Folder) unusable(wait time.Duration) (bad []string) {
	s := f.opened()
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
func (f *Folder) learned() (list []extension.Contribution) {
	s := f.opened()
	if s == nil {
		return nil
	}
	list, _ = s.Contributions(0)
	if f.conf.Skills == nil && !f.conf.NoCommands {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Skills = slices.DeleteFunc(slices.Clone(list[i].Skills), func(s skill.Skill) bool {
			return f.conf.NoCommands || !slices.Contains(f.conf.Skills, s.Name)
		})
	}
	return list
}

// leftOut says which added folders have skills and the like that are not read,
// because nobody trusts the folder.
func (f *Folder) leftOut() (out []string) {
	for _, v := range f.added() {
		n := 0
		for _, file := range v.Files {
			if slices.Contains([]trust.Kind{trust.Skill, trust.Command, trust.Agent, trust.Style, trust.Workflow}, file.Kind) {
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
func (f *Folder) added() (out []trust.Verdict) {
	p := f.conf.Live.Paths
	if f.conf.Roots == nil || f.conf.Bare {
		return nil
	}
	for _, dir := range f.conf.Roots() {
		if dir == p.Dir || dir == p.Root {
			continue
		}
		folder := trust.Folder{Root: dir, Dir: dir, Home: p.Home}
		v, err := p.Trust().Check(folder)
		if err != nil { // its record cannot be read
			v = trust.Verdict{Folder: folder}
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
func (f *Folder) distrust(what string, files []string) {
	p := f.conf.Live.Paths
	var names []string
	for i, file := range files {
		if i == maxDistrusted {
			names = append(names, fmt.Sprintf("and %d more", len(files)-i))
			break
		}
		if rel, err := filepath.Rel(p.Root, file); err == nil && filepath.IsLocal(rel) {
			file = filepath.ToSlash(rel)
		}
		names = append(names, clip.Visible(file))
	}
	text := what + strings.Join(names, ", ")
	if v, err := p.Trust().Check(p.TrustFolder()); err == nil {
		diff := slices.Collect(strings.Lines(p.Trust().Diff(v)))
		if n := len(diff) - maxDistrust; n > 0 {
			diff = append(diff[:maxDistrust], "["+clip.Count(n, "more line")+"]\n")
		}
		text = strings.TrimRight(text+"\n"+strings.Join(diff, ""), "\n")
	}
	f.mu.Lock()
	list := slices.Clone(f.sessions)
	if len(list) == 0 { // the first one is told
		f.untold = append(f.untold, text)
	}
	f.mu.Unlock()
	for _, x := range list {
		x.warn(text)
	}
}

// lost says what is not used any more, when the folder was trusted and is not now. A file that
// is written may be seen gone or empty first, so that is said of each content.
func (f *Folder) lost() {
	f.mu.Lock()
	now := len(f.conf.Live.Brings()) > 0
	lost := f.trusted && !now
	f.trusted = f.trusted || now
	f.mu.Unlock()
	if !lost {
		return
	}
	held := map[string]string{} // what hooks stay in force of, and its sum
	for _, file := range f.conf.Live.HookFiles() {
		held[file.Path] = file.Sum
	}
	at := func(path string) string { return filepath.Join(f.conf.Live.Paths.Root, filepath.FromSlash(path)) }
	var files []string
	for _, file := range f.conf.Live.Untrusted() {
		switch sum, ok := held[file.Path]; {
		case file.Kind == trust.Settings, file.Kind == trust.Servers: // settings say so themselves
		case ok && sum == file.Sum:
			delete(held, file.Path)
		case !ok:
			files = append(files, at(file.Path))
		}
	}
	if len(files) > 0 {
		f.distrust(notUsed, files)
	}
	if len(held) > 0 {
		var files []string
		for path := range held {
			files = append(files, at(path))
		}
		slices.Sort(files)
		f.distrust(asItWas, files)
	}
}

// Library reads what skills, commands, agents and output styles there are, without a
// session, and what of them cannot be used.
func Library(c FolderConfig) (skill.Library, []skill.Problem) {
	list, problems := skills.Read(NewProcess(ProcessConfig{}).Open(c).places(), c.Agents)
	return extension.Library(list...), problems
}

// places are where skills, commands, agents and output styles are looked for now.
func (f *Folder) places() []skill.Place {
	p := f.conf.Live.Paths
	own, cc := config.ManagedDirs(runtime.GOOS, f.conf.Env)
	g := skill.Ground{
		Managed: []string{own, cc}, Config: p.Folders.Config, Home: p.Home, Claude: p.Folders.Claude, Homes: skill.Homes(f.conf.Env),
		Root: p.Root, Dir: p.Dir,
		Trusted: within(p.Root, f.conf.Live.Brings()),
	}
	if f.conf.Bare {
		g.Root, g.Dir, g.Trusted = "", "", nil
	}
	if s := f.conf.Live.Only(); f.conf.Bare || s != nil && !slices.Contains(s, string(config.User)) {
		g.Home, g.Config, g.Claude, g.Homes = "", "", "", nil // what is the person's own does not count
	}
	for _, v := range f.added() {
		added := skill.Added{Dir: v.Folder.Root}
		if v.State == trust.Trusted {
			added.Trusted = within(added.Dir, v.Files)
		}
		g.Added = append(g.Added, added)
	}
	return append(g.Places(skill.Skills, skill.Commands, skill.Agents, skill.Styles, skill.Workflows), f.plugins().places()...)
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
