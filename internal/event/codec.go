package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/view"
)

// A line is one JSON object. Its head comes first and is the same for every
// kind: {"seq":1,"time":"2026-01-02T03:04:05.6Z","type":"input_accepted",…

// errLine is in every error about a line that is no event.
var errLine = errors.New("not an event")

// A kind ties the name of a body in a line to its Go type.
type kind struct {
	name   string
	zero   Body
	decode func(line []byte) (Body, error)
}

// durable and live are the one table of names; names never change.
var (
	durable = []kind{
		asStruct[SessionStarted]("session_started"),
		asStruct[Resumed]("resumed"),
		asStruct[Situated]("situated"),
		asStruct[InputAccepted]("input_accepted"),
		asStruct[InputQueued]("input_queued"),
		asStruct[InputRemoved]("input_removed"),
		asStruct[TurnStarted]("turn_started"),
		{"replied", Replied{}, decodeReplied},
		asStruct[Dropped]("dropped"),
		asStruct[Spent]("spent"),
		{"asked", Asked{}, decodeAsked},
		asStruct[Answered]("answered"),
		asStruct[ToolStarted]("tool_started"),
		{"tool_finished", ToolFinished{}, decodeFinished},
		{"ran", Ran{}, decodeRan},
		asStruct[ModelChanged]("model_changed"),
		asStruct[ModeChanged]("mode_changed"),
		asStruct[Titled]("titled"),
		asStruct[ToolsChanged]("tools_changed"),
		asStruct[Extended]("extended"),
		asStruct[ServerChanged]("server_changed"),
		asStruct[Cleared]("cleared"),
		asStruct[Bounded]("bounded"),
		asStruct[Stripped]("stripped"),
		{"rewound", Rewound{}, decodeRewound},
		{"compacted", Compacted{}, decodeCompacted},
		asStruct[NotesKept]("notes_kept"),
		asStruct[CompactFailed]("compact_failed"),
		asStruct[RewindBegan]("rewind_began"),
		asStruct[GoalSet]("goal_set"),
		asStruct[GoalChanged]("goal_changed"),
		asStruct[TaskStarted]("task_started"),
		asStruct[TaskEnded]("task_ended"),
		asStruct[TodoChanged]("todo_changed"),
		asStruct[MessageSent]("message_sent"),
		asStruct[MessageSettled]("message_settled"),
		asStruct[FilesChanged]("files_changed"),
		asStruct[Noted]("noted"),
		asStruct[SettingsChanged]("settings_changed"),
		asStruct[TurnEnded]("turn_ended"),
	}
	live = []kind{
		asStruct[ReplyStarted]("reply_started"),
		asStruct[TextDelta]("text_delta"),
		asStruct[ThinkingDelta]("thinking_delta"),
		asStruct[ToolInputDelta]("tool_input_delta"),
		{"part_done", PartDone{}, decodePartDone},
		asStruct[Retracted]("retracted"),
		asStruct[Waiting]("waiting"),
		asStruct[ToolOutput]("tool_output"),
		asStruct[HookStarted]("hook_started"),
		asStruct[HookEnded]("hook_ended"),
		asStruct[RewindPlan]("rewind_plan"),
		asStruct[Rewinding]("rewinding"),
		asStruct[Compacting]("compacting"),
		asStruct[GoalJudging]("goal_judging"),
		asStruct[TaskOutput]("task_output"),
		asStruct[TaskProgress]("task_progress"),
		asStruct[Suggested]("suggested"),
		asStruct[Queued]("queued"),
	}

	kindByName = indexNames(durable)
	liveByName = indexNames(live)
	nameByType = indexTypes(durable, live)
)

func indexNames(ks []kind) map[string]*kind {
	m := make(map[string]*kind, len(ks))
	for i := range ks {
		m[ks[i].name] = &ks[i]
	}
	return m
}

func indexTypes(tables ...[]kind) map[reflect.Type]string {
	m := map[reflect.Type]string{}
	for _, ks := range tables {
		for _, k := range ks {
			m[reflect.TypeOf(k.zero)] = k.name
		}
	}
	return m
}

// TypeName is the name of b's kind in a line: "input_accepted", "text_delta".
func TypeName(b Body) string {
	if u, ok := b.(Unknown); ok {
		return u.Type
	}
	return nameByType[reflect.TypeOf(b)]
}

