package tui

import (
	_ "embed"
	"strings"

	"github.com/adze-agent/adze/internal/ui/edit"
)

// Prompts of commands that have the model do something.
var (
	//go:embed prompts/init.md
	initPrompt string
	//go:embed prompts/review.md
	reviewPrompt string
	//go:embed prompts/commit.md
	commitPrompt string
)

// prompting is a command that sends a prompt, with what the person adds.
func prompting(text string) func(*Model, string) []effect {
	return func(m *Model, args string) []effect {
		p := strings.TrimSpace(text)
		if args != "" {
			p += "\n\nThe person adds: " + args
		}
		return m.send(edit.Prompt{Text: p, Shown: p})
	}
}
