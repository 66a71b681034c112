package print

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/ask"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// About is what the lines say of the run besides what happens in it.
type About struct {
	SessionID string
	Cwd       string
	Branch    string // of git, "" without one
	Tools     []string
	Model     string // provider/model
	Wish      string // the name that a host means with no model
	Mode      string
	KeySource string // the name of the variable the key came from, "none" without one
	Version   string
	// Prefix leaves the provider in front of the names of models, which
	// readers of this protocol do not expect.
	Prefix bool
	// Window and Cap are facts of a model, in tokens; 0 when unknown.
	Facts func(model string) (window, cap int)
	// Ask answers what is asked of the session and its surroundings; nil: nothing is known.
	Ask func(context.Context, ask.Query) (ask.Reply, error)
	// ToolNames are the tools that there are now; nil: those of Tools.
	ToolNames func() []string
	// Mistakes are what of the settings is not used, in words; nil: nothing.
	Mistakes func() []string
	NewID    func() string
	// Now is the time; nil: it is not told. Auto: the session can be in the mode auto.
	Now  func() time.Time
	Auto bool
	// Deferred is the call that a hook put off in an earlier run, nil for none.
	Deferred *llm.ToolUse
	// Goal: the session has a goal from an earlier run, which it goes on with.
	Goal bool
}

func (a About) now() (t time.Time) {
	if a.Now != nil {
		t = a.Now()
	}
	return t
}

// name is what a model is called on this wire.
func (a About) name(id string) string {
	if _, name, ok := strings.Cut(id, "/"); ok && !a.Prefix {
		return name
	}
	return id
}

// projection turns events into the lines of stream-json. It is a pure fold
// but for NewID; it owns what a turn's result line sums up.
type projection struct {
	hooks   bool // lines about them
	about   About
	partial *partial // nil without --include-partial-messages

	turn    totals
	cost    float64 // of this run
	models  map[string]modelUsage
	results map[string]event.ToolFinished // that wait for their reply or their turn in it
	ids     map[string]string             // of those results
	tasks   map[string]liveTask           // that run, by ID
	prompts map[string]string             // by their names on the wire
	waiting []string                      // calls of the last reply, in order, without a printed result
	last    event.Replied
	said    string // the text of the last reply, with those that it goes on from
	goesOn  bool   // the next reply goes on from the last
	ended   *event.TurnEnded
	offered []event.Offer // the slash commands that the host was told last
	begun   bool          // it was told any
	// replays are the prompts that the host reads again when their turn takes them,
	// by ID, and opening those of the turn that begins.
	replays map[string]replay
	opening []any
	// api and took are what all turns took.
	api, took time.Duration
}

// A replay is a prompt as the host wrote it.
type replay struct {
	content json.RawMessage
	uuid    string
}

// totals are of one turn.
type totals struct {
	usage   llm.Usage
	first   time.Duration
	denials []denialLine
	// batch counts the results of the newest reply with calls, denied are those that
	// were denied; when all of them were, the run gave up there.
	batch  int
	denied []event.ToolFinished
}

func (t totals) refused() []event.ToolFinished {
	if t.batch == len(t.denied) {
		return t.denied
	}
	return nil
}

func newProjection(a About, withPartial, withHooks bool) *projection {
	p := &projection{about: a, hooks: withHooks, models: map[string]modelUsage{}, results: map[string]event.ToolFinished{}, ids: map[string]string{}, tasks: map[string]liveTask{}, prompts: map[string]string{}, replays: map[string]replay{}}
	if withPartial {
		p.partial = &partial{}
	}
	if u := a.Deferred; u != nil {
		p.waiting, p.last.Message.Parts = []string{u.ID}, []llm.Part{*u}
	}
	return p
}

func (p *projection) init() any {
	a := p.about
	x, servers, plugins := a.extended(), []initServer{}, []initPlugin{}
	p.offered, p.begun = x.Commands, true
	for _, s := range a.servers() {
		servers = append(servers, initServer{s.Name, s.Status, s.Source})
	}
	for _, o := range x.Plugins {
		plugins = append(plugins, pluginOf(o))
	}
	if a.ToolNames != nil {
		a.Tools = a.ToolNames()
	}
	var mistakes []string
	if a.Mistakes != nil {
		mistakes = a.Mistakes()
		mistakes = mistakes[:min(len(mistakes), maxMistakes)]
	}
	return initLine{
		Type: "system", Subtype: "init", UUID: a.NewID(), SessionID: a.SessionID, Cwd: a.Cwd, Tools: a.Tools,
		MCPServers: servers, Model: a.name(a.Model), PermissionMode: a.Mode, SlashCommands: offerNames(x.Commands), Agents: offerNames(x.Agents),
		Skills: offerNames(x.Skills), Plugins: plugins, APIKeySource: a.KeySource, Version: a.Version, AdzeVersion: a.Version,
		OutputStyle: cmp.Or(x.Style, "default"), PluginErrors: x.PluginErrors, SettingsErrors: mistakes, Capabilities: capabilities(),
	}
}

