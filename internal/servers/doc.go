// Package servers says which MCP servers are configured, by whom, and which of
// them may be used. It is pure: it starts nothing and reads nothing itself. The
// formats are those that people have already: `.mcp.json`, the settings key
// mcpServers, and the user and local scopes of ~/.claude.json.
//
// # Trust
//
// The set is joined from an administrator's file, flags, settings, `.mcp.json` in the folders
// from the root to where the session starts, `~/.claude.json`, and plugins. Each server has
// its place, and says whether it may be started. settings.Live.Servers reads the files; those
// of a repository in the version that trust saw (trust.File.Text), so that nothing changes
// between the look and the use.
//
// A server of a repository needs a yes of its own. The yes is bound to the hash of what runs:
// the configuration, the files of the folder that its command names, and the files that these
// lead to (Server.Hash, runs.Finder.Programs, trust.Answers). It is compared again before each
// start (mcp.Config.Fresh). An unapproved server does not shadow another server of the same
// name.
//
// A server that a person configured for all folders runs nothing of a folder that is not
// trusted: one that looks for code where it starts, starts in another folder (Server.Apart).
//
// To add a transport: its type here, and something that makes a link in ext/mcp.
package servers
