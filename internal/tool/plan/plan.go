// Package plan holds the two tools of plan mode. EnterPlanMode makes the
// session read-only; ExitPlanMode shows a plan to a person and, once it is
// approved, leaves plan mode as the person chose. The package keeps no state
// and never approves anything: without a person's answer the mode stays.
package plan

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

//go:embed enter.md
var enterText string

//go:embed exit.md
var exitText string

//go:embed submit.md
var submitText string

//go:embed submitting.md
var submittingText string

//go:embed reminder.md
var reminderText string

//go:embed reading.md
var readingText string

// Bounds in bytes: of a plan, and of a person's comment.
const (
	maxPlan = 100_000
)

// File is the name of the plan in the session's scratch folder.
const File = "plan.md"

// usual is how the model is to work in plan mode, unless somebody has own words for it.
const usual = "Ask when a decision is the person's."

// Reminder is what the model is told next to the newest message while plan
// mode is on. how, when not empty, says how it is to work, in the place of the usual
// words; what it may not do, and how plan mode ends, is told in any case.
func Reminder(how string) string {
	return fmt.Sprintf(strings.TrimSpace(reminderText), cmp.Or(strings.TrimSpace(how), usual))
}

// Reading is Reminder for a session that works for another one: it has no plan to show, and
// its mode does not end.
func Reading() string { return strings.TrimSpace(readingText) }

// Submitting is Reminder for a session that works for another one, which approves its plan.
func Submitting() string { return strings.TrimSpace(submittingText) }

// What a person may choose. A client shows these as the options of the
// question in the plan's view.
const (
	AcceptEdits      = "Yes, and accept edits"
	AskEdits         = "Yes, and ask before each edit"
	FreshAcceptEdits = "Yes, in a fresh context, and accept edits"
	FreshAskEdits    = "Yes, in a fresh context, and ask before each edit"
)

// A choice is what an option of the question means.
type choice struct {
	label, about string
	mode         policy.Mode
	fresh        bool
}

func choices() []choice {
	return []choice{
		{AcceptEdits, "changes of files in the session's folders run without a question", policy.AcceptEdits, false},
		{AskEdits, "every change of a file is asked about", policy.Default, false},
		{FreshAcceptEdits, "only the plan is kept of the conversation; edits run without a question", policy.AcceptEdits, true},
		{FreshAskEdits, "only the plan is kept of the conversation; edits are asked about", policy.Default, true},
	}
}

// Names of the tools.
const (
	EnterName = "EnterPlanMode"
	ExitName  = "ExitPlanMode"
)

type enterInput struct{}

type exitInput struct {
	Plan string `json:"plan" jsonschema:"the plan, as Markdown"`
}

// Enter returns EnterPlanMode. how is as for Reminder.
func Enter(how string) tool.Tool {
	nothing := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	return tool.NewWithSchema(tool.Spec{Name: EnterName, Description: enterText}, nothing, planEnter, runEnter(how))
}

// Exit returns ExitPlanMode. The plan is written to File in Env.Scratch
// before the person is asked, because the person may edit it there while the
// question is open.
func Exit() tool.Tool {
	return tool.New(tool.Spec{Name: ExitName, Description: exitText, Facts: []string{}}, planExit, runExit)
}

// Submit returns ExitPlanMode for a session that works for another one: the plan goes there,
// by send, and who approves it ends plan mode. told is for the model.
func Submit(send func(ctx context.Context, call, plan string) (told string, err error)) tool.Tool {
	return tool.New(tool.Spec{Name: ExitName, Description: submitText, Facts: []string{}}, func(in exitInput, env tool.Env) (tool.Plan, error) {
		return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "Plan: " + title(clip.Clean(in.Plan)), View: view.Text{S: clip.Clean(in.Plan), Prose: true}}, in.check(env)
	}, func(ctx context.Context, in exitInput, env tool.Env) (tool.Result, error) {
		if err := in.check(env); err != nil {
			return tool.Errorf("%s", err), nil
		}
		text := clip.Clean(in.Plan)
		told, err := send(ctx, env.Call, text)
		if err != nil {
			return tool.Errorf("the plan was not sent: %s", err), nil
		}
		return tool.Result{Text: told, View: view.Text{S: text, Prose: true}, Data: func() any {
			return map[string]any{"plan": text, "isAgent": true, "awaitingLeaderApproval": true}
		}}, nil
	})
}

var errNotPlanning = errors.New("the session is not in plan mode; there is no plan to approve, go on with the work")

func planEnter(_ enterInput, env tool.Env) (tool.Plan, error) {
	if env.Mode == policy.PlanMode {
		return tool.Plan{}, errors.New("plan mode is already on")
	}
	return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "Plan mode"}, nil
}

