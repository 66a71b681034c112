package dialog

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/ui/term"
	"github.com/adze-agent/adze/internal/view"
)

// shownOptions is how many options of a field are seen at a time.
const shownOptions = 6

// A form asks for values, a row for each, and then to send them or not.
type form struct {
	q      event.Asked
	f      view.Form
	rows   []row
	at     int // a row; behind the last one, to send and not to
	off    Reading
	paged  bool // it was scrolled by hand since the last move
	wrong  string
	opened *opening // a page is asked for, and no values
}

// An opening is the page that a form wants to have opened.
type opening struct {
	host  string
	warns []string
	never string // why it cannot be opened at all, "" when it can
}

func newForm(keys *keymap.Map, q event.Asked, f view.Form) *form {
	d := &form{q: q, f: f}
	if f.URL != "" {
		d.opened = openingOf(f.URL)
		return d
	}
	for _, x := range f.Fields {
		r := row{Field: x, ticks: map[int]bool{}}
		if x.Kind == view.BooleanField {
			r.Options = []view.FieldOption{{Value: "true", Title: "yes"}, {Value: "false", Title: "no"}}
		}
		if r.Options == nil {
			r.text = Field(keys, "")
		}
		if len(x.Default) > 0 && x.Check(x.Default) == nil {
			r.begin(x.Default)
		}
		d.rows = append(d.rows, r)
	}
	return d
}

// openingOf reads the address of a page: what stands in it is shown to somebody
// who decides by its host.
func openingOf(address string) *opening {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return &opening{host: "?", never: "it is no address of a page"}
	}
	o := &opening{host: u.Host}
	ip, _ := netip.ParseAddr(u.Hostname())
	switch local := u.Hostname() == "localhost" || ip.IsLoopback(); {
	case u.Scheme != "https" && u.Scheme != "http":
		o.never = "its kind is " + u.Scheme + ", not http or https"
	case u.User != nil:
		o.never = "a name or a password stands in it"
	case u.Scheme == "http" && !local:
		o.warns = append(o.warns, "it is not encrypted")
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) || strings.Contains(u.Host, "xn--") {
		o.warns = append(o.warns, "its name has letters that can look like others")
	}
	return o
}

func (d *form) Kind() Kind { return Kind{Rank: RankForm, Asks: true, Call: d.q.Call} }

// now is the row with the cursor, nil behind the last one.
func (d *form) now() *row {
	if d.at < len(d.rows) {
		return &d.rows[d.at]
	}
	return nil
}

func (d *form) In() []keymap.Context {
	if r := d.now(); r != nil && r.text != nil {
		return []keymap.Context{keymap.Edit}
	}
	return []keymap.Context{keymap.Confirmation}
}

func (d *form) heading() string {
	if server := story.FirstLine(draw.String(d.f.Server)); server != "" {
		return "The MCP server " + server + " asks"
	}
	return "A question"
}

