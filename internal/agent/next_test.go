package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/transcript"
)

func fault(k llm.Kind) *llm.Error { return &llm.Error{Kind: k} }

// Every reason to continue and to end has at least one row.
func TestNext(t *testing.T) {
	done := outcome{stop: llm.EndTurn, tokens: 100}
	for _, c := range []struct {
		name string
		m    memory
		o    outcome
		can  means
		want choice
	}{
		{"done", memory{}, done, means{}, choice{end: Completed}},
		{"calls go on", memory{}, outcome{stop: llm.WantTools, calls: 2}, means{}, choice{again: NextStep}},
		{"calls count, whatever the stop says", memory{}, outcome{stop: llm.EndTurn, calls: 1}, means{}, choice{again: NextStep}},
		{"a whole call in a capped reply goes on", memory{}, outcome{stop: llm.MaxTokens, calls: 1}, means{largerCap: true}, choice{again: NextStep}},
		{"cut call: raise first", memory{}, outcome{stop: llm.MaxTokens, calls: 1, cut: 1}, means{largerCap: true}, choice{again: OutputCapRaised}},
		{"cut call: others have acted", memory{}, outcome{stop: llm.MaxTokens, calls: 2, cut: 1, acted: true}, means{largerCap: true}, choice{again: CallCut}},
		{"cut call: raised before", memory{raised: true, cutCalls: 2}, outcome{stop: llm.MaxTokens, calls: 1, cut: 1}, means{largerCap: true}, choice{again: CallCut}},
		{"cut call: enough", memory{cutCalls: 3}, outcome{stop: llm.MaxTokens, calls: 1, cut: 1}, means{}, choice{end: OutputCap}},
		{"cut call: the window is full, and nothing can be cleared", memory{}, outcome{stop: llm.WindowFull, calls: 1, cut: 1}, means{compactable: true}, choice{again: CompactedRetry}},
		{"cut call: the window is full, and it was compacted", memory{compacted: true}, outcome{stop: llm.WindowFull, calls: 1, cut: 1}, means{compactable: true}, choice{again: CallCut}},
		{"cut call: the window is full", memory{}, outcome{stop: llm.WindowFull, calls: 1, cut: 1}, means{clearable: true}, choice{again: WindowDrainedRetry}},
		{"cut call: the window was drained as often as it may be", memory{drained: maxDrains}, outcome{stop: llm.WindowFull, calls: 1, cut: 1}, means{clearable: true}, choice{again: CallCut}},
		{"cut call: the window is full, and nothing can go", memory{}, outcome{stop: llm.WindowFull, calls: 1, cut: 1}, means{}, choice{again: CallCut}},
		{"cut call: the window has room", memory{}, outcome{stop: llm.MaxTokens, calls: 1, cut: 1}, means{clearable: true}, choice{again: CallCut}},
		{"the call was put off", memory{}, outcome{stop: llm.WantTools, calls: 1, deferred: true}, means{structured: true}, choice{end: ToolDeferred}},
		{"the same calls failed", memory{futile: "a", futiles: maxSameFailures - 2}, outcome{stop: llm.WantTools, calls: 1, futile: "a"}, means{}, choice{again: NextStep}},
		{"the same calls failed again and again", memory{futile: "a", futiles: maxSameFailures - 1}, outcome{stop: llm.WantTools, calls: 1, futile: "a"}, means{}, choice{end: RepeatedFailure}},
		{"other calls failed", memory{futile: "a", futiles: maxSameFailures - 1}, outcome{stop: llm.WantTools, calls: 1, futile: "b"}, means{}, choice{again: NextStep}},
		{"not all of the calls failed", memory{futile: "a", futiles: maxSameFailures - 1}, outcome{stop: llm.WantTools, calls: 2}, means{}, choice{again: NextStep}},
		{"calls that work are no failure, however often", memory{steps: 1000}, outcome{stop: llm.WantTools, calls: 2}, means{}, choice{again: NextStep}},
		{"tools wanted, none named", memory{}, outcome{stop: llm.WantTools}, means{}, choice{end: Completed}},
		{"empty: once more", memory{}, outcome{stop: llm.EndTurn, empty: true}, means{}, choice{again: EmptyRetry}},
		{"a call as text: a real one is asked for", memory{}, outcome{stop: llm.EndTurn, written: "Bash"}, means{}, choice{again: CallWritten}},
		{"a call as text: once", memory{written: true}, outcome{stop: llm.EndTurn, written: "Bash"}, means{}, choice{end: Completed}},
		{"empty: again", memory{empty: 1}, outcome{stop: llm.EndTurn, empty: true}, means{}, choice{end: ModelError}},
		{"empty: calls say something", memory{empty: 1}, outcome{stop: llm.WantTools, calls: 1, empty: true}, means{}, choice{again: NextStep}},
		{"empty: the hooks want no more than an answer", memory{empty: 1}, done, means{}, choice{end: Completed}},
		{"paused", memory{}, outcome{stop: llm.Paused}, means{}, choice{again: NextStep}},
		{"refused with a call", memory{}, outcome{stop: llm.Refused, calls: 1}, means{}, choice{end: Refused}},
		{"refused", memory{}, outcome{stop: llm.Refused}, means{}, choice{end: Refused}},
		{"interrupted while streaming", memory{}, outcome{interrupted: true, err: fault(llm.Transport)}, means{fallbacks: 1}, choice{end: InterruptedStreaming}},
		{"interrupted while tools ran", memory{}, outcome{interrupted: true, inTools: true, calls: 1}, means{}, choice{end: InterruptedTools}},

		{"cap: raise first", memory{}, outcome{stop: llm.MaxTokens}, means{largerCap: true}, choice{again: OutputCapRaised}},
		{"cap: raised before, resume", memory{raised: true}, outcome{stop: llm.MaxTokens}, means{largerCap: true}, choice{again: OutputResumed}},
		{"cap: nothing larger, resume", memory{}, outcome{stop: llm.MaxTokens}, means{}, choice{again: OutputResumed}},
		{"cap: third resume", memory{resumed: 2}, outcome{stop: llm.MaxTokens}, means{}, choice{again: OutputResumed}},
		{"cap: enough", memory{resumed: 3}, outcome{stop: llm.MaxTokens}, means{}, choice{end: OutputCap}},

		{"too long: clear", memory{}, outcome{err: fault(llm.TooLong)}, means{clearable: true, compactable: true}, choice{again: WindowDrainedRetry}},
		{"too long: cleared, compact", memory{drained: 2}, outcome{err: fault(llm.TooLong)}, means{clearable: true, compactable: true}, choice{again: CompactedRetry}},
		{"too long: cleared some, clear all", memory{drained: 1}, outcome{err: fault(llm.TooLong)}, means{clearable: true, compactable: true}, choice{again: WindowDrainedRetry}},
		{"too long: most of it is new results", memory{drained: 2}, outcome{err: fault(llm.TooLong)}, means{compactable: true, lopsided: true, cuttable: true}, choice{again: ResultsCutRetry}},
		{"too long: and they were shortened enough", memory{squeezed: maxSqueezes}, outcome{err: fault(llm.TooLong)}, means{compactable: true, lopsided: true, cuttable: true}, choice{again: CompactedRetry}},
		{"too long: compacted, shorten results", memory{compacted: true}, outcome{err: fault(llm.TooLong)}, means{compactable: true, cuttable: true}, choice{again: ResultsCutRetry}},
		{"too long: shortened often", memory{compacted: true, squeezed: maxSqueezes}, outcome{err: fault(llm.TooLong)}, means{compactable: true, cuttable: true}, choice{end: PromptTooLong}},
		{"too long: both tried", memory{drained: 2, compacted: true}, outcome{err: fault(llm.TooLong)}, means{clearable: true, compactable: true}, choice{end: PromptTooLong}},
		{"too long: nothing to do", memory{}, outcome{err: fault(llm.TooLong)}, means{}, choice{end: PromptTooLong}},
		{"too long: the instructions are, shorten them", memory{}, outcome{err: fault(llm.TooLong)}, means{clearable: true, compactable: true, light: true, heavy: true}, choice{again: LightRetry}},
		{"too long: shorter instructions are the last thing to try", memory{drained: 2, compacted: true}, outcome{err: fault(llm.TooLong)}, means{clearable: true, light: true}, choice{again: LightRetry}},
		{"window full", memory{}, outcome{stop: llm.WindowFull}, means{clearable: true}, choice{again: WindowDrainedRetry}},

		{"media: strip", memory{}, outcome{err: fault(llm.MediaTooBig)}, means{media: true}, choice{again: MediaStrippedRetry}},
		{"media: stripped before", memory{stripped: true}, outcome{err: fault(llm.MediaTooBig)}, means{media: true}, choice{end: MediaTooLarge}},
		{"media: none to strip", memory{}, outcome{err: fault(llm.MediaTooBig)}, means{}, choice{end: MediaTooLarge}},

		{"overloaded: other model", memory{}, outcome{err: fault(llm.Overloaded)}, means{fallbacks: 1}, choice{again: FallbackModel}},
		{"overloaded: no other model is left", memory{fellBack: 1}, outcome{err: fault(llm.Overloaded)}, means{fallbacks: 1}, choice{end: ModelError}},
		{"overloaded: no other model", memory{}, outcome{err: fault(llm.Overloaded)}, means{}, choice{end: ModelError}},
		{"wrong key", memory{}, outcome{err: fault(llm.Unauthorized)}, means{fallbacks: 1}, choice{end: ModelError}},
		{"bad request", memory{}, outcome{err: fault(llm.BadRequest)}, means{fallbacks: 1}, choice{end: ModelError}},

		{"structured: accepted", memory{}, outcome{stop: llm.WantTools, calls: 1, answered: true}, means{}, choice{end: Completed}},
		{"structured: rejected once", memory{}, outcome{stop: llm.WantTools, calls: 1, rejected: 1}, means{structured: true}, choice{again: NextStep}},
		{"structured: rejected too often", memory{structured: 5}, outcome{stop: llm.WantTools, calls: 1, rejected: 1}, means{structured: true}, choice{end: StructuredRetries}},
		{"structured: ended without", memory{}, done, means{structured: true}, choice{again: StructuredRetry}},
		{"structured: ended without too often", memory{structured: 5}, done, means{structured: true}, choice{end: StructuredRetries}},

		{"hooks block", memory{}, outcome{stop: llm.EndTurn, hook: hooksBlock}, means{}, choice{again: StopHookBlocked}},
		{"hooks block too often", memory{hookBlocks: 10}, outcome{stop: llm.EndTurn, hook: hooksBlock}, means{}, choice{end: Completed}},
		{"hooks end", memory{}, outcome{stop: llm.EndTurn, hook: hooksEnd}, means{}, choice{end: StopHookPrevented}},

		{"budget: nudge", memory{}, done, means{budget: 1000}, choice{again: TokenBudgetNudge}},
		{"budget: nine tenths used", memory{spent: 800}, done, means{budget: 1000}, choice{end: Completed}},
		{"budget: more than eight tenths used", memory{spent: 750}, done, means{budget: 1000}, choice{again: TokenBudgetNudge}},
		{"budget: a step that is just large enough", memory{last: TokenBudgetNudge, small: 2}, outcome{stop: llm.EndTurn, tokens: smallStep}, means{budget: 10_000}, choice{again: TokenBudgetNudge}},
		{"budget: one that is not", memory{last: TokenBudgetNudge, small: 2}, outcome{stop: llm.EndTurn, tokens: smallStep - 1}, means{budget: 10_000}, choice{end: Completed}},
		{"budget: two small steps", memory{last: TokenBudgetNudge, small: 1}, done, means{budget: 10_000}, choice{again: TokenBudgetNudge}},
		{"budget: three small steps", memory{last: TokenBudgetNudge, small: 2}, done, means{budget: 10_000}, choice{end: Completed}},
		{"budget: a large step starts over", memory{last: TokenBudgetNudge, small: 2}, outcome{stop: llm.EndTurn, tokens: 600}, means{budget: 10_000}, choice{again: TokenBudgetNudge}},
	} {
		m, got := next(c.m, c.o, c.can)
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		if m.steps != c.m.steps+1 {
			t.Errorf("%s: %d steps after %d", c.name, m.steps, c.m.steps)
		}
		if got.again != "" && m.last != got.again {
			t.Errorf("%s: remembers %q, not %q", c.name, m.last, got.again)
		}
	}
}

