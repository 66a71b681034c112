package event

import "fmt"

// A Detail is how much a reader wants to know beyond durable events.
type Detail int

// Details, each with all before it.
const (
	Durable    Detail = iota
	Notices           // that a reply begins, waits, retractions, the queue, hooks, what agents do
	Everything        // also every delta of text and output
)

// Wants reports whether a reader with this detail is handed a live body.
func (d Detail) Wants(b Body) bool {
	switch b.(type) {
	case ReplyStarted, Waiting, Retracted, Compacting, GoalJudging, Suggested, Queued, HookStarted, HookEnded, TaskProgress:
		return d >= Notices
	default: // the deltas
		return d >= Everything
	}
}

var details = [...]string{Durable: "durable", Notices: "notices", Everything: "everything"}

func (d Detail) String() string { return details[d] }

// MarshalText writes String.
func (d Detail) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Detail) UnmarshalText(text []byte) error {
	for i, name := range details {
		if name == string(text) {
			*d = Detail(i)
			return nil
		}
	}
	return fmt.Errorf("there is no detail %q: there are durable, notices and everything", text)
}