// maxMistakes bounds how many mistakes in settings a line names.
const maxMistakes = 50

func pluginOf(o event.Offer) initPlugin {
	name, market, _ := strings.Cut(o.Name, "@")
	p := initPlugin{Name: name, Path: o.Path, Version: o.Version}
	if market != "" {
		p.Source = o.Name
	}
	return p
}

// capabilities are what of the protocol hosts can rely on, by their published names:
// the answer to interrupt says what still waits, and it can take that back.
func capabilities() []string { return []string{"interrupt_receipt_v1", "interrupt_cancel_queued_v1"} }

// apply returns the lines for an event.
func (p *projection) apply(e event.Event) []any {
	switch b := e.Body.(type) {
	case event.InputAccepted:
		p.prompts[e.UUID()] = b.ID
		return p.replayed(e, b)
	case event.InputRemoved:
		delete(p.replays, b.ID)
	case event.TurnStarted:
		return p.started(b)
	case event.Replied:
		return p.replied(e.UUID(), b)
	case event.Dropped:
		if b.Usage != (llm.Usage{}) {
			p.count(b.Model, b.Usage, b.Cost, b.Priced || b.Cost != 0)
		}
		clear(p.results) // those without a reply were of this one; a later reply may use their names again
	case event.Spent:
		p.bill(b.Model, b.Usage, b.Cost, b.Priced)
	case event.ToolFinished:
		p.ids[b.Call] = e.UUID()
		return p.finished(b)
	case event.TurnEnded:
		return p.end(b)
	case event.ModelChanged:
		p.about.Model = b.Model
		return []any{p.note("info", "the model is now "+p.about.name(b.Model))}
	case event.ModeChanged:
		p.about.Mode = string(b.Mode)
		return []any{modeLine{Type: "system", Subtype: "status", Mode: string(b.Mode), UUID: p.about.NewID(), SessionID: p.about.SessionID}}
	case event.Noted:
		return []any{p.note(b.Level, b.Text)}
	case event.SettingsChanged:
		return p.settings(b)
	case event.HookStarted:
		return p.hook("hook_started", hookLine{ID: strconv.Itoa(b.ID), Name: b.Name, Event: b.Event})
	case event.HookEnded:
		l := hookLine{ID: strconv.Itoa(b.ID), Name: b.Name, Event: b.Event, Output: b.Stdout, Stdout: b.Stdout, Stderr: b.Stderr, Code: &b.Code, Outcome: "success"}
		if b.Err != "" {
			l.Code, l.Outcome, l.Stderr = nil, "error", cmp.Or(l.Stderr, b.Err)
		} else if b.Code != 0 {
			l.Outcome = "error"
		}
		return p.hook("hook_response", l)
	case event.Compacted:
		return p.compacted(b)
	case event.CompactFailed:
		over := modeLine{Type: "system", Subtype: "status", Compacted: "failed", Mode: p.about.Mode, UUID: p.about.NewID(), SessionID: p.about.SessionID}
		return []any{over, p.note("warning", b.String())}
	case event.Compacting:
		status := "compacting"
		return []any{modeLine{Type: "system", Subtype: "status", Status: &status, Mode: p.about.Mode, UUID: p.about.NewID(), SessionID: p.about.SessionID}}
	case event.Rewound:
		return []any{p.note("info", b.String())}
	case event.GoalSet:
		return []any{p.note("info", "the goal of the session: "+b.Condition)}
	case event.GoalChanged:
		return []any{p.note("info", b.String())}
	case event.Waiting:
		return []any{p.retry(b)}
	case event.Extended:
		return p.extended(b)
	case event.TaskStarted:
		return p.taskStarted(e.Time, b, "")
	case event.TaskProgress:
		return p.taskProgress(b)
	case event.TaskEnded:
		return p.taskEnded(e.Time, b)
	case event.Retracted:
		return append(p.stream(e.Body), p.note("warning", "the reply so far was discarded: "+b.Why))
	case event.ReplyStarted, event.TextDelta, event.ThinkingDelta, event.ToolInputDelta, event.PartDone:
		return p.stream(e.Body)
	case event.SessionStarted, event.Resumed, event.Situated, event.InputQueued,
		event.Asked, event.Answered, event.ToolStarted, event.Titled, event.ToolsChanged, event.ServerChanged, event.Cleared, event.Bounded,
		event.Stripped, event.NotesKept, event.MessageSent, event.MessageSettled, event.TodoChanged, event.FilesChanged, event.RewindBegan, event.Unknown, event.Ran, event.ToolOutput, event.TaskOutput, event.Queued, event.RewindPlan, event.Rewinding, event.GoalJudging, event.Suggested:
	}
	return nil
}

