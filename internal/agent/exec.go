package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// Texts that stand for a result.
const (
	interruptedText = "The person interrupted this call before it finished."
	notRunText      = "This call was not run: the person interrupted it before it began."
	siblingText     = "This call was cancelled, because another command of the same reply failed."
	skippedText     = "This call was not run, because another command of the same reply failed. Send it again if it still makes sense."
	previewBytes    = 2000
	maxSchema       = 8000 // characters of a schema in an error
)

// A finding is what a call came to.
type finding struct {
	res     tool.Result
	verdict policy.Verdict
	denied  bool
	took    time.Duration
	spill   string
	changed func(context.Context) effect.Changed // what the call changed, nil for one that only reads
	put     bool                                 // it was put off, and has no result
}

// exec takes a call from its input to its recorded result.
func (c *calls) exec(k *call) {
	f := c.try(k)
	c.mu.Lock()
	halted := c.halted && !k.started
	c.mu.Unlock()
	if !c.claim(k) || halted || f.put {
		c.shift(func() { k.phase, c.put = done, f.put })
		return
	}
	if f.changed != nil {
		f.res.Effects = append(f.res.Effects, c.changes(f)...)
	}
	if c.r.Mask != nil {
		f.res = c.r.Mask(k.actions, f.res)
	}
	if k.started {
		f.res = c.called(k, f)
		f.res.Text, f.spill = c.r.within(k, f.res)
	}
	e := event.ToolFinished{
		Call: k.use.ID, Name: k.use.Name, Text: f.res.Text, Images: f.res.Images, View: f.res.View,
		IsErr: f.res.IsErr, Verdict: f.verdict, Denied: f.denied, Took: f.took,
		Effects: f.res.Effects, Spill: f.spill, Data: c.data(k, f.res),
	}
	if f.denied {
		e.Input = k.use.Input
	}
	c.emit(e)
	if m, ok := effect.Of[effect.Mode](e.Effects); ok {
		c.emit(event.ModeChanged{Mode: m.To, Cause: event.CauseTool, Why: k.use.Name})
	}
	c.learn(effect.Files(e.Effects))
	if d, ok := effect.Of[effect.Dir](e.Effects); ok {
		c.mu.Lock()
		was := c.r.dir
		c.mu.Unlock()
		c.moved(was, d.Path)
	}
	failedShell := k.started && f.res.IsErr && k.tool.Spec().Shell
	c.shift(func() {
		k.phase, k.isErr = done, f.res.IsErr
		if k.started && c.r.Host.Hooked(hook.PostToolBatch) {
			k.response = c.response(k, f.res)
		}
		for _, e := range e.Effects {
			switch e := e.(type) {
			case effect.Dir:
				c.r.dir = e.Path
			case effect.Answer:
				k.answer = e.JSON
			case effect.Fresh:
				k.fresh = f.res.Text
			case effect.Final:
				k.final = e.Text
			case effect.Mode, effect.Saw, effect.Planned, effect.Exported, effect.Changed, effect.Skill, effect.Loaded, effect.Unknown: // done above, or nothing to do
			}
		}
		if failedShell { // before any of them sees that this call is done
			c.cancelSiblings()
		}
	})
}

// learn tells the model what begins to apply with the files a call touched.
func (c *calls) learn(files []effect.File) {
	if c.r.Touched == nil || len(files) == 0 {
		return
	}
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	for _, text := range c.r.Touched(c.r.Host.State().Boundary(), paths) {
		c.r.Host.Note(text)
	}
}

// try gates and runs a call. A tool that panics is a tool that failed.
func (c *calls) try(k *call) (f finding) {
	defer func() {
		if p := recover(); p != nil {
			f.res = tool.Errorf("%s failed in a way it should not: %v", k.use.Name, p)
		}
	}()
	if !c.until(k, func() bool { return c.mayPlan(k) }) {
		return finding{res: unstarted(k)}
	}
	env := c.env(k)
	plan, err := c.plan(k, env)
	c.shift(func() { k.phase, k.parallel = planned, plan.Parallel })
	if err != nil {
		return finding{res: tool.Errorf("%v", err)}
	}
	p := &passed{plan: plan}
	if stop := c.pass(k, p, env); stop != nil {
		return *stop
	}
	env.Answer, env.Needs = p.answered.Answer, p.verdict.Needs
	changed := c.record(k, p.plan)
	f.changed = changed // also of a tool that panics: what it changed by then, and that it ended
	f = c.run(k, env, p.verdict.Verdict)
	f.changed = changed
	f.res.Text = remarks(k, p.answered) + f.res.Text
	return f
}

