package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/picture"
	"github.com/adze-agent/adze/internal/ui/term"
)

// frameEvery is the least time between two frames that no key asked for.
const frameEvery = 33 * time.Millisecond

// typedAhead is how long Ctrl+J is taken for Enter after the start, and after the end
// of a program that had the terminal: so arrives what was typed while the terminal
// still edited lines by itself.
const typedAhead = 300 * time.Millisecond

// A Terminal is what Run needs of one.
type Terminal interface {
	Events() <-chan term.Event
	Size() term.Size
	Probe()
	Mouse(on bool)
	Pictures() picture.Protocol
	Title(s string)
	Notify(c term.Channel, title, body string)
	Sequence(s string)
	Copy(text string) bool
	Release()
	Reclaim() error
	Suspend()
	Recover()
}

// Options of a run.
type Options struct {
	Start  Start
	Prompt string // sent as soon as there is a session
	ASCII  bool
	Plain  bool // print lines, draw nothing anew; keys come in lines
	Colors bool // there are enough of them for pictures of half blocks
	Dark   bool // the background, until the terminal has told
}

// Left is what is left of a run.
type Left struct {
	// Session was open at the end, and is the caller's to close; nil when none
	// was.
	Session *Session
	Seq     event.Seq   // of its last event; 0 means that nothing was said
	Err     error       // why none could be opened
	Signal  string      // the signal that ended the run, "" without
	Unsent  edit.Prompt // what stood in the prompt box
}

// loop joins a model to a terminal and a session.
type loop struct {
	ctx    context.Context
	t      Terminal
	screen *term.Screen
	m      *Model
	h      Host
	msgs   chan Msg
	wg     sync.WaitGroup
	s      *Session
	unhear context.CancelFunc // ends the reading of s
	mail   *mail
	ops    *ops
	drawn  time.Time
	raw    time.Time // since when the terminal edits no lines by itself
	dirty  bool
	urgent bool
	over   bool
	paints bool   // whether it is waited for that the terminal has a dialog
	typed  string // of a line, in plain mode
}

// Run shows the UI until a person leaves it, or ctx ends. It returns with the
// terminal still in its hands; the caller closes it.
func Run(ctx context.Context, t Terminal, screen *term.Screen, h Host, o Options) Left {
	defer t.Recover()
	ctx, cancel := context.WithCancel(ctx)
	l := &loop{raw: time.Now(), ctx: ctx, t: t, screen: screen, h: h, msgs: make(chan Msg, 16), unhear: func() {}}
	l.m = newModel(h, o.Start, screenOf(t.Size(), o))
	l.mail = newMail()
	l.ops = newOps(l)
	l.do(l.m.setTheme(""))
	l.dirty, l.urgent = true, true
	l.draw(time.Now())
	if o.Prompt != "" {
		l.do(l.m.send(edit.Prompt{Text: o.Prompt, Shown: o.Prompt}))
	}
	if o.Start.Pick {
		o.Start.Pick = false
		l.do(l.m.pickSession(func(*Model) []effect { return []effect{open{start: o.Start}} }))
	} else {
		l.begin(o.Start, nil)
	}
	t.Probe()
	left := l.run()
	if left.Signal == "" && ctx.Err() == nil {
		left.Signal = l.depict()
	}
	cancel()
	l.unhear()
	l.ops.close()
	l.drain()
	left.Session, left.Seq, left.Err = l.s, l.m.st.Seq, l.m.gone
	left.Unsent = l.m.box.Prompt()
	l.m.rememberStash()
	if l.s != nil {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
		defer stop()
		_ = h.Client.Submit(ctx, l.s.ID, op.Detach{Client: clientName})
	}
	return left
}

func screenOf(z term.Size, o Options) screen {
	return screen{size: z, ascii: o.ASCII, poor: o.ASCII, plain: o.Plain, dark: o.Dark, focused: true, canvas: canvas{on: o.Colors && !o.ASCII}}
}

// depict waits for the pictures of what was said, so that what is left in the
// scrollback is whole: at most five seconds, and not beyond the next key. It
// returns the signal that ended the run meanwhile, "" without.
func (l *loop) depict() (signal string) {
	late := time.After(5 * time.Second)
	for l.m.story.Drawing() && l.screen.Err() == nil {
		select {
		case in := <-l.msgs:
			l.take(in)
		case ev := <-l.t.Events():
			stop, stopped := ev.(term.Stop)
			if _, key := ev.(term.Key); key || stopped {
				return stop.Signal
			}
		case <-l.ctx.Done():
			return ""
		case <-late:
			return ""
		}
	}
	l.draw(time.Now())
	return ""
}

