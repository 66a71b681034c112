package toolkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/place"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/search"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/mention"
	"github.com/adze-agent/adze/internal/text/pattern"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of what a prompt attaches by naming it.
const (
	maxMentions     = 20
	maxAttached     = 60_000  // bytes of one text
	maxAllAttached  = 200_000 // bytes of all texts of a prompt
	firstLines      = 400     // of a file that is larger than maxAttached, without a range
	attachedLineTag = "\n[%d more bytes of it are left out]\n"
	maxMissing      = 3 // files of a prompt that are named as missing: more are code that was pasted, with names after "@" that mean no files
)

// Attach reads what a prompt names with "@": files as the Read tool reads them
// for the model, folders as Glob lists them, and so with the same rules, bounds
// and masking. What the rules would ask about is asked, because a
// prompt may hold text that its sender did not write. A name that is no file, and
// no resource of an MCP server (server:uri), is a word of the prompt; where it looks
// like a path, it is said to be missing.
func (k Kit) Attach() func(ctx context.Context, n session.Naming) []event.Attached {
	read, ok := k.All.Get("Read")
	list, ok2 := k.All.Get("Glob")
	if !ok || !ok2 {
		return nil
	}
	at := attacher{conf: k.conf, read: read, list: list}
	return at.all
}

// An attacher has the tools that look at what is named.
type attacher struct {
	conf       Config
	read, list tool.Tool
}

func (at attacher) all(ctx context.Context, n session.Naming) []event.Attached {
	var out, missing []event.Attached
	seen, total := map[string]bool{}, 0
	for _, m := range mention.In(n.Text) {
		name := strings.TrimPrefix(m.String(), "@")
		if seen[name] {
			continue
		}
		seen[name] = true
		one, ok := at.one(ctx, n, m)
		switch {
		case !ok:
			if !mention.InCode(n.Text, m.Start) && at.meansPath(n, m) {
				missing = append(missing, event.Attached{Name: clip.Line(clip.Clean(name), 200), About: "no such file", Refused: true})
			}
			continue
		case len(out) == maxMentions:
			one = event.Attached{About: fmt.Sprintf("a prompt attaches at most %d files", maxMentions), Refused: true}
		case total+len(one.Text) > maxAllAttached:
			one = event.Attached{About: "this prompt attaches as much as fits already", Refused: true}
		}
		if one.Name = clip.Line(clip.Clean(cmp.Or(one.Name, name)), 200); len(out) > maxMentions {
			break
		}
		total += len(one.Text)
		out = append(out, one)
	}
	if len(missing) > maxMissing {
		return out
	}
	return append(out, missing...)
}

// Leads reports whether a name behind "@" leads to a file or a folder. dir is where the session
// works, "" for where it began.
func (k Kit) Leads(dir, name string) bool {
	path, err := place.Absolute(cmp.Or(dir, k.conf.Dir), k.conf.Home, name)
	if err != nil {
		return false
	}
	_, err = os.Lstat(path)
	return err == nil
}

// pathLike are names of files with an ending, as they are written after "@".
var pathLike = pattern.Lazy(`^[\pL\pN_~./+-]*[\pL\pN_+-]\.[A-Za-z][A-Za-z0-9]{0,5}$`)

// meansPath reports whether a name that leads to nothing was meant to be a file: it
// has an ending, which without a folder is one of a known kind of file, or is in a
// folder that is there. A package (@types/node), a decorator (@functools.cache), a call
// of one and a URI are none.
func (at attacher) meansPath(n session.Naming, m mention.Mention) bool {
	if pathLike().MatchString(m.Path) && (strings.Contains(m.Path, "/") || m.From > 0 || search.KnownEnding(m.Path) || picture(m.Path)) {
		return true
	}
	if !strings.Contains(m.Path, "/") || strings.ContainsAny(m.Path, ":\"'()") {
		return false
	}
	path, err := place.Absolute(cmp.Or(n.Dir, at.conf.Dir), at.conf.Home, m.Path)
	if err != nil {
		return false
	}
	fi, err := os.Stat(filepath.Dir(path))
	return err == nil && fi.IsDir()
}

