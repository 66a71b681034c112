// Package hint is the one way in which an error carries what a person can do
// about it, mostly the next command. The text of an error never holds it.
package hint

import "errors"

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

// A Refusal is a start that permissions do not allow.
type Refusal struct{ Why, What string }

func (r *Refusal) Error() string { return r.Why }

// Hint implements Hinter.
func (r *Refusal) Hint() string { return r.What }

// A Mistake is a start that cannot be meant: a folder that is not there, a
// tool that does not exist.
type Mistake struct {
	Why, What string
	Of        error // what it comes from, nil for nothing
}

func (m *Mistake) Error() string { return m.Why }

// Hint implements Hinter.
func (m *Mistake) Hint() string { return m.What }

func (m *Mistake) Unwrap() error { return m.Of }

// Cause is the innermost error, without paths and calls around it.
func Cause(err error) error {
	for u := errors.Unwrap(err); u != nil; u = errors.Unwrap(err) {
		err = u
	}
	return err
}
