package goal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of evidence, in bytes: of all entries that a model is shown, of one input, of one
// result, of what a person wrote at once, and of the last words; and of how many entries
// are kept and how many files of one are named.
const (
	maxShown  = 40_000
	maxInput  = 800
	maxResult = 2_000
	maxSaid   = 2_000
	maxWords  = 4_000
	maxKept   = 400
	maxFiles  = 20
)

// Evidence is what was done since a goal was set, as the log has it. One goroutine at a
// time uses it. The zero value is of a goal that was just set.
type Evidence struct {
	Seq     event.Seq // of the last event that it knows
	entries []entry
	left    int                 // entries that were let go
	open    map[string]int      // calls of the running turn, by the number of their entry from 0
	looks   map[string]bool     // those that only look at something
	seen    map[uint64]struct{} // what was called with which input, as hashes
	words   string              // the last that the model said
	acts    int                 // how often something was done that may bring the goal nearer
}

// An entry is a step of the log.
type entry struct {
	said, tool, input, result, agent string
	failed, done                     bool
	files, did                       []string
}

// Acts is how often something was done: files changed, another command ran.
func (v *Evidence) Acts() int { return v.acts }

// Add takes an event.
func (v *Evidence) Add(e event.Event) {
	v.Seq = max(v.Seq, e.Seq)
	switch b := e.Body.(type) {
	case event.InputAccepted:
		if _, typed, _ := b.Typed.Cut(b.Text); strings.TrimSpace(typed) != "" {
			v.add(entry{said: clip.Middle(judge.Visible(typed), maxSaid, "")})
		}
	case event.Replied:
		v.words = b.Message.Text()
		for _, p := range b.Message.Parts {
			if u, ok := p.(llm.ToolUse); ok {
				x := v.of(u.ID)
				x.tool, x.input = u.Name, input(u.Input)
			}
		}
	case event.ToolStarted:
		x := v.of(b.Call)
		x.tool, x.input = b.Name, input(b.Input)
		if b.Fold != "" {
			v.looks[b.Call] = true
		}
	case event.ToolFinished:
		v.finished(b)
	case event.TurnEnded:
		clear(v.open)
		clear(v.looks)
	case event.TaskEnded:
		v.agent(b)
	case event.FilesChanged:
		if files := paths(b.Changed); len(files) > 0 {
			v.acts++
			v.add(entry{tool: "background", done: true, files: files})
		}
	default: // shows nothing of what was done
	}
}

// agent notes what an agent did that worked for the session.
func (v *Evidence) agent(b event.TaskEnded) {
	if b.Status == "" {
		return
	}
	x := entry{agent: "agent " + b.ID + ", " + string(b.Status), done: true}
	for _, d := range b.Did {
		line := d.Tool + " " + input(d.Input)
		switch {
		case d.Denied:
			line += " [refused]"
		case d.Failed:
			line += " [failed]"
		case !d.Look:
			v.acts++
		}
		if len(d.Changed) > 0 {
			line += " [changed " + clip.Line(strings.Join(d.Changed, ", "), maxInput) + "]"
		}
		x.did = append(x.did, clip.Line(judge.Visible(line), maxInput))
	}
	x.did = x.did[max(0, len(x.did)-maxFiles):]
	v.add(x)
}

// of is the entry of a call.
func (v *Evidence) of(call string) *entry {
	if v.open == nil {
		v.open, v.looks, v.seen = map[string]int{}, map[string]bool{}, map[uint64]struct{}{}
	}
	n, known := v.open[call]
	if !known {
		n = v.add(entry{})
		v.open[call] = n
	}
	if n < v.left {
		return &entry{} // it was let go
	}
	return &v.entries[n-v.left]
}

// input is what a call was given, on one line.
func input(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return clip.Middle(judge.Visible(string(raw)), maxInput, "")
	}
	return clip.Middle(judge.Visible(b.String()), maxInput, "")
}

// finished notes a result. Something was done where files changed, or where a call that
// does not only look succeeded and was not made before with the same input.
func (v *Evidence) finished(b event.ToolFinished) {
	x := v.of(b.Call)
	c, _ := effect.Of[effect.Changed](b.Effects)
	x.tool, x.done, x.failed, x.files = cmp.Or(x.tool, b.Name), true, b.IsErr || b.Denied, paths(c)
	if x.input == "" {
		x.input = input(b.Input)
	}
	x.result = clip.Middle(judge.Visible(strings.TrimSpace(b.Text)), maxResult, "")
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s", x.tool, x.input)
	_, again := v.seen[h.Sum64()]
	v.seen[h.Sum64()] = struct{}{}
	if len(x.files) > 0 || !again && !x.failed && !v.looks[b.Call] {
		v.acts++
	}
}

// paths are the files that were changed.
func paths(c effect.Changed) (out []string) {
	for _, f := range c.Files {
		if len(out) == maxFiles {
			return append(out, fmt.Sprintf("and %d more", len(c.Files)-maxFiles))
		}
		out = append(out, clip.Line(judge.Visible(f.Path), 300))
	}
	return out
}

// add adds an entry, and returns its number from 0.
func (v *Evidence) add(x entry) (n int) {
	if len(v.entries) >= 2*maxKept {
		v.left += maxKept
		v.entries = append(v.entries[:0], v.entries[maxKept:]...)
	}
	v.entries = append(v.entries, x)
	return v.left + len(v.entries) - 1
}

// shown are the newest entries that fit, oldest first, as JSON, with the number of the
// first one, counted from 1.
func (v *Evidence) shown() (out []map[string]any, first int) {
	room := maxShown
	i := len(v.entries)
	for ; i > 0; i-- {
		x := v.entries[i-1]
		if room -= len(x.said) + len(x.input) + len(x.result) + maxInput*len(x.did)/4 + 100; room < 0 {
			break
		}
		out = append(out, x.entry(v.left+i))
	}
	slices.Reverse(out)
	return out, v.left + i + 1
}

// entry is an entry as a model reads it.
func (x entry) entry(n int) map[string]any {
	m := map[string]any{"n": n}
	switch {
	case x.said != "":
		m["person"] = x.said
		return m
	case x.agent != "":
		m["agent"], m["did"] = x.agent, x.did
		return m
	default:
		m["call"], m["input"] = x.tool, x.input
	}
	switch {
	case !x.done:
		m["result"] = "[none: it did not end]"
	case x.failed:
		m["error"] = x.result
	default:
		m["result"] = x.result
	}
	if len(x.files) > 0 {
		m["changed"] = x.files
	}
	return m
}

// shows reports whether an entry with this number, which the model was shown, shows that
// something is so: a result that is there.
func (v *Evidence) shows(n, first int) bool {
	i := n - v.left - 1
	return n >= first && i >= 0 && i < len(v.entries) && v.entries[i].done && v.entries[i].said == ""
}
