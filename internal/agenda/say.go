package agenda

import (
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/schedule"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Prompts that stand for going on with what a loop does. The names are those of Claude Code
// 2.1.332.
var sentinels = []string{"<<autonomous-loop-dynamic>>", "<<autonomous-loop>>"}

// goOn is what such a prompt says.
const goOn = "Go on with the loop, as you were told when it began. Look at what has changed since your last round, do what is to be done next, and end the loop when nothing is left or nobody is helped by another round."

// meant is what a prompt says to the model.
func meant(prompt string) string {
	for _, s := range sentinels {
		if strings.TrimSpace(prompt) == s {
			return goOn
		}
	}
	return prompt
}

// clock writes a time for people, with its day where that is not today.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// times says when something was due that did not come then.
func times(d schedule.Due, now time.Time) string {
	if d.Count == 1 {
		return "at " + clock(d.At, now)
	}
	more := ""
	if d.More {
		more = "more than "
	}
	return fmt.Sprintf("%s%s, from %s to %s", more, clip.Count(d.Count, "time"), clock(d.First, now), clock(d.At, now))
}

// said says to the model which schedule has come.
func said(it item, d schedule.Due, onTime bool, now time.Time) string {
	var b strings.Builder
	e, who := it.Entry, "you"
	if e.By == schedule.ByPerson {
		who = "the person"
	}
	if it.file != "" {
		fmt.Fprintf(&b, "The schedule %s (%s) of this folder (%s) has come, which the person allowed. Nobody typed this now.", e.ID, e.Human(now.Location()), it.file)
	} else if e.Wakeup != "" {
		fmt.Fprintf(&b, "The wake-up has come that you set at %s (%s).", clock(time.UnixMilli(e.Created), now), e.Wakeup)
	} else {
		fmt.Fprintf(&b, "The schedule %s (%s) has come, which %s set. Nobody typed this now.", e.ID, e.Human(now.Location()), who)
	}
	if d.Count > 1 || !onTime {
		fmt.Fprintf(&b, " It was due %s, while adze did not run or worked on something else. This stands for all of it.", times(d, now))
	}
	return b.String() + " Do what it says:"
}

// why says for people that a schedule has come.
func why(it item, d schedule.Due, onTime bool, loc *time.Location) string {
	e := it.Entry
	name := fmt.Sprintf("the schedule %s (%s)", e.ID, e.Human(loc))
	if e.Wakeup != "" {
		name = "the wake-up " + e.ID + " (" + clip.Line(clip.Visible(e.Wakeup), 100) + ")"
	}
	if d.Count > 1 {
		return fmt.Sprintf("%s has come; it was due %s", name, clip.Count(d.Count, "time"))
	}
	if !onTime {
		return name + " has come late; it was due on " + d.At.In(loc).Format("2006-01-02 at 15:04")
	}
	return name + " has come"
}
