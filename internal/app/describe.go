package app

import (
	"context"
	"slices"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/background"
	"github.com/adze-agent/adze/internal/environment"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/models"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/prompt"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/toolkit"
	"github.com/adze-agent/adze/internal/window"
)

// A Description is what a session is now, in nobody's wire format.
type Description struct {
	ID      string
	Dir     string // where it works: absolute
	Root    string // of the project: absolute
	Branch  string // of git, "" without one
	Version string // of adze
	Tools   []string
	Model   agent.Target
	Room    int    // what of its window a conversation may fill, in tokens
	Key     string // where the model's key came from, "none" without one
	Mode    policy.Mode
	Modes   []policy.Mode // that a person can go through
	After   event.Seq     // the last event before this run
	Kept    bool          // it can be resumed
}

// Describe says what the session is now.
func (r *Running) Describe() Description {
	at := r.place
	d := Description{
		ID: r.ID, Dir: at.Paths.Dir, Root: at.Paths.Root, Version: at.process.Version, Tools: r.Tools().Names(), Model: r.Target(), Key: r.key,
		Mode: r.Mode(), Branch: environment.Branch(at.Paths.Dir), After: r.After, Kept: r.Kept,
	}
	d.Room = window.Effective(d.Model.Window, d.Model.Cap)
	no := r.forbidden(at.Config())
	for _, m := range []policy.Mode{policy.Default, policy.AcceptEdits, policy.PlanMode, policy.Auto, policy.DontAsk, policy.Bypass} {
		if _, bad := no[m]; !bad && (m != policy.Bypass || r.started == m) {
			d.Modes = append(d.Modes, m)
		}
	}
	return d
}

// Stored is where the session is kept, for people; "" when nothing is kept.
func (r *Running) Stored() string { return r.log.Scratch() }

// Facts are the window and the output cap of a model, in tokens; 0 when
// unknown.
func (r *Running) Facts(id string) (window, limit int) {
	if t := r.Target(); id == t.ID() {
		return t.Window, t.Cap
	}
	f := r.place.models.Load().FactsOf(id)
	return f.Window, f.Output
}

// Switchable are the models that the session can be switched to: those of
// providers with a key, and what local servers have.
func (r *Running) Switchable(ctx context.Context) []models.Row {
	return slices.DeleteFunc(r.place.models.Load().List(ctx), func(row models.Row) bool { return !row.Usable })
}

// Instructions are the parts of the system prompt.
func (r *Running) Instructions() []prompt.Part { return slices.Clone(r.parts) }

// A Size is how much of a request a part takes. Tokens are estimated.
type Size struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Bytes  int    `json:"bytes"`
}

// Sizes measures the instructions and the tools.
func (r *Running) Sizes() (parts, tools []Size) {
	for _, p := range r.parts {
		parts = append(parts, Size{p.Name, p.Tokens(), len(p.Text)})
	}
	for _, s := range r.Tools().Specs() {
		n := len(s.Name) + len(s.Description) + len(s.Schema)
		tools = append(tools, Size{s.Name, clip.Tokens(n), n})
	}
	return parts, tools
}

// Map says what fills the window of the session's model.
func (r *Running) Map() window.Map {
	t := r.Target()
	_, tools := r.Sizes()
	instructions, offered := Pieces(r.parts, tools)
	return window.MapOf(r.State(), t.ID(), t.Window, t.Cap, instructions, offered)
}

// PDFText is what a model is given to read of a PDF.
func (r *Running) PDFText(data []byte) (string, error) { return toolkit.PDFText(data) }

// Pieces are what instructions and tools of these sizes take of a window.
func Pieces(parts []prompt.Part, tools []Size) (instructions, offered []window.Piece) {
	for _, p := range parts {
		instructions = append(instructions, window.Piece{Name: p.Name, Bytes: len(p.Text)})
	}
	for _, t := range tools {
		offered = append(offered, window.Piece{Name: t.Name, Bytes: t.Bytes})
	}
	return instructions, offered
}

// Talk is what the conversation takes of the window, without instructions and
// tools: tokens, estimated.
func (r *Running) Talk() int {
	st := r.State()
	n := window.Estimate(st)
	if st.Total.Replies == 0 {
		return n
	}
	parts, tools := r.Sizes()
	for _, s := range slices.Concat(parts, tools) {
		n -= s.Tokens
	}
	return max(0, n)
}

// MemoryFiles are the memory files that the session has read so far, what is
// remembered of the project, and the session's notes.
func (r *Running) MemoryFiles() []environment.MemoryFile {
	out := environment.MemoryFiles(r.known.Files(), r.notes)
	if path := r.notesFile(); path != "" {
		if _, ok := background.ReadNotes(path); ok {
			out = append(out, environment.MemoryFile{Path: path, Whose: "session"})
		}
	}
	return out
}
