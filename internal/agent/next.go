package agent

import (
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// A Continue is a reason to take another step.
type Continue string

// Reasons to continue (loop.md).
const (
	NextStep           Continue = "next_step"
	WindowDrainedRetry Continue = "window_drained_retry"
	CompactedRetry     Continue = "compacted_retry"
	// ResultsCutRetry asks again with results that were shortened to what fits.
	ResultsCutRetry    Continue = "results_cut_retry"
	OutputCapRaised    Continue = "output_cap_raised"
	OutputResumed      Continue = "output_resumed"
	StopHookBlocked    Continue = "stop_hook_blocked"
	TokenBudgetNudge   Continue = "token_budget_nudge"
	FallbackModel      Continue = "fallback_model"
	MediaStrippedRetry Continue = "media_stripped_retry"
	// LightRetry asks again with shorter instructions and tools.
	LightRetry Continue = "light_retry"
	// StructuredRetry asks for the structured answer a reply ended without.
	StructuredRetry Continue = "structured_output_retry"
	// CallCut goes on after a call that the output limit cut off: its result
	// names the limit.
	CallCut Continue = "call_cut"
	// CallWritten asks once for a call that came as text.
	CallWritten Continue = "call_written"
	// EmptyRetry asks again after a reply that said nothing.
	EmptyRetry Continue = "empty_reply_retry"
)

// An End is a reason to end the turn.
type End string

// Reasons to end (loop.md).
const (
	Completed            End = "completed"
	MaxTurns             End = "max_turns"
	MaxBudget            End = "max_budget_usd"
	TokenBudget          End = "token_budget"
	BlockingLimit        End = event.BlockingLimit
	InterruptedStreaming End = "interrupted_streaming"
	InterruptedTools     End = "interrupted_tools"
	InterruptedSummary   End = event.InterruptedSummary
	PromptTooLong        End = event.PromptTooLong
	InstructionsTooLong  End = event.InstructionsTooLong
	OutputCap            End = "output_cap"
	MediaTooLarge        End = "media_too_large"
	ModelError           End = "model_error"
	StopHookPrevented    End = "stop_hook_prevented"
	HookStopped          End = "hook_stopped"
	CommandMistaken      End = "command_mistaken" // a prompt is a command that cannot be done as it is defined
	Refused              End = "refused"
	ToolDeferred         End = event.ToolDeferred
	StructuredRetries    End = "structured_output_retries"
	// RepeatedFailure ends a turn that does nothing but the same failing calls.
	RepeatedFailure End = "repeated_failure"
)

// Limits of the recoveries (loop.md).
const (
	maxResumes         = 3
	maxCutCalls        = 3 // replies in a row with a call that was cut off
	maxDrains          = 2 // old results first, then all that can go
	maxSqueezes        = 4 // times that results are shortened so that a request fits, each time more
	maxStructuredTries = 5
	maxStopHookBlocks  = 10
	smallStep          = 500 // tokens: less than that is no progress
	maxSmallSteps      = 3
	maxSameFailures    = 25 // replies in a row with the same calls, all of which failed; waiting for something looks like that, too
)

// memory is what the loop remembers from step to step, so that no recovery is
// tried twice for the same cause.
type memory struct {
	last       Continue
	steps      int // replies asked for
	recoveries int // of them, those that a recovery asked for
	raised     bool
	resumed    int
	cutCalls   int // replies in a row with a call that was cut off
	stripped   bool
	drained    int // times that results were cleared for it
	compacted  bool
	squeezed   int // times that results were shortened for it
	fellBack   int // how many of the other models were tried
	attempts   int // of the newest request that failed
	elsewhere  int // attempts with models that failed, since the last reply
	hookBlocks int
	written    bool   // a real call was asked for
	empty      int    // replies in a row that said nothing
	structured int    // answers that did not fit, or replies without one
	small      int    // nudges in a row that brought less than smallStep tokens
	spent      int    // output tokens of this turn
	futile     string // the calls of the last reply, when all of them failed
	futiles    int    // replies in a row with these calls
}

// An outcome is what one step came to.
type outcome struct {
	stop        llm.Stop // of the reply, "" when there was none
	calls       int      // calls of the reply that ran or were refused
	cut         int      // of them, those that the output limit cut off
	declined    string   // what a refused reply said, and why it was refused
	empty       bool     // the reply said nothing, or only reasoned
	written     string   // the tool of a call that came as text, "" when there is none
	acted       bool     // one of them has done something
	tokens      int      // output tokens of the reply
	err         *llm.Error
	interrupted bool
	inTools     bool   // the interrupt came while tools ran
	answered    bool   // the structured answer was accepted
	futile      string // the calls, when all of them failed; "" otherwise
	rejected    int    // structured answers of this step that did not fit
	stopped     bool   // a hook ends the turn
	deferred    bool   // a hook puts the call of this reply off
	hook        hookRuling
}

// A hookRuling is what the stop hooks said.
type hookRuling int

const (
	hooksAgree hookRuling = iota
	hooksBlock            // go on: the reason was given to the model
	hooksEnd              // end the turn for good
)

// means is what the turn could still do.
type means struct {
	largerCap   bool // the model has a larger output cap than was asked for
	fallbacks   int  // how many other models are configured; 0 when none of them is left
	clearable   bool // old tool results can be cleared
	media       bool // the history holds images or documents
	compactable bool
	lopsided    bool // most of the conversation is results that the model has not seen yet
	cuttable    bool // there are results that can be shortened
	light       bool // there are shorter instructions and tools
	heavy       bool // they are most of what does not fit
	structured  bool // an answer that fits a schema is demanded
	budget      int  // tokens the turn is asked to use, 0 for none
}

// A choice is what comes next: exactly one of its fields is set.
type choice struct {
	again Continue
	end   End
}

// next decides what follows a step. It is pure: the same arguments always
// give the same choice.
func next(m memory, o outcome, can means) (memory, choice) {
	m.steps++
	m.spent += o.tokens
	switch {
	case o.inTools:
		return m, choice{end: InterruptedTools}
	case o.interrupted:
		return m, choice{end: InterruptedStreaming}
	case o.err != nil:
		return afterError(m, o, can)
	case o.stopped:
		return m, choice{end: HookStopped}
	case o.deferred:
		return m, choice{end: ToolDeferred}
	case o.answered:
		return m, choice{end: Completed}
	}
	m.structured += o.rejected
	if m.structured > maxStructuredTries {
		return m, choice{end: StructuredRetries}
	}
	if o.cut > 0 {
		return afterCutCall(m, o, can)
	}
	if o.stop == llm.Refused {
		return m, choice{end: Refused}
	}
	if o.calls > 0 {
		if o.futile != m.futile {
			m.futile, m.futiles = o.futile, 0
		}
		if o.futile != "" {
			m.futiles++
		}
		if m.futiles >= maxSameFailures {
			return m, choice{end: RepeatedFailure}
		}
	}
	if o.calls > 0 || o.stop == llm.Paused {
		return m.again(NextStep)
	}
	switch o.stop {
	case llm.MaxTokens:
		return afterCap(m, can)
	case llm.WindowFull:
		return afterTooLong(m, can)
	case llm.EndTurn, llm.WantTools, llm.Paused, llm.Refused:
	}
	if o.written != "" && !m.written {
		m.written = true
		return m.again(CallWritten)
	}
	if o.empty && m.empty > 0 {
		return m, choice{end: ModelError}
	}
	if o.empty {
		m.empty++
		return m.again(EmptyRetry)
	}
	return afterDone(m, o, can)
}

// afterDone decides when the model thinks it is done.
func afterDone(m memory, o outcome, can means) (memory, choice) {
	switch o.hook {
	case hooksEnd:
		return m, choice{end: StopHookPrevented}
	case hooksBlock:
		if m.hookBlocks < maxStopHookBlocks {
			m.hookBlocks++
			return m.again(StopHookBlocked)
		}
	case hooksAgree:
	}
	if can.structured {
		if m.structured++; m.structured > maxStructuredTries {
			return m, choice{end: StructuredRetries}
		}
		return m.again(StructuredRetry)
	}
	if m.spent < can.budget*9/10 {
		if m.last == TokenBudgetNudge && o.tokens < smallStep {
			m.small++
		} else {
			m.small = 0
		}
		if m.small < maxSmallSteps {
			return m.again(TokenBudgetNudge)
		}
	}
	return m, choice{end: Completed}
}

// afterCap decides when a reply without calls ran into the output cap.
func afterCap(m memory, can means) (memory, choice) {
	switch {
	case can.largerCap && !m.raised:
		m.raised = true
		return m.again(OutputCapRaised)
	case m.resumed < maxResumes:
		m.resumed++
		return m.again(OutputResumed)
	}
	return m, choice{end: OutputCap}
}

// afterCutCall decides when a call ran into the output cap, or into the end of
// the window. The reply is asked for again with a larger cap unless a call of
// it has done something already.
func afterCutCall(m memory, o outcome, can means) (memory, choice) {
	switch {
	case can.largerCap && !m.raised && !o.acted:
		m.raised = true
		return m.again(OutputCapRaised)
	case o.stop == llm.WindowFull && can.clearable && m.drained < maxDrains:
		m.drained++
		return m.again(WindowDrainedRetry)
	case o.stop == llm.WindowFull && can.compactable && !m.compacted:
		m.compacted = true
		return m.again(CompactedRetry)
	case m.cutCalls < maxCutCalls:
		m.cutCalls++
		return m.again(CallCut)
	}
	return m, choice{end: OutputCap}
}

// afterTooLong decides when the prompt does not fit the window.
func afterTooLong(m memory, can means) (memory, choice) {
	switch {
	case can.light && can.heavy:
		return m.again(LightRetry)
	case can.clearable && m.drained < maxDrains:
		m.drained++
		return m.again(WindowDrainedRetry)
	case can.compactable && !m.compacted && !(can.lopsided && can.cuttable && m.squeezed < maxSqueezes):
		m.compacted = true
		return m.again(CompactedRetry)
	case can.cuttable && m.squeezed < maxSqueezes:
		m.squeezed++
		return m.again(ResultsCutRetry)
	case can.light:
		return m.again(LightRetry)
	}
	return m, choice{end: PromptTooLong}
}

// afterError decides when a request failed for good, all waiting done.
func afterError(m memory, o outcome, can means) (memory, choice) {
	switch o.err.Kind {
	case llm.TooLong:
		return afterTooLong(m, can)
	case llm.MediaTooBig:
		if can.media && !m.stripped {
			m.stripped = true
			return m.again(MediaStrippedRetry)
		}
		return m, choice{end: MediaTooLarge}
	case llm.Overloaded, llm.RateLimited, llm.ServerError, llm.Transport, llm.Stalled, llm.Cut:
		if m.fellBack < can.fallbacks {
			m.fellBack++
			return m.again(FallbackModel)
		}
	case llm.Unauthorized, llm.NoCredit, llm.NotFound, llm.BadRequest, llm.BadReply:
	}
	return m, choice{end: ModelError}
}

// again returns the memory of a step that is followed by another one. What one
// cause used up is available again once a step went well. A step that a fault
// made necessary is not one of those that a person allowed.
func (m memory) again(c Continue) (memory, choice) {
	if c != EmptyRetry {
		m.empty = 0
	}
	if c == NextStep {
		m.resumed, m.cutCalls, m.drained, m.squeezed, m.compacted, m.stripped = 0, 0, 0, 0, false, false
	}
	switch c {
	case OutputCapRaised, OutputResumed, WindowDrainedRetry, CompactedRetry, ResultsCutRetry, MediaStrippedRetry, LightRetry, FallbackModel, EmptyRetry, CallWritten:
		m.recoveries++
	case NextStep, StopHookBlocked, TokenBudgetNudge, StructuredRetry, CallCut:
	}
	m.last = c
	return m, choice{again: c}
}
