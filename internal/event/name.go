package event

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// UUID names a durable event for the world outside: the same in every process
// that reads the log, and in copies of it (RFC 9562, version 8).
func (e Event) UUID() string {
	raw := binary.BigEndian.AppendUint64(nil, uint64(e.Seq))
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(raw, uint64(e.Time.UnixNano())))
	b := sum[:16]
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
