package skill

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/order"
)

// A Part is what one place, or one origin, has.
type Part struct {
	Skills []Skill // and commands
	Agents []Agent
	Styles []Style
}

// Then is what p has, and behind it what q has.
func (p Part) Then(q Part) Part {
	return Part{slices.Concat(p.Skills, q.Skills), slices.Concat(p.Agents, q.Agents), slices.Concat(p.Styles, q.Styles)}
}

// Held is the part whose skills can be used as they were read, and not as their
// files may say by now.
func (p Part) Held() Part {
	p.Skills = slices.Clone(p.Skills)
	for i := range p.Skills {
		p.Skills[i].held = true
	}
	return p
}

// A Library is what several parts come to. It does not change.
type Library struct {
	skills []Skill
	agents []Agent
	styles []Style
	hidden []Hidden
}

// Join makes a library of parts, the nearest first: of two things of one name the
// first one counts, and the other is listed as hidden. A skill and a command are
// called in one way, so they cannot both have a name.
func Join(parts ...Part) Library {
	var l Library
	owner := map[Kind]map[string]string{Skills: {}, Agents: {}, Styles: {}}
	claim := func(names, k Kind, t Thing) bool {
		by, taken := owner[names][t.Name]
		if taken {
			l.hidden = append(l.hidden, Hidden{Kind: k, Thing: t, By: by})
		} else {
			owner[names][t.Name] = t.origin()
		}
		return !taken
	}
	for _, p := range parts {
		for _, s := range p.Skills {
			if claim(Skills, kindOf(s), s.Thing) {
				l.skills = append(l.skills, s)
			}
		}
		for _, a := range p.Agents {
			if by := l.instead(owner[Agents], a); by != "" {
				l.hidden = append(l.hidden, Hidden{Kind: Agents, Thing: a.Thing, By: by})
			} else if claim(Agents, Agents, a.Thing) {
				l.agents = append(l.agents, a)
			}
		}
		for _, s := range p.Styles {
			if claim(Styles, Styles, s.Thing) {
				l.styles = append(l.styles, s)
			}
		}
	}
	order.By(l.skills, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	order.By(l.agents, func(a, b Agent) int { return cmp.Compare(a.Name, b.Name) })
	order.By(l.styles, func(a, b Style) int { return cmp.Compare(a.Name, b.Name) })
	return l
}

// instead is who brings the definition that stands in the place of one that adze brings: it
// has another one of its names. "" is nobody.
func (l Library) instead(owner map[string]string, a Agent) string {
	if a.BuiltIn {
		for _, n := range policy.AgentNames(a.Name)[1:] {
			if by := owner[n]; by != "" {
				return by
			}
		}
	}
	return ""
}

// Skills are the skills and commands, by name.
func (l Library) Skills() []Skill { return l.skills[:len(l.skills):len(l.skills)] }

// Agents are the definitions of agents, by name.
func (l Library) Agents() []Agent { return l.agents[:len(l.agents):len(l.agents)] }

// Styles are the output styles, by name.
func (l Library) Styles() []Style { return l.styles[:len(l.styles):len(l.styles)] }

// Hidden are the things that a nearer one of the same name hides.
func (l Library) Hidden() []Hidden { return l.hidden[:len(l.hidden):len(l.hidden)] }

// Find finds a skill or a command by its name. One that has another name because a command
// took its own is found by that other name alone.
func (l Library) Find(name string) (Skill, bool) {
	s, ok := find(l.skills, func(s *Skill) string { return s.Name }, name)
	if ok && s.Name != name && strings.HasPrefix(s.Name, s.Scope+":") {
		return Skill{}, false
	}
	return s, ok
}

// Agent finds a definition by its name, and one that adze brings by any of its names.
func (l Library) Agent(name string) (Agent, bool) {
	for _, n := range policy.AgentNames(name) {
		for _, a := range l.agents {
			if a.Name == n {
				return a, true
			}
		}
	}
	return find(l.agents, func(a *Agent) string { return a.Name }, name)
}

// NoAgent says that no agent has a name, and which one has a name like it.
func (l Library) NoAgent(name string) string {
	names := make([]string, 0, len(l.agents))
	for _, a := range l.agents {
		names = append(names, a.Name)
	}
	return fmt.Sprintf("there is no agent %q%s", clip.Line(clip.Visible(name), 100), near.Hint(name, names))
}

// Style finds an output style by its name; case does not count.
func (l Library) Style(name string) (Style, bool) {
	return find(l.styles, func(s *Style) string { return strings.ToLower(s.Name) }, strings.ToLower(name))
}

// find also finds what a plugin brought without the plugin's name, where no other has this
// name.
func find[T any](list []T, of func(*T) string, name string) (found T, ok bool) {
	i := near.Named(name, len(list), func(i int) string { return of(&list[i]) })
	if i < 0 {
		return found, false
	}
	return list[i], true
}

// Same reports whether two libraries say the same.
func (l Library) Same(m Library) bool {
	same := func(a, b Skill) bool {
		return a.sum == b.sum && a.Name == b.Name && a.File == b.File && a.From == b.From
	}
	return slices.EqualFunc(l.skills, m.skills, same) && reflect.DeepEqual(l.agents, m.agents) && reflect.DeepEqual(l.styles, m.styles) && slices.Equal(l.hidden, m.hidden)
}

// Changed are the files of skills and commands that one of two libraries has alone, or
// with another content, sorted. Those of plugins and adze's own are not among them.
func (l Library) Changed(m Library) (files []string) {
	sums := func(l Library) map[string][sha256.Size]byte {
		out := map[string][sha256.Size]byte{}
		for _, s := range l.skills {
			if s.File != "" && !s.BuiltIn && s.place.Plugin == "" {
				out[s.File] = s.sum
			}
		}
		return out
	}
	was, now := sums(l), sums(m)
	for file, sum := range now {
		if old, had := was[file]; !had || old != sum {
			files = append(files, file)
		}
	}
	for file := range was {
		if _, has := now[file]; !has {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files
}

// Without is the library in which these names of skills are taken, by whom they
// are mapped to. What a person or a project has under such a name is called with its scope
// before it: user:plan.
func (l Library) Without(taken map[string]string) Library {
	if !slices.ContainsFunc(l.skills, func(s Skill) bool { _, ok := taken[s.Name]; return ok }) {
		return l
	}
	out := l
	out.skills, out.hidden = nil, l.Hidden()
	for _, s := range l.skills {
		if by, ok := taken[s.Name]; ok {
			h := Hidden{Kind: kindOf(s), Thing: s.Thing, By: by}
			longer := s.Scope + ":" + s.Name
			if _, has := l.Find(longer); !has && (s.Scope == "user" || s.Scope == "project") {
				h.As, s.Name = longer, longer
				out.skills = append(out.skills, s)
			}
			out.hidden = append(out.hidden, h)
			continue
		}
		out.skills = append(out.skills, s)
	}
	order.By(out.skills, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func kindOf(s Skill) Kind {
	if s.Workflow {
		return Workflows
	}
	if s.Command {
		return Commands
	}
	return Skills
}
