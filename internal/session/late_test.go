package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm/fake"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
)

// What changed while no call ran is recorded before what comes next: the first call of a turn,
// its end, the end of the last task beside no turn, a rewind, and the end of the session. What is
// not recorded of what came since the prompt, the rewind says.
func TestLateChangesAreRecordedInTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &takenBack{late: []string{"began", "ended", "task", "rewind", "session"}}
		ended := 0
		r := start(t, nil, func(c *session.Config) { c.Files, c.EndTasks = files, func() { ended++ } }, fake.Say("ok"))
		for _, id := range []string{"b1", "b2"} {
			if err := r.Report(event.TaskStarted{ID: id, Kind: "shell"}); err != nil {
				t.Fatal(err)
			}
		}
		r.prompt("go")
		r.last(r.turns(1, nil), agent.Completed)
		for _, id := range []string{"b1", "b2"} {
			if err := r.Report(event.TaskEnded{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Submit(t.Context(), op.Rewind{To: r.ids()[0], Code: true}); err != nil {
			t.Fatal(err)
		}
		r.Close()
		var got []string
		for e, err := range again(t, r.log).After(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch b := e.Body.(type) {
			case event.FilesChanged:
				got = append(got, b.Changed.Missed...)
			case event.Rewound:
				got = append(got, fmt.Sprint("rewound without ", b.Missed))
			case event.InputAccepted, event.TurnEnded, event.TaskEnded:
				got = append(got, event.TypeName(e.Body))
			default: // not about this
			}
		}
		if d := cmp.Diff([]string{"began", "input_accepted", "ended", "turn_ended", "task_ended", "task_ended", "task", "rewind", "rewound without [ended rewind task]", "session"}, got); d != "" || ended != 1 {
			t.Errorf("tasks were ended %d times\n%s", ended, d)
		}
	})
}
