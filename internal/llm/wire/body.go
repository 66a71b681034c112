package wire

import (
	"compress/gzip"
	"errors"
	"io"
)

// Bounds of one answer.
const (
	maxBody      = 64 << 20    // decoded bytes of a stream
	maxKept      = 12 << 20    // bytes of a reply: its words, inputs and tokens; no model writes as many
	maxWritten   = 4 * maxKept // bytes of one event: what it says, with escapes
	maxErrorBody = 256 << 10   // decoded bytes of an error answer
	bombFloor    = 16 << 20    // below this much output no ratio is suspicious
	bombRatio    = 200         // decoded bytes per compressed byte
)

var (
	errBomb    = errors.New("the compressed answer is absurdly large when unpacked")
	errTooLong = errors.New("the reply is longer than 12 MB; it has no end")
	errTooBig  = errors.New("the answer is larger than 64 MB")
)

// A watched reader tells the watch when it waits and when bytes arrived.
type watched struct {
	r io.Reader
	w *watch
	n int64 // bytes read so far
}

func (b *watched) Read(p []byte) (int, error) {
	b.w.wait()
	n, err := b.r.Read(p)
	b.w.arrived(n)
	b.n += int64(n)
	return n, err
}

// unpack returns a reader of what the encoding holds, bounded against bombs.
func unpack(encoding string, raw *watched) (io.Reader, error) {
	switch encoding {
	case "", "identity":
		return &bounded{r: raw}, nil
	case "gzip", "x-gzip":
		return &bounded{r: &lazyGzip{src: raw}, packed: raw}, nil
	}
	return nil, errors.New("the answer is packed with " + clean(encoding, 40) + ", which was not asked for")
}

var errNoGzip = errors.New("the answer says that it is packed with gzip, and is not")

// lazyGzip reads the header with the first bytes, not before.
type lazyGzip struct {
	src io.Reader
	z   *gzip.Reader
}

func (g *lazyGzip) Read(p []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.src)
		if errors.Is(err, gzip.ErrHeader) {
			return 0, errNoGzip
		}
		if err != nil {
			return 0, err
		}
		g.z = z
	}
	return g.z.Read(p)
}

type bounded struct {
	r      io.Reader
	packed *watched
	n      int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	if b.n > maxBody {
		return 0, errTooBig
	}
	if b.packed != nil && b.n > bombFloor && b.n > bombRatio*b.packed.n {
		return 0, errBomb
	}
	return n, err
}
