package agent

import (
	"strings"
	"testing"
)

// A text that came in pieces is what the pieces are together, and each byte of it
// is kept about once.
func TestBlocks(t *testing.T) {
	for _, size := range []int{0, 1, 5, 511, 512, 513, blockSize - 1, blockSize, blockSize + 1, 3*blockSize + 7} {
		var b blocks
		var want strings.Builder
		for i := range 10 {
			s := strings.Repeat(string(rune('a'+i)), size)
			b.add(s)
			want.WriteString(s)
		}
		if b.String() != want.String() {
			t.Errorf("pieces of %d bytes: %d of %d bytes", size, len(b.String()), want.Len())
		}
		room := 0
		for _, x := range b {
			room += cap(x)
		}
		if room > want.Len()+2*blockSize {
			t.Errorf("pieces of %d bytes: %d bytes take %d", size, want.Len(), room)
		}
	}
}
