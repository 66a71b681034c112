// Package skill reads what people wrote down for a model to use by name: skills
// (a folder with SKILL.md), commands (one file), definitions of agents, and output
// styles. It finds them in the places it is given, reads regular files there and
// nothing else, bounds what it reads, and says in a line what it cannot use. It
// runs nothing, asks nobody and decides nothing: whether a place may be looked at
// is the business of who names it.
//
// Facts about the formats are from agentskills.io (specification and the guide for
// clients) and from the public documentation of the agents whose files these are.
//
// # Reading and trust
//
// Ground.Places lists the places, the nearest first. Read has what each place brings. Join
// makes an immutable Library, and each Problem is one line with file and line number. Front
// matter is read as people write it; fields that are simple are read without a YAML parser
// (plain.go), because each start waits for skills.
//
// Package trust shows what a file would do by the same reading (Matter), so that nothing is
// used that was not shown. A place in a repository has Trusted: each content is compared with
// what the person agreed to, when it is read and again when it is used. A skill, command,
// agent or style of a repository that is a link out of it, or that cannot be read, is left
// out, and the rest can be trusted.
//
// # Use
//
// Package ext/skills uses them. A Shelf of the process reads in the background and watches; a
// Desk of each session has the Skill tool and Expand. Commands of a skill go through
// Session.Permit, one by one, with what the skill lends (Question.Lent), and then through the
// session's own Bash. A command that is refused does not run, and says why in its place.
// Commands are found in the text before arguments are put in, so that no argument becomes a
// command. With `context: fork` a helper does the work (ext/fork.go), and the session rules
// on the helper's calls.
//
// A skill that is used is an effect.Skill: until the turn ends, its allow and deny rules stand
// beside those in force, and its model and effort are used. It lifts no deny rule. The fold
// keeps what was used (State.Skills), so that a compaction keeps it: 5,000 tokens of each
// skill, 25,000 of all.
//
// The list of skills in the instructions stays as it was when the session began, so that the
// provider's prompt cache stays valid. Later changes are told as input. adze's own skills and
// styles are files in ext/skills/builtin.
package skill
