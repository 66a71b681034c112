package agenda

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/schedule"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// every finds an interval at the end of what a person says of a loop: "look at CI every 5m".
var every = pattern.Lazy(`(?i)^(.+?)[\s,]+every\s+(\d+)\s*(s|m|h|d|seconds?|minutes?|hours?|days?|min|sec)$`)

// interval splits what a person says of a loop, 0 without an interval.
func interval(args string) (d time.Duration, prompt string) {
	args = strings.TrimSpace(args)
	first, rest, _ := strings.Cut(args, " ")
	if d, ok := schedule.Interval(first); ok {
		return d, strings.TrimSpace(rest)
	}
	if m := every().FindStringSubmatch(args); m != nil {
		if d, ok := schedule.Interval(m[2] + strings.ToLower(m[3][:1])); ok {
			return d, m[1]
		}
	}
	return 0, args
}

// Loop sets the schedule of a loop that a person begins, and says to the model what it is; the
// first round is prompt. said is "" for one without an interval: the model paces it.
func (a *Agenda) Loop(args string) (said, prompt string, err error) {
	d, prompt := interval(args)
	if a == nil { // there are none: the model waits as it can
		return "", prompt, nil
	}
	switch {
	case prompt == "":
		return "", "", errors.New("a loop needs something to do: /loop 5m look at CI")
	case d == 0:
		return "", prompt, nil
	case strings.HasPrefix(prompt, "/loop"):
		return "", "", errors.New("a loop cannot begin a loop")
	}
	l, err := a.Add(schedule.Entry{Every: int(d.Seconds()), Prompt: prompt, Recurring: true, By: schedule.ByPerson}, "")
	if err != nil {
		return "", "", fmt.Errorf("the loop was not begun: %w", err)
	}
	now := a.Now()
	said = fmt.Sprintf("The person began a loop. What follows comes to you %s as the schedule %s, next at %s, and is set already: set nothing, and do not wait for it. "+
		"Say after each round in one line what it found, and more only when something changed. When what it is for is reached, or rounds cannot work any more, delete the schedule (CronDelete, id %s; load it with ToolSearch) and say why. Now do the first round:",
		strings.ToLower(l.Human[:1])+l.Human[1:], l.ID, clock(l.Next, now), l.ID)
	if a.Idle {
		said += " (This run ends after it; further rounds come when the session is resumed in a terminal.)"
	}
	return said, prompt, nil
}
