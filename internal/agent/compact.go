package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/view"
	"github.com/adze-agent/adze/internal/window"
)

// Bounds of asking for a summary.
const (
	maxSummaryReply = 20_000 // tokens, with what the model thinks before it
	maxShortenings  = 5      // times that the request for it is made shorter
	// maxRecord bounds the cleared results that a record has again, in bytes; of
	// others it has the line that says how Read shows them.
	maxRecord = 4 << 20
)

// refusedCall answers a call in place of a summary.
const refusedCall = "This call was refused: only the text of the summary is wanted now. Write it, and call no tool."

// Compact runs a turn that does nothing but compact the conversation.
func (l *Loop) Compact(ctx context.Context, t Turn, c Compaction) (Outcome, error) {
	r := &run{Loop: l, Turn: t}
	var err error
	if r.tools, err = t.Host.Tools(); err != nil {
		return Outcome{}, err
	}
	ok, err := r.compact(ctx, c)
	switch {
	case r.noGain:
		return r.outcome(Outcome{Reason: Completed}), err // the event says what there is to say
	case ctx.Err() != nil:
		return r.outcome(Outcome{Reason: InterruptedSummary, Text: "the compaction was interrupted: the conversation is as it was"}), err
	case !ok:
		return r.outcome(Outcome{Reason: ModelError, Text: "the conversation could not be compacted: " + r.noSummary, Hint: "use another model (--model …), or start a new session"}), err
	}
	return r.outcome(Outcome{Reason: Completed}), err
}

// compact replaces the conversation by a summary and what is kept word for word.
// When no summary can be had, it stays as it is, and ok is false. err is not nil
// when something could not be recorded.
func (r *run) compact(ctx context.Context, c Compaction) (ok bool, err error) {
	if err := r.Host.Emit(event.Compacting{Trigger: c.Trigger}); err != nil {
		return false, err
	}
	var why string
	if c.Focus, why = r.compacting(ctx, c); why != "" {
		r.noSummary = why
		return false, r.Host.Emit(event.CompactFailed{Trigger: c.Trigger, Why: why})
	}
	target := r.Host.Model()
	overhead := window.Overhead(r.Instructions(), r.specs())
	effective := window.Effective(target.Window, target.Cap)
	if err := r.bound(effective); err != nil {
		return false, err
	}
	st := r.Host.State()
	ratio := window.Ratio(st)
	overhead = window.Standing(st, overhead)
	shares := window.SharesOf(effective, overhead).In(ratio)
	if e, ok := r.fromNotes(ctx, c, st, effective, overhead); ok {
		return true, r.compacted(ctx, e)
	}
	summary, err := r.summary(ctx, target, c, shares)
	var recorded *unrecorded
	switch {
	case ctx.Err() != nil:
		return false, nil
	case errors.As(err, &recorded):
		return false, recorded.err
	case err != nil:
		return false, r.failed(c, st, clip.Line(err.Error(), 300))
	}
	e := event.Compacted{Trigger: c.Trigger, Tokens: r.used(st), Before: c.Before, From: c.From}
	switch {
	case c.Before > 0:
		e.From = st.Seq + 1
	case c.From == 0:
		e.From = window.Tail(st, shares.Tail)
	}
	e, after := r.boundary(ctx, st, e, prompt.Section{Name: "summary", Text: clip.Middle(summary, 4*shares.Summary, "")}, shares, overhead)
	if was, is := st.Gauge().Bytes, after.Gauge().Bytes; is >= was {
		r.noGain = true
		return false, r.failed(c, st, fmt.Sprintf("its summary, with what is kept word for word beside it, would take more room (about %s) than what they stand for (%s)",
			clip.Count(clip.Tokens(is), "token"), clip.Count(clip.Tokens(was), "token")))
	}
	return true, r.compacted(ctx, e)
}

// failed records that the conversation stays as it is.
func (r *run) failed(c Compaction, st transcript.State, why string) error {
	r.noSummary = why
	return r.Host.Emit(event.CompactFailed{Trigger: c.Trigger, Why: why, Stops: c.Trigger != event.CauseAsked && st.Failed+1 >= maxFailed})
}

// fromNotes compacts without a request: the session's notes stand for what they
// tell of, and what came after them stays. ok is false when a summary has to be
// asked for.
func (r *run) fromNotes(ctx context.Context, c Compaction, st transcript.State, effective, overhead int) (e event.Compacted, ok bool) {
	if r.Notes == nil || c.Trigger == event.CauseAsked {
		return e, false
	}
	text, through, ok := r.Notes(ctx)
	if !ok || strings.TrimSpace(text) == "" {
		return e, false
	}
	from, ok := window.Behind(st, through, effective, overhead)
	if !ok {
		return e, false
	}
	shares := window.SharesOf(effective, overhead).In(window.Ratio(st))
	e = event.Compacted{Trigger: c.Trigger, Tokens: r.used(st), From: from, Notes: through}
	e, after := r.boundary(ctx, st, e, prompt.Section{Name: "session_notes", Text: clip.Middle(text, 4*shares.Summary, "")}, shares, overhead)
	return e, after.Gauge().Bytes < st.Gauge().Bytes
}

