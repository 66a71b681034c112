// Package background does what nobody waits for while a session runs: it has the
// session titled, has the search learn what is new, and keeps the session's
// notes and what is remembered of a project up to date (see helper). All of it
// ends with the session, and nothing of it holds a turn up. It refuses to know
// settings and providers: what it may do and with which models, it asks.
//
// # What runs here
//
// A title comes from the small model (the setting titles). The search index learns what is
// new. Two kinds of helpers run by themselves, and the slash command /btw is a third
// (aside.go):
//
//   - Session notes: notes.md beside the log (memory.session). They are written first at
//     10,000 tokens, then after every 5,000 tokens with three calls, or at the end of a turn
//     without calls. event.NotesKept says up to which event the notes go; a rewind to before
//     that event forgets them. Compaction uses them as its summary.
//   - The memory of the project (memory.auto): after a turn with 5,000 tokens or four prompts
//     of news, unless the model updated the memory itself meanwhile.
//
// One helper of each kind runs at a time. Three failures in a row end a kind for the
// session, and a notice says so. In print mode nothing of this package runs.
//
// To add a helper: its assignment in helpers.go with its .md file, its time in due.go, an
// event.For… value that its cost is counted under, and a setting that turns it off.
package background
