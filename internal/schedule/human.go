package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// mostTimes are the times of a day that are said one by one.
const mostTimes = 4

// Human says when it is, for people; what is too intricate for that, as the expression.
func (c Cron) Human() string {
	when, day := c.times(), c.day()
	switch {
	case when == "" || day == "":
		return c.text
	case day == "every day" && strings.HasPrefix(when, "every"):
		return strings.ToUpper(when[:1]) + when[1:]
	}
	if strings.HasPrefix(when, "every") {
		return strings.ToUpper(when[:1]) + when[1:] + ", " + day
	}
	return strings.ToUpper(day[:1]) + day[1:] + " " + when
}

// times says when on a day it is, "" when that is too much.
func (c Cron) times() string {
	minutes := bits.OnesCount64(c.minutes)
	minute := fmt.Sprintf(":%02d", bits.TrailingZeros64(c.minutes))
	every, hours := step(c.minutes, 60), step(c.hours, 24)
	switch {
	case c.everyHour() && every == 1:
		return "every minute"
	case c.everyHour() && every > 1:
		return fmt.Sprintf("every %d minutes", every)
	case c.everyHour() && minutes == 1:
		return "every hour at " + minute
	case hours > 1 && minutes == 1 && bits.OnesCount64(c.hours) > mostTimes:
		return fmt.Sprintf("every %d hours at %s", hours, minute)
	case bits.OnesCount64(c.hours)*minutes > mostTimes:
		return ""
	}
	var list []string
	for h := range 24 {
		for m := range 60 {
			if has(c.hours, h) && has(c.minutes, m) {
				list = append(list, fmt.Sprintf("%02d:%02d", h, m))
			}
		}
	}
	return "at " + and(list)
}

// step is the n of which a set has all multiples below size, which n divides; 0 for none.
func step(set uint64, size int) int {
	if !has(set, 0) {
		return 0
	}
	n := size
	if rest := set &^ 1; rest != 0 {
		n = bits.TrailingZeros64(rest)
	}
	want := uint64(0)
	for i := 0; i < size; i += n {
		want |= 1 << i
	}
	if want != set || size%n != 0 || n == size {
		return 0
	}
	return n
}

// day says which days it is on, "" when that is too much.
func (c Cron) day() string {
	year := bits.OnesCount64(c.months) == 12
	days, weekdays := numbers(c.days), c.week()
	switch {
	case c.anyDay && c.anyWeekday && year:
		return "every day"
	case c.anyDay && year:
		return weekdays
	case !c.anyWeekday || len(days) > mostTimes && !c.anyDay:
		return ""
	case c.anyDay:
		return "every day in " + c.monthNames()
	case year:
		return "on day " + and(days) + " of each month"
	case bits.OnesCount64(c.months) == 1:
		return "on " + and(days) + " " + c.monthNames()
	}
	return "on day " + and(days) + " of " + c.monthNames()
}

// week says which days of the week it is on.
func (c Cron) week() string {
	switch c.weekdays {
	case 0b0111110:
		return "Monday to Friday"
	case 0b1000001:
		return "on Saturday and Sunday"
	}
	var list []string
	for i := range 7 { // from Monday
		if d := time.Weekday((i + 1) % 7); has(c.weekdays, int(d)) {
			list = append(list, d.String())
		}
	}
	if len(list) == 1 {
		return "every " + list[0]
	}
	return "on " + and(list)
}

func (c Cron) monthNames() string {
	var list []string
	for m := time.January; m <= time.December; m++ {
		if has(c.months, int(m)) {
			list = append(list, m.String())
		}
	}
	return and(list)
}

func numbers(set uint64) (list []string) {
	for ; set != 0; set &= set - 1 {
		list = append(list, strconv.Itoa(bits.TrailingZeros64(set)))
	}
	return list
}

// and lists things in a sentence.
func and(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
