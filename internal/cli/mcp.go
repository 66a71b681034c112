package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/pattern"
	"github.com/adze-agent/adze/internal/trust"
)

func newMCP(sys System, f *runFlags) *cobra.Command {
	return group("mcp", "Configure MCP servers and call their tools",
		mcpAdd(sys, f), mcpAddJSON(sys, f), mcpAddFromDesktop(sys, f), mcpList(sys, f), mcpGet(sys, f), mcpRemove(sys, f), mcpApprove(sys, f), mcpReset(sys, f),
		mcpTools(sys, f), mcpCall(sys, f), mcpResources(sys, f), mcpRead(sys, f), mcpInfo(sys, f), mcpLogin(sys, f), mcpLogout(sys, f), mcpServe(sys, f))
}

// configured are the MCP servers of a run here.
type configured struct {
	invocation
	*settings.Live
	servers.Set
	plugins ext.Brought
}

// servers reads what is configured. Close it.
func (f *runFlags) servers(sys System, cmd *cobra.Command) (*configured, error) {
	o, live, err := f.opened(sys, cmd)
	if err != nil {
		return nil, err
	}
	plugins := ext.Plugins(o.Offered(live))
	set := live.Servers(settings.Servers{Given: o.Extensions.Servers, Strict: o.Extensions.Strict, Plugins: plugins.Servers})
	return &configured{o, live, set, plugins}, nil
}

// one is the server of a name.
func (c *configured) one(name string) (servers.Server, error) {
	if s, ok := c.Get(name); ok {
		return s, nil
	}
	var names []string
	for _, s := range c.Set.Servers {
		names = append(names, s.Name)
	}
	if bad := c.unread(); len(bad) > 0 {
		return servers.Server{}, failf("correct the file", "there is no MCP server %q, and not everything could be read: %s", clip.Visible(clip.Line(name, 100)), oneLine(bad[0].String()))
	}
	if c.Extensions.Strict {
		return servers.Server{}, usagef("leave the flag out to have the servers of the settings", "--mcp-config has no MCP server %q, and --strict-mcp-config leaves out all others", clip.Visible(clip.Line(name, 100)))
	}
	return servers.Server{}, usagef("adze mcp list shows those there are", "there is no MCP server %q%s", clip.Visible(clip.Line(name, 100)), near.Hint(name, names))
}

// unread are the mistakes of what says which servers there are: of its files, and of
// settings files that are not used for them.
func (c *configured) unread() (out []config.Problem) {
	cfg := c.Config()
	for _, p := range cfg.Problems {
		if slices.ContainsFunc(cfg.Files, func(f config.File) bool { return f.State == config.Broken && f.Path == p.File }) {
			out = append(out, p)
		}
	}
	return append(out, c.Problems...)
}

// written is where a server stands in a file of ours, by scope.
type written struct {
	scope string
	to    confedit.Target
}

// serverTarget is the file that servers of a scope are written to.
func serverTarget(p settings.Paths, scope string) (confedit.Target, error) {
	if scope == "project" {
		return confedit.Target{Path: filepath.Join(p.Root, ".mcp.json"), Root: p.Root, Mode: 0o644}, nil
	}
	return settingsFile(p, scope)
}

// plainName are names that adze gives: no part of them is changed in the names of tools.
var plainName = pattern.Lazy(`^[A-Za-z0-9_-]{1,64}$`)

// writeServer puts a server into the file of a scope. The person wrote it, so
// it needs no further yes.
func (c *configured) writeServer(ctx context.Context, sys System, scope, name string, raw json.RawMessage) error {
	if !plainName().MatchString(name) || strings.Contains(name, "__") {
		return usagef("letters, digits, - and _, up to 64, without __", "%q is no name for a server", clip.Visible(clip.Line(name, 100)))
	}
	t, err := serverTarget(c.Paths, scope)
	if err != nil {
		return err
	}
	for _, s := range append(slices.Clone(c.Set.Servers), c.Hidden...) {
		if s.Name == name && s.Origin.File == t.Path {
			return failf("remove it first: adze mcp remove "+hint.Shell(name)+" --scope "+hint.Shell(scope), "there is a server %s already, in %s", name, s.Origin)
		}
	}
	v, err := c.Paths.Trust().Check(c.Paths.TrustFolder())
	untrusted := err != nil || v.State != trust.Trusted && v.State != trust.Nothing
	if scope == "local" && untrusted {
		return &failure{exitRefused, "the settings of this folder are not used until it is trusted, so a server written there would not be either", "adze trust, or write it for all folders: --scope user"}
	}
	notes, err := settings.Write(ctx, c.Paths, t, confedit.Edit{Op: confedit.Set, Key: "mcpServers", Below: []string{name}, Value: raw})
	if err != nil {
		return failf("make the file writable, or correct it", "change %s: %v", t.Path, err)
	}
	s := c.asWritten(name, raw)
	if scope != "user" {
		if err := c.Paths.Answers().Say(ctx, c.Paths.Root, s, true); err != nil {
			notes = append(notes, fmt.Sprintf("your yes to it could not be kept, so it will be asked for: %v", err))
		}
	}
	for _, n := range notes {
		fmt.Fprintln(sys.Stderr, "adze: "+oneLine(n))
	}
	fmt.Fprintf(sys.Stdout, "added %s to %s: %s\n", name, clip.Visible(t.Path), s.Line())
	c.afterwards(sys, scope, name, t.Path, scope == "project" && untrusted)
	return nil
}

