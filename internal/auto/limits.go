package auto

import "fmt"

// Bounds of denials, after which a person is asked again, in replies.
const (
	maxRow = 3
	maxAll = 20
)

// Limits counts the replies of which the classifier refused calls in a session. The
// zero value has refused nothing.
type Limits struct {
	Row, All int
	last     string // the newest of them
}

// After returns the counts after a ruling of the classifier on a call of a reply. All
// refused calls of one reply count as one: whoever made it has not heard of the first.
// A question changes nothing.
func (l Limits) After(r Ruling, reply string) Limits {
	switch r.Effect {
	case Allow:
		l.Row = 0
	case SoftDeny, HardDeny:
		if l.Row == 0 || reply != l.last {
			l.Row++
		}
		if reply != l.last {
			l.All++
		}
		l.last = reply
	case Ask:
	}
	return l
}

// Answered returns the counts after a person said something: the row begins anew.
func (l Limits) Answered() Limits {
	l.Row = 0
	return l
}

// Reached says why a person must be asked instead, "" while the classifier
// may rule.
func (l Limits) Reached() string {
	switch {
	case l.Row >= maxRow:
		return fmt.Sprintf("auto mode refused calls of %d replies in a row, and decides no more until a person answers a question or writes a prompt", l.Row)
	case l.All >= maxAll:
		return fmt.Sprintf("auto mode refused calls of %d replies in this session, and decides no more in it", l.All)
	}
	return ""
}
