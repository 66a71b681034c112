package skill

import (
	"cmp"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
)

// maxListed is how many characters of a description the model is shown, of what
// is not adze's own.
const maxListed = 250

// minShown is the shortest share of the list that is worth a description.
const minShown = 40

// Listed is what the model is told of skills, by name, within about max bytes:
// adze's own in full, what is left shared by the others, and only their names where
// that is too little. Those that wait for a file, and those that are not for the
// model, are not in it. Equal libraries give equal bytes.
func (l Library) Listed(max int) []Line {
	var own, others []Line
	for _, s := range l.skills {
		switch {
		case s.NoModel || len(s.Paths) > 0:
		case s.BuiltIn:
			own = append(own, Line{s.Name, s.About()})
		default:
			others = append(others, Line{s.Name, clip.Line(s.About(), maxListed)})
		}
	}
	out := fit(own, others, max)
	order.By(out, func(a, b Line) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// ListAgents is what the model is told of agents, within about max bytes: adze's own first.
func ListAgents(list []Agent, max int) []Line {
	var own, others []Line
	for _, a := range list {
		l := Line{a.Name, clip.Line(clip.Clean(a.Description), maxListed)}
		switch {
		case a.NoModel:
		case a.BuiltIn:
			own = append(own, l)
		default:
			others = append(others, l)
		}
	}
	return fit(own, others, max)
}

// fit has lines within about max bytes: first those that stay as they are, then others, which
// share what is left of it.
func fit(own, others []Line, max int) (out []Line) {
	left := max
	add := func(l Line) {
		out = append(out, l)
		left -= len(l.Name) + len(l.Text) + 5
	}
	for _, l := range own {
		add(l)
	}
	names := 0
	for _, l := range others {
		names += len(l.Name) + 5
	}
	// Each gets the same share; what a short one leaves, the others have.
	byLength := slices.Clone(others)
	order.By(byLength, func(a, b Line) int { return cmp.Compare(len(a.Text), len(b.Text)) })
	room, share := left-names, map[string]int{}
	for i, l := range byLength {
		n := min(len(l.Text), max0(room)/(len(byLength)-i))
		if n < len(l.Text) && n < minShown {
			break // nor for those that are longer
		}
		share[l.Name] = n
		room -= n
	}
	for _, l := range others {
		add(Line{l.Name, cut(l.Text, share[l.Name])})
	}
	return out
}

// A Line is one skill or agent in the list for the model.
type Line struct{ Name, Text string }

// About is the description, and when to use it.
func (s Skill) About() string {
	if s.When == "" {
		return s.Description
	}
	return strings.TrimSuffix(s.Description, ".") + ". " + s.When
}

func max0(n int) int { return max(n, 0) }

// cut is a text of at most n bytes; a cut ends in "…".
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n < minShown {
		return ""
	}
	h, _ := clip.Head(s, n-len("…"))
	return strings.TrimRight(h, " ,;:.") + "…"
}