// Types are the types that the members of a line have beside its head, by the name of
// the kind, for who describes the form: first the durable kinds, then the live ones.
func Types() iter.Seq2[string, reflect.Type] {
	return func(yield func(string, reflect.Type) bool) {
		for _, k := range slices.Concat(durable, live) {
			b := k.zero
			if _, part := b.(PartDone); part {
				b = PartDone{Part: llm.Text{}}
			}
			stored, err := toStored(b)
			if err == nil && !yield(k.name, reflect.TypeOf(stored)) {
				return
			}
		}
	}
}

// AppendLine adds the line of a durable event to dst, without a newline. An
// Unknown body is added byte for byte.
func AppendLine(dst []byte, e Event) ([]byte, error) {
	if u, ok := e.Body.(Unknown); ok {
		if len(u.Raw) == 0 || bytes.IndexByte(u.Raw, '\n') >= 0 {
			return dst, fmt.Errorf("write event %d: an unknown body needs exactly one line", e.Seq)
		}
		return append(dst, u.Raw...), nil
	}
	if _, ok := e.Body.(Live); ok {
		return dst, fmt.Errorf("write event %d: a %s is never stored", e.Seq, TypeName(e.Body))
	}
	return appendLine(dst, e)
}

// AppendLive adds the line of any event, durable or live, to dst. It is what
// front ends in other processes are sent.
func AppendLive(dst []byte, e Event) ([]byte, error) {
	if _, ok := e.Body.(Live); ok {
		return appendLine(dst, e)
	}
	return AppendLine(dst, e)
}

func appendLine(dst []byte, e Event) ([]byte, error) {
	name := TypeName(e.Body)
	if name == "" {
		return dst, fmt.Errorf("write event %d: %T has no name in the log", e.Seq, e.Body)
	}
	stored, err := toStored(e.Body)
	if err != nil {
		return dst, fmt.Errorf("write %s: %w", name, err)
	}
	if n := bulk(e.Body); n > 64<<10 { // else it would be copied each time that there is too little room
		dst = slices.Grow(dst, n+n/2)
	}
	out := appendHead(dst, e.Seq, e.Time, name)
	at := len(out)
	if out, err = fastjson.Append(out, stored); err != nil {
		return dst, fmt.Errorf("write %s: %w", name, err)
	}
	if len(out) == at+2 { // the body is {}
		return append(out[:at], '}'), nil
	}
	out[at] = ',' // the body's members follow those of the head
	return out, nil
}

// bulk is how many bytes of text an event has that can have many.
func bulk(b Body) (n int) {
	switch b := b.(type) {
	case Replied:
		for _, p := range b.Message.Parts {
			switch p := p.(type) {
			case llm.Text:
				n += len(p.S)
			case llm.Thinking:
				n += len(p.S)
			case llm.ToolUse:
				n += len(p.Input)
			case llm.ToolResult, llm.Image, llm.Document: // a model says none
			}
		}
	case ToolFinished:
		n = 2 * len(b.Text) // its view says it again
	default: // of little text
	}
	return n
}

