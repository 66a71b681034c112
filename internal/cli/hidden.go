package cli

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// maxHidden is how long a line that is typed unseen may be, in bytes.
const maxHidden = 4096

// afterEscape is how long the rest of an escape sequence may take to come. Terminals
// send one in a piece, so a person's own Esc is one that nothing follows.
const afterEscape = 50 * time.Millisecond

// A hiddenLine is a line that is being typed where it is not shown: a star stands for
// each character.
type hiddenLine struct {
	text     []rune
	part     []byte // the beginning of a character whose other bytes have not come
	sequence []byte // the beginning of an escape sequence
	over     bool   // characters were left out, because the line was full
}

// A hiddenEnd is how a line ended, if it has.
type hiddenEnd int

const (
	hiddenGoesOn hiddenEnd = iota
	hiddenTaken
	hiddenLeft
)

// feed takes what came from the terminal. Backspace, Ctrl+U and Ctrl+W edit; Ctrl+C and
// Ctrl+D leave the line; escape sequences, such as those around a paste, are passed over.
func (l *hiddenLine) feed(in []byte) hiddenEnd {
	for _, c := range in {
		switch {
		case len(l.sequence) > 0:
			l.escaped(c)
		case c == 0x1b:
			l.sequence = append(l.sequence, c)
		case c == '\r' || c == '\n':
			return hiddenTaken
		case c == 0x03 || c == 0x04:
			return hiddenLeft
		case c == 0x7f || c == 0x08:
			l.text = l.text[:max(len(l.text)-1, 0)]
		case c == 0x15 || c == 0x17:
			l.text = l.text[:0]
		case c >= ' ':
			l.add(c)
		}
	}
	return hiddenGoesOn
}

// escaped takes a byte of an escape sequence, which ends with its final byte (ECMA-48, 5.4).
func (l *hiddenLine) escaped(c byte) {
	l.sequence = append(l.sequence, c)
	intro := l.sequence[1]
	switch {
	case len(l.sequence) == 2 && (c == '[' || c == 'O'):
	case (intro == '[' || intro == 'O') && (c < 0x40 || c > 0x7e) && len(l.sequence) < 64:
	default:
		l.sequence = l.sequence[:0]
	}
}

func (l *hiddenLine) add(c byte) {
	l.part = append(l.part, c)
	if !utf8.FullRune(l.part) {
		return
	}
	r, _ := utf8.DecodeRune(l.part)
	l.part = l.part[:0]
	if len(string(l.text))+utf8.RuneLen(r) > maxHidden {
		l.over = true
		return
	}
	l.text = append(l.text, r)
}

// dots is how many characters are shown of the line: enough to see that they arrive.
func (l *hiddenLine) dots() int { return min(len(l.text), 24) }

// readHidden asks for a line at the terminal and shows a star for each character of it.
// Esc, Ctrl+C and Ctrl+D leave it, which is a failure with exitInterrupted. However it
// ends, the terminal shows again what is typed.
func readHidden(ctx context.Context, sys System, question string) (string, error) {
	fd := int(sys.Stdin.Fd())
	was, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("ask for the key: %w", err)
	}
	defer func() { _ = term.Restore(fd, was) }() // nothing can be done about it
	defer fmt.Fprint(sys.Stderr, "\r\n")
	fmt.Fprint(sys.Stderr, question)

	from, err := cancelreader.NewReader(sys.Stdin)
	if err != nil {
		return "", fmt.Errorf("ask for the key: %w", err)
	}
	type piece struct {
		b   []byte
		err error
	}
	pieces := make(chan piece, 1)
	read := func() {
		b := make([]byte, 1024)
		n, err := from.Read(b)
		pieces <- piece{b[:n], err}
	}
	go read()
	reads := true
	defer func() { // a read that still waits would take what is typed next
		if reads && from.Cancel() {
			<-pieces
		}
		_ = from.Close()
	}()
	var l hiddenLine
	for {
		var escape <-chan time.Time
		if len(l.sequence) == 1 {
			escape = time.After(afterEscape)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-escape:
			return "", &failure{exitInterrupted, "", ""}
		case in := <-pieces:
			reads = false
			shown := l.dots()
			end := l.feed(in.b)
			switch {
			case end == hiddenLeft, end == hiddenGoesOn && in.err != nil:
				return "", &failure{exitInterrupted, "", ""}
			case end == hiddenTaken && l.over:
				return "", usagef("save it in a file, and give --key-file", "the key is too long to be typed")
			case end == hiddenTaken:
				return string(l.text), nil
			}
			now := l.dots()
			fmt.Fprint(sys.Stderr, strings.Repeat("\b \b", max(shown-now, 0))+strings.Repeat("*", max(now-shown, 0)))
			reads = true
			go read()
		}
	}
}
