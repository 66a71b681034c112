package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/charset"
)

// Bounds of a search, in bytes.
const (
	firstRead  = 128 << 10 // read before anything is known of a file
	maxWindow  = 16 << 20  // of a file looked at at once; larger ones are cut at a line end
	keepBuffer = 4 << 20   // a worker's buffer does not stay larger
	maxLine    = 4 << 10   // of a line kept for the result
	longLine   = 500       // of a line from which on the place of the match is noted
	binaryHead = 8 << 10   // a NUL byte in here makes a file binary
	pruneAbove = 4 << 20   // text kept before what cannot be shown is dropped
	maxKept    = 1 << 20   // text kept in the end
)

// A Query says what to look for and what to report.
type Query struct {
	Pattern   string // RE2 syntax
	Fold      bool   // ignore case
	Multiline bool   // a match may span lines, and . matches a newline
	Globs     string // names to choose, as in newFilter
	Type      string // a ripgrep type name
	// Names only asks for the files that match; Counts adds how many lines do.
	Names, Counts bool
	Before, After int // lines of context
	// First and Max choose lines (of all files, in order) whose text is kept;
	// Max 0 keeps as many as fit into a bound. Groups of context count as their
	// matching lines.
	First, Max int
}

// A File is a file with matches.
type File struct {
	Rel   string // below the root, slash-separated; the root's own name if it is a file
	Count int    // matching lines
	Lines []Line // not all of them when there are more than were asked for
}

// A Line is a matching line or, with Context, one beside it.
type Line struct {
	Number  int // from 1
	Text    string
	Context bool
	// Match is where the match begins in Text, in bytes; for lines that are too
	// long to show whole (from 500 bytes on), else 0.
	Match int
}

// Grep looks for a pattern in the files of a tree; files are in the order of
// their paths.
func Grep(ctx context.Context, t Tree, q Query) ([]File, Report, error) {
	m, err := compile(q.Pattern, q.Fold, q.Multiline)
	if err != nil {
		return nil, Report{}, err
	}
	f, err := newFilter(q.Globs, q.Type)
	if err != nil {
		return nil, Report{}, err
	}
	g := &grepping{q: q, m: m}
	k := &walk{tree: t, want: f.match}
	if len(f.keep) == 0 && len(f.drop) == 0 && len(f.types) == 0 {
		k.want = func(string, string) bool { return true }
	}
	if fi, err := os.Lstat(t.Root); err == nil && fi.Mode().IsRegular() {
		k.only = filepath.Base(t.Root)
		k.tree.Root = filepath.Dir(t.Root)
	} else if err != nil {
		return nil, Report{}, rootError(t.Root, err)
	} else if !fi.IsDir() {
		return nil, Report{}, fmt.Errorf("%s is neither a folder nor a regular file", t.Root)
	}
	report, err := k.run(ctx, g.look)
	slices.SortFunc(g.files, byPath)
	g.prune(true)
	return g.files, report, err
}

func byPath(a, b File) int { return strings.Compare(a.Rel, b.Rel) }

type grepping struct {
	q Query
	m *matcher

	mu    sync.Mutex // guards files and kept
	files []File
	kept  int // bytes of text in files
}

// look searches one file.
func (g *grepping) look(w *worker, d folder, rel, name string) error {
	src, err := d.file(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || isLoop(err) {
			return nil
		}
		return err
	}
	defer src.close()
	if w.find == nil {
		w.find = newFinder(g.m)
	}
	s := scan{g: g, w: w, out: File{Rel: rel}, line: 1}
	err = s.run(src)
	if s.out.Count > 0 {
		g.add(s.out, s.size)
	}
	return err
}

func (g *grepping) add(f File, size int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.files = append(g.files, f)
	if g.kept += size; g.kept > pruneAbove+2*g.q.First*maxLine {
		slices.SortFunc(g.files, byPath)
		g.prune(false)
	}
}

// prune drops the text of lines that cannot be among those asked for: files
// that are found later can only push lines further back. At the end, what is
// before the first goes, too.
func (g *grepping) prune(end bool) {
	before, kept, limit := 0, 0, maxKept
	if !end {
		limit += g.q.First * maxLine
	}
	for i := range g.files {
		f := &g.files[i]
		switch {
		case end && before+f.Count <= g.q.First, g.q.Max > 0 && before >= g.q.First+g.q.Max, kept > limit:
			f.Lines = nil
		}
		for _, l := range f.Lines {
			kept += len(l.Text)
		}
		before += f.Count
	}
	g.kept = kept
}

