package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"

	llmwire "github.com/adze-agent/adze/internal/llm/wire"
)

// looked is the body of an answer, looked at before anybody else reads it.
func (c *courier) looked(req *http.Request, resp *http.Response) io.ReadCloser {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // what it cannot read is of no kind
	switch {
	case resp.StatusCode == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != "":
		_ = resp.Body.Close()
		return http.NoBody // it forgot the session, whatever else it says
	case resp.StatusCode >= 400:
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what came before an error is what is known
		no := denial{resp.StatusCode, line(llmwire.ReadFault(raw).Message, 300)}
		if req.Header.Get("Last-Event-ID") != "" {
			no.message = "its stream ended without the answer, and it does not take up the stream again"
		}
		c.mu.Lock()
		c.no = no
		c.mu.Unlock()
		return reader{bytes.NewReader(raw), resp.Body}
	case resp.StatusCode >= 300:
		return reader{io.LimitReader(resp.Body, maxRefusal), resp.Body}
	case kind == "text/event-stream":
		return &events{c: c, from: bufio.NewReader(resp.Body), Closer: resp.Body}
	case kind == "application/json":
		return &whole{c: c, from: resp.Body}
	}
	return reader{io.LimitReader(resp.Body, maxRefusal), resp.Body}
}

// A reader reads from one and closes another.
type reader struct {
	io.Reader
	io.Closer
}

// A body ends its request's context when it is closed.
type body struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// A duplex is a connection that was an answer.
type duplex struct {
	io.ReadWriteCloser
	end func()
}

// Close implements io.Closer.
func (d *duplex) Close() error {
	defer d.end()
	return d.ReadWriteCloser.Close()
}

// whole is a body that is one message.
type whole struct {
	c    *courier
	from io.ReadCloser
	text *bytes.Reader
}

// Read implements io.Reader.
func (w *whole) Read(b []byte) (int, error) {
	if w.text == nil {
		raw, err := io.ReadAll(io.LimitReader(w.from, maxMessage+1))
		if err != nil {
			return 0, err
		}
		if len(bytes.TrimSpace(raw)) > 0 {
			if err := w.c.l.look.came(raw); err != nil {
				return 0, w.c.blame(err)
			}
		}
		w.text = bytes.NewReader(w.c.l.look.mended(raw))
	}
	return w.text.Read(b)
}

// Close implements io.Closer.
func (w *whole) Close() error { return w.from.Close() }

// events is a body of server-sent events. Each is looked at, and passed on, when it is
// complete.
type events struct {
	c    *courier
	from *bufio.Reader
	io.Closer
	line, data []byte
	other      []byte // lines of the event that are no data
	out        []byte
	err        error
}

// Read implements io.Reader.
func (e *events) Read(b []byte) (int, error) {
	for len(e.out) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		part, err := e.from.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		e.line = append(e.line, part...)
		if len(e.line)+len(e.data)+len(e.other) > maxMessage+1024 {
			return 0, e.c.blame(errTooLarge)
		}
		if len(part) > 0 && part[len(part)-1] == '\n' {
			if err := e.complete(bytes.TrimRight(e.line, "\r\n")); err != nil {
				return 0, e.c.blame(err)
			}
			e.line = e.line[:0]
		}
		if err != nil { // what has begun is no event: nobody looked at it
			e.err = err
		}
	}
	n := copy(b, e.out)
	e.out = e.out[n:]
	return n, nil
}

// complete takes a line of an event.
func (e *events) complete(line []byte) error {
	if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		e.data = append(append(e.data, bytes.TrimSpace(data)...), '\n')
		return nil
	}
	if len(line) > 0 {
		e.other = append(append(e.other, line...), '\n')
		return nil
	}
	raw := bytes.TrimSpace(e.data)
	if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') { // not the address that SSE begins with
		if err := e.c.l.look.came(raw); err != nil {
			return err
		}
		raw = e.c.l.look.mended(raw)
	}
	e.out = append(e.out[:0], e.other...)
	if len(raw) > 0 {
		for l := range bytes.SplitSeq(raw, []byte("\n")) {
			e.out = append(append(append(e.out, "data: "...), l...), '\n')
		}
	}
	e.out = append(e.out, '\n')
	e.data, e.other = nil, nil
	return nil
}
