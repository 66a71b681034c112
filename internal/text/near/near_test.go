package near_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/adze-agent/adze/internal/text/near"
)

func TestWords(t *testing.T) {
	tools := []string{"Bash", "Read", "Edit", "MultiEdit", "Write", "Glob", "Grep", "TodoWrite"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"bash", []string{"Bash"}},
		{"Raed", []string{"Read"}},
		{"Todo_Write", []string{"TodoWrite"}},
		{"todo", []string{"TodoWrite"}},
		{"anthropic", nil},
		{"", nil},
	} {
		if got := near.Words(c.word, tools); !slices.Equal(got, c.want) {
			t.Errorf("Words(%q) = %v, want %v", c.word, got, c.want)
		}
	}
	if got := near.Hint("gerp", tools); got != " (did you mean Grep?)" {
		t.Errorf("hint: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"read", "raed", 1}, {"größe", "grösse", 2}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
		{strings.Repeat("x", 201), strings.Repeat("x", 201), 201}, {strings.Repeat("x", 200), strings.Repeat("x", 199) + "y", 1},
	} {
		if got := near.Distance(c.a, c.b); got != c.want || near.Distance(c.b, c.a) != got {
			t.Errorf("%.9q and %.9q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