// A scan is the search of one file.
type scan struct {
	g    *grepping
	w    *worker
	out  File
	line int // number of the first line in the buffer
	size int // bytes of text kept
	last int // number of the last line kept
	at   int // where the text behind it is in the buffer
	owed int // lines of context that are due there
}

// run reads a file window by window and searches whole lines.
func (s *scan) run(src source) error {
	if s.w.buf == nil {
		s.w.buf = make([]byte, firstRead)
	}
	have, checked, first := 0, false, true
	defer func() {
		if len(s.w.buf) > keepBuffer {
			s.w.buf = nil
		}
	}()
	for {
		n, eof, err := s.fill(src, have)
		if err != nil {
			return err
		}
		from := have
		have += n
		if !checked {
			checked = true
			if isUTF16(s.w.buf[:have]) {
				return s.utf16(src, have)
			}
			if bytes.HasPrefix(s.w.buf[:have], bom8) {
				have = copy(s.w.buf, s.w.buf[len(bom8):have])
				from = have
			}
			if bytes.IndexByte(s.w.buf[:min(have, binaryHead)], 0) >= 0 {
				return nil
			}
		}
		if !eof && have < maxWindow {
			// The rest is needed too; but a NUL byte ends a file here.
			if i := bytes.IndexByte(s.w.buf[from:have], 0); i >= 0 {
				have, eof = from+i, true
			} else {
				continue
			}
		}
		end := have
		if !eof {
			if i := bytes.LastIndexByte(s.w.buf[:have], '\n'); i >= 0 {
				end = i + 1
			}
		}
		if eof && first {
			s.whole(s.w.buf[:end])
			return nil
		}
		if stop := s.window(s.w.buf[:end], eof); stop || eof {
			return nil
		}
		first = false
		have = copy(s.w.buf, s.w.buf[end:have])
	}
}

var bom8 = []byte("\xef\xbb\xbf")

func isUTF16(b []byte) bool {
	return len(b) >= 2 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff)
}

// utf16 searches a file that starts with a UTF-16 byte order mark as UTF-8;
// what is behind the first window is left out.
func (s *scan) utf16(src source, have int) error {
	for have < maxWindow {
		n, eof, err := s.fill(src, have)
		if err != nil {
			return err
		}
		if have += n; eof {
			break
		}
	}
	text, _, _ := charset.UTF16(s.w.buf[:have&^1])
	s.window([]byte(text), true)
	return nil
}

// whole searches all of a file. One in another encoding is searched as the text that Read
// shows: where the pattern may be about more than ASCII, or a line that matches is no UTF-8.
func (s *scan) whole(b []byte) {
	fresh := *s
	if s.g.m.beyond {
		if text, name := charset.Decode(b); name != "" {
			b = []byte(text)
		}
	}
	s.window(b, true)
	if slices.ContainsFunc(s.out.Lines, func(l Line) bool { return !utf8.ValidString(l.Text) || strings.Contains(l.Text, "\x1b$") }) {
		if text, name := charset.Decode(b); name != "" {
			*s = fresh
			s.window([]byte(text), true)
		}
	}
}

// fill reads on until the buffer is full or the file ends. A full buffer is
// made larger, up to a window.
func (s *scan) fill(src source, have int) (n int, eof bool, err error) {
	if have == len(s.w.buf) && have < maxWindow {
		s.w.buf = append(s.w.buf, make([]byte, min(3*len(s.w.buf), maxWindow-have))...)
	}
	for have+n < len(s.w.buf) {
		m, err := src.read(s.w.buf[have+n:])
		if m == 0 || err != nil {
			return n, true, err
		}
		n += m
	}
	return n, false, nil
}

