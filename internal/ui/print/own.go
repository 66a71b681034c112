package print

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/op"
)

// A Done is what a slash command of adze's own comes to.
type Done struct {
	Op    op.Op  // what carries it out; nil: Text says all
	Text  string // the answer
	Fresh bool   // Op begins the conversation anew
}

// own carries out a prompt that is a slash command of adze's own, without a model. ok is
// false when it is none. One that comes while something else is to be answered waits
// for that.
func (r *runner) own(ctx context.Context, in Input) (ok bool, err error) {
	p, prompt := in.Op.(op.Prompt)
	if !prompt || p.Verbatim || p.Quiet || r.Own == nil {
		return false, nil
	}
	text := p.Text
	if in.last != "" {
		text = in.last
	}
	text = strings.TrimSpace(text)
	if text != "/" && !slashed(text) {
		return false, nil
	}
	name, args := strings.TrimPrefix(text, "/"), ""
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name, args = name[:i], strings.TrimSpace(name[i:])
	}
	if r.slash(op.Prompt{Text: text}).Command {
		return false, nil
	}
	done, ok := r.Own(ctx, name, args)
	if !ok {
		return false, nil
	}
	if r.any = true; len(r.asked) > 0 {
		r.after = append(r.after, in)
		return true, nil
	}
	r.opened(in, p.ID)
	switch {
	case done.Op == nil:
		r.say(done.Text)
	case done.Fresh:
		if err := r.c.Submit(ctx, done.Op); err != nil {
			done.Text = "The conversation could not be cleared: " + err.Error()
		} else {
			r.fresh(in.UUID)
		}
		r.say(done.Text)
	default:
		if g, ok := done.Op.(op.Goal); ok { // a program may have written it
			g.Typed = p.Typed == op.All(p.Text)
			done.Op = g
		}
		if err := r.command(ctx, done.Op); err != nil {
			delete(r.asked, waiting)
			r.did = nil
			r.say(err.Error())
		}
	}
	return true, nil
}

// opened has a host read its prompt again, as that of a turn.
func (r *runner) opened(in Input, id string) {
	if r.Replay && in.Said != nil {
		if id == "" {
			id = r.About.NewID()
		}
		r.p.replays[id] = replay{in.Said, in.UUID}
		r.p.replayed(event.Event{Time: r.About.now()}, event.InputAccepted{ID: id})
	}
}

// say answers a prompt without a model: as a turn of no steps.
func (r *runner) say(text string) {
	lines := r.p.started(event.TurnStarted{})
	if text != "" {
		stop := string(llm.EndTurn)
		lines = append(lines, messageLine{
			Type: "assistant", UUID: r.About.NewID(), SessionID: r.About.SessionID,
			Message: apiMessage{ID: "msg_" + r.About.NewID(), Type: "message", Role: "assistant", Model: synthetic, Content: []any{map[string]any{"type": "text", "text": text}}, StopReason: &stop},
		})
	}
	if r.Format == Stream {
		for _, l := range lines {
			r.write(l)
		}
	}
	r.p.said = text
	r.see(event.Event{Time: r.About.now(), Body: event.TurnEnded{How: event.Done, Reason: "completed"}})
}

// synthetic is the model of messages that no model wrote, as hosts know it.
const synthetic = "<synthetic>"

// fresh tells a host that the conversation begins anew.
func (r *runner) fresh(message string) {
	if r.Format != Stream {
		return
	}
	l := object{"type": "conversation_reset", "new_conversation_id": r.About.SessionID, "trigger": "clear", "uuid": r.About.NewID(), "session_id": r.About.SessionID}
	if message != "" {
		l["user_message_uuid"] = message
	}
	r.write(l)
}

// next gives what waited until everything before it was answered.
func (r *runner) next(ctx context.Context) error {
	for len(r.after) > 0 && len(r.asked) == 0 {
		in := r.after[0]
		r.after = r.after[1:]
		if err := r.give(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// documents puts the texts of documents beside a prompt, and tells what is left out.
func (r *runner) documents(p *op.Prompt, in Input) {
	left := in.left
	for _, d := range in.pdfs {
		text, err := "", errNoPDF
		if r.PDF != nil {
			text, err = r.PDF(d.data)
		}
		if err != nil {
			left = append(left, d.name+" was left out: "+err.Error())
			continue
		}
		var x prompted
		x.beside(d.name, text)
		p.With = append(p.With, x.With...)
	}
	for _, text := range left {
		r.warn("of the prompt " + text)
	}
}

// posted answers a prompt that was a message for somebody else. The end of a turn that runs
// answers it, too.
func (r *runner) posted(b event.Noted) {
	if _, mine := r.asked[b.Input]; !mine {
		return
	}
	delete(r.asked, b.Input)
	r.unqueued(b.Input)
	if !r.turning && len(r.asked) == 0 {
		r.say(b.Text)
	}
}

// unknown answers a prompt that names a command which there is not, or somebody who cannot be
// reached.
func (r *runner) unknown(in Input, id, answer string) error {
	delete(r.asked, id)
	r.unqueued(id)
	delete(r.p.replays, id)
	if len(r.asked) > 0 {
		r.after = append(r.after, in)
		return nil
	}
	r.opened(in, id)
	r.say(answer)
	return nil
}

var errNoPDF = errors.New("this session reads no PDF")
