package desk

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/app"
	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/text/paths"
)

// facts are the session as it is now, with the file of its transcript where that is wanted.
func (s seat) facts(transcript bool) ask.Facts {
	d := s.Describe()
	t := d.Model
	f := ask.Facts{
		ID: d.ID, Dir: d.Dir, Root: d.Root, Home: s.Place().Paths.Home, Branch: d.Branch, Version: d.Version,
		Model: t.ID(), Called: t.Title, Effort: string(t.Effort), Mode: d.Mode, Modes: d.Modes, Window: t.Window, Room: d.Room,
		Earlier: uint64(d.After), Last: uint64(s.Last()), Kept: d.Kept,
	}
	if transcript {
		f.Transcript = s.Transcript()
	}
	return f
}

// open are the sessions of the process.
func (d *Desk) open() []ask.OpenSession {
	d.mu.Lock()
	all := slices.Collect(maps.Values(d.seats))
	d.mu.Unlock()
	order.By(all, func(a, b seat) int { return a.since.Compare(b.since) })
	out := []ask.OpenSession{}
	for _, s := range all {
		out = append(out, s.open())
	}
	return out
}

// open is the session as one of those that are open.
func (s seat) open() ask.OpenSession {
	st := s.State()
	o := ask.OpenSession{Facts: s.facts(false), Title: line(cmp.Or(st.Title, st.First)), Doing: ask.Idle, Since: s.since.UTC(), Changed: st.Time}
	o.Last = uint64(st.Seq) // by the time that what follows tells of
	if st.Running != "" || len(st.Queue) > 0 {
		o.Doing = ask.Working
	}
	if len(st.Pending) > 0 {
		q := st.Pending[slices.Min(slices.Collect(maps.Keys(st.Pending)))]
		o.Doing, o.Question = ask.Asking, line(cmp.Or(q.Title, q.Tool))
	}
	if n := len(st.Said); n > 0 {
		o.Prompt = uint64(st.Said[n-1].Seq - 1)
	}
	return o
}

// line is a text of a session on one line.
func line(text string) string { return clip.Line(clip.Clean(text), 200) }

// remembered are the memory files that the session has read, and its notes.
func (s seat) remembered() (out []ask.Choice) {
	whose := map[string]string{"notes": "remembered of this project", "session": "notes of this session"}
	for _, f := range s.MemoryFiles() {
		c := ask.Choice{ID: f.Path, Name: paths.Tilde(f.Path, s.Place().Paths.Home), About: cmp.Or(whose[f.Whose], f.Whose)}
		if f.Size > 0 {
			c.Right = clip.Count(f.Size, "token")
		}
		if len(f.Notes) > 0 {
			c.About += ": " + clip.Line(clip.Visible(strings.Join(f.Notes, "; ")), 200)
		}
		out = append(out, c)
	}
	return out
}

// receivers are whom a prompt can be sent to.
func (s seat) receivers(ctx context.Context) (out []ask.Choice) {
	for _, r := range s.Receivers(ctx) {
		out = append(out, ask.Choice{ID: r.Name, Name: clip.Line(clip.Visible(r.Name), 60), About: line(r.About)})
	}
	return out
}

// rules are what permissions rest on now.
func (s seat) rules() ask.RuleSet {
	now := s.Rules()
	out := ask.RuleSet{List: []ask.Rule{}, Dirs: now.Dirs, Mode: s.Mode(), Unsafe: now.Unsafe}
	for _, r := range now.List {
		out.List = append(out.List, ask.Rule{Effect: r.Effect, Text: r.Text(), Scope: r.Scope, Source: r.Source, Doubt: policy.Lint(r)})
	}
	return out
}

// cost is what a session cost, in words.
func (s seat) cost() string {
	st := s.State()
	var b strings.Builder
	fmt.Fprintf(&b, "Total cost: %s", st.Total.Money())
	if n := st.Total.Unpriced; n > 0 {
		fmt.Fprintf(&b, ", and %s without a known price", clip.Count(n, "request"))
	}
	b.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(st.ByModel)) {
		m := st.ByModel[name]
		fmt.Fprintf(&b, "%s: %s, %s in (%s from the cache), %s out, %s\n", name, clip.Count(m.Requests(), "request"),
			clip.Count(m.Usage.Prompt(), "token"), clip.Thousands(m.Usage.CacheRead), clip.Thousands(m.Usage.Out), m.Money())
	}
	return b.String()
}

// filling is what fills the window now.
func (s seat) filling() ask.Filling {
	f := ask.Filling{Window: s.Target().Window, Talk: s.Talk()}
	pieces := func(list []app.Size) []ask.Piece {
		out := []ask.Piece{}
		for _, x := range list {
			out = append(out, ask.Piece{Name: x.Name, Tokens: x.Tokens})
		}
		return out
	}
	parts, tools := s.Sizes()
	f.Instructions, f.Tools = pieces(parts), pieces(tools)
	return f
}
