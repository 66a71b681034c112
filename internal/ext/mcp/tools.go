package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/llm/schema"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// Keys of a tool's _meta.
const (
	metaLimit  = "anthropic/maxResultSizeChars"
	metaPerson = "anthropic/requiresUserInteraction"
)

// maxLimit bounds what a server may set as the limit of its results, in characters.
const maxLimit = 500_000

// A remote is a tool of a server. It does not change: a tool that the server
// describes in other words is another one.
type remote struct {
	s        *server
	dir      string // the folder in which it is called; see pins
	name     string // the server's
	part     string // in the name that models use
	spec     tool.Spec
	title    string
	readOnly bool // the server says so
	person   bool // each call needs a person
	input    func() *jsonschema.Schema
	output   func() *jsonschema.Resolved
	pin      pin
}

// tools lists the server's tools, and what is not as it said.
func (l *link) tools(ctx context.Context) (out []*remote, notes []string, err error) {
	list, err := all(ctx, "tool", func(ctx context.Context, cursor string) ([]*sdk.Tool, string, error) {
		r, err := l.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return r.Tools, r.NextCursor, nil
	})
	if err != nil {
		return nil, nil, err
	}
	names := make([]string, 0, len(list))
	kept := list[:0]
	for _, t := range list {
		names, kept = append(names, t.Name), append(kept, t)
	}
	given, notes := toolNames(l.s.part, names)
	for i, t := range kept {
		if l.look.schemas.onlyTask(t.Name) {
			notes = append(notes, fmt.Sprintf("%s is left out: it can only be called as a task, which adze does not do", quote(t.Name)))
			continue
		}
		r, err := l.s.remote(t, given[i], &l.look.schemas)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s is left out: %v", quote(t.Name), err))
			continue
		}
		out = append(out, r)
	}
	return out, notes, nil
}

// call is a call of a tool by what models call it, and by the server's own word for it, if
// it has any.
func (s *server) call(part, name string) policy.Call {
	return policy.Call{Server: s.part, Tool: part, RealServer: RealName(s.conf), RealTool: name, Shared: s.shared}
}

// remote makes a tool of what the server says of it.
func (s *server) remote(t *sdk.Tool, name string, order *schemas) (*remote, error) {
	given, err := json.Marshal(t.InputSchema)
	switch {
	case err != nil:
		return nil, err
	case len(given) > maxSchema:
		return nil, fmt.Errorf("its schema has %s, more than %s", clip.Size(int64(len(given))), clip.Size(maxSchema))
	case len(given) == 0 || given[0] != '{':
		return nil, errors.New("its schema is no object")
	}
	fit, err := schema.Fit(order.asSent(given)) // one that no provider refuses a request for
	if err != nil {
		return nil, fmt.Errorf("its schema %w", err)
	}
	r := &remote{s: s, dir: s.at.Dir, name: t.Name, part: strings.TrimPrefix(name, "mcp__"+s.part+"__"), title: line(t.Title, 80)}
	if a := t.Annotations; a != nil {
		r.readOnly, r.title = a.ReadOnlyHint, cmp.Or(r.title, line(a.Title, 80))
	}
	r.title = cmp.Or(r.title, line(t.Name, 80))
	r.person, _ = t.Meta[metaPerson].(bool)
	r.spec = tool.Spec{Name: name, Description: text(t.Description, maxDescription), Schema: fit, Again: r.readOnly, Deferrable: !s.conf.AlwaysLoad}
	r.spec.Others = s.call(r.part, r.name).Names(policy.Deny)[1:]
	if n, ok := t.Meta[metaLimit].(float64); ok && n >= 1 {
		r.spec.Limit = int(min(n, maxLimit))
	}
	r.input = sync.OnceValue(func() *jsonschema.Schema {
		var in jsonschema.Schema
		if json.Unmarshal(fit, &in) != nil {
			return nil // one that we do not know; the server checks for itself
		}
		return &in
	})
	r.output = sync.OnceValue(func() *jsonschema.Resolved { return resolve(t.OutputSchema) })
	r.pin = newPin(r.spec.Description, given)
	return r, nil
}

