package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm"
)

// A Script is a parsed script: its parts, the first of which any conversation plays that
// has none of its own.
type Script struct{ parts []part }

// A part is what conversations play whose first request has a condition hold.
type part struct {
	cond    expr // nil of the first
	replies []reply
}

type reply struct {
	cond   expr // nil: always
	faults []fault
	items  []item
	speaks bool // there is more than faults
	drop   int  // words after which the connection breaks; -1: never
	stop   llm.Stop
	usage  *llm.Usage
}

// An item is something a reply does, in order.
//
//sumtype:decl
type item interface{ item() }

type (
	say   string
	think string
	use   struct{ name, input string }
	pace  time.Duration
	stall time.Duration // negative: no end
	cut   struct{}
)

func (say) item()   {}
func (think) item() {}
func (use) item()   {}
func (pace) item()  {}
func (stall) item() {}
func (cut) item()   {}

// A fault is an error status instead of a reply.
type fault struct {
	status     int
	retryAfter string
	message    string
}

// A ParseError is a mistake in a script.
type ParseError struct {
	Line int // from 1
	Err  error
}

func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *ParseError) Unwrap() error { return e.Err }

// Parse reads a script.
func Parse(text string) (*Script, error) {
	p := parser{cur: newReply(), parts: make([]part, 1)}
	text = strings.TrimPrefix(text, "\uFEFF")
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(strings.TrimSuffix(line, "\r")); err != nil {
			return nil, &ParseError{Line: i + 1, Err: err}
		}
	}
	p.end()
	return &Script{parts: p.parts}, nil
}

func newReply() reply { return reply{drop: -1} }

type parser struct {
	parts  []part
	cur    reply
	begun  bool // cur has a line that counts
	joined byte // '>' or '%' when the line before was one
}

func (p *parser) end() {
	if p.begun {
		now := &p.parts[len(p.parts)-1]
		now.replies = append(now.replies, p.cur)
	}
	p.cur, p.begun, p.joined = newReply(), false, 0
}

func (p *parser) line(line string) error {
	trimmed := strings.TrimSpace(line)
	joined := p.joined
	p.joined = 0
	if trimmed == "" || trimmed[0] == '#' {
		return nil
	}
	if rest, ok := strings.CutPrefix(trimmed, "==="); ok {
		p.end()
		cond, err := parseCond(strings.TrimSpace(rest))
		if err != nil {
			return fmt.Errorf("condition of a part: %w", err)
		}
		p.parts = append(p.parts, part{cond: cond})
		return nil
	}
	if rest, ok := strings.CutPrefix(trimmed, "---"); ok && (rest == "" || strings.HasPrefix(strings.TrimSpace(rest), "#")) {
		p.end()
		return nil
	}
	begun := p.begun
	p.begun = true
	rest := strings.TrimSpace(trimmed[1:])
	switch trimmed[0] {
	case '>':
		p.prose('>', joined, strings.TrimLeft(line, " \t"))
	case '%':
		p.prose('%', joined, strings.TrimLeft(line, " \t"))
	case '@':
		return p.call(rest)
	case '?':
		if begun {
			return errors.New(`a condition stands at the head of a reply; is a "---" missing before it?`)
		}
		cond, err := parseCond(rest)
		if err != nil {
			return fmt.Errorf("condition: %w", err)
		}
		p.cur.cond = cond
	case '~':
		d, err := duration(rest)
		if err != nil {
			return err
		}
		p.cur.items = append(p.cur.items, pace(d))
		p.cur.speaks = p.cur.speaks || len(p.cur.faults) == 0
	case '!':
		return p.directive(rest)
	default:
		return fmt.Errorf("%q begins no kind of line; text begins with \">\"", clip(trimmed))
	}
	return nil
}

func (p *parser) prose(mark, joined byte, line string) {
	s := strings.TrimPrefix(line[1:], " ")
	p.add(mark, joined, s)
	p.joined = mark
}

func (p *parser) add(mark, joined byte, s string) {
	n := len(p.cur.items)
	p.cur.speaks = true
	if joined == mark {
		switch last := p.cur.items[n-1].(type) {
		case say:
			p.cur.items[n-1] = last + say("\n"+s)
		case think:
			p.cur.items[n-1] = last + think("\n"+s)
		case use, pace, stall, cut: // joined is only set after prose
		}
		return
	}
	if mark == '>' {
		p.cur.items = append(p.cur.items, say(s))
	} else {
		p.cur.items = append(p.cur.items, think(s))
	}
}

