package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
)

// recordCut records what a call changed on disk that the end of the process cut
// off. Who of several did it is not known: the first stands for all.
func (s *Session) recordCut(ctx context.Context, st *state) error {
	if s.cfg.Files == nil {
		return nil
	}
	open := slices.DeleteFunc(st.Open(), func(u llm.ToolUse) bool { _, began := st.Started[u.ID]; return !began })
	if len(open) == 0 {
		return nil
	}
	changed := s.cfg.Files.Cut(ctx)
	if len(changed.Files)+len(changed.Missed) == 0 {
		return nil
	}
	return s.record(ctx, st, event.ToolFinished{Call: open[0].ID, Name: open[0].Name, IsErr: true, Text: cutText(changed), Effects: []effect.Effect{changed}})
}

// cutText tells the model of a call that was cut off.
func cutText(changed effect.Changed) string {
	if len(changed.Files) == 0 {
		return transcript.Interrupted + ": adze was ended while this call ran"
	}
	var names []string
	for _, c := range changed.Files[:min(len(changed.Files), maxCutNames)] {
		names = append(names, c.Path)
	}
	text := transcript.Interrupted + ": adze was ended while this call ran. Since it began, these changed on disk: " + clip.Visible(strings.Join(names, ", "))
	if more := len(changed.Files) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxCutNames bounds the files that a model is told of.
const maxCutNames = 20
