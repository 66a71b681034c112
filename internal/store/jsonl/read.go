package jsonl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/store"
	"github.com/adze-agent/adze/internal/store/seal"
)

// The newest events stay in memory, so that readers who follow a session
// read no file.
const recentEvents, recentBytes = 512, 2 << 20

// A kept event and the bytes of its line.
type kept struct {
	event.Event
	size int
}

// remember adds an event to the recent ones.
func (l *Log) remember(e event.Event, size int) {
	l.recent = append(l.recent, kept{e, size})
	l.bytes += size
	if len(l.recent) <= recentEvents && l.bytes <= recentBytes {
		return
	}
	i := 0
	for ; i < len(l.recent)-1 && (i < recentEvents/2 || l.bytes > recentBytes/2); i++ {
		l.bytes -= l.recent[i].size
	}
	l.recent = slices.Clone(l.recent[i:])
}

// After implements store.Log.
func (l *Log) After(ctx context.Context, seq event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			es, end, rest := l.since(seq)
			for _, e := range es {
				if err := ctx.Err(); err != nil {
					yield(event.Event{}, err)
					return
				}
				if !yield(e, nil) {
					return
				}
				seq = e.Seq
			}
			if es != nil {
				continue
			}
			from := seq
			for e, err := range l.scan.after(ctx, seq, end, rest) {
				if !yield(e, err) || err != nil {
					return
				}
				seq = e.Seq
			}
			if seq == from {
				return
			}
		}
	}
}

// since returns the events above seq when memory has them all; else up to
// where the file is good and a copy of the lines that follow.
func (l *Log) since(seq event.Seq) (es []event.Event, end int64, rest []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.recent); n > 0 {
		if seq >= l.recent[n-1].Seq {
			return nil, 0, nil
		}
		if seq+1 >= l.recent[0].Seq {
			i := sort.Search(n, func(i int) bool { return l.recent[i].Seq > seq })
			for _, k := range l.recent[i:] {
				es = append(es, k.Event)
			}
			return es, 0, nil
		}
	}
	wrote := l.wrote
	if l.unsure {
		wrote = 0
	}
	return nil, l.synced + int64(wrote), bytes.Clone(l.tail[wrote:])
}

// A Reader reads a session's log that another process may be writing.
type Reader struct{ scan scanner }

var _ store.Log = (*Reader)(nil)

// OpenReader opens a session's log for reading. It takes no lease and changes
// nothing.
func OpenReader(opt Options) (*Reader, error) {
	r := &Reader{scan: scanner{opt: opt.withDefaults()}}
	f, err := r.scan.open()
	if err != nil {
		return nil, err
	}
	return r, f.Close()
}

// Append refuses.
func (r *Reader) Append(context.Context, event.Event) error { return store.ErrReadOnly }

// After implements store.Log. A last line that is still being written is left
// for the next time.
func (r *Reader) After(ctx context.Context, seq event.Seq) iter.Seq2[event.Event, error] {
	return r.scan.after(ctx, seq, -1, nil)
}

// Follow is After, and goes on when the log grows, until ctx ends.
func (r *Reader) Follow(ctx context.Context, seq event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			for e, err := range r.After(ctx, seq) {
				if !yield(e, err) || err != nil {
					return
				}
				seq = e.Seq
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(pollEvery): // works on every file system, unlike notices of change
			}
		}
	}
}

// pollEvery is how soon a follower sees what another process wrote.
const pollEvery = 200 * time.Millisecond

// Report says what was wrong with the file as far as it was read.
func (r *Reader) Report() store.Report { return r.scan.report() }

// Close does nothing.
func (r *Reader) Close() error { return nil }

// scanner reads the file of a log. It remembers where it found what, so that
// a reader who comes back does not start from the beginning.
type scanner struct {
	opt Options

	mu       sync.Mutex // guards the fields below
	marks    []mark     // in order of both fields
	front    mark       // how far anyone has read
	base     int64      // where the log ended when it was opened for writing
	lines    int        // of the file up to base
	counted  bool       // lines is known
	bad      []int
	repeated int
	foreign  int
	sealed   bool
}

// A mark says that the events above seq start at off, after so many lines,
// the last of which has this seal.
type mark struct {
	seq   event.Seq
	off   int64
	lines int
	seal  seal.Mark
}

// markEvery is the distance of marks in bytes.
const markEvery = 1 << 20

func (s *scanner) open() (file interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}, err error) {
	dir, err := s.opt.Disk(s.opt.Dir, false)
	if err != nil {
		return nil, err
	}
	f, err := dir.OpenFile(LogName, os.O_RDONLY, 0)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	if err := dir.Close(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (s *scanner) report() store.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return store.Report{Bad: slices.Clone(s.bad), Repeated: s.repeated, Foreign: s.foreign, Sealed: s.sealed}
}

func (s *scanner) newest() event.Seq {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.front.seq
}

// opened notes where the log ended when it was opened for writing.
func (s *scanner) opened(end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base, s.lines, s.counted = end, 0, end == 0
}

// linesAtOpen is how many lines the log had when it was opened for writing,
// known as soon as all of it was read.
func (s *scanner) linesAtOpen() (n int, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines, s.counted
}

// fresh reports whether the log had nothing when it was opened for writing.
func (s *scanner) fresh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base == 0
}

// goOn takes over what an earlier process read up to a mark.
func (s *scanner) goOn(m mark, r store.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.front.off > m.off {
		return // it was read here, too
	}
	s.front, s.marks = m, append(s.marks, m)
	s.bad, s.repeated, s.foreign, s.sealed = r.Bad, r.Repeated, r.Foreign, r.Sealed
	if m.off == s.base {
		s.lines, s.counted = m.lines, true
	}
}

