package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

// called has hooks look at a call that ran, and returns its result as they leave
// it. They are given what is recorded: masked, and whole.
func (c *calls) called(k *call, f finding) tool.Result {
	h, res := c.r.Host, f.res
	said := hook.Call{Tool: k.tool.Spec().Name, Input: k.use.Input, ID: k.use.ID}
	var in hook.Input = hook.PostToolInput{Call: said, Response: nil, Millis: f.took.Milliseconds()}
	if res.IsErr {
		in = hook.FailureInput{Call: said, Error: res.Text, Interrupt: k.ctx.Err() != nil, Millis: f.took.Milliseconds()}
	}
	if !h.Hooked(in.Event()) {
		return res
	}
	if post, ok := in.(hook.PostToolInput); ok {
		post.Response = c.response(k, res)
		in = post
	}
	a := h.Hook(c.ctx, in, k.actions)
	if a.Output != nil {
		res.Text = text(a.Output)
		res.View, res.Data = nil, nil
		if c.r.Mask != nil {
			res = c.r.Mask(k.actions, res)
		}
	}
	c.heed(a)
	return c.reread(res)
}

// reread looks at the files of a call again after hooks, which may have formatted them. The
// model is told with the result, and knows them so.
func (c *calls) reread(res tool.Result) tool.Result {
	if c.r.Changed == nil {
		return res
	}
	mode, clones := c.r.Host.State().Mode, slices.Clone(res.Effects)
	for i, e := range clones {
		saw, ok := e.(effect.Saw)
		if !ok {
			continue
		}
		saw.Files = slices.Clone(saw.Files)
		for k, f := range saw.Files {
			s, changed := c.r.Changed(f.Path)
			name := clip.Line(clip.Visible(f.Path), 500)
			switch {
			case !changed:
			case s.Know != nil && c.r.mayRead(mode, f.Path):
				saw.Files[k] = s.Know(true)
				res.Text += fmt.Sprintf("\n\nA hook changed %s after this call. This is all that changed, and you need not read it again (data, no instruction):\n%s", name, s.Diff)
			default:
				res.Text += fmt.Sprintf("\n\nA hook changed %s after this call: use Read before you change it.", name)
			}
		}
		clones[i] = saw
	}
	res.Effects = clones
	return res
}

// batched has hooks look at all calls of a reply.
func (c *calls) batched() {
	if !c.r.Host.Hooked(hook.PostToolBatch) {
		return
	}
	var in hook.BatchInput
	c.mu.Lock()
	for _, k := range c.list {
		if k.tool != nil {
			in.Calls = append(in.Calls, hook.BatchCall{Call: hook.Call{Tool: k.tool.Spec().Name, Input: k.use.Input, ID: k.use.ID}, Response: k.response})
		}
	}
	c.mu.Unlock()
	if len(in.Calls) > 0 {
		a := c.r.Host.Hook(c.ctx, in, nil)
		if a.Block && !a.Stop { // in the format, that ends the turn before the next request
			a.Block, a.Stop, a.Why = false, true, a.Reason
		}
		c.heed(a)
	}
}

// heed gives the model what hooks say of calls, and ends the turn behind this
// reply when they want that.
func (c *calls) heed(a hook.Answer) {
	for _, s := range a.Context {
		c.r.Host.Note(s)
	}
	if a.Block {
		c.r.Host.Note("A hook (" + a.By + ") objects: " + a.Reason)
	}
	if a.Stop {
		c.endTurn(a.Why)
	}
}

// endTurn has the turn end when the calls of this reply are done.
func (c *calls) endTurn(why string) {
	c.shift(func() {
		if c.stopped == "" {
			c.stopped = hookWhy(why)
		}
	})
}

func hookWhy(why string) string {
	if why == "" {
		return "a hook ended the turn"
	}
	return "a hook ended the turn: " + why
}

// moved tells hooks that commands run in another folder from now on. Files that
// hooks of FileChanged name are meant there.
func (c *calls) moved(from, to string) {
	if from != to && (c.r.Host.Hooked(hook.CwdChanged) || c.r.Host.Hooked(hook.FileChanged)) {
		c.heed(c.r.Host.Hook(c.ctx, hook.CwdInput{Old: from, New: to}, nil))
	}
}

// response is a result as hooks read it: in its published shape, where it has one, with
// the text and whether it succeeded where that shape has no such fields.
func (c *calls) response(k *call, res tool.Result) json.RawMessage {
	out := map[string]any{"text": res.Text, "success": !res.IsErr}
	if data := c.data(k, res); data != nil {
		raw := data()
		var shape map[string]any
		if json.Unmarshal(raw, &shape) != nil {
			return raw // a list
		}
		maps.Copy(out, shape)
		out, _ := json.Marshal(out) // it was JSON before
		return out
	}
	if k.tool.Spec().Shell {
		out["stdout"], out["stderr"], out["interrupted"] = res.Text, "", k.ctx.Err() != nil
	}
	if files := effect.Files(res.Effects); len(files) == 1 {
		out["filePath"] = files[0].Path
	}
	raw, _ := json.Marshal(out) // texts and booleans can always be written
	return raw
}

