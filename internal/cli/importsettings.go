package cli

import (
	"bufio"
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
	"github.com/adze-agent/adze/internal/text/paths"
)

// A setting is one that would be taken over: as it is shown, and what it changes.
type importedSetting struct {
	show  string
	edit  confedit.Edit
	loose bool // it lets something be done without a question, or starts a program
}

// importSettings takes over servers of MCP and rules of other agents, into the
// person's own settings file. What would allow something or start a program is
// asked about first.
func importSettings(ctx context.Context, sys System, p settings.Paths, cfg *config.Config, s importer.Settings, opt importOptions) error {
	for _, err := range s.Errors {
		fmt.Fprintf(sys.Stderr, "left out: %s\n", clip.Visible(err.Error()))
	}
	list, err := newSettings(sys, cfg, s)
	if err != nil {
		return err
	}
	for _, x := range list {
		fmt.Fprintln(sys.Stdout, x.show)
	}
	if opt.dry || len(list) == 0 {
		return nil
	}
	t, _ := p.File("user")
	var strict, loose []confedit.Edit
	for _, x := range list {
		if x.loose {
			loose = append(loose, x.edit)
		} else {
			strict = append(strict, x.edit)
		}
	}
	if err := writeImported(ctx, sys, p, t, strict); err != nil || len(loose) == 0 {
		return err
	}
	ok, err := importAgreed(ctx, sys, opt, clip.Count(len(loose), "setting"), t.Path)
	if err != nil || !ok {
		return err
	}
	return writeImported(ctx, sys, p, t, loose)
}

// importAgreed asks a person who is there; nobody else agrees to anything.
func importAgreed(ctx context.Context, sys System, opt importOptions, what, path string) (bool, error) {
	switch {
	case opt.yes:
		return true, nil
	case !sys.InTTY || !sys.ErrTTY:
		fmt.Fprintf(sys.Stderr, "not taken: %s that allow something or start a program, because nobody is here to ask (look at the list, then: adze import --yes)\n", what)
		return false, nil
	}
	fmt.Fprintf(sys.Stderr, "Write %s that allow something or start a program, marked with +, to %s? [y/N] ", what, clip.Visible(path))
	b, err := wait(ctx, func() ([]byte, error) { return bufio.NewReader(sys.Stdin).ReadBytes('\n') })
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	a := strings.ToLower(strings.TrimSpace(string(b)))
	return err == nil && (a == "y" || a == "yes"), nil
}

func writeImported(ctx context.Context, sys System, p settings.Paths, t confedit.Target, edits []confedit.Edit) error {
	if len(edits) == 0 {
		return nil
	}
	notes, err := settings.Write(ctx, p, t, edits...)
	if err != nil {
		return failf("adze config check shows what is wrong with it", "change %s: %v", t.Path, err)
	}
	for _, n := range notes {
		fmt.Fprintln(sys.Stderr, "adze: "+oneLine(n))
	}
	fmt.Fprintf(sys.Stderr, "%s written to %s\n", clip.Count(len(edits), "setting"), clip.Visible(t.Path))
	return nil
}

