package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/git/conf"
	"github.com/adze-agent/adze/internal/text/paths"
)

// Bounds of a look at everything.
const (
	maxFar      = 200_000 // folders
	maxFarNamed = 20_000
	maxFarRepos = 10_000
	maxInside   = 100_000 // folders of one git folder
)

// all surveys what is beyond the last look: folders further away, those that
// programs fill, and all that is in git folders. It costs a look at each folder
// as well, so it is for the end of a command.
func (v *survey) all(near sight) sight {
	var s sight
	seen := make(map[string]*folder, len(v.far))
	queue, privates := slices.Clone(v.rest), v.privates()
	for n := 0; n < len(queue); {
		if len(seen) >= v.most || len(s.named) > maxFarNamed {
			s.more = true
			break
		}
		part := queue[n:min(n+batch, len(queue), n+v.most-len(seen))]
		n += len(part)
		for i, f := range v.folders(v.far, part, func(dir string) bool { return paths.WithinAny(privates, dir) }) {
			if f == nil {
				continue
			}
			at := part[i]
			seen[at.dir] = f
			if s.add(at.dir, f, at.passed) {
				continue
			}
			for _, sub := range f.subs {
				queue = append(queue, spot{sub, at.passed, !f.moved})
			}
			for _, sub := range f.fills {
				queue = append(queue, spot{sub, true, !f.moved})
			}
		}
	}
	v.far = seen
	s.dots = append(s.dots, near.dots[min(len(near.dots), maxRepos):]...)
	for n := 0; n < len(s.dots); n++ {
		if n == maxFarRepos {
			s.more = true
			break
		}
		v.enter(s.dots[n], &s)
	}
	v.insides(slices.Concat(near.gits, s.gits), allInside, &s)
	return s
}

// privates are the roots that hold the home folder.
func (v *survey) privates() []string {
	var out []string
	for _, root := range v.roots {
		if paths.Within(root, v.home) {
			out = append(out, root)
		}
	}
	return out
}

// An inner is what was seen in a folder inside a git folder.
type inner struct {
	mark  mark
	odd   []string
	subs  []string
	holds conf.Holds // of a git folder itself
}

// How far inside looks.
type reach bool

const (
	nearInside reach = false // not below what holds many folders
	allInside  reach = true
)

// insides looks into git folders.
func (v *survey) insides(gits []string, far reach, s *sight) {
	s.holds = make(map[string]conf.Holds, len(gits))
	for _, g := range gits {
		s.odd = append(s.odd, v.inside(g, far)...)
		if in := v.ins[g]; in != nil {
			s.holds[g] = in.holds
		}
	}
}

// inside lists what is in a git folder that git makes nothing of the kind of.
func (v *survey) inside(git string, far reach) []string {
	var odd []string
	queue := []string{git}
	for n := 0; n < len(queue) && n < maxInside; n++ {
		dir := queue[n]
		m := markOf(dir, v.now)
		if !m.dir {
			delete(v.ins, dir)
			continue
		}
		in := v.ins[dir]
		if in == nil || in.mark != m || !m.settled {
			in = v.readInner(dir, m, dir == git)
			v.ins[dir] = in
		}
		odd = append(odd, in.odd...)
		for _, sub := range in.subs {
			if far == allInside || !bulky(git, sub) {
				queue = append(queue, sub)
			}
		}
	}
	return odd
}

func (v *survey) readInner(dir string, m mark, top bool) *inner {
	in := &inner{mark: m}
	list, err := v.list(dir, m) // one that cannot be read is of no use to git
	if top && err == nil {
		names := make([]string, len(list))
		for i, e := range list {
			names[i] = e.Name()
		}
		in.holds = conf.Listed(names)
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		switch {
		case conf.Odd(e):
			in.odd = append(in.odd, path)
		case e.IsDir():
			in.subs = append(in.subs, path)
		}
	}
	return in
}

// bulky reports whether a folder of a git folder can hold very many others.
func bulky(git, dir string) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(dir, git+string(filepath.Separator)), string(filepath.Separator))
	return slices.Contains([]string{"objects", "lfs", "annex", "modules"}, top)
}
