package environment

import (
	"slices"

	"github.com/adze-agent/adze/internal/memory"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/text/clip"
)

// A MemoryFile is a file that the model was told of, or that holds notes.
type MemoryFile struct {
	Path  string
	Whose string // "project", "user", …; "notes" of a project, "session" of this session
	Size  int    // tokens, estimated, of what the model was told; 0 for notes
	Notes []string
}

// MemoryFiles are memory files that were read, and what is remembered of the project in
// the folder notes, "" for none.
func MemoryFiles(read []memory.File, notes string) (out []MemoryFile) {
	for _, f := range read {
		out = append(out, MemoryFile{Path: f.Path, Whose: string(f.Scope), Size: clip.Tokens(len(f.Text)), Notes: append(slices.Clip(f.Notes), f.Warnings...)})
	}
	if notes != "" {
		for _, p := range memory.Topics(notes) {
			out = append(out, MemoryFile{Path: p, Whose: "notes"})
		}
	}
	return out
}

// OwnNotes are the model's own notes in a folder, with what is left out of their index.
func OwnNotes(dir string) prompt.Own {
	own := prompt.Own{Dir: dir}
	own.Index, own.Warning = memory.Index(dir)
	return own
}
