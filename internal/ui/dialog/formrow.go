package dialog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/edit"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// A row is a field and what it holds.
type row struct {
	view.Field
	text  *edit.Editor // of text and numbers, else nil
	at    int          // the marked option
	ticks map[int]bool
	wrong string
}

// begin puts a value in that the field takes.
func (r *row) begin(raw json.RawMessage) {
	var s string
	var list []string
	switch {
	case r.text != nil && json.Unmarshal(raw, &s) == nil:
		r.text.Set(s)
	case r.text != nil:
		r.text.Set(string(raw))
	case json.Unmarshal(raw, &list) == nil:
	case json.Unmarshal(raw, &s) == nil:
		list = []string{s}
	default: // true or false
		list = []string{string(raw)}
	}
	for i, o := range r.Options {
		if slices.Contains(list, o.Value) {
			r.ticks[i], r.at = true, i
		}
	}
}

// value is what the row holds now; nil is nothing.
func (r *row) value() json.RawMessage {
	encode := func(v any) json.RawMessage { b, _ := json.Marshal(v); return b } // strings always can be
	if r.text != nil {
		text := r.text.Text()
		switch {
		case strings.TrimSpace(text) == "":
			return nil
		case r.Kind == view.StringField:
			return encode(text)
		case json.Valid([]byte(strings.TrimSpace(text))):
			return json.RawMessage(strings.TrimSpace(text))
		}
		return encode(text) // which is refused
	}
	var list []string
	for i, o := range r.Options {
		if r.ticks[i] {
			list = append(list, o.Value)
		}
	}
	switch {
	case len(list) == 0:
		return nil
	case r.Kind == view.BooleanField:
		return json.RawMessage(list[0])
	case r.Kind == view.ChoiceField:
		return encode(list[0])
	}
	return encode(list)
}

// check says what is wrong with the row, and keeps it to be shown.
func (r *row) check() error {
	v := r.value()
	var err error
	switch {
	case v != nil:
		err = r.Check(v)
	case r.Required:
		err = errors.New("a value is needed")
	}
	if r.wrong = ""; err != nil {
		r.wrong = err.Error()
	}
	return err
}

// view draws a row, and says where its cursor is.
func (r *row) view(p Paper, marked bool, width int) (out []draw.Line, col int) {
	lead, role := draw.S("  ", draw.Plain), draw.Plain
	if marked && !p.Plain {
		lead, role = p.Mark(draw.Cursor, draw.Accent), draw.Selected
	}
	label := draw.L(lead, draw.S(story.FirstLine(draw.String(r.Label())), role))
	if r.Required {
		label = append(label, draw.S(" (needed)", draw.Quiet))
	}
	label = append(label, draw.S(": ", role))
	if !marked {
		l := append(label, draw.S(r.summary(), draw.Plain)).Truncate(width, p.O)
		return append([]draw.Line{l}, r.mistake(width)...), 0
	}
	indent := draw.S("    ", draw.Plain)
	if r.text != nil {
		if label.Width() > width-8 { // the text has a line of its own
			out = append(out, label.Truncate(width, p.O))
			label = draw.L(indent)
		}
		l, at := p.FieldLine(label, r.text, width)
		out, col = append(out, l), at
	} else {
		out = append(out, label.Truncate(width, p.O))
		out = append(out, r.options(p, width)...)
	}
	if r.About != "" {
		for _, l := range draw.WrapAll(draw.Text(r.About, draw.Style{Role: draw.Quiet}), max(width-4, 0)) {
			out = append(out, append(draw.L(indent), l...))
		}
	}
	return append(out, r.mistake(width)...), col
}

func (r *row) mistake(width int) []draw.Line {
	if r.wrong == "" {
		return nil
	}
	return draw.Indent(draw.L(draw.S(r.wrong, draw.Wrong)).Wrap(max(width-4, 0)), draw.S("    ", draw.Plain))
}

func (r *row) summary() string {
	if r.text != nil {
		return story.FirstLine(r.text.Text())
	}
	var list []string
	for i, o := range r.Options {
		if r.ticks[i] {
			list = append(list, o.Label())
		}
	}
	return strings.Join(list, ", ")
}

func (r *row) options(p Paper, width int) []draw.Line {
	off, on := draw.Radio, draw.RadioOn
	if r.Kind == view.ChoicesField {
		off, on = draw.CheckBox, draw.CheckBoxOn
	}
	shown := shownOptions
	if p.Plain {
		shown = len(r.Options)
	}
	top := max(0, min(r.at-shown/2, len(r.Options)-shown))
	var out []draw.Line
	for i := top; i < min(top+shown, len(r.Options)); i++ {
		lead, role := p.numbered(i, i == r.at)
		g := off
		if r.ticks[i] {
			g = on
		}
		l := append(draw.L(draw.S("  ", draw.Plain)), lead...)
		name := draw.S(story.FirstLine(r.Options[i].Label()), role)
		switch {
		case !p.Plain:
			l = append(l, draw.S(story.Pad(p.Sign(g), 2), draw.Accent), name)
		case r.ticks[i]:
			l = append(l, name, draw.S(" "+p.Sign(draw.Check), draw.OK))
		default:
			l = append(l, name)
		}
		if i == top+shown-1 && i+1 < len(r.Options) {
			l = append(l, draw.S(fmt.Sprintf("  %s %d of %d", p.Sign(draw.MoreDown), i+1, len(r.Options)), draw.Quiet))
		}
		out = append(out, l.Truncate(width, p.O))
	}
	return out
}

// tick takes the marked option, or with several of them lets it go again.
func (r *row) tick() {
	if r.Kind == view.ChoicesField {
		r.ticks[r.at] = !r.ticks[r.at]
	} else {
		r.ticks = map[int]bool{r.at: true}
	}
	r.wrong = ""
}