// A step that went well gives the recoveries of single causes back, but never
// the larger cap or the other model.
func TestNextForgives(t *testing.T) {
	m := memory{drained: 2, compacted: true, stripped: true, resumed: 3, cutCalls: 3, empty: 1, raised: true, fellBack: 1}
	m, _ = next(m, outcome{stop: llm.WantTools, calls: 1}, means{})
	want := memory{last: NextStep, steps: 1, raised: true, fellBack: 1}
	if m != want {
		t.Errorf("got %+v, want %+v", m, want)
	}
}

func TestNextRetry(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name     string
		e        llm.Error
		t        tries
		fallback bool
		patient  bool
		jitter   float64
		wait     time.Duration
		most     int
		again    bool
	}{
		{name: "first", e: llm.Error{Kind: llm.ServerError}, wait: s / 2, most: 10, again: true},
		{name: "third", e: llm.Error{Kind: llm.Transport}, t: tries{failed: 2}, wait: 2 * s, most: 10, again: true},
		{name: "capped", e: llm.Error{Kind: llm.ServerError}, t: tries{failed: 9}, wait: 32 * s, most: 10, again: true},
		{name: "eleventh", e: llm.Error{Kind: llm.ServerError}, t: tries{failed: 10}, most: 10},
		{name: "jitter up", e: llm.Error{Kind: llm.ServerError}, jitter: 1, wait: 625 * time.Millisecond, most: 10, again: true},
		{name: "jitter down", e: llm.Error{Kind: llm.ServerError}, jitter: -1, wait: 375 * time.Millisecond, most: 10, again: true},
		{name: "fault 44: Retry-After 0 is floored", e: llm.Error{Kind: llm.RateLimited}, wait: s / 2, most: 10, again: true},
		{name: "fault 44: Retry-After 1", e: llm.Error{Kind: llm.RateLimited, RetryAfter: s}, jitter: -1, wait: s, most: 10, again: true},
		{name: "fault 44: Retry-After 300", e: llm.Error{Kind: llm.RateLimited, RetryAfter: 5 * time.Minute}, wait: 5 * time.Minute, most: 10, again: true},
		{name: "fault 44: Retry-After 3600 is not waited for", e: llm.Error{Kind: llm.RateLimited, RetryAfter: time.Hour}, most: 10},
		{name: "fault 44: but by a person", e: llm.Error{Kind: llm.RateLimited, RetryAfter: time.Hour}, patient: true, jitter: 1, wait: time.Hour, most: 10, again: true},
		{name: "fault 44: unless another model can take over", e: llm.Error{Kind: llm.RateLimited, RetryAfter: time.Hour}, patient: true, fallback: true, most: 10},
		{name: "529 with a fallback", e: llm.Error{Kind: llm.Overloaded}, t: tries{failed: 3}, fallback: true, most: 3},
		{name: "529 without", e: llm.Error{Kind: llm.Overloaded}, t: tries{failed: 3}, wait: 4 * s, most: 10, again: true},
		{name: "500 with a fallback", e: llm.Error{Kind: llm.ServerError}, t: tries{failed: 3}, fallback: true, wait: 4 * s, most: 10, again: true},
		{name: "broken midway", e: llm.Error{Kind: llm.Cut, Begun: true}, t: tries{failed: 9}, wait: s / 2, most: 3, again: true},
		{name: "broken midway too often", e: llm.Error{Kind: llm.Stalled, Begun: true}, t: tries{broken: 3}, most: 3},
		{name: "a bad certificate", e: llm.Error{Kind: llm.Transport, Permanent: true}},
		{name: "no network", e: llm.Error{Kind: llm.Transport, Offline: true}, t: tries{failed: 9}, wait: 32 * s, most: 10, again: true},
		{name: "no network, for long", e: llm.Error{Kind: llm.Transport, Offline: true}, t: tries{failed: 10}, most: 10},
		{name: "no network, and somebody watches", e: llm.Error{Kind: llm.Transport, Offline: true}, patient: true, wait: s / 2, again: true},
		{name: "no network, and somebody watches for long", e: llm.Error{Kind: llm.Transport, Offline: true}, t: tries{failed: 500}, patient: true, wait: 32 * s, again: true},
		{name: "no network, and another model", e: llm.Error{Kind: llm.Transport, Offline: true}, t: tries{failed: 10}, patient: true, fallback: true, most: 10},
		{name: "a server here does not run", e: llm.Error{Kind: llm.Transport, Offline: true, Near: true}, t: tries{failed: 2}, patient: true, wait: 2 * s, most: 3, again: true},
		{name: "nor later", e: llm.Error{Kind: llm.Transport, Offline: true, Near: true}, t: tries{failed: 3}, patient: true, most: 3},
		{name: "wrong key", e: llm.Error{Kind: llm.Unauthorized}},
		{name: "too long", e: llm.Error{Kind: llm.TooLong}},
	} {
		wait, most, again := nextRetry(&c.e, c.t, c.fallback, c.patient, c.jitter)
		if wait != c.wait || most != c.most || again != c.again {
			t.Errorf("%s: got %v %d %v, want %v %d %v", c.name, wait, most, again, c.wait, c.most, c.again)
		}
	}
}

