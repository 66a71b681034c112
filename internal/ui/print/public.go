package print

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
)

// A Public keeps the transcript of a session in the form that hooks, agent SDKs, editors and
// usage counters read. Programs that are told no path look for it at
// <folder of Claude Code>/projects/<folder of the session>/<ID>.jsonl (compat.md 4.9; what
// the functions listSessions, getSessionMessages, forkSession and renameSession of
// @anthropic-ai/claude-agent-sdk 0.3.332 read). It follows the session's events, and a
// line says which of them it is made of, so that a later run goes on behind it. Nothing
// of it is read back but a title that another program gave. A file in its place
// that adze did not write stays as it is.
type Public struct {
	path  string
	agent string // the ID of the agent whose transcript it is, "" for the session itself
	about About
	note  func(string)

	p      *projection
	out    *os.File // nil before the first line
	parent string   // the newest message
	from   event.Seq
	after  event.Seq // what the file has already
	turn   event.Seq // the fold begins again behind it
	dir    string
	failed bool

	follow func() // begins
	begun  sync.Once
	done   chan struct{}

	mu   sync.Mutex    // guards the rest
	seen event.Seq     // the newest event that was looked at
	news chan struct{} // closed when seen grows
}

// PublicPath is the file of a session that works in a folder. claude is the person's
// folder of Claude Code; "" has none.
func PublicPath(claude, dir, id string) string {
	if claude == "" || id == "" {
		return ""
	}
	return filepath.Join(claude, "projects", publicKey(dir), id+".jsonl")
}

// maxPublicKey bounds the name of a project's folder, in characters.
const maxPublicKey = 200