// boundary completes a compaction: first stands for what goes, beside it stands
// what is kept word for word, and what goes is put where the model can read it.
// after is what the conversation comes to with it.
func (r *run) boundary(ctx context.Context, st transcript.State, e event.Compacted, first prompt.Section, s window.Shares, overhead int) (_ event.Compacted, after transcript.State) {
	shown := func(s event.Seq) bool { return s < e.Before || s >= e.From }
	gone := transcript.Keep(st.Entries(), func(s event.Seq) bool { return !shown(s) })
	if r.Spill != nil {
		var err error
		if e.Record, err = r.Spill("compaction", window.Record(r.asItCame(ctx, st, gone))); err != nil {
			e.Record = "" // the log has it all the same
		}
	}
	e.Text = prompt.Compacted(append([]prompt.Section{first}, r.kept(ctx, st, e, s, shown)...))
	after = st.Apply(event.Event{Seq: st.Seq + 1, Time: st.Time, Body: e})
	e.Left = overhead + int(float64(after.Gauge().Bytes)/4*window.Ratio(st))
	return e, after
}

// asItCame puts the results that were cleared in a part of the conversation back
// into it, so that they are found in its record.
func (r *run) asItCame(ctx context.Context, st transcript.State, es []transcript.Entry) []transcript.Entry {
	var calls []string
	first := st.Seq
	for _, e := range es {
		for i, p := range e.Parts {
			if res, ok := p.(llm.ToolResult); ok && st.Cleared(res.ID) {
				calls, first = append(calls, res.ID), min(first, e.From[i])
			}
		}
	}
	if len(calls) == 0 || r.Results == nil {
		return es
	}
	texts, _ := r.Results(ctx, first-1, calls, maxRecord) // Read has them by their IDs
	out := slices.Clone(es)
	for i, e := range es {
		out[i].Parts = slices.Clone(e.Parts)
		for j, p := range e.Parts {
			if res, ok := p.(llm.ToolResult); ok && st.Cleared(res.ID) {
				if text, ok := texts[res.ID]; ok {
					res.Text = text
					out[i].Parts[j] = res
				}
			}
		}
	}
	return out
}

// unrecorded wraps an error of the host: nothing further may be done.
type unrecorded struct{ err error }

func (u *unrecorded) Error() string { return u.err.Error() }

// summary asks the model to sum the conversation up. The request is the next one
// of the conversation with a question behind it, so that the provider's cache
// serves all of it but that.
func (r *run) summary(ctx context.Context, target Target, c Compaction, shares window.Shares) (string, error) {
	st := r.Host.State()
	req := r.request(target)
	req.Force = ""
	ms, ratio := req.Messages, window.Ratio(st)
	words := max(100, shares.Summary*6/10)
	question := func() string { return prompt.Compact(prompt.Summary{Words: words, Focus: c.Focus, Part: c.Part}) }
	used := r.used(st) + clip.Tokens(len(question()))
	most := maxSummaryReply
	if target.Cap > 0 {
		most = min(most, target.Cap)
	}
	fit := func(tokens int) { // so many for the summary
		req.MaxTokens = max(window.Reply(most, target.Window, used), min(most, tokens))
		if over := used + req.MaxTokens - target.Window; target.Window > 0 && over > 0 {
			ms = window.Shorten(req.Messages, over, ratio)
		}
	}
	fit(shares.Summary * 3 / 2)
	whole := req.Messages
	req.Messages = window.Ask(ms, question())
	refused, shortened, cut := false, 0, false
	for t := (tries{}); ; {
		fin, err := r.ask(ctx, target, req)
		var failed *llm.Error
		switch text := said(fin.Message); {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err == nil && fin.Stop == llm.Refused:
			return "", errors.New("the provider declined to write a summary")
		case err == nil && (fin.Stop == llm.MaxTokens || fin.Stop == llm.WindowFull) && !cut: // half a sentence is no summary
			cut, words = true, max(100, words/2)
			req.Messages = whole
			fit(min(2*req.MaxTokens, target.Window/4))
			req.Messages = window.Ask(ms, question())
		case err == nil && (fin.Stop == llm.MaxTokens || fin.Stop == llm.WindowFull):
			return "", fmt.Errorf("the summary was cut off by the output limit of %s, also when a shorter one was asked for", clip.Count(req.MaxTokens, "token"))
		case err == nil && text != "":
			return text, nil
		case err == nil && !refused && len(uses(fin.Message)) > 0:
			refused = true
			req.Messages = refusing(req.Messages, fin.Message)
		case err == nil:
			return "", errors.New("the model wrote no summary")
		case !errors.As(err, &failed):
			return "", err
		case failed.Kind == llm.TooLong && shortened < maxShortenings:
			shortened++
			if r.lessOutput(failed, &req) {
				continue
			}
			less := window.Shorten(ms, r.over(failed, req, ms, &ratio), ratio)
			if len(less) == len(ms) && window.Bytes(less) == window.Bytes(ms) {
				return "", err
			}
			ms = less
			req.Messages = window.Ask(ms, question())
		default:
			again, werr := r.pause(ctx, failed, &t, target)
			switch {
			case ctx.Err() != nil:
				return "", ctx.Err()
			case werr != nil:
				return "", &unrecorded{werr}
			case !again:
				return "", err
			}
		}
	}
}