// resolve makes a schema that results are checked by, nil when that cannot be.
func resolve(schema any) *jsonschema.Resolved {
	if schema == nil {
		return nil
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil
	}
	var s jsonschema.Schema
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	out, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return out
}

// Spec implements tool.Tool.
func (r *remote) Spec() tool.Spec { return r.spec }

// arguments are those of a call, fitted to the tool's schema where that is known.
func (r *remote) arguments(in json.RawMessage) (json.RawMessage, error) {
	if len(strings.TrimSpace(string(in))) == 0 {
		in = json.RawMessage("{}")
	}
	if !fastjson.Valid(in) || !strings.HasPrefix(strings.TrimSpace(string(in)), "{") {
		return nil, errors.New("the arguments are no JSON object")
	}
	if s := r.input(); s != nil {
		return tool.Fit(s, in)
	}
	return in, nil
}

// Plan implements tool.Tool.
func (r *remote) Plan(in json.RawMessage, _ tool.Env) (tool.Plan, error) {
	args, err := r.arguments(in)
	if err != nil {
		return tool.Plan{}, err
	}
	does := r.s.call(r.part, r.name)
	does.ReadOnly = r.readOnly && r.s.conf.TrustAnnotations
	p := tool.Plan{
		Actions:  []policy.Action{does},
		Title:    r.s.conf.Name + ": " + named(r.part, r.title),
		Parallel: r.readOnly,
	}
	blocks := []view.Block{view.Text{S: "The tool " + clip.Line(clip.Visible(r.name), 100) + " of the MCP server " + clip.Visible(r.s.conf.Name)}}
	if text := indented(args); strings.TrimSpace(text) != "{}" {
		blocks = append(blocks, view.Code{S: text})
	}
	p.View = view.Group{Blocks: blocks}
	if r.person {
		p.Actions = append(p.Actions, policy.Person{Why: "the MCP server " + r.s.conf.Name + " says that this tool needs a person"})
	}
	if was, changed := r.s.hub.pins.changed(r.s, r.dir, r.name, r.pin); changed {
		p.Actions = append(p.Actions, policy.Person{Why: "the MCP server " + r.s.conf.Name + " says something else of this tool than when you allowed it"})
		p.View = view.Group{Blocks: append(blocks, was.diff(r.name, r.pin))}
	}
	return p, nil
}

func indented(raw json.RawMessage) string {
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return clip.VisibleText(string(raw))
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return clip.VisibleText(string(raw))
	}
	return strings.TrimSpace(clip.VisibleText(b.String()))
}

// Run implements tool.Tool.
func (r *remote) Run(ctx context.Context, in json.RawMessage, env tool.Env) (tool.Result, error) {
	args, err := r.arguments(in)
	if err != nil {
		return tool.Errorf("%v", err), nil
	}
	r.s.hub.pins.keep(r.s, r.dir, r.name, r.pin) // who allowed the call saw what the tool says
	res, err := r.call(ctx, args, env)
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return tool.Errorf("interrupted before the MCP server %s answered; it was told", line(r.s.conf.Name, 100)), nil
	}
	if err != nil {
		return tool.Errorf("%s", line(err.Error(), 2000)), nil
	}
	out := r.result(res, env)
	if out.IsErr && strings.Contains(out.Text, olderQuestion) && !r.s.asksTheOlderWay.Swap(true) {
		// A call that waits for an answer is sent again in the newest protocol too.
		if r.s.anew(ctx); ctx.Err() == nil {
			return r.Run(ctx, in, env)
		}
	}
	return out, nil
}

// olderQuestion is what a server made with the SDK for Go says (version 1.8) when one of
// its tools asks for a form, a model or the roots as it was done before 2026-07-28,
// which it speaks all the same.
const olderQuestion = "cannot be sent while serving a request on protocol version"

