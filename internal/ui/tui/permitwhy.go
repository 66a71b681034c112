package tui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// Bounds of the parts of a call that are explained one by one: of those that ask,
// and of all.
const (
	maxAsking = 12
	maxWhy    = 6
)

// gravity sorts the parts of a call as a person has to look at them: those that are
// refused, then those that ask, what runs or goes out before what is written, and
// at last those that are allowed.
func gravity(x policy.Piece) int {
	switch {
	case x.Effect == policy.Deny:
		return 0
	case x.Effect == policy.Allow:
		return 5
	}
	switch x.Kind {
	case "unclear", "command":
		return 1
	case "connect", "remove":
		return 2
	case "read":
		return 4
	}
	return 3
}

// why says what makes it a question: of a call that does several things, each
// with its own verdict.
func (d *permit) why(p paper, width int) []draw.Line {
	v := d.q.Verdict
	var parts []policy.Piece
	commands := 0
	for _, x := range v.Parts {
		if x.Kind == "command" {
			commands++
		}
	}
	said := false // the reason of the whole is that of a part
	for _, x := range v.Parts {
		if x.Effect == policy.Allow && (x.Kind != "command" || commands == 1) {
			continue // what is read on the way, and the one command whose paths ask
		}
		parts = append(parts, x)
		said = said || x.Effect != policy.Allow && x.Reason == v.Reason
	}
	var out []draw.Line
	if len(parts) < 2 || !said || v.Rule != "" {
		out = append(out, draw.Exact("asks because: "+v.Why(), draw.Quiet).Wrap(width)...)
	}
	if len(parts) < 2 {
		return out
	}
	order.By(parts, func(a, b policy.Piece) int { return cmp.Compare(gravity(a), gravity(b)) })
	for i, x := range parts {
		if i >= maxWhy && x.Effect == policy.Allow || i == maxAsking {
			more := fmt.Sprintf("%s %d more", p.Sign(draw.Ellipsis), len(parts)-i)
			if x.Effect == policy.Allow {
				more += ", all of them allowed"
			}
			out = append(out, draw.L(draw.S(more, draw.Quiet)))
			break
		}
		g, role := ruled(x.Effect)
		l := append(draw.Line{p.Mark(g, role)}, draw.Exact(x.Text, draw.Plain)...)
		l = append(append(l, draw.S("  ", draw.Plain)), draw.Exact(x.Reason, draw.Quiet)...)
		out = append(out, l.Wrap(width, draw.S("  ", draw.Plain))...)
	}
	return out
}

// ruled is how a verdict about a part looks.
func ruled(e policy.Effect) (draw.Glyph, draw.Role) {
	switch e {
	case policy.Ask:
		return draw.Warning, draw.Attention
	case policy.Deny:
		return draw.Cross, draw.Wrong
	case policy.Allow:
	}
	return draw.Check, draw.OK
}

// asking are the parts of a command that need an answer, as they stand in it.
func (d *permit) asking() []string {
	out := []string{d.q.Verdict.Part}
	for _, x := range d.q.Verdict.Parts {
		if x.Effect == policy.Allow {
			continue
		}
		out = append(out, x.Text)
		if x.Kind == "command" || x.Kind == "unclear" {
			continue
		}
		for _, c := range d.q.Verdict.Parts { // the command that the path or host is one of
			if c.Kind == "command" && wordIn(c.Text, x.Text) >= 0 {
				out = append(out, c.Text)
			}
		}
	}
	return out
}

