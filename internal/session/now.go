package session

import (
	"math"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// Mode is the one that the session is in, "" after its end.
func (s *Session) Mode() (m policy.Mode) {
	_ = s.do(func(st *state) { m = st.mode })
	return m
}

// Calls are those of the newest reply that have no result yet, in order.
func (s *Session) Calls() []llm.ToolUse { return s.State().Open() }

// Rules are those in force, without those that a command lends the turn.
func (s *Session) Rules() (r policy.Rules) {
	_ = s.do(func(st *state) {
		r = st.rules
		r.List = slices.Clone(r.List)
	})
	return r
}

// Target is the model that the next request goes to, with the effort that was
// asked for; after the session's end, the one it began with.
func (s *Session) Target() agent.Target {
	out := s.cfg.Target
	_ = s.do(func(st *state) { out = st.asked() })
	return out
}

// DeferAbove is how many tokens of descriptions of tools a model with this window
// is told at once; see Config.
func (s *Session) DeferAbove(window int) int {
	if s.cfg.DeferAbove == nil {
		return math.MaxInt
	}
	return s.cfg.DeferAbove(window)
}

// Tools are those that the next request offers, as long as nothing changes
// before it.
func (s *Session) Tools() (set tool.Set) {
	_ = s.do(func(st *state) { set, _ = s.next(st) })
	return set
}
