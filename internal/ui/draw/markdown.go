package draw

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"

	"github.com/adze-agent/adze/internal/text/clip"
)

// theParsers parse Markdown with tables, task lists and struck text; the
// second one also finds addresses, which takes time. They are made when they
// are first needed and keep no state between texts.
var theParsers = sync.OnceValue(func() [2]parser.Parser { return [2]parser.Parser{newParser(false), newParser(true)} })

func parserFor(src string) parser.Parser {
	if strings.Contains(src, "://") || strings.Contains(src, "www.") || strings.Contains(src, "@") {
		return theParsers()[1]
	}
	return theParsers()[0]
}

// deepest bounds how far lists and quotes are drawn within each other.
const deepest = 12

// Markdown draws a text. No line is wider than o.Width.
func Markdown(src string, o Options) []Line {
	return o.Bound(markdown(clip.Clean(o.enough(clip.Prose(src))), "", o))
}

// markdown draws a clean text; refs are link definitions of what came before.
func markdown(src, refs string, o Options) []Line {
	if strings.TrimSpace(src) == "" {
		return nil
	}
	raw := []byte(refs + src)
	doc := parserFor(src).Parse(gtext.NewReader(raw))
	w := walker{src: raw}
	lines := w.blocks(doc, o, true)
	for i, l := range lines {
		if l.Width() > o.width() { // the last door: what is too narrow to wrap
			lines[i] = l.Cut(o.width())
		}
	}
	return lines
}

// A walker draws the parts of one document.
type walker struct {
	src   []byte
	depth int
}

// blocks draws the children of n, with an empty line between them when loose.
func (w *walker) blocks(n ast.Node, o Options, loose bool) []Line {
	if w.depth > deepest {
		return []Line{L(sign(o.glyph(Ellipsis), Quiet))}
	}
	w.depth++
	defer func() { w.depth-- }()
	var out []Line
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		lines := w.block(c, o)
		if len(lines) == 0 {
			continue
		}
		_, sub := c.(*ast.List)
		if loose && len(out) > 0 && !(sub && n.Kind() == ast.KindListItem) {
			out = append(out, nil)
		}
		out = append(out, lines...)
	}
	return out
}

func (w *walker) block(n ast.Node, o Options) []Line {
	switch n := n.(type) {
	case *ast.Heading:
		st := Style{Role: Heading, Attr: Bold}
		if n.Level == 1 {
			st.Attr |= Underline
		}
		return w.paragraph(n, st, o)
	case *ast.Paragraph, *ast.TextBlock:
		return w.paragraph(n, Style{}, o)
	case *ast.FencedCodeBlock:
		lang := ""
		if l := n.Language(w.src); l != nil {
			lang = string(l)
		}
		return w.code(n, lang, o)
	case *ast.CodeBlock:
		return w.code(n, "", o)
	case *ast.Blockquote:
		bar := sign(o.glyph(Gutter)+" ", Quiet)
		lines := w.blocks(n, o.narrower(Width(bar.Text)), true)
		for i, l := range lines {
			lines[i] = l.With(Quote)
		}
		return Indent(lines, bar)
	case *ast.List:
		return w.list(n, o)
	case *ast.ThematicBreak:
		return []Line{L(S(strings.Repeat(o.glyph(HBar), min(o.width(), 40)), Quiet))}
	case *ast.HTMLBlock:
		return WrapAll(Text(strings.TrimRight(w.lines(n), "\n"), Style{Role: Quiet}), o.width())
	case *east.Table:
		return w.table(n, o)
	}
	return w.blocks(n, o, true)
}

// lines returns the source of a block of lines.
func (w *walker) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(w.src))
	}
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		b.Write(h.ClosureLine.Value(w.src))
	}
	return b.String()
}

func (w *walker) code(n ast.Node, lang string, o Options) []Line {
	return fence(w.lines(n), lang, o)
}

// fence draws a block of code, two columns in.
func fence(src, lang string, o Options) []Line {
	in := o
	if o.width() > 12 {
		in = o.narrower(2)
	}
	lines := WrapAll(in.highlight(lang, strings.TrimRight(src, "\n")), in.width())
	if len(lines) == 0 {
		lines = []Line{nil}
	}
	if in.Width == o.Width {
		return lines
	}
	return Indent(lines, Span{Text: "  "})
}

func (w *walker) list(n *ast.List, o Options) []Line {
	var out []Line
	airy := airyList(n)
	num := n.Start
	last := num + n.ChildCount() - 1
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		mark := sign(o.glyph(ListMark)+" ", Quiet)
		if n.IsOrdered() {
			mark = S(fmt.Sprintf("%*d. ", len(strconv.Itoa(last)), num), Quiet)
			num++
		}
		if box := taskOf(c); box != nil {
			mark = sign(o.glyph(Ballot)+" ", Quiet)
			if box.IsChecked {
				mark = sign(o.glyph(BallotDone)+" ", OK)
			}
		}
		in := Width(mark.Text)
		lines := w.blocks(c, o.narrower(in), !n.IsTight)
		if len(lines) == 0 {
			lines = []Line{nil}
		}
		if airy && len(out) > 0 {
			out = append(out, nil)
		}
		for i, l := range lines {
			first := Span{Text: spaces(in)}
			if i == 0 {
				first = mark
			}
			if i > 0 && len(l) == 0 {
				out = append(out, nil)
				continue
			}
			out = append(out, append(Line{first}, l...))
		}
	}
	return out
}