// asWritten is a server of this folder as a person has just written it.
func (c *configured) asWritten(name string, raw json.RawMessage) servers.Server {
	s := servers.Load(servers.Sources{Config: &config.Config{}, Given: []servers.Given{{Name: name, JSON: raw}}, Env: func(name string) (string, bool) {
		v, ok := c.Config().Env[name]
		if !ok {
			v = c.Env(name)
		}
		return v, v != ""
	}}).Servers[0]
	s.Programs = c.Paths.ProgramsOf(s)
	return s
}

// afterwards says what keeps a server that was just written from being used.
func (c *configured) afterwards(sys System, scope, name, path string, untrusted bool) {
	live, err := settings.Open(c.Environment, c.Sources)
	if err != nil {
		return // the file is written, and the next run says what is wrong
	}
	defer live.Close()
	now, ok := live.Servers(settings.Servers{}).Get(name)
	switch {
	case untrusted:
		fmt.Fprintln(sys.Stderr, "adze: it is not used before this folder is trusted: adze trust")
	case !ok:
		fmt.Fprintln(sys.Stderr, "adze: it is not used: "+c.leaves(scope))
	case now.Origin.File != path:
		fmt.Fprintf(sys.Stderr, "adze: it is not used: the server %s of %s counts\n", name, clip.Visible(now.Origin.String()))
	case now.Approval != servers.Approved:
		fmt.Fprintf(sys.Stderr, "adze: it is not used: %s\n", clip.Visible(now.Why))
	case now.Problem != "":
		fmt.Fprintf(sys.Stderr, "adze: it cannot be used yet: %s\n", clip.Visible(now.Problem))
	}
}

// leaves says why a server of a scope's file is not there.
func (c *configured) leaves(scope string) string {
	switch {
	case c.Sources.Bare && scope != "user":
		return "--bare reads no settings of the folder"
	case c.Sources.Only != nil && !slices.Contains(c.Sources.Only, scope):
		return "--setting-sources leaves the scope " + scope + " out"
	case slices.ContainsFunc(c.Set.Servers, func(s servers.Server) bool { return s.Scope == servers.Managed }):
		return "an administrator's file says which servers there are"
	}
	if v, err := c.Paths.Trust().Check(c.Paths.TrustFolder()); scope != "user" && (err != nil || v.State != trust.Trusted) {
		return "this folder is not trusted as it is now: look at it with adze trust"
	}
	return "the settings in force do not have it (adze mcp list shows those there are)"
}

type addFlags struct {
	transport         string
	env, headers      []string
	helper, client    string
	port              int
	args              []string
	dash, fromOptions bool
}

