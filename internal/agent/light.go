package agent

import (
	"fmt"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/window"
)

// A Light is what instructions and tools are for a small window. All Loops of a session share
// it; a turn takes it when a server refuses the full ones, and the session stays with it.
type Light struct {
	System func() []string // the same each time
	Tools  func(tool.Set) tool.Set
	on     atomic.Bool
}

const lightNote = "the model's window is too small for adze's instructions and tools; this session goes on with the shorter ones for small windows (\"adze config set profile small\" begins with them)"

// Instructions are those that requests have now.
func (l *Loop) Instructions() []string {
	if l.Light != nil && l.Light.on.Load() {
		return l.Light.System()
	}
	return l.System
}

// specs are the tools that requests list now.
func (r *run) specs() []llm.Spec {
	if r.Light != nil && r.Light.on.Load() {
		return r.Light.Tools(r.tools).Specs()
	}
	return r.tools.Specs()
}

// lighten has requests be shorter from now on.
func (r *run) lighten() error {
	r.Light.on.Store(true)
	return r.Host.Emit(event.Noted{Level: "warning", Text: lightNote})
}

// leastHeavy is how many tokens the instructions and tools have that can be too many.
const leastHeavy = 1000

// heavy reports whether a request was refused as too long because of its instructions and
// tools: of tokens, and the most that the server takes, 0 where it did not say.
func (r *run) heavy(o outcome) (tokens, limit int, yes bool) {
	if o.err == nil || o.err.Fix != "" { // the error knows what helps
		return 0, 0, false
	}
	if tokens = window.Overhead(r.Instructions(), r.specs()); tokens < leastHeavy {
		return tokens, 0, false
	}
	if _, limit = window.Counted(o.err.Err.Error(), r.asked); limit > 0 {
		return tokens, limit, tokens >= limit/2
	}
	return tokens, 0, r.Host.State().Gauge().Bytes < 2*tokens
}

// tooHeavy puts into words that a window is too small for what every request has.
func (r *run) tooHeavy(o outcome, out Outcome) Outcome {
	tokens, limit, yes := r.heavy(o)
	if !yes {
		return out
	}
	out.Reason = InstructionsTooLong
	out.Text = fmt.Sprintf("adze's instructions and tools alone, about %s tokens, do not fit the model's window", clip.Thousands(tokens))
	if limit > 0 {
		out.Text += fmt.Sprintf(" of %s", clip.Thousands(limit))
	}
	out.Text += ": " + o.err.Error()
	out.Hint = "have the server load the model with a larger window (16,000 tokens or more), or use another model: --model …"
	if r.Full {
		out.Hint = "use the shorter instructions (the setting profile: small), or " + out.Hint
	}
	return out
}
