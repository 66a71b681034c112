package auto

import "fmt"

// Bounds of denials, after which a person is asked again.
const (
	maxRow = 3
	maxAll = 20
)

// Limits counts what the classifier refused in a session. The zero value has
// refused nothing.
type Limits struct{ Row, All int }

// After returns the counts after a ruling of the classifier. A question
// changes nothing.
func (l Limits) After(r Ruling) Limits {
	switch r.Effect {
	case Allow:
		l.Row = 0
	case SoftDeny, HardDeny:
		l.Row++
		l.All++
	case Ask:
	}
	return l
}

// Answered returns the counts after a person answered the question that a
// limit had led to: the row begins anew.
func (l Limits) Answered() Limits {
	l.Row = 0
	return l
}

// Reached says why a person must be asked instead, "" while the classifier
// may rule.
func (l Limits) Reached() string {
	switch {
	case l.Row >= maxRow:
		return fmt.Sprintf("auto mode refused %d calls in a row", l.Row)
	case l.All >= maxAll:
		return fmt.Sprintf("auto mode refused %d calls in this session", l.All)
	}
	return ""
}
