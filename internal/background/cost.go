package background

import (
	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// Models are those that a helper may use.
type Models struct {
	Main  agent.Target  // the session's own
	Small *agent.Target // nil: there is none, or it is to be left alone
	// Share: the main model may be asked on the side, behind the conversation
	// that its provider has in its cache.
	Share bool
}

// A task is what a helper would be asked, in tokens.
type task struct {
	whole  int // the conversation with instructions and tools
	cached int // of whole, what the provider said it has in its cache
	news   int // what a helper without it would be shown
	prompt int // what it is told besides
	reply  int
}

// choose is the cheaper way of doing a task: behind the conversation with the
// main model, or with what is new of it and the small one. ok is false when
// neither can be had.
func (m Models) choose(t task) (target agent.Target, share, ok bool) {
	switch {
	case m.Small == nil:
		return m.Main, m.Share, m.Share
	case !m.Share:
		return *m.Small, false, true
	}
	one, known := price(m.Main, t.usage(true))
	other, alsoKnown := price(*m.Small, t.usage(false))
	same := m.Main.ID() == m.Small.ID()
	if known && alsoKnown && one != other {
		share = one < other
	} else { // nobody says: a server of one's own keeps one conversation, and would lose it
		share = same
	}
	if share {
		return m.Main, true, true
	}
	return *m.Small, false, true
}

// usage is what one request of the task is likely to use: behind the conversation,
// or with what is new of it.
func (t task) usage(share bool) llm.Usage {
	if share {
		cached := min(t.cached, t.whole)
		return llm.Usage{CacheRead: cached, In: t.whole - cached + t.prompt, Out: t.reply}
	}
	return llm.Usage{In: t.news + t.prompt, Out: t.reply}
}

const (
	// helpersShare bounds what helpers may cost beside a turn, as a share of what the
	// turn's own requests cost. Both are estimates, so that it stays clear of 2, where
	// a turn would cost three times what it costs alone.
	helpersShare = 1.5
	// smallShare is what a small model is taken to cost of what the main one does
	// where no prices are known: those of the large providers are a third or less
	// (their price lists of November 2026).
	smallShare = 1.0 / 3
)

// costs is what one request of a task costs, and what the turn's own requests did:
// in dollars where all prices are known, else in tokens as providers weigh them.
func (m Models) costs(target agent.Target, request, turn llm.Usage) (one, own float64) {
	one, known := price(target, request)
	own, alsoKnown := price(m.Main, turn)
	if known && alsoKnown && own > 0 {
		return one, own
	}
	one, own = weight(request), weight(turn)
	if target.ID() != m.Main.ID() {
		one *= smallShare
	}
	return one, own
}

// weight is usage in tokens of input: a cached one costs a tenth, a written one a
// quarter more, one of output five (Anthropic's price list of November 2026; others
// are alike).
func weight(u llm.Usage) float64 {
	return float64(u.In) + float64(u.CacheRead)/10 + 1.25*float64(u.CacheWrite) + 5*float64(u.Out)
}

// A purse is what the running turn has cost, and what its helpers were given of it.
type purse struct {
	turn  llm.Usage // of the turn's own requests
	last  llm.Usage // of the last one
	given float64   // what helpers may use up, as a share of what turn had cost by then
}

// add counts an event. whole is the size of the conversation in tokens: a provider
// that says less than half of it does not count.
func (p *purse) add(b event.Body, whole int) {
	switch b.(type) {
	case event.TurnStarted:
		*p = purse{last: p.last}
	case event.Replied, event.Dropped:
		r, ok := event.Request(b)
		if !ok {
			return
		}
		if r.Usage.Prompt() < whole/2 {
			r.Usage.In = whole
		}
		p.turn, p.last = p.turn.Add(r.Usage), r.Usage
	default: // no request of the turn
	}
}

// cached is what of the conversation the provider has in its cache, in tokens.
func (p *purse) cached() int { return p.last.CacheRead + p.last.CacheWrite }

// lend is how many of most requests a helper may make beside the turn, when one
// costs so much; 0 when it has to wait for a turn that costs more itself.
func (p *purse) lend(one, own float64, most int) int {
	if own <= 0 {
		return 0
	}
	n := most
	if one > 0 {
		n = max(0, min(most, int((helpersShare-p.given)*own/one)))
	}
	p.given += float64(n) * one / own
	return n
}

func price(t agent.Target, u llm.Usage) (usd float64, known bool) {
	if t.Cost == nil {
		return 0, false
	}
	return t.Cost(u)
}