func appendHead(dst []byte, seq Seq, t time.Time, name string) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, uint64(seq), 10)
	dst = append(dst, `,"time":"`...)
	dst = t.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","type":"`...)
	dst = append(dst, name...)
	return append(dst, '"')
}

// ParseLine reads one line of a log, with or without its newline. It keeps
// nothing of line. A type this version does not know gives an Unknown.
func ParseLine(line []byte) (Event, error) {
	return parseWith(line, 1, kindByName, nil)
}

// ParseLive reads what AppendLive wrote. What happened before the log began has the
// number 0.
func ParseLive(line []byte) (Event, error) {
	return parseWith(line, 0, kindByName, liveByName)
}

func parseWith(line []byte, least Seq, tables ...map[string]*kind) (Event, error) {
	line = bytes.TrimRight(line, "\r\n")
	seq, t, name, err := headFrom(line, least)
	if err != nil {
		return Event{}, err
	}
	for _, table := range tables {
		k, ok := table[name]
		if !ok {
			continue
		}
		b, err := k.decode(line)
		if err != nil {
			return Event{}, fmt.Errorf("read %s %d: %w: %w", name, seq, errLine, err)
		}
		return Event{Seq: seq, Time: t, Body: b}, nil
	}
	if !fastjson.Valid(line) {
		return Event{}, fmt.Errorf("read %s %d: %w: broken JSON", name, seq, errLine)
	}
	return Event{Seq: seq, Time: t, Body: Unknown{Type: name, Raw: bytes.Clone(line)}}, nil
}

// head is the part every line has.
type head struct {
	Seq  Seq       `json:"seq"`
	Time time.Time `json:"time"`
	Type string    `json:"type"`
}

// Head reads seq, time and type of a line. When they come first, as
// AppendLine writes them, the rest of the line is not looked at.
func Head(line []byte) (Seq, time.Time, string, error) { return headFrom(line, 1) }

// headFrom is Head of a line whose number is at least this one.
func headFrom(line []byte, least Seq) (Seq, time.Time, string, error) {
	if seq, t, name, ok := quickHead(line); ok {
		return seq, t, name, nil
	}
	var h head
	if err := fastjson.Unmarshal(line, &h); err != nil {
		return 0, time.Time{}, "", fmt.Errorf("%w: %w", errLine, err)
	}
	if h.Seq < least || h.Type == "" {
		return 0, time.Time{}, "", fmt.Errorf("%w: it has no seq or no type", errLine)
	}
	return h.Seq, h.Time.UTC(), h.Type, nil
}

func quickHead(line []byte) (seq Seq, t time.Time, name string, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	if !ok {
		return
	}
	num, rest, ok := bytes.Cut(rest, []byte(`,"time":"`))
	if !ok || len(num) > 19 {
		return 0, t, "", false
	}
	n, err := strconv.ParseUint(string(num), 10, 64)
	if err != nil || n == 0 {
		return 0, t, "", false
	}
	at, rest, ok := bytes.Cut(rest, []byte(`","type":"`))
	if !ok || len(at) > len(time.RFC3339Nano) {
		return 0, t, "", false
	}
	if t, err = time.Parse(time.RFC3339Nano, string(at)); err != nil {
		return 0, t, "", false
	}
	end := bytes.IndexByte(rest, '"')
	if end <= 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return 0, t, "", false
	}
	return Seq(n), t.UTC(), string(rest[:end]), true
}

// asStruct is a kind whose body is stored as its struct.
func asStruct[B Body](name string) kind {
	var zero B
	return kind{name, zero, func(line []byte) (Body, error) {
		var b B
		err := fastjson.Unmarshal(line, &b)
		return b, err
	}}
}

// Stored forms of bodies that hold an interface. They embed the body's fields
// and not the body, so that they are no bodies themselves.
type (
	repliedFields   Replied
	askedFields     Asked
	finishedFields  ToolFinished
	ranFields       Ran
	compactedFields Compacted
	rewoundFields   Rewound

	storedReplied struct {
		repliedFields
		Message llm.Stored       `json:"message"`
		Tools   []llm.StoredSpec `json:"tools,omitempty"`
	}
	storedAsked struct {
		askedFields
		View fastjson.Raw `json:"view,omitempty"`
	}
	storedFinished struct {
		finishedFields
		View    fastjson.Raw    `json:"view,omitempty"`
		Effects []effect.Stored `json:"effects,omitempty"`
	}
	// readFinished has the members that effects had of their own before.
	readFinished struct {
		storedFinished
		Dir    string          `json:"dir"`
		Files  []effect.File   `json:"files"`
		Answer json.RawMessage `json:"answer"`
	}
	storedRan struct {
		ranFields
		View fastjson.Raw `json:"view,omitempty"`
	}
	storedRewound struct {
		rewoundFields
		Messages []llm.Stored `json:"messages,omitempty"`
		Empty    bool         `json:"empty,omitempty"` // Messages has none, and is not nil
	}
	storedCompacted struct {
		compactedFields
		Messages []llm.Stored `json:"messages,omitempty"`
	}
	storedPart struct {
		Part llm.Stored `json:"message"`
	}
)

