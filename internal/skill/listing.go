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
	var own, others []Skill
	for _, s := range l.skills {
		switch {
		case s.NoModel || len(s.Paths) > 0:
		case s.BuiltIn:
			own = append(own, s)
		default:
			others = append(others, s)
		}
	}
	var out []Line
	left := max
	add := func(s Skill, text string) {
		out = append(out, Line{s.Name, text})
		left -= len(s.Name) + len(text) + 5
	}
	for _, s := range own {
		add(s, s.About())
	}
	names := 0
	for _, s := range others {
		names += len(s.Name) + 5
	}
	// Each gets the same share; what a short one leaves, the others have.
	byLength := slices.Clone(others)
	order.By(byLength, func(a, b Skill) int { return cmp.Compare(len(a.shown()), len(b.shown())) })
	room, share := left-names, map[string]int{}
	for i, s := range byLength {
		n := min(len(s.shown()), max0(room)/(len(byLength)-i))
		if n < len(s.shown()) && n < minShown {
			break // nor for those that are longer
		}
		share[s.Name] = n
		room -= n
	}
	for _, s := range others {
		add(s, cut(s.shown(), share[s.Name]))
	}
	order.By(out, func(a, b Line) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// A Line is one skill in the list for the model.
type Line struct{ Name, Text string }

// About is the description, and when to use it.
func (s Skill) About() string {
	if s.When == "" {
		return s.Description
	}
	return strings.TrimSuffix(s.Description, ".") + ". " + s.When
}

func (s Skill) shown() string { return clip.Line(s.About(), maxListed) }

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
