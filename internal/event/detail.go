package event

// A Detail is how much a reader wants to know beyond durable events.
type Detail int

// Details, each with all before it.
const (
	Durable    Detail = iota
	Notices           // that a reply begins, waits, retractions, the queue, hooks
	Everything        // also every delta of text and output
)

// Wants reports whether a reader with this detail is handed a live body.
func (d Detail) Wants(b Body) bool {
	switch b.(type) {
	case ReplyStarted, Waiting, Retracted, Compacting, Queued, HookStarted, HookEnded:
		return d >= Notices
	default: // the deltas
		return d >= Everything
	}
}
