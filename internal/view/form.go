package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Field is one value of a Form. Its shape is what the Model Context Protocol
// allows in an elicitation's schema (2025-11-25).
type Field struct {
	Name     string    `json:"name"`            // the member of the answer
	Title    string    `json:"title,omitempty"` // for people; "" is Name
	About    string    `json:"about,omitempty"`
	Kind     FieldKind `json:"kind"`
	Required bool      `json:"required,omitempty"`
	// Default is the value to begin with; one that Check refuses is not used.
	Default json.RawMessage `json:"default,omitempty"`
	// Options are the values of a ChoiceField or ChoicesField.
	Options []FieldOption `json:"options,omitempty"`
	// Min and Max bound a number's value, a string's length in characters, or
	// how many choices are taken; nil is no bound.
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
	// Format of a string: "email", "uri", "date" or "date-time". Others are not
	// looked at.
	Format string `json:"format,omitempty"`
}

// A FieldKind says what a Field's value is.
type FieldKind string

// The kinds of a Field.
const (
	StringField  FieldKind = "string"
	NumberField  FieldKind = "number"
	IntegerField FieldKind = "integer"
	BooleanField FieldKind = "boolean"
	ChoiceField  FieldKind = "choice"  // the Value of one of Options
	ChoicesField FieldKind = "choices" // a list of them
)

// A FieldOption is a value that can be chosen.
type FieldOption struct {
	Value string `json:"value"`
	Title string `json:"title,omitempty"` // for people; "" is Value
}

// Label is the option for people.
func (o FieldOption) Label() string {
	if o.Title != "" {
		return o.Title
	}
	return o.Value
}

// Label is the field's name for people.
func (f Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// Check reports what is wrong with the values that answer a form: nil, or an
// error that names the first field with a mistake.
func (f Form) Check(values json.RawMessage) error {
	if len(values) == 0 && !slices.ContainsFunc(f.Fields, func(x Field) bool { return x.Required }) {
		return nil
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(values, &in); err != nil || in == nil {
		return errors.New("the answer to a form is a JSON object")
	}
	for _, x := range f.Fields {
		raw, ok := in[x.Name]
		delete(in, x.Name)
		switch {
		case ok:
			if err := x.Check(raw); err != nil {
				return fmt.Errorf("%s: %w", x.Label(), err)
			}
		case x.Required:
			return fmt.Errorf("%s: a value is needed", x.Label())
		}
	}
	for name := range in {
		return fmt.Errorf("the form has no field %q", name)
	}
	return nil
}

// Check reports what is wrong with a value of the field, in words that stand
// behind its name.
func (f Field) Check(raw json.RawMessage) error {
	switch f.Kind {
	case StringField:
		var s string
		if !reads(raw, &s) {
			return errors.New("text is needed")
		}
		if err := f.within(float64(utf8.RuneCountInString(s)), "character"); err != nil {
			return err
		}
		return f.formed(s)
	case NumberField, IntegerField:
		var n float64
		if !reads(raw, &n) {
			return errors.New("a number is needed")
		}
		if f.Kind == IntegerField && n != math.Trunc(n) {
			return errors.New("a whole number is needed")
		}
		return f.within(n, "")
	case BooleanField:
		var b bool
		if !reads(raw, &b) {
			return errors.New("yes or no is needed")
		}
		return nil
	case ChoiceField:
		var s string
		if !reads(raw, &s) || !f.offers(s) {
			return errors.New("one of the choices is needed")
		}
		return nil
	case ChoicesField:
		var list []string
		if !reads(raw, &list) {
			return errors.New("a list of choices is needed")
		}
		for i, s := range list {
			if !f.offers(s) || slices.Contains(list[:i], s) {
				return errors.New("each choice counts once, and only those that are offered")
			}
		}
		return f.within(float64(len(list)), "choice")
	}
	return fmt.Errorf("a value of the kind %q is not known here", f.Kind)
}

// reads reports whether raw is a value of v's type, and no null.
func reads(raw json.RawMessage, v any) bool {
	return strings.TrimSpace(string(raw)) != "null" && json.Unmarshal(raw, v) == nil
}

func (f Field) offers(s string) bool {
	return slices.ContainsFunc(f.Options, func(o FieldOption) bool { return o.Value == s })
}

// within compares n, a number of things of this name, with the bounds.
func (f Field) within(n float64, of string) error {
	word := func(bound float64) string {
		switch {
		case of == "":
			return fmt.Sprint(bound)
		case bound == 1:
			return "1 " + of
		}
		return fmt.Sprintf("%v %ss", bound, of)
	}
	switch {
	case f.Min != nil && n < *f.Min:
		return errors.New("at least " + word(*f.Min))
	case f.Max != nil && n > *f.Max:
		return errors.New("at most " + word(*f.Max))
	}
	return nil
}

func (f Field) formed(s string) error {
	switch f.Format {
	case "email":
		if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
			return errors.New("an e-mail address is needed: name@example.com")
		}
	case "uri":
		if u, err := url.Parse(s); err != nil || u.Scheme == "" {
			return errors.New("an address is needed: https://example.com/page")
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return errors.New("a date is needed: 2026-01-31")
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			return errors.New("a date and time is needed: 2026-01-31T15:04:05Z")
		}
	}
	return nil
}