// call calls the tool. Where the server has forgotten the session, or ended before
// the call reached it, it is called once more over another connection.
func (r *remote) call(ctx context.Context, args json.RawMessage, env tool.Env) (*sdk.CallToolResult, error) {
	for again := false; ; again = true {
		l, err := r.s.connected(ctx)
		if err != nil {
			return nil, err
		}
		timeout := cmp.Or(r.s.conf.Timeout, r.s.hub.conf.ToolTimeout)
		res, err := l.call(ctx, callerOf(env), r.name, args, timeout, env.Progress)
		if e := answered(err); e != nil && e.Code == sdk.CodeURLElicitationRequired {
			within, done := l.works(ctx, callerOf(env))
			err = l.visit(within, e)
			done()
			if err != nil {
				return nil, fmt.Errorf("the MCP server %s: %w", r.s.conf.Name, err)
			}
			res, err = l.call(ctx, callerOf(env), r.name, args, timeout, env.Progress)
		}
		if err == nil || again || ctx.Err() != nil || !l.lost(err, r.readOnly) {
			return res, err
		}
		<-l.ended
		r.s.outlive(ctx, l)
	}
}

// outlive waits until a connection that has ended is not used for calls any more.
func (s *server) outlive(ctx context.Context, l *link) {
	for {
		s.mu.Lock()
		now, turn := s.link, s.turn
		s.mu.Unlock()
		if now != l {
			return
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return
		}
	}
}

// lost reports whether a call failed because the connection is of no use any
// more, in a way that lets it be repeated: the server did not take it, or it only
// reads.
func (l *link) lost(err error, readOnly bool) bool {
	refused := answered(err)
	if errors.Is(err, errForgotten) || errors.Is(err, sdk.ErrSessionMissing) || refused != nil && refused.Code == codeForgotten && l.web != nil {
		l.end(errForgotten)
		return true
	}
	var broke *offence
	switch {
	case errors.As(err, &broke):
		return false
	case errors.As(err, new(*unsent)):
		return true
	}
	return readOnly && l.life.Err() != nil
}

// codeForgotten is the answer of servers that do not know the session any more.
const codeForgotten = -32001

// answered is the error that the server answered with, nil when it did not answer.
func answered(err error) *jsonrpc.Error {
	var e *jsonrpc.Error
	if errors.As(err, &e) && e.Code != codeRejected {
		return e
	}
	return nil
}

// codeRejected is the SDK's own, of a request that did not reach the server.
const codeRejected = -32005

// unsent is a request that could not be sent any more.
type unsent struct{ error }

func (u *unsent) Unwrap() error { return u.error }

// A call is one that runs.
type call struct {
	tell func(string)
	wait time.Duration

	mu     sync.Mutex // guards what follows
	last   float64
	timer  *time.Timer
	until  time.Time // at the latest
	paused int       // how many things are waited for that are not the server's
	over   bool
}

// pause stops the time of a call, and resume begins it anew.
func (c *call) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused++
	c.timer.Stop()
}

func (c *call) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused--; c.paused == 0 && !c.over {
		c.until = time.Now().Add(maxCall * c.wait)
		c.timer.Reset(c.wait)
	}
}

// end stops the time of a call for good.
func (c *call) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.timer.Stop()
}

// maxCall is how often its timeout a call may take when the server keeps saying
// that it goes on.
const maxCall = 6

var errSlow = errors.New("out of time")

