package seal

import (
	"strings"
	"testing"
)

func BenchmarkCheck(b *testing.B) {
	s := New([]byte("key"))
	line := []byte(`{"a":"` + strings.Repeat("x", 700) + `"}`)
	out, _ := s.Append(append([]byte(nil), line...), 0, Mark{})
	body, m := Split(out)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if !s.Check(Mark{}, body, m) {
			b.Fatal("not good")
		}
	}
}