// remarks is what the model reads of the answer that let a call run, before its result:
// that its arguments are others, and what was said with the yes.
func remarks(k *call, answered Verdict) (out string) {
	who := "The person"
	if !answered.By.Person() {
		who = answered.By.String()
	}
	if answered.rewrites() {
		out = "[" + who + " changed the arguments of this call to " + clip.Line(string(k.use.Input), previewBytes) + "]\n"
	}
	if a := answered.Answer; a != nil && strings.TrimSpace(a.Comment) != "" {
		out += "[" + who + " allowed this call, and adds: " + clip.Middle(clip.Clean(strings.TrimSpace(a.Comment)), maxComment, "") + "]\n"
	}
	return out
}

// maxComment bounds what is passed on of a comment, in runes.
const maxComment = 20_000

// A passed is a call on its way to its start: as it was planned last, and by which
// verdict it may run.
type passed struct {
	plan      tool.Plan
	rewritten *event.By // who wrote its arguments in the model's stead
	verdict   Verdict
	answered  Verdict // the newest one that came with an answer
}

func (p *passed) question(k *call, reply int) Question {
	return Question{Call: k.use, Tool: k.tool.Spec().Name, Plan: p.plan, Reply: reply, Rewritten: p.rewritten}
}

// maxRulings bounds how often a call is ruled on that turns out to be a question
// when its turn comes.
const maxRulings = 5

// pass takes a planned call to its start: it is ruled on, and waits for its turn.
// stop is what the call came to when it must not run.
func (c *calls) pass(k *call, p *passed, env tool.Env) (stop *finding) {
	for range maxRulings {
		if stop = c.check(k, p, env); stop != nil {
			return stop
		}
		switch began, err := c.start(k, p); {
		case began:
			return nil
		case err != nil || k.ctx.Err() != nil || p.verdict.Effect == policy.Allow:
			return &finding{res: unstarted(k), verdict: p.verdict.Verdict}
		case p.verdict.Effect == policy.Deny:
			return refused(p.verdict)
		}
	}
	p.verdict.Effect = policy.Deny
	return refused(p.verdict)
}

// check has the host rule. Arguments that were rewritten are planned and ruled
// on anew.
func (c *calls) check(k *call, p *passed, env tool.Env) (stop *finding) {
	for {
		k.actions = p.plan.Actions
		v, err := c.rule(k, p.question(k, c.reply))
		if v.Ends != "" {
			c.endTurn(v.Ends)
		}
		if v.Answer != nil {
			p.answered = v
		}
		switch {
		case k.ctx.Err() != nil:
			return &finding{res: unstarted(k), verdict: v.Verdict}
		case err != nil:
			return &finding{res: tool.Errorf("%v", err), verdict: v.Verdict}
		case v.Defers:
			return &finding{put: true}
		case v.Effect != policy.Allow:
			return refused(v)
		case !v.rewrites():
			p.verdict = v
			return nil
		}
		k.use.Input = v.Answer.Input
		if p.plan, err = c.plan(k, env); err != nil {
			return &finding{res: tool.Errorf("%v", err)}
		}
		c.shift(func() { k.parallel = p.plan.Parallel })
		p.rewritten = &v.By
	}
}

// refused is what a call comes to that must not run.
func refused(v Verdict) *finding {
	return &finding{res: tool.Errorf("%s", refusal(v)), verdict: v.Verdict, denied: true}
}