func mcpAdd(sys System, f *runFlags) *cobra.Command {
	var o addFlags
	c := scoped("s", "local", "for whom: local, user or project", &cobra.Command{
		Use: "add NAME COMMAND [ARGUMENT…] | add --transport http NAME URL", Short: "Configure a server",
		Long: `add writes a server into a settings file.

  adze mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  adze mcp add --env TOKEN='${TOKEN}' db -- ./db-server --fast
  adze mcp add --transport http docs https://docs.example/mcp --header 'X-Team: a'

--scope says for whom: local (you, in this folder), user (you, everywhere) or project
(everybody, in .mcp.json). ${VAR} and ${VAR:-otherwise} are read from the environment
when the server starts, so that no secret has to stand in a file.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("adze mcp add NAME -- COMMAND ARGUMENT…, or adze mcp add NAME https://HOST/PATH", "add needs a name, and a command or a URL")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args, o.dash = args, cmd.ArgsLenAtDash() >= 0
			o.fromOptions = f.print || f.cont || f.verbose || f.resume != ""
			raw, err := o.server()
			if err != nil {
				return err
			}
			c, err := f.servers(sys, cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			return c.writeServer(cmd.Context(), sys, scopeOf(cmd), args[0], raw)
		},
	})
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		f := new(failure)
		if errors.As(usageError(c, err), &f) {
			f.hint = "put two dashes before a command that has flags: adze mcp add NAME -- COMMAND; " + f.hint
			return f
		}
		return err
	})
	c.Flags().StringVarP(&o.transport, "transport", "t", "", "stdio, http, sse or ws; a URL is http by itself")
	c.Flags().StringArrayVarP(&o.env, "env", "e", nil, "a variable of the program: NAME=VALUE")
	c.Flags().StringArrayVarP(&o.headers, "header", "H", nil, "a header of requests: 'Name: value'")
	c.Flags().StringVar(&o.helper, "headers-helper", "", "a command that prints further headers, as a JSON object")
	c.Flags().StringVar(&o.client, "client-id", "", "the client that is registered for signing in")
	c.Flags().IntVar(&o.port, "callback-port", 0, "the port that signing in comes back to; 0 takes a free one")
	return c
}

// server is the configuration that the flags and arguments say.
func (o addFlags) server() (json.RawMessage, error) {
	rest := o.args[1:]
	kind := o.transport
	if isURL := strings.HasPrefix(rest[0], "http://") || strings.HasPrefix(rest[0], "https://"); kind == "" && isURL {
		kind = "http"
	}
	s := struct {
		Type    string            `json:"type,omitempty"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		Helper  string            `json:"headersHelper,omitempty"`
		OAuth   *servers.OAuth    `json:"oauth,omitempty"`
	}{Type: kind, Helper: o.helper}
	remote := kind != "" && kind != "stdio"
	switch {
	case !slices.Contains([]string{"", "stdio", "http", "sse", "ws"}, kind):
		return nil, usagef("one of stdio, http, sse, ws", "--transport cannot be %q", kind)
	case remote && len(rest) > 1:
		return nil, usagef("adze mcp add --transport "+kind+" NAME URL", "a server of type %s has one URL and no arguments", kind)
	case remote && len(o.env) > 0:
		return nil, usagef("leave --env out", "only a program has variables, and %s is a URL", rest[0])
	case !remote && (len(o.headers) > 0 || o.helper != "" || o.client != "" || o.port != 0):
		return nil, usagef("name the transport: --transport http", "headers and signing in are for URLs, and %s is a command", clip.Visible(rest[0]))
	case !remote && o.fromOptions && !o.dash:
		return nil, usagef("put two dashes before the command: adze mcp add NAME -- COMMAND", "adze took a flag for its own that may be the command's")
	case o.port < 0 || o.port > 65535:
		return nil, usagef("a number up to 65535", "--callback-port cannot be %d", o.port)
	}
	if remote {
		s.URL = rest[0]
	} else {
		s.Command, s.Args = rest[0], rest[1:]
	}
	var err error
	if s.Env, err = pairs("env", o.env, "=", "NAME=VALUE"); err != nil {
		return nil, err
	}
	if s.Headers, err = pairs("header", o.headers, ":", "'Name: value'"); err != nil {
		return nil, err
	}
	if o.client != "" || o.port != 0 {
		s.OAuth = &servers.OAuth{ClientID: o.client, CallbackPort: o.port}
	}
	raw, err := fastjson.Append(nil, s)
	if err != nil {
		return nil, err
	}
	return raw, usable(raw)
}

// usable refuses a configuration that could never be used. Variables may be
// missing now.
func usable(raw json.RawMessage) error {
	set := servers.Load(servers.Sources{
		Config: &config.Config{}, Given: []servers.Given{{Name: "x", JSON: raw}},
		Env: func(string) (string, bool) { return "x", true },
	})
	if s := set.Servers[0]; s.Problem != "" {
		return usagef("adze help mcp add shows how a server looks", "this is no server: %s", clip.Visible(s.Problem))
	}
	return nil
}

// pairs reads NAME=VALUE. An error shows no value: it may be secret.
func pairs(flag string, list []string, sep, form string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, s := range list {
		name, v, ok := strings.Cut(s, sep)
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, usagef("it looks like "+form, "a value of --%s has no %q", flag, sep)
		}
		if sep == ":" {
			v = strings.TrimSpace(v)
		}
		out[name] = v
	}
	return out, nil
}