func (d *form) View(c Ctx, rows int) ([]draw.Line, term.Cursor) {
	p := c.Paper
	if rows < tightRows && !p.Plain {
		return d.tight(c, rows)
	}
	cols := min(c.O.Width, story.TextCols)
	inside := max(cols-6, 0)
	heading := draw.L(draw.Span{Text: d.heading(), Style: draw.Style{Role: draw.Border, Attr: draw.Bold}})
	if p.Plain {
		return d.printed(p, heading, inside), term.Cursor{Hidden: true}
	}
	cur := term.Cursor{Hidden: true}
	body := draw.WrapAll(draw.Text(d.f.Message, draw.Style{}), inside)
	hint := "Tab goes on " + p.Sign(draw.Middot) + " Esc closes"
	if r := d.now(); r != nil && r.Kind == view.ChoicesField {
		hint = "Space ticks " + p.Sign(draw.Middot) + " " + hint
	}
	var foot []draw.Line
	if d.opened != nil {
		body = append(append(body, nil), draw.Exact(d.f.URL, draw.Quiet).Wrap(inside)...)
		foot = d.page(inside)
		hint = "Esc closes"
	} else if len(body) > 0 {
		body = append(body, nil)
	}
	from, to := len(body), len(body) // the lines that must be seen
	for i := range d.rows {
		if i == d.at {
			from = len(body)
		}
		lines, col := d.rows[i].view(p, i == d.at, inside)
		if i == d.at && d.rows[i].text != nil {
			cur = term.Cursor{Row: len(body), Col: col + 3}
		}
		if body = append(body, lines...); i == d.at {
			to = len(body)
		}
	}
	foot = append(foot, d.buttons(p)...)
	if d.wrong != "" {
		foot = append(foot, draw.L(draw.S(d.wrong, draw.Wrong)).Truncate(inside, p.O))
	}
	room := max(rows-len(foot)-2, 1)
	if room > len(body) && rows >= 12 {
		foot = append([]draw.Line{nil}, foot...)
	}
	if !d.paged && d.now() != nil && len(body) > room {
		d.off.at = max(min(d.off.at, from), to-max(room-1, 1))
	}
	shown := p.Scrolled(body, &d.off, room)
	cur.Row += 1 - d.off.at
	cur.Hidden = cur.Hidden || cur.Row < 1 || cur.Row > len(shown)
	lines := draw.Indent(append(shown, foot...), draw.S(" ", draw.Plain))
	return p.Boxed(lines, draw.Border, cols, heading, c.hinted(hint)), cur
}

// printed is what is asked now, where nothing is drawn anew: one row after the
// other, and then what they hold.
func (d *form) printed(p Paper, heading draw.Line, width int) []draw.Line {
	out := []draw.Line{nil}
	if d.at == 0 {
		out = append(out, heading)
		out = append(out, draw.WrapAll(draw.Text(d.f.Message, draw.Style{}), width)...)
	}
	r := d.now()
	if r != nil {
		lines, _ := r.view(p, true, width)
		return draw.Indent(append(out, lines...), draw.S("  ", draw.Plain))
	}
	if d.opened != nil {
		out = append(append(out, draw.Exact(d.f.URL, draw.Quiet).Wrap(width)...), d.page(width)...)
	}
	for i := range d.rows {
		lines, _ := d.rows[i].view(p, false, width)
		out = append(out, lines...)
	}
	for i, text := range d.plainAnswers() {
		l, _ := p.numbered(i, false)
		out = append(out, append(l, draw.S(text, draw.Plain)))
	}
	return draw.Indent(out, draw.S("  ", draw.Plain))
}

// page says where the page is that would be opened.
func (d *form) page(width int) []draw.Line {
	l := append(draw.L(draw.S("opens ", draw.Quiet)), draw.Exact(d.opened.host, draw.Attention)...)
	out := l.Wrap(width)
	for _, w := range append(slices.Clone(d.opened.warns), d.opened.never) {
		if w != "" {
			out = append(out, draw.L(draw.S(w, draw.Wrong)).Wrap(width)...)
		}
	}
	return out
}

// answers are what stands below the rows.
func (d *form) answers() []string {
	switch {
	case d.opened == nil:
		return []string{"Send", "Decline"}
	case d.opened.never != "":
		return []string{"Do not open it"}
	}
	return []string{"Open it in the browser", "Do not open it"}
}

func (d *form) buttons(p Paper) []draw.Line {
	var out []draw.Line
	for i, text := range d.answers() {
		l, role := p.numbered(i, d.at == len(d.rows)+i)
		out = append(out, append(l, draw.S(text, role)))
	}
	return out
}

func (d *form) Act(c Ctx, a keymap.Action) ([]Effect, bool) {
	r := d.now()
	if r != nil && r.text != nil {
		switch {
		case a == keymap.EditUp:
			d.move(-1)
		case a == keymap.EditDown:
			d.move(1)
		case a.IsEdit():
			r.text.Do(a)
		default:
			return nil, false
		}
		return nil, true
	}
	types := c.Pressed.Types()
	switch a {
	case keymap.ConfirmYes, keymap.ConfirmNo:
		switch {
		case !types && a == keymap.ConfirmYes:
			return d.enter(), true
		case !types:
			return d.close(), true
		case r == nil: // a letter marks
			if d.at = len(d.rows); a == keymap.ConfirmNo {
				d.at += len(d.answers()) - 1
			}
		case r.Kind == view.BooleanField:
			r.at = 0
			if a == keymap.ConfirmNo {
				r.at = 1
			}
			r.tick()
		}
	case keymap.ConfirmPrev:
		d.move(-1)
	case keymap.ConfirmNext:
		d.move(1)
	case keymap.ConfirmComment:
		d.to(d.at + 1)
	case keymap.ConfirmMode:
		d.to(d.at - 1)
	case keymap.ConfirmExplain, keymap.ConfirmEdit: // there is nothing of that kind
	default:
		return nil, false
	}
	return nil, true
}

