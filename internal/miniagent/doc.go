// Package miniagent runs a small agent beside a session: a session of its own, in
// memory, that no screen shows and no log keeps. It has the tools that it is
// given (see Confine), asks nobody, and ends with its context. What each of its
// requests costs is told to whoever has it. It refuses to decide when it runs,
// and what for.
//
// # The contract
//
// A helper asks nobody (its mode is dontAsk), is shown on no screen and kept in no log,
// and ends with its context or its budget.
//
// It has only the tools that Confine leaves it. Each call is limited by the paths in its
// plan, below the rules of the session. It cannot run commands or reach the network.
//
// A skill or a hook that runs as an agent (ext/fork.go) is not confined so: it has the tools
// of its definition, and the parent session rules on its calls.
//
// Each request is reported when it ends (Spec.Spent) and recorded in the session's log as
// an event.Spent that names its purpose, so that totals, budgets, results and `adze stats`
// include it. A helper shares the session's money budget: before each request the sum of
// what everything has cost (Session.Account) is checked. Requests that belong to no agent
// (the classifier of auto mode, a hook, a title, sampling) are made by Session.Buy, one
// after the other where there is such a budget.
//
// With Spec.History the helper's window is another session's, byte for byte, with the same
// instructions, tools and cache key, so that the provider's prompt cache is used. Without
// it, the helper has instructions and tools of its own.
//
// Which model is asked, and how, is decided by cost: docs/decisions/011-helpers.md.
package miniagent