// call calls a tool. Progress that rises gives it more time.
func (l *link) call(ctx context.Context, by Caller, name string, args json.RawMessage, timeout time.Duration, tell func(string)) (*sdk.CallToolResult, error) {
	l.active.Add(1)
	defer l.active.Add(-1)
	l.touch()
	defer l.touch()
	ctx, leave := both(ctx, l.life)
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, done := l.works(ctx, by)
	defer done()
	c := &call{wait: timeout, until: time.Now().Add(maxCall * timeout), tell: tell, last: -1}
	c.timer = time.AfterFunc(timeout, func() { cancel(errSlow) })
	defer c.end()
	unread := l.unread()
	time.AfterFunc(waitsAfter, func() { l.sayThatItWaits(c, time.Now().Add(-waitsAfter), unread) })
	token := "c" + strconv.FormatInt(l.number.Add(1), 10)
	l.mu.Lock()
	l.calls[token] = c
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.calls, token)
	}()
	p := &sdk.CallToolParams{Name: name, Arguments: args, Meta: sdk.Meta{}}
	p.SetProgressToken(token)
	res, err := l.session.CallTool(ctx, p)
	switch {
	case err == nil:
		return res, nil
	case context.Cause(ctx) == errSlow:
		why := unread()
		if why != "" {
			why = "; " + why
		}
		return nil, fmt.Errorf("the MCP server %s did not answer within %s%s", l.s.conf.Name, clip.Span(timeout), why)
	case errors.Is(err, sdk.ErrConnectionClosed):
		return nil, &unsent{l.failed(l.reason())}
	case l.life.Err() != nil:
		err = l.reason()
	}
	return nil, l.failed(err)
}

// failed puts the failure of a request in the words of the connection's end,
// when that is the reason.
func (l *link) failed(err error) error {
	if err == nil {
		return nil
	}
	if why := signing(err); why != nil {
		if in := signIn(nil); errors.As(why, &in) && in.NeedsSignIn() {
			l.end(why)
			l.leave()
		}
		return why
	}
	if refused := answered(err); refused != nil {
		return &serverError{l.s.conf.Name, refused}
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("the MCP server %s answered with what is no such result: %w", l.s.conf.Name, fastjson.InWords(err))
	}
	return fmt.Errorf("the MCP server %s: %w", l.s.conf.Name, l.because(err))
}

// A serverError is an answer that is an error.
type serverError struct {
	server string
	err    *jsonrpc.Error
}

func (e *serverError) Error() string {
	return fmt.Sprintf("the MCP server %s answers: %s (%d)", e.server, line(e.err.Message, 2000), e.err.Code)
}

func (e *serverError) Unwrap() error { return e.err }

// progress shows what a server says of a call that runs, and gives it more time
// when it went on.
func (l *link) progress(p *sdk.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	l.mu.Lock()
	c := l.calls[token]
	l.mu.Unlock()
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Progress <= c.last {
		return
	}
	c.last = p.Progress
	if left := time.Until(c.until); left > 0 && c.paused == 0 && !c.over && c.timer.Stop() {
		c.timer.Reset(min(c.wait, left))
	}
	if c.tell == nil {
		return
	}
	s := line(p.Message, 200)
	at := number(p.Progress)
	if p.Total > 0 {
		at += " of " + number(p.Total)
	}
	switch {
	case s == "":
		s = at
	case p.Total > 0:
		s += " (" + at + ")"
	}
	c.tell("\r" + s) // in the place of what it said before
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// stripHidden is text of a server without what nobody sees: control characters,
// sequences for terminals, and what changes the direction or has no width.
func stripHidden(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Co, r) && !blank(r) {
			return r
		}
		return -1
	}, clip.Clean(s))
}

// blank reports whether r is a letter or mark that shows nothing.
func blank(r rune) bool {
	return r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x034f || r == 0x17b4 || r == 0x17b5 || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

// cut is s with at most max characters; a cut ends in "…".
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	r := []rune(s)
	if len(r) <= max {
		return s
	}
	return string(r[:max-1]) + "…"
}

// named is a tool's own name, with the title that its server gives it behind: a
// title alone could say another thing than what is called.
func named(name, title string) string {
	if title == "" || title == name {
		return name
	}
	return name + " (" + title + ")"
}
