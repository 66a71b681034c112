package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/text/clip"
)

// answerWithin is how long a question stays open.
const answerWithin = 10 * time.Minute

// client is what questions are answered as.
const client = "mcp"

// A Server offers the tools of a session. Make one with New, and end it with
// Close, before its session.
type Server struct {
	relay   *Relay
	session *session.Session
	sdk     *mcp.Server
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu   sync.Mutex          // guards what follows
	open map[string]question // about which clients were asked, by the state they were given
	have []string            // the tools that are offered
}

// A question is one that a client was asked, until it answers or is late.
type question struct {
	call  *call
	about string // what the answer is given for: the call, or what is asked on its way
	late  *time.Timer
}

// New offers the tools of a session whose model is the relay.
func New(r *Relay, s *session.Session, version string) (*Server, error) {
	ctx, stop := context.WithCancel(context.Background())
	x := &Server{relay: r, session: s, stop: stop, open: map[string]question{}}
	r.submit = func(o op.Op) error { return s.Submit(ctx, o) }
	x.sdk = mcp.NewServer(&mcp.Implementation{Name: "adze", Title: "adze", Version: version}, &mcp.ServerOptions{
		Instructions: "Tools of adze, a coding agent, in its working folder. They run under the rules and in the sandbox of whoever started it: a call may be refused, or a person asked.",
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	x.offer()
	if err := r.submit(op.Attach{Client: client}); err != nil {
		stop()
		return nil, err
	}
	events := s.Follow(ctx, s.State().Seq, event.Everything)
	x.done.Go(func() { // ends with Close, or with the session
		for e, err := range events {
			if err != nil {
				break
			}
			switch e.Body.(type) {
			case event.ToolsChanged, event.SettingsChanged:
				x.offer()
			default:
				r.see(e.Body)
			}
		}
		r.close()
	})
	return x, nil
}

// Close ends the server: calls that run are interrupted, and clients left.
func (x *Server) Close() {
	for c := range x.sdk.Sessions() {
		_ = c.Close() // it may have left already
	}
	_ = x.relay.submit(op.Interrupt{}) // the session may have ended already
	x.mu.Lock()
	for _, q := range x.open {
		q.late.Stop()
	}
	x.mu.Unlock()
	x.stop()
	x.done.Wait()
}

// left are tools that are of no use to another agent: they are for a model that
// adze itself drives, or for a person who looks on.
var left = []string{"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite", "ToolSearch", "Skill", "StructuredOutput"}

// reading are tools that change nothing, whatever they are called with.
var reading = []string{"Read", "Grep", "Glob", "TaskOutput"}

// offer has clients see the tools that the session has now.
func (x *Server) offer() {
	x.mu.Lock()
	defer x.mu.Unlock()
	var now []string
	set := x.session.Tools()
	for _, s := range set.Specs() {
		if slices.Contains(left, s.Name) || strings.HasPrefix(s.Name, "mcp__") || !object(s.Schema) {
			continue
		}
		now = append(now, s.Name)
		if slices.Contains(x.have, s.Name) {
			continue
		}
		no := false
		x.sdk.AddTool(&mcp.Tool{
			Name: s.Name, Description: s.Description, InputSchema: s.Schema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: slices.Contains(reading, s.Name), OpenWorldHint: &no},
		}, x.call)
	}
	var gone []string
	for _, name := range x.have {
		if !slices.Contains(now, name) {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		x.sdk.RemoveTools(gone...)
	}
	x.have = now
}

// object reports whether a schema is of an object.
func object(schema json.RawMessage) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

// call runs a tool, or goes on with a call about which the client was asked.
func (x *Server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if state := req.Params.RequestState; state != "" {
		return x.answered(ctx, req, state)
	}
	input := req.Params.Arguments
	if len(bytes.TrimSpace(input)) == 0 {
		input = json.RawMessage("{}")
	}
	c, err := x.relay.add(req.Params.Name, input)
	if err != nil {
		return nil, err
	}
	return x.wait(ctx, req, c)
}

// wait waits for the result of a call, or for a question about it.
func (x *Server) wait(ctx context.Context, req *mcp.CallToolRequest, c *call) (*mcp.CallToolResult, error) {
	said := c.said
	if req.Params.GetProgressToken() == nil {
		said = nil
	}
	var pause <-chan time.Time
	for {
		select {
		case f := <-c.done:
			return result(f), nil
		case q := <-c.asked:
			return x.ask(ctx, req, c, q), nil
		case line := <-said:
			c.lines++
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: c.lines, Message: line}) // whoever left needs none
			said, pause = nil, time.After(progressEvery)
		case <-pause:
			said, pause = c.said, nil
		case <-ctx.Done():
			if x.relay.drop(c) {
				_ = x.relay.submit(op.Interrupt{})
			}
			return nil, ctx.Err()
		}
	}
}