// drain waits for the goroutines, and takes what they still have to say.
func (l *loop) drain() {
	done := make(chan struct{})
	go func() { l.wg.Wait(); close(done) }() // ends with the goroutines, which end with ctx
	for {
		select {
		case <-l.msgs: // a session that was opened by now is not shown any more
		case <-done:
			return
		case <-time.After(2 * time.Second): // an editor, or a session that is slow to open
			return
		}
	}
}

func (l *loop) run() Left {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for !l.over {
		l.arm(timer)
		select {
		case ev := <-l.t.Events():
			if stop, ok := ev.(term.Stop); ok {
				return Left{Signal: stop.Signal}
			}
			l.event(ev)
		case in := <-l.msgs:
			l.take(in)
		case <-l.mail.ready:
			l.take(l.mail.take())
		case s := <-l.h.Notes:
			l.take(resultMsg{func(m *Model) []effect { m.note("warning", s, ""); return nil }})
		case <-l.h.Stale:
			l.do(l.m.lookAgain())
		case <-timer.C:
			l.take(tickMsg{})
		case <-l.ctx.Done():
			return Left{}
		}
		if l.screen.Err() != nil {
			return Left{Signal: "hangup"}
		}
		now := time.Now()
		if l.urgent && len(l.t.Events()) == 0 || now.Sub(l.drawn) >= frameEvery {
			l.draw(now)
		}
	}
	return Left{}
}

// arm sets the timer for what comes next by itself: a frame that waits, or
// what the model wants to be woken for. Without either nothing wakes.
func (l *loop) arm(timer *time.Timer) {
	at := l.m.wake()
	if l.dirty {
		if next := l.drawn.Add(frameEvery); at.IsZero() || next.Before(at) {
			at = next
		}
	}
	timer.Stop()
	if !at.IsZero() {
		timer.Reset(max(time.Until(at), 0))
	}
}

func (l *loop) take(in Msg) {
	l.do(l.m.update(time.Now(), in))
	l.dirty = true
}

// event hands on what the terminal said.
func (l *loop) event(ev term.Event) {
	switch ev := ev.(type) {
	case term.Key:
		l.urgent = true
		k := keymap.Of(ev.String(), ev.Text)
		if l.m.screen.plain {
			l.typing(k)
			return
		}
		if k.Mod == keymap.Ctrl && k.Name == "j" && time.Since(l.raw) < typedAhead {
			k = keymap.Of("enter", "") // the end of a line that the terminal edited
		}
		l.take(keyMsg{k})
	case term.Paste:
		l.urgent = true
		l.take(pasteMsg{ev.Text})
	case term.Focus:
		l.take(focusMsg{ev.In})
	case term.Resize:
		l.urgent = true
		l.take(sizeMsg{l.t.Size()})
	case term.Wheel:
		if ev.Down {
			l.take(mouseMsg{3})
		} else {
			l.take(mouseMsg{-3})
		}
	case term.Background:
		l.take(backgroundMsg{ev.Dark})
	case term.Resumed:
		l.screen.Redraw()
		l.urgent = true
		l.take(sizeMsg{l.t.Size()})
	case term.Caps:
		l.take(capsMsg{l.t.Pictures(), ev.Caps.Cell})
	case term.Stop:
	}
}

// typing puts a line together, as the terminal edited it. What else comes with it (an
// arrow key that it knows nothing of) means nothing.
func (l *loop) typing(k keymap.Key) {
	switch {
	case k.Name == "enter", k.Name == "j" && k.Mod&keymap.Ctrl != 0:
		text := l.typed
		l.typed = ""
		l.screen.Echoed(true)
		l.take(lineMsg{text})
	case k.Name == "tab":
		l.typed += "\t"
	case k.Text != "":
		l.typed += k.Text
	case k.Mod == keymap.Ctrl && k.Name == "c":
		l.typed = ""
		l.screen.Echoed(false)
		l.take(keyMsg{k})
	case k.Mod == keymap.Ctrl && k.Name == "d":
		l.take(keyMsg{k})
	}
}

// draw gives the screen a frame.
func (l *loop) draw(now time.Time) {
	if !l.dirty {
		return
	}
	l.dirty, l.urgent, l.drawn = false, false, now
	l.m.now = now
	l.show(l.m.frame())
	if d := l.m.unseen(); d != nil && !l.paints {
		l.paints = true
		l.wg.Go(func() { // ends when the terminal has taken the frame, or the run is over
			defer l.t.Recover()
			l.screen.Sync()
			l.send(resultMsg{func(m *Model) []effect { l.paints = false; m.painted(d, m.now); return nil }})
		})
	}
}

