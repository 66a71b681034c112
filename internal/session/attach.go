package session

import (
	"context"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
)

// A Naming is a prompt, which may name files, and what counts for reading them.
type Naming struct {
	Text         string
	Dir          string // where the session works now
	Window       int    // of the model in tokens, 0 when unknown
	Images, PDFs bool   // what the model takes
	ImageEdge    int    // the longest edge of an image that it reads in full, 0 for the usual
	Mode         policy.Mode
	// Judge rules on a call by the rules and the mode as they are now.
	Judge func(tool string, plan []policy.Action) policy.Verdict
}

// Names reads what a text names with "@", as of a prompt.
func (s *Session) Names(ctx context.Context, text string) ([]event.Attached, error) {
	return s.attached(ctx, text)
}

// attached reads what a prompt names.
func (s *Session) attached(ctx context.Context, text string) (out []event.Attached, err error) {
	if s.cfg.Attach == nil || !strings.Contains(text, "@") {
		return nil, nil
	}
	var n Naming
	var applies func(event.Seq, []string) []string
	var boundary event.Seq
	if err := s.within(ctx, func(st *state) {
		t, rules, mode := st.target, st.rules, st.mode
		boundary = st.Boundary()
		if st.loop != nil {
			applies = st.loop.Touched
		}
		n = Naming{Text: text, Dir: st.Dir, Window: t.Window, Images: t.Images, PDFs: t.PDFs, ImageEdge: t.ImageEdge, Mode: mode}
		n.Judge = func(tool string, plan []policy.Action) policy.Verdict {
			return policy.Decide(rules, mode, policy.Request{Tool: tool, Actions: plan})
		}
	}); err != nil {
		return nil, err
	}
	out = s.cfg.Attach(ctx, n)
	if applies == nil {
		return out, nil
	}
	for i, a := range out {
		var paths []string
		for _, f := range a.Saw {
			paths = append(paths, f.Path)
		}
		for _, text := range applies(boundary, paths) { // what begins to apply with the file
			out[i].Text += "\n" + text
		}
	}
	return out, nil
}