// hook is a line about a hook, for those who asked for them.
func (p *projection) hook(subtype string, l hookLine) []any {
	if !p.hooks {
		return nil
	}
	l.Type, l.Subtype, l.UUID, l.SessionID = "system", subtype, p.about.NewID(), p.about.SessionID
	return []any{l}
}

// compacted says where the conversation begins anew.
func (p *projection) compacted(b event.Compacted) []any {
	if b.Undo > 0 {
		return []any{p.note("info", b.String())}
	}
	trigger := "manual"
	if b.Trigger == event.CauseFull || b.Trigger == event.CauseTooLong {
		trigger = "auto"
	}
	over := modeLine{Type: "system", Subtype: "status", Compacted: "success", Mode: p.about.Mode, UUID: p.about.NewID(), SessionID: p.about.SessionID}
	return []any{over, boundaryLine{Type: "system", Subtype: "compact_boundary", Metadata: boundary{Trigger: trigger, Tokens: b.Tokens, Left: b.Left}, UUID: p.about.NewID(), SessionID: p.about.SessionID}}
}

// started begins a turn: with what it is about, as it is now.
func (p *projection) started(b event.TurnStarted) []any {
	p.turn, p.ended, p.goesOn = totals{}, nil, false
	if b.Model != "" {
		p.about.Model = b.Model
	}
	if b.Mode != "" {
		p.about.Mode = string(b.Mode)
	}
	out := append([]any{p.init()}, p.opening...)
	p.opening = nil
	return out
}

// replayed says a prompt again for a host that wants to know which turn took it up:
// behind the line that begins the turn, or at once, when it joins one that runs.
func (p *projection) replayed(e event.Event, b event.InputAccepted) []any {
	r, ok := p.replays[b.ID]
	if !ok {
		return nil
	}
	delete(p.replays, b.ID)
	l := messageLine{
		Type: "user", UUID: cmp.Or(r.uuid, e.UUID()), SessionID: p.about.SessionID, Message: userMessage{Role: "user", Content: r.content},
		Timestamp: e.Time.UTC().Format("2006-01-02T15:04:05.000Z"), Replay: true,
	}
	if !b.Steer {
		p.opening = append(p.opening, l)
		return nil
	}
	return []any{l}
}

// settings says what changed in settings files, a line for each thing.
func (p *projection) settings(b event.SettingsChanged) []any {
	counts, waits, wrong := b.Lines()
	var out []any
	for _, part := range []struct {
		level string
		lines []string
	}{{"info", counts}, {"warning", waits}, {"warning", wrong}} {
		for _, l := range part.lines {
			out = append(out, p.note(part.level, "settings changed: "+l))
		}
	}
	return out
}

func (p *projection) replied(id string, b event.Replied) []any {
	out := p.whole(b)
	p.last = b
	p.join(b)
	p.count(b.Model, b.Usage, b.Cost, b.Priced)
	if p.turn.first == 0 {
		p.turn.first = b.First
	}
	stop := string(b.Stop)
	line := messageLine{
		Type: "assistant", UUID: id, SessionID: p.about.SessionID, Aborted: b.Stop == "interrupted",
		Message: apiMessage{ID: b.ID, Type: "message", Role: "assistant", Model: p.about.name(b.Model), Content: content(b.Message.Parts), StopReason: &stop, Usage: toUsage(b.Usage)},
	}
	out = append(out, line)
	p.waiting = nil
	for _, part := range b.Message.Parts {
		if u, ok := part.(llm.ToolUse); ok {
			p.waiting = append(p.waiting, u.ID)
		}
	}
	if len(p.waiting) > 0 {
		p.turn.batch, p.turn.denied = 0, nil
	}
	return append(out, p.ready()...)
}

func (p *projection) finished(b event.ToolFinished) []any {
	p.results[b.Call] = b
	return p.ready()
}

// ready prints the results whose turn it is: in the order of the calls, and
// only after their reply.
func (p *projection) ready() []any {
	var out []any
	for len(p.waiting) > 0 {
		r, ok := p.results[p.waiting[0]]
		if !ok {
			break
		}
		p.waiting = p.waiting[1:]
		out = append(out, p.show(r)...)
	}
	return out
}

