package near_test

import (
	"slices"
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