// What a fault made necessary is not counted as a turn that a person allowed.
func TestRecoveriesAreNoTurns(t *testing.T) {
	for _, c := range []struct {
		o    outcome
		can  means
		want int
	}{
		{outcome{stop: llm.MaxTokens}, means{largerCap: true}, 1},
		{outcome{stop: llm.MaxTokens}, means{}, 1},
		{outcome{err: fault(llm.TooLong)}, means{clearable: true}, 1},
		{outcome{err: fault(llm.MediaTooBig)}, means{media: true}, 1},
		{outcome{err: fault(llm.Overloaded)}, means{fallbacks: 1}, 1},
		{outcome{stop: llm.WantTools, calls: 1}, means{}, 0},
		{outcome{stop: llm.EndTurn}, means{structured: true}, 0},
	} {
		if m, got := next(memory{}, c.o, c.can); m.recoveries != c.want || got.again == "" {
			t.Errorf("%+v: %d, %+v", c.o, m.recoveries, got)
		}
	}
}

// A cause that does not go away is met with each recovery as often as it may be,
// in this order, and then the turn ends.
func TestRecoveriesEnd(t *testing.T) {
	all := means{largerCap: true, fallbacks: 1, clearable: true, media: true, compactable: true}
	for name, c := range map[string]struct {
		o    outcome
		can  means
		want string
	}{
		"a capped reply":             {outcome{stop: llm.MaxTokens}, all, "output_cap_raised 3*output_resumed output_cap"},
		"a call that is cut":         {outcome{stop: llm.MaxTokens, calls: 1, cut: 1}, all, "output_cap_raised 3*call_cut output_cap"},
		"one in a full window":       {outcome{stop: llm.WindowFull, calls: 1, cut: 1}, all, "output_cap_raised 2*window_drained_retry compacted_retry 3*call_cut output_cap"},
		"a full window":              {outcome{stop: llm.WindowFull}, all, "2*window_drained_retry compacted_retry prompt_too_long"},
		"a request that is too long": {outcome{err: fault(llm.TooLong)}, all, "2*window_drained_retry compacted_retry prompt_too_long"},
		"media that is too large":    {outcome{err: fault(llm.MediaTooBig)}, all, "media_stripped_retry media_too_large"},
		"a model that is busy":       {outcome{err: fault(llm.Overloaded)}, all, "fallback_model model_error"},
		"a wrong key":                {outcome{err: fault(llm.Unauthorized)}, all, "model_error"},
		"nothing is said":            {outcome{stop: llm.EndTurn, empty: true}, all, "empty_reply_retry model_error"},
		"an answer that never fits":  {outcome{stop: llm.WantTools, calls: 1, rejected: 1}, all, "5*next_step structured_output_retries"},
		"an answer that never comes": {outcome{stop: llm.EndTurn}, means{structured: true}, "5*structured_output_retry structured_output_retries"},
		"hooks that want more":       {outcome{stop: llm.EndTurn, hook: hooksBlock}, all, "10*stop_hook_blocked completed"},
		"little that is done":        {outcome{stop: llm.EndTurn, tokens: 10}, means{budget: 100_000}, "3*token_budget_nudge completed"},
	} {
		var got []string
		last, n := "", 0
		said := func(s string) {
			if s == last {
				n++
				return
			}
			switch {
			case n > 1:
				got = append(got, fmt.Sprintf("%d*%s", n, last))
			case n == 1:
				got = append(got, last)
			}
			last, n = s, 1
		}
		for m, steps := (memory{}), 0; steps < 50; steps++ {
			var ch choice
			if m, ch = next(m, c.o, c.can); ch.end != "" {
				said(string(ch.end))
				break
			}
			said(string(ch.again))
		}
		said("")
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
	}
}

