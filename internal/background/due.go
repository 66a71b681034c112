package background

import (
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
)

// When helpers run (context.md, "Automatic memory"). Tokens are estimated.
const (
	firstNotes = 10_000 // tokens of a conversation before it has notes
	nextNotes  = 5_000  // tokens after which they are looked through
	notesCalls = 3      // calls after which they are
	// A conversation has enough news for the memory after so many tokens, or
	// prompts of a person.
	memoryTokens  = 5_000
	memoryPrompts = 4
	// maxFailures in a row end a kind of helper for the session.
	maxFailures = 3
)

// A meter counts what came into a conversation since it was last reset.
type meter struct {
	bytes, calls, prompts int
	spoken                bool // the turn has called no tool
}

// add counts an event.
func (m *meter) add(b event.Body) {
	switch b := b.(type) {
	case event.InputAccepted:
		m.bytes += len(b.Text)
		for _, a := range b.Attached {
			m.bytes += len(a.Text)
		}
		if !b.Hidden {
			m.prompts++
		}
	case event.TurnStarted:
		m.spoken = true
	case event.Replied:
		m.bytes += sizes(b.Message.Parts)
	case event.ToolFinished:
		m.bytes += len(b.Text)
		m.calls++
		m.spoken = false
	default: // nothing of the conversation
	}
}

func sizes(parts []llm.Part) (n int) {
	for _, p := range parts {
		n += transcript.Size(p)
	}
	return n
}

func (m *meter) tokens() int { return clip.Tokens(m.bytes) }

// notesDue reports whether notes are to be written: first says that there are
// none, whole is the size of the conversation in tokens, ended that the turn is
// over. A turn without calls that ends is as good a moment as three calls.
func (m *meter) notesDue(first bool, whole int, ended bool) bool {
	if first {
		return whole >= firstNotes
	}
	return m.tokens() >= nextNotes && (m.calls >= notesCalls || ended && m.spoken)
}

// memoryDue reports whether there is enough news at the end of a turn.
func (m *meter) memoryDue() bool {
	return m.tokens() >= memoryTokens || m.prompts >= memoryPrompts
}
