package term

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/ui/draw"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/muesli/cancelreader"
	xterm "golang.org/x/term"
)

// Options say which terminal to open.
type Options struct {
	In, Out *os.File
	Env     func(string) string // the environment
	Theme   *draw.Theme         // of the first frame
	Profile draw.Profile
	Plain   bool // nothing is redrawn, no mode is set; keys are read in lines
	// Guard has the terminal put back also when this process is killed, by a
	// second one that begins with Probe.
	Guard bool
}

// A Terminal is an open terminal. Restore puts it back, on every way out.
type Terminal struct {
	// Screen shows lines.
	Screen *Screen

	o      Options
	events chan Event
	quit   chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
	sig    chan os.Signal

	mu     sync.Mutex // guards what follows
	saved  *xterm.State
	before *termios // as saved, for the guard
	guard  *guard   // nil: there is none
	modes  modes
	reader cancelreader.CancelReader
	asked  bool // an answer to Probe is still to come
	told   bool // it answered what its size is, and that was so
	// It tells columns and rows in the wrong order, as tmux 3.3 does.
	swapped bool
	caps    Capabilities
	size    Size
	env     environment
}

// modes are what was switched on and has to be switched off again.
type modes struct {
	on       bool
	keyboard bool
	mouse    bool
	title    bool
	marks    bool // rows may be marked, which outlives us
}

// Open puts the terminal into raw mode and begins to read it. The first thing
// to do after Open is to defer Restore.
func Open(o Options) (*Terminal, error) {
	if !o.Plain && (!xterm.IsTerminal(int(o.In.Fd())) || !xterm.IsTerminal(int(o.Out.Fd()))) {
		return nil, errors.New("not a terminal")
	}
	t := &Terminal{o: o, events: make(chan Event, 64), quit: make(chan struct{}), sig: make(chan os.Signal, 8), env: look4(o.Env)}
	t.size = t.measure()
	t.Screen = NewScreen(o.Out, Config{Size: t.size, Theme: o.Theme, Profile: o.Profile, Sync: t.env.sync, Rewrap: t.env.rewrap, Plain: o.Plain})
	if err := t.begin(); err != nil {
		return nil, errors.Join(err, t.Screen.Close(false))
	}
	signal.Notify(t.sig, watched...)
	t.wg.Go(t.signals) // ends with quit
	return t, nil
}

// Events are what the terminal says. The channel is never closed; a Stop event
// is the last.
func (t *Terminal) Events() <-chan Event { return t.events }

// Size is the size of the terminal now.
func (t *Terminal) Size() Size {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

func (t *Terminal) measure() Size {
	cols, rows, err := xterm.GetSize(int(t.o.Out.Fd()))
	if err != nil {
		return sane(Size{})
	}
	return sane(Size{Cols: cols, Rows: rows})
}

// begin sets the modes and starts to read.
func (t *Terminal) begin() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.o.Plain {
		t.before = modesOf(t.o.In)
		st, err := raw(t.o.In, t.o.Out)
		if err != nil {
			return err
		}
		t.saved = st
		t.modes.on = true
		on := "\x1b[?2004h\x1b[?1004h"
		if t.modes.keyboard {
			on += "\x1b[>1u"
		}
		if t.modes.mouse {
			on += mouseOn
		}
		t.Screen.Raw([]byte(on))
		t.guarded()
	}
	r, err := cancelreader.NewReader(t.o.In)
	if err != nil {
		return err
	}
	t.reader = r
	t.wg.Go(func() { t.read(r) }) // ends when r is cancelled or at its end
	return nil
}

const (
	mouseOn  = "\x1b[?1000h\x1b[?1006h"
	mouseOff = "\x1b[?1000l\x1b[?1006l"
)

// endless is how soon after one end another follows when a terminal is gone.
const endless = 10 * time.Millisecond

// escWait is how long ESC may take to become more than the key, and begunWait how long
// what can be no key any more: over ssh and on a busy machine a sequence may come in
// parts that are tenths of a second apart.
const escWait, begunWait = 40 * time.Millisecond, time.Second

