// Package cron has the tools with which a model has prompts come by themselves: CronCreate,
// CronDelete, CronList and ScheduleWakeup. When they come, package agenda knows.
package cron

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/agenda"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/schedule"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// The names of the tools, and those of their fields, are those of Claude Code 2.1.332.
const (
	Create = "CronCreate"
	Delete = "CronDelete"
	List   = "CronList"
	Wakeup = "ScheduleWakeup"
)

var (
	//go:embed create.md
	createText string
	//go:embed wakeup.md
	wakeupText string
)

// What the delay of a wake-up can be.
const (
	leastDelay = time.Minute
	mostDelay  = time.Hour
)

type createInput struct {
	Cron      string `json:"cron"`
	Prompt    string `json:"prompt" jsonschema:"what you read each time"`
	Recurring *bool  `json:"recurring,omitempty" jsonschema:"false: once, at the first such time (default true)"`
	Durable   bool   `json:"durable,omitempty" jsonschema:"true: the folder's, in any session there"`
}

type deleteInput struct {
	ID string `json:"id"`
}

type wakeupInput struct {
	Delay  float64 `json:"delaySeconds,omitempty"`
	Reason string  `json:"reason,omitempty" jsonschema:"a sentence for the person: what you wait for"`
	Prompt string  `json:"prompt,omitempty" jsonschema:"what you read then; that of the loop, unchanged"`
	Noop   bool    `json:"noop,omitempty" jsonschema:"true: this round found nothing to do"`
	Stop   bool    `json:"stop,omitempty" jsonschema:"true: ends the loop, needs nothing else"`
}

// New returns the four tools of a session's schedules.
func New(a *agenda.Agenda) []tool.Tool {
	c := crons{a}
	seldom := func(s tool.Spec) tool.Spec {
		s.Deferrable, s.Seldom = true, true
		return s
	}
	return []tool.Tool{
		tool.New(seldom(tool.Spec{Name: Create, Description: strings.TrimSpace(createText)}), c.planCreate, c.create),
		tool.New(seldom(tool.Spec{Name: Delete, Description: "Deletes a schedule, which comes no more."}), c.planDelete, c.delete),
		tool.New(seldom(tool.Spec{Name: List, Description: "Lists the schedules, and when each comes next."}), func(struct{}, tool.Env) (tool.Plan, error) {
			return quiet("List the schedules", true), nil
		}, c.list),
		tool.New(seldom(tool.Spec{Name: Wakeup, Description: strings.TrimSpace(wakeupText)}), c.planWakeup, c.wakeup),
	}
}

type crons struct{ *agenda.Agenda }

// quiet is the plan of what needs no answer: a schedule of a session does nothing that the
// session may not do when it comes.
func quiet(title string, parallel bool) tool.Plan {
	return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: clip.Line(clip.Visible(title), 200), Parallel: parallel}
}

func (in createInput) entry() schedule.Entry {
	return schedule.Entry{Cron: in.Cron, Prompt: in.Prompt, Recurring: in.Recurring == nil || *in.Recurring}
}

func (c crons) planCreate(in createInput, _ tool.Env) (tool.Plan, error) {
	e := in.entry()
	if err := e.Check(); err != nil {
		return tool.Plan{}, err
	}
	e.Created = c.Now().UnixMilli() // what comes once, comes after now
	p := quiet("Schedule: "+e.Human(c.Now().Location())+": "+in.Prompt, false)
	if in.Durable && c.Folder != nil {
		p.Actions = c.writes()
		p.View = view.Text{S: fmt.Sprintf("%s, in any session of this folder:\n%s", e.Human(c.Now().Location()), clip.VisibleText(in.Prompt))}
	}
	return p, nil
}

// writes is what changing the schedules of the folder comes to.
func (c crons) writes() []policy.Action {
	return []policy.Action{policy.Write{Path: filepath.Join(c.Folder.Root, filepath.FromSlash(agenda.OwnFile)), Asked: agenda.OwnFile}}
}

// ofFolder reports whether the folder has a schedule of this ID.
func (c crons) ofFolder(id string) (s agenda.Standing, ok bool) {
	if c.Folder == nil {
		return s, false
	}
	list, _ := c.Folder.List() // CronList says what cannot be read
	i := slices.IndexFunc(list, func(s agenda.Standing) bool { return s.ID == id })
	if i < 0 {
		return s, false
	}
	return list[i], true
}

func (c crons) planDelete(in deleteInput, _ tool.Env) (tool.Plan, error) {
	p := quiet("Delete the schedule "+in.ID, false)
	if s, ok := c.ofFolder(in.ID); ok && s.File == agenda.OwnFile {
		p.Actions = c.writes()
	}
	return p, nil
}

// at says when something comes.
func (c crons) at(t time.Time) string {
	return t.In(c.Now().Location()).Format("Monday 2006-01-02 at 15:04:05 -07:00")
}

func (c crons) create(ctx context.Context, in createInput, env tool.Env) (tool.Result, error) {
	var l agenda.Listed
	var err error
	whose := "this session"
	if in.Durable {
		l, err = c.AddToFolder(ctx, in.entry())
		whose = "this folder (" + agenda.OwnFile + "), and comes in one of the sessions that are open there"
	} else {
		l, err = c.Add(in.entry(), env.Call)
	}
	if err != nil {
		return tool.Errorf("The schedule was not set: %s", err), nil
	}
	text := fmt.Sprintf("The schedule %s is set: %s, next on %s. It belongs to %s.", l.ID, l.Human, c.at(l.Next), whose)
	data := map[string]any{"id": l.ID, "humanSchedule": l.Human, "recurring": l.Recurring, "durable": in.Durable, "nextFireAt": l.Next.UnixMilli()}
	if l.Recurring {
		data["maxAgeMs"] = schedule.MaxAge.Milliseconds()
		text += " It ends on " + l.Ends().In(c.Now().Location()).Format(time.DateOnly) + "."
	} else {
		text += " It comes once."
	}
	others := 0
	for _, x := range c.Agenda.List() {
		if x.Once() && x.ID != l.ID {
			others++
		}
	}
	if others > 0 && !l.Recurring {
		data["otherOneShots"] = others
	}
	if c.Idle {
		text += " This run does not wait for it" + map[bool]string{false: ": it comes when the session is resumed in a terminal"}[in.Durable] + "."
	}
	return tool.Result{Text: text, Data: func() any { return data }}, nil
}

