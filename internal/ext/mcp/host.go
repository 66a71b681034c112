package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// hostAtOnce is how many messages the host has at a time of one server.
const hostAtOnce = 64

// noticeWait is how long a notification may take before what follows it is sent.
const noticeWait = time.Second

// hosted speaks to a server of the program that drives adze.
func (l *link) hosted() (w *wire, leave func(), err error) {
	s := l.s
	if s.hub.conf.Host == nil {
		return nil, nil, &final{errors.New("no program drives this session that could serve it")}
	}
	w = newWire(l.look)
	w.patience = discoverWait
	var wg sync.WaitGroup
	places := make(chan struct{}, hostAtOnce)
	w.send = func(b []byte) error {
		select {
		case places <- struct{}{}:
		case <-w.gone:
			return w.reason()
		}
		told := make(chan struct{})
		wg.Go(func() { // ends with the connection at the latest
			defer func() { <-places }()
			defer close(told)
			l.tellHost(w, b)
		})
		var e envelope
		if fastjson.Unmarshal(b, &e) == nil && e.ID == nil { // what follows counts on it
			timer := time.NewTimer(noticeWait)
			defer timer.Stop()
			select {
			case <-told:
			case <-timer.C:
			case <-w.gone:
			}
		}
		return nil
	}
	var writer sync.WaitGroup
	writer.Go(w.write)
	s.mu.Lock()
	s.host = w
	s.mu.Unlock()
	return w, func() {
		s.mu.Lock()
		if s.host == w {
			s.host = nil
		}
		s.mu.Unlock()
		l.end(errClosed)
		writer.Wait()
		wg.Wait()
	}, nil
}

// tellHost hands one message over, and takes the answer.
func (l *link) tellHost(w *wire, b []byte) {
	answer, err := l.s.hub.conf.Host(l.life, l.s.conf.Name, b)
	var e envelope
	_ = fastjson.Unmarshal(b, &e) // it is one of ours
	switch {
	case e.ID == nil || l.life.Err() != nil:
	case err != nil:
		text, merr := json.Marshal(line(err.Error(), 500))
		if merr == nil {
			w.arrive([]byte(`{"jsonrpc":"2.0","id":` + string(e.ID) + `,"error":{"code":-32603,"message":` + string(text) + `}}`))
		}
	default:
		w.arrive(answer)
	}
}

// FromHost takes a message that a server of the program that drives adze sends of
// its own accord.
func (v *View) FromHost(name string, message json.RawMessage) error {
	s, err := v.find(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	w := s.host
	s.mu.Unlock()
	if w == nil || !w.arrive(message) {
		return fmt.Errorf("the MCP server %s is not connected", name)
	}
	return nil
}
