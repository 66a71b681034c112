package wire

import (
	"bytes"
	"io"
	"slices"

	"github.com/adze-agent/adze/internal/llm"
)

// pieceSize is how many bytes of a conversation are kept together.
const pieceSize = 64 << 10

// A Body is a request as it was written. What requests of one conversation have
// in common they share, so a Body costs memory only for what is new in it. It
// never changes, and many readers may have it at once.
type Body struct{ pieces [][]byte }

// Len is how many bytes it has.
func (b Body) Len() (n int64) {
	for _, p := range b.pieces {
		n += int64(len(p))
	}
	return n
}

// Bytes is a copy of all of it.
func (b Body) Bytes() []byte { return slices.Concat(b.pieces...) }

// open returns a reader from its beginning.
func (b Body) open() io.ReadCloser { return &bodyReader{slices.Clone(b.pieces)} }

type bodyReader struct{ left [][]byte }

func (r *bodyReader) Read(p []byte) (n int, err error) {
	for len(r.left) > 0 {
		k := copy(p[n:], r.left[0])
		if n += k; k < len(r.left[0]) {
			r.left[0] = r.left[0][k:]
			return n, nil
		}
		r.left = r.left[1:]
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *bodyReader) Close() error { return nil }

// grown returns pieces with b behind them. Whoever has the pieces as they were
// may go on reading them: what they hold stays, and only one may make them grow.
func grown(pieces [][]byte, b []byte) [][]byte {
	if n := len(pieces); n > 0 {
		last := pieces[n-1]
		k := min(len(b), cap(last)-len(last))
		pieces = append(pieces[:n-1:n-1], append(last, b[:k]...))
		b = b[k:]
	}
	if len(b) > 0 {
		pieces = append(pieces, append(make([]byte, 0, max(pieceSize, len(b))), b...))
	}
	return pieces
}

// Asks reports whether the effort of r makes a difference to the body that is sent.
func Asks(r llm.Request, body func(llm.Request) Body) bool {
	plain := r
	plain.Effort, plain.ThinkingTokens = "", 0
	return !bytes.Equal(body(r).Bytes(), body(plain).Bytes())
}