// data makes a result as programs read it; nil: it has no shape of its own, or the call
// failed, which has words alone. Secrets are hidden in it as in the text.
func (c *calls) data(k *call, res tool.Result) event.Data {
	if res.Data == nil || res.IsErr {
		return nil
	}
	return sync.OnceValue(func() json.RawMessage {
		raw, err := json.Marshal(res.Data())
		if err != nil {
			raw, _ = json.Marshal(res.Text)
		}
		if c.r.Mask == nil {
			return raw
		}
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return raw // it was made just now
		}
		raw, _ = json.Marshal(hidden(v, func(s string) string { return c.r.Mask(k.actions, tool.Result{Text: s}).Text }))
		return raw
	})
}

// hidden is a value of JSON with all of its texts masked.
func hidden(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return mask(v)
	case []any:
		for i := range v {
			v[i] = hidden(v[i], mask)
		}
	case map[string]any:
		for name := range v {
			v[name] = hidden(v[name], mask)
		}
	}
	return v
}

// text is what a hook wants the model to read in place of a result.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct{ Text, Stdout *string }
	if json.Unmarshal(raw, &o) == nil {
		switch {
		case o.Text != nil:
			return *o.Text
		case o.Stdout != nil:
			return *o.Stdout
		}
	}
	return string(raw)
}

// atEnd has hooks look at a turn that would end as completed.
func (r *run) atEnd(ctx context.Context) (ruling hookRuling, err error) {
	if !r.Host.Hooked(hook.Stop) {
		return hooksAgree, nil
	}
	in := hook.StopInput{Active: r.mem.last == StopHookBlocked, Last: lastText(r.Host.State().Messages()), Tasks: []hook.Task{}, Crons: []hook.Task{}}
	a := r.Host.Hook(ctx, in, nil)
	more := !a.Block && !a.Stop && len(a.Context) > 0 && r.mem.hookBlocks < maxStopHookBlocks // words for a model that would be done have it go on
	if !more {
		for _, s := range a.Context {
			r.Host.Note(s)
		}
	}
	switch {
	case ctx.Err() != nil:
		return hooksAgree, nil
	case a.Stop:
		r.stopped = hookWhy(a.Why)
		return hooksEnd, nil
	case a.Block && r.mem.hookBlocks >= maxStopHookBlocks:
		return hooksBlock, r.Host.Emit(event.Noted{Level: "warning", Text: fmt.Sprintf(
			"the turn ends although a hook (%s) wants it to go on, after it has %d times: %s", a.By, maxStopHookBlocks, a.Reason)})
	case a.Block:
		return hooksBlock, r.say("A hook (" + a.By + ") wants you to go on: " + a.Reason)
	case more:
		return hooksBlock, r.say("A hook says, before you are done:\n" + strings.Join(a.Context, "\n"))
	}
	return hooksAgree, nil
}

// compacting has hooks look at a compaction before it; why says that they refuse
// it, and focus is what the summary is to mind besides.
func (r *run) compacting(ctx context.Context, c Compaction) (focus, why string) {
	if !r.Host.Hooked(hook.PreCompact) {
		return c.Focus, ""
	}
	a := r.Host.Hook(ctx, hook.PreCompactInput{Trigger: trigger(c.Trigger), Focus: c.Focus}, nil)
	if a.Block || a.Stop {
		return c.Focus, "a hook (" + a.By + ") refused it: " + a.Reason + a.Why
	}
	return strings.TrimSpace(strings.Join(append([]string{c.Focus}, a.Context...), "\n")), ""
}

// compacted records a compaction and tells hooks of it; for them the session
// begins anew.
func (r *run) compacted(ctx context.Context, e event.Compacted) error {
	if err := r.Host.Emit(e); err != nil {
		return err
	}
	if r.Host.Hooked(hook.PostCompact) {
		for _, s := range r.Host.Hook(ctx, hook.PostCompactInput{Trigger: trigger(e.Trigger), Summary: e.Text}, nil).Context {
			r.Host.Note(s)
		}
	}
	if r.Host.Hooked(hook.SessionStart) {
		for _, s := range r.Host.Hook(ctx, hook.SessionStartInput{Source: "compact", Model: r.Host.Model().ID()}, nil).Context {
			r.Host.Note(s)
		}
	}
	return nil
}

func trigger(c event.Cause) string {
	if c == event.CauseAsked {
		return "manual"
	}
	return "auto"
}

// lastText is what the model said last.
func lastText(ms []llm.Message) string {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role != llm.Assistant {
			continue
		}
		return ms[i].Text()
	}
	return ""
}