// rule has the host rule once. While a person or a classifier is waited for,
// calls behind this one may go ahead.
func (c *calls) rule(k *call, q Question) (Verdict, error) {
	waits := false
	q.Waits = func() {
		waits = true
		c.shift(func() { k.phase = asking })
	}
	q.Alone = func() bool {
		q.Waits()
		alone := false
		return c.until(k, func() bool {
			alone = len(c.list) == 1
			return c.whole
		}) && alone
	}
	v, err := c.r.Host.Rule(k.ctx, q)
	if waits {
		c.shift(func() { k.phase = planned })
	}
	return v, err
}

// start waits for the call's turn and puts its start on disk, unless the verdict
// does not hold any more: then p has the one of now.
func (c *calls) start(k *call, p *passed) (began bool, err error) {
	if !c.until(k, func() bool {
		if c.mayRun(k) {
			k.phase, k.started = running, true // nobody waits for that
		}
		return k.started
	}) {
		return false, nil
	}
	v, err := c.r.Host.Begin(p.question(k, c.reply), p.verdict, event.ToolStarted{
		Call: k.use.ID, Name: k.use.Name, Input: k.use.Input, Title: p.plan.Title, Fold: p.plan.Fold, Shell: k.tool.Spec().Shell,
	})
	if err != nil {
		c.fail(err)
		return false, err
	}
	if p.verdict = v; v.Effect != policy.Allow {
		c.shift(func() { k.phase, k.started = planned, false })
	}
	return v.Effect == policy.Allow, nil
}

func (c *calls) run(k *call, env tool.Env, v policy.Verdict) finding {
	started := c.r.Now()
	res, err := k.tool.Run(k.ctx, k.use.Input, env)
	f := finding{res: res, verdict: v, took: c.r.Now().Sub(started)}
	switch {
	case errors.Is(context.Cause(k.ctx), errSibling) && (err != nil || res.IsErr):
		f.res = joinText(res, siblingText)
		if t, ok := res.View.(view.Terminal); ok { // nobody interrupted it
			t.Note = "cancelled: another command of the same reply failed"
			f.res.View = t
		}
	case k.ctx.Err() != nil && (err != nil || res.Text == ""):
		f.res = tool.Errorf("%s", interruptedText)
	case err != nil:
		f.res = tool.Errorf("%v", err)
	}
	return f
}

// recordTime bounds the look for what a call changed.
const recordTime = 10 * time.Second

// record looks at what a call may change. One that only reads may still be the first after
// a task in the background has ended.
func (c *calls) record(k *call, plan tool.Plan) func(context.Context) effect.Changed {
	if c.r.Record == nil {
		return nil
	}
	actions := plan.Actions
	if plan.Parallel {
		actions = nil
	}
	end, note := c.r.Record(k.ctx, actions)
	if note != "" {
		c.emit(event.Noted{Level: "warning", Text: note})
	}
	return end
}

// changes are the effects of what a call changed, also of one that was stopped.
func (c *calls) changes(f finding) []effect.Effect {
	ctx, stop := context.WithTimeout(context.WithoutCancel(c.ctx), recordTime)
	defer stop()
	if changed := f.changed(ctx); len(changed.Files) > 0 || len(changed.Missed) > 0 {
		return []effect.Effect{changed}
	}
	return nil
}

// find looks a tool up by what the model calls it.
func (r *run) find(name string) (tool.Tool, bool) {
	if to, ok := r.Redirects[name]; ok {
		return r.tools.Get(to)
	}
	found, ok := r.tools.Get(name)
	if real, alias := r.Aliases[name]; !ok && alias {
		found, ok = r.tools.Get(real)
	}
	return found, ok
}

