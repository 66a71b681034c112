package history

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"time"
)

// A Past is the history as one reader goes back through it: what this process added,
// then what others did, each newest first. It
// opens the file when it is asked first, reads only as far as it is asked, and
// then knows what this process adds; what others add later it sees with Renew.
type Past struct {
	file    *File
	project string // "" for all

	mu      sync.Mutex // guards what follows
	started bool
	src     *os.File
	end     int64    // the bytes of src that were there when it was opened, or renewed
	left    int64    // bytes before that are not read
	tail    []byte   // the beginning of a line that is not whole
	ready   [][]byte // whole lines, the newest last
	entries []Entry
	mine    int             // how many of them, the first ones, this process added
	seen    map[string]bool // texts, so that each is shown once
	err     error
}

// Past goes through the entries of a project, or of all projects (""), each text
// once. Close ends it.
func (f *File) Past(project string) *Past {
	return &Past{file: f, project: project, seen: map[string]bool{}}
}

// Entry is the i-th entry from the end, which is 0. False means that there are
// no more, or that the rest cannot be read (Err).
func (p *Past) Entry(i int) (Entry, bool) {
	p.start()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i >= len(p.entries) && p.more() {
	}
	if i < 0 || i >= len(p.entries) {
		return Entry{}, false
	}
	return p.entries[i], true
}

// Err is why entries are missing, if they are.
func (p *Past) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Close gives the file free.
func (p *Past) Close() {
	p.file.mu.Lock()
	p.file.seen = slices.DeleteFunc(p.file.seen, func(o *Past) bool { return o == p })
	p.file.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.src != nil {
		_ = p.src.Close() // it was only read
		p.src = nil
	}
}

// start opens the file and listens to what is added from here on.
func (p *Past) start() {
	p.file.mu.Lock()
	defer p.file.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started {
		return
	}
	p.started = true
	p.file.seen = append(p.file.seen, p)
	p.begin()
}

// begin opens the file. It is called with both locks held.
func (p *Past) begin() {
	p.src, p.end, p.err = p.file.open()
	p.left = p.end
	for _, e := range slices.Backward(p.file.mine) {
		if p.add(e) {
			p.mine++
		}
	}
}

// Renew takes in what other processes have added. What Entry counts from is another
// entry then.
func (p *Past) Renew() {
	p.file.mu.Lock()
	defer p.file.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started {
		return
	}
	now, err := os.Lstat(p.file.path)
	if err != nil || !now.Mode().IsRegular() {
		return // what was read stays
	}
	if p.src != nil {
		was, err := p.src.Stat()
		if err == nil && os.SameFile(was, now) && now.Size() >= p.end {
			p.grown(now.Size())
			return
		}
		_ = p.src.Close() // it was only read
	}
	// It is another file: the older half went, or somebody removed it.
	p.tail, p.ready, p.entries, p.mine, p.seen = nil, nil, nil, 0, map[string]bool{}
	p.begin()
}

// grown reads the lines that were appended up to a size.
func (p *Past) grown(size int64) {
	buf := make([]byte, size-p.end)
	if len(buf) == 0 {
		return
	}
	if _, err := p.src.ReadAt(buf, p.end); err != nil {
		return // the next walk tries again
	}
	whole := bytes.LastIndexByte(buf, '\n') + 1
	p.end += int64(whole)
	for raw := range bytes.Lines(buf[:whole]) {
		if e, ok := decode(raw); ok && !slices.ContainsFunc(p.entries[:p.mine], func(o Entry) bool { return o.Text == e.Text }) {
			p.put(p.mine, e)
		}
	}
}

// push puts a new entry of this process first.
func (p *Past) push(e Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.project != "" && e.Project != p.project {
		return
	}
	if slices.ContainsFunc(p.entries[:p.mine], func(o Entry) bool { return o.Text == e.Text }) {
		p.mine--
	}
	p.put(0, e)
	p.mine++
}

// put inserts an entry, and takes the same text out of where it stood further back.
func (p *Past) put(at int, e Entry) {
	if p.project != "" && e.Project != p.project {
		return
	}
	if p.seen[e.Text] {
		p.entries = slices.DeleteFunc(p.entries, func(o Entry) bool { return o.Text == e.Text })
	}
	p.seen[e.Text] = true
	p.entries = slices.Insert(p.entries, at, e)
}

func (p *Past) add(e Entry) bool {
	if e.Text == "" || p.seen[e.Text] || p.project != "" && e.Project != p.project {
		return false
	}
	p.seen[e.Text] = true
	p.entries = append(p.entries, e)
	return true
}

// block is how much is read at a time.
const block = 64 << 10

// more reads until there is one more entry; false at the start of the file.
func (p *Past) more() bool {
	for {
		for n := len(p.ready); n > 0; n = len(p.ready) {
			raw := p.ready[n-1]
			p.ready = p.ready[:n-1]
			if e, ok := decode(raw); ok && p.add(e) {
				return true
			}
		}
		if p.src == nil || p.left == 0 {
			if p.tail == nil {
				return false
			}
			p.ready, p.tail = [][]byte{p.tail}, nil
			continue
		}
		if !p.read() {
			return false
		}
	}
}

// read takes the block before what is read.
func (p *Past) read() bool {
	n := min(p.left, block)
	buf := make([]byte, n, n+int64(len(p.tail)))
	if _, err := p.src.ReadAt(buf, p.left-n); err != nil {
		p.err, p.left, p.tail = err, 0, nil
		return false
	}
	p.left -= n
	buf = append(buf, p.tail...)
	p.tail = nil
	lines := bytes.Split(buf, []byte("\n"))
	if p.left > 0 {
		if p.tail = lines[0]; len(p.tail) > maxLine {
			p.tail = p.tail[:0:0] // what is left of such a line does not parse
		}
		lines = lines[1:]
	}
	p.ready = lines
	return true
}

// decode reads a line; one that is torn or foreign is passed over.
func decode(raw []byte) (Entry, bool) {
	var l entryLine
	if len(bytes.TrimSpace(raw)) == 0 || json.Unmarshal(raw, &l) != nil || l.Display == "" {
		return Entry{}, false
	}
	return Entry{l.Display, l.Pastes, l.Project, l.SessionID, time.UnixMilli(l.Timestamp)}, true
}
