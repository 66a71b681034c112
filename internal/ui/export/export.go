// Package export writes a session for people and programs outside of adze. It
// reads events and nothing else, and lets no secret out that it can recognise.
package export

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/view"
)

// Options say what to write.
type Options struct {
	Title string // "" writes the session's ID
	// Secrets are values that must not appear, beside keys of known shapes.
	Secrets []string
	// MaxResult bounds each result in Markdown, in bytes; 0 means all of it.
	MaxResult int
	// Agent yields the log of an agent, and nothing where there is none. path are the IDs
	// of the sessions that lead to it, from an agent of the session on. nil leaves agents
	// out.
	Agent func(path []string) iter.Seq2[event.Event, error]
}

// JSONL writes the events as they are in the log, one per line, with secrets
// masked in every string. Agents have logs of their own, which are not in it.
func JSONL(w io.Writer, events iter.Seq2[event.Event, error], o Options) error {
	out := bufio.NewWriter(w)
	err := lines(events, secret.New(o.Secrets...), func(event.Body) {}, func(line []byte) error {
		_, err := out.Write(append(line, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// JSON writes one object: version (of this shape), title, events, which are what
// [JSONL] writes, and agents, each with events and agents of its own.
func JSON(w io.Writer, events iter.Seq2[event.Event, error], o Options) error {
	hide := secret.New(o.Secrets...)
	title, err := json.Marshal(hide.String(o.Title))
	if err != nil {
		return fmt.Errorf("export session: %w", err)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `{"version":1,"title":%s,`, title)
	if err := eventsJSON(out, events, agents{}, o, hide); err != nil {
		return err
	}
	fmt.Fprint(out, "}\n")
	return out.Flush()
}

// lines calls write with each event as it is in the log, without a line feed,
// with secrets masked in every string, and see with what is in it.
func lines(events iter.Seq2[event.Event, error], hide *secret.Redactor, see func(event.Body), write func([]byte) error) error {
	var line []byte
	for e, err := range events {
		if err != nil {
			return fmt.Errorf("export session: %w", err)
		}
		see(e.Body)
		if line, err = event.AppendLine(line[:0], e); err != nil {
			return fmt.Errorf("export session: %w", err)
		}
		m, err := fastjson.MapStrings(line, hide.String)
		if err != nil {
			return fmt.Errorf("export session: event %d: %w", e.Seq, err)
		}
		if err := write(m); err != nil {
			return err
		}
	}
	return nil
}

// Markdown writes the conversation as a document: prompts, replies, and each
// call with its input and result, in the order of the calls. Agents follow, with
// what they did folded.
func Markdown(w io.Writer, events iter.Seq2[event.Event, error], o Options) error {
	d := newDocument(bufio.NewWriter(w), o, secret.New(o.Secrets...))
	if _, err := d.whole(events); err != nil {
		return err
	}
	return d.out.Flush()
}

func newDocument(out *bufio.Writer, o Options, hide *secret.Redactor) document {
	return document{out: out, o: o, hide: hide, results: map[string]event.ToolFinished{}}
}

// whole writes a session with its agents, and says how many events it has.
func (d *document) whole(events iter.Seq2[event.Event, error]) (n int, err error) {
	for e, err := range events {
		if err != nil {
			return n, fmt.Errorf("export session: %w", err)
		}
		n++
		d.event(e)
		if d.o.Agent != nil {
			d.kin.apply(e.Body)
		}
	}
	d.calls()
	return n, d.agents()
}

// document is a Markdown file that is being written. Errors stay in out
// until Flush.
type document struct {
	out     *bufio.Writer
	o       Options
	hide    *secret.Redactor
	id      string        // of the session
	uses    []llm.ToolUse // of the newest reply, not written yet
	off     bool          // a hook put the last of them off
	results map[string]event.ToolFinished
	kin     agents
}

func (d *document) event(e event.Event) {
	switch b := e.Body.(type) {
	case event.SessionStarted:
		d.id = b.ID
		if len(d.kin.path) > 0 { // its heading is written
			if b.At > 0 {
				d.put("_%s_\n\n", ofAFork)
			}
			return
		}
		d.put("# %s\n\n", d.text(clip.Line(cmp.Or(d.o.Title, "Session "+b.ID), 200)))
		d.put("Session %s, started %s in `%s`", b.ID, e.Time.Format("2006-01-02 15:04 MST"), d.text(b.Dir))
		if b.Branch != "" {
			d.put(" on `%s`", d.text(b.Branch))
		}
		d.put(".\n\n")
	case event.InputAccepted:
		d.calls()
		if !b.Hidden {
			head := "Prompt"
			if b.From != nil {
				head = "From " + cmp.Or(b.From.Name, b.From.ID)
			}
			d.put("## %s\n\n%s\n\n", d.text(head), d.text(b.Text))
			if n := len(b.Images); n > 0 {
				d.put("_%d images_\n\n", n)
			}
		}
	case event.Replied:
		d.calls()
		d.reply(b)
	case event.ToolFinished:
		d.results[b.Call] = b
	case event.Dropped:
		for _, call := range b.Calls {
			delete(d.results, call)
		}
	case event.TurnEnded:
		if d.off = b.Reason == event.ToolDeferred; !d.off { // else its result may come yet
			d.calls()
		}
		clear(d.results)
		if b.How != event.Done {
			d.put("_The turn ended: %s_\n\n", d.text(clip.Line(strings.TrimSpace(string(b.How)+" "+b.Err), 300)))
		}
	case event.CompactFailed:
		d.put("_%s_\n\n", d.text(b.String()))
	case event.GoalChanged:
		d.put("_%s_\n\n", d.text(b.String()))
	case event.GoalSet:
		d.put("_A goal was set: %s_\n\n", d.text(b.Condition))
	case event.Compacted:
		if b.Undo > 0 {
			d.put("_%s_\n\n", d.text(b.String()))
			return
		}
		d.put("_What came before is not sent to the model any more. It goes on with:_\n\n%s\n\n", d.text(b.Text))
	case event.Rewound:
		d.calls()
		d.put("_%s_\n\n", d.text(b.String()))
	case event.Ran:
		d.calls()
		d.put("## Command\n\n")
		d.fence("", b.Text)
	case event.Noted:
		d.put("_%s: %s_\n\n", d.text(b.Level), d.text(clip.Line(b.Text, 300)))
	case event.Resumed, event.Situated, event.InputQueued, event.InputRemoved, event.TurnStarted, event.Spent, event.Asked, event.Answered,
		event.ToolStarted, event.ModelChanged, event.ModeChanged, event.Titled, event.ToolsChanged, event.Extended, event.ServerChanged, event.Cleared, event.Bounded, event.Stripped, event.NotesKept, event.MessageSent, event.MessageSettled, event.TodoChanged, event.FilesChanged, event.RewindBegan, event.SettingsChanged, event.TaskStarted, event.TaskEnded, event.Unknown:
		// nothing that a reader misses
	case event.ReplyStarted, event.TextDelta, event.ThinkingDelta, event.ToolInputDelta, event.PartDone,
		event.Retracted, event.Waiting, event.ToolOutput, event.HookStarted, event.HookEnded, event.Compacting, event.GoalJudging, event.Suggested, event.TaskOutput, event.TaskProgress, event.Queued, event.RewindPlan, event.Rewinding: // never stored
	}
}

func (d *document) reply(b event.Replied) {
	d.put("## Reply\n\n")
	for _, p := range b.Message.Parts {
		switch p := p.(type) {
		case llm.Text:
			d.put("%s\n\n", d.text(clip.Prose(p.S)))
		case llm.Thinking:
			if strings.TrimSpace(p.S) != "" {
				d.put("<details><summary>Thinking</summary>\n\n%s\n\n</details>\n\n", d.text(clip.Prose(p.S)))
			}
		case llm.ToolUse:
			d.uses = append(d.uses, p)
		case llm.ToolResult, llm.Image, llm.Document:
		}
	}
}

// calls writes the calls of the newest reply with their results.
func (d *document) calls() {
	for _, u := range d.uses {
		d.put("### %s\n\n", d.text(clip.Line(u.Name, 100)))
		d.fence("json", fastjson.Indent(u.Input))
		r, ok := d.results[u.ID]
		delete(d.results, u.ID) // what is left came before its reply
		switch {
		case !ok && d.off:
			d.put("_A hook put this call off. It waits, and the session goes on with it:_ `adze -p --resume %s`\n\n", d.text(d.id))
			continue
		case !ok:
			d.put("_no result_\n\n")
			continue
		case r.Denied:
			d.put("_refused: %s_\n\n", d.text(clip.Line(r.Verdict.Reason, 300)))
		case r.IsErr:
			d.put("_failed_\n\n")
		}
		if diff, ok := r.View.(view.Diff); ok {
			d.put("`%s`: +%d −%d\n\n", d.text(diff.Path), diff.Added, diff.Removed)
			d.fence("diff", diff.Unified)
			continue
		}
		d.fence("", r.Text)
	}
	d.uses = nil
}

// fence writes a code block whose fence is longer than any in s.
func (d *document) fence(lang, s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	if d.o.MaxResult > 0 {
		s = clip.Middle(s, d.o.MaxResult, "")
	}
	marks := "```"
	for strings.Contains(s, marks) {
		marks += "`"
	}
	d.put("%s%s\n%s\n%s\n\n", marks, lang, strings.TrimRight(d.text(s), "\n"), marks)
}

// text is s without control characters and secrets.
func (d *document) text(s string) string { return d.hide.String(clip.Clean(s)) }

func (d *document) put(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }
