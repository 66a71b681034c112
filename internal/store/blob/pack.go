package blob

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// packedSuffix ends the name of a file that holds a content compressed.
const packedSuffix = ".zst"

// minPacked is the size in bytes from which on a content is compressed: below,
// a file takes as much room on most disks.
const minPacked = 512

// pack compresses a content; ok is false when that saves less than an eighth,
// as with pictures. What it needs is let go of at once: contents are kept
// seldom, and an encoder that waits for the next one holds memory.
func pack(content []byte) (packed []byte, ok bool) {
	if len(content) < minPacked {
		return nil, false
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(256<<10))
	if err != nil {
		return nil, false
	}
	packed = e.EncodeAll(content, nil)
	return packed, e.Close() == nil && len(packed) < len(content)-len(content)/8
}

// unpack makes the content of a packed one. Bytes that are none, or that come to
// more than maxSize, are an error.
func unpack(packed []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxSize))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return out, nil
}
