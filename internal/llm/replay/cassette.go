// Package replay owns cassettes: recordings of what providers really
// answered, and a model that plays them back through the provider's own code.
// Keys, request headers and home paths are removed while recording; no
// request body is kept, only what tells one request from another.
//
// A cassette is a file of JSON lines. The first is
//
//	{"cassette":1,"recorded":"2026-01-31T12:00:00Z"}
//
// and each exchange is one line after it:
//
//	{"n":1,"request":{…},"status":200,"headers":{…},"chunks":[{"ms":3,"data":"…"}],"end":"eof"}
//
// A chunk is one event with its blank line, or one piece of an error body; ms
// counts from the request. end is "eof", "cut" when the connection broke, or
// "left" when the client went away.
package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
)

type header struct {
	Cassette int    `json:"cassette"`
	Recorded string `json:"recorded,omitempty"`
}

// An exchange is one request and what came back.
type exchange struct {
	N       int               `json:"n"`
	Request summary           `json:"request"`
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Chunks  []chunk           `json:"chunks,omitempty"`
	End     string            `json:"end"`
	Failed  string            `json:"failed,omitempty"` // no answer at all, and why; empty where the client left before one
}

type chunk struct {
	MS   int64  `json:"ms"`
	Data string `json:"data,omitempty"`
	// Bytes stands for Data where it is not UTF-8.
	Bytes []byte `json:"bytes,omitempty"`
}

// A summary tells one request from another without holding its text.
type summary struct {
	Wire     string `json:"wire"`
	Model    string `json:"model"`
	Messages int    `json:"messages"`
	Tools    int    `json:"tools"`
	Bytes    int    `json:"bytes"`
}

// Wires, by the end of the path they are spoken at.
const (
	wireMessages  = "messages"
	wireResponses = "responses"
	wireChat      = "chat"
	wireGemini    = "gemini"
)

func wireOf(path string) string {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return wireMessages
	case strings.HasSuffix(path, "/responses"):
		return wireResponses
	case strings.HasSuffix(path, "/chat/completions"):
		return wireChat
	case strings.HasSuffix(path, ":streamGenerateContent"):
		return wireGemini
	}
	return ""
}

// summarize reads a request body of any wire.
func summarize(path string, body []byte) summary {
	s := summary{Wire: wireOf(path), Bytes: len(body)}
	var b struct {
		Model                     string
		Messages, Input, Contents []json.RawMessage
		Tools                     []json.RawMessage
	}
	_ = json.Unmarshal(body, &b) // a body that is not JSON has nothing to tell
	s.Model, s.Messages, s.Tools = b.Model, len(b.Messages)+len(b.Input)+len(b.Contents), len(b.Tools)
	if s.Wire == wireGemini {
		_, name, _ := strings.Cut(path, "/models/")
		s.Model, _, _ = strings.Cut(name, ":")
	}
	return s
}

// differs says in words how a request is not the one that was recorded. The
// number of bytes may change: paths, dates and versions are in the prompt.
func (s summary) differs(other summary) string {
	switch {
	case s.Wire != other.Wire:
		return fmt.Sprintf("it speaks %q, the recording %q", s.Wire, other.Wire)
	case s.Model != other.Model:
		return fmt.Sprintf("it asks for model %q, the recording for %q", s.Model, other.Model)
	case s.Messages != other.Messages:
		return fmt.Sprintf("it has %d messages, the recording %d", s.Messages, other.Messages)
	}
	return ""
}

// keptHeaders are those of an answer that matter to a provider's code.
var keptHeaders = []string{"Content-Type", "Retry-After", "Retry-After-Ms", "Request-Id", "X-Request-Id", "Location"}

func keep(h http.Header) map[string]string {
	out := map[string]string{}
	for _, k := range keptHeaders {
		if v := h.Get(k); v != "" {
			out[k] = v
		}
	}
	return out
}

// maxLine is the longest line of a cassette: one exchange.
const maxLine = 600 << 20

// A Cassette is a recording.
type Cassette struct{ exchanges []exchange }

// Read reads a cassette.
func Read(r io.Reader) (*Cassette, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxLine)
	c := &Cassette{}
	for line := 1; sc.Scan(); line++ {
		raw := bytes.TrimSpace(sc.Bytes())
		if len(raw) == 0 {
			continue
		}
		if line == 1 {
			var h header
			if err := json.Unmarshal(raw, &h); err != nil || h.Cassette == 0 {
				return nil, errors.New("this is not a cassette: its first line has no \"cassette\"")
			}
			if h.Cassette != 1 {
				return nil, fmt.Errorf("this cassette has format %d, this version reads 1", h.Cassette)
			}
			continue
		}
		var e exchange
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		for i := range e.Chunks {
			if b := e.Chunks[i].Bytes; len(b) > 0 {
				e.Chunks[i].Data, e.Chunks[i].Bytes = string(b), nil
			}
		}
		c.exchanges = append(c.exchanges, e)
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// load reads the cassette at path.
func load(path string) (*Cassette, error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read cassette: %w", err)
	}
	defer f.Close()
	c, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("read cassette %s: %w", path, err)
	}
	return c, nil
}

func writeHeader(w io.Writer, now time.Time) error {
	return writeLine(w, header{Cassette: 1, Recorded: now.UTC().Format(time.RFC3339)})
}

func writeLine(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(buf.Bytes())
	return err
}
