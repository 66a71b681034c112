package netproxy

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// noUploads is why what a client sends to a host of Config.Reads is refused.
const noUploads = "uploads to package registries are not part of sandbox.network.registries"

// maxSent is how many bytes a client may send to a host of Config.Reads before
// something comes back. Requests of package managers are smaller.
const maxSent = 32 << 10

// onlyReads reports whether a plain request asks for something and brings nothing.
func onlyReads(req *http.Request) bool {
	size := len(req.RequestURI)
	for name, values := range req.Header {
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	return (req.Method == http.MethodGet || req.Method == http.MethodHead) && req.ContentLength == 0 && size <= maxSent
}

// A meter counts what a client has sent since the server last said something, in a
// tunnel, into which nobody sees. over is called when that is too much.
type meter struct {
	sent atomic.Int64
	over func()
}

var errUpload = errors.New(noUploads)

// sent reads what a client sends.
type sent struct {
	io.Reader
	m *meter
}

func (s sent) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if s.m.sent.Add(int64(n)) > maxSent {
		s.m.over()
		return 0, errUpload
	}
	return n, err
}

// heard reads what a server says.
type heard struct {
	io.Reader
	m *meter
}

func (h heard) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if n > 0 {
		h.m.sent.Store(0)
	}
	return n, err
}
