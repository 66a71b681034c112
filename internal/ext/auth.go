package ext

import (
	"path/filepath"
	"runtime"

	sdk "github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/ext/mcp/oauth"
	"github.com/adze-agent/adze/internal/ext/mcp/servers"
	"github.com/adze-agent/adze/internal/settings"
)

// SignIn keeps the tokens of MCP servers: in the keyring, else in a private file
// of a folder of their own.
func SignIn(p settings.Paths, env func(string) string, c oauth.Config) *oauth.Client {
	c.Store = auth.Store{Dir: filepath.Join(p.State, "mcp"), Keyring: auth.System(runtime.GOOS, env)}
	return oauth.New(c)
}

// SignInSettings are what a server's configuration says of signing in.
func SignInSettings(s servers.Server) oauth.Settings {
	o := s.OAuth
	return oauth.Settings{Name: s.Name, ServerURL: s.URL, ClientID: o.ClientID, CallbackPort: o.CallbackPort, MetadataURL: o.MetadataURL, Scopes: o.Scopes}
}

// SignedIn gives the connection of a server its tokens.
func SignedIn(c *oauth.Client) func(servers.Server) sdk.OAuthHandler {
	return func(s servers.Server) sdk.OAuthHandler {
		if s.Transport != servers.HTTP && s.Transport != servers.SSE {
			return nil
		}
		return c.Handler(SignInSettings(s))
	}
}
