package rpc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// lines is a connection as lines both ways. One goroutine reads, one writes; gone is
// closed when the other side cannot be written to any more, or close was called.
type lines struct {
	conn io.ReadWriteCloser
	in   chan []byte   // closed at the end of what comes; nil is a line that is too long
	out  chan []byte   // with their newlines
	gone chan struct{} // nothing is written any more

	once sync.Once      // closes gone and conn
	work sync.WaitGroup // the two goroutines
}

// waiting is how many lines may wait to be written.
const waiting = 64

func open(conn io.ReadWriteCloser) *lines {
	l := &lines{conn: conn, in: make(chan []byte), out: make(chan []byte, waiting), gone: make(chan struct{})}
	l.work.Go(l.read)  // ends with the connection
	l.work.Go(l.write) // ends with the connection
	return l
}

// close ends the connection at once, and waits for that.
func (l *lines) close() {
	l.end()
	l.work.Wait()
}

func (l *lines) end() {
	l.once.Do(func() {
		close(l.gone)
		_ = l.conn.Close()
	})
}

func (l *lines) read() {
	defer close(l.in)
	for x, err := range event.Lines(l.conn, 0) {
		if err != nil || x.Torn {
			return // half a message is none
		}
		line := x.Bytes
		if line != nil {
			line = bytes.Clone(line)
		}
		select {
		case l.in <- line:
		case <-l.gone:
			return
		}
	}
}

func (l *lines) write() {
	defer l.end()
	w := bufio.NewWriterSize(l.conn, 64<<10)
	for {
		select {
		case line := <-l.out:
			if line == nil { // the last one
				_ = w.Flush()
				return
			}
			if _, err := w.Write(line); err != nil {
				return
			}
			if len(l.out) > 0 {
				continue
			}
			if err := w.Flush(); err != nil {
				return
			}
		case <-l.gone:
			return
		}
	}
}

// put has a line written. It waits for room until ctx ends or the connection does.
func (l *lines) put(ctx context.Context, line []byte) error {
	select {
	case l.out <- line:
		return nil
	case <-l.gone:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

// line is m as it is written.
func line(m message) ([]byte, error) {
	m.Version = "2.0"
	raw, err := fastjson.Append(nil, m)
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxMessage {
		return nil, fmt.Errorf("a message of %d bytes is too large; at most %d are taken", len(raw), MaxMessage)
	}
	return append(raw, '\n'), nil
}

// note is the line of a notification.
func note(method string, params any) ([]byte, error) {
	raw, err := fastjson.Append(nil, params)
	if err != nil {
		return nil, err
	}
	return line(message{Method: method, Params: raw})
}
