package beside

import (
	"github.com/adze-agent/adze/internal/agent"
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
	behind := llm.Usage{CacheRead: t.whole, In: t.prompt, Out: t.reply}
	apart := llm.Usage{In: t.news + t.prompt, Out: t.reply}
	one, known := price(m.Main, behind)
	other, alsoKnown := price(*m.Small, apart)
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

func price(t agent.Target, u llm.Usage) (usd float64, known bool) {
	if t.Cost == nil {
		return 0, false
	}
	return t.Cost(u)
}