// plan finds the tool and has it say what it would do.
func (c *calls) plan(k *call, env tool.Env) (tool.Plan, error) {
	name := k.use.Name
	t, ok := c.r.find(name)
	if !ok && k.use.Bad != "" { // what came with it says more than a name that may be none
		return tool.Plan{}, fmt.Errorf("this call of %q cannot be read: %s", name, k.use.Bad)
	}
	if to := c.r.Redirects[name]; !ok && to != "" {
		return tool.Plan{}, fmt.Errorf("%s stands for the tool %s here, which is not there", name, to)
	}
	if !ok {
		names := c.r.tools.Listed()
		if c.r.Host.State().Knew(cmp.Or(c.r.Aliases[name], name)) {
			return tool.Plan{}, fmt.Errorf("the tool %s is not there any more; the tools are %s", name, strings.Join(names, ", "))
		}
		return tool.Plan{}, fmt.Errorf("there is no tool named %q%s; the tools are %s", name, near.Hint(name, c.r.tools.Names()), strings.Join(names, ", "))
	}
	k.tool = t
	if k.use.Bad == llm.CutCall {
		return tool.Plan{}, errors.New(cutText(c.r.asked))
	}
	if k.use.Bad != "" {
		return tool.Plan{}, fmt.Errorf("the arguments of %s are not valid JSON: %s; send one JSON object that fits the schema", name, k.use.Bad)
	}
	plan, err := t.Plan(k.use.Input, env)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
		if s, not := c.r.tools.Unloaded(t.Spec().Name); not { // it guessed; what it needs to know costs no further step
			err = fmt.Errorf("%w\nYou called this tool without having loaded it. Its arguments are described by: %s", err, clip.Middle(string(s.Schema), maxSchema, "load it with ToolSearch select:"+name))
		}
		return tool.Plan{}, err
	}
	return plan, nil
}

// env is what a call may use, as it is now.
func (c *calls) env(k *call) tool.Env {
	env, target := c.r.Env, c.r.Host.Model()
	c.mu.Lock()
	env.Dir = c.r.dir
	c.mu.Unlock()
	env.Window, env.Images, env.ImageEdge = target.Window, target.Images, target.ImageEdge
	st := c.r.Host.State()
	env.Call, env.Mode, env.Whole, env.Exports = k.use.ID, st.Mode, st.Whole(), st.Exports
	env.Tools = c.r.tools
	env.Replied = func() bool { return c.until(k, func() bool { return c.whole }) }
	env.Progress = func(s string) { _ = c.r.Host.Emit(event.ToolOutput{Call: k.use.ID, S: s}) }
	return env
}

// unstarted is the result of a call that never ran. That of a call of a reply that
// broke off is not recorded.
func unstarted(k *call) tool.Result {
	if errors.Is(context.Cause(k.ctx), errSibling) {
		return tool.Errorf("%s", skippedText)
	}
	return tool.Errorf("%s", notRunText)
}

// within keeps a result within its tool's limit: what is more goes to a file.
func (r *run) within(k *call, res tool.Result) (text, spill string) {
	limit := k.tool.Spec().Limit
	if limit == 0 {
		limit = tool.DefaultLimit
	}
	if limit == tool.NoLimit || utf8.RuneCountInString(res.Text) <= limit {
		return res.Text, ""
	}
	if r.Spill != nil {
		if path, err := r.Spill(k.use.ID, res.Text); err == nil {
			head, _ := clip.Head(res.Text, previewBytes)
			return fmt.Sprintf("[The result is large: %s, %s. All of it is in %s; read parts of that file, or search it. It begins:]\n%s",
				clip.Size(int64(len(res.Text))), clip.Count(strings.Count(res.Text, "\n")+1, "line"), path, head), path
		}
	}
	return clip.Middle(res.Text, limit, "ask for less at a time"), ""
}

// refusal is what the model reads when a call was refused: the words of whoever
// answered where they are meant to stand alone, else denial.
func refusal(v Verdict) string {
	if v.Answer != nil && v.Answer.Comment != "" {
		return v.Answer.Comment
	}
	return denial(v.Verdict)
}

// denial is what the model reads when a call was refused.
func denial(v policy.Verdict) string {
	s := "This call was refused: " + v.Why()
	return s + ". Do not try to get around it; find another way, or say what you need."
}

func joinText(res tool.Result, note string) tool.Result {
	if res.Text != "" {
		note = res.Text + "\n" + note
	}
	res.Text, res.IsErr = note, true
	return res
}

// Sleep waits for d or until ctx ends, whichever is first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
