package llm_test

import (
	"reflect"
	"testing"

	"github.com/adze-agent/adze/internal/llm"
)

func TestAmong(t *testing.T) {
	a, b := llm.Image{Media: "image/png", Data: []byte("a")}, llm.Image{Media: "image/png", Data: []byte("b")}
	text := func(s string) llm.Part { return llm.Text{S: s} }
	for _, c := range []struct {
		text   string
		images []llm.Image
		at     []int
		want   []llm.Part
	}{
		{"x", nil, nil, []llm.Part{text("x")}},
		{"", []llm.Image{a}, nil, []llm.Part{a}},
		{"x", []llm.Image{a, b}, nil, []llm.Part{a, b, text("x")}}, // of old logs
		{"A:\nB:\nwhich?", []llm.Image{a, b}, []int{3, 6}, []llm.Part{text("A:"), a, text("B:"), b, text("which?")}},
		{"x\n", []llm.Image{a, b}, []int{2, 2}, []llm.Part{text("x"), a, b}},
		{"x", []llm.Image{a, b}, []int{0, 1}, []llm.Part{a, text("x"), b}},
		{"é", []llm.Image{a, b}, []int{1, 9}, []llm.Part{a, b, text("é")}},
		{"xy", []llm.Image{a, b}, []int{1, -1}, []llm.Part{text("x"), a, b, text("y")}},
	} {
		if got := llm.Among(c.text, c.images, c.at); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q at %v: %v, not %v", c.text, c.at, got, c.want)
		}
	}
}
