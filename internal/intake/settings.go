package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/confedit"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/importer"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/settings"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/hint"
	"github.com/adze-agent/adze/internal/text/paths"
)

// A taken setting is one that would be taken over: as it is shown, and what it changes.
type taken struct {
	show  string
	edit  confedit.Edit
	loose bool // it lets something be done without a question, or starts a program
}

// takeSettings takes over servers of MCP and rules of other agents, into the
// person's own settings file. What would allow something or start a program is
// asked about first.
func takeSettings(ctx context.Context, x Config, s importer.Settings, opt Options) error {
	for _, err := range s.Errors {
		fmt.Fprintf(x.Err, "left out: %s\n", clip.Visible(err.Error()))
	}
	list, err := newSettings(x, s)
	if err != nil {
		return err
	}
	for _, v := range list {
		fmt.Fprintln(x.Out, v.show)
	}
	if opt.Dry || len(list) == 0 {
		return nil
	}
	t, _ := x.Paths.File("user")
	var strict, loose []confedit.Edit
	for _, v := range list {
		if v.loose {
			loose = append(loose, v.edit)
		} else {
			strict = append(strict, v.edit)
		}
	}
	if err := write(ctx, x, t, strict); err != nil || len(loose) == 0 {
		return err
	}
	ok, err := x.Agreed(ctx, clip.Count(len(loose), "setting"), t.Path)
	if err != nil || !ok {
		return err
	}
	return write(ctx, x, t, loose)
}

func write(ctx context.Context, x Config, t confedit.Target, edits []confedit.Edit) error {
	if len(edits) == 0 {
		return nil
	}
	notes, err := settings.Write(ctx, x.Paths, t, edits...)
	if err != nil {
		return hint.With(fmt.Errorf("change %s: %v", t.Path, err), "adze config check shows what is wrong with it")
	}
	for _, n := range notes {
		fmt.Fprintln(x.Err, "adze: "+clip.Line(clip.VisibleText(strings.TrimSpace(n)), 600))
	}
	fmt.Fprintf(x.Err, "%s written to %s\n", clip.Count(len(edits), "setting"), clip.Visible(t.Path))
	return nil
}

// newSettings are those that are not there yet. Those that cannot be taken are
// named with the reason.
func newSettings(x Config, s importer.Settings) (out []taken, err error) {
	hide := secret.New(secret.Environ(x.Environ)...)
	shown := func(s string) string { return clip.Visible(hide.String(clip.Line(s, 300))) }
	for _, v := range s.Servers {
		if _, there := x.Settings.MCP.Servers[v.Name]; there {
			continue
		}
		if i := slices.IndexFunc(s.Servers, func(o importer.Server) bool { return o.Name == v.Name && o.Why == importer.InPlace }); i >= 0 && v.Why == "" {
			if string(s.Servers[i].Config) != string(v.Config) {
				fmt.Fprintf(x.Out, "  %s: MCP server %s is not taken: %s has one of this name\n", v.From, shown(v.Name), s.Servers[i].From)
			}
			continue
		}
		if v.Why != "" {
			fmt.Fprintf(x.Out, "  %s: MCP server %s is not taken: %s\n", v.From, shown(v.Name), shown(v.Why))
			continue
		}
		if i := slices.IndexFunc(out, func(o taken) bool { return o.edit.Key == "mcpServers" && o.edit.Below[0] == v.Name }); i >= 0 {
			if string(out[i].edit.Value) == string(v.Config) {
				continue
			}
			fmt.Fprintf(x.Out, "  %s: MCP server %s is not taken: another agent has one of this name\n", v.From, shown(v.Name))
			continue
		}
		out = append(out, taken{
			fmt.Sprintf("+ %s: MCP server %s %s", v.From, shown(v.Name), shown(maskedServer(v.Config))),
			confedit.Edit{Op: confedit.Set, Key: "mcpServers", Below: []string{v.Name}, Value: v.Config}, true,
		})
	}
	for _, v := range s.Rules {
		if v.Why != "" {
			fmt.Fprintf(x.Out, "  %s: %s is not taken: %s\n", v.From, shown(v.Theirs), shown(v.Why))
			continue
		}
		key := "permissions." + v.Effect.String()
		raw, err := fastjson.Append(nil, v.Ours)
		if err != nil {
			return nil, err
		}
		now, _ := x.Settings.Setting(key)
		var have []string
		if json.Unmarshal(now.Value, &have) == nil && slices.Contains(have, v.Ours) ||
			slices.ContainsFunc(out, func(o taken) bool { return o.edit.Key == key && string(o.edit.Value) == string(raw) }) {
			continue
		}
		mark, loose := " ", v.Effect == policy.Allow
		if loose {
			mark = "+"
		}
		out = append(out, taken{
			fmt.Sprintf("%s %s: %s %s (%s)", mark, v.From, v.Effect, shown(v.Ours), shown(v.Theirs)),
			confedit.Edit{Op: confedit.Add, Key: key, Value: raw}, loose,
		})
	}
	return out, nil
}

