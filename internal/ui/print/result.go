package print

import (
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
)

func (p *projection) end(b event.TurnEnded) []any {
	out := p.cutShort()
	for _, id := range p.waiting {
		if r, ok := p.results[id]; ok {
			out = append(out, p.show(r)...)
			continue
		}
		if b.Reason == event.ToolDeferred {
			continue
		}
		// A call that the turn's end closed.
		part := llm.ToolResult{ID: id, Text: transcript.Interrupted, IsErr: true}
		out = append(out, messageLine{Type: "user", UUID: p.about.NewID(), SessionID: p.about.SessionID, Message: userMessage{Role: "user", Content: []any{toolResult(part)}}, Synthetic: true})
	}
	p.waiting = nil
	clear(p.results)
	p.ended = &b
	p.api, p.took = p.api+b.API, p.took+b.Took
	return append(out, p.result(b))
}

func (p *projection) result(b event.TurnEnded) resultLine {
	r := resultLine{
		Type: "result", Subtype: subtype(b), Duration: ms(b.Took), API: ms(b.API), IsError: b.How != event.Done, Status: b.Status,
		Turns: b.Steps, TTFT: ms(p.turn.first), Cost: p.cost, Usage: toUsage(p.turn.usage), ModelUsage: p.models,
		Denials: p.turn.denials, Structured: b.Answer, Reason: terminal(b.Reason), UUID: p.about.NewID(), SessionID: p.about.SessionID,
	}
	if r.Denials == nil {
		r.Denials = []denialLine{}
	}
	if p.last.Stop != "" {
		s := string(p.last.Stop)
		r.StopReason = &s
	}
	if u := p.deferred(b); u != nil {
		s := event.ToolDeferred
		r.StopReason, r.Deferred = &s, &deferredLine{ID: u.ID, Name: u.Name, Input: u.Input}
	}
	if b.How == event.Done {
		s := p.answer()
		r.Result = &s
	} else {
		r.Errors = []string{problem(b)}
	}
	return r
}

// deferred is the call that the turn ended for, nil when it ended for another reason.
func (p *projection) deferred(b event.TurnEnded) *llm.ToolUse {
	if b.Reason != event.ToolDeferred {
		return nil
	}
	for _, part := range p.last.Message.Parts {
		if u, ok := part.(llm.ToolUse); ok {
			return &u
		}
	}
	return nil
}

// answer is the text of the last reply, whole, or the structured answer.
func (p *projection) answer() string {
	if p.ended != nil && p.ended.Answer != nil {
		return string(p.ended.Answer)
	}
	if p.ended != nil && p.ended.Final != "" {
		return p.ended.Final
	}
	return p.said
}

func subtype(b event.TurnEnded) string {
	switch {
	case b.How == event.Done:
		return "success"
	case b.Reason == "max_turns":
		return "error_max_turns"
	case b.Reason == "max_budget_usd":
		return "error_max_budget_usd"
	case b.Reason == "structured_output_retries":
		return "error_max_structured_output_retries"
	}
	return "error_during_execution"
}

// terminal is a reason as hosts know it (TerminalReason of the published SDK, 0.3.332);
// those that it has no name for are adze's own.
func terminal(reason string) string {
	switch reason {
	case "interrupted_tools":
		return "aborted_tools"
	case "interrupted_streaming", event.InterruptedSummary:
		return "aborted_streaming"
	case "max_budget_usd", "token_budget":
		return "budget_exhausted"
	case "structured_output_retries":
		return "structured_output_retry_exhausted"
	case "media_too_large":
		return "image_error"
	}
	return reason
}

// problem says in words why a turn did not end well.
func problem(b event.TurnEnded) string {
	switch {
	case b.Err != "":
		return b.Err
	case b.How == event.Interrupted:
		return "interrupted"
	}
	return "the run ended early: " + b.Reason
}