// Small steps count in a row: a large one between them begins the count anew.
func TestSmallStepsInARow(t *testing.T) {
	m, got := memory{last: TokenBudgetNudge}, choice{}
	for i, tokens := range []int{10, 10, 600, 10, 10, 10} {
		m, got = next(m, outcome{stop: llm.EndTurn, tokens: tokens}, means{budget: 10_000})
		if last := i == 5; (got.end == Completed) != last {
			t.Errorf("step %d: %+v", i, got)
		}
	}
}

// A budget is asked to be used up to nine tenths, and a step of 500 tokens is no small
// one.
func TestSharesOfATask(t *testing.T) {
	for _, c := range []struct {
		spent, tokens, small int
		again                bool
		left                 int // small steps in a row after it
	}{
		{8000, 999, 0, true, 0}, {8000, 1000, 0, false, 0}, {0, 499, 2, false, 3}, {0, 500, 2, true, 0}, {0, 499, 1, true, 2},
	} {
		m, got := next(memory{last: TokenBudgetNudge, spent: c.spent, small: c.small}, outcome{stop: llm.EndTurn, tokens: c.tokens}, means{budget: 10_000})
		if (got.again == TokenBudgetNudge) != c.again || m.small != c.left {
			t.Errorf("%+v: %+v, %d small steps", c, got, m.small)
		}
	}
}