// over is by how many tokens a refused request is too long, by the numbers that the
// provider said; 0 when it said none. They also say what four bytes really are.
func (r *run) over(failed *llm.Error, req llm.Request, ms []llm.Message, ratio *float64) int {
	input, limit := window.Counted(failed.Err.Error(), req.MaxTokens)
	if input == 0 {
		return 0
	}
	if bytes := window.Bytes(ms) + 4*window.Overhead(r.Instructions(), r.specs()); bytes > 0 {
		*ratio = max(*ratio, float64(4*input)/float64(bytes))
	}
	return max(1, input+req.MaxTokens-limit)
}

// ask sends a request that is no reply of the conversation, and notes what it
// cost.
func (r *run) ask(ctx context.Context, target Target, req llm.Request) (fin llm.Finished, err error) {
	if out := r.setAside(ctx, target); out != nil {
		if ctx.Err() != nil {
			return fin, ctx.Err()
		}
		return fin, errors.New(out.Text)
	}
	req.MaxTokens = r.most(req.MaxTokens)
	if hold := r.hold; hold != nil {
		r.hold = nil
		defer hold.Release()
	}
	started := r.Now()
	defer func() { r.api += r.Now().Sub(started) }()
	var usage llm.Usage
	begun, done := false, false
	for chunk, cerr := range target.Model.Stream(ctx, req) {
		if cerr != nil {
			err = cerr
			break
		}
		switch k := chunk.(type) {
		case llm.Progress:
			usage = k.Usage
		case llm.Finished:
			fin, usage, done = k, k.Usage, true
		case llm.TextDelta, llm.Recast, llm.ThinkingDelta, llm.ToolInputDelta, llm.PartDone:
			begun = true
		}
	}
	if err == nil && !done {
		err = &llm.Error{Kind: llm.Cut, Provider: target.Provider, Begun: begun, Err: errors.New("the reply ended without its end mark")}
	}
	var failed *llm.Error
	if errors.As(err, &failed) {
		failed.Begun = failed.Begun || begun
	}
	if usage != (llm.Usage{}) {
		e := event.Spent{For: event.ForSummary, Model: target.ID(), Usage: usage}
		e.Cost, e.Priced = r.price(reply{target: target, fin: llm.Finished{Usage: usage}})
		r.mem.spent += usage.Out
		if eerr := r.bill(e, nil); eerr != nil {
			return fin, &unrecorded{eerr}
		}
	}
	return fin, err
}

// said is the text of a reply.
func said(m llm.Message) string {
	return strings.TrimSpace(m.Text())
}

func uses(m llm.Message) (out []llm.ToolUse) {
	for _, p := range m.Parts {
		if u, ok := p.(llm.ToolUse); ok {
			out = append(out, u)
		}
	}
	return out
}

// refusing is a conversation with a reply behind it whose calls were refused.
func refusing(ms []llm.Message, m llm.Message) []llm.Message {
	var results []llm.Part
	for _, u := range uses(m) {
		results = append(results, llm.ToolResult{ID: u.ID, Text: refusedCall, IsErr: true})
	}
	return append(ms[:len(ms):len(ms)], m, llm.Message{Role: llm.User, Parts: results})
}

