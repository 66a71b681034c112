package schedule

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of schedules.
const (
	Most      = 50                  // schedules of a session, and of a folder
	MaxPrompt = 20_000              // characters of what one says
	MaxAge    = 30 * 24 * time.Hour // of one that comes again and again and is not kept
	shortest  = time.Minute         // between two times of one
	maxSpread = 15 * time.Minute    // that one comes late, so that not all come at once
	atMost    = 1000                // times that are counted
)

// An Entry is a prompt that comes by itself. The JSON is that of a task in
// .claude/scheduled_tasks.json of Claude Code 2.1.332; every, at, missed and by are adze's.
type Entry struct {
	ID     string `json:"id"`
	Cron   string `json:"cron,omitempty"`  // when it comes, in local time; "" is Every or At
	Every  int    `json:"every,omitempty"` // seconds between two times, at least 60
	At     int64  `json:"at,omitempty"`    // when it comes once, in milliseconds since 1970
	Prompt string `json:"prompt"`
	// Created is when it was set, in milliseconds since 1970.
	Created int64 `json:"createdAt"`
	// Recurring: it comes again and again, and ends after MaxAge unless it is Permanent.
	Recurring bool   `json:"recurring,omitempty"`
	Permanent bool   `json:"permanent,omitempty"`
	Missed    Missed `json:"missed,omitempty"`
	By        By     `json:"by,omitempty"`
	// Wakeup: the model set it for itself, for this reason.
	Wakeup string `json:"wakeup,omitempty"`
}

// A Missed says what becomes of times that nobody was there for.
type Missed string

// What becomes of them.
const (
	RunOnce Missed = ""     // all together come once
	Skip    Missed = "skip" // none comes
)

// A By is who set a schedule.
type By string

// Who sets schedules.
const (
	ByModel  By = ""
	ByPerson By = "person"
)

// Check says what is wrong with an entry, nil for nothing.
func (e Entry) Check() error {
	n := 0
	for _, said := range []bool{e.Cron != "", e.Every != 0, e.At != 0} {
		if said {
			n++
		}
	}
	switch {
	case n != 1:
		return errors.New("one of cron, every and at says when it comes")
	case e.Every != 0 && (e.Every < int(shortest.Seconds()) || e.Every > int(MaxAge.Seconds())):
		return fmt.Errorf("every is %d seconds; it can be 60 to %d", e.Every, int(MaxAge.Seconds()))
	case strings.TrimSpace(e.Prompt) == "":
		return errors.New("the prompt is empty")
	case utf8.RuneCountInString(e.Prompt) > MaxPrompt:
		return fmt.Errorf("the prompt is longer than %s characters", clip.Thousands(MaxPrompt))
	case e.Missed != RunOnce && e.Missed != Skip:
		return fmt.Errorf("missed is %q; it can be \"skip\", and else all that was missed comes once", clip.Line(clip.Visible(string(e.Missed)), 40))
	case e.Cron != "":
		_, err := Parse(e.Cron)
		return err
	}
	return nil
}

// Once reports whether it comes one time only.
func (e Entry) Once() bool { return e.At != 0 || !e.Recurring }

// Human says for people when it comes.
func (e Entry) Human(loc *time.Location) string {
	switch {
	case e.Once():
		if at := e.after(second(e.Created, loc)); !at.IsZero() {
			return "Once on " + at.Format("2006-01-02 at 15:04:05")
		}
		return "Once"
	case e.Every != 0 && e.Every == 60:
		return "Every minute"
	case e.Every != 0:
		return "Every " + long(time.Duration(e.Every)*time.Second)
	}
	c, err := Parse(e.Cron)
	if err != nil {
		return clip.Visible(e.Cron)
	}
	return c.Human()
}

// long says a duration in words.
func long(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if d%u.of == 0 {
			if d == u.of {
				return u.name
			}
			return clip.Count(int(d/u.of), u.name)
		}
	}
	return d.String()
}

// after is the first time after another one that it is set for, zero for none. A time comes
// a little later than that: see Spread.
func (e Entry) after(t time.Time) time.Time {
	switch {
	case e.At != 0:
		if at := second(e.At, t.Location()); at.After(t) {
			return at
		}
		return time.Time{}
	case e.Every != 0:
		set, every := second(e.Created, t.Location()), time.Duration(e.Every)*time.Second
		n := max(t.Sub(set)/every, 0)
		at := set.Add(n * every)
		if n == 0 || !at.After(t) {
			at = at.Add(every)
		}
		return at
	}
	c, err := Parse(e.Cron)
	if err != nil {
		return time.Time{}
	}
	return c.Next(t)
}

