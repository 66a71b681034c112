package draw

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/view"
)

// BenchmarkSession draws a session of 10,000 messages: what a person said,
// Markdown, what commands printed, and changes of files.
func BenchmarkSession(b *testing.B) {
	th, _ := Named("dark", true)
	o := Options{Width: 100, MaxLines: 10}
	answer := sample
	diff := view.Diff{Path: "a.go", Unified: "@@ -1,4 +1,4 @@\n func f() {\n-\tfor i := 1; i < len(nums); i++ {\n+\tfor i := range nums {\n \t\tx(\"a\")\n"}
	output := view.Terminal{Command: "go test", Output: strings.Repeat("--- FAIL: TestSum (0.00s) and more words\n", 12)}
	for b.Loop() {
		var buf []byte
		for i := range 10_000 {
			var lines []Line
			switch i % 4 {
			case 0:
				lines = WrapAll(Text(fmt.Sprintf("prompt %d: please do this and that", i), Style{Role: User}), o.Width)
			case 1:
				lines = Markdown(answer, Options{Width: 100})
			case 2:
				lines = Block(output, o)
			case 3:
				lines = Block(diff, o)
			}
			for _, l := range lines {
				buf = th.Append(buf, l, Profile{Depth: TrueColor})
				buf = append(buf, '\n')
			}
		}
	}
}

// BenchmarkStream draws a second of a stream: 200 pieces, 30 frames.
func BenchmarkStream(b *testing.B) {
	src := strings.Repeat(sample+"\n\n", 3)
	for b.Loop() {
		s := NewStream(Options{Width: 100})
		for i := range 200 {
			s.Write(src[i*4 : i*4+4])
			if i%7 == 0 {
				s.Take()
				s.Tail(30)
			}
		}
	}
}

func BenchmarkMarkdown100KB(b *testing.B) {
	src := strings.Repeat(sample+"\n\n", 100<<10/len(sample))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Markdown(src, Options{Width: 100})
	}
}
