package auto

import (
	"fmt"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// HistoryVersion is of the stored form of a History and of what Apply makes of
// events; it rises with every change of either.
const HistoryVersion = 1

type (
	storedHistory struct {
		Steps  []storedStep        `json:"steps,omitempty"`
		Queued []event.InputQueued `json:"queued,omitempty"`
	}
	storedStep struct {
		Said  string `json:"said,omitempty"`
		Tool  string `json:"tool,omitempty"`
		Input string `json:"input,omitempty"`
	}
)

// AppendHistory adds the stored form of a history to dst: one JSON object.
func AppendHistory(dst []byte, h History) ([]byte, error) {
	w := storedHistory{Queued: h.queued}
	for _, s := range h.steps() {
		s = h.shown(s)
		w.Steps = append(w.Steps, storedStep{s.said, s.tool, s.input})
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
	h.queued = w.Queued
	for _, s := range w.Steps {
		h.last, h.n = &link{step{s.Said, s.Tool, s.Input, true}, h.last}, h.n+1
	}
	return h, nil
}
