package tui

import (
	"context"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/picture"
	"github.com/adze-agent/adze/internal/ui/term"
)

// A Msg is something that happened. Now is told with each, because the model
// has no clock.
//
//sumtype:decl
type Msg interface{ msg() }

type (
	keyMsg        struct{ key keymap.Key }
	pasteMsg      struct{ text string }
	lineMsg       struct{ text string } // in plain mode
	sizeMsg       struct{ size term.Size }
	focusMsg      struct{ in bool }
	backgroundMsg struct{ dark bool }
	mouseMsg      struct{ wheel int } // lines, down is positive
	capsMsg       struct {
		how  picture.Protocol
		cell term.Size
	}
	eventsMsg struct {
		of     *Session
		events []event.Event
		over   bool  // no more will come
		why    error // then, nil where the session ended
	}
	openedMsg struct {
		s   *Session
		err error
	}
	// resultMsg is what an effect came to: it goes on with the model.
	resultMsg struct{ then func(*Model) []effect }
	tickMsg   struct{}
)

func (keyMsg) msg()        {}
func (pasteMsg) msg()      {}
func (lineMsg) msg()       {}
func (sizeMsg) msg()       {}
func (focusMsg) msg()      {}
func (backgroundMsg) msg() {}
func (mouseMsg) msg()      {}
func (capsMsg) msg()       {}
func (eventsMsg) msg()     {}
func (openedMsg) msg()     {}
func (resultMsg) msg()     {}
func (tickMsg) msg()       {}

// An effect is something to do outside of the model.
//
//sumtype:decl
type effect interface{ effect() }

type (
	// submit gives an op to the session, in the order in which effects came
	// unless it is urgent.
	submit struct {
		op     op.Op
		urgent bool
		then   func(m *Model, err error) []effect // nil: a refusal is shown
	}
	// work runs on a goroutine of its own.
	work struct {
		run func(ctx context.Context) func(*Model) []effect
	}
	// away is work that needs the terminal for itself.
	away struct {
		run func(ctx context.Context) func(*Model) []effect
	}
	// open is another session in the place of this one. first, when it is set, is done before
	// it is opened.
	open struct {
		start Start
		first func(context.Context) error
	}
	// follow follows the session of an agent that is visited, behind what is known of it.
	follow   struct{ v *visit }
	quit     struct{}
	suspend  struct{}
	redraw   struct{}
	paint    struct{ theme *draw.Theme }
	full     struct{ on bool }
	title    struct{ text string }
	notify   struct{ text string }
	sequence struct{ s string }          // that a hook wants the terminal to do
	clipping struct{ text, what string } // what is what it is called
)

func (submit) effect()   {}
func (work) effect()     {}
func (away) effect()     {}
func (open) effect()     {}
func (follow) effect()   {}
func (quit) effect()     {}
func (suspend) effect()  {}
func (redraw) effect()   {}
func (paint) effect()    {}
func (full) effect()     {}
func (title) effect()    {}
func (notify) effect()   {}
func (sequence) effect() {}
func (clipping) effect() {}