func toStored(b Body) (any, error) {
	switch b := b.(type) {
	case Replied:
		return storedReplied{repliedFields(b), b.Message.Stored(), llm.StoredSpecs(b.Tools)}, nil
	case Asked:
		raw, err := storeView(b.View)
		return storedAsked{askedFields(b), raw}, err
	case ToolFinished:
		raw, err := storeView(b.View)
		effects, eerr := effect.Store(b.Effects)
		return storedFinished{finishedFields(b), raw, effects}, errors.Join(err, eerr)
	case Ran:
		raw, err := storeView(b.View)
		return storedRan{ranFields(b), raw}, err
	case Rewound:
		out := storedRewound{rewoundFields: rewoundFields(b), Empty: b.Messages != nil && len(b.Messages) == 0}
		for _, m := range b.Messages {
			out.Messages = append(out.Messages, m.Stored())
		}
		return out, nil
	case Compacted:
		out := storedCompacted{compactedFields: compactedFields(b)}
		for _, m := range b.Messages {
			out.Messages = append(out.Messages, m.Stored())
		}
		return out, nil
	case PartDone:
		return storedPart{llm.Message{Role: llm.Assistant, Parts: []llm.Part{b.Part}}.Stored()}, nil
	default: // the others hold no interface
		return b, nil
	}
}

func storeView(b view.Block) (fastjson.Raw, error) {
	if b == nil {
		return nil, nil
	}
	raw, err := view.Marshal(b)
	return fastjson.Raw(raw), err
}

// loadView reads a view. A view is only for people, so one that cannot be
// read costs nothing but its drawing.
func loadView(raw fastjson.Raw) view.Block {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	b, err := view.UnmarshalWith(raw, fastjson.Unmarshal)
	if err != nil {
		return view.Text{S: "[this view could not be read]"}
	}
	return b
}

func decodeReplied(line []byte) (Body, error) {
	var s storedReplied
	if err := fastjson.Unmarshal(line, &s); err != nil {
		return nil, err
	}
	s.repliedFields.Message, s.repliedFields.Tools = llm.FromStored(s.Message), llm.FromStoredSpecs(s.Tools)
	return Replied(s.repliedFields), nil
}

func decodeAsked(line []byte) (Body, error) {
	var s storedAsked
	if err := fastjson.Unmarshal(line, &s); err != nil {
		return nil, err
	}
	s.askedFields.View = loadView(s.View)
	return Asked(s.askedFields), nil
}

func decodeFinished(line []byte) (Body, error) {
	var s readFinished
	if err := fastjson.Unmarshal(line, &s); err != nil {
		return nil, err
	}
	effects, err := effect.Load(s.storedFinished.Effects)
	if s.Dir != "" {
		effects = append(effects, effect.Dir{Path: s.Dir})
	}
	if len(s.Files) > 0 {
		effects = append(effects, effect.Saw{Files: s.Files})
	}
	if len(s.Answer) > 0 {
		effects = append(effects, effect.Answer{JSON: s.Answer})
	}
	s.finishedFields.View, s.finishedFields.Effects = loadView(s.View), effects
	return ToolFinished(s.finishedFields), err
}

func decodeRan(line []byte) (Body, error) {
	var s storedRan
	if err := fastjson.Unmarshal(line, &s); err != nil {
		return nil, err
	}
	s.ranFields.View = loadView(s.View)
	return Ran(s.ranFields), nil
}

func decodeRewound(line []byte) (Body, error) {
	var s storedRewound
	if err := fastjson.Unmarshal(line, &s); err != nil {
		return nil, err
	}
	if s.Empty {
		s.rewoundFields.Messages = []llm.Message{}
	}
	for _, m := range s.Messages {
		s.rewoundFields.Messages = append(s.rewoundFields.Messages, llm.FromStored(m))
	}
	return Rewound(s.rewoundFields), nil
}

func decodeCompacted(line []byte) (Body, error) {
	var s storedCompacted
	if err := fastjson.Unmarshal(line, &s); err != nil {
		return nil, err
	}
	for _, m := range s.Messages {
		s.compactedFields.Messages = append(s.compactedFields.Messages, llm.FromStored(m))
	}
	return Compacted(s.compactedFields), nil
}

func decodePartDone(line []byte) (Body, error) {
	var s storedPart
	if err := fastjson.Unmarshal(line, &s); err != nil {
		return nil, err
	}
	m := llm.FromStored(s.Part)
	if len(m.Parts) != 1 {
		return nil, errors.New("part_done has no part")
	}
	return PartDone{Part: m.Parts[0]}, nil
}
