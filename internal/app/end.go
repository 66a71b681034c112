package app

import (
	"context"
	"errors"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/ext"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Close ends the session for a reason that its hooks have no word for.
func (r *Running) Close() error { return r.End("other") }

// Settle waits for hooks of what happened, as ext.Session.Settle.
func (r *Running) Settle(ctx context.Context) { r.ext.Settle(ctx) }

// End tells hooks why the session ends, interrupts what runs, ends every command
// and closes the log.
func (r *Running) End(why ext.Ending) (err error) {
	r.closed.Do(func() {
		for _, text := range r.ext.Close(why) {
			r.place.process.Notef("%s", clip.VisibleText(text))
		}
		r.beside()
		err = r.Session.Close()
		if r.written != nil {
			r.written()
		}
		err = errors.Join(err, r.sandboxes.Close())
		err = errors.Join(err, r.recorded.Close())
		r.place.process.drop(r)
	})
	return err
}

// endTasks ends every command.
func (r *Running) endTasks() {
	r.endAgents()
	if set := r.kit.Unawaited(r.Kept); set != "" {
		r.place.process.Notef("%s", set)
	}
	if ended := r.kit.Close(2 * time.Second); ended != "" {
		r.place.process.Notef("ended what ran in the background: %s", ended)
	}
}

// Mistaken reports whether a turn ended because its prompt is a command that cannot be done
// as it is defined.
func Mistaken(b event.TurnEnded) bool { return b.Reason == string(agent.CommandMistaken) }

// ByHook reports whether a hook ended a turn.
func ByHook(b event.TurnEnded) bool {
	return b.Reason == string(agent.HookStopped) || b.Reason == string(agent.StopHookPrevented)
}
