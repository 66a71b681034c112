package hookrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/hook"
)

// ruling reads what a model ruled.
func ruling(h hook.Hook, answer string, err error) hook.Ran {
	if err != nil {
		return failed(fmt.Errorf("has no ruling: %w", err))
	}
	rule, found := ruled(answer)
	if !found {
		return failed(errors.New("was answered by the model with something that is no ruling"))
	}
	switch {
	case *rule.OK:
		return hook.Ran{Stdout: []byte("{}")}
	case h.Event == hook.PostToolUse && !h.OnBlock: // in the format, it ends the turn then
		out, err := json.Marshal(map[string]any{"continue": false, "stopReason": rule.Reason})
		return hook.Ran{Stdout: out, Err: err}
	}
	return hook.Ran{Code: 2, Stderr: rule.Reason}
}

// A rule is what a model rules.
type rule struct {
	OK     *bool  `json:"ok"`
	Reason string `json:"reason"`
}

// ruled is the last ruling in what a model says: models think aloud, and quote what
// they were asked about.
func ruled(answer string) (last rule, found bool) {
	return (&sought{answer: answer, known: map[int]span{}}).last()
}

// A sought is a text in which objects are looked for. Each part of it is read twice
// at most, whatever it says. Two readings of one place that have both come that far
// differ in whether it is in a string, so there are no three; and an object that was
// met outside of strings is not read again.
type sought struct {
	answer string
	known  map[int]span // by where it begins: objects that were met outside of strings
	bytes  int          // how many were read
}

// maxNested bounds how deep in another object a ruling can stand.
const maxNested = 1000

// last is the last ruling.
func (s *sought) last() (last rule, found bool) {
	for at := 0; ; {
		next := strings.IndexByte(s.answer[at:], '{')
		if next < 0 {
			return last, found
		}
		at += next
		is, known := s.known[at]
		if !known {
			is = s.read(at)
		}
		var one rule
		if !is.ruling || json.Unmarshal([]byte(s.answer[at:is.end]), &one) != nil {
			at++
			continue
		}
		last, found, at = one, true, is.end
	}
}

// A span is an object in a text; the zero value is one that does not end, or is no
// JSON.
type span struct {
	end    int
	ruling bool
}

// An open object, or a list.
type open struct {
	at      int // where it begins
	list    bool
	key     string
	keyed   bool // its next token is the value of key
	ok, bad bool // it says ok; what it says cannot be a ruling
}

// read reads the object that begins at a place, and what is known then of those in it.
func (s *sought) read(at int) span {
	s.known[at] = span{}
	if rest := strings.TrimLeft(s.answer[at+1:], " \t\r\n"); rest == "" || rest[0] != '"' {
		return span{} // the end of an empty one rules nothing
	}
	r := strings.NewReader(s.answer[at:])
	defer func() { s.bytes += len(s.answer) - at - r.Len() }()
	d := json.NewDecoder(r)
	d.UseNumber()
	var in []open
	for len(in) < maxNested {
		t, err := d.Token()
		if err != nil {
			return span{}
		}
		end := at + int(d.InputOffset())
		var top *open
		if len(in) > 0 {
			top = &in[len(in)-1]
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if top != nil {
				top.says(t)
			}
			list := t == json.Delim('[')
			if !list {
				s.known[end-1] = span{}
			}
			in = append(in, open{at: end - 1, list: list})
			continue
		case json.Delim('}'), json.Delim(']'):
			is := span{end: end, ruling: top.ok && !top.bad}
			if !top.list {
				s.known[top.at] = is
			}
			if in = in[:len(in)-1]; len(in) == 0 {
				return is
			}
			continue
		}
		top.says(t)
	}
	return span{}
}

// says takes the next key or value.
func (o *open) says(t json.Token) {
	if o.list {
		return
	}
	if o.keyed = !o.keyed; o.keyed {
		o.key, _ = t.(string) // keys are strings
		return
	}
	switch {
	case t == nil && strings.EqualFold(o.key, "ok"):
		o.ok = false
	case t == nil:
	case strings.EqualFold(o.key, "ok"):
		_, is := t.(bool)
		o.ok, o.bad = true, o.bad || !is
	case strings.EqualFold(o.key, "reason"):
		_, is := t.(string)
		o.bad = o.bad || !is
	}
}
