// Package hook is what people's own programs are asked and what they say: the
// events, which hooks match one, what a hook is given, how its answer is read,
// and how the answers of several become one. It is pure; package ext/hookrun runs
// them. Formats and names are those of the settings that people have already
// (hooks of Claude Code, as documented).
//
// # Three packages
//
// Package hook is pure: it has the events, finds the hooks of an event (by matcher, and by
// what a call does), defines what a hook reads and answers, and joins several answers into
// one, whatever their order. Package ext/hookrun runs hooks: programs, requests, questions to
// a model. Package ext/hooks joins them to a session: it implements session.Hooks, writes an
// Input for what happens, and turns an Answer into verdicts, notes and refusals.
//
// # Rules
//
// A hook can refuse, ask, and allow what a rule could allow. It cannot lift a deny rule or
// the protection of files. Arguments that a hook rewrote are planned and ruled on again.
//
// takers lists the fields that an event accepts; other fields of an answer are reported
// (Answer.Unheard). An event without hooks costs one look into a map.
//
// ConfigChange hooks run before a change to settings or skills takes effect. A refused change
// is not applied; the old skill stays (skill.Part.Held).
//
// Hooks of the session's start run while the person writes; the first prompt waits for them
// for one second at most. Hooks of a skill belong to the turn (Gate.LendTurn), those of an
// agent to what the agent does, until it ends (Place.Agent).
//
// # Hooks for other agents
//
// Hooks for Codex and Gemini CLI have a Dialect: dialect.go says which of their events and
// tools mean the same, what such a hook reads, and what its answer means. ParseFile alone
// decides which of their files have hooks. Package trust lists those files, and
// settings.Live.HookFiles has the content that was trusted; that content is what runs.
//
// To add an event: a row in event.go and an input in input.go. Whoever
// causes the event asks the Gate.
package hook