// publicKey names a project's folder: what is no ASCII letter or digit is "-", for each
// unit of UTF-16. One that is longer is cut, and has a hash behind it.
func publicKey(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	var b strings.Builder
	hash := int32(0)
	for _, u := range utf16.Encode([]rune(dir)) {
		hash = hash<<5 - hash + int32(u)
		if c := rune(u); c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	if b.Len() <= maxPublicKey {
		return b.String()
	}
	return b.String()[:maxPublicKey] + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

// NewPublic makes the transcript of a session, which Follow writes. note is told once why it
// cannot be kept.
func NewPublic(path string, note func(string)) *Public {
	return &Public{path: path, note: note, done: make(chan struct{}), news: make(chan struct{})}
}

// A Followed is what a Public needs of a session.
type Followed interface {
	Follow(ctx context.Context, after event.Seq, d event.Detail) iter.Seq2[event.Event, error]
	Submit(ctx context.Context, o op.Op) error
}

// Agent is the transcript of an agent that works for the session, where SDKs look for those:
// <ID>/subagents/agent-<id>.jsonl beside the session's.
func (t *Public) Agent(id string) *Public {
	a := NewPublic(filepath.Join(strings.TrimSuffix(t.path, ".jsonl"), "subagents", "agent-"+id+".jsonl"), t.note)
	a.agent = id
	return a
}

// Follow writes what happened and what happens, until the session is closed: from now on, or
// else from when File is asked first. about is asked when it begins. The returned function waits
// for that end.
func (t *Public) Follow(s Followed, about func() About, now bool) (wait func()) {
	t.follow = func() { t.begin(s, about()) }
	if now {
		t.begun.Do(t.follow)
	}
	return func() {
		t.begun.Do(func() { close(t.done) })
		<-t.done
	}
}

func (t *Public) begin(s Followed, a About) {
	t.about, t.dir = a, a.Cwd
	title, ours := t.goOn()
	if !ours {
		close(t.done)
		return
	}
	t.p = newProjection(a, false, false)
	events := s.Follow(context.Background(), t.from, event.Notices)
	go func() { // ends with the session
		defer close(t.done)
		for e, err := range events {
			if err != nil {
				t.fail(err)
				break
			}
			t.apply(e)
			t.reached(e.Seq)
		}
		if t.out != nil {
			_ = t.out.Close()
		}
	}()
	if title != "" {
		_ = s.Submit(context.Background(), op.Rename{Title: title}) // else it is named as it was
	}
}

func (t *Public) reached(seq event.Seq) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq > t.seen {
		t.seen = seq
		close(t.news)
		t.news = make(chan struct{})
	}
}

// publicWait is how long a hook waits for lines of what happened before it: long enough for the
// whole log of a session that was long before the first hook asked.
const publicWait = 5 * time.Second

// File is the transcript's path, with the lines of what happened up to an event, as far as
// they could be written within publicWait. It follows a Follow.
func (t *Public) File(upTo event.Seq) string {
	t.begun.Do(t.follow)
	over := time.NewTimer(publicWait)
	defer over.Stop()
	for {
		t.mu.Lock()
		seen, news := t.seen, t.news
		t.mu.Unlock()
		if seen >= upTo {
			return t.path
		}
		select {
		case <-news:
		case <-t.done:
			return t.path
		case <-over.C:
			return t.path
		}
	}
}

// A publicLine is one line. Field names are interface facts.
type publicLine struct {
	Parent    *string          `json:"parentUuid"`
	Logical   string           `json:"logicalParentUuid,omitempty"`
	Sidechain bool             `json:"isSidechain"`
	Agent     string           `json:"agentId,omitempty"` // whose sidechain it is
	UserType  string           `json:"userType"`          // external
	Cwd       string           `json:"cwd"`
	SessionID string           `json:"sessionId"`
	Version   string           `json:"version"`
	Branch    string           `json:"gitBranch"`
	Type      string           `json:"type"` // user, assistant or system
	Subtype   string           `json:"subtype,omitempty"`
	Content   string           `json:"content,omitempty"`
	Level     string           `json:"level,omitempty"`
	Message   any              `json:"message,omitempty"`
	RequestID string           `json:"requestId,omitempty"`
	Cost      *float64         `json:"costUSD,omitempty"`
	Failed    bool             `json:"isApiErrorMessage,omitempty"`
	Meta      bool             `json:"isMeta,omitempty"`
	Summary   bool             `json:"isCompactSummary,omitempty"`
	Hidden    bool             `json:"isVisibleInTranscriptOnly,omitempty"`
	Compacted *publicCompacted `json:"compactMetadata,omitempty"`
	Result    any              `json:"toolUseResult,omitempty"`
	UUID      string           `json:"uuid"`
	Timestamp string           `json:"timestamp"`
	Mark      publicMark       `json:"adze"`
}

type publicCompacted struct {
	Trigger string `json:"trigger"`
	Tokens  int    `json:"preTokens"`
	Left    int    `json:"postTokens,omitempty"`
}

// A publicMark says which event a line is made of, and behind which one whoever writes the
// next line begins to read.
type publicMark struct {
	Seq  event.Seq `json:"seq"`
	From event.Seq `json:"from"`
}

type publicTitle struct {
	Type      string     `json:"type"` // custom-title or ai-title
	Title     string     `json:"customTitle,omitempty"`
	AITitle   string     `json:"aiTitle,omitempty"`
	SessionID string     `json:"sessionId"`
	Mark      publicMark `json:"adze"`
}

// apply writes the lines for an event.
func (t *Public) apply(e event.Event) {
	var lines []any
	add := func(l publicLine) { lines = append(lines, l) }
	switch b := e.Body.(type) {
	case event.InputAccepted:
		if !b.Steer {
			t.turn = e.Seq - 1
		}
		var said any = b.Text
		if len(b.Images) > 0 {
			var blocks []any
			for _, part := range llm.Among(b.Text, b.Images, b.ImagesAt) {
				if im, ok := part.(llm.Image); ok {
					blocks = append(blocks, image(im.Media, im.Data))
				} else if text, ok := part.(llm.Text); ok {
					blocks = append(blocks, map[string]any{"type": "text", "text": text.S})
				}
			}
			said = blocks
		}
		add(publicLine{Type: "user", UUID: e.UUID(), Message: userMessage{Role: "user", Content: said}, Meta: b.Hidden})
	case event.Ran:
		add(publicLine{Type: "user", UUID: e.UUID(), Message: userMessage{Role: "user", Content: "<bash-input>" + b.Command + "</bash-input>"}})
		add(publicLine{Type: "user", UUID: t.about.NewID(), Message: userMessage{Role: "user", Content: "<bash-stdout>" + b.Text + "</bash-stdout>"}})
	case event.Titled:
		l := publicTitle{Type: "ai-title", AITitle: b.Title}
		if b.By != "model" {
			l = publicTitle{Type: "custom-title", Title: b.Title}
		}
		lines = append(lines, l)
	case event.Compacted:
		if b.Undo > 0 {
			t.parent = t.before(b.Undo)
			break
		}
		trigger := "manual"
		if b.Trigger == event.CauseFull || b.Trigger == event.CauseTooLong {
			trigger = "auto"
		}
		add(publicLine{Type: "system", Subtype: "compact_boundary", Content: "Conversation compacted", Level: "info", UUID: e.UUID(), Logical: t.parent, Compacted: &publicCompacted{trigger, b.Tokens, b.Left}})
		if b.Text != "" {
			add(publicLine{Type: "user", UUID: t.about.NewID(), Summary: true, Hidden: true, Message: userMessage{Role: "user", Content: b.Text}})
		}
	case event.Rewound:
		if b.Conversation && b.Cut == "" {
			t.parent = t.before(b.To)
		}
	default:
		var id string
		var cost *float64
		if r, ok := b.(event.Replied); ok {
			id = cmp.Or(r.ID, "msg_"+e.UUID())
			if r.ID = id; r.Priced || r.Cost != 0 {
				cost = &r.Cost
			}
			e.Body = r
		}
		for _, l := range t.p.apply(e) {
			m, ok := l.(messageLine)
			if !ok {
				continue
			}
			x := publicLine{Type: m.Type, UUID: m.UUID, Message: m.Message, Result: m.Result}
			if m.Type == "assistant" {
				x.RequestID, x.Cost = "req_"+e.UUID(), cost
			}
			add(x)
		}
		if b, ok := b.(event.TurnEnded); ok {
			lines = append(lines, t.ended(e, b)...)
		}
	}
	if e.Seq > t.after && len(lines) > 0 && !t.failed {
		t.write(e, lines)
	}
}

// ended says why a turn did not end well.
func (t *Public) ended(e event.Event, b event.TurnEnded) []any {
	switch b.How {
	case event.Interrupted:
		return []any{publicLine{Type: "user", UUID: e.UUID(), Message: userMessage{Role: "user", Content: []any{map[string]any{"type": "text", "text": "[Request interrupted by user]"}}}}}
	case event.Failed:
		stop := "stop_sequence"
		m := apiMessage{ID: "msg_" + e.UUID(), Type: "message", Role: "assistant", Model: synthetic, Content: []any{map[string]any{"type": "text", "text": "API Error: " + problem(b)}}, StopReason: &stop}
		return []any{publicLine{Type: "assistant", UUID: e.UUID(), Message: m, Failed: true}}
	case event.Done, event.Stopped:
	}
	return nil
}

// write appends lines, all of them at once.
func (t *Public) write(e event.Event, lines []any) {
	mark := publicMark{e.Seq, t.turn}
	if _, over := e.Body.(event.TurnEnded); over {
		mark.From = e.Seq
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		switch x := l.(type) {
		case publicTitle:
			x.SessionID, x.Mark = t.about.SessionID, mark
			l = x
		case publicLine:
			if x.Subtype != "compact_boundary" && t.parent != "" {
				parent := t.parent
				x.Parent = &parent
			}
			x.Agent, x.Sidechain = t.agent, t.agent != ""
			x.UserType, x.Cwd, x.SessionID, x.Version, x.Branch = "external", t.dir, t.about.SessionID, t.about.Version, t.about.Branch
			x.Timestamp, x.Mark = e.Time.UTC().Format("2006-01-02T15:04:05.000Z"), mark
			t.parent, l = x.UUID, x
		}
		if err := enc.Encode(l); err != nil {
			t.fail(err)
			return
		}
	}
	if err := t.open(); err != nil {
		t.fail(err)
		return
	}
	if _, err := t.out.Write(text.Bytes()); err != nil {
		t.fail(err)
	}
}

func (t *Public) open() error {
	if t.out != nil {
		return nil
	}
	dir := filepath.Dir(t.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	t.out, err = regular.In(root, filepath.Base(t.path), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil && !t.whole() {
		_, err = t.out.WriteString("\n") // behind what another program left unfinished
	}
	return err
}

// whole reports whether the file ends with a line's end, or is empty.
func (t *Public) whole() bool {
	f, info, err := regular.Open(t.path)
	if err != nil {
		return true
	}
	defer f.Close()
	last := []byte{'\n'}
	_, _ = f.ReadAt(last, info.Size()-1) // of an empty one nothing
	return last[0] == '\n'
}

// fail says once that no more lines are written.
func (t *Public) fail(err error) {
	if !t.failed {
		t.failed = true
		t.note(fmt.Sprintf("the transcript for hooks and other programs (compat.transcripts) is not written: %v", err))
	}
}
