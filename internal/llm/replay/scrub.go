package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/text/order"
)

// A scrubber removes secrets and the home path from text, also where a stream
// cuts them into pieces.
type scrubber struct {
	find []string // longest first
	with map[string]string
}

const minSecret = 6 // a shorter one would tear ordinary words apart

func newScrubber(secrets []string, home string) *scrubber {
	s := &scrubber{with: map[string]string{}}
	add := func(text, with string) {
		if _, ok := s.with[text]; !ok {
			s.with[text] = with
			s.find = append(s.find, text)
		}
	}
	for _, secret := range secrets {
		if secret = strings.TrimSpace(secret); len(secret) >= minSecret {
			add(secret, "[key]")
			add(escaped(secret), "[key]")
		}
	}
	home = strings.TrimRight(home, `/\`)
	if len(home) > 3 {
		add(home, "~")
		add(escaped(home), "~")
		add(escaped(escaped(home)), "~") // a path in JSON text in a JSON string
	}
	order.By(s.find, func(a, b string) int { return len(b) - len(a) })
	return s
}

// escaped is s as the inside of a JSON string.
func escaped(s string) string {
	q := wire.AppendString(nil, s)
	return string(q[1 : len(q)-1])
}

func (s *scrubber) text(t string) string {
	for _, f := range s.find {
		t = strings.ReplaceAll(t, f, s.with[f])
	}
	return wire.Redact(t, "")
}

// A piece is a string of one event that continues a string of another.
type piece struct {
	event int
	at    path
	text  string
}

// path leads to a member: keys and indexes.
type path []any

// streamed are the names of members that hold deltas.
var streamed = []string{"text", "thinking", "partial_json", "delta", "content", "reasoning_content", "reasoning", "arguments"}

// chunks scrubs the events of one answer in place.
func (s *scrubber) chunks(chunks []chunk) {
	docs := make([]any, len(chunks))
	streams := map[string][]piece{}
	var order []string
	for i := range chunks {
		docs[i] = parse(chunks[i].Data)
		prefix := position(docs[i])
		walk(docs[i], nil, func(at path, text string) {
			key := prefix + at.String()
			if _, ok := streams[key]; !ok {
				order = append(order, key)
			}
			streams[key] = append(streams[key], piece{i, at, text})
		})
	}
	changed := map[int]bool{}
	for _, key := range order {
		for i, text := range s.join(streams[key]) {
			p := streams[key][i]
			if text != p.text {
				set(docs[p.event], p.at, text)
				changed[p.event] = true
			}
		}
	}
	for i := range chunks {
		if changed[i] {
			chunks[i].Data = replaceData(chunks[i].Data, docs[i])
		}
		chunks[i].Data = s.text(chunks[i].Data)
	}
}

// join removes what is to be removed from the text the pieces make together
// and returns the new pieces.
func (s *scrubber) join(pieces []piece) []string {
	var all strings.Builder
	out := make([]string, len(pieces))
	for i, p := range pieces {
		all.WriteString(p.text)
		out[i] = p.text
	}
	text := all.String()
	for _, f := range s.find {
		for from := 0; ; {
			at := strings.Index(text[from:], f)
			if at < 0 {
				break
			}
			at += from
			cut(out, at, len(f), s.with[f])
			text = text[:at] + s.with[f] + text[at+len(f):]
			from = at + len(s.with[f])
		}
	}
	return out
}

// cut replaces n bytes from at, counted over all pieces; the replacement goes
// to the piece in which they begin.
func cut(pieces []string, at, n int, with string) {
	for i, p := range pieces {
		if at >= len(p) {
			at -= len(p)
			continue
		}
		here := min(n, len(p)-at)
		pieces[i] = p[:at] + with + p[at+here:]
		n -= here
		with, at = "", 0
		if n == 0 {
			return
		}
	}
}

// parse returns the JSON of an event's data, nil when there is none.
func parse(event string) any {
	for line := range strings.Lines(event) {
		if data, ok := strings.CutPrefix(line, "data:"); ok {
			dec := json.NewDecoder(strings.NewReader(data))
			dec.UseNumber()
			var v any
			if dec.Decode(&v) == nil {
				return v
			}
		}
	}
	return nil
}

// position tells the parts of a reply apart: streams of different parts are
// never joined.
func position(doc any) string {
	m, _ := doc.(map[string]any)
	var b strings.Builder
	for _, k := range []string{"index", "output_index", "content_index", "summary_index"} {
		if n, ok := m[k].(json.Number); ok {
			b.WriteString(k + n.String() + " ")
		}
	}
	return b.String()
}

func walk(v any, at path, visit func(path, string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			next := append(slices.Clone(at), k)
			if text, ok := e.(string); ok && slices.Contains(streamed, k) {
				visit(next, text)
				continue
			}
			walk(e, next, visit)
		}
	case []any:
		for i, e := range v {
			walk(e, append(slices.Clone(at), i), visit)
		}
	}
}

// String implements fmt.Stringer.
func (p path) String() string {
	var b strings.Builder
	for _, e := range p {
		switch e := e.(type) {
		case string:
			b.WriteString("." + e)
		case int:
			b.WriteString("#" + strconv.Itoa(e))
		}
	}
	return b.String()
}

func set(v any, at path, text string) {
	for i, step := range at {
		last := i == len(at)-1
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			if last {
				m[step] = text
				return
			}
			v = m[step]
		case int:
			a, _ := v.([]any)
			v = a[step]
		}
	}
}

func replaceData(event string, doc any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(doc) != nil {
		return event
	}
	var b strings.Builder
	for line := range strings.Lines(event) {
		if strings.HasPrefix(line, "data:") {
			b.WriteString("data: " + buf.String())
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}
