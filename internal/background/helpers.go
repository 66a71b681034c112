package background

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/memory"
	"github.com/adze-agent/adze/internal/miniagent"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/file"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/window"
)

var (
	//go:embed notes.md
	notesText string
	//go:embed memory.md
	memoryText string
)

// Bounds of a helper.
const (
	timeout     = 3 * time.Minute
	maxReply    = 8_000  // tokens of one reply
	maxNews     = 60_000 // bytes of a conversation that it is shown
	notesWords  = 1_200
	notesTurns  = 3
	memoryTurns = 8
	notesReply  = 2_000 // tokens, for what it will cost
	memoryReply = 300
)

const (
	behindText = "The conversation is what stands above."
	apartText  = "This is the conversation since you looked last (results are shortened):\n<conversation>\n%s\n</conversation>"
	apartRole  = "You do a small task beside a session of a coding agent, with the tools you are given. You are asked nothing else, and nobody answers questions."
)

// note has the session's notes written when it is time. ended: a turn is over.
func (w *Watch) note(ctx context.Context, ended bool) {
	path := w.Notes()
	if path == "" {
		return
	}
	st := w.Session.State()
	if len(st.Open()) > 0 && !ended {
		return // more results are about to come
	}
	first := st.Noted == 0 && !w.writer.wasTried()
	if !w.notes.notesDue(first, clip.Tokens(st.Gauge().Bytes), ended) || !w.writer.begin() {
		return
	}
	a := w.notesTask(st, path)
	j, ok := w.plan(ctx, st, a)
	if !ok {
		w.writer.end(ctx, errNobody)
		return
	}
	w.notes = meter{spoken: w.notes.spoken}
	w.jobs.Go(func() { // ends with the helper, which ends with ctx
		err := w.writeNotes(ctx, st, a, j)
		if w.writer.end(ctx, err) {
			w.giveUp("The session's notes could not be written: %v. They are left alone in this session.", err)
		}
	})
}

func (w *Watch) giveUp(format string, err error) {
	_ = w.Session.Report(event.Noted{Level: "warning", Text: fmt.Sprintf(format, clip.Line(w.Hide(err.Error()), 300))}) // the session may have ended
}

// notesTask is to write the notes of a conversation.
func (w *Watch) notesTask(st transcript.State, path string) assignment {
	old, known := "", "It is not there yet."
	var seen []effect.File
	if text, f, err := memory.SessionNotes(path); err == nil {
		old, seen = text, []effect.File{f}
	}
	if old != "" {
		known = "It says now:\n<notes>\n" + strings.ReplaceAll(old, "</notes", "< /notes") + "\n</notes>"
	}
	return assignment{
		purpose: event.ForNotes, after: st.Noted, reply: notesReply, turns: notesTurns, dir: filepath.Dir(path), write: "Write",
		seen: seen, limit: miniagent.Limit{Read: is(path), Write: is(path), Ends: "Write"},
		text: fill(notesText, "{path}", path, "{known}", known, "{words}", strconv.Itoa(notesWords)),
	}
}

// writeNotes has a helper write the notes.
func (w *Watch) writeNotes(ctx context.Context, st transcript.State, a assignment, j plan) error {
	_, through := complete(st)
	r, err := w.run(ctx, st, a, j)
	switch {
	case err != nil:
		return err
	case len(r.Changed) == 0:
		return errors.New("the model did not write them")
	}
	return w.Session.Report(event.NotesKept{Through: through})
}

// remembered reports whether a call changed the memory: then the model looks
// after it itself.
func (w *Watch) remembered(b event.ToolFinished) bool {
	dir := w.Memory()
	c, ok := effect.Of[effect.Changed](b.Effects)
	if dir == "" || !ok {
		return false
	}
	for _, f := range c.Files {
		if policy.Within(dir, f.Path, false) {
			return true
		}
	}
	return false
}

// remember has the memory looked through when there is enough news.
func (w *Watch) remember(ctx context.Context) {
	dir := w.Memory()
	if dir == "" || !w.memory.memoryDue() || !w.rememberer.begin() {
		return
	}
	st := w.Session.State()
	a := w.memoryTask(dir)
	j, ok := w.plan(ctx, st, a)
	if !ok {
		w.rememberer.end(ctx, errNobody)
		return
	}
	w.memory, w.looked = meter{}, st.Seq
	w.jobs.Go(func() { // ends with the helper, which ends with ctx
		err := w.writeMemory(ctx, st, a, j)
		if w.rememberer.end(ctx, err) {
			w.giveUp("What is remembered of the project could not be looked through: %v. It is left alone in this session.", err)
		}
	})
}

// memoryTask is to take into the memory what is worth it.
func (w *Watch) memoryTask(dir string) assignment {
	known := "It is empty."
	if index, _ := memory.Index(dir); strings.TrimSpace(index) != "" {
		known = "The index says now:\n<index>\n" + strings.ReplaceAll(strings.TrimSpace(index), "</index", "< /index") + "\n</index>"
	}
	markdown := func(path string) bool {
		return strings.HasSuffix(path, ".md") && path != dir && policy.Within(dir, path, false)
	}
	return assignment{
		purpose: event.ForMemory, after: w.looked, reply: memoryReply, turns: memoryTurns, dir: dir, write: "Read Edit Write",
		limit: miniagent.Limit{Read: markdown, Write: markdown},
		text:  fill(memoryText, "{path}", dir, "{known}", known),
	}
}

// writeMemory has a helper look through the memory, and tells a person what it wrote.
func (w *Watch) writeMemory(ctx context.Context, st transcript.State, a assignment, j plan) error {
	r, err := w.run(ctx, st, a, j)
	if len(r.Changed) > 0 {
		var names []string
		for _, p := range r.Changed {
			names = append(names, filepath.Base(p))
		}
		err = errors.Join(err, w.Session.Report(event.Noted{Level: "info", Text: "remembered for later sessions: " + clip.Line(strings.Join(names, ", "), 200) + " (/memory shows it)"}))
	}
	return err
}