// maskedServer is a server without the values that may be secret.
func maskedServer(raw json.RawMessage) string {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	for _, key := range []string{"env", "headers"} {
		values, _ := m[key].(map[string]any)
		for k, v := range values {
			if s, _ := v.(string); !strings.HasPrefix(s, "${") {
				values[k] = secret.Masked
			}
		}
	}
	out, err := fastjson.Append(nil, m)
	if err != nil {
		return ""
	}
	return string(out)
}

// maxNotes bounds what is copied of one file of instructions, in bytes.
const maxNotes = 64 << 10

// takeNotes puts instructions of other agents at the end of the person's own.
// A line names where each comes from, and keeps it from coming twice.
func takeNotes(x Config, notes []importer.Note, dry bool) error {
	p := x.Paths
	path := filepath.Join(p.Config, "AGENTS.md")
	now, err := regular.Read(path, config.MaxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return hint.With(fmt.Errorf("%v", err), "make it readable")
	}
	var add strings.Builder
	for _, n := range notes {
		name := paths.Tilde(n.Path, p.Home)
		mark := "<!-- copied from " + name + " -->"
		switch {
		case strings.Contains(string(now), mark) || strings.Contains(string(now), "@"+name):
		case n.From == importer.ClaudeCode && len(now) == 0:
			fmt.Fprintf(x.Out, "  %s: %s is read where it is\n", n.From, clip.Visible(name))
		case n.Size > maxNotes:
			fmt.Fprintf(x.Out, "  %s: %s is not taken: it has more than %s\n", n.From, clip.Visible(name), clip.Size(maxNotes))
		default:
			raw, err := regular.Read(n.Path, maxNotes)
			if err != nil {
				fmt.Fprintf(x.Err, "left out: %v\n", err)
				continue
			}
			fmt.Fprintf(x.Out, "  %s: instructions in %s (%s)\n", n.From, clip.Visible(name), clip.Size(n.Size))
			fmt.Fprintf(&add, "\n%s\n%s\n", mark, strings.TrimSpace(string(raw)))
		}
	}
	if dry || add.Len() == 0 {
		return nil
	}
	text := string(now)
	if text == "" {
		text = p.KeepsClaude()
	}
	if err := os.MkdirAll(p.Config, 0o700); err != nil {
		return hint.With(fmt.Errorf("%v", err), "make it writable")
	}
	root, err := os.OpenRoot(p.Config)
	if err != nil {
		return hint.With(fmt.Errorf("%v", err), "make it readable")
	}
	defer root.Close()
	if err := safe.Replace(root, safe.File{Name: "AGENTS.md", Text: []byte(strings.TrimLeft(text+add.String(), "\n")), Mode: 0o600}); err != nil {
		return hint.With(fmt.Errorf("write %s: %v", path, err), "make its folder writable")
	}
	fmt.Fprintf(x.Err, "instructions written to %s\n", clip.Visible(path))
	return nil
}
