package dialog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	case policy.PieceUnclear, policy.PieceCommand:
		return 1
	case policy.PieceConnect, policy.PieceRemove:
		return 2
	case policy.PieceRead:
		return 4
	}
	return 3
}

// A deed is a part of a call: a command with what it does, or something else that is
// no command's.
type deed struct {
	policy.Piece
	does []policy.Piece // of a command
}

// deeds are the parts of a call as a person has to look at them.
func (d *permit) deeds() []deed {
	var out []deed
	for _, x := range d.q.Verdict.Parts {
		at := -1
		if x.Of != "" {
			for i, y := range out {
				if y.Kind == policy.PieceCommand && y.Text == x.Of {
					at = i
				}
			}
		}
		if at < 0 {
			out = append(out, deed{Piece: x})
			continue
		}
		out[at].does = append(out[at].does, x)
	}
	order.By(out, func(a, b deed) int { return cmp.Compare(gravity(a.gravest()), gravity(b.gravest())) })
	return out
}

// gravest is the command, or what it does that a person has to look at before.
func (x deed) gravest() policy.Piece {
	out := x.Piece
	for _, y := range x.does {
		if gravity(y) < gravity(out) {
			out = y
		}
	}
	return out
}

// reasons are why a part is asked about or refused; of one that is allowed, why that is.
func (x deed) reasons() []string {
	e := x.gravest().Effect
	var out []string
	for _, y := range append([]policy.Piece{x.Piece}, x.does...) {
		if (y.Effect == e || y.Effect != policy.Allow) && y.Reason != "" && !slices.Contains(out, y.Reason) {
			out = append(out, y.Reason)
		}
	}
	if e == policy.Allow && len(out) > 1 {
		out = out[:1]
	}
	return out
}

// told is a part in words: a command as it is written, and what else is done.
func told(x policy.Piece) draw.Line {
	verb := map[policy.PieceKind]string{
		policy.PieceRead: "reads", policy.PieceWrite: "changes", policy.PieceRemove: "removes", policy.PieceName: "names", policy.PieceConnect: "connects to",
		policy.PieceTool: "uses", policy.PieceAgent: "starts the agent", policy.PieceSkill: "uses the skill", policy.PieceWorkflow: "runs the workflow", policy.PieceTell: "sends a message to",
	}[x.Kind]
	if verb == "" {
		return draw.Exact(x.Text, draw.Plain)
	}
	return append(draw.L(draw.S(verb+" ", draw.Plain)), draw.Exact(x.Text, draw.Plain)...)
}

// brief is a reason without what it names as other examples: the whole decision has them.
func brief(why string) string {
	const unknown = " is not known to be read-only"
	at := strings.LastIndex(why, unknown+" (")
	if at < 0 || !strings.HasSuffix(why, " are)") && !strings.HasSuffix(why, " is)") {
		return why
	}
	return why[:at+len(unknown)]
}

// maxReasons bounds the reasons of one part that are told beside it.
const maxReasons = 2

// why says what makes it a question: of a call that does several things, each
// with its own verdict. named are the lines that name what asks.
func (d *permit) why(p Paper, width int) (out []draw.Line, named map[int]bool) {
	v := d.q.Verdict
	all := d.deeds()
	var parts []deed
	said := false // the reason of the whole is that of a part
	for _, x := range all {
		if x.Kind != policy.PieceCommand && x.Effect == policy.Allow {
			continue // what is read on the way
		}
		parts = append(parts, x)
		why := x.reasons()
		said = said || slices.Contains(why[:min(len(why), maxReasons)], v.Reason)
	}
	if len(parts) < 2 {
		return d.because(parts, width), nil
	}
	named = map[int]bool{}
	if !said || v.Rule != "" {
		out = d.because(nil, width)
	}
	for i, x := range parts {
		e := x.gravest().Effect
		if i >= maxWhy && e == policy.Allow || i == maxAsking {
			more := fmt.Sprintf("%s %d more", p.Sign(draw.Ellipsis), len(parts)-i)
			if e == policy.Allow {
				more += ", all of them allowed"
			}
			out = append(out, draw.L(draw.S(more, draw.Quiet)))
			break
		}
		g, role := ruled(e)
		l := append(draw.Line{p.Mark(g, role)}, told(x.Piece)...)
		for i := range l.Wrap(width, draw.S("  ", draw.Plain)) {
			named[len(out)+i] = e != policy.Allow
		}
		l = append(append(l, draw.S("  ", draw.Plain)), draw.Exact(few(x.reasons()), draw.Quiet)...)
		out = append(out, l.Wrap(width, draw.S("  ", draw.Plain))...)
	}
	return out, named
}

// few are the first of some reasons, and how many more there are.
func few(all []string) string {
	out := ""
	for i, s := range all[:min(len(all), maxReasons)] {
		if i > 0 {
			out += "; "
		}
		out += brief(s)
	}
	if more := len(all) - maxReasons; more > 0 {
		out += fmt.Sprintf("; and %d more", more)
	}
	return out
}

