package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/adze-agent/adze/internal/config"
)

// absent are settings of features that this version does not have. A key that
// is set all the same is named, so that nobody relies on it; quiet ones only by
// config check and doctor, because nothing that a run does depends on them.
var absent = []struct {
	key, what string
	quiet     bool
}{
	{"hooks", "hooks", false}, {"mcpServers", "MCP servers", false}, {"enableAllProjectMcpServers", "MCP servers", true}, {"enabledMcpjsonServers", "MCP servers", true},
	{"enabledPlugins", "plugins", false}, {"extraKnownMarketplaces", "plugins", true}, {"agent", "agents", false}, {"output_style", "output styles", false},
	{"lsp", "language servers", false}, {"worktree", "worktrees", true}, {"web.search", "web search", false}, {"web.search_url", "web search", true},
	{"statusLine.command", "status line", true}, {"tools.defer_above", "loading of tools on demand", true}, {"cost.warn_usd", "warning about costs", true}, {"memory.auto", "notes of the model's own", true},
}

// withoutEffect are the problems of settings and files that nothing reads, and
// those a run should name.
func withoutEffect(cfg *config.Config, p Paths) (all []config.Problem, loud []string) {
	add := func(at config.Origin, key, what string, quiet bool) {
		all = append(all, config.Problem{Severity: config.Warning, Origin: at, Key: key, Message: "it has no effect: this version has no " + what + " yet"})
		if !quiet {
			loud = append(loud, fmt.Sprintf("%s (%s)", key, at))
		}
	}
	for _, a := range absent {
		s, ok := cfg.Setting(a.key)
		if !ok || s.Origin.Scope == config.Default {
			continue
		}
		switch strings.TrimSpace(string(s.Value)) {
		case "null", "{}", "[]", `""`, "false", "0":
			continue
		}
		add(s.Origin, a.key, a.what, a.quiet)
	}
	if file := filepath.Join(p.Root, ".mcp.json"); exists(file) {
		add(config.Origin{Scope: config.Project, File: file}, ".mcp.json", "MCP servers", false)
	}
	return all, loud
}
