package export

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
)

// What the page looks like and does, beside the colours.
var (
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
)

// Columns of what the page shows on a screen, and on a phone.
const (
	wideCols   = 100
	narrowCols = 44
)

// HTML writes the conversation as one page that needs nothing else and asks
// nobody for anything: it looks as the terminal UI does, with folds, a search,
// and a dark and a light face.
func HTML(w io.Writer, events iter.Seq2[event.Event, error], o Options) error {
	hide := secret.New(o.Secrets...)
	p := page{out: bufio.NewWriter(w), room: maxPictures}
	c := p.chapter(agents{})
	if err := c.read(events, hide); err != nil {
		return err
	}
	about := fmt.Sprintf("Session %s in %s", c.begin.ID, c.begin.Dir)
	if c.begin.Branch != "" {
		about += " on " + c.begin.Branch
	}
	if !c.from.IsZero() {
		about += ", " + c.from.Format("2006-01-02 15:04 MST") + " to " + c.to.Format("2006-01-02 15:04 MST")
	}
	p.head(draw.String(hide.String(clip.Line(cmp.Or(o.Title, "Session "+c.begin.ID), 200))), draw.String(about))
	c.items()
	if o.Agent != nil {
		if err := p.agents(c.kin, o, hide); err != nil {
			return err
		}
	}
	p.put("</main>\n<script>%s</script>\n</body>\n</html>\n", pageScript)
	return p.out.Flush()
}

// A chapter is one session in a page.
type chapter struct {
	page     *page
	pictures pictures
	story    *story.Story
	begin    event.SessionStarted
	from, to time.Time
	kin      agents
}

func (p *page) chapter(kin agents) *chapter {
	return &chapter{page: p, pictures: pictures{room: &p.room, of: map[string][]picture{}}, story: story.New(), kin: kin}
}

func (c *chapter) read(events iter.Seq2[event.Event, error], hide *secret.Redactor) error {
	for e, err := range events {
		if err == nil {
			c.pictures.collect(e.Body)
			e, err = masked(e, hide)
		}
		if err != nil {
			return fmt.Errorf("export session: %w", err)
		}
		if b, ok := e.Body.(event.SessionStarted); ok && c.from.IsZero() {
			c.begin, c.from = b, e.Time
		}
		c.to = e.Time
		c.story.Apply(e)
		c.kin.apply(e.Body)
	}
	return nil
}

func (c *chapter) items() {
	var before *story.Item
	for _, it := range c.story.Items {
		if c.item(it, before) {
			before = it
		}
	}
}

// masked is an event without secrets in any of its texts.
func masked(e event.Event, hide *secret.Redactor) (event.Event, error) {
	line, err := event.AppendLine(nil, e)
	if err != nil {
		return e, err
	}
	clean, err := fastjson.MapStrings(line, hide.String)
	if err != nil {
		return e, fmt.Errorf("event %d: %w", e.Seq, err)
	}
	return event.ParseLine(clean)
}

// page is a page that is being written. Errors stay in out until Flush.
type page struct {
	out  *bufio.Writer
	room int // for more pictures, in bytes
}