// window searches a buffer of whole lines; stop says that no more is wanted.
func (s *scan) window(b []byte, last bool) (stop bool) {
	nul := -1 // looked for only once something matched
	counted := 0
	s.at = 0
	s.w.find.reset()
	for at := 0; at < len(b); {
		from, to, ok := s.w.find.next(b, at)
		if !ok {
			break
		}
		if nul < 0 {
			if nul = bytes.IndexByte(b, 0); nul < 0 {
				nul = len(b)
			}
		}
		if to > nul {
			return true
		}
		if s.g.q.Names && !s.g.q.Counts {
			s.out.Count = 1
			return true
		}
		if !s.g.q.Counts {
			s.line += bytes.Count(b[counted:from], newline)
			counted = from
		}
		at = s.match(b, from, to)
	}
	if !s.g.q.Names && !s.g.q.Counts && s.owed > 0 {
		s.after(b, len(b))
	}
	if !last {
		s.line += bytes.Count(b[counted:], newline)
	}
	return nul >= 0 && nul < len(b)
}

var newline = []byte{'\n'}

// match records the lines b[from:to], a match, and returns where to go on.
func (s *scan) match(b []byte, from, to int) int {
	lines := 1
	if s.g.m.multi {
		lines += bytes.Count(b[from:max(from, to-1)], newline)
	}
	if s.g.q.Counts {
		s.out.Count += lines
		return to
	}
	if s.wanted() {
		s.after(b, from)
		s.before(b, from)
		n := s.line
		for p := from; p < to; n++ {
			e := lineEnd(b, p)
			s.keep(n, b[p:e], false)
			p = e
		}
		s.owed = s.g.q.After
		s.at = to
	} else if s.owed > 0 { // the context of the last match kept ends here
		s.after(b, from)
		s.owed = 0
	}
	s.out.Count += lines
	return to
}

// wanted reports whether text of further matches of this file can be asked
// for at all.
func (s *scan) wanted() bool {
	return s.size <= maxKept+s.g.q.First*maxLine && (s.g.q.Max == 0 || s.out.Count < s.g.q.First+s.g.q.Max)
}

// after keeps the context that is due before offset to.
func (s *scan) after(b []byte, to int) {
	for ; s.owed > 0 && s.at < to; s.owed-- {
		e := lineEnd(b, s.at)
		s.keep(s.last+1, b[s.at:e], true)
		s.at = e
	}
}

// before keeps the context before the match at from.
func (s *scan) before(b []byte, from int) {
	p, n := from, 0
	for n < s.g.q.Before && p > s.at {
		p = bytes.LastIndexByte(b[:p-1], '\n') + 1
		n++
	}
	for ; n > 0; n-- {
		e := lineEnd(b, p)
		s.keep(s.line-n, b[p:e], true)
		p = e
	}
}

// keep adds a line to the result, without its end and, when it is longer than a
// bound, the part with the match.
func (s *scan) keep(number int, b []byte, context bool) {
	b = bytes.TrimSuffix(bytes.TrimSuffix(b, newline), []byte{'\r'})
	at := 0
	if len(b) > longLine {
		if !context {
			at = s.g.m.place(b)
		}
		b, at = part(b, at)
	}
	s.last = number
	s.size += len(b)
	s.out.Lines = append(s.out.Lines, Line{number, string(b), context, at})
}

// Marks of what is left out of a line.
const (
	cutBefore = "[line cut] "
	cutBehind = " [line cut]"
)

// part is at most maxLine bytes of a line around the place at, and where that is
// in them.
func part(b []byte, at int) ([]byte, int) {
	if len(b) <= maxLine {
		return b, at
	}
	from := 0
	if at > maxLine/2 {
		from = min(at-maxLine/4, len(b)-maxLine)
	}
	to := from + maxLine
	for n := 0; from > 0 && n < utf8.UTFMax && !utf8.RuneStart(b[from]); n++ {
		from++
	}
	for n := 0; to < len(b) && n < utf8.UTFMax && !utf8.RuneStart(b[to]); n++ {
		to--
	}
	var out []byte
	if from > 0 {
		out = append(out, cutBefore...)
	}
	at += len(out) - from
	out = append(out, b[from:to]...)
	if to < len(b) {
		out = append(out, cutBehind...)
	}
	return out, at
}

// lineEnd is the offset behind the line that b[at] is in.
func lineEnd(b []byte, at int) int {
	if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(b)
}

// Check reports what is wrong with a query, without searching.
func Check(q Query) error {
	if _, err := compile(q.Pattern, q.Fold, q.Multiline); err != nil {
		return err
	}
	_, err := newFilter(q.Globs, q.Type)
	return err
}