// move goes a line up or down: through the options of a row, and to the next.
func (d *form) move(by int) {
	if r := d.now(); r != nil && r.text == nil && r.at+by >= 0 && r.at+by < len(r.Options) {
		r.at += by
		d.paged = false
		return
	}
	d.to(d.at + by)
}

// to goes to a row, when what is left is in order or empty.
func (d *form) to(at int) {
	if r := d.now(); r != nil {
		if r.wrong = ""; r.value() != nil {
			_ = r.check() // the row shows it
		}
	}
	d.at = max(0, min(at, len(d.rows)+len(d.answers())-1))
	d.paged = false
}

// enter takes what is marked and goes on.
func (d *form) enter() []Effect {
	r := d.now()
	if r == nil {
		return d.decide(d.at == len(d.rows) && len(d.answers()) > 1)
	}
	if r.text == nil && r.Kind != view.ChoicesField {
		r.tick()
	}
	if r.check() == nil {
		d.to(d.at + 1)
	}
	return nil
}

// digits implements Dialog: of a row, they mark its options.
func (d *form) digits(Ctx) int {
	switch r := d.now(); {
	case r == nil:
		return len(d.answers())
	case r.text == nil:
		return len(r.Options)
	}
	return 0
}

func (d *form) pick(_ Ctx, i int) []Effect {
	if r := d.now(); r != nil {
		r.at = i
		r.tick()
	} else {
		d.at = len(d.rows) + i
	}
	return nil
}

func (d *form) write(c Ctx, k keymap.Key) []Effect {
	r := d.now()
	switch {
	case k.Name == "pgup":
		d.off.page(-1)
		d.paged = true
	case k.Name == "pgdown":
		d.off.page(1)
		d.paged = true
	case k.Name == "tab" && k.Mod&keymap.Shift != 0:
		d.to(d.at - 1)
	case k.Name == "tab":
		d.to(d.at + 1)
	case k.Name == "esc":
		return d.close()
	case k.Name == "enter":
		return d.enter()
	case r != nil && r.text != nil:
		r.wrong = ""
		r.text.Key(k)
	case r != nil && k.Name == "space":
		r.tick()
	}
	return nil
}

// decide sends the values, or opens the page; or declines.
func (d *form) decide(yes bool) []Effect {
	if !yes || len(d.answers()) == 1 {
		return d.answer(op.Answer{})
	}
	if d.opened != nil {
		return append(d.answer(op.Answer{Allow: true}), Browse{d.f.URL})
	}
	values := map[string]json.RawMessage{}
	first := -1
	for i := range d.rows {
		r := &d.rows[i]
		if r.check() != nil && first < 0 {
			first = i
		}
		if v := r.value(); v != nil {
			values[r.Name] = v
		}
	}
	if first >= 0 {
		d.at, d.paged = first, false
		return nil
	}
	raw, err := json.Marshal(values)
	if err == nil {
		err = d.f.Check(raw)
	}
	if err != nil {
		d.wrong = err.Error()
		return nil
	}
	return d.answer(op.Answer{Allow: true, Values: raw})
}

// close leaves the form without a decision.
func (d *form) close() []Effect { return d.answer(op.Answer{Dismissed: true}) }

func (d *form) answer(a op.Answer) []Effect {
	return []Effect{Answer{a, func(why string) { d.wrong = why }}}
}

func (d *form) Paste(text string) bool {
	if r := d.now(); r != nil && r.text != nil {
		r.text.Paste(text)
		return true
	}
	return false
}