// start finds the mark from which the events above seq are read. Where marks
// are far apart, because a snapshot spared reading what is between them, it
// looks into the file.
func (s *scanner) start(f io.ReaderAt, seq event.Seq, size int64) mark {
	from, to := s.around(seq, size)
	if seq == 0 || to-from.off <= 2*markEvery {
		return from
	}
	return mark{off: search(f, seq, from.off, to)} // nothing there is unread, so that nothing is counted
}

// around are the marks between which the events above seq start; the end of
// what is known is of no use to a search.
func (s *scanner) around(seq event.Seq, size int64) (from mark, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.front.seq <= seq && s.front.off <= size {
		return s.front, s.front.off
	}
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].seq > seq || s.marks[i].off > size })
	if i > 0 {
		from = s.marks[i-1]
	}
	if i == len(s.marks) {
		return from, from.off
	}
	return from, s.marks[i].off
}

// search finds a line between two others so that no event before it is above
// seq, and not many between them are below: numbers only rise in a log.
func search(f io.ReaderAt, seq event.Seq, from, to int64) int64 {
	for to-from > 64<<10 {
		at, n, ok := lineIn(f, from+(to-from)/2, to)
		switch {
		case !ok:
			to = from + (to-from)/2
		case n > seq:
			to = min(at, from+(to-from)/2)
		default:
			from = at
		}
	}
	return from
}

// lineIn finds the first event that begins behind off and before end.
func lineIn(f io.ReaderAt, off, end int64) (at int64, seq event.Seq, ok bool) {
	first := true
	for line, err := range event.Lines(io.NewSectionReader(f, off, end-off), off) {
		if err != nil {
			break
		}
		if seq, _, _, err := event.Head(line.Bytes); err == nil && !first {
			return line.Off, seq, true
		}
		first = false // it began somewhere before
	}
	return at, seq, false
}

// pass notes that everything up to m.off was read.
func (s *scanner) pass(m mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.off <= s.front.off {
		return
	}
	s.front = m
	if m.off == s.base {
		s.lines, s.counted = m.lines, true
	}
	if n := len(s.marks); n == 0 || m.off-s.marks[n-1].off >= markEvery {
		s.marks = append(s.marks, s.front)
	}
}

// wrong notes a line that is no event, or one whose seq came before.
func (s *scanner) wrong(l event.Line, repeated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case l.Off < s.front.off: // noted before
	case repeated:
		s.repeated++
	case len(s.bad) < 1000:
		s.bad = append(s.bad, l.Number)
	}
}

// A sealReader takes the seals off lines and, where nobody has yet, checks
// them.
type sealReader struct {
	s    *scanner
	seal *seal.Sealer
	prev seal.Mark
}

// open returns the line without its seal.
func (r *sealReader) open(l event.Line) []byte {
	body, m := seal.Split(l.Bytes)
	prev := r.prev
	r.prev = m
	if r.s.opt.Key == nil || !r.s.unread(l.Off) {
		return body
	}
	if r.seal == nil {
		r.seal = seal.New(r.s.opt.Key)
	}
	r.s.sealing(l.Off, r.seal.Check(prev, body, m))
	return body
}

// unread reports whether what stands at off was not read before.
func (s *scanner) unread(off int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return off >= s.front.off
}

// sealing counts a line that was checked, once.
func (s *scanner) sealing(off int64, good bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case off < s.front.off: // another reader was quicker
	case good:
		s.sealed = s.sealed || off == 0
	default:
		s.foreign++
	}
}

// after yields the events above seq that stand before end in the file (-1:
// before its end), then those of rest.
func (s *scanner) after(ctx context.Context, seq event.Seq, end int64, rest []byte) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, part := range []func() iter.Seq2[event.Event, error]{
			func() iter.Seq2[event.Event, error] { return s.inFile(ctx, seq, end) },
			func() iter.Seq2[event.Event, error] { return s.inMemory(rest, seq) },
		} {
			for e, err := range part() {
				if !yield(e, err) || err != nil {
					return
				}
				seq = e.Seq
			}
		}
	}
}

func (s *scanner) inMemory(rest []byte, seq event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for line := range bytes.Lines(rest) {
			line, _ = seal.Split(bytes.TrimSuffix(line, []byte("\n")))
			if e, err := s.parseLine(line); err == nil && e.Seq > seq && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *scanner) inFile(ctx context.Context, seq event.Seq, end int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if end == 0 {
			return
		}
		f, err := s.open()
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer f.Close()
		if end < 0 {
			info, err := f.Stat()
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			end = info.Size()
		}
		from := s.start(f, seq, end)
		high := from.seq // of everything read so far
		seals := sealReader{s: s, prev: from.seal}
		for line, err := range event.Lines(io.NewSectionReader(f, from.off, end-from.off), from.off) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if line.Torn {
				return
			}
			line.Number += from.lines
			line.Bytes = seals.open(line)
			e, ok := s.parse(line, seq, high)
			if ok {
				high = e.Seq
			}
			s.pass(mark{high, line.Off + line.Len, line.Number, seals.prev})
			if ok && e.Seq > seq && !yield(e, nil) {
				return
			}
		}
	}
}

// parse reads one line; ok is false when it says nothing new. Of lines that
// the caller has seen only the head is read.
func (s *scanner) parse(line event.Line, seq, high event.Seq) (event.Event, bool) {
	if n, _, _, err := event.Head(line.Bytes); err == nil && n <= seq && n > high {
		return event.Event{Seq: n}, true
	}
	e, err := s.parseLine(line.Bytes)
	if err != nil {
		s.wrong(line, false)
		return e, false
	}
	if e.Seq <= high {
		s.wrong(line, true)
		return e, false
	}
	return e, true
}