// newSettings are those that are not there yet. Those that cannot be taken are
// named with the reason.
func newSettings(sys System, cfg *config.Config, s importer.Settings) (out []importedSetting, err error) {
	hide := secret.New(secret.Environ(sys.Environ)...)
	shown := func(s string) string { return clip.Visible(hide.String(clip.Line(s, 300))) }
	for _, x := range s.Servers {
		if _, there := cfg.MCP.Servers[x.Name]; there {
			continue
		}
		if i := slices.IndexFunc(s.Servers, func(o importer.Server) bool { return o.Name == x.Name && o.Why == importer.InPlace }); i >= 0 && x.Why == "" {
			if string(s.Servers[i].Config) != string(x.Config) {
				fmt.Fprintf(sys.Stdout, "  %s: MCP server %s is not taken: %s has one of this name\n", x.From, shown(x.Name), s.Servers[i].From)
			}
			continue
		}
		if x.Why != "" {
			fmt.Fprintf(sys.Stdout, "  %s: MCP server %s is not taken: %s\n", x.From, shown(x.Name), shown(x.Why))
			continue
		}
		if i := slices.IndexFunc(out, func(o importedSetting) bool { return o.edit.Key == "mcpServers" && o.edit.Below[0] == x.Name }); i >= 0 {
			if string(out[i].edit.Value) == string(x.Config) {
				continue
			}
			fmt.Fprintf(sys.Stdout, "  %s: MCP server %s is not taken: another agent has one of this name\n", x.From, shown(x.Name))
			continue
		}
		out = append(out, importedSetting{
			fmt.Sprintf("+ %s: MCP server %s %s", x.From, shown(x.Name), shown(maskedServer(x.Config))),
			confedit.Edit{Op: confedit.Set, Key: "mcpServers", Below: []string{x.Name}, Value: x.Config}, true,
		})
	}
	for _, x := range s.Rules {
		if x.Why != "" {
			fmt.Fprintf(sys.Stdout, "  %s: %s is not taken: %s\n", x.From, shown(x.Theirs), shown(x.Why))
			continue
		}
		key := "permissions." + x.Effect.String()
		raw, err := fastjson.Append(nil, x.Ours)
		if err != nil {
			return nil, err
		}
		now, _ := cfg.Setting(key)
		var have []string
		if json.Unmarshal(now.Value, &have) == nil && slices.Contains(have, x.Ours) ||
			slices.ContainsFunc(out, func(o importedSetting) bool { return o.edit.Key == key && string(o.edit.Value) == string(raw) }) {
			continue
		}
		mark, loose := " ", x.Effect == policy.Allow
		if loose {
			mark = "+"
		}
		out = append(out, importedSetting{
			fmt.Sprintf("%s %s: %s %s (%s)", mark, x.From, x.Effect, shown(x.Ours), shown(x.Theirs)),
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

// importNotes puts instructions of other agents at the end of the person's own.
// A line names where each comes from, and keeps it from coming twice.
func importNotes(sys System, p settings.Paths, notes []importer.Note, dry bool) error {
	path := filepath.Join(p.Config, "AGENTS.md")
	now, err := regular.Read(path, config.MaxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failf("make it readable", "%v", err)
	}
	var add strings.Builder
	for _, n := range notes {
		name := paths.Tilde(n.Path, p.Home)
		mark := "<!-- copied from " + name + " -->"
		switch {
		case strings.Contains(string(now), mark) || strings.Contains(string(now), "@"+name):
		case n.From == importer.ClaudeCode && len(now) == 0:
			fmt.Fprintf(sys.Stdout, "  %s: %s is read where it is\n", n.From, clip.Visible(name))
		case n.Size > maxNotes:
			fmt.Fprintf(sys.Stdout, "  %s: %s is not taken: it has more than %s\n", n.From, clip.Visible(name), clip.Size(maxNotes))
		default:
			raw, err := regular.Read(n.Path, maxNotes)
			if err != nil {
				fmt.Fprintf(sys.Stderr, "left out: %v\n", err)
				continue
			}
			fmt.Fprintf(sys.Stdout, "  %s: instructions in %s (%s)\n", n.From, clip.Visible(name), clip.Size(n.Size))
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
		return failf("make it writable", "%v", err)
	}
	root, err := os.OpenRoot(p.Config)
	if err != nil {
		return failf("make it readable", "%v", err)
	}
	defer root.Close()
	if err := safe.Replace(root, safe.File{Name: "AGENTS.md", Text: []byte(strings.TrimLeft(text+add.String(), "\n")), Mode: 0o600}); err != nil {
		return failf("make its folder writable", "write %s: %v", path, err)
	}
	fmt.Fprintf(sys.Stderr, "instructions written to %s\n", clip.Visible(path))
	return nil
}
