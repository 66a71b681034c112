// Package sleep has the tool with which a model lets time pass: Sleep. What can wake it,
// the session knows.
package sleep

import (
	"context"
	"fmt"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/tool"
)

// Name is the tool's.
const Name = "Sleep"

// most is how long one call sleeps at most.
const most = time.Hour

const text = "Waits, without cost. Ends early when something arrives: a message, the end of a task, a line of a monitor, a prompt."

type input struct {
	Duration float64 `json:"duration" jsonschema:"seconds, at most 3600"`
}

// New returns Sleep. arrives is closed when something waits for the model to read it; it is
// asked for at each call.
func New(arrives func() <-chan struct{}) tool.Tool {
	return tool.New(tool.Spec{Name: Name, Description: text, Deferrable: true, Seldom: true},
		func(in input, _ tool.Env) (tool.Plan, error) {
			d, err := in.check()
			return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "Sleep " + d.String(), Parallel: true}, err
		},
		func(ctx context.Context, in input, _ tool.Env) (tool.Result, error) {
			d, err := in.check()
			if err != nil {
				return tool.Errorf("%s", err), nil
			}
			began, timer := time.Now(), time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
				return tool.Result{Text: d.String() + " have passed."}, nil
			case <-arrives():
				return tool.Result{Text: "Something arrived after " + time.Since(began).Round(time.Second).String() + "."}, nil
			case <-ctx.Done():
				return tool.Errorf("interrupted"), nil
			}
		})
}

func (in input) check() (time.Duration, error) {
	if in.Duration <= 0 || in.Duration > most.Seconds() {
		return 0, fmt.Errorf("field \"duration\" is %v seconds; give more than 0 and at most %v", in.Duration, most.Seconds())
	}
	return time.Duration(in.Duration * float64(time.Second)), nil
}
