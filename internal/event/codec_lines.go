package event

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// MaxLine bounds a line in bytes. It is far above what a prompt with ten
// images needs; a longer line is never held in memory.
const MaxLine = 64 << 20

// A Line is one line of a log as it stands in the file.
type Line struct {
	Number int    // 1, 2, …
	Off    int64  // of its first byte
	Len    int64  // with its newline
	Bytes  []byte // without its newline, valid until the next one; nil when the line is too long
	Torn   bool   // it has no newline: the last one of a file that was cut
}

// Lines reads r line by line in memory bounded by the longest line, which is
// at most MaxLine. off is the position of r in its file.
func Lines(r io.Reader, off int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		most := int64(256 << 10)
		if sized, ok := r.(interface{ Size() int64 }); ok { // most logs are short
			most = min(most, sized.Size()+1)
		}
		in := bufio.NewReaderSize(r, int(most))
		var long []byte
		for n := 1; ; n++ {
			l := Line{Number: n, Off: off}
			long = long[:0]
			for {
				part, err := in.ReadSlice('\n')
				l.Len += int64(len(part))
				if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
					yield(l, err)
					return
				}
				whole := err == nil
				if l.Len > MaxLine {
					long = long[:0]
				} else if whole && len(long) == 0 {
					l.Bytes = part
				} else {
					long = append(long, part...)
					l.Bytes = long
				}
				if whole || errors.Is(err, io.EOF) {
					l.Torn = !whole
					break
				}
			}
			if l.Len == 0 {
				return
			}
			if l.Len > MaxLine {
				l.Bytes = nil
			}
			l.Bytes = bytes.TrimSuffix(l.Bytes, []byte("\n"))
			off += l.Len
			if !yield(l, nil) || l.Torn {
				return
			}
			if cap(long) > 4<<20 {
				long = nil // one huge line must not stay in memory for the rest
			}
		}
	}
}
