package story

import (
	"fmt"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/usage"
	"github.com/adze-agent/adze/internal/window"
)

// SpentCells are what was spent, as the cells of a row of a table in Markdown behind its name.
func SpentCells(s usage.Spent) string {
	first := ""
	if s.Timed > 0 {
		first = Span(s.FirstChunk())
	}
	return fmt.Sprintf(" | %d | %s | %s | %s | %s | %s | %s |", s.Requests(), clip.Short(s.Usage.Prompt()), clip.Short(s.Usage.Out), clip.Short(s.Usage.CacheRead), clip.Short(s.Usage.CacheWrite), first, s.Money())
}

// Left is how much of the room for a conversation is free, in percent.
func Left(st transcript.State, room int) int { return max(0, 100-window.Estimate(st)*100/room) }
