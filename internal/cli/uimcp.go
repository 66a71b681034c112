package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/desk"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/near"
)

// mcpAway reports whether /mcp needs the terminal: where a person is asked.
func mcpAway(args string) bool {
	word, name, _ := strings.Cut(strings.TrimSpace(args), " ")
	return strings.TrimSpace(name) != "" && (word == "login" || word == "approve")
}

// mcp shows servers, or turns one on or off.
func (h *uiHost) mcp(ctx context.Context, _ string, args string) (string, error) {
	w, err := h.servers()
	if err != nil {
		return "", err
	}
	all := w.Status()
	if len(all) == 0 {
		return "No MCP server is configured. `adze mcp add NAME COMMAND` adds one.", nil
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Server.Name)
	}
	word, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	if name == "" {
		name = word
	}
	if name != "" && !slices.Contains(names, name) {
		return "", fmt.Errorf("there is no MCP server %q%s; there are: %s", clip.Line(name, 60), near.Hint(name, names), strings.Join(names, ", "))
	}
	switch {
	case args == "":
		return serverTable(all), nil
	case word == name:
		return h.aboutServer(w, all[slices.Index(names, name)]), nil
	case word == "enable", word == "disable":
		return "`" + name + "` is " + word + "d until adze ends", w.Hub().Enable(name, word == "enable")
	case word == "reconnect":
		return again(ctx, w, name)
	case word == "login", word == "logout", word == "approve":
		return h.mcpCommand(ctx, w, word, all[slices.Index(names, name)])
	}
	return "", fmt.Errorf("/mcp knows %s, not %q", strings.Join(desk.ServerVerbs, ", "), clip.Line(word, 40))
}

// mcpCommand runs the command of adze of that name about a server, and has what it
// came to count here.
func (h *uiHost) mcpCommand(ctx context.Context, w *ext.World, word string, s mcp.Status) (string, error) {
	name := s.Server.Name
	if word == "logout" {
		if _, err := h.command(ctx, "", "mcp", word, "--", name); err != nil {
			f := sorted(err)
			return "", hint.With(errors.New(f.cause), f.hint)
		}
		text, err := again(ctx, w, name)
		return "Signed out. " + text, err
	}
	args := []string{"mcp", word}
	if s.Server.Scope == servers.Flag || s.Server.Scope == servers.FromPlugin { // it may be this start's own
		x := h.f.extensions
		for _, v := range x.mcpConfig {
			args = append(args, "--mcp-config", v)
		}
		for _, dir := range x.pluginDirs {
			args = append(args, "--plugin-dir", dir)
		}
	}
	args = append(args, "--", name)
	if word == "approve" {
		err := h.inTerminal(ctx, "adze mcp approve", args...)
		if left := new(endedError); errors.As(err, &left) && left.code == exitRefused {
			return "`" + name + "` was not approved.", nil
		}
		if err != nil {
			return "", err
		}
		w.Refresh()
		return "", nil
	}
	if err := h.inTerminal(ctx, "adze mcp login", args...); err != nil {
		return "", err
	}
	return again(ctx, w, name)
}

// againWait is how long a person is not told what a new connection came to.
const againWait = 15 * time.Second

// again connects to a server anew, and says what that came to.
func again(ctx context.Context, w *ext.World, name string) (string, error) {
	ctx, end := context.WithTimeout(ctx, againWait)
	defer end()
	s, err := w.Hub().Anew(ctx, name)
	if err != nil {
		return "", err
	}
	text := "`" + name + "` is " + string(s.State)
	switch {
	case s.State == event.ServerConnected:
		text += ", with " + clip.Count(s.Tools, "tool")
	case s.State == event.ServerNeedsAuth:
		text += ": sign in with `/mcp login " + name + "`"
	case s.Why != "":
		text += ": " + cell(s.Why)
	}
	return text + ".", nil
}

func serverTable(all []mcp.Status) string {
	var b strings.Builder
	b.WriteString("| Server | State | Tools | |\n|---|---|---|---|\n")
	for _, s := range all {
		about := s.Why
		switch s.State {
		case event.ServerNeedsAuth:
			about = "sign in: /mcp login " + s.Server.Name
		case event.ServerPending:
			if about != servers.Untrusted {
				about = "look at it, and say yes: /mcp approve " + s.Server.Name
			}
		case event.ServerConnected, event.ServerConnecting:
			about = clip.Line(s.Server.Line(), 50)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", cell(s.Server.Name), s.State, s.Tools, cell(about))
	}
	return b.String() + "\n`/mcp NAME` shows its tools and what it wrote."
}

// cell is a text in a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "`", "'").Replace(clip.Line(clip.Visible(s), 200))
}

// aboutServer is a server with its tools, what each of them costs of the window,
// and the end of its log.
func (h *uiHost) aboutServer(w *ext.World, s mcp.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** is %s. %s\n\n%s, configured in %s.\n", cell(s.Server.Name), s.State, cell(s.Why), cell(s.Server.Line()), cell(s.Server.Origin.String()))
	if s.Protocol != "" {
		fmt.Fprintf(&b, "\nIt is %s %s, and speaks %s.\n", cell(s.Name), cell(s.Version), cell(s.Protocol))
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "\n* %s\n", cell(n))
	}
	if tools := toolsOf(w, s); len(tools) > 0 {
		all, prefix := 0, "mcp__"
		if server, _, ok := strings.Cut(strings.TrimPrefix(tools[0].name, prefix), "__"); ok {
			prefix += server + "__"
		}
		b.WriteString("\n| Tool | Tokens | |\n|---|---|---|\n")
		for _, t := range tools {
			all += t.tokens
			fmt.Fprintf(&b, "| %s | %d | %s |\n", cell(strings.TrimPrefix(t.name, prefix)), t.tokens, clip.Line(cell(t.about), 70))
		}
		fmt.Fprintf(&b, "\n%s, about %s tokens together. The model and rules know them as `%s…`.\n", clip.Count(len(tools), "tool"), clip.Short(all), prefix)
	}
	if lines := w.Log(s.Server.Name); len(lines) > 0 {
		b.WriteString("\nIts log ends with:\n" + clip.Fenced(clip.VisibleText(strings.Join(lines, "\n"))) + "\n")
	}
	return b.String()
}

type serverTool struct {
	name, about string
	tokens      int
}

func toolsOf(w *ext.World, s mcp.Status) (out []serverTool) {
	from := contrib.OfServer(s.Server.Name, s.Server.Origin.String())
	for _, c := range w.Served() {
		if c.From != from {
			continue
		}
		for _, t := range c.Tools {
			spec := t.Spec()
			out = append(out, serverTool{spec.Name, spec.Description, clip.Tokens(len(spec.Name) + len(spec.Description) + len(spec.Schema))})
		}
	}
	return out
}
