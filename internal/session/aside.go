package session

import (
	"context"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
)

// sayAside tells people which rules that allow something do not count in the mode auto
// (policy.Aside), each once while the session is in it. It is called wherever the mode or
// the rules may be others.
func (s *Session) sayAside(ctx context.Context, st *state) error {
	if st.mode != policy.Auto {
		st.aside = nil
		return nil
	}
	var names []string
	for _, r := range policy.Aside(st.inForce().List) {
		if name := r.Text(); !slices.Contains(st.aside, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	st.aside = append(st.aside, names...)
	does, them := "does", "it lets"
	if len(names) > 1 {
		does, them = "do", "they let"
	}
	return s.record(ctx, st, event.Noted{Level: "warning", Text: clip.Line(strings.Join(names, ", "), 500) + " " + does + " not count in the mode auto, because " + them + " any program run; the classifier decides such calls until the mode is another one"})
}
