package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/contrib"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool/file"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/pick"
	"github.com/adze-agent/adze/internal/ui/print"
)

// A hostDesk answers what hosts ask of a session besides prompts. It implements print.Desk.
type hostDesk struct{ running }

// maxSuggested bounds the files that are suggested for a query.
const maxSuggested = 20

// Cost implements print.Desk.
func (d hostDesk) Cost() string {
	st := d.State()
	var b strings.Builder
	fmt.Fprintf(&b, "Total cost: %s", st.Total.Money())
	if n := st.Total.Unpriced; n > 0 {
		fmt.Fprintf(&b, ", and %s without a known price", clip.Count(n, "request"))
	}
	b.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(st.ByModel)) {
		s := st.ByModel[name]
		fmt.Fprintf(&b, "%s: %s, %s in (%s from the cache), %s out, %s\n", name, clip.Count(s.Requests(), "request"),
			clip.Count(s.Usage.Prompt(), "token"), clip.Thousands(s.Usage.CacheRead), clip.Thousands(s.Usage.Out), s.Money())
	}
	return b.String()
}

// status is the session in a few lines.
func (d hostDesk) status() string {
	a := d.Describe()
	lines := []string{"adze " + a.Version, "session: " + a.ID, "folder: " + a.Dir, "model: " + d.Target().ID(), "mode: " + string(d.Mode()), "key: " + a.Key}
	for _, s := range d.Place().MCP().Status() {
		lines = append(lines, "MCP server "+s.Server.Name+": "+string(s.State))
	}
	return clip.VisibleText(strings.Join(lines, "\n"))
}

