package background

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/miniagent"
)

//go:embed progress.md
var progressText string

// Bounds of a line about what an agent does: how long it is waited for, and what of the
// agent's conversation a model is shown that does not have it, in bytes.
const (
	progressTime  = 20 * time.Second
	progressShown = 6_000
	maxProgress   = 80 // characters
)

// Progress puts into a line what the session of c does now. before is the line that was said
// last, "" for none, and after up to which event it told. The line is "" where nobody can say
// one. through is up to which event it tells.
func Progress(ctx context.Context, c Config, before string, after event.Seq) (line string, through event.Seq) {
	ctx, cancel := context.WithTimeout(ctx, progressTime)
	defer cancel()
	w := New(c)
	st := c.Session.State()
	if _, through = complete(st); through <= after {
		return "", after
	}
	w.purse.turn, w.purse.last = st.Turn.Spent.Usage, llm.Usage{CacheRead: st.Cache.Read}
	if before == "" {
		before = "nothing yet"
	}
	a := assignment{
		purpose: event.ForProgress, after: after, text: fill(progressText, "{before}", before), reply: 20, cap: 300, turns: 1, shown: progressShown,
		limit: miniagent.Limit{Read: none, Write: none},
	}
	j, ok := w.plan(ctx, st, a)
	if !ok {
		return "", after
	}
	r, err := w.run(ctx, st, a, j)
	if err != nil {
		return "", after
	}
	return w.Hide(strings.TrimRight(oneLine(r.Text, maxProgress), ".")), through
}
