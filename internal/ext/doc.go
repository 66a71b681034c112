// Package ext puts together what people bring along: hooks, skills, commands,
// MCP servers and plugins. A Process is what all folders have in common, a Folder what
// there is in one folder, a Session what one session has. What is active is an immutable set with origins; each
// change of it is recorded as an event. It refuses to decide what may run: trust
// is asked before, and the ordinary decision comes later.
//
// # One shape
//
// Everything that a session gets passes as an extension.Contribution: tools, slash commands,
// hooks, skills, agents and output styles, with an Origin that says who brought them (adze,
// folders, settings, plugins, MCP servers, flags). Session.Contributions lists all, the
// nearest first. Each kind has its own rule for what counts: extension.Tools refuses two of one
// name, extension.Hooks has all in their order, extension.Library the nearest of one name. No
// skill takes the name of a command.
//
// # What belongs to the process, what to a folder, what to a session
//
//	             process                  folder                             session
//	all          Process                  Folder: opens, starts nothing       Session: New first, Attach when the session is there
//	MCP servers  mcp.Hub: connections     mcp.View: those configured there   its tools are offered; servers' questions reach its people
//	skills                                skills.Shelf: reads and watches    skills.Desk: the Skill tool and Expand
//	plugins                               market.Store: what is installed    monitors run as long as the session
//	hooks                                 a set from settings and plugins    hooks.Gate
//
// What a server asks during a call is for the session whose call it is. What it asks of its
// own accord is for the root of the sessions in a folder that uses it.
//
// One goroutine (Folder.work) looks at what is configured, after each change of settings, of
// trusted files, or of what a host provides. It looks at plugins first, because they bring
// the rest, then at skills, then at servers. The first request has a head start of 60 ms
// before servers are started, unless somebody waits for them (Await).
//
// # Changes
//
// What is active is an immutable set. When it changes, the session records event.Extended,
// and event.ServerChanged for each server. Clients read both from the fold, so that a client
// in another process sees the same.
//
// Tools that come later are offered with Session.Offer and join at the next step, behind
// those that were there. Tools of servers may be deferred (tool.Spec.Deferrable): beyond
// tools.defer_above the model is told their names only and loads them with ToolSearch
// (docs/decisions/014-deferred-tools.md).
//
// A slash command of an extension is a prompt with Command set. It is queued as it was typed
// and expanded in the turn. InputAccepted.Read is what the model reads; Text stays what
// people see.
//
// A session can be an agent (Folder.Main, app/mainagent.go): the definition replaces prompt,
// tools, model, effort, mode, bounds, hooks, servers, skills and notes of the settings, unless
// a flag says otherwise. Servers of a skill's agent are a View of their own.
//
// Folders of active plugins can be read in the sandbox (confine.Config.Shown), because their
// programs are on the PATH of commands.
package ext