// show puts a frame on the screen. Where the terminal shows images, they are
// printed in the place of the lines that stand for them.
func (l *loop) show(printed, live []draw.Line, cur term.Cursor) {
	at := 0
	for _, f := range l.m.placed {
		if len(f.Seq) == 0 {
			continue
		}
		end := f.at + len(f.Lines)
		l.screen.Print(printed[at:f.at])
		l.screen.PrintImage(f.Seq, len(f.Lines), printed[f.at:end])
		at = end
	}
	l.screen.Update(printed[at:], live, cur)
}

// send hands a message to the loop, unless the run is over.
func (l *loop) send(in Msg) {
	select {
	case l.msgs <- in:
	case <-l.ctx.Done():
	}
}

// do carries out effects.
func (l *loop) do(list []effect) {
	for _, e := range list {
		switch e := e.(type) {
		case submit:
			l.ops.submit(e)
		case work:
			l.work(e.run, func() {})
		case away:
			if l.m.screen.plain { // what was said before is read before
				l.dirty = true
				l.draw(time.Now())
			}
			l.t.Release()
			l.work(e.run, func() {
				if err := l.t.Reclaim(); err != nil {
					l.over = true
				}
				l.raw = time.Now()
			})
		case open:
			l.begin(e.start, e.first)
		case follow:
			l.visit(e.v)
		case quit:
			l.over = true
		case suspend:
			l.wg.Go(l.t.Suspend) // ends when the shell continues us
		case redraw:
			l.screen.Redraw()
		case paint:
			l.screen.SetTheme(e.theme)
		case full:
			l.screen.Full(e.on)
			l.t.Mouse(e.on)
		case title:
			l.t.Title(e.text)
		case notify:
			c := term.Channel("")
			if l.s != nil && l.s.UI.Notify == "bell" {
				c = term.Bell
			}
			l.t.Notify(c, "adze", e.text)
		case sequence:
			l.t.Sequence(e.s)
		case clipping:
			l.copy(e)
		}
	}
}

// work runs f elsewhere, and then goes on with the model.
func (l *loop) work(f func(context.Context) func(*Model) []effect, after func()) {
	l.wg.Go(func() { // ends with f, which ends with ctx
		defer l.t.Recover()
		then := f(l.ctx)
		l.send(resultMsg{func(m *Model) []effect {
			after()
			if then == nil {
				return nil
			}
			return then(m)
		}})
	})
}

// begin opens a session in the place of the one that is open.
func (l *loop) begin(start Start, first func(context.Context) error) {
	l.unhear()
	old := l.s
	l.s = nil
	l.m.leaves(start)
	l.wg.Go(func() { // ends when the session is open
		defer l.t.Recover()
		if old != nil {
			l.h.leave(l.ctx, old, &start)
		}
		var bad error
		if first != nil {
			bad = first(l.ctx)
		}
		s, err := l.h.Open(l.ctx, start)
		if err == nil && s == nil {
			err = errors.New("there is no session")
		}
		hear := func() {}
		if s != nil {
			hear = l.follow(s)
		}
		l.send(resultMsg{func(m *Model) []effect {
			l.s = s
			out := m.update(m.now, openedMsg{s, err})
			hear()
			return append(out, m.fail(bad)...)
		}})
	})
}

// visit follows the session of an agent until that ends, or nobody visits it any more.
func (l *loop) visit(v *visit) {
	ctx, cancel := context.WithCancel(l.ctx)
	v.stop = cancel
	after := v.seq
	l.wg.Go(func() { // ends with the agent, the visit, or ctx
		defer l.t.Recover()
		defer cancel()
		var why error
		for e, err := range l.h.Client.Follow(ctx, v.task.Session, after, event.Everything) {
			if why = err; err != nil {
				break
			}
			l.send(resultMsg{func(m *Model) []effect { m.visitEvents(v, []event.Event{e}); return nil }})
		}
		if ctx.Err() == nil {
			l.send(resultMsg{func(m *Model) []effect { return m.visitOver(v, why) }})
		}
	})
}

// follow follows a session, from the events on that are shown at once. The loop calls
// what it returns to read them.
func (l *loop) follow(s *Session) (hear func()) {
	ctx, cancel := context.WithCancel(l.ctx)
	events := l.h.Client.Follow(ctx, s.ID, s.first(), event.Everything) // another process may take its time
	return func() {
		l.unhear = cancel
		l.mail = newMail()
		to := l.mail
		l.wg.Go(func() { // ends with the session, the connection, or ctx
			defer l.t.Recover()
			var why error
			for e, err := range events {
				if why = err; err != nil {
					break
				}
				to.put(ctx, s, e)
			}
			if ctx.Err() == nil {
				to.end(s, why)
			}
		})
	}
}
