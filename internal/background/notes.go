package background

import (
	"path/filepath"

	"github.com/adze-agent/adze/internal/memory"
)

// NotesFile is the file of a session's notes, in the session's own folder.
func NotesFile(dir string) string { return filepath.Join(dir, memory.SessionName) }

// ReadNotes are the notes in that file; ok is false when there are none.
func ReadNotes(path string) (text string, ok bool) {
	text, _, err := memory.SessionNotes(path)
	return text, err == nil
}
