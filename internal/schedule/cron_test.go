package schedule_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/adze-agent/adze/internal/schedule"
)

var (
	expressions = flag.Int("expressions", 150, "how many random expressions are compared with another implementation")
	seed        = flag.Uint64("seed", 1, "for the expressions and the times")
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// zones change their clocks: at one and at two, by half an hour, on the other half of the
// earth, and at midnight.
var zones = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo"}

const minute = "2006-01-02 15:04 -0700"

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"*/5 * * * *": "Every 5 minutes", "* * * * *": "Every minute", "7 * * * *": "Every hour at :07", "*/60 * * * *": `"60" is no step from 1 to 59`,
		"3 */6 * * *": "Every day at 00:03, 06:03, 12:03 and 18:03", "3 */2 * * *": "Every 2 hours at :03", "37 4 * * *": "Every day at 04:37", "5 5 * * 0": "Every Sunday at 05:05", "5 5 * * 7": "Every Sunday at 05:05",
		"0 9 * * 1-5": "Monday to Friday at 09:00", "0 9 * * Mon-FRI": "Monday to Friday at 09:00", "0 9,17 * * sat,sun": "On Saturday and Sunday at 09:00 and 17:00", "30 14 28 2 *": "On 28 February at 14:30",
		"0 0 1,15 * *": "On day 1 and 15 of each month at 00:00", "0 0 1 jan,JUL *": "On day 1 of January and July at 00:00", "*/10 * * * 1": "Every 10 minutes, every Monday", "0 12 * 6 *": "Every day in June at 12:00",
		"0 12 13 * 5": "0 12 13 * 5", "1-59/2 * * * *": "1-59/2 * * * *", "0 9 * * fri-sun": "On Friday, Saturday and Sunday at 09:00", "0 9 * * 5-7": "On Friday, Saturday and Sunday at 09:00", "5/20 * * * *": "5/20 * * * *", " 0  9 * *   1 ": "Every Monday at 09:00",
		"0 0 29 2 *": "On 29 February at 00:00",

		"": "five fields", "* * * *": "five fields", "* * * * * *": "five fields", "@daily": "five fields", "60 * * * *": `minute: "60" is not one of 0 to 59`, "* 24 * * *": "hour", "* * 0 * *": "day of the month", "* * 32 * *": "day of the month",
		"* * * 13 *": "month", "* * * * 8": "day of the week", "* * * * mo": `day of the week: "mo" is not one of`, "jan * * * *": "minute", "5-1 * * * *": "ends before it begins", "*/0 * * * *": "no step", "1- * * * *": "minute", "-1 * * * *": "minute",
		"+1 * * * *": "minute", "1,,2 * * * *": "minute", "*/5/2 * * * *": "no step", "0 0 31 2 *": "never comes", "0 0 30,31 feb *": "never comes", "0 0 31 4,6,9,11 *": "never comes", "* * * * ?": "day of the week", "* * L * *": "day of the month", "\x1b[2J * * * *": "minute",
		strings.Repeat("1,", 200) + "1 * * * *": "five fields",
	} {
		c, err := schedule.Parse(text)
		switch {
		case err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v, want %q", text, err, want)
		case err != nil && strings.Contains(err.Error(), "\x1b"):
			t.Errorf("%q: %q", text, err)
		case err == nil && c.Human() != want:
			t.Errorf("%q is %q, want %q", text, c.Human(), want)
		}
	}
}