// kept is what stays word for word beside the summary.
func (r *run) kept(ctx context.Context, st transcript.State, e event.Compacted, s window.Shares, shown func(event.Seq) bool) []prompt.Section {
	bytes := 4 * s.Other
	out := []prompt.Section{
		{Name: "user_messages", Text: window.Said(st, s.Said, shown)},
		{Name: "skills", Text: skills(st.Skills, s)},
		{Name: "plan", Text: clip.Middle(st.Plan, bytes, "")},
		{Name: "todo_list", Text: open(st)},
		{Name: "changed_files", Text: clip.Middle(changed(st), bytes, "")},
		{Name: "agents", Text: agents(st)},
		{Name: "background_tasks", Text: background(st)},
	}
	if s.File > 0 && len(st.Recent) > 0 {
		recent := st.Recent[max(0, len(st.Recent)-window.RecentFiles):]
		var files strings.Builder
		for _, a := range r.Host.Look(ctx, recent) {
			if !a.Refused && a.Text != "" {
				files.WriteString(clip.Middle(a.Text, 4*s.File, "Read shows the rest") + "\n")
			}
		}
		out = append(out, prompt.Section{Name: "recent_files", Text: files.String()})
	}
	records := st.Records
	if e.Record != "" {
		records = append(records[:len(records):len(records)], e.Record)
	}
	if len(records) > 0 {
		out = append(out, prompt.Section{Name: "record", Text: prompt.Record(newest(records, 4*max(s.Other, s.Summary/2)))})
	}
	return out
}

// newest are the last lines of a list that have so many bytes together, one at least.
func newest(list []string, bytes int) []string {
	at := len(list) - 1
	for bytes -= len(list[at]); at > 0 && bytes > len(list[at-1]); at-- {
		bytes -= len(list[at-1]) + 1
	}
	return list[at:]
}

// Bounds of what is kept of skills, in tokens, for a window that has room for it.
const (
	maxSkill  = 5_000
	maxSkills = 25_000
	lost      = 120 // bytes of a line that says what is missing
)

// skills are the texts of those that were used: of the newest, as much as there is
// room for, in the order of their use.
func skills(used []effect.Skill, s window.Shares) string {
	one, room := min(maxSkill, s.File), min(maxSkills, window.RecentFiles*s.File)
	if s.File == 0 {
		one, room = s.Other, s.Other
	}
	room *= 4
	var kept []string
	for _, k := range slices.Backward(used) {
		head := "# " + k.Name + "\n"
		text := head + clip.Middle(k.Text, max(0, 4*one-len(head)-lost), "use the skill again for the rest")
		if room -= len(text); room < 0 {
			break
		}
		kept = append(kept, text)
	}
	slices.Reverse(kept)
	return strings.Join(kept, "\n\n")
}

// open lists what of the todo list is not done, without the steps that agents noted for
// themselves.
func open(st transcript.State) string {
	var lines []string
	for _, t := range st.Tasks {
		if t.Status == view.Completed || t.Step && st.List.Last > 0 {
			continue
		}
		line := fmt.Sprintf("- [%s] %s", t.Status, t.Text)
		if t.ID != "" { // an earlier version gave none
			line = fmt.Sprintf("- %s [%s] %s", t.ID, t.Status, t.Text)
		}
		if t.Owner != "" && !t.Step {
			line += " (" + t.Owner + ")"
		}
		if len(t.Waits) > 0 {
			line += ", waits for " + strings.Join(t.Waits, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// changed lists the files that calls changed; those below the session's folder by
// their names there, so that there is room for more of them.
func changed(st transcript.State) string {
	var below, rest []string
	for _, p := range st.Changed {
		if rel := paths.Short(st.Start, p); rel != p {
			below = append(below, rel)
		} else {
			rest = append(rest, p)
		}
	}
	if len(below) > 0 {
		rest = append(append(rest, "below "+st.Start+":"), below...)
	}
	return strings.Join(rest, "\n")
}

// maxEnded bounds the agents that are named though they have ended.
const maxEnded = 10

// agents lists the agents of the session that work, and the newest of those that can go on,
// with name, type, status and what each is for.
func agents(st transcript.State) string {
	var works, ended []transcript.Agent
	for _, a := range st.Agents {
		switch {
		case a.Agent == nil:
		case a.End == nil:
			works = append(works, a)
		case a.Run == "":
			ended = append(ended, a)
		}
	}
	age := func(a, b transcript.Agent) int { return strings.Compare(a.Session, b.Session) } // their IDs sort by time
	order.By(works, age)
	order.By(ended, age)
	var lines []string
	for _, a := range append(works, ended[max(0, len(ended)-maxEnded):]...) {
		name, status := a.ID, "works"
		if a.Agent.Name != "" {
			name = a.Agent.Name + " (" + a.ID + ")"
		}
		if a.End != nil {
			status = "has ended: " + string(cmp.Or(a.End.Status, event.TaskLost))
		}
		lines = append(lines, fmt.Sprintf("- %s, %s, %s: %s", name, cmp.Or(a.Agent.Type, "general-purpose"), status, clip.Line(clip.Clean(a.Text), 200)))
	}
	return strings.Join(lines, "\n")
}

// background lists what else runs in the background.
func background(st transcript.State) string {
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(st.Background)) {
		t := st.Background[id]
		if t.Kind == event.TaskAgent {
			continue
		}
		lines = append(lines, fmt.Sprintf("- %s (%s): %s", id, t.Kind, clip.Line(t.Text, 200)))
	}
	return strings.Join(lines, "\n")
}
