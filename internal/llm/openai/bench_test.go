package openai

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/llmtest"
)

type body string

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(b)))}, nil
}

// BenchmarkDeltas decodes 200,000 deltas of five bytes: 1 MB of text.
func BenchmarkDeltas(b *testing.B) {
	frames := llmtest.Responses{}.Frames(llmtest.Say(strings.Repeat("word ", 200_000)))
	m := New(Config{Transport: body(strings.Join(frames, ""))})
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for c, err := range m.Stream(context.Background(), llm.Request{Model: "m"}) {
			if err != nil {
				b.Fatal(err)
			}
			if _, ok := c.(llm.TextDelta); ok {
				n++
			}
		}
		if n != 200_000 {
			b.Fatalf("%d deltas", n)
		}
	}
}