// show prints a result.
func (p *projection) show(r event.ToolFinished) (out []any) {
	delete(p.results, r.Call)
	p.turn.batch++
	if r.Denied {
		p.turn.denied = append(p.turn.denied, r)
		p.turn.denials = append(p.turn.denials, denialLine{Tool: r.Name, ID: r.Call, Input: r.Input})
		out = append(out, deniedLine{Type: "system", Subtype: "permission_denied", Tool: r.Name, ID: r.Call, Input: r.Input, Reason: r.Verdict.Reason, Message: r.Text, UUID: p.about.NewID(), SessionID: p.about.SessionID})
	}
	part := llm.ToolResult{ID: r.Call, Text: r.Text, IsErr: r.IsErr, Images: r.Images}
	return append(out, messageLine{
		Type: "user", UUID: p.ids[r.Call], SessionID: p.about.SessionID,
		Message: userMessage{Role: "user", Content: []any{toolResult(part)}}, Result: published(r),
	})
}

// published is a result in the shape that hosts know of the tool, else its text.
func published(r event.ToolFinished) any {
	if r.Data != nil {
		return r.Data()
	}
	return r.Text
}

// join adds a reply to what was said when the one before was cut short by the
// output limit, the window or the provider.
func (p *projection) join(b event.Replied) {
	text := b.Message.Text()
	if p.goesOn {
		text = p.said + text
	}
	p.said, p.goesOn = text, false
	switch b.Stop {
	case llm.MaxTokens, llm.WindowFull, llm.Paused:
		p.goesOn = !slices.ContainsFunc(b.Message.Parts, func(part llm.Part) bool { _, call := part.(llm.ToolUse); return call })
	case llm.EndTurn, llm.WantTools, llm.Refused:
	}
}

// count adds what replies used.
func (p *projection) count(model string, u llm.Usage, cost float64, priced bool) {
	p.turn.usage = p.turn.usage.Add(u)
	p.bill(model, u, cost, priced)
}

// bill adds what any request cost.
func (p *projection) bill(model string, u llm.Usage, cost float64, priced bool) {
	p.cost += cost
	name := p.about.name(model)
	m := p.models[name]
	m.In, m.Out, m.CacheRead, m.CacheWrite, m.Cost = m.In+u.In, m.Out+u.Out, m.CacheRead+u.CacheRead, m.CacheWrite+u.CacheWrite, m.Cost+cost
	m.Thinking += u.Reasoning
	m.Provider, _, _ = strings.Cut(model, "/")
	if p.about.Facts != nil {
		m.Window, m.Cap = p.about.Facts(model)
	}
	if m.Basis == "" || !priced {
		m.Basis = basis(priced)
	}
	p.models[name] = m
}

func basis(priced bool) string {
	if priced {
		return "list"
	}
	return "unknown"
}

func (p *projection) retry(b event.Waiting) any {
	l := retryLine{Type: "system", Subtype: "api_retry", Attempt: b.Attempt, Max: b.Max, Delay: ms(b.For), Error: b.Kind, UUID: p.about.NewID(), SessionID: p.about.SessionID}
	if b.Status != 0 {
		l.Status = &b.Status
	}
	return l
}

func (p *projection) note(level, text string) any {
	return noteLine{Type: "system", Subtype: "informational", Level: level, Content: text, UUID: p.about.NewID(), SessionID: p.about.SessionID}
}

// stream wraps the raw events of --include-partial-messages.
func (p *projection) stream(b event.Body) []any {
	if p.partial == nil {
		return nil
	}
	var raw []any
	first := int64(0)
	switch b := b.(type) {
	case event.ReplyStarted:
		b.Model = p.about.name(b.Model)
		raw, first = p.partial.start(b), ms(b.First)
	case event.TextDelta:
		raw = p.partial.text(b)
	case event.ThinkingDelta:
		raw = p.partial.thinking(b)
	case event.ToolInputDelta:
		raw = p.partial.input(b)
	case event.PartDone:
		raw = p.partial.done(b.Part)
	case event.Retracted:
		raw = p.partial.end("aborted", llm.Usage{})
	default: // durable events have lines of their own
	}
	return p.wrap(raw, first)
}

// cutShort closes a message that the turn's end left open.
func (p *projection) cutShort() []any {
	if p.partial == nil {
		return nil
	}
	return p.wrap(p.partial.end("aborted", llm.Usage{}), 0)
}

func (p *projection) whole(b event.Replied) []any {
	if p.partial == nil {
		return nil
	}
	return p.wrap(p.partial.end(b.Stop, b.Usage), 0)
}

func (p *projection) wrap(raw []any, first int64) []any {
	out := make([]any, 0, len(raw))
	for _, ev := range raw {
		out = append(out, streamLine{Type: "stream_event", Event: ev, UUID: p.about.NewID(), SessionID: p.about.SessionID, TTFT: first})
	}
	return out
}
