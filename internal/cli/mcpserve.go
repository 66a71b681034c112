package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp/serve"
	"github.com/adze-agent/adze/internal/text/clip"
)

func mcpServe(sys System, f *runFlags) *cobra.Command {
	addr := ""
	c := &cobra.Command{
		Use: "serve", Short: "Offer adze's tools to other agents, under the rules that hold here", Args: cobra.NoArgs,
		Long: `serve is an MCP server: an agent that connects to it can read, search, edit and run
commands in this folder. Every call is judged by adze's rules and runs in its
sandbox. What would be a question is put to a person through the client, where it
can do that, and is refused otherwise.

  adze mcp serve                          for a client that starts it
  adze mcp serve --http 127.0.0.1:7777    at http://127.0.0.1:7777/mcp

Over HTTP a client needs the token: the variable ADZE_MCP_TOKEN, else one that is
made and printed.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var listener net.Listener
			if addr != "" {
				var err error
				if listener, err = listenHere(cmd.Context(), addr); err != nil {
					return err
				}
				defer listener.Close()
			}
			o, err := f.options(sys, cmd.Flags())
			if err != nil {
				return err
			}
			o.Front = app.Front{Print: true, Lasting: true}
			o.Extensions = ext.Flags{Strict: true, NoCommands: true} // servers and commands are the client's own matter
			p, at, err := o.place(cmd.Context())
			if err != nil {
				return err
			}
			open := func(ctx context.Context) (*serve.Server, func() error, error) { return serveSession(ctx, at, o) }
			if listener == nil {
				err = servePipes(cmd.Context(), sys, open)
			} else {
				err = serveHTTP(cmd.Context(), sys, listener, open)
			}
			return errors.Join(err, p.Close())
		},
	}
	c.Flags().StringVar(&addr, "http", "", "answer over HTTP at this address of this machine: 127.0.0.1:PORT")
	return c
}

// serveSession starts a session of a client's, and offers its tools.
func serveSession(ctx context.Context, at *app.Place, o invocation) (*serve.Server, func() error, error) {
	relay := serve.NewRelay()
	target := relay.Target()
	spec := o.spec
	spec.Target = &target
	s, err := at.Start(ctx, spec)
	if err != nil {
		return nil, nil, openError(ctx, err)
	}
	x, err := serve.New(relay, s.Session, o.Version)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return x, s.Close, nil
}

type opener = func(context.Context) (*serve.Server, func() error, error)

// servePipes serves the client that started adze, until it leaves.
func servePipes(ctx context.Context, sys System, open opener) error {
	x, end, err := open(ctx)
	if err != nil {
		return err
	}
	err = x.Stdio(ctx, io.NopCloser(sys.Stdin), nopCloser{sys.Stdout}, sys.Stdout.gone)
	x.Close()
	return errors.Join(err, end())
}

// serveHTTP serves all who know the token, until ctx ends.
func serveHTTP(ctx context.Context, sys System, listener net.Listener, open opener) error {
	token := sys.Env("ADZE_MCP_TOKEN")
	if token == "" {
		token = rand.Text()
		fmt.Fprintf(sys.Stderr, "token: %s\n", token)
	}
	fmt.Fprintf(sys.Stderr, "listening on http://%s%s\n", listener.Addr(), serve.Path)
	h := serve.NewHandler(token, open)
	defer h.Close()
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// listenHere listens at an address that only this machine can reach.
func listenHere(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usagef("it looks like 127.0.0.1:7777; port 0 takes a free one", "--http cannot be %q", clip.Visible(addr))
	}
	if a, err := netip.ParseAddr(host); !strings.EqualFold(host, "localhost") && (err != nil || !a.IsLoopback()) {
		return nil, usagef("127.0.0.1, ::1 or localhost; other machines can reach it through ssh -L", "--http %s: adze listens on this machine's own addresses only", clip.Visible(addr))
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, failf("take another port: --http 127.0.0.1:0", "%v", err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() { // whatever "localhost" is here
		_ = l.Close()
		return nil, usagef("127.0.0.1 or ::1", "--http %s: it is not an address of this machine alone", clip.Visible(addr))
	}
	return l, nil
}