// errNobody: there is no model for it, or no money. That is no failure.
var errNobody = errors.New("nobody is to do it")

// An assignment is what a helper of a session is to do.
type assignment struct {
	purpose      string
	after        event.Seq // up to which the conversation is known already
	text         string    // {source} is where the conversation is
	reply, turns int       // tokens that are likely; requests
	cap          int       // tokens that a reply of a model without the conversation may have at most, 0 for maxReply
	shown        int       // bytes of the conversation that a model is shown without it, 0 for maxNews
	dir          string
	write        string // the file tools that one without the conversation has
	seen         []effect.File
	limit        miniagent.Limit
}

// A plan is how an assignment is done.
type plan struct {
	target agent.Target
	share  bool         // behind the conversation, not with what is new of it
	budget agent.Budget // with the requests that it may make
}

// plan finds the cheaper way to do an assignment. ok is false where there is no
// model for it, no money, or where it would cost too much beside this turn: then
// it is for a later one.
func (w *Watch) plan(ctx context.Context, st transcript.State, a assignment) (p plan, ok bool) {
	es, _ := complete(st)
	m := w.Models(ctx)
	main := m.Main
	effective := window.Effective(main.Window, main.Cap)
	whole := window.Estimate(st)
	if effective > 0 && whole+maxReply > window.Threshold(effective) {
		m.Share = false // it would have to be compacted first
	}
	tools := w.Session.Tools()
	for _, name := range strings.Fields(a.write) {
		if _, there := tools.Get(name); !there { // the settings took it away, and another list would not be in the cache
			m.Share = false
		}
	}
	t := task{whole: whole, cached: w.purse.cached(), news: min(tokens(since(es, a.after)), cmp.Or(a.shown, maxNews)/4), prompt: clip.Tokens(len(a.text)), reply: a.reply}
	if p.target, p.share, ok = m.choose(t); !ok {
		return p, false
	}
	if p.budget, ok = w.budget(p.target); !ok {
		return p, false
	}
	one, own := m.costs(p.target, t.usage(p.share), w.purse.turn)
	p.budget.Turns = w.purse.lend(one, own, a.turns)
	return p, p.budget.Turns > 0
}

// run has a helper do it as planned.
func (w *Watch) run(ctx context.Context, st transcript.State, a assignment, p plan) (out miniagent.Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	es, _ := complete(st)
	s := miniagent.Spec{
		For: a.purpose, Target: p.target, Budget: p.budget, Env: tool.Env{Dir: a.dir, Roots: []string{a.dir}, Home: w.Home}, Mask: w.Mask,
		Rules: w.rules(a.dir), Spent: func(e event.Spent) error { return w.Session.Report(e) },
	}
	ledger := file.NewLedger()
	ledger.Restore(a.seen)
	mine := file.New(file.Config{Ledger: ledger, Private: func(string) bool { return true }}) // they write notes and the memory
	if p.share {
		s.System, s.CacheKey = w.Loop.System, w.Loop.CacheKey
		s.History = window.Build(st)[:len(es)]
		s.Tools = miniagent.Confine(w.Session.Tools(), mine, a.limit)
		s.Prompt = strings.Replace(a.text, "{source}", behindText, 1)
		return miniagent.Run(ctx, s)
	}
	set, err := tool.NewSet(mine...)
	if err != nil {
		return out, err
	}
	set = set.Only(func(name string) bool { return strings.Contains(" "+a.write+" ", " "+name+" ") })
	s.System, s.Tools = []string{apartRole}, miniagent.Confine(set, mine, a.limit)
	s.Target.Effort, s.Target.Thinking, s.Target.LargerCap = "", 0, 0
	s.Target.Cap = most(s.Target.Cap, cmp.Or(a.cap, maxReply))
	s.Prompt = strings.Replace(a.text, "{source}", fmt.Sprintf(apartText, news(since(es, a.after), min(shownBytes(p.target), cmp.Or(a.shown, maxNews)))), 1)
	return miniagent.Run(ctx, s)
}

// most is a cap of tokens, of which 0 is none, that is not above max.
func most(cap, max int) int {
	if cap <= 0 || cap > max {
		return max
	}
	return cap
}

// shownBytes is how much of a conversation a model is shown: at most a third of
// its window.
func shownBytes(t agent.Target) int {
	if t.Window <= 0 {
		return maxNews
	}
	return min(maxNews, 4*t.Window/3)
}

// rules are those of the session, which say what nobody may do; what they would
// ask about, the limit of the tools decides.
func (w *Watch) rules(dir string) policy.Rules {
	r := w.Rules()
	r.Readable = append(r.Readable[:len(r.Readable):len(r.Readable)], dir)
	r.Writable = append(r.Writable[:len(r.Writable):len(r.Writable)], dir)
	return r
}

// budget is the session's, which helpers share. ok is false when nothing is left of it, or
// that cannot be said.
func (w *Watch) budget(t agent.Target) (b agent.Budget, ok bool) {
	all := w.Budget()
	if all.USD <= 0 && all.Outer == nil {
		return b, true
	}
	b = w.Session.Bounded(agent.Budget{USD: all.USD, Unpriced: all.Unpriced, Outer: all.Outer})
	_, known := price(t, llm.Usage{In: 1})
	why, _ := b.Over(b.Account())
	return b, why == "" && (known || all.Unpriced)
}

// is is a limit to one file.
func is(path string) func(string) bool { return func(p string) bool { return p == path } }

func fill(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(strings.TrimSpace(text))
}
