package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp/oauth"
	"github.com/adze-agent/adze/internal/machine"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
)

func mcpLogin(sys System, f *runFlags) *cobra.Command {
	quiet := false
	c := &cobra.Command{
		Use: "login SERVER", Short: "Sign in to a server", Args: cobra.ExactArgs(1),
		Long: `login opens the page of the server in a browser. Where there is none, or it is on
another machine, the address is printed: open it anywhere, and paste the address
that the browser is led to at the end.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.signing(sys, cmd, args[0], func(c *configured, client *oauth.Client, s servers.Server) error {
				if err := startable(s); err != nil {
					return err
				}
				if err := client.Login(cmd.Context(), ext.SignInSettings(s), &signer{sys: sys, open: c.opener(sys, quiet)}); err != nil {
					return err
				}
				fmt.Fprintf(sys.Stderr, "signed in to %s\n", clip.Visible(s.Name))
				return nil
			})
		},
	}
	c.Flags().BoolVar(&quiet, "no-browser", false, "open no browser; print the address")
	return c
}

func mcpLogout(sys System, f *runFlags) *cobra.Command {
	idp := false
	c := &cobra.Command{
		Use: "logout SERVER", Short: "Forget the sign-in to a server", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.signing(sys, cmd, args[0], func(_ *configured, client *oauth.Client, s servers.Server) error {
				if idp {
					return logoutIdP(cmd.Context(), sys, client, s)
				}
				at, err := client.Status(cmd.Context(), ext.SignInSettings(s))
				if err == nil && !at.SignedIn {
					return failf("adze mcp list shows how servers are", "nobody is signed in to %s", clip.Visible(s.Name))
				}
				told, err := client.Logout(cmd.Context(), ext.SignInSettings(s))
				if err != nil {
					return err
				}
				if told != nil {
					fmt.Fprintf(sys.Stderr, "adze: the server could not be told: %s\n", oneLine(told.Error()))
				}
				fmt.Fprintf(sys.Stderr, "signed out of %s\n", clip.Visible(s.Name))
				return nil
			})
		},
	}
	c.Flags().BoolVar(&idp, "idp", false, "forget the sign-in at the company's identity provider, which is for all servers")
	return c
}

func logoutIdP(ctx context.Context, sys System, client *oauth.Client, s servers.Server) error {
	at := ext.SignInSettings(s)
	if at.Flow != oauth.CrossApp {
		return failf("adze mcp logout "+hint.Shell(s.Name)+" signs out of the server itself", "nobody signs in to %s at an identity provider", clip.Visible(s.Name))
	}
	told, err := client.LogoutIdP(ctx, at)
	if err != nil {
		return err
	}
	if told != nil {
		fmt.Fprintf(sys.Stderr, "adze: the identity provider could not be told: %s\n", oneLine(told.Error()))
	}
	fmt.Fprintf(sys.Stderr, "signed out of %s\n", oneLine(at.IdP.Issuer))
	return nil
}

// signing does something with the sign-in to a server.
func (f *runFlags) signing(sys System, cmd *cobra.Command, name string, do func(*configured, *oauth.Client, servers.Server) error) error {
	c, err := f.servers(sys, cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.one(name)
	if err != nil {
		return err
	}
	if s.Transport != servers.HTTP && s.Transport != servers.SSE {
		return failf("adze mcp get "+hint.Shell(name)+" shows what it is", "nobody signs in to %s: it is no server of HTTP", clip.Visible(name))
	}
	client := ext.SignIn(c.Paths, sys.Env, oauth.Config{Version: sys.Version, Proxy: c.Proxy(c.Config())})
	defer client.Close()
	return do(c, client, s)
}

// opener opens pages in a browser, where there is one.
func (c *configured) opener(sys System, quiet bool) func(context.Context, string) error {
	if quiet || !sys.ErrTTY {
		return func(context.Context, string) error { return errors.New("no browser is wanted") }
	}
	return machine.New(machine.Config{Environment: c.Environment, Environ: c.Environ}).Browse
}

// A signer is a person who signs in, with a browser or by hand.
type signer struct {
	sys  System
	open func(ctx context.Context, address string) error
	in   *bufio.Reader
}

// Open implements oauth.Browser.
func (p *signer) Open(ctx context.Context, address string) error {
	if p.open(ctx, address) == nil {
		fmt.Fprintf(p.sys.Stderr, "a browser opens this page; sign in there, or open it elsewhere:\n%s\n", clip.Visible(address))
		return nil
	}
	fmt.Fprintf(p.sys.Stderr, "open this page in a browser and sign in there:\n%s\n", clip.Visible(address))
	return nil
}

// Paste implements oauth.Browser.
func (p *signer) Paste(ctx context.Context, problem error) (string, error) {
	if problem != nil {
		fmt.Fprintf(p.sys.Stderr, "that was not it: %s\n", oneLine(problem.Error()))
	}
	fmt.Fprint(p.sys.Stderr, "if the browser is on another machine, paste the address that it is led to: ")
	if p.in == nil {
		p.in = bufio.NewReader(p.sys.Stdin)
	}
	b, err := wait(ctx, func() ([]byte, error) { return p.in.ReadBytes('\n') })
	if ctx.Err() != nil {
		fmt.Fprintln(p.sys.Stderr) // the answer came by itself
	}
	return strings.TrimSpace(string(b)), err
}
