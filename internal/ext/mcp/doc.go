// Package mcp talks to MCP servers: it keeps a connection to each that is
// configured and approved, and brings their tools, prompts and resources. Which
// servers there are, and which of them may be started, package servers says. It
// decides nothing about permission and knows no session: what a server asks of us
// goes to a Client.
//
// # Connections
//
// A Hub has the connections of a process, and a View is what one folder, or one agent with
// servers of its own, has of them: names, environment, roots, who answers. A remote server
// that is configured alike in several views, down to its headers and its approval, is
// connected once; it is told the roots of all. A program runs once for each folder. What a
// tool said when it was allowed counts for the folder in which it was.
//
// One goroutine of each server owns its connection; calls, Enable and notifications of
// servers only say what they want of it. A call waits for its own server, and has a server
// that ended started again.
//
// What goes over a connection (link) is the SDK's business (docs/decisions/015-mcp-sdk.md) on
// streamable HTTP and events. Programs, WebSockets and servers of the program that drives adze
// have one transport of ours, a wire of whole messages. A server that does not answer the
// first question of the newest protocol within 2 s is spoken to as older protocols do.
//
// Everything that comes is checked by the link's inspector before it is decoded: size, depth,
// names, numbers of answers, and how much comes in a second. A message that breaks the rules
// is an offence: it ends the connection, and people and the model read its words.
//
// A courier carries the requests of a remote server: to the configured host and nowhere else,
// without redirects to another origin. No error text holds an address.
//
// Programs run through package proc, with the scrubbed environment and the guardian. They end
// by closed input, TERM after 2 s, KILL after 5 s.
//
// # Permission
//
// What a tool says of itself is kept when a call of it is allowed (pins). When it later says
// something else, its plan has a question for a person, with the difference. readOnlyHint lets
// calls run side by side; it counts for permission (policy.Call.ReadOnly) only where a person
// set trustAnnotations. What a server asks of adze goes to a Client; while a person answers,
// the time limit of the call stands still.
package mcp
