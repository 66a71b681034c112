package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/print"
	"github.com/adze-agent/adze/internal/ui/tui"
)

// about is the session as print mode describes it. answers says what is asked about it, nil
// where nothing is.
func (r running) about(answers *desk.Desk) print.About {
	d := r.Describe()
	a := print.About{
		SessionID: d.ID, Cwd: d.Dir, Branch: d.Branch, Tools: d.Tools, Model: d.Model.ID(), Wish: d.Model.Wished(), Mode: string(d.Mode),
		ToolNames: func() []string { return r.Tools().Names() }, Mistakes: r.Mistakes,
		KeySource: d.Key, Version: d.Version, Prefix: r.Place().Config().Print.ProviderPrefix, NewID: newUUID, Now: time.Now,
		Auto:  slices.Contains(d.Modes, policy.Auto),
		Facts: r.Facts, Deferred: r.State().Deferred(), Goal: r.State().Pursued() != nil,
	}
	if answers != nil {
		a.Ask = func(ctx context.Context, q ask.Query) (ask.Reply, error) { return answers.Ask(ctx, r.ID, q) }
	}
	return a
}

// face is the session as the terminal UI sees it.
func (h *uiHost) face(ctx context.Context, r *app.Running) (*tui.Session, error) {
	a, err := h.desk.Ask(ctx, r.ID, ask.Status{})
	if err != nil {
		return nil, err
	}
	f, err := ask.Data[ask.Facts](a)
	return &tui.Session{Facts: f, After: event.Seq(f.Earlier), Was: r.State(), UI: h.machine.Dressed(r.Place().Config())}, err
}

// newUUID is a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
