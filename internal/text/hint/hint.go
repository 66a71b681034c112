// Package hint is the one way in which an error carries what a person can do
// about it, mostly the next command. The text of an error never holds it.
package hint

// A Hinter knows what a person can do about it.
type Hinter interface{ Hint() string }

// Of is the outermost hint in err's tree, "" when there is none.
func Of(err error) string {
	if err == nil {
		return ""
	}
	if h, ok := err.(Hinter); ok && h.Hint() != "" {
		return h.Hint()
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return Of(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, x := range e.Unwrap() {
			if h := Of(x); h != "" {
				return h
			}
		}
	}
	return ""
}

// With adds a hint to an error.
func With(err error, hint string) error { return &hinted{err, hint} }

type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// Hint implements Hinter.
func (h *hinted) Hint() string { return h.hint }
