package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// noJSON answers what cannot be read, as JSON-RPC 2.0 has it in section 5.1: nobody
// can tell which request it was.
const noJSON = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this line is not JSON"}}` + "\n"

// A sieve passes on the lines that are JSON. Each of the others is answered, and
// the next one is read: one bad line ends no server.
type sieve struct {
	io.Closer
	in     *bufio.Reader
	answer func(string)
	rest   []byte // of a line that is passed on
	begun  bool   // a line was read
	err    error  // what in ended with
}

func newSieve(in io.ReadCloser, answer func(string)) *sieve {
	return &sieve{Closer: in, in: bufio.NewReader(in), answer: answer}
}

// Read implements io.Reader.
func (s *sieve) Read(p []byte) (int, error) {
	for len(s.rest) == 0 && s.err == nil {
		s.rest, s.err = s.in.ReadBytes('\n')
		if !s.begun {
			s.rest, s.begun = bytes.TrimPrefix(s.rest, []byte("\ufeff")), true
		}
		if line := bytes.TrimSpace(s.rest); len(line) > 0 && !json.Valid(line) {
			s.answer(noJSON)
			s.rest = nil
		}
	}
	n := copy(p, s.rest)
	if s.rest = s.rest[n:]; len(s.rest) == 0 {
		return n, s.err
	}
	return n, nil
}