func (p *page) put(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// head writes all that comes before the conversation. The policy allows what is
// in this page and nothing else: whatever a text in it says, no script of it
// runs, and no request leaves the page.
func (p *page) head(title, about string) {
	style := pageStyle + colours()
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>%s</style>
</head>
<body>
<header>
<h1>%s</h1>
<p>%s</p>
<label>Find <input id="find" type="search" autocomplete="off"></label> <span id="told" role="status"></span>
<button id="unfold" type="button">Fold or unfold all</button>
<button id="look" type="button">Dark or light</button>
</header>
<main>
`, digest(style), digest(pageScript), html.EscapeString(title), style, html.EscapeString(title), html.EscapeString(about))
}

// digest names a text in a Content-Security-Policy.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// item writes one item and reports whether there was anything to write. What is
// folded in the terminal can be unfolded. It is there twice, for wide and for
// narrow screens, unless it is the same for both.
func (c *chapter) item(it, before *story.Item) bool {
	p := c.page
	wide, narrow := formed(it, wideCols), formed(it, narrowCols)
	if len(wide.short) == 0 {
		return false
	}
	class := "item"
	if story.Apart(before, it) {
		class += " apart"
	}
	p.put(`<section class="%s">`, class)
	if it.Kind == story.Said {
		p.put(`<time datetime="%s">%s</time>`, it.At.Format(time.RFC3339), it.At.Format("15:04:05"))
	}
	p.put("\n")
	if wide.equal(narrow) {
		p.form("any", wide)
	} else {
		p.form("wide", wide)
		p.form("narrow", narrow)
	}
	for _, pic := range c.pictures.take(it) {
		p.put("%s\n", pic.html())
	}
	p.put("</section>\n")
	return true
}

// A form is an item at one width, folded and not.
type form struct{ short, whole []draw.Line }

func formed(it *story.Item, cols int) (f form) {
	sheet := story.Paper{O: draw.Options{Width: cols, Links: true}}
	f.short = sheet.Item(it)
	sheet.Whole = true
	if f.whole = sheet.Item(it); len(f.whole) == 0 {
		f.whole = f.short
	}
	return f
}

func same(a, b []draw.Line) bool {
	return slices.EqualFunc(a, b, func(a, b draw.Line) bool { return slices.Equal(a, b) })
}

func (f form) equal(g form) bool { return same(f.short, g.short) && same(f.whole, g.whole) }

func (p *page) form(class string, f form) {
	p.put(`<div class="%s">`, class)
	switch {
	case same(f.short, f.whole):
		p.lines(f.short)
	case same(f.short, f.whole[:1]):
		p.put("<details><summary>")
		p.lines(f.short)
		p.put("</summary>")
		p.lines(f.whole[1:])
		p.put("</details>")
	default:
		p.put(`<details><summary><div class="short">`)
		p.lines(f.short)
		p.put(`</div><div class="head">`)
		p.lines(f.whole[:1])
		p.put("</div></summary>")
		p.lines(f.whole[1:])
		p.put("</details>")
	}
	p.put("</div>\n")
}

func (p *page) lines(lines []draw.Line) {
	p.put("<pre>")
	for i, l := range lines {
		if i > 0 {
			p.put("\n")
		}
		for _, s := range l {
			p.span(s)
		}
	}
	p.put("</pre>")
}

func (p *page) span(s draw.Span) {
	text := html.EscapeString(s.Text)
	if to := address(s.Link); to != "" {
		text = fmt.Sprintf(`<a href="%s" rel="noopener noreferrer">%s</a>`, html.EscapeString(to), text)
	}
	if c := classes(s.Style); c != "" {
		text = fmt.Sprintf(`<span class="%s">%s</span>`, c, text)
	}
	p.put("%s", text)
}

// address is where a link leads, "" unless a person can follow it from a page.
func address(link string) string {
	u, err := url.Parse(link)
	if err != nil || !slices.Contains([]string{"http", "https", "mailto"}, u.Scheme) {
		return ""
	}
	return u.String()
}

// classes are those of a style; colours has what they mean.
func classes(st draw.Style) string {
	var out []string
	if st.Role != draw.Plain {
		out = append(out, fmt.Sprintf("r%d", st.Role))
	}
	if st.On != draw.Plain {
		out = append(out, fmt.Sprintf("o%d", st.On))
	}
	if n, ok := st.Fg.Palette(); ok {
		out = append(out, fmt.Sprintf("f%d", n))
	}
	if n, ok := st.Bg.Palette(); ok {
		out = append(out, fmt.Sprintf("g%d", n))
	}
	for i, name := range []string{"b", "d", "i", "u", "v", "s"} { // in the order of draw.Attr
		if st.Attr&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

// colours are the rules for the roles of both themes, and for the palette that
// tools print in.
func colours() string {
	var b strings.Builder
	dark, _ := draw.Named("dark", true)
	light, _ := draw.Named("light", false)
	roles(&b, "", light)
	b.WriteString("@media (prefers-color-scheme:dark){")
	roles(&b, ":root:not(.light) ", dark)
	b.WriteString("}\n")
	roles(&b, ":root.dark ", dark)
	for n := range 256 {
		r, g, c, _ := draw.Index(uint8(n)).Value()
		fmt.Fprintf(&b, ".f%d{color:#%02x%02x%02x}.g%d{background:#%02x%02x%02x}\n", n, r, g, c, n, r, g, c)
	}
	return b.String()
}

func roles(b *strings.Builder, under string, t *draw.Theme) {
	for r := draw.Plain + 1; r <= draw.SyntaxError; r++ {
		f := t.Face(r)
		fmt.Fprintf(b, "%s.r%d{", under, r)
		if x, y, z, ok := f.Fg.Value(); ok {
			fmt.Fprintf(b, "color:#%02x%02x%02x;", x, y, z)
		}
		ground := ""
		if x, y, z, ok := f.Bg.Value(); ok {
			ground = fmt.Sprintf("background:#%02x%02x%02x", x, y, z)
		}
		b.WriteString(ground)
		for i, rule := range []string{";font-weight:bold", ";opacity:.7", ";font-style:italic", ";text-decoration:underline"} {
			if f.Attr&(1<<i) != 0 {
				b.WriteString(rule)
			}
		}
		b.WriteString("}")
		if ground != "" {
			fmt.Fprintf(b, "%s.o%d{%s}", under, r, ground)
		}
		b.WriteString("\n")
	}
}
