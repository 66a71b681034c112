package schedule

import (
	"math/bits"
	"time"
)

// horizon is how many days are looked at: 29 February may be away so far.
const horizon = 9 * 366

// around is further than any clock was ever put forward or back, in seconds.
const around = 26 * 3600

// Next is the first time after another one that matches, in the same time zone, at the
// beginning of a minute. It is zero when there is none.
//
// Where the clock is put forward, what would come in the hour that is left out comes at
// its end, once. Where it is put back, what comes in the hour that is there twice comes
// the first time only. An expression that names no hours ("*/5 * * * *") goes by the hours
// that pass: nothing is left out, and nothing made up for.
func (c Cron) Next(after time.Time) time.Time {
	loc := after.Location()
	y, m, d := after.Date()
	found := int64(0)
	// The day before may have times that come after, where its end is there twice.
	for day := -1; day < horizon; day++ {
		date := time.Date(y, m, d+day, 0, 0, 0, 0, time.UTC)
		if c.on(int(date.Month()), date.Day(), date.Weekday()) {
			if t := c.within(date.Unix(), after.Unix(), loc); t > 0 && (found == 0 || t < found) {
				found = t
			} else if found > 0 {
				break
			}
		} else if found > 0 {
			break
		}
	}
	if found == 0 {
		return time.Time{}
	}
	return time.Unix(found, 0).In(loc)
}

// within is the first time after another one on a day that matches, 0 for none. Wall clocks
// are counted as UTC counts.
func (c Cron) within(midnight, after int64, loc *time.Location) (first int64) {
	old, now := offset(midnight-around, loc), offset(midnight+24*3600+around, loc)
	var look func(wall int64) []int64
	if old == now {
		look = func(wall int64) []int64 { return []int64{wall - old} }
	} else {
		look = func(wall int64) []int64 { return c.instants(wall, old, now, loc) }
	}
	for hours := c.hours; hours != 0; hours &= hours - 1 {
		hour := midnight + 3600*int64(bits.TrailingZeros64(hours))
		if old == now && hour-old+3599 <= after {
			continue
		}
		for minutes := c.minutes; minutes != 0; minutes &= minutes - 1 {
			for _, t := range look(hour + 60*int64(bits.TrailingZeros64(minutes))) {
				if t > after && (first == 0 || t < first) {
					first = t
				}
			}
			if old == now && first > 0 {
				return first
			}
		}
	}
	return first
}

// instants are when a wall clock shows a time for which the expression has something
// happen, on a day near which the clock was changed.
func (c Cron) instants(wall, old, now int64, loc *time.Location) (out []int64) {
	for _, t := range []int64{wall - old, wall - now} {
		if offset(t, loc) == wall-t {
			out = append(out, t)
		}
	}
	switch {
	case len(out) == 0 && !c.everyHour(): // the clock never shows it
		return []int64{change(wall-now, wall-old, loc)}
	case len(out) == 2 && !c.everyHour():
		return []int64{min(out[0], out[1])}
	}
	return out
}

// offset is how far a wall clock is ahead of UTC, in seconds.
func offset(t int64, loc *time.Location) int64 {
	_, o := time.Unix(t, 0).In(loc).Zone()
	return int64(o)
}

// change is the first second in which the offset is that of the end of a span, which
// differs from that of its beginning.
func change(from, to int64, loc *time.Location) int64 {
	if from > to {
		from, to = to, from
	}
	for end := offset(to, loc); to-from > 1; {
		if mid := from + (to-from)/2; offset(mid, loc) == end {
			to = mid
		} else {
			from = mid
		}
	}
	return to
}