// help lists the slash commands that do something here.
func (d hostDesk) help() string {
	var b strings.Builder
	b.WriteString("Slash commands here:\n")
	for _, c := range contrib.Commands() {
		if _, ok := (ownCommands{hostDesk: d}).text(c.Name); ok || c.Name == "clear" {
			fmt.Fprintf(&b, "/%s: %s\n", c.Name, c.About)
			continue
		}
		if _, does := c.Do.(contrib.Op); does {
			fmt.Fprintf(&b, "/%s %s: %s\n", c.Name, c.Args, c.About)
		}
	}
	for _, o := range d.Extended().Commands {
		fmt.Fprintf(&b, "/%s: %s\n", clip.Line(clip.Visible(o.Name), 80), clip.Line(clip.Visible(o.About), 200))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fills is what fills the model's window.
func (d hostDesk) fills() string {
	var b bytes.Buffer
	for _, l := range draw.Block(d.Map().View(), draw.Options{Width: 100}) {
		for _, s := range l {
			b.WriteString(s.Text)
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// ReadFile implements print.Desk.
func (d hostDesk) ReadFile(name string, limit int64) (f print.File, err error) {
	var real string
	if f.Path, real, err = d.readable(name); err != nil {
		return f, err
	}
	if limit <= 0 {
		limit = 1 << 20
	}
	text, err := regular.Head(real, limit+1)
	if err != nil {
		return f, fmt.Errorf("%s cannot be read: %w", f.Path, cause(err))
	}
	if f.Cut = int64(len(text)) > limit; f.Cut {
		text = text[:limit]
	}
	f.Text = strings.ToValidUTF8(string(text), "\ufffd")
	return f, nil
}

// readable is where a file is that no rule denies to read: by the name that it is asked
// for, and behind links.
func (d hostDesk) readable(name string) (path, real string, err error) {
	if name == "" {
		return "", "", errors.New("a path is needed")
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.Place().Paths.Dir, name)
	}
	path = filepath.Clean(name)
	real, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", "", fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	for _, p := range []string{path, real} {
		q := policy.Request{Tool: "Read", Actions: []policy.Action{policy.Read{Path: p, Named: p, Asked: p}}}
		if v := policy.Decide(d.Session.Rules(), policy.Default, q); v.Effect == policy.Deny {
			return "", "", fmt.Errorf("%s is not read: %s", path, v.Reason)
		}
	}
	return path, real, nil
}

// Files implements print.Desk.
func (d hostDesk) Files(ctx context.Context, query string) (out []string, err error) {
	p := d.Place().Paths
	paths, _, err := pick.Tree(ctx, search.Tree{Root: p.Dir, Top: p.Root, Home: p.Home}, maxFiles)
	if err != nil {
		return nil, err
	}
	for _, h := range pick.NewFiles(paths).Find(query, maxSuggested) {
		out = append(out, h.Path)
	}
	return out, nil
}

// Title implements print.Desk.
func (d hostDesk) Title(ctx context.Context, about string) (string, error) {
	return d.TitleOf(ctx, about)
}

// Reload implements print.Desk.
func (d hostDesk) Reload(ctx context.Context) {
	d.Place().MCP().Refresh()
	ctx, cancel := context.WithTimeout(ctx, hostWait)
	defer cancel()
	d.Place().MCP().AwaitAll(ctx)
}

// ownCommands are adze's own slash commands in print mode.
type ownCommands struct {
	hostDesk
	programs bool // a program reads the answers
}

// text is the answer of a command that only shows something.
func (o ownCommands) text(name string) (show func() string, ok bool) {
	show, ok = map[string]func() string{"cost": o.Cost, "context": o.fills, "status": o.status, "help": o.help, "usage": o.Cost}[name]
	return show, ok
}

// do implements print.Options.Own.
func (o ownCommands) do(_ context.Context, name, args string) (print.Done, bool) {
	if show, ok := o.text(name); ok {
		return print.Done{Text: show()}, true
	}
	if name == "clear" {
		return o.clear(), true
	}
	all := contrib.Commands()
	i := slices.IndexFunc(all, func(c contrib.Command) bool { return c.Name == name })
	_, reported := (&uiHost{}).reports()[name]
	switch {
	case i < 0 && !reported:
		if name == "" {
			return print.Done{Text: "Unknown command: /"}, true
		}
		return print.Done{}, false
	case i >= 0:
		if x, ok := all[i].Do.(contrib.Op); ok {
			made, err := x.Make(args)
			if err != nil {
				return print.Done{Text: err.Error()}, true
			}
			return print.Done{Op: made}, true
		}
		if _, view := all[i].Do.(contrib.View); !view {
			return print.Done{}, false // a prompt
		}
	}
	text := fmt.Sprintf("/%s is a command of the terminal UI.", name)
	if how := elsewhere[name]; how != "" {
		text += " Here: " + how
	}
	return print.Done{Text: text}, true
}

// clear begins the conversation anew: it can be taken back, and files stay.
func (o ownCommands) clear() print.Done {
	for _, s := range o.State().Said {
		if s.Gone == 0 {
			return print.Done{Op: op.Rewind{To: s.ID, Conversation: true}, Fresh: true}
		}
	}
	return print.Done{}
}

// unknown implements print.Options.NoCommand for programs: what looks like a command
// and is none is not paid for.
func (o ownCommands) unknown(text string, _ error) (string, error) {
	m := looksCommand().FindStringSubmatch(strings.Fields(text)[0])
	if m == nil {
		return "", nil
	}
	if _, err := os.Lstat(strings.Fields(text)[0]); err == nil {
		return "", nil // a path
	}
	return "Unknown command: /" + m[1], nil
}

// pdfText is the text of a PDF.
func pdfText(data []byte) (string, error) { return file.PDFText(data) }

// approver has a tool of an MCP server answer questions, as --permission-prompt-tool
// names it.
func approver(a running, tool string) func(context.Context, string, json.RawMessage, string) (string, error) {
	return func(ctx context.Context, name string, input json.RawMessage, call string) (string, error) {
		question, err := json.Marshal(map[string]any{"tool_name": name, "input": input, "tool_use_id": call})
		if err != nil {
			return "", err
		}
		return a.Approve(ctx, tool, question)
	}
}
