package bash

import (
	"bytes"
	"time"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Pace and size of live output.
const (
	progressEvery = 100 * time.Millisecond
	reportEvery   = 500 * time.Millisecond // of a background task
	progressMax   = 8 << 10                // bytes at once; of more only the last are shown
)

// A feed shows what an output gains, cleaned, in pieces that can be appended
// to each other. A piece that begins with a carriage return overwrites the line
// before it.
type feed struct {
	out  *proc.Output
	show func(string)
	at   int64
	over bool // what comes next overwrites the line that was sent last
}

func (f *feed) send() {
	total := f.out.Total()
	if total == f.at || f.show == nil {
		return
	}
	skipped := total-f.at > progressMax
	if skipped {
		f.at = total - progressMax
	}
	b, gone, next := f.out.From(f.at, progressMax)
	f.at = next
	b, held := whole(b)
	f.at -= int64(held)
	if (skipped || gone > 0) && len(b) > 0 {
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	s := clip.Clean(string(b))
	if s == "" {
		f.over = f.over || bytes.IndexByte(b, '\r') >= 0
		return
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	if f.over || bytes.IndexByte(bytes.TrimRight(first, "\r"), '\r') >= 0 {
		s = "\r" + s // a row of progress: its line may have been sent by halves
	}
	f.over = b[len(b)-1] == '\r'
	f.show(s)
}

// whole splits b before a character or an escape sequence that has not ended
// yet, and returns how many bytes are held back. When there is a line end,
// everything after the last one is.
func whole(b []byte) (ready []byte, held int) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		return b[:i+1], len(b) - i - 1
	}
	n := len(b)
	for i := max(0, n-utf8.UTFMax); i < n; i++ {
		if utf8.RuneStart(b[i]) && !utf8.FullRune(b[i:]) {
			n = i
			break
		}
	}
	if i := bytes.LastIndexByte(b[:n], 0x1b); i >= 0 && n-i < 64 {
		n = i
	}
	return b[:n], len(b) - n
}
