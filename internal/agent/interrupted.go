package agent

import (
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
)

// interrupted closes a reply that a person stopped midway: what was said so
// far is kept, and every call of it gets a result.
func (r *run) interrupted(rep reply, c *calls) (outcome, error) {
	o := outcome{interrupted: true}
	if c == nil {
		return o, nil
	}
	defer c.cancel()
	if len(rep.fin.Message.Parts) > 0 && c.len() == 0 { // a try before it may have said more
		r.broken = &broken{reply: rep}
		return o, nil
	}
	if len(rep.fin.Message.Parts) > 0 {
		if err := r.bill(r.record(rep), rep.hold); err != nil {
			return outcome{}, err
		}
		return o, c.wait()
	}
	if rep.fin.Usage != (llm.Usage{}) {
		return o, r.discard(c, rep, "interrupted before anything was said")
	}
	return o, nil
}

// discard drops a reply that was not recorded, with its calls.
func (r *run) discard(c *calls, rep reply, why string) error {
	ids, err := c.abandon()
	if err != nil {
		return err
	}
	return r.drop(rep, ids, why)
}

func (r *run) drop(rep reply, ids []string, why string) error {
	if err := r.Host.Emit(event.Retracted{Why: why}); err != nil {
		return err
	}
	d := event.Dropped{Reason: why, Calls: ids, Model: rep.target.ID(), Usage: rep.fin.Usage}
	d.Cost, d.Priced = r.price(rep)
	return r.bill(d, rep.hold)
}
