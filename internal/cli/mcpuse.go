package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/ext/mcp/oauth"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// useFlags are those of commands that connect to servers.
type useFlags struct {
	session string
	answer  string
}

func (u *useFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&u.session, "session", "", "use the connections of a session that runs")
	_ = c.Flags().MarkHidden("session") // see check
}

// check refuses what this version cannot do.
func (u *useFlags) check() error {
	if u.session != "" {
		return &failure{exitRefused, "--session: a session that runs cannot be reached from outside in this version", "leave --session out, and a connection of its own is made"}
	}
	return nil
}

// A hub are connections for one command.
type hub struct {
	*mcp.View
	all   *mcp.Hub
	auth  *oauth.Client
	asks  *formFiller
	rules policy.Rules
}

func (h *hub) close() {
	h.all.Close()
	h.auth.Close()
}

// connect connects to these servers. Close it.
func (c *configured) connect(sys System, answer string, list []servers.Server) (*hub, error) {
	var err error
	h := &hub{asks: &formFiller{}}
	if sys.InTTY && sys.ErrTTY {
		h.asks.person = &formAsker{sys: sys, in: bufio.NewReader(sys.Stdin)}
	}
	if answer != "" {
		if err := json.Unmarshal([]byte(answer), &h.asks.values); err != nil {
			return nil, usagef(`it looks like '{"name": "value"}'; {} takes what the form has filled in`, "--answer is no JSON object: %v", fastjson.InWords(err))
		}
		h.asks.accept = true
	}
	h.auth = ext.SignIn(c.Paths, sys.Env, oauth.Config{Version: sys.Version, Proxy: c.Proxy(c.Config())})
	cfg := c.Config()
	connect, call := ext.ServerTimeouts(sys.Env)
	h.all = mcp.New(mcp.Config{
		Version: sys.Version, Hide: secret.New(append(secret.Environ(sys.Environ), ext.ServerSecrets(list)...)...).String, Auth: ext.SignedIn(h.auth),
		Once: true, Timeout: connect, ToolTimeout: call, Proxy: c.Proxy(cfg),
	})
	h.View = h.all.View(mcp.ViewConfig{
		Ground: mcp.Ground{Dir: c.Paths.Dir, Apart: c.Paths.ServerDirs(), Environ: func() (environ, allow []string) {
			environ, allow = slices.Clone(sys.Environ), slices.Clone(cfg.ChildEnv)
			for k, v := range cfg.Env {
				environ, allow = append(environ, k+"="+v), append(allow, k)
			}
			return environ, allow
		}},
		Among: c.Set.Servers, Client: h.asks, Roots: func() []string { return []string{c.Paths.Dir} },
	})
	h.Use(list)
	h.rules, _, err = settings.Rules(cfg, c.Paths)
	if err != nil {
		h.close()
		return nil, failf("correct the rule", "%v", err)
	}
	return h, nil
}

// denied is the refusal of a call that a deny rule forbids, or nil. Nothing else is
// asked for: whoever types a call has allowed it.
func (h *hub) denied(t tool.Tool, input json.RawMessage, env tool.Env) error {
	p, err := t.Plan(input, env)
	if err != nil {
		return nil // the call says it
	}
	v := policy.Decide(h.rules, policy.Bypass, policy.Request{Tool: t.Spec().Name, Actions: p.Actions})
	if v.Effect != policy.Deny || v.Check != policy.CheckRule {
		return nil
	}
	return &failure{exitRefused, t.Spec().Name + " was refused: " + v.Why(), wayOut(v)}
}

// deniedResource is denied for the tool of this name that all servers with resources
// share.
func (h *hub) deniedResource(name string, input map[string]string, env tool.Env) error {
	raw, err := json.Marshal(input)
	if err != nil {
		return err
	}
	for _, c := range h.Contributions() {
		for _, t := range c.Tools {
			if t.Spec().Name == name {
				return h.denied(t, raw, env)
			}
		}
	}
	return nil // no server has any
}

// startable refuses a server that may not be started.
func startable(s servers.Server) error {
	name := clip.Visible(s.Name)
	switch {
	case s.Approval == servers.Pending && s.Why == servers.Untrusted:
		return &failure{exitRefused, "the MCP server " + name + " is not used before this folder is trusted as it is now", "adze trust shows what the folder brings"}
	case s.Approval == servers.Pending:
		return &failure{exitRefused, "the MCP server " + name + " waits for your yes: " + clip.Visible(s.Why), "adze mcp approve " + hint.Shell(s.Name) + " shows what it runs"}
	case s.Approval == servers.Refused:
		return &failure{exitRefused, "the MCP server " + name + " may not be used: " + clip.Visible(s.Why), ""}
	case s.Problem != "":
		return failf("adze mcp get "+hint.Shell(s.Name)+" shows where it stands", "the MCP server %s cannot be used: %s", name, clip.Visible(s.Problem))
	}
	return nil
}