// because is the reason of the whole, with those of the one part that there may be.
func (d *permit) because(parts []deed, width int) []draw.Line {
	v := d.q.Verdict
	why := v.Why()
	if !d.whole {
		why = brief(why)
	}
	out := draw.Exact("asks because: "+why, draw.Quiet).Wrap(width)
	for _, x := range parts {
		rest := slices.DeleteFunc(x.reasons(), func(s string) bool {
			return s == v.Reason || strings.HasPrefix(v.Reason, s+" (") // with what the classifier said
		})
		if len(rest) > 0 && x.gravest().Effect != policy.Allow {
			out = append(out, draw.Exact("and because: "+few(rest), draw.Quiet).Wrap(width)...)
		}
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

// asking are the parts of a command that need an answer, as they stand in it: also the
// command that does what needs one.
func (d *permit) asking() []string {
	out := []string{d.q.Verdict.Part}
	for _, x := range d.q.Verdict.Parts {
		if x.Effect != policy.Allow {
			out = append(out, x.Text, x.Of)
		}
	}
	return out
}

// linesOf is a line of a command, at and n bytes long, where a part of several lines
// holds it that needs an answer.
func linesOf(command string, asking []string, at, n int) []string {
	for _, part := range asking {
		if i := strings.Index(command, part); strings.Contains(part, "\n") && i >= 0 && i < at+n && at < i+len(part) {
			return []string{command[at : at+n]}
		}
	}
	return nil
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
	return says && len(v) > 0 && !slices.ContainsFunc(v, func(x policy.Piece) bool { return x.Kind != policy.PieceConnect })
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

// says reports whether each value of an object stands in a text as a word of its own.
func says(text string, input json.RawMessage) bool {
	var values map[string]json.RawMessage
	if json.Unmarshal(input, &values) != nil {
		return false
	}
	for _, raw := range values {
		value := string(raw)
		if s := ""; json.Unmarshal(raw, &s) == nil {
			value = strings.TrimSpace(s)
		}
		if !saysWord(text, value) {
			return false
		}
	}
	return true
}

func saysWord(text, value string) bool {
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; at++ {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(value):])
		if !letter(before) && !letter(after) || value == "" {
			return true
		}
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
		if !x.Kind.OfFile() || x.Path == "" || x.Effect == policy.Allow {
			continue
		}
		if x.Path == x.Text || x.Path == filepath.Join(dir, x.Text) {
			continue
		}
		l := append(told(x), draw.S(", which is ", draw.Quiet))
		out = append(out, append(l, draw.Exact(x.Path, draw.Attention)...).Wrap(width)...)
	}
	return out
}

// verdicts are effects for a person.
var verdicts = map[policy.Effect]string{policy.Allow: "allowed", policy.Ask: "asks", policy.Deny: "refused"}

// decision is all that is known about a verdict.
func (d *permit) decision(width int, dir string) []draw.Line {
	v := d.q.Verdict
	all := d.deeds()
	var out []draw.Line
	if !slices.ContainsFunc(v.Parts, func(x policy.Piece) bool { return x.Why() == v.Why() }) {
		out = d.because(nil, width)
	}
	add := func(x policy.Piece, in string) {
		_, r := ruled(x.Effect)
		l := append(draw.L(draw.S(in+story.Pad(verdicts[x.Effect], 9), r)), told(x)...)
		if x.Path != "" && x.Path != x.Text && x.Path != dir && x.Path != filepath.Join(dir, x.Text) {
			where := ", which is "
			if x.Kind == policy.PieceCommand {
				where = " in "
			}
			l = append(append(l, draw.S(where, draw.Quiet)), draw.Exact(x.Path, draw.Quiet)...)
		}
		if why := x.Why(); why != "" {
			l = append(append(l, draw.S(": ", draw.Quiet)), draw.Exact(why, draw.Quiet)...)
		}
		out = append(out, l.Wrap(width, draw.S(in+"         ", draw.Plain))...)
	}
	for _, x := range all {
		if e := x.gravest().Effect; e != x.Effect { // what it does is why
			x.Piece = policy.Piece{Kind: x.Kind, Text: x.Text, Path: x.Path, Effect: e}
		}
		add(x.Piece, "")
		for _, y := range x.does {
			add(y, "  ")
		}
	}
	if len(d.rules) > 0 {
		keeps := fmt.Sprintf("answer %d keeps: ", slices.Index(d.answers, yesRule)+1)
		out = append(out, nil)
		out = append(out, append(draw.L(draw.S(keeps, draw.Quiet)), draw.Exact(strings.Join(d.rules, ", "), draw.Plain)...).Wrap(width)...)
	}
	if more := draw.WrapAll(d.arguments(), width); len(more) > 0 {
		out = append(append(out, nil, draw.L(draw.S(story.Subject(d.q.Tool)+" is called with:", draw.Quiet))), more...)
	}
	return out
}
