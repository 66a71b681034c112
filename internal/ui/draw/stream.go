package draw

import (
	"bytes"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Stream draws Markdown that arrives in pieces. What is settled never
// changes again, so that it can be printed for good: all blocks but the last,
// and of that one the lines of code and the items of a list that are whole. Only
// the open tail is drawn anew. What it draws in the end is what Markdown draws,
// but that a link finds only definitions that came before it, and that the items
// of a list stand as they did when they came: the tenth does not move the first nine.
// It is not safe for use by several goroutines.
type Stream struct {
	o     Options
	text  []byte // from the first block that is not settled
	pos   int    // of the first line of text that was not looked at
	open  opened
	refs  []byte
	any   bool   // something settled
	cr    bool   // a carriage return ended the last piece, and waits for the next
	ready []Line // settled and not taken

	item    int    // where the last item of an open list begins, in text
	early   []Line // rows of the open block that were taken already, as they would be drawn now
	earlyAt int    // the bytes of text that they are of

	tail      []Line // of text as it was when it had tailLen bytes
	tailLen   int
	tailLines int
}

// opened is what the splitter knows about the last top-level block.
type opened struct {
	kind  blockKind
	blank bool // an empty line came after it
	fence fenceMark
}

type blockKind uint8

const (
	noBlock blockKind = iota
	paragraphs
	listBlock
	indented
	fenced // a fence that is open
)

// A fenceMark is the line that opened a fence.
type fenceMark struct {
	char   byte
	n      int
	inList bool
	was    blockKind
}

// NewStream returns a Stream that draws with o. o.MaxLines does not count.
func NewStream(o Options) *Stream {
	o.MaxLines = 0
	return &Stream{o: o}
}

// Resize draws what is not settled with o from now on.
func (s *Stream) Resize(o Options) {
	o.MaxLines = 0
	s.o, s.tail = o, nil
	if s.earlyAt > 0 {
		s.early = s.block(s.earlyAt)
	}
}

// maxRefs bounds the link definitions that are kept, in bytes.
const maxRefs = 16 << 10

// Write appends a piece of the text. Blocks that it ends are drawn, once.
func (s *Stream) Write(piece string) {
	if s.cr {
		piece = "\r" + piece
	}
	if s.cr = strings.HasSuffix(piece, "\r"); s.cr { // a line feed may follow, and both are one end of a line
		piece = piece[:len(piece)-1]
	}
	s.text = append(s.text, clip.Prose(piece)...)
	for {
		i := bytes.IndexByte(s.text[s.pos:], '\n')
		if i < 0 {
			return
		}
		end := s.pos + i + 1
		line := strings.TrimRight(string(s.text[s.pos:end]), "\r\n")
		before, after := s.open.step(line)
		start := s.pos
		s.pos = end
		if before {
			s.drawFirst(start)
			start = 0
		}
		if in, rest := indentOf(line); s.open.kind == listBlock && in < 2 && listItem(rest) {
			s.item = start
		}
		if after {
			s.drawFirst(s.pos)
		}
	}
}

// drawFirst draws the first n bytes of the text for good.
func (s *Stream) drawFirst(n int) {
	if part := clip.Clean(string(s.text[:n])); strings.TrimSpace(part) != "" {
		s.settle(s.after(markdown(part, string(s.refs), s.o), n))
		for _, m := range definition().FindAllString(part, -1) {
			if len(m) < 1000 && len(s.refs)+len(m) < maxRefs && len(markdown(m, "", s.o)) == 0 { // one that is drawn is none
				s.refs = append(append(s.refs, m...), '\n')
			}
		}
	}
	s.text = append([]byte(nil), s.text[n:]...)
	s.pos -= n
	s.tail, s.early, s.earlyAt, s.item = nil, nil, 0, 0
}

func (s *Stream) settle(lines []Line) {
	if len(lines) == 0 {
		return
	}
	if s.any && s.earlyAt == 0 {
		s.ready = append(s.ready, nil)
	}
	s.ready = append(s.ready, lines...)
	s.any = true
}

// block draws the first n bytes of the text.
func (s *Stream) block(n int) []Line {
	return markdown(clip.Clean(string(s.text[:n])), string(s.refs), s.o)
}

// after returns what of lines, which are the first n bytes of the text, was not
// taken yet. Where the block as it is now does not begin with what was taken (a
// list got an item 10, and its numbers another width), the rest of it is drawn
// for itself.
func (s *Stream) after(lines []Line, n int) []Line {
	if len(s.early) <= len(lines) && TextOf(lines[:len(s.early)]) == TextOf(s.early) {
		return lines[len(s.early):]
	}
	return markdown(clip.Clean(string(s.text[s.earlyAt:n])), string(s.refs), s.o)
}

// ahead settles of an open block what cannot change: the lines of a fence, the
// items of a list.
func (s *Stream) ahead() {
	end := 0
	switch s.open.kind {
	case fenced:
		if !s.open.fence.inList && len(s.text) <= longFence {
			end = s.pos
		}
	case listBlock:
		end = s.item
	case noBlock, paragraphs, indented:
	}
	if end <= s.earlyAt {
		return
	}
	lines := s.block(end)
	if len(s.early) > len(lines) || TextOf(lines[:len(s.early)]) != TextOf(s.early) {
		return // as a whole, then
	}
	if strings.TrimSpace(TextOf(lines)) == "" { // a fence without a line of code is drawn as an empty one
		return
	}
	s.settle(lines[len(s.early):])
	s.early, s.earlyAt, s.tail = lines, end, nil
}

// definition is a link definition on a line of its own.
var definition = pattern.Lazy(`(?m)^ {0,3}\[[^\]\n]+\]:[ \t]*\S+[^\n]*$`)

// Take returns the lines that settled since the last Take.
func (s *Stream) Take() []Line {
	s.ahead()
	out := s.ready
	s.ready = nil
	return out
}

// Tail returns the last max lines of what is not settled (0: all).
func (s *Stream) Tail(max int) []Line {
	if s.tail == nil || s.tailLen != len(s.text) || s.tailLines != max {
		s.tail, s.tailLen, s.tailLines = s.drawTail(max), len(s.text), max
	}
	return s.tail
}

// longFence is how much of an open fence is drawn as a whole. Of a longer one
// only the last lines are drawn, and not in colours, until it closes.
const longFence = 16 << 10

func (s *Stream) drawTail(max int) []Line {
	var out []Line
	if s.open.kind == fenced && !s.open.fence.inList && max > 0 && len(s.text) > longFence {
		src := s.text
		from := len(src)
		for range max + 1 {
			if i := bytes.LastIndexByte(src[:from], '\n'); i >= 0 && from > 0 {
				from = i
			}
		}
		o := s.o
		o.Plain = true
		out = fence(string(src[from+1:]), "", o)
	} else {
		out = s.after(s.block(len(s.text)), len(s.text))
		if s.any && s.earlyAt == 0 && len(out) > 0 {
			out = append([]Line{nil}, out...)
		}
	}
	if max > 0 && len(out) > max {
		out = out[len(out)-max:]
	}
	return out
}

// Finish settles everything and returns the lines that were not taken.
func (s *Stream) Finish() []Line {
	s.pos = len(s.text)
	s.drawFirst(len(s.text))
	s.open, s.cr = opened{}, false
	return s.Take()
}

// step looks at the next line, and reports whether a top-level block ends
// before it, and whether one ends with it. It says so only when that is
// certain: a block that stays open is drawn again, no more.
func (p *opened) step(line string) (before, after bool) {
	in, rest := indentOf(line)
	if p.kind == fenced {
		if in < 4 || p.fence.inList {
			if closes(rest, p.fence) {
				p.kind = p.fence.was
				if !p.fence.inList {
					*p = opened{}
					return false, true
				}
			}
		}
		return false, false
	}
	if rest == "" {
		p.blank = true
		return false, false
	}
	within := p.kind == listBlock && (in >= 2 || listItem(rest)) || p.kind == indented && in >= 4
	if !within && p.blank && p.kind != noBlock {
		before = true
		*p = opened{}
	}
	p.blank = false
	if f, ok := opensFence(rest); ok && in < 4 || ok && p.kind == listBlock {
		f.inList = p.kind == listBlock && in >= 2 || p.kind == paragraphs
		f.was = p.kind
		if p.kind == listBlock && !f.inList {
			before = true
		}
		p.kind, p.fence = fenced, f
		return before, false
	}
	if in < 2 && heading(rest) && p.kind != paragraphs {
		before = before || p.kind != noBlock
		*p = opened{}
		return before, true
	}
	if p.kind == noBlock {
		switch {
		case in >= 4:
			p.kind = indented
		case listItem(rest):
			p.kind = listBlock
		default:
			p.kind = paragraphs
		}
	}
	return before, false
}

func indentOf(line string) (int, string) {
	n := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n, strings.TrimRight(line[i:], " \t")
		}
	}
	return n, ""
}

func listItem(s string) bool {
	if len(s) > 0 && strings.IndexByte("-*+", s[0]) >= 0 {
		return len(s) == 1 || s[1] == ' ' || s[1] == '\t'
	}
	i := 0
	for i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i > 0 && i < len(s) && (s[i] == '.' || s[i] == ')') && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t')
}

func heading(s string) bool {
	n := len(s) - len(strings.TrimLeft(s, "#"))
	return n > 0 && n < 7 && (n == len(s) || s[n] == ' ' || s[n] == '\t')
}

func opensFence(s string) (fenceMark, bool) {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return fenceMark{}, false
	}
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n < 3 || s[0] == '`' && strings.IndexByte(s[n:], '`') >= 0 {
		return fenceMark{}, false
	}
	return fenceMark{char: s[0], n: n}, true
}

func closes(s string, f fenceMark) bool {
	n := 0
	for n < len(s) && s[n] == f.char {
		n++
	}
	return n >= f.n && strings.TrimSpace(s[n:]) == ""
}