// A day matches by both of its fields, or by either when both say something.
func TestDays(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) // a Monday
	for text, want := range map[string]string{
		"0 9 * * 1": "2026-12-07", "0 9 * * 0": "2026-12-06", "0 9 * * 7": "2026-12-06", "0 13 * * 1": "2026-11-30", "0 9 * * sun": "2026-12-06", "0 9 13 * *": "2026-12-13", "0 9 13 * 5": "2026-12-04", "0 9 1 * 5": "2026-12-01",
		"0 9 29 2 *": "2028-02-29", "0 9 31 * *": "2026-12-31", "0 9 1 1 *": "2027-01-01", "0 9 * 2 1": "2027-02-01", "0 9 1-31 2 3": "2027-02-01", "0 9 30 11 *": "2027-11-30",
	} {
		c, err := schedule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Next(at).Format(time.DateOnly); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// When the clock is changed, each time comes once, unless it is every hour's.
func TestClockChanges(t *testing.T) {
	for _, c := range []struct{ zone, text, from, want string }{
		// from two to three
		{"Europe/Berlin", "30 2 * * *", "2026-03-28 12:00 +0100", "2026-03-29 03:00 +0200, 2026-03-30 02:30 +0200"},
		{"Europe/Berlin", "*/20 2 * * *", "2026-03-29 00:00 +0100", "2026-03-29 03:00 +0200, 2026-03-30 02:00 +0200"},
		{"Europe/Berlin", "0,30 1-3 * * *", "2026-03-29 01:00 +0100", "2026-03-29 01:30 +0100, 2026-03-29 03:00 +0200, 2026-03-29 03:30 +0200, 2026-03-30 01:00 +0200"},
		{"Europe/Berlin", "30 * * * *", "2026-03-29 01:00 +0100", "2026-03-29 01:30 +0100, 2026-03-29 03:30 +0200, 2026-03-29 04:30 +0200"},
		{"Europe/Berlin", "0 3 * * *", "2026-03-29 01:00 +0100", "2026-03-29 03:00 +0200, 2026-03-30 03:00 +0200"},
		// from three back to two
		{"Europe/Berlin", "30 2 * * *", "2026-10-24 12:00 +0200", "2026-10-25 02:30 +0200, 2026-10-26 02:30 +0100"},
		{"Europe/Berlin", "30 2 * * *", "2026-10-25 02:10 +0100", "2026-10-26 02:30 +0100"},
		{"Europe/Berlin", "20 * * * *", "2026-10-25 01:30 +0200", "2026-10-25 02:20 +0200, 2026-10-25 02:20 +0100, 2026-10-25 03:20 +0100"},
		{"Europe/Berlin", "0 1-3 * * *", "2026-10-25 01:00 +0200", "2026-10-25 02:00 +0200, 2026-10-25 03:00 +0100"},
		// midnight is left out, or there twice
		{"America/Santiago", "30 0 * * *", "2026-09-05 12:00 -0400", "2026-09-06 01:00 -0300, 2026-09-07 00:30 -0300"},
		{"America/Santiago", "30 23 * * *", "2026-04-04 12:00 -0300", "2026-04-04 23:30 -0300, 2026-04-05 23:30 -0400"},
		{"America/Santiago", "30 * * * 6", "2026-04-04 22:45 -0300", "2026-04-04 23:30 -0300, 2026-04-04 23:30 -0400, 2026-04-11 00:30 -0400"},
		// by half an hour
		{"Australia/Lord_Howe", "15 2 * * *", "2026-10-03 12:00 +1030", "2026-10-04 02:30 +1100, 2026-10-05 02:15 +1100"},
		{"Australia/Lord_Howe", "45 1 * * *", "2026-04-04 12:00 +1100", "2026-04-05 01:45 +1100, 2026-04-06 01:45 +1030"},
		// a whole day is left out
		{"Pacific/Apia", "0 9 30 12 *", "2011-12-29 12:00 -1000", "2011-12-31 00:00 +1400, 2012-12-30 09:00 +1400"},
	} {
		loc := zone(t, c.zone)
		at, err := time.ParseInLocation(minute, c.from, loc)
		if err != nil {
			t.Fatal(err)
		}
		x, err := schedule.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range strings.Count(c.want, ",") + 1 {
			at = x.Next(at.In(loc))
			got = append(got, at.Format(minute))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s, %s from %s:\n got %s\nwant %s", c.zone, c.text, c.from, s, c.want)
		}
	}
}

// random is an expression that github.com/robfig/cron reads in the same way: it has 7 for
// no day of the week.
func random(r *rand.Rand) string {
	one := func(lo, hi int) string {
		number := func() int { return lo + r.IntN(hi-lo+1) }
		var parts []string
		for range 1 + r.IntN(3) {
			a, b := number(), number()
			if a > b {
				a, b = b, a
			}
			switch r.IntN(6) {
			case 0:
				parts = append(parts, fmt.Sprintf("%d-%d", a, b))
			case 1:
				parts = append(parts, fmt.Sprintf("%d-%d/%d", a, b, 1+r.IntN(hi)))
			case 2:
				parts = append(parts, fmt.Sprintf("%d/%d", a, 1+r.IntN(hi)))
			case 3:
				parts = append(parts, fmt.Sprintf("*/%d", 1+r.IntN(hi)))
			default:
				parts = append(parts, fmt.Sprint(a))
			}
		}
		return strings.Join(parts, ",")
	}
	var out []string
	for i, span := range [][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}} {
		s := "*"
		if r.IntN(3) > 0 && !(i >= 2 && r.IntN(2) == 0) {
			s = one(span[0], span[1])
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// Far from a change of the clock, two implementations find the same times; near one, those
// that a look at every minute finds. -expressions 10000 is the whole of it.
func TestOtherImplementation(t *testing.T) {
	other := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	r := rand.New(rand.NewPCG(*seed, 2))
	compared, near, refused := 0, 0, 0
	for i := range *expressions {
		text := random(r)
		c, err := schedule.Parse(text)
		theirs, theirErr := other.Parse(text)
		if theirErr != nil {
			t.Fatalf("%s: %v", text, theirErr)
		}
		if err != nil {
			refused++
			if at := theirs.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)); !at.IsZero() {
				t.Errorf("%s comes on %s: %v", text, at, err)
			}
			continue
		}
		loc := zone(t, zones[i%len(zones)])
		for range 4 {
			at := time.Unix(1_700_000_000+r.Int64N(12*365*24*3600), 0).In(loc)
			for range 5 {
				ours, theirs := c.Next(at), theirs.Next(at)
				if theirs.IsZero() { // it looks five years ahead
					break
				}
				first := ours
				if theirs.Before(ours) {
					first = theirs
				}
				_, before := first.Add(-26 * time.Hour).Zone()
				_, after := first.Add(26 * time.Hour).Zone()
				switch {
				case before != after:
					near++
				case !ours.Equal(theirs):
					t.Fatalf("%s in %s after %s: %s, and %s", text, loc, at, ours.Format(minute), theirs.Format(minute))
				default:
					compared++
				}
				at = ours
			}
		}
		if i%10 == 0 {
			everyMinute(t, text, c, loc, 2024+r.IntN(10))
		}
	}
	t.Logf("%d times compared, %d near a change of the clock, %d expressions never come", compared, near, refused)
}

// everyMinute compares the times around the changes of the clock in a year with those that
// are found by looking at each minute.
func everyMinute(t *testing.T, text string, c schedule.Cron, loc *time.Location, year int) {
	t.Helper()
	hourly := strings.Fields(text)[1] == "*" || allHours(strings.Fields(text)[1])
	for at := time.Date(year, 1, 1, 12, 0, 0, 0, time.UTC); at.Year() == year; at = at.Add(24 * time.Hour) {
		_, a := at.In(loc).Zone()
		_, b := at.Add(24 * time.Hour).In(loc).Zone()
		if a == b {
			continue
		}
		from, to := at.Add(-12*time.Hour), at.Add(60*time.Hour)
		var want, got []string
		shown := map[string]bool{}
		last := from.Add(-time.Minute).In(loc)
		for m := from; m.Before(to); m = m.Add(time.Minute) {
			now := m.In(loc)
			due := false
			// each minute that a wall clock would have shown since the last one
			for wall := wallOf(last) + 60; wall < wallOf(now) && !hourly; wall += 60 {
				due = due || matches(t, text, wall)
			}
			key := fmt.Sprint(wallOf(now))
			if matches(t, text, wallOf(now)) && (hourly || !shown[key]) {
				due = true
			}
			shown[key] = true
			if due {
				want = append(want, now.Format(minute))
			}
			last = now
		}
		for n := c.Next(from.Add(-time.Second).In(loc)); !n.IsZero() && n.Before(to); n = c.Next(n) {
			got = append(got, n.Format(minute))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s in %s in %d:\n got %v\nwant %v", text, loc, year, got, want)
		}
	}
}

// wallOf is what a wall clock shows, counted as UTC counts.
func wallOf(t time.Time) int64 {
	_, o := t.Zone()
	return t.Unix() + int64(o)
}

// matches is whether the other implementation has something happen at a time of UTC.
func matches(t *testing.T, text string, wall int64) bool {
	s, ok := parsed[text]
	if !ok {
		var err error
		if s, err = cron.ParseStandard(text); err != nil {
			t.Fatal(err)
		}
		parsed[text] = s
	}
	at := time.Unix(wall, 0).UTC()
	return s.Next(at.Add(-time.Second)).Equal(at)
}

var parsed = map[string]cron.Schedule{}

func allHours(field string) bool {
	s, err := cron.ParseStandard("0 " + field + " * * *")
	if err != nil {
		return false
	}
	n := 0
	for at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Second); ; n++ {
		if at = s.Next(at); at.Day() != 1 {
			return n == 24
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"*/5 * * * *", "0 9 * * 1-5", "1,2-9/3 5/2 29 feb *", "* * * * 7", "60 * * * *"} {
		f.Add(s, int64(1_764_500_000))
	}
	berlin := zone(f, zones[0])
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		c, err := schedule.Parse(text)
		if err != nil {
			return
		}
		at := time.Unix(unix%(1<<33), 0).In(berlin)
		next := c.Next(at)
		if !next.After(at) || next.Second() != 0 {
			t.Errorf("%q after %s: %s", text, at, next)
		}
		again, err := schedule.Parse(c.String())
		if err != nil || !again.Next(at).Equal(next) || c.Human() == "" {
			t.Errorf("%q is not %q: %v", c.String(), text, err)
		}
	})
}
