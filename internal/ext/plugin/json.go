package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/adze-agent/adze/internal/config"
)

// A member is one of a JSON object, and the line its name stands on.
type member struct {
	name string
	raw  json.RawMessage
	line int
}

// members reads a JSON object. A name that comes twice, at any depth, is an
// error: readers differ in which one counts, and so what was shown may not be
// what runs.
func members(text []byte, first int) ([]member, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if _, err := config.Depth(text); err != nil {
		return nil, err
	}
	line := func(off int64) int { return first + bytes.Count(text[:min(int(off), len(text))], []byte("\n")) }
	d := json.NewDecoder(bytes.NewReader(text))
	fail := func(err error) error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON ends too early")
		}
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return fmt.Errorf("line %d: %w", line(syntax.Offset), err)
		}
		return fmt.Errorf("line %d: %w", line(d.InputOffset()), err)
	}
	t, err := d.Token()
	if err != nil {
		return nil, fail(err)
	}
	if t != json.Delim('{') {
		return nil, errors.New("expected an object: {…}")
	}
	var out []member
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fail(err)
		}
		m := member{line: line(d.InputOffset())}
		m.name, _ = t.(string)
		if seen[m.name] {
			return nil, fmt.Errorf("line %d: the name %q comes twice", m.line, m.name)
		}
		seen[m.name] = true
		if err := d.Decode(&m.raw); err != nil {
			return nil, fail(err)
		}
		if name, off := twice(m.raw); name != "" {
			return nil, fmt.Errorf("line %d: the name %q comes twice", line(d.InputOffset()-int64(len(m.raw))+off), name)
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, fail(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line %d: text after the end of the object", line(d.InputOffset()))
	}
	return out, nil
}

// twice finds a name that an object in a value has twice, and its offset.
func twice(raw []byte) (string, int64) {
	type level struct {
		names map[string]bool // nil in a list
		value bool            // the next token is one
	}
	var stack []level
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			return "", 0
		}
		top := len(stack) - 1
		if s, ok := t.(string); ok && top >= 0 && stack[top].names != nil && !stack[top].value {
			if stack[top].names[s] {
				return s, d.InputOffset()
			}
			stack[top].names[s], stack[top].value = true, true
			continue
		}
		switch t {
		case json.Delim('{'):
			stack = append(stack, level{names: map[string]bool{}})
			continue
		case json.Delim('['):
			stack = append(stack, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		}
		if len(stack) > 0 {
			stack[len(stack)-1].value = false
		}
	}
}

// compact is a value without the space between its parts, as it is also after
// it was kept.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// elements reads a list.
func elements(raw json.RawMessage) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	if b := bytes.TrimSpace(raw); len(b) == 0 || b[0] != '[' || json.Unmarshal(b, &list) != nil {
		return nil, false
	}
	return list, true
}

// oneOrMore reads a list, or a value that stands alone.
func oneOrMore(raw json.RawMessage) []json.RawMessage {
	if list, ok := elements(raw); ok {
		return list
	}
	return []json.RawMessage{raw}
}

// text reads a string.
func text(raw json.RawMessage) (string, bool) {
	var s string
	if b := bytes.TrimSpace(raw); len(b) == 0 || b[0] != '"' || json.Unmarshal(b, &s) != nil {
		return "", false
	}
	return s, true
}

func isObject(raw json.RawMessage) bool {
	b := bytes.TrimSpace(raw)
	return len(b) > 0 && b[0] == '{'
}

// at is "file:line".
func at(file string, line int) string {
	if line <= 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}
