package cli

import (
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp/servers"
)

// extensionFlags are extensions that a start names, besides what files have.
type extensionFlags struct {
	mcpConfig  []string
	strictMCP  bool
	noCommands bool
}

func (e *extensionFlags) add(fs *pflag.FlagSet) {
	fs.StringArrayVar(&e.mcpConfig, "mcp-config", nil, "further MCP servers: a file as .mcp.json, or its JSON")
	fs.BoolVar(&e.strictMCP, "strict-mcp-config", false, "only the MCP servers of --mcp-config")
	fs.BoolVar(&e.noCommands, "disable-slash-commands", false, "no slash commands of skills, servers and plugins")
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
		return out, usagef(`give a file as .mcp.json, or JSON: --mcp-config '{"mcpServers": {"db": {"command": "db-server"}}}'`, "--mcp-config: %v", err)
	}
	return out, nil
}
