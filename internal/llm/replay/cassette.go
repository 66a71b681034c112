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
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/text/pattern"
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
	// What people and the model said, and the names of the tools, as sums (a cassette of
	// an older version has none).
	Said  []string `json:"said,omitempty"`
	Names []string `json:"names,omitempty"`
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
	s.Said, s.Names = said(slices.Concat(b.Messages, b.Input, b.Contents)), toolNames(b.Tools)
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
	if other.Names != nil {
		if more, less := without(s.Names, other.Names), without(other.Names, s.Names); more != "" || less != "" {
			return "its tools are others: " + strings.Trim(plus("only it has ", more)+plus("; only the recording has ", less), "; ")
		}
	}
	if other.Said != nil {
		for i := range min(len(s.Said), len(other.Said)) {
			if s.Said[i] != other.Said[i] {
				return fmt.Sprintf("message %d has another text than the recorded one", i+1)
			}
		}
	}
	return ""
}

func plus(words, list string) string {
	if list == "" {
		return ""
	}
	return words + list
}

// without are the names of a that b lacks, in words.
func without(a, b []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(a), func(n string) bool { return slices.Contains(b, n) }), ", ")
}

// noted is what adze tells the model by itself: dates, paths and states, which are others
// in every run.
var noted = pattern.Lazy(`(?s)<notice>.*?</notice>`)

// said are sums of the texts of messages, one a message: of what was typed and replied,
// not of what tools returned, of calls' names and not of what they were given, since
// folders and times are in these. A message of instructions counts as empty.
func said(messages []json.RawMessage) []string {
	out := make([]string, 0, len(messages))
	for _, m := range messages {
		var v struct{ Role string }
		_ = json.Unmarshal(m, &v) // what has no role is a part of a reply
		h := sha256.New()
		if v.Role != "system" && v.Role != "developer" {
			var any any
			_ = json.Unmarshal(m, &any)
			texts(h, any)
		}
		out = append(out, hex.EncodeToString(h.Sum(nil)[:8]))
	}
	return out
}

// texts writes the texts of a message of any wire: members called text, and content or
// input where it is a text by itself.
func texts(w io.Writer, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			texts(w, e)
		}
	case map[string]any:
		if kind, _ := v["type"].(string); strings.Contains(kind, "tool_result") || strings.Contains(kind, "_output") || v["role"] == "tool" || v["functionResponse"] != nil {
			return
		}
		for _, name := range []string{"text", "content", "parts"} {
			if s, ok := v[name].(string); ok {
				_, _ = io.WriteString(w, strings.TrimSpace(noted().ReplaceAllString(s, "")))
			} else {
				texts(w, v[name])
			}
		}
	}
}

// toolNames are the names of the tools of a request of any wire, in order.
func toolNames(tools []json.RawMessage) []string {
	out := []string{}
	for _, t := range tools {
		var v struct {
			Name                 string
			Function             struct{ Name string }
			FunctionDeclarations []struct{ Name string }
		}
		_ = json.Unmarshal(t, &v)
		if name := cmp.Or(v.Name, v.Function.Name); name != "" {
			out = append(out, name)
		}
		for _, d := range v.FunctionDeclarations {
			out = append(out, d.Name)
		}
	}
	slices.Sort(out)
	return out
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
