package programs

// agentPrograms are agents and editors with windows.
func agentPrograms() []program {
	return []program{
		{names: "adze", shows: rows{"--version": {}}, forms: []form{{words: "--print|-p|record|replay", runs: "*"}, {words: "hooks", runs: "test"}, {words: "mcp", runs: "call serve"}, {words: "sandbox", runs: "run"}}},
		{names: "claude", shows: rows{"--version": {}, "-v": {}},
			forms: []form{
				{words: "mcp add|add-json|add-from-claude-desktop|remove|reset-project-choices", sets: "~/.claude.json"}, {words: "config set|add|remove", sets: "~/.claude.json"},
				{words: "plugin install|enable|uninstall|update|marketplace", sets: "~/.claude.json"},
			}},
		{names: "code", is: checker, shows: rows{"--version": {}}, forms: []form{{flags: "--install-extension*", sets: "~/.vscode/extensions"}, {flags: "--add-mcp*", sets: "~/.config/Code/User/mcp.json"}}},
		{names: "codex", shows: rows{"--version": {}}, forms: []form{{words: "mcp add|remove", sets: "~/.codex/config.toml"}}},
		{names: "codium cursor", forms: []form{{flags: "--install-extension*", sets: "~/.vscode/extensions"}, {flags: "--add-mcp*", sets: "~/.config/Code/User/mcp.json"}}},
		{names: "gemini", shows: rows{"--version": {}}, forms: []form{{words: "mcp add|remove", sets: "~/.gemini/settings.json"}, {words: "extensions install|link|update|enable", sets: "~/.gemini/settings.json"}}},
		{names: "subl", is: checker},
		{names: "wine wsl.exe", is: launcher},
		{names: "wsl", is: launcher | takesScripts},
	}
}
