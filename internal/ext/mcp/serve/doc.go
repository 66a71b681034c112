// Package serve lets other agents use adze's tools over MCP. Each call goes the
// way of a model's call, in a session of adze's own: it is planned, decided on,
// run, recorded and bounded by the same code. It refuses to decide anything
// itself: a question is put to the client as an elicitation, and is a no where
// the client cannot be asked.
//
// A Relay stands in the place of the session's model, and its "replies" are the calls of
// clients. So planning, ruling, hooks, the sandbox, the log and undo are the same code. Each
// client has its own session, over HTTP too (Handler). Calls that only read run together, all
// others one after the other. After 300 calls a summary takes their place, so that the session
// does not grow.
package serve