// Of the answers in a reply those that did not fit are counted, and no other calls that failed.
func TestStructuredAnswersAreCounted(t *testing.T) {
	c := &calls{r: &run{Loop: &Loop{Structured: "Answer"}}, list: []*call{
		{use: llm.ToolUse{Name: "Answer"}, isErr: true}, {use: llm.ToolUse{Name: "Other"}, isErr: true}, {use: llm.ToolUse{Name: "Answer"}, answer: []byte(`{}`)},
	}}
	if rejected, answer := c.structured(); rejected != 1 || string(answer) != "{}" {
		t.Errorf("%d did not fit, the answer is %s", rejected, answer)
	}
}

// Who reads that a turn failed reads what helps, whether the provider said something or not.
func TestEndingsHaveHints(t *testing.T) {
	r := &run{Turn: Turn{Host: fresh{}}}
	for _, e := range []End{ModelError, OutputCap, PromptTooLong, MediaTooLarge, Refused, StructuredRetries, RepeatedFailure} {
		if out := r.ending(e, outcome{}); out.Text == "" || out.Hint == "" {
			t.Errorf("%s: %+v", e, out)
		}
	}
	if out := r.ending(ModelError, outcome{err: fault(llm.BadRequest)}); out.Text != "" || out.Hint != "" || out.Err == nil {
		t.Errorf("the provider's own words are replaced: %+v", out)
	}
}

