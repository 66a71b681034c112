// Package checkpoint notes what tools change on disk, in such a way that it can
// be undone: it remembers the files of a tree, compares the tree before and
// after a command, keeps the bytes of what a command may change, and puts a
// tree back. It never looks into or changes the folders of version control
// systems, follows no link, and of what git ignores leaves alone what builds
// make, and what is too much. It decides
// nothing about permissions, and knows no session.
//
// # How a change is recorded
//
// A call that may change files is looked at from outside (Recorder, through
// agent.Loop.Record): the files that it names, or the whole tree before and after. What it
// could change and git does not have is copied ahead into a Journal in the session's folder.
// The journal is removed when the session closes, or when `adze rewind` has used it. What
// did change is stored by its hash beside the log, and the call's result says it
// (effect.Changed).
//
// When the process was killed while a call ran, the next start compares the tree with the
// journal (Recover) and gives that call a result.
//
// # How it is undone
//
// op.Rewind goes back to before a prompt. A durable event is written first (rewind_began).
// Then the log is folded up to the prompt, and files are put back (Restore): it follows no
// link, and removes nothing that was there before in a place that nobody looked at.
// event.Rewound says what is so again. It is an event like any other, so a rewind can be
// undone. The part of the conversation that was removed is counted in the event
// (Rewound.Dropped), and people are told before and after. event.Trail is the one place that
// knows which prompts are left in the conversation and which rewind can be undone.
package checkpoint