func runEnter(how string) func(context.Context, enterInput, tool.Env) (tool.Result, error) {
	return func(context.Context, enterInput, tool.Env) (tool.Result, error) {
		return tool.Result{
			Text:    "Plan mode is on from now on. " + strings.TrimPrefix(Reminder(how), "Plan mode is on. "),
			View:    view.Text{S: "Plan mode is on: nothing is changed until you approve a plan."},
			Effects: []tool.Effect{effect.Mode{To: policy.PlanMode}},
			Data:    func() any { return map[string]any{"message": "Plan mode is on."} },
		}, nil
	}
}

func (in exitInput) check(env tool.Env) error {
	switch {
	case env.Mode != "" && env.Mode != policy.PlanMode:
		return errNotPlanning
	case strings.TrimSpace(in.Plan) == "":
		return errors.New("field \"plan\" is empty")
	case len(in.Plan) > maxPlan:
		return fmt.Errorf("field \"plan\" has %d bytes; at most %d", len(in.Plan), maxPlan)
	}
	return nil
}

func planExit(in exitInput, env tool.Env) (tool.Plan, error) {
	if err := in.check(env); err != nil {
		return tool.Plan{}, err
	}
	text, file := clip.Clean(in.Plan), ""
	if env.Scratch != "" {
		if err := write(env.Scratch, text); err != nil {
			return tool.Plan{}, fmt.Errorf("writing the plan: %w", err)
		}
		file = filepath.Join(env.Scratch, File)
	}
	q := view.Question{Header: "Plan", Text: "Carry out this plan?"}
	for _, c := range choices() {
		q.Options = append(q.Options, view.Option{Label: c.label, About: c.about})
	}
	return tool.Plan{
		Actions: []policy.Action{policy.Person{Why: "a plan needs your approval"}},
		View:    view.Group{Blocks: []view.Block{view.Text{S: text, Prose: true, File: file}, view.Questions{Items: []view.Question{q}}}},
		Title:   "Plan: " + title(text),
	}, nil
}

// title is the first line of a plan that says something.
func title(plan string) string {
	for line := range strings.Lines(plan) {
		if s := strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "#*=-")); s != "" {
			return clip.Line(s, 100)
		}
	}
	return "a plan"
}

func runExit(_ context.Context, in exitInput, env tool.Env) (tool.Result, error) {
	if err := in.check(env); err != nil {
		return tool.Errorf("%s", err), nil
	}
	text := clip.Clean(in.Plan)
	if env.Answer == nil {
		return tool.Result{
			Text:    "Nobody can approve a plan in this run, so plan mode stays on. The plan is the answer of this turn.",
			View:    view.Text{S: text, Prose: true},
			Effects: []tool.Effect{effect.Final{Text: strings.TrimRight(text, "\n") + "\n\nNobody could be asked to approve this plan, so nothing was changed."}},
		}, nil
	}
	now, file, err := readPlan(env.Scratch, text)
	if err != nil {
		return tool.Errorf("reading the approved plan: %v; plan mode stays on", err), nil
	}
	c := chosen(env.Answer.Choices)
	if m := env.Answer.Mode; m != "" && m != policy.PlanMode {
		c.mode = m
	}
	effects := []tool.Effect{effect.Mode{To: c.mode}, effect.Planned{Text: now}}
	if c.fresh {
		effects = append(effects, effect.Fresh{})
	}
	edited := now != text || len(env.Answer.Input) > 0
	return tool.Result{Text: told(now, file, c, edited), View: view.Text{S: now, Prose: true}, Effects: effects, Data: func() any {
		return map[string]any{"plan": now, "isAgent": false, "filePath": file, "planWasEdited": edited}
	}}, nil
}

// chosen is what the person picked; an answer without a known choice is the
// one that loosens least.
func chosen(labels [][]string) choice {
	cs := choices()
	if len(labels) > 0 && len(labels[0]) > 0 {
		for _, c := range cs {
			if labels[0][0] == c.label {
				return c
			}
		}
	}
	return cs[1]
}

// told is what the model reads after an approval; edited: the plan is not as it wrote it.
func told(now, file string, c choice, edited bool) string {
	var b strings.Builder
	b.WriteString("The person approved the plan. Plan mode is off; ")
	if c.mode == policy.AcceptEdits {
		b.WriteString("edits inside the session's folders run without a question. Begin.")
	} else {
		b.WriteString("the person is asked about each edit. Begin.")
	}
	if file != "" {
		fmt.Fprintf(&b, "\nThe plan is in %s: Read opens it, a command in the sandbox does not see it.", file)
	}
	switch {
	case edited:
		b.WriteString("\nThe plan was edited before it was approved. This text is what counts:\n\n" + now)
	case c.fresh:
		b.WriteString("\nThe plan:\n\n" + now)
	}
	return b.String()
}
