package auto

import (
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// HistoryVersion is of the stored form of a History and of what Apply makes of
// events; it rises with every change of either.
const HistoryVersion = 3

type (
	storedHistory struct {
		Steps   []storedStep        `json:"steps,omitempty"`
		Forbade []string            `json:"forbade,omitempty"`
		Queued  []event.InputQueued `json:"queued,omitempty"`
		Crew    []string            `json:"crew,omitempty"`
	}
	storedStep struct {
		Said     string `json:"said,omitempty"`
		Attached string `json:"attached,omitempty"`
		Tool     string `json:"tool,omitempty"`
		Input    string `json:"input,omitempty"`
		Agent    string `json:"agent,omitempty"`
		Did      string `json:"did,omitempty"`
	}
)

// AppendHistory adds the stored form of a history to dst: one JSON object.
func AppendHistory(dst []byte, h History) ([]byte, error) {
	steps, gone := h.steps()
	w := storedHistory{Queued: h.queued, Crew: h.crew}
	w.Forbade, _ = within(append(slices.Clip(h.forbade), gone...), maxSentences)
	for _, s := range steps {
		s = h.shown(s)
		w.Steps = append(w.Steps, storedStep{s.said, s.attached, s.tool, s.input, s.agent, s.did})
	}
	return fastjson.Append(dst, w)
}

// ParseHistory reads what AppendHistory wrote in the same HistoryVersion. Its Facts
// are not among that.
func ParseHistory(raw []byte) (h History, err error) {
	var w storedHistory
	if err := fastjson.Unmarshal(raw, &w); err != nil {
		return h, fmt.Errorf("read a stored history: %w", err)
	}
	h.queued, h.forbade, h.crew = w.Queued, w.Forbade, w.Crew
	for _, s := range w.Steps {
		h.last, h.n = &link{step{s.Said, s.Attached, s.Tool, s.Input, s.Agent, s.Did, true}, h.last}, h.n+1
	}
	return h, nil
}
