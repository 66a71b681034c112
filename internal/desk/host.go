package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/ext/mcp"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/hint"
)

// FromHost is where things come from that the program which drives adze names.
var FromHost = config.Origin{Scope: config.Flag, From: "the program that drives adze"}

// GivenByHost is a server as such a program names it.
func GivenByHost(name string, raw json.RawMessage) servers.Given {
	var kind struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(raw, &kind) // what cannot be read says so when it is used
	return servers.Given{Name: name, JSON: raw, Origin: FromHost, Inside: kind.Type == "sdk"}
}

// HostWait is how long servers are waited for that the program serves which drives adze, or
// names while a session runs.
const HostWait = 5 * time.Second

// serve has these servers beside those that are configured, and no others that were given so.
func (d *Desk) serve(session string, list map[string]json.RawMessage) (ask.ServersChanged, error) {
	w := d.ext(session)
	if w == nil {
		return ask.ServersChanged{}, errNoSession
	}
	next, out := []servers.Given{}, ask.ServersChanged{Added: []string{}, Removed: []string{}}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		next = append(next, GivenByHost(name, list[name]))
	}
	d.mu.Lock()
	was := d.served
	if was == nil { // those that it named when it began
		was = d.c.Extensions.Further
	}
	d.served = next
	d.mu.Unlock()
	without := func(list, of []servers.Given) (names []string) {
		for _, g := range list {
			if !slices.ContainsFunc(of, func(x servers.Given) bool { return x.Name == g.Name }) {
				names = append(names, g.Name)
			}
		}
		return names
	}
	out.Added, out.Removed = append(out.Added, without(next, was)...), append(out.Removed, without(was, next)...)
	select {
	case <-w.Further(next): // so that a question that follows is answered by what is now
	case <-time.After(HostWait):
	}
	return out, nil
}

// deliver hands over a message of a server that the program serves which drives adze.
func (d *Desk) deliver(session string, q ask.Deliver) error {
	if w := d.ext(session); w != nil && w.Hub() != nil {
		return w.Hub().FromHost(q.Server, q.Message)
	}
	return noServer(q.Server)
}

func noServer(name string) error {
	return fmt.Errorf("there is no MCP server %q: none is configured", name)
}

// reload looks anew at what extensions bring.
func (s seat) reload(ctx context.Context) {
	w := s.Place().Extensions()
	w.Refresh()
	ctx, cancel := context.WithTimeout(ctx, HostWait)
	defer cancel()
	w.AwaitAll(ctx)
}

// call calls a tool, of a server where that is named. The client is trusted with
// it, so only what a rule denies does not run, unless it asks for a judgement as of the
// model's calls.
func (s seat) call(ctx context.Context, server string, q ask.Call) (ask.Called, error) {
	if q.Input == nil {
		q.Input = json.RawMessage("{}")
	}
	res, err := s.CallTool(ctx, server, q.Tool, q.Input, q.Strict)
	if err == nil && res.IsErr {
		err = errors.New(res.Text)
	}
	return ask.Called{Text: res.Text, Images: res.Images}, err
}

func (s seat) resource(ctx context.Context, q ask.Resource) (ask.Called, error) {
	raw, err := json.Marshal(map[string]string{"server": q.Server, "uri": q.URI})
	if err != nil {
		return ask.Called{}, err
	}
	out, err := s.call(ctx, q.Server, ask.Call{Tool: mcp.ReadResource, Input: raw})
	out.Text = strings.TrimPrefix(out.Text, "[Resource "+q.URI+"]\n") // which the model is told
	return out, err
}

// file is what a rule does not deny to read of a file.
func (s seat) file(name string, limit int64) (f ask.File, err error) {
	var real string
	if f.Path, real, err = s.readable(name); err != nil {
		return f, err
	}
	if limit <= 0 {
		limit = 1 << 20
	}
	text, err := regular.Head(real, limit+1)
	if err != nil {
		return f, fmt.Errorf("%s cannot be read: %w", f.Path, hint.Cause(err))
	}
	if f.Cut = int64(len(text)) > limit; f.Cut {
		text = text[:limit]
	}
	f.Text = strings.ToValidUTF8(string(text), "\ufffd")
	return f, nil
}

// outputMax is how much of the output of a task is told unless it is said.
const outputMax = 8 << 10

// output is the end of what a task in the background wrote.
func (s seat) output(q ask.Output) (o ask.Written, err error) {
	limit := outputMax
	if q.Max > 0 {
		limit = min(q.Max, 1<<20)
	}
	b, total, err := s.TaskOutput(q.Task, limit)
	return ask.Written{Text: strings.ToValidUTF8(string(b), "\ufffd"), Total: total, Cut: total > int64(len(b))}, err
}

// readable is where a file is that no rule denies to read: by the name that it is asked
// for, and behind links.
func (s seat) readable(name string) (path, real string, err error) {
	if name == "" {
		return "", "", errors.New("a path is needed")
	}
	path = s.absolute(name)
	if real, err = filepath.EvalSymlinks(path); err != nil {
		return "", "", fmt.Errorf("%s cannot be read: %w", path, hint.Cause(err))
	}
	for _, p := range []string{path, real} {
		q := policy.Request{Tool: "Read", Actions: []policy.Action{policy.Read{Path: p, Named: p, Asked: p}}}
		if v := policy.Decide(s.Rules(), policy.Default, q); v.Effect == policy.Deny {
			return "", "", fmt.Errorf("%s is not read: %s", path, v.Reason)
		}
	}
	return path, real, nil
}

// absolute is a path that is named from the session's folder.
func (s seat) absolute(name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.Place().Paths.Dir, name)
	}
	return filepath.Clean(name)
}

// within refuses a folder below which the session does not work, and one of those itself.
func (s seat) within(folder string) error {
	dir := s.absolute(folder)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("%s cannot be used: %w", dir, hint.Cause(err))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder", dir)
	}
	dirs := s.Rules().Dirs
	switch {
	case slices.Contains(dirs, real):
		return fmt.Errorf("%s is a folder of this session already", dir)
	case !slices.ContainsFunc(dirs, func(root string) bool {
		rel, err := filepath.Rel(root, real)
		return err == nil && filepath.IsLocal(rel)
	}):
		return fmt.Errorf("%s is in none of the folders that the session works in; further ones are added with updatedPermissions (addDirectories) or --add-dir", dir)
	}
	return nil
}
