package draw

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// What GitHub's Markdown has beyond CommonMark. goldmark has the same in its package
// extension, which costs every start of adze 0.7 ms and 260 KB, as it compiles its
// expressions, among them those that count to 256, whether or not anything is drawn.

// newParser is a parser of Markdown with tables, task lists and struck text, and
// with addresses that stand there without brackets.
func newParser(addressed bool) parser.Parser {
	inline := append(parser.DefaultInlineParsers(), util.Prioritized(tasks{}, 0), util.Prioritized(struck{}, 500))
	if addressed {
		inline = append(inline, util.Prioritized(addresses{}, 999))
	}
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(inline...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(tables{}, 200))...),
	)
}

// struck finds text between one or two tildes.
type struck struct{}

func (struck) Trigger() []byte                                 { return []byte("~") }
func (struck) IsDelimiter(b byte) bool                         { return b == '~' }
func (struck) CanOpenCloser(open, shut *parser.Delimiter) bool { return open.Char == shut.Char }
func (struck) OnMatch(int) ast.Node                            { return east.NewStrikethrough() }

func (s struck) Parse(_ ast.Node, r gtext.Reader, pc parser.Context) ast.Node {
	line, at := r.PeekLine()
	before := r.PrecendingCharacter()
	d := parser.ScanDelimiter(line, before, 1, s)
	if d == nil || d.OriginalLength > 2 || before == '~' {
		return nil
	}
	d.Segment = at.WithStop(at.Start + d.OriginalLength)
	r.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}

// tasks finds the box that a list item begins with.
type tasks struct{}

func (tasks) Trigger() []byte { return []byte("[") }

func (tasks) Parse(parent ast.Node, r gtext.Reader, _ parser.Context) ast.Node {
	item, ok := parent.Parent().(*ast.ListItem)
	if !ok || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, _ := r.PeekLine()
	if len(line) < 3 || line[2] != ']' {
		return nil
	}
	done := line[1] == 'x' || line[1] == 'X'
	if !done && !util.IsSpace(line[1]) {
		return nil
	}
	rest := bytes.TrimLeft(line[3:], " \t\r\n\f")
	r.Advance(len(line) - len(rest))
	return east.NewTaskCheckBox(done)
}

// tables makes one of the lines of a paragraph from that on which a row of dashes
// stands below.
type tables struct{}

func (tables) Transform(p *ast.Paragraph, r gtext.Reader, _ parser.Context) {
	lines, src := p.Lines(), r.Source()
	for i := 1; i < lines.Len(); i++ {
		aligned := alignments(lines.At(i), src)
		if aligned == nil {
			continue
		}
		head := cellsOf(lines.At(i-1), src)
		if len(head) > len(aligned) {
			return
		}
		t := east.NewTable()
		t.Alignments = aligned
		t.AppendChild(t, east.NewTableHeader(rowOf(head, aligned)))
		for j := i + 1; j < lines.Len(); j++ {
			t.AppendChild(t, rowOf(cellsOf(lines.At(j), src), aligned))
		}
		parent := p.Parent()
		parent.InsertAfter(parent, p, t)
		if i == 1 {
			parent.RemoveChild(parent, p)
			return
		}
		lines.SetSliced(0, i-1)
		last := lines.At(i - 2) // its line end was one between two lines
		lines.Set(i-2, last.TrimRightSpace(src))
		return
	}
}

// alignments are those of a row of dashes and colons, nil where it is none.
func alignments(line gtext.Segment, src []byte) (out []east.Alignment) {
	if indent, _ := util.IndentWidth(line.Value(src), 0); indent > 3 {
		return nil
	}
	for _, c := range cellsOf(line, src) {
		text := c.Value(src)
		dashes := bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(":")), []byte(":"))
		if len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 {
			return nil
		}
		switch left, right := text[0] == ':', text[len(text)-1] == ':'; {
		case left && right:
			out = append(out, east.AlignCenter)
		case left:
			out = append(out, east.AlignLeft)
		case right:
			out = append(out, east.AlignRight)
		default:
			out = append(out, east.AlignNone)
		}
	}
	return out
}

// cellsOf splits a row at bars that no backslash stands before. The backslashes stay:
// in words they are like all others, and who draws code takes them out.
func cellsOf(line gtext.Segment, src []byte) (out []gtext.Segment) {
	line = line.TrimLeftSpace(src)
	line = line.TrimRightSpace(src)
	at, end := line.Start, line.Stop
	if at < end && src[at] == '|' {
		at++
	}
	from := at
	add := func(to int) {
		c := gtext.NewSegment(from, to)
		c = c.TrimLeftSpace(src)
		out = append(out, c.TrimRightSpace(src))
		from = to + 1
	}
	for ; at < end; at++ {
		if src[at] == '|' && (at == from || src[at-1] != '\\') {
			add(at)
		}
	}
	if from < end {
		add(end)
	}
	return out
}

// rowOf has as many cells as columns are aligned: more are left out, missing ones
// are empty.
func rowOf(cells []gtext.Segment, aligned []east.Alignment) *east.TableRow {
	row := east.NewTableRow(aligned)
	for i, a := range aligned {
		c := east.NewTableCell()
		c.Alignment = a
		if i < len(cells) && cells[i].Len() > 0 {
			c.Lines().Append(cells[i])
		}
		row.AppendChild(row, c)
	}
	return row
}