// wordIn is where part stands in l and is no part of a longer word, -1 for nowhere.
func wordIn(l, part string) int {
	inWord := func(c byte) bool {
		return c == '_' || c == '-' || c == '.' || c == '/' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for at := 0; part != ""; at++ {
		i := strings.Index(l[at:], part)
		if i < 0 {
			break
		}
		at += i
		end := at + len(part)
		if (at == 0 || !inWord(l[at-1]) || !inWord(part[0])) && (end == len(l) || !inWord(l[end]) || !inWord(part[len(part)-1])) {
			return at
		}
	}
	return -1
}

// marked is a line of a command, exactly, with some parts of it marked.
func marked(l string, parts []string) draw.Line {
	var out draw.Line
	for l != "" {
		at, end := len(l), len(l)
		for _, part := range parts {
			if i := wordIn(l, part); i >= 0 && (i < at || i == at && i+len(part) > end) {
				at, end = i, i+len(part)
			}
		}
		out = append(out, draw.Exact(l[:at], draw.Plain)...)
		for _, s := range draw.Exact(l[at:end], draw.Attention) {
			s.Attr |= draw.Bold
			out = append(out, s)
		}
		l = l[end:]
	}
	return out
}

// connects reports whether the question is about a connection of a command
// that runs, and nothing else.
func (d *permit) connects() bool {
	v := d.q.Verdict.Parts
	_, says := d.q.View.(view.Text)
	return says && len(v) > 0 && !slices.ContainsFunc(v, func(x policy.Piece) bool { return x.Kind != "connect" })
}

// connection is where to, and what command wants it.
func (d *permit) connection() []draw.Line {
	out := []draw.Line{draw.Exact(d.q.Title, draw.Attention)}
	switch len(d.from) {
	case 0:
		return append(out, draw.L(draw.S("asked for by a command in the sandbox", draw.Quiet)))
	case 1:
		out = append(out, draw.L(draw.S("asked for by this command:", draw.Quiet)))
	default:
		out = append(out, draw.L(draw.S("asked for by one of these commands:", draw.Quiet)))
	}
	for _, c := range d.from {
		for l := range strings.SplitSeq(strings.TrimRight(c, "\n"), "\n") {
			out = append(out, append(draw.L(draw.S("  ", draw.Plain)), draw.Exact(l, draw.Plain)...))
		}
	}
	return out
}

// arguments are those of the call, where its view does not show them and there
// are any.
func (d *permit) arguments() []draw.Line {
	var b bytes.Buffer
	if len(d.q.Input) == 0 || json.Indent(&b, d.q.Input, "", "  ") != nil || b.String() == "{}" || shows(d.q.View, d.q.Input) {
		return nil
	}
	var out []draw.Line
	for l := range strings.SplitSeq(b.String(), "\n") {
		out = append(out, draw.Exact(l, draw.Quiet))
	}
	return out
}

// written is a view whose texts have what cannot be seen in them written out.
func written(v view.Block) view.Block {
	switch b := v.(type) {
	case view.Text:
		b.S = clip.VisibleText(b.S)
		return b
	case view.Code:
		b.S = clip.VisibleText(b.S)
		return b
	case view.Group:
		b.Blocks = slices.Clone(b.Blocks)
		for i, x := range b.Blocks {
			b.Blocks[i] = written(x)
		}
		return b
	default: // the others draw names exactly, or are no text
		return v
	}
}

// shows reports whether a view has a text that is this JSON.
func shows(v view.Block, input json.RawMessage) bool {
	switch b := v.(type) {
	case view.Code:
		return sameJSON([]byte(b.S), input)
	case view.Group:
		return slices.ContainsFunc(b.Blocks, func(x view.Block) bool { return shows(x, input) })
	default:
		return false
	}
}

// sameJSON reports whether two texts are the same JSON but for spaces and the
// order of names. Of equal length, neither has a name twice that the other has
// once.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil || x.Len() != y.Len() {
		return false
	}
	var v, w any
	for _, one := range []struct {
		from *bytes.Buffer
		to   *any
	}{{&x, &v}, {&y, &w}} {
		d := json.NewDecoder(one.from)
		d.UseNumber()
		if d.Decode(one.to) != nil {
			return false
		}
	}
	return reflect.DeepEqual(v, w)
}

// paths are those that lead elsewhere than they say.
func (d *permit) paths(width int, dir string) []draw.Line {
	var out []draw.Line
	for _, x := range d.q.Verdict.Parts {
		if x.Kind != "read" && x.Kind != "write" && x.Kind != "remove" || x.Path == "" || x.Effect == policy.Allow {
			continue
		}
		if x.Path == x.Text || x.Path == filepath.Join(dir, x.Text) {
			continue
		}
		l := append(draw.Exact(x.Kind+" "+x.Text, draw.Plain), draw.S(" is ", draw.Quiet))
		out = append(out, append(l, draw.Exact(x.Path, draw.Attention)...).Wrap(width)...)
	}
	return out
}

// decision is all that is known about a verdict.
func (d *permit) decision(width int) []draw.Line {
	v := d.q.Verdict
	out := []draw.Line{nil}
	for _, x := range v.Parts {
		_, r := ruled(x.Effect)
		l := draw.L(draw.S(story.Pad(x.Effect.String(), 6), r), draw.S(x.Kind+" ", draw.Quiet))
		l = append(l, draw.Exact(x.Text, draw.Plain)...)
		if x.Path != "" && x.Path != x.Text {
			where := ", which is "
			if x.Kind == "command" {
				where = " in "
			}
			l = append(append(l, draw.S(where, draw.Quiet)), draw.Exact(x.Path, draw.Quiet)...)
		}
		if x.Reason != "" {
			l = append(append(l, draw.S(": ", draw.Quiet)), draw.Exact(x.Reason, draw.Quiet)...)
		}
		out = append(out, l.Wrap(width, draw.S("      ", draw.Plain))...)
	}
	for _, f := range [][2]string{{"check", string(v.Check)}, {"rule", v.Rule}, {"from", v.Source}, {"part", v.Part}, {"keep", strings.Join(d.rules, ", ")}} {
		if f[1] != "" {
			out = append(out, append(draw.L(draw.S(story.Pad(f[0], 6), draw.Quiet)), draw.Exact(f[1], draw.Plain)...).Wrap(width)...)
		}
	}
	return append(out, draw.WrapAll(d.arguments(), width)...)
}