// startable is the server of this name, where it may be started.
func (c *configured) startable(name string) (servers.Server, error) {
	s, err := c.one(name)
	if err != nil {
		return s, err
	}
	return s, startable(s)
}

// using is a command with --json that connects to the server of its first argument,
// which stands before a slash where a tool is named, and prints what run answers.
func (f *runFlags) using(sys System, c *cobra.Command, run func(*cobra.Command, []string, *hub, servers.Server) (answer, error)) *cobra.Command {
	var u useFlags
	answering(sys, c, func(cmd *cobra.Command, args []string) (a answer, err error) {
		err = f.within(cmd.Context(), sys, cmd, &u, args[0], func(h *hub, s servers.Server) (err error) {
			a, err = run(cmd, args, h, s)
			return err
		})
		return a, err
	})
	u.add(c)
	return c
}

// within connects to a server until a context ends, waits for it, and does something
// with it.
func (f *runFlags) within(ctx context.Context, sys System, cmd *cobra.Command, u *useFlags, name string, do func(*hub, servers.Server) error) error {
	if err := u.check(); err != nil {
		return err
	}
	c, err := f.servers(sys, cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := c.startable(name)
	if err != nil {
		return err
	}
	h, err := c.connect(sys, u.answer, []servers.Server{s})
	if err != nil {
		return err
	}
	defer h.close()
	h.Wait(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if st := h.Status()[0]; st.State != event.ServerConnected {
		return unreachable(st)
	}
	err = do(h, s)
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	return err
}

// unreachable says why a server cannot be used now.
func unreachable(st mcp.Status) error {
	name := clip.Visible(st.Server.Name)
	if st.State == event.ServerNeedsAuth {
		return &failure{exitAuth, "the MCP server " + name + " wants you to sign in", "adze mcp login " + hint.Shell(st.Server.Name)}
	}
	return failf("adze mcp get "+hint.Shell(st.Server.Name)+" shows how it is configured", "the MCP server %s is not connected: %s", name, clip.Visible(st.Why))
}

// A formFiller answers what servers ask while a command runs.
type formFiller struct {
	accept bool
	values map[string]any
	person *formAsker // nil: nobody is there

	mu    sync.Mutex // guards asked
	asked []string   // what was refused
}

// Here implements mcp.Client.
func (*formFiller) Here(mcp.Caller) bool { return true }

// Ask implements mcp.Client.
func (f *formFiller) Ask(ctx context.Context, _ mcp.Caller, server string, form view.Form) (op.Answer, error) {
	if f.person != nil && (!f.accept || form.URL != "") {
		return f.person.ask(ctx, server, form)
	}
	if !f.accept || form.URL != "" {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, fmt.Sprintf("the MCP server %s asked: %s", clip.Visible(server), clip.Line(form.Message, 300)))
		return op.Answer{Dismissed: true}, nil
	}
	values := map[string]any{}
	for _, x := range form.Fields {
		if v, ok := f.values[x.Name]; ok {
			values[x.Name] = v
		} else if len(x.Default) > 0 {
			values[x.Name] = json.RawMessage(x.Default)
		}
	}
	raw, err := json.Marshal(values)
	return op.Answer{Allow: true, Values: raw}, err
}

// Sample implements mcp.Client.
func (*formFiller) Sample(context.Context, mcp.Caller, string, mcp.Sampling) (mcp.Sampled, error) {
	return mcp.Sampled{}, errors.New("no model is there: adze mcp was started without one")
}

// Changed implements mcp.Client.
func (*formFiller) Changed(string, string, string) {}

// told says what was asked and refused.
func (f *formFiller) told(sys System) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.asked {
		fmt.Fprintf(sys.Stderr, "adze: %s\nhint: --answer '{…}' fills forms in\n", s)
	}
}

// tools are those of the server that a hub has.
func (h *hub) tools() (out []tool.Tool) {
	for _, c := range h.Contributions() {
		for _, t := range c.Tools {
			if strings.HasPrefix(t.Spec().Name, "mcp__") {
				out = append(out, t)
			}
		}
	}
	return out
}

