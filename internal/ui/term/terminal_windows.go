package term

import (
	"os"
	"os/signal"

	"golang.org/x/sys/windows"
	xterm "golang.org/x/term"
)

// watched are the signals that a Terminal listens to.
var watched = []os.Signal{os.Interrupt}

// sizeUntold says that no signal tells of another size: it is looked at with
// each key.
const sizeUntold = true

func kindOf(s os.Signal) signalKind {
	if s == os.Interrupt {
		return ended
	}
	return nothing
}

func stopSignals(c chan os.Signal) { signal.Stop(c) }

// stopSelf does nothing: Windows has no job control.
func stopSelf() {}

// raw lets the console pass sequences in both directions.
func raw(in, out *os.File) (*xterm.State, error) {
	st, err := makeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	var mode uint32
	h := windows.Handle(out.Fd())
	if err := windows.GetConsoleMode(h, &mode); err == nil {
		_ = windows.SetConsoleMode(h, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
	}
	return st, nil
}

func restore(in, _ *os.File, st *xterm.State) error { return xterm.Restore(int(in.Fd()), st) }

func flush(in *os.File) { _ = windows.FlushConsoleInputBuffer(windows.Handle(in.Fd())) }