// fresh is a host in which nothing has happened.
type fresh struct{ Host }

func (fresh) State() transcript.State { return transcript.State{} }

// A call may run beside others that are parallel as it is, as long as there is room; one
// that runs alone lets those before it go first, but for those that somebody rules on.
func TestWhoMayRun(t *testing.T) {
	par := func(p phase) *call { return &call{parallel: true, phase: p} }
	one := func(p phase) *call { return &call{phase: p} }
	busy := func(n int) (out []*call) {
		for range n {
			out = append(out, par(running))
		}
		return out
	}
	for name, c := range map[string]struct {
		before []*call
		k      *call
		behind []*call
		most   int
		want   bool
	}{
		"nothing else":                         {nil, one(planned), nil, 0, true},
		"alone, behind one that waits":         {[]*call{par(planned)}, one(planned), nil, 0, false},
		"alone, before one that waits":         {nil, one(planned), []*call{par(planned)}, 0, true},
		"alone, behind one that is asked of":   {[]*call{par(asking)}, one(planned), nil, 0, true},
		"alone, behind one that runs":          {busy(1), one(planned), nil, 0, false},
		"alone, behind one that is done":       {[]*call{one(done)}, one(planned), nil, 0, true},
		"parallel, behind one that waits":      {[]*call{one(planned)}, par(planned), nil, 0, true},
		"parallel, behind a parallel one":      {[]*call{par(planned)}, par(planned), nil, 0, true},
		"parallel, beside one that runs alone": {[]*call{one(running)}, par(planned), nil, 0, false},
		"parallel, behind one that runs":       {busy(1), par(planned), nil, 0, true},
		"parallel, nine run":                   {busy(9), par(planned), nil, 0, true},
		"parallel, ten run":                    {busy(10), par(planned), nil, 0, false},
		"parallel, two run of two":             {busy(2), par(planned), nil, 2, false},
		"parallel, one runs of two":            {busy(1), par(planned), nil, 2, true},
	} {
		cs := &calls{r: &run{Loop: &Loop{MaxCalls: c.most}}, list: append(append(c.before, c.k), c.behind...)}
		if got := cs.mayRun(c.k); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
