package cli

import (
	"strings"
	"testing"
)

// What is written stands above the line that goes away, which is there again
// behind each whole line, and not when it was taken away.
func TestAbove(t *testing.T) {
	var b strings.Builder
	a := &above{to: &b}
	step := func(want string, do func()) {
		t.Helper()
		b.Reset()
		if do(); b.String() != want {
			t.Errorf("wrote %q, want %q", b.String(), want)
		}
	}
	write := func(s string) func() {
		return func() {
			if n, err := a.Write([]byte(s)); n != len(s) || err != nil {
				t.Error(n, err)
			}
		}
	}
	stand := func(s string) func() {
		return func() {
			var line []byte
			if s != "" {
				line = []byte(s)
			}
			if err := a.stand(line); err != nil {
				t.Error(err)
			}
		}
	}
	step("one\n", write("one\n"))
	step("runs", stand("runs"))
	step("\r\x1b[Ka notice\nruns", write("a notice\n"))
	step("\r\x1b[Kruns on", stand("runs on"))
	step("\r\x1b[Khalf", write("half"))
	step(" a line\n", write(" a line\n"))
	step("runs", stand("runs"))
	step("\r\x1b[K", stand(""))
	step("two\n", write("two\n"))
}