// one reads one file or folder; false when there is none of that name.
func (at attacher) one(ctx context.Context, n session.Naming, m mention.Mention) (event.Attached, bool) {
	dir := cmp.Or(n.Dir, at.conf.Dir)
	path, err := place.Absolute(dir, at.conf.Home, m.Path)
	if err != nil { // it names nothing here
		return at.resource(ctx, n, m)
	}
	fi, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return at.resource(ctx, n, m)
	}
	if err != nil {
		return event.Attached{About: "it cannot be read: permission denied", Refused: true}, errors.Is(err, fs.ErrPermission)
	}
	env := at.env(n)
	t, name, in := at.read, "Read", map[string]any{"file_path": path}
	switch {
	case fi.IsDir():
		t, name, in = at.list, "Glob", map[string]any{"pattern": "*", "path": path}
	case !fi.Mode().IsRegular():
		return event.Attached{About: "it is no regular file", Refused: true}, true
	case m.From > 0:
		in["offset"], in["limit"] = m.From, 1
		if m.To > 0 {
			in["limit"] = m.To - m.From + 1
		}
	case fi.Size() > maxAttached && !picture(path):
		in["limit"] = firstLines
	}
	res, v, err := at.run(ctx, n, t, name, in, env)
	switch {
	case err != nil:
		return event.Attached{About: clip.Line(clip.Clean(err.Error()), 200), Refused: true}, true
	case v.Effect != policy.Allow:
		return event.Attached{About: v.Reason, Refused: true, Asks: v.Effect == policy.Ask}, true
	case res.IsErr:
		return event.Attached{About: clip.Line(clip.Clean(res.Text), 200), Refused: true}, true
	}
	text, saw := res.Text, effect.Files(res.Effects)
	if len(text) > maxAttached {
		cut := strings.LastIndexByte(text[:maxAttached], '\n') + 1
		text, saw = text[:cut]+fmt.Sprintf(attachedLineTag, len(text)-cut), nil
	}
	if len(res.Images) == 0 {
		text = tagged(m.String(), text)
	}
	return event.Attached{About: attachedAs(res, fi.IsDir()), Text: text, Images: res.Images, Saw: saw}, true
}

func (at attacher) env(n session.Naming) tool.Env {
	return tool.Env{
		Session: at.conf.Session, Dir: cmp.Or(n.Dir, at.conf.Dir), Roots: []string{at.conf.Dir}, Home: at.conf.Home, Call: "attach", Window: n.Window, Mode: n.Mode,
		Images: n.Images, ImageEdge: n.ImageEdge, Progress: func(string) {},
	}
}

// resourceWait bounds how long a prompt waits for a resource of an MCP server.
const resourceWait = 30 * time.Second

// resource reads a resource of an MCP server that is named as server:uri; false
// when no server has that name.
func (at attacher) resource(ctx context.Context, n session.Naming, m mention.Mention) (event.Attached, bool) {
	whole := strings.Trim(strings.TrimPrefix(n.Text[m.Start:m.End], "@"), `"`) // what looks like lines may be of the URI
	server, uri, ok := strings.Cut(whole, ":")
	if !ok || uri == "" || at.conf.Resource == nil {
		return event.Attached{}, false
	}
	read, ok := at.conf.Resource(server)
	if !ok {
		return event.Attached{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, resourceWait)
	defer cancel()
	res, v, err := at.run(ctx, n, read, read.Spec().Name, map[string]any{"server": server, "uri": uri}, at.env(n))
	switch {
	case err != nil:
		return event.Attached{Name: whole, About: clip.Line(clip.Clean(err.Error()), 200), Refused: true}, true
	case v.Effect != policy.Allow:
		return event.Attached{Name: whole, About: v.Reason, Refused: true, Asks: v.Effect == policy.Ask}, true
	case res.IsErr:
		return event.Attached{Name: whole, About: clip.Line(clip.Clean(res.Text), 200), Refused: true}, true
	}
	text := res.Text
	if len(text) > maxAttached {
		cut := len(strings.ToValidUTF8(text[:maxAttached], ""))
		text = text[:cut] + fmt.Sprintf(attachedLineTag, len(text)-cut)
	}
	about := "resource, " + clip.Size(int64(len(res.Text)))
	if len(res.Images) > 0 {
		about = "resource with " + clip.Count(len(res.Images), "image")
	}
	return event.Attached{Name: whole, About: about, Text: tagged(whole, text), Images: res.Images}, true
}

// run plans a call, has it judged, and runs it when it may.
func (at attacher) run(ctx context.Context, n session.Naming, t tool.Tool, name string, in map[string]any, env tool.Env) (res tool.Result, v policy.Verdict, err error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return res, v, err
	}
	plan, err := t.Plan(raw, env)
	if err != nil {
		return res, v, err
	}
	if v = n.Judge(ctx, agent.Question{Call: llm.ToolUse{Name: name, Input: raw}, Tool: name, Plan: plan}); v.Effect != policy.Allow {
		return res, v, nil
	}
	env.Needs = v.Needs
	res, err = t.Run(ctx, raw, env)
	return at.conf.Hide.Result(res), v, err
}

// picture reports whether a file is read as a whole whatever its size, by its
// name: what it really is, Read finds out.
func picture(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf":
		return true
	}
	return false
}

// tagged puts what was read into a tag that says whence it is.
func tagged(named, text string) string {
	name := clip.Line(clip.Clean(strings.TrimPrefix(named, "@")), 200)
	return fmt.Sprintf("<attached name=%q>\n%s\n</attached>", name, strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "</attached", "< /attached"))
}

// attachedAs says what was attached, in a few words.
func attachedAs(res tool.Result, folder bool) string {
	switch b := res.View.(type) {
	case view.Image:
		return "image, " + clip.Size(int64(len(b.Data)))
	case view.Code:
		return clip.Count(strings.Count(strings.TrimSuffix(b.S, "\n"), "\n")+1, "line")
	default: // a folder, or what is told in words
	}
	if folder {
		return "folder"
	}
	return clip.Line(clip.Clean(res.Text), 100)
}