// progressEvery is how long a client is told nothing more of a call after a line
// of what it prints.
const progressEvery = 500 * time.Millisecond

// result is what came of a call, as clients read it.
func result(f event.ToolFinished) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: f.IsErr || f.Denied}
	if f.Text != "" || len(f.Images) == 0 {
		out.Content = append(out.Content, &mcp.TextContent{Text: f.Text})
	}
	for _, i := range f.Images {
		out.Content = append(out.Content, &mcp.ImageContent{Data: i.Data, MIMEType: i.Media})
	}
	return out
}

// fromNewest is the revision from which a client sends a call again, with its
// answer. Of older ones the request stays open meanwhile.
const fromNewest = "2026-07-28"

// ask puts a question to the client of a call. The answer comes to answered. A
// client that cannot be asked, or does not answer, has said no.
func (x *Server) ask(ctx context.Context, req *mcp.CallToolRequest, c *call, q event.Asked) *mcp.CallToolResult {
	if !elicits(req.Session) {
		x.relay.refuse(q.Call)
		res, err := x.wait(ctx, req, c)
		if err != nil {
			return result(event.ToolFinished{IsErr: true, Text: nobody})
		}
		return res
	}
	state := rand.Text()
	over := func() {
		if _, ok := x.take(state); ok {
			x.relay.refuse(q.Call)
			x.relay.drop(c)
		}
	}
	x.mu.Lock()
	x.open[state] = question{c, q.Call, time.AfterFunc(answerWithin, over)}
	x.mu.Unlock()
	if p := req.Session.InitializeParams(); p != nil && p.ProtocolVersion < fromNewest {
		context.AfterFunc(ctx, over)
	}
	return &mcp.CallToolResult{
		RequestState: state,
		InputRequests: mcp.InputRequestMap{"permission": &mcp.ElicitParams{
			Mode: "form", Message: asking(q),
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["allow","refuse"]}},"required":["decision"]}`),
		}},
	}
}

// take takes a question that waits for an answer.
func (x *Server) take(state string) (q question, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if q, ok = x.open[state]; ok {
		delete(x.open, state)
		q.late.Stop()
	}
	return q, ok
}

// answered goes on with a call whose client was asked.
func (x *Server) answered(ctx context.Context, req *mcp.CallToolRequest, state string) (*mcp.CallToolResult, error) {
	q, ok := x.take(state)
	if !ok || q.call.name != req.Params.Name {
		if ok {
			x.relay.refuse(q.about)
		}
		return nil, errors.New("there is no question that this answers: it was open for too long, or never asked")
	}
	allow := false
	if e, ok := req.Params.InputResponses["permission"].(*mcp.ElicitResult); ok && e.Action == "accept" {
		allow = e.Content["decision"] == "allow"
	}
	answer := op.Answer{Call: q.about, Allow: allow, By: client}
	if err := x.relay.submit(answer); err != nil {
		return nil, err
	}
	return x.wait(ctx, req, q.call)
}

// elicits reports whether a client can put a form to a person.
func elicits(s *mcp.ServerSession) bool {
	p := s.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil // before modes there were forms only
}

// maxQuestion bounds what is shown of a call, in bytes.
const maxQuestion = 8 << 10

// asking says what a call would do, and why that is a question.
func asking(q event.Asked) string {
	text := "adze: " + q.Tool + " wants to run"
	if q.Title != "" {
		text += ": " + q.Title
	}
	if why := q.Verdict.Why(); why != "" {
		text += "\n" + why
	}
	var in bytes.Buffer
	if json.Indent(&in, q.Input, "", "  ") == nil {
		text += "\n" + in.String()
	}
	return clip.Middle(clip.VisibleText(text), maxQuestion, "")
}

// Stdio serves one client over two pipes, until in ends and all that came of it is
// answered, or gone says that nobody reads out any more, or until ctx ends. gone is asked
// once in has ended, several times a second.
func (x *Server) Stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser, gone func() bool) error {
	d := newDrain(ctx, in, out, gone)
	err := x.sdk.Run(ctx, &mcp.IOTransport{Reader: d, Writer: d})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
