// Package history keeps the prompts that people entered, of all projects, in one
// file of JSON lines. Only its owner can read the file; several processes may
// write it; it is bounded, and read from its end only as far as somebody looks.
// It draws nothing and searches nothing.
package history

import (
	"time"
)

// An Entry is a prompt as it was entered. Pastes are folded in Text: each label
// stands for a text.
type Entry struct {
	Text    string
	Pastes  []Paste
	Project string // folder
	Session string
	Time    time.Time
}

// A Paste is what a label of an entry's Text stands for.
type Paste struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}
