package rewind

import (
	"context"
	"errors"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/sessions"
)

// A Prompt is one that can be gone back to.
type Prompt struct {
	ID, Text string
	At       time.Time
	Changed  map[string]bool // paths, until the next prompt
}

// Prompts are those of a session, without those that rewinds took out of its conversation.
func Prompts(ctx context.Context, st sessions.Store, i store.Info, environ []string) (out []Prompt, err error) {
	var seqs []event.Seq // of out
	var trail event.Trail
	for e, err := range Read(ctx, st, i, environ) {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case event.InputAccepted:
			if !b.Hidden {
				out, seqs = append(out, Prompt{b.ID, b.Text, e.Time, map[string]bool{}}), append(seqs, e.Seq)
			}
		case event.ToolFinished: // its changes are taken below
		case event.Rewound:
			trail = trail.With(e)
		default: // no prompt
		}
		if len(out) > 0 {
			for _, x := range event.ChangedBy(e.Body).Files {
				out[len(out)-1].Changed[x.Path] = true
			}
		}
	}
	var there []Prompt
	for n, p := range out {
		if trail.There(seqs[n]) {
			there = append(there, p)
		}
	}
	return there, nil
}

// WasCut reports whether an error is that of a rewind that did not come to its end.
func WasCut(err error) bool { return errors.Is(err, session.ErrCutRewind) }