func (c crons) delete(ctx context.Context, in deleteInput, _ tool.Env) (tool.Result, error) {
	e, err := c.Delete(in.ID, "the model deleted it")
	left := ""
	if errors.Is(err, agenda.ErrNone) {
		e, left, err = c.DeleteFromFolder(ctx, in.ID)
	}
	switch {
	case errors.Is(err, agenda.ErrNone):
		return tool.Errorf("There is no schedule %q; CronList lists them.", clip.Line(clip.Visible(in.ID), 100)), nil
	case err != nil:
		return tool.Errorf("The schedule was not deleted: %s", err), nil
	}
	text := fmt.Sprintf("The schedule %s (%s) is deleted.", e.ID, e.Human(c.Now().Location()))
	if left != "" {
		text = fmt.Sprintf("The schedule %s (%s) comes no more here. It still stands in %s.", e.ID, e.Human(c.Now().Location()), left)
	}
	return tool.Result{
		Text: text,
		Data: func() any { return map[string]any{"id": e.ID} },
	}, nil
}

func (c crons) list(context.Context, struct{}, tool.Env) (tool.Result, error) {
	jobs := []map[string]any{}
	var b strings.Builder
	for _, l := range c.Agenda.List() {
		fmt.Fprintf(&b, "%s: %s", l.ID, l.About(c.Now()))
		job := map[string]any{"id": l.ID, "cron": l.Cron, "humanSchedule": l.Human, "prompt": l.Prompt, "recurring": !l.Once(), "durable": false, "nextFireAt": l.Next.UnixMilli()}
		jobs = append(jobs, job)
	}
	if c.Folder != nil {
		list, err := c.Folder.List()
		for _, s := range list {
			fmt.Fprintf(&b, "%s\n", s.About(c.Now()))
			job := map[string]any{"id": s.ID, "cron": s.Cron, "humanSchedule": s.Human, "prompt": s.Prompt, "recurring": !s.Once(), "durable": true}
			if s.Allowed && !s.Next.IsZero() {
				job["nextFireAt"] = s.Next.UnixMilli()
			}
			jobs = append(jobs, job)
		}
		if err != nil {
			fmt.Fprintf(&b, "%s\n", clip.VisibleText(err.Error()))
		}
	}
	text := b.String()
	if text == "" {
		text = "There are no schedules."
	}
	return tool.Result{Text: text, Data: func() any { return map[string]any{"jobs": jobs} }}, nil
}

func (in wakeupInput) check() error {
	switch {
	case in.Stop:
		return nil
	case in.Delay <= 0 || math.IsNaN(in.Delay):
		return errors.New(`field "delaySeconds" says when you go on, in seconds from 60 to 3600`)
	case strings.TrimSpace(in.Reason) == "":
		return errors.New(`field "reason" is empty: it says what you wait for`)
	case strings.TrimSpace(in.Prompt) == "":
		return errors.New(`field "prompt" is empty: it says what you do then`)
	}
	return nil
}

// delay is how long it is waited: what is outside of the bounds is brought inside, as its
// public description says.
func (in wakeupInput) delay() time.Duration {
	return time.Duration(min(max(in.Delay, leastDelay.Seconds()), mostDelay.Seconds()) * float64(time.Second)).Round(time.Second)
}

func (c crons) planWakeup(in wakeupInput, _ tool.Env) (tool.Plan, error) {
	if err := in.check(); err != nil {
		return tool.Plan{}, err
	}
	if in.Stop {
		return quiet("The loop ends", false), nil
	}
	return quiet("Go on in "+clip.Span(in.delay())+": "+in.Reason, false), nil
}

func (c crons) wakeup(_ context.Context, in wakeupInput, env tool.Env) (tool.Result, error) {
	if in.Stop {
		if !c.Sleep() {
			return tool.Result{Text: "No wake-up was set. The loop has ended."}, nil
		}
		return tool.Result{Text: "The loop has ended: no wake-up comes."}, nil
	}
	d := in.delay()
	l, noops, err := c.Wake(d, in.Reason, in.Prompt, in.Noop, env.Call)
	if err != nil {
		return tool.Errorf("The wake-up was not set: %s", err), nil
	}
	text := fmt.Sprintf("You go on %s (in %d seconds). End your turn now.", c.at(l.Next), int(d.Seconds()))
	clamped := in.Delay < leastDelay.Seconds() || in.Delay > mostDelay.Seconds()
	if clamped {
		text += " The delay was brought to what is possible, 60 to 3600 seconds."
	}
	if noops > 1 {
		text += fmt.Sprintf(" %d rounds in a row found nothing to do: wait longer, or end the loop (stop) where nothing is to be expected.", noops)
	}
	if c.Idle {
		text += " This run does not wait for it: it comes when the session is resumed in a terminal."
	}
	return tool.Result{Text: text, Data: func() any {
		return map[string]any{"scheduledFor": l.Next.UnixMilli(), "clampedDelaySeconds": int(d.Seconds()), "wasClamped": clamped}
	}}, nil
}
