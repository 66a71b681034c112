package ext

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/ext/mcp/oauth"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

// SignIn keeps the tokens of MCP servers: in the keyring, else in a private file
// of a folder of their own.
func SignIn(p settings.Paths, env func(string) string, c oauth.Config) *oauth.Client {
	c.Secret = func(_ context.Context, ref string) (string, error) {
		name := servers.Variable(ref)
		if v := env(name); v != "" {
			return v, nil
		}
		return "", hint.With(fmt.Errorf("the variable %s, which holds it, is not set", clip.Visible(name)), "set "+clip.Visible(name)+" where adze is started")
	}
	c.Store = auth.Store{Dir: filepath.Join(p.State, "mcp"), Keyring: auth.System(runtime.GOOS, env)}
	return oauth.New(c)
}

// revive connects to servers that a person has signed in to since they wanted that.
// It returns at once: what is kept may be in a keyring.
func (f *Folder) revive() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h := f.view; h != nil && !f.closed {
		f.wg.Go(func() { h.Revive(context.Background()) }) // ends when it has looked
	}
}

// SignInSettings are what a server's configuration says of signing in.
func SignInSettings(s servers.Server) oauth.Settings {
	o := s.OAuth
	out := oauth.Settings{
		Name: s.Name, ServerURL: s.URL, ClientID: o.ClientID, CallbackPort: o.CallbackPort, MetadataURL: o.MetadataURL, Scopes: o.Scopes,
		Flow: oauth.Flow(o.Flow), ClientSecretRef: o.ClientSecret, PrivateKeyRef: o.PrivateKey,
	}
	if p := o.IdP; p != nil {
		out.IdP = oauth.IdP{Issuer: p.Issuer, ClientID: p.ClientID, ClientSecretRef: p.ClientSecret, CallbackPort: p.CallbackPort, Scopes: p.Scopes}
	}
	return out
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

// ServerSecrets are the values that servers are given and that nobody is to be shown:
// those of variables whose names say so, and what headers sign in with.
func ServerSecrets(list []servers.Server) (out []string) {
	for _, s := range list {
		var pairs []string
		for name, value := range s.Env {
			pairs = append(pairs, name+"="+value)
		}
		for name, value := range s.Headers {
			if scheme, rest, ok := strings.Cut(value, " "); ok && (strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Basic") || strings.EqualFold(scheme, "Token")) {
				value = rest
			}
			pairs = append(pairs, name+"="+value)
		}
		out = append(out, secret.Environ(pairs)...)
	}
	return out
}