// Spread is how late a time comes: what is set for the same minute in many places shall not
// ask a provider at once. It is up to a tenth of the time until the next one and at most 15
// minutes, always the same for one entry, and nothing for what comes once or was set by
// every.
func (e Entry) Spread(at time.Time) time.Duration {
	if e.Cron == "" || e.Once() {
		return 0
	}
	next := e.after(at)
	if next.IsZero() {
		return 0
	}
	most := min(next.Sub(at)/10, maxSpread)
	h := fnv.New32a()
	h.Write([]byte(e.ID + "\x00" + e.Cron))
	return (most * time.Duration(h.Sum32()%1000) / 1000).Truncate(time.Second)
}

// second is a time in milliseconds since 1970, in whole seconds: so are all times of entries.
func second(milli int64, loc *time.Location) time.Time { return time.Unix(milli/1000, 0).In(loc) }

// since is when it came last, at the latest when it was set. came: it did come.
func (e Entry) since(last time.Time, loc *time.Location) (at time.Time, came bool) {
	if set := second(e.Created, loc); !last.After(set) {
		return set, false
	}
	return last.In(loc), true
}

// Next is when it comes next, after the time that it was set for last (a Due's At; zero: it
// never came). It is zero when it comes no more.
func (e Entry) Next(last time.Time, loc *time.Location) time.Time {
	since, came := e.since(last, loc)
	if e.Once() && came {
		return time.Time{}
	}
	at := e.after(since)
	if at.IsZero() || e.ends(at) {
		return time.Time{}
	}
	return at.Add(e.Spread(at))
}

// ends reports whether it has ended by a time, because of its age.
func (e Entry) ends(at time.Time) bool {
	return !e.Once() && !e.Permanent && at.After(e.Ends())
}

// Ends is when it ends because of its age, where it does.
func (e Entry) Ends() time.Time { return time.UnixMilli(e.Created).Add(MaxAge) }

// Over reports whether it never comes again.
func (e Entry) Over(last time.Time, now time.Time) bool {
	return e.ends(now) || e.Next(last, now.Location()).IsZero()
}

// A Due is what has come by now.
type Due struct {
	At    time.Time // the last time that it was set for
	First time.Time // the first of them
	Count int       // of them
	More  bool      // there are more than Count
}

// Due is what has come of an entry by now, since the time that it was set for last. ok is
// false for nothing.
func (e Entry) Due(last, now time.Time) (d Due, ok bool) {
	since, came := e.since(last, now.Location())
	if e.Once() && came {
		return d, false
	}
	for at := e.after(since); !at.IsZero() && !at.Add(e.Spread(at)).After(now) && !e.ends(at); at = e.after(at) {
		if d.Count == 0 {
			d.First = at
		}
		if d.Count == atMost {
			d.At, d.More = now.Truncate(time.Second), true
			return d, true
		}
		d.At, d.Count = at, d.Count+1
		if e.Once() {
			break
		}
	}
	return d, d.Count > 0
}

// Number is the number of a time among all of an entry, in rising order.
func Number(at time.Time) int { return int(at.Unix()) }

// Numbered is the time of a number, zero of 0.
func Numbered(n int) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(int64(n), 0)
}

// Interval reads how long is between two times: "90s", "5m", "2h", "1d". Less than a minute
// is a minute. ok is false for what is none.
func Interval(text string) (d time.Duration, ok bool) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	if len(text) < 2 || !digits(text[:len(text)-1]) {
		return 0, false
	}
	n, _ := strconv.Atoi(text[:len(text)-1]) // digits
	unit, ok := units[text[len(text)-1]]
	if !ok || n == 0 {
		return 0, false
	}
	return max(time.Duration(n)*unit, shortest), true
}

// When is an entry that comes as a person says: at the times of a cron expression, or once
// in an interval.
func When(text, prompt string) (Entry, error) {
	e := Entry{Prompt: prompt, Recurring: true, By: ByPerson}
	if d, ok := Interval(text); ok {
		e.Every = int(d.Seconds())
	} else {
		e.Cron = text
	}
	return e, e.Check()
}
