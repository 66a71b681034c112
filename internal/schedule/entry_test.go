package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/schedule"
)

// What is wrong with an entry is said.
func TestCheck(t *testing.T) {
	for want, e := range map[string]schedule.Entry{
		"":                    {Cron: "0 9 * * 1-5", Prompt: "look", Recurring: true},
		"one of cron, every":  {Prompt: "look"},
		"every and at says":   {Cron: "0 9 * * 1-5", Every: 60, Prompt: "look"},
		"every is 59 seconds": {Every: 59, Prompt: "look"},
		"every is 2592001":    {Every: 30*86400 + 1, Prompt: "look"},
		"every is -60":        {Every: -60, Prompt: "look"},
		"the prompt is empty": {Every: 60, Prompt: " \n"},
		"is longer than":      {Every: 60, Prompt: strings.Repeat("x", schedule.MaxPrompt+1)},
		`missed is "twice"`:   {Every: 60, Prompt: "look", Missed: "twice"},
		"never comes":         {Cron: "0 0 30 2 *", Prompt: "look"},
	} {
		if err := e.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", e, err, want)
		}
	}
}

// A time comes up to a tenth of the period late, at most 15 minutes, always the same for one
// entry. What comes once, or at an interval, is not late.
func TestSpread(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	late := map[time.Duration]bool{}
	for i := range 200 {
		for cron, most := range map[string]time.Duration{"* * * * *": 6 * time.Second, "*/30 * * * *": 3 * time.Minute, "0 * * * *": 6 * time.Minute, "0 9 * * *": 15 * time.Minute, "0 9 * * 1": 15 * time.Minute} {
			e := schedule.Entry{ID: fmt.Sprint("s", i), Cron: cron, Prompt: "look", Recurring: true}
			d := e.Spread(at)
			if d < 0 || d > most || d != e.Spread(at) {
				t.Errorf("%s: %s", cron, d)
			}
			if cron == "0 9 * * *" {
				late[d] = true
			}
			if e.Recurring = false; e.Spread(at) != 0 {
				t.Error("what comes once is late")
			}
		}
	}
	if len(late) < 100 {
		t.Errorf("200 schedules of one minute come at %d times", len(late))
	}
	if d := (schedule.Entry{ID: "s1", Every: 3600, Prompt: "look", Recurring: true}).Spread(at); d != 0 {
		t.Error(d)
	}
}

// An hour that the clock leaves out is made up for, and one that is there twice comes once.
func TestDueOverChanges(t *testing.T) {
	loc := zone(t, "Europe/Berlin")
	for day, want := range map[string]string{"2026-03-29": "03:00", "2026-10-25": "02:30"} {
		set, err := time.ParseInLocation(time.DateOnly, day, loc)
		if err != nil {
			t.Fatal(err)
		}
		e := schedule.Entry{ID: "s1", Cron: "30 2 * * *", Prompt: "look", Recurring: true, Created: set.UnixMilli()}
		d, ok := e.Due(time.Time{}, set.Add(10*time.Hour))
		if !ok || d.Count != 1 || d.At.Format("15:04") != want {
			t.Errorf("%s: %+v", day, d)
		}
		if d, ok := e.Due(schedule.Numbered(schedule.Number(d.At)), set.Add(10*time.Hour)); ok {
			t.Errorf("%s: it comes again at %s", day, d.At)
		}
	}
}

// What was due for very long is counted no further than makes sense, and is told once.
func TestDueForLong(t *testing.T) {
	set := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := schedule.Entry{ID: "s1", Cron: "* * * * *", Prompt: "look", Recurring: true, Permanent: true, Created: set.UnixMilli()}
	now := set.Add(300*24*time.Hour + 30*time.Second)
	d, ok := e.Due(time.Time{}, now)
	if !ok || !d.More || d.Count != 1000 || !d.At.Equal(now) {
		t.Errorf("%+v", d)
	}
	if d, ok := e.Due(schedule.Numbered(schedule.Number(d.At)), now.Add(20*time.Second)); ok {
		t.Errorf("%+v", d)
	}
	if next := e.Next(schedule.Numbered(schedule.Number(d.At)), time.UTC); next.Sub(now) > 40*time.Second {
		t.Error(next)
	}
	e.Permanent = false
	if !e.Over(time.Time{}, now) || !e.Next(d.At, time.UTC).IsZero() {
		t.Error("it did not end")
	}
}
