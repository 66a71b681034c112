//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A provider is a model behind the Messages wire on a loopback port. It
// answers step n of a run as play says, and keeps what it was asked.
type provider struct {
	url  string
	srv  *http.Server
	play func(step int, w io.Writer)

	mu     sync.Mutex // guards the rest
	bodies [][]byte
	first  time.Time // when the first byte of the first request arrived
}

func serve(play func(step int, w io.Writer)) (*provider, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{url: "http://" + ln.Addr().String(), play: play}
	p.srv = &http.Server{Handler: http.HandlerFunc(p.answer), ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateActive { // the first byte of a request was read
			p.mu.Lock()
			if p.first.IsZero() {
				p.first = time.Now()
			}
			p.mu.Unlock()
		}
	}}
	go func() { _ = p.srv.Serve(ln) }() // ends with close
	return p, nil
}

func (p *provider) close() { _ = p.srv.Close() }

func (p *provider) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if !strings.HasSuffix(r.URL.Path, "/messages") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	p.mu.Lock()
	p.bodies = append(p.bodies, body)
	step := len(p.bodies)
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	p.play(step, w)
}

func send(w io.Writer, name string, v any) {
	b, _ := json.Marshal(v)
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, b)
}

type obj = map[string]any

func begin(w io.Writer) {
	send(w, "message_start", obj{"type": "message_start", "message": obj{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "mock", "content": []any{},
		"usage": obj{"input_tokens": 10, "output_tokens": 1},
	}})
}

func end(w io.Writer, stop string) {
	send(w, "message_delta", obj{"type": "message_delta", "delta": obj{"stop_reason": stop}, "usage": obj{"output_tokens": 5}})
	send(w, "message_stop", obj{"type": "message_stop"})
}

// say answers with a text.
func say(w io.Writer, text string) {
	begin(w)
	send(w, "content_block_start", obj{"type": "content_block_start", "index": 0, "content_block": obj{"type": "text", "text": ""}})
	send(w, "content_block_delta", obj{"type": "content_block_delta", "index": 0, "delta": obj{"type": "text_delta", "text": text}})
	send(w, "content_block_stop", obj{"type": "content_block_stop", "index": 0})
	end(w, "end_turn")
}

// deltas answers with n deltas of five bytes each.
func deltas(w io.Writer, n int) {
	begin(w)
	send(w, "content_block_start", obj{"type": "content_block_start", "index": 0, "content_block": obj{"type": "text", "text": ""}})
	one := []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word \"}}\n\n")
	for range n {
		_, _ = w.Write(one)
	}
	send(w, "content_block_stop", obj{"type": "content_block_stop", "index": 0})
	end(w, "end_turn")
}

// use answers with calls of Bash.
func use(w io.Writer, step int, commands ...string) {
	begin(w)
	for i, c := range commands {
		in, _ := json.Marshal(obj{"command": c})
		send(w, "content_block_start", obj{"type": "content_block_start", "index": i, "content_block": obj{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", step, i), "name": "Bash", "input": obj{}}})
		send(w, "content_block_delta", obj{"type": "content_block_delta", "index": i, "delta": obj{"type": "input_json_delta", "partial_json": string(in)}})
		send(w, "content_block_stop", obj{"type": "content_block_stop", "index": i})
	}
	end(w, "tool_use")
}
