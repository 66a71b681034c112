package term

// GuardArg is the first argument with which this program, started again by a
// Terminal, must call Guard before anything else.
const GuardArg = "__terminal"

// ways returns the bytes that switch off the modes that are on and that no
// shell sets for itself; t.mu is held.
func (t *Terminal) ways() []byte {
	b := []byte(syncOff + wrapOn + "\x1b[m" + "\x1b[?1004l")
	if t.modes.keyboard {
		b = append(b, "\x1b[<u"...)
	}
	if t.modes.mouse {
		b = append(b, mouseOff...)
	}
	if t.modes.marks {
		b = append(b, unmark...)
	}
	if t.modes.title {
		b = append(b, "\x1b]0;\x1b\\\x1b[23;2t"...)
	}
	return append(b, showCur...)
}