// part is the name of a tool without that of its server.
func part(t tool.Tool) string {
	name := strings.TrimPrefix(t.Spec().Name, "mcp__")
	_, name, _ = strings.Cut(name, "__")
	return name
}

func mcpCall(sys System, f *runFlags) *cobra.Command {
	var u useFlags
	c := answering(sys, &cobra.Command{
		Use: "call SERVER/TOOL [JSON|-]", Short: "Call a tool of a server; - reads its arguments from stdin", Args: cobra.RangeArgs(1, 2),
		Long: "call calls a tool, as you say it: nothing is asked. What deny rules forbid is\nrefused here too. At a terminal you are asked what the server wants to know; --answer\nsays it beforehand.",
	}, func(cmd *cobra.Command, args []string) (a answer, err error) {
		name, want, ok := strings.Cut(args[0], "/")
		if !ok || want == "" {
			return nil, usagef("adze mcp tools lists them", "%q names no tool: it is SERVER/TOOL", clip.Visible(args[0]))
		}
		input := json.RawMessage("{}")
		if len(args) == 2 {
			input = json.RawMessage(args[1])
		}
		if string(input) == "-" {
			text, err := wait(cmd.Context(), func() ([]byte, error) { return io.ReadAll(io.LimitReader(sys.Stdin, 16<<20)) })
			if err != nil {
				return nil, err
			}
			input = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(input, &object); err != nil {
			return nil, usagef(`they look like '{"query": "…"}'`, "the arguments are no JSON object: %s", fastjson.InWords(err))
		}
		err = f.within(cmd.Context(), sys, cmd, &u, name, func(h *hub, s servers.Server) error {
			t, err := h.tool(s, want)
			if err != nil {
				return err
			}
			env, done := h.env(sys, f, wantsJSON(cmd))
			if err := h.denied(t, input, env); err != nil {
				return err
			}
			res, err := t.Run(cmd.Context(), input, env)
			done()
			if cmd.Context().Err() != nil {
				return cmd.Context().Err()
			}
			h.asks.told(sys)
			a = resultOf(sys, res)
			return err
		})
		return a, err
	})
	u.add(c)
	c.Flags().StringVar(&u.answer, "answer", "", "fill in forms of the server with this JSON object, and with what they have filled in")
	return c
}

// tool finds a tool by the server's name for it, or by what models call it.
func (h *hub) tool(s servers.Server, want string) (tool.Tool, error) {
	plain := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, want)
	var names []string
	for _, t := range h.tools() {
		if n := part(t); n == want || n == plain || t.Spec().Name == want {
			return t, nil
		}
		names = append(names, part(t))
	}
	return nil, failf("adze mcp tools "+hint.Shell(s.Name)+" lists them", "the MCP server %s has no tool %q%s", clip.Visible(s.Name), clip.Visible(want), near.Hint(want, names))
}

// env is what a call may use. Progress is shown on a line of its own where somebody
// looks on; done takes it away.
func (h *hub) env(sys System, f *runFlags, quiet bool) (env tool.Env, done func()) {
	dir, err := workDir(f.cwd)
	if err != nil {
		dir = ""
	}
	shown := false
	env = tool.Env{Dir: dir, Roots: []string{dir}, Images: true, Progress: func(s string) {
		if !quiet && sys.ErrTTY {
			shown = true
			fmt.Fprint(sys.Stderr, "\r\x1b[K"+clip.Line(clip.Visible(s[strings.LastIndexByte(s, '\r')+1:]), 78))
		}
	}}
	return env, func() {
		if shown {
			fmt.Fprint(sys.Stderr, "\r\x1b[K")
		}
	}
}

// resultOf is what a tool or a resource gave.
func resultOf(sys System, res tool.Result) answer {
	type image struct {
		Media string `json:"media_type"`
		Data  []byte `json:"data"`
	}
	images := []image{}
	for _, i := range res.Images {
		images = append(images, image{i.Media, i.Data})
	}
	var fails error
	if res.IsErr {
		fails = &failure{code: exitFailed}
	}
	return failing{both{map[string]any{"text": res.Text, "is_error": res.IsErr, "images": images}, func() error {
		text := res.Text
		if sys.OutTTY {
			text = clip.VisibleText(text)
		}
		fmt.Fprintln(sys.Stdout, strings.TrimSuffix(text, "\n"))
		for _, i := range res.Images {
			fmt.Fprintf(sys.Stderr, "adze: an image (%s, %s) is not shown; --json has it\n", clip.Visible(i.Media), clip.Size(int64(len(i.Data))))
		}
		return nil
	}}, fails}
}
