package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/skill"
)

// extensionFlags are extensions that a start names, besides what files have.
type extensionFlags struct {
	mcpConfig  []string
	strictMCP  bool
	noCommands bool
	pluginDirs []string
	agents     string
	notes      []string // what of them does nothing
}

func (e *extensionFlags) add(fs *pflag.FlagSet) {
	fs.StringArrayVar(&e.mcpConfig, "mcp-config", nil, "further MCP servers: a file as .mcp.json, or its JSON")
	fs.BoolVar(&e.strictMCP, "strict-mcp-config", false, "only the MCP servers of --mcp-config")
	fs.StringArrayVar(&e.pluginDirs, "plugin-dir", nil, "a plugin in this folder counts in this run; may be given several times")
	fs.StringVar(&e.agents, "agents", "", "definitions of agents, as JSON: {\"name\": {\"description\": …, \"prompt\": …}}")
	fs.BoolVar(&e.noCommands, "disable-slash-commands", false, "no skills, and no slash commands of servers and plugins")
}

// read makes of the flags what a session is started with. Files count from dir.
func (e *extensionFlags) read(dir string) (out ext.Flags, err error) {
	out.Strict, out.NoCommands = e.strictMCP, e.noCommands
	out.Servers, err = servers.FromFlags(e.mcpConfig, func(path string) ([]byte, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return regular.Read(path, config.MaxFile)
	})
	if err != nil {
		return out, usagef(`give a file as .mcp.json, or JSON: --mcp-config '{"mcpServers": {"db": {"command": "db-server"}}}'`, "%v", err)
	}
	for _, d := range e.pluginDirs {
		if d == "" {
			return out, usagef("give the folder that holds the plugin's manifest", "--plugin-dir is empty")
		}
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		if info, err := os.Stat(d); err != nil || !info.IsDir() {
			return out, usagef("give the folder that holds the plugin's manifest", "--plugin-dir: %s is no folder", d)
		}
		out.PluginDirs = append(out.PluginDirs, d)
	}
	if e.agents != "" {
		list, problems := skill.ParseAgents([]byte(e.agents), "--agents")
		for _, p := range problems {
			if p.Used {
				e.notes = append(e.notes, "--agents: "+p.Text)
			} else {
				return out, usagef(`give JSON: --agents '{"reviewer": {"description": "…", "prompt": "…"}}'`, "--agents: %s", p.Text)
			}
		}
		out.Agents = list
	}
	return out, nil
}
