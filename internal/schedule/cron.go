// Package schedule says when something is to happen: it reads cron expressions, finds the
// next time, and says it for people. It wakes nobody.
package schedule

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/text/clip"
)

// A Cron is a cron expression of five fields: minute, hour, day of the month, month, day of
// the week. A day matches when all fields do; when both fields of days say something (are
// not "*"), either of them is enough.
type Cron struct {
	minutes, hours, days, months, weekdays uint64 // sets of numbers
	anyDay, anyWeekday                     bool   // the field is "*"
	text                                   string
}

// A field is what numbers and names one of the five may have.
type field struct {
	name     string
	min, max int
	names    []string // of min and what follows
}

var (
	months   = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	fields   = [5]field{
		{"minute", 0, 59, nil}, {"hour", 0, 23, nil}, {"day of the month", 1, 31, nil}, {"month", 1, 12, months}, {"day of the week", 0, 7, weekdays},
	}
)

// maxText bounds an expression, in bytes.
const maxText = 200

// Parse reads an expression, whose times are local. An error says what is wrong with it,
// and so it does of one that no day matches.
func Parse(text string) (Cron, error) {
	parts := strings.Fields(text)
	if len(text) > maxText || len(parts) != len(fields) {
		return Cron{}, fmt.Errorf("%q is not a cron expression: it has five fields, minute hour day-of-month month day-of-week (0 9 * * 1-5: at 9:00 from Monday to Friday)", clip.Line(clip.Visible(text), maxText))
	}
	c := Cron{text: strings.Join(parts, " "), anyDay: anything(parts[2]), anyWeekday: anything(parts[4])}
	for i, set := range []*uint64{&c.minutes, &c.hours, &c.days, &c.months, &c.weekdays} {
		var err error
		if *set, err = fields[i].parse(strings.ToLower(parts[i])); err != nil {
			return Cron{}, fmt.Errorf("%q is not a cron expression: %w", clip.Visible(c.text), err)
		}
	}
	if c.weekdays&(1<<7) != 0 { // 7 is Sunday, too
		c.weekdays = c.weekdays&^(1<<7) | 1
	}
	if c.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Cron{}, fmt.Errorf("%q never comes: no month of it has such a day", clip.Visible(c.text))
	}
	return c, nil
}

// anything reports whether a field says nothing.
func anything(field string) bool {
	return slices.ContainsFunc(strings.Split(field, ","), func(part string) bool { return part == "*" || part == "*/1" })
}

// String is the expression, with one blank between its fields.
func (c Cron) String() string { return c.text }

// parse reads a field: a list of ranges.
func (f field) parse(text string) (set uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		span, every, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			if step, err = strconv.Atoi(every); err != nil || !digits(every) || step < 1 || step > f.max {
				return 0, fmt.Errorf("%s: %q is no step from 1 to %d", f.name, clip.Visible(every), f.max)
			}
		}
		from, to := f.min, f.max
		if f.max == 7 { // of the week, which has seven days
			to = 6
		}
		if span != "*" {
			first, last, isRange := strings.Cut(span, "-")
			if from, err = f.number(first); err != nil {
				return 0, err
			}
			switch {
			case isRange:
				if last == "sun" && from > 0 {
					last = "7" // the week may end with it
				}
				if to, err = f.number(last); err != nil {
					return 0, err
				}
			case !stepped:
				to = from
			}
			if to < from {
				return 0, fmt.Errorf("%s: the range %q ends before it begins", f.name, clip.Visible(span))
			}
		}
		for n := from; n <= to; n += step {
			set |= 1 << n
		}
	}
	return set, nil
}

// number reads a number or a name of the field.
func (f field) number(text string) (int, error) {
	for i, name := range f.names {
		if text == name {
			return f.min + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || !digits(text) || n < f.min || n > f.max {
		return 0, fmt.Errorf("%s: %q is not one of %d to %d", f.name, clip.Visible(text), f.min, f.max)
	}
	return n, nil
}

// digits reports whether a text is a number without a sign.
func digits(text string) bool {
	return text != "" && len(text) <= 4 && strings.Trim(text, "0123456789") == ""
}

func has(set uint64, n int) bool { return set&(1<<n) != 0 }

// on reports whether a day matches.
func (c Cron) on(month, day int, weekday time.Weekday) bool {
	if !has(c.months, month) {
		return false
	}
	d, w := has(c.days, day), has(c.weekdays, int(weekday))
	if c.anyDay || c.anyWeekday {
		return d && w
	}
	return d || w
}

// everyHour: the expression is about minutes, and goes by the hours that pass.
func (c Cron) everyHour() bool { return bits.OnesCount64(c.hours) == 24 }