func (p *parser) call(rest string) error {
	raw := strings.HasPrefix(rest, "!")
	if raw {
		rest = strings.TrimSpace(rest[1:])
	}
	name, in, _ := strings.Cut(rest, " ")
	in = strings.TrimSpace(in)
	if name == "" || strings.HasPrefix(name, "{") || strings.HasPrefix(name, "#") {
		return errors.New(`a call is "@ Tool {…}": the name of the tool is missing`)
	}
	p.cur.speaks = true
	if !raw {
		var err error
		if in, err = input(in); err != nil {
			return fmt.Errorf("input of %s: %w", clip(name), err)
		}
	}
	p.cur.items = append(p.cur.items, use{name: name, input: in})
	return nil
}

// input takes the JSON value at the head of s; after it only a comment may stand.
func input(s string) (string, error) {
	if s == "" || s[0] == '#' {
		return "{}", nil
	}
	dec := json.NewDecoder(strings.NewReader(s))
	var v json.RawMessage
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return "", errors.New("the JSON has no end on this line")
		}
		return "", err
	}
	rest := strings.TrimSpace(s[dec.InputOffset():])
	if rest != "" && rest[0] != '#' {
		return "", fmt.Errorf("%q stands behind the JSON; a comment begins with \"#\"", clip(rest))
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, v); err != nil {
		return "", err
	}
	return buf.String(), nil
}

func (p *parser) directive(rest string) error {
	word, args, _ := strings.Cut(rest, " ")
	args = strings.TrimSpace(args)
	if n, err := strconv.Atoi(word); err == nil {
		return p.status(n, args)
	}
	if word == "think" {
		p.add('%', 0, args)
		return nil
	}
	if i := strings.Index(" "+args, " #"); i >= 0 {
		args = strings.TrimSpace((" " + args)[:i])
	}
	p.cur.speaks = true
	switch word {
	case "disconnect":
		if args == "" {
			p.cur.items = append(p.cur.items, cut{})
			return nil
		}
		n, err := strconv.Atoi(strings.TrimPrefix(args, "after="))
		if err != nil || n < 0 || !strings.HasPrefix(args, "after=") {
			return fmt.Errorf("disconnect takes after=<words>, not %q", clip(args))
		}
		p.cur.drop = n
	case "stall":
		if args == "" {
			p.cur.items = append(p.cur.items, stall(-1))
			return nil
		}
		d, err := duration(args)
		if err != nil {
			return err
		}
		p.cur.items = append(p.cur.items, stall(d))
	case "stop":
		switch s := llm.Stop(args); s {
		case llm.EndTurn, llm.WantTools, llm.MaxTokens, llm.Refused, llm.Paused, llm.WindowFull:
			p.cur.stop = s
		default:
			return fmt.Errorf("stop %q is none of end_turn, tool_use, max_tokens, refusal, pause_turn, model_context_window_exceeded", clip(args))
		}
	case "usage":
		return p.usage(args)
	default:
		return fmt.Errorf("!%s is none of !<status>, !disconnect, !stall, !stop, !think, !usage", clip(word))
	}
	return nil
}

func (p *parser) status(n int, args string) error {
	if n < 400 || n > 599 {
		return fmt.Errorf("!%d is no error status (400-599)", n)
	}
	if p.cur.speaks {
		return fmt.Errorf(`!%d comes before what a reply says; is a "---" missing before it?`, n)
	}
	f := fault{status: n}
	for args != "" {
		key, rest, ok := strings.Cut(args, "=")
		if strings.HasPrefix(args, "#") {
			break
		}
		if !ok {
			return fmt.Errorf("%q after !%d is none of retry-after=, message=", clip(args), n)
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			q, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return fmt.Errorf("the quotes of %s= have no end", clip(key))
			}
			value, _ = strconv.Unquote(q)
			rest = rest[len(q):]
		} else {
			value, rest, _ = strings.Cut(rest, " ")
		}
		switch strings.TrimSpace(key) {
		case "retry-after":
			f.retryAfter = value
		case "message":
			f.message = value
		default:
			return fmt.Errorf("%q after !%d is none of retry-after=, message=", clip(key), n)
		}
		args = strings.TrimSpace(rest)
	}
	p.cur.faults = append(p.cur.faults, f)
	return nil
}

func (p *parser) usage(args string) error {
	u := llm.Usage{}
	for _, field := range strings.Fields(args) {
		key, value, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return fmt.Errorf("usage: %q is not name=count", clip(field))
		}
		switch key {
		case "in":
			u.In = n
		case "out":
			u.Out = n
		case "cache_read":
			u.CacheRead = n
		case "cache_write":
			u.CacheWrite = n
		case "reasoning":
			u.Reasoning = n
		default:
			return fmt.Errorf("usage: %q is none of in, out, cache_read, cache_write, reasoning", clip(key))
		}
	}
	p.cur.usage = &u
	return nil
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time such as 50ms or 5s", clip(s))
	}
	return d, nil
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