func mcpAddJSON(sys System, f *runFlags) *cobra.Command {
	return scoped("s", "local", "for whom: local, user or project", &cobra.Command{
		Use: "add-json NAME JSON|-", Short: "Configure a server by its JSON", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := []byte(args[1])
			if args[1] == "-" {
				var err error
				if text, err = wait(cmd.Context(), func() ([]byte, error) { return io.ReadAll(io.LimitReader(sys.Stdin, 1<<20)) }); err != nil {
					return err
				}
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			var raw json.RawMessage
			if err := json.Unmarshal(text, &raw); err != nil {
				return usagef(`it looks like '{"command": "…", "args": ["…"]}' or '{"type": "http", "url": "https://…"}'`, "that is not JSON: %v", err)
			}
			if err := usable(raw); err != nil {
				return err
			}
			c, err := f.servers(sys, cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			return c.writeServer(cmd.Context(), sys, scopeOf(cmd), args[0], raw)
		},
	})
}

func mcpAddFromDesktop(sys System, f *runFlags) *cobra.Command {
	yes := false
	c := scoped("s", "user", "for whom: local, user or project", &cobra.Command{
		Use: "add-from-claude-desktop [NAME…]", Short: "Take servers over from Claude Desktop",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.servers(sys, cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err := serverTarget(c.Paths, scopeOf(cmd)); err != nil {
				return err
			}
			dir, err := os.UserConfigDir()
			if err != nil {
				return failf("set HOME", "where Claude Desktop keeps its servers is not known: %v", err)
			}
			path := filepath.Join(dir, "Claude", "claude_desktop_config.json")
			text, err := confedit.Disk{}.Read(path, config.MaxFile)
			if errors.Is(err, fs.ErrNotExist) {
				return failf("add one here: adze mcp add NAME -- COMMAND", "Claude Desktop has no servers here: there is no %s", path)
			}
			if err != nil {
				return failf("make it readable", "read %s: %v", path, err)
			}
			list, err := config.Entries(text, config.Origin{File: path}, "mcpServers")
			if err != nil {
				return failf("correct it, or add the servers by hand: adze mcp add NAME -- COMMAND", "read %s: %v", path, err)
			}
			if list, err = c.wanted(sys, scopeOf(cmd), list, args); err != nil || len(list) == 0 {
				return err
			}
			for _, e := range list {
				fmt.Fprintf(sys.Stdout, "%s: %s\n", e.Name, servers.Server{Raw: e.JSON}.Line())
			}
			if err := confirm(cmd.Context(), sys, yes, fmt.Sprintf("Take %s over?", clip.Count(len(list), "server")), "nothing was taken over"); err != nil {
				return err
			}
			for _, e := range list {
				if err := c.writeServer(cmd.Context(), sys, scopeOf(cmd), e.Name, e.JSON); err != nil {
					return err
				}
			}
			return nil
		},
	})
	c.Flags().BoolVar(&yes, "yes", false, "without a question")
	return c
}

// wanted are the servers that can be taken over; it says why others cannot.
func (c *configured) wanted(sys System, scope string, list []config.Entry, names []string) (out []config.Entry, err error) {
	t, err := serverTarget(c.Paths, scope)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(e config.Entry) bool { return e.Name == name }) {
			return nil, usagef("leave the names out to take all", "Claude Desktop has no server %q", clip.Visible(name))
		}
	}
	for _, e := range list {
		why := e.Problem
		switch err := usable(e.JSON); {
		case len(names) > 0 && !slices.Contains(names, e.Name):
			continue
		case why != "":
		case err != nil:
			why = err.Error()
		case !plainName().MatchString(e.Name):
			why = "its name has other characters than letters, digits, - and _"
		default:
			if s, ok := c.Get(e.Name); ok && s.Origin.File == t.Path {
				why = "there is one of this name in " + t.Path
			}
		}
		if why != "" {
			fmt.Fprintf(sys.Stderr, "adze: %s is left out: %s\n", clip.Visible(clip.Line(e.Name, 100)), clip.Visible(why))
			continue
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		fmt.Fprintln(sys.Stderr, "adze: there is nothing to take over")
	}
	return out, nil
}

// confirm asks a person. Without one, only yes is an answer.
func confirm(ctx context.Context, sys System, yes bool, question, not string) error {
	if yes {
		return nil
	}
	if !sys.InTTY || !sys.ErrTTY {
		return &failure{exitRefused, not + ": nobody is here to ask", "look at the list above, then add --yes"}
	}
	if ok, err := agrees(ctx, sys, question); err != nil {
		return err
	} else if !ok {
		return &failure{exitRefused, not, ""}
	}
	return nil
}

// agrees puts a question to the person at the terminal, who agrees with y or yes.
func agrees(ctx context.Context, sys System, question string) (bool, error) {
	fmt.Fprintf(sys.Stderr, "%s [y/N] ", question)
	b, err := wait(ctx, func() ([]byte, error) { return bufio.NewReader(sys.Stdin).ReadBytes('\n') })
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	a := strings.ToLower(strings.TrimSpace(string(b)))
	return err == nil && (a == "y" || a == "yes"), nil
}