// airyList reports whether the items of n stand apart: one of them has more
// than a paragraph and a list below it.
func airyList(n *ast.List) bool {
	if n.IsTight {
		return false
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		blocks := 0
		for b := c.FirstChild(); b != nil; b = b.NextSibling() {
			if _, sub := b.(*ast.List); !sub {
				blocks++
			}
		}
		if blocks > 1 {
			return true
		}
	}
	return false
}

// taskOf returns the box that a list item begins with.
func taskOf(item ast.Node) *east.TaskCheckBox {
	if p := item.FirstChild(); p != nil {
		box, _ := p.FirstChild().(*east.TaskCheckBox)
		return box
	}
	return nil
}

func (w *walker) paragraph(n ast.Node, st Style, o Options) []Line {
	in := inliner{w: w, st: st, o: o}
	in.children(n)
	return WrapAll(in.done(), o.width())
}

func (w *walker) table(n *east.Table, o Options) []Line {
	g := grid{}
	for _, a := range n.Alignments {
		g.right = append(g.right, a == east.AlignRight)
		g.center = append(g.center, a == east.AlignCenter)
	}
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		_, head := r.(*east.TableHeader)
		st := Style{}
		if head {
			st.Attr = Bold
		}
		var row []Line
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			in := inliner{w: w, st: st, o: o, cell: true}
			in.children(c)
			var cell Line
			for i, l := range in.done() {
				if i > 0 {
					cell = append(cell, Span{Text: " "})
				}
				cell = append(cell, l...)
			}
			row = append(row, cell)
		}
		if head {
			g.head = row
		} else {
			g.rows = append(g.rows, row)
		}
	}
	return g.draw(o)
}

// An inliner draws what stands inside a paragraph.
type inliner struct {
	w     *walker
	o     Options
	st    Style
	link  string
	out   []Line
	line  Line
	depth int
	cell  bool // of a table, where a backslash in code is no part of it before a bar
}

func (in *inliner) done() []Line {
	if len(in.line) > 0 || len(in.out) == 0 {
		in.out = append(in.out, in.line)
	}
	in.line = nil
	return in.out
}

func (in *inliner) put(s string) { in.styled(s, in.st) }

func (in *inliner) styled(s string, st Style) {
	if s = filter(tabs(s, 0, codeTab)); s == "" {
		return
	}
	if n := len(in.line); n > 0 && in.line[n-1].Style == st && in.line[n-1].Link == in.link {
		in.line[n-1].Text += s
		return
	}
	in.line = append(in.line, Span{Text: s, Style: st, Link: in.link})
}

func (in *inliner) children(n ast.Node) {
	if in.depth > 4*deepest {
		return
	}
	in.depth++
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		in.node(c)
	}
	in.depth--
}

// with draws the children of n in another style.
func (in *inliner) with(n ast.Node, st Style) {
	was := in.st
	in.st = st
	in.children(n)
	in.st = was
}

func (in *inliner) node(n ast.Node) {
	st := in.st
	switch n := n.(type) {
	case *ast.Text:
		text := unescaped(n, in.w.src)
		if in.cell && n.IsRaw() {
			text = strings.ReplaceAll(text, `\|`, "|")
		}
		in.put(text)
		switch {
		case n.HardLineBreak():
			in.out = append(in.out, in.line)
			in.line = nil
		case n.SoftLineBreak():
			in.put(" ")
		}
	case *ast.String:
		in.put(string(n.Value))
	case *ast.CodeSpan:
		st.Role = Code
		in.with(n, st)
	case *ast.Emphasis:
		if st.Attr |= Italic; n.Level > 1 {
			st.Attr = in.st.Attr | Bold
		}
		in.with(n, st)
	case *east.Strikethrough:
		st.Attr |= Strike
		in.with(n, st)
	case *ast.Link:
		in.address(string(n.Destination), func() { in.children(n) })
	case *ast.AutoLink:
		url, label := string(n.URL(in.w.src)), string(n.Label(in.w.src))
		if n.AutoLinkType == ast.AutoLinkEmail {
			url = "mailto:" + url
		}
		in.address(url, func() { in.put(label) })
	case *ast.Image:
		in.styled(in.o.glyph(Picture)+" ", Style{Role: Quiet})
		in.address(string(n.Destination), func() { in.children(n) })
	case *ast.RawHTML:
		in.html(n)
	case *east.TaskCheckBox: // drawn as the mark of its item
	default:
		in.children(n)
	}
}

// address draws what leads to url. Where it does not say so itself, and the
// terminal cannot, url stands behind it.
func (in *inliner) address(url string, label func()) {
	was, link, start := in.st, in.link, len(in.line)
	in.st.Role = Link
	in.link = String(url)
	before := in.line.bytesLen()
	label()
	in.st, in.link = was, link
	said := ""
	if start <= len(in.line) {
		if all := in.line.String(); before <= len(all) {
			said = all[before:]
		}
	}
	url = String(url)
	if said == url || "mailto:"+said == url || "http://"+said == url || strings.TrimSuffix(url, "/") == said {
		return
	}
	claims := strings.Contains(said, "://") || strings.HasPrefix(said, "www.")
	if (!in.o.Links || claims) && url != "" && !strings.HasPrefix(url, "#") {
		in.styled(" ("+url+")", Style{Role: Quiet})
	}
}

func (l Line) bytesLen() int {
	n := 0
	for _, s := range l {
		n += len(s.Text)
	}
	return n
}

func (in *inliner) html(n *ast.RawHTML) {
	var b strings.Builder
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		b.Write(seg.Value(in.w.src))
	}
	tag := b.String()
	if strings.HasPrefix(strings.ToLower(tag), "<br") {
		in.out = append(in.out, in.line)
		in.line = nil
		return
	}
	in.styled(strings.ReplaceAll(tag, "\n", " "), Style{Role: Quiet})
}
