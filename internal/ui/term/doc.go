// Package term owns the terminal: its modes and how they are put back, what
// it says (keys, pastes, sizes, answers), and what is shown on it, line by
// line, in its own scrollback or full screen. It knows no session and no
// shape: it is given lines, and gives events.
//
// # The screen
//
// Screen has two kinds of lines. Printed lines go to the terminal's own scrollback, once. The
// live area below them is compared with what the terminal shows, row by row, and only
// differences are written. A row that was live and is printed now stays where it stands.
//
// A row is always one hard line, cut to the width, and the terminal does not wrap meanwhile.
// So, when the width changes, the rows that the live area takes can be counted; exactly these
// are erased and drawn again.
//
// A frame may be on its way when the size changes. A terminal that answers at once says with
// each frame where the cursor was and which size the frame was drawn on; from that the Screen
// knows how far up the next frame begins and what has to be printed again (torn.go). Nothing
// else waits for the terminal: a goroutine makes a frame from the newest state whenever the
// last frame was taken.
//
// # The end
//
// Each way out restores the terminal's modes. When adze is killed, a second process of its own
// (guard_unix.go) restores them, unless another program has the terminal by then.
package term
