package replay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"
)

// A Recorder is a transport that writes what passes through it to a cassette.
type Recorder struct {
	next  http.RoundTripper
	now   func() time.Time
	scrub *scrubber

	mu     sync.Mutex // guards the rest
	w      io.Writer
	n      int
	broken bool // writing to w failed
}

// A RecordConfig says what a recording must not hold.
type RecordConfig struct {
	Next    http.RoundTripper // where requests really go
	Secrets []string          // keys and tokens
	Home    string            // the home directory; it becomes "~"
	Now     func() time.Time  // nil: time.Now
}

// NewRecorder returns a recorder that writes to w. After an error of w, which w has to
// tell of, nothing more is written.
func NewRecorder(w io.Writer, c RecordConfig) (*Recorder, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	r := &Recorder{next: c.Next, now: c.Now, w: w, scrub: newScrubber(c.Secrets, c.Home)}
	if err := writeHeader(w, c.Now()); err != nil {
		return nil, fmt.Errorf("write cassette: %w", err)
	}
	return r, nil
}

// RoundTrip implements http.RoundTripper.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close()
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	r.mu.Lock()
	r.n++
	e := exchange{N: r.n, Request: summarize(req.URL.Path, body)}
	r.mu.Unlock()
	t := &tape{r: r, e: e, start: r.now(), ctx: req.Context()}
	resp, err := r.next.RoundTrip(req)
	if err != nil && req.Context().Err() != nil { // nobody knows what would have come
		t.finish("left")
		return nil, err
	}
	if err != nil {
		t.e.Failed = r.scrub.text(err.Error())
		t.finish("cut")
		return nil, err
	}
	t.e.Status, t.e.Headers = resp.StatusCode, keep(resp.Header)
	t.packed = resp.Header.Get("Content-Encoding") != ""
	t.body = resp.Body
	resp.Body = t
	return resp, nil
}

func (r *Recorder) write(e exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.broken { // what came behind a piece of a line could not be read
		r.broken = writeLine(r.w, e) != nil
	}
}

// A tape passes a body on and notes it event by event.
type tape struct {
	r      *Recorder
	e      exchange
	body   io.ReadCloser
	ctx    context.Context // of the request: who left, they or we
	start  time.Time
	buf    []byte
	packed bool
	once   sync.Once
}

// Read implements io.Reader.
func (t *tape) Read(p []byte) (int, error) {
	n, err := t.body.Read(p)
	if !t.packed {
		t.note(p[:n])
	}
	switch {
	case err == io.EOF:
		t.finish("eof")
	case err != nil && t.ctx.Err() != nil:
		t.finish("left")
	case err != nil:
		t.finish("cut")
	}
	return n, err
}

// Close implements io.Closer.
func (t *tape) Close() error {
	t.finish("left")
	return t.body.Close()
}

func (t *tape) note(p []byte) {
	t.buf = append(t.buf, p...)
	for {
		n := eventEnd(t.buf)
		if n == 0 {
			return
		}
		t.chunk(t.buf[:n])
		t.buf = t.buf[n:]
	}
}

// eventEnd is where the first event ends with its blank line, 0 when it has
// not ended.
func eventEnd(b []byte) int {
	for _, blank := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		if i := bytes.Index(b, []byte(blank)); i >= 0 {
			return i + len(blank)
		}
	}
	return 0
}

func (t *tape) chunk(data []byte) {
	t.e.Chunks = append(t.e.Chunks, chunk{MS: t.r.now().Sub(t.start).Milliseconds(), Data: string(data)})
}

func (t *tape) finish(end string) {
	t.once.Do(func() {
		if len(t.buf) > 0 {
			t.chunk(t.buf)
		}
		t.e.End = end
		t.r.scrub.chunks(t.e.Chunks)
		for i := range t.e.Chunks {
			if c := &t.e.Chunks[i]; !utf8.ValidString(c.Data) {
				c.Bytes, c.Data = []byte(c.Data), ""
			}
		}
		t.r.write(t.e)
	})
}