// read turns what comes from the terminal into events.
func (t *Terminal) read(r io.Reader) {
	defer t.Recover()
	chunks := make(chan []byte)
	end := make(chan error, 1)
	done := make(chan struct{})
	defer close(done)
	t.wg.Go(func() { // ends when r is cancelled or at its end
		defer t.Recover()
		var closed time.Time // when it ended last
		for {
			buf := make([]byte, 4096)
			n, err := r.Read(buf)
			if t.o.Plain && errors.Is(err, io.EOF) && time.Since(closed) > endless {
				closed, err = time.Now(), nil // Ctrl+D, as the terminal tells of it there
				n = copy(buf, "\x04")
			}
			if n > 0 {
				select {
				case chunks <- buf[:n]:
				case <-done:
					return
				}
			}
			if err != nil {
				end <- err
				return
			}
		}
	})
	var d decoder
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	timer.Stop()
	for {
		var got []uv.Event
		select {
		case b := <-chunks:
			got = d.feed(b)
		case <-timer.C:
			got = d.expire()
		case err := <-end:
			if !errors.Is(err, cancelreader.ErrCanceled) {
				t.gone()
			}
			return
		}
		if timer.Stop(); d.waits() > 0 {
			timer.Reset(d.waits())
		}
		if sizeUntold && len(got) > 0 {
			t.resized()
		}
		for _, ev := range got {
			if !t.handle(ev) {
				return
			}
		}
	}
}

// gone tells that the terminal is no more.
func (t *Terminal) gone() {
	t.Restore()
	t.last(Stop{})
}

// last gives the last event to the program. It takes the place of one that
// nobody has read when there is no room.
func (t *Terminal) last(ev Stop) {
	for {
		select {
		case t.events <- ev:
			return
		default:
		}
		select {
		case <-t.events:
		default:
		}
	}
}

// send gives ev to the program, or reports false when it has ended.
func (t *Terminal) send(ev Event) bool {
	select {
	case t.events <- ev:
		return true
	case <-t.quit:
		return false
	}
}

// handle turns an event of ultraviolet into one of ours.
func (t *Terminal) handle(ev uv.Event) bool {
	switch ev := ev.(type) {
	case uv.CursorPositionEvent:
		t.Screen.replied(reply{value: Size{Cols: ev.X, Rows: ev.Y}})
	case uv.KeyPressEvent:
		if ev.Code == uv.KeyF3 && t.Screen.asking() { // so the place of the cursor in the first row is read, too
			return true
		}
		if k, ok := key(uv.Key(ev)); ok {
			return t.send(k)
		}
	case uv.PasteEvent:
		return t.send(Paste{Text: ev.Content})
	case uv.FocusEvent:
		return t.send(Focus{In: true})
	case uv.BlurEvent:
		return t.send(Focus{})
	case uv.MouseWheelEvent:
		switch ev.Button {
		case uv.MouseWheelUp:
			return t.send(Wheel{})
		case uv.MouseWheelDown:
			return t.send(Wheel{Down: true})
		}
	case uv.MouseEvent: // clicks mean nothing
	case uv.BackgroundColorEvent:
		if ev.Color == nil {
			return true
		}
		r, g, b, _ := ev.Color.RGBA()
		return t.send(Background{Dark: dark(r>>8, g>>8, b>>8)})
	default:
		return t.answer(ev)
	}
	return true
}

// dark reports whether light text is seen better on a color, by its luma.
func dark(r, g, b uint32) bool { return 299*r+587*g+114*b < 128*1000 }

// signals handles what the system tells.
func (t *Terminal) signals() {
	defer t.Recover()
	for {
		select {
		case <-t.quit:
			return
		case s := <-t.sig:
			switch kindOf(s) {
			case sizeChanged:
				t.resized()
			case stopped:
				t.Suspend()
			case ended:
				if t.o.Plain && s == os.Interrupt { // the key, as the terminal tells of it there
					t.send(Key{Name: "c", Mod: Ctrl})
					continue
				}
				t.Restore()
				t.last(Stop{Signal: s.String()})
				return
			case nothing:
			}
		}
	}
}

func (t *Terminal) resized() {
	if t.Screen.askAgain() { // the terminal itself is asked; the system tells of sizes that are gone
		t.wg.Go(func() { // ends when a frame was drawn, or the screen is closed
			if t.Screen.Sync(); !t.Screen.ownSize() { // it did not answer
				t.measured()
			}
		})
		return
	}
	t.measured()
}

// measured takes the size that the system tells.
func (t *Terminal) measured() {
	z := t.measure()
	changed := t.becomes(z)
	if changed || !sizeUntold { // it may have been another for a moment
		t.Screen.Resize(z)
	}
	if changed {
		t.send(Resize{})
	}
}

// becomes sets the size, and reports whether it was another.
func (t *Terminal) becomes(z Size) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.size
	t.size = z
	return z != before
}

// sized tells of a size that the terminal answered before the system told of it.
func (t *Terminal) sized(z Size) {
	if t.becomes(z) {
		t.wg.Go(func() { t.send(Resize{}) }) // ends when the program takes it, or with quit
	}
}

type signalKind uint8

const (
	nothing signalKind = iota
	sizeChanged
	stopped // Ctrl+Z, from outside
	ended
)
