package tui

import (
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/view"
)

// A question about a connection shows the command that wants it, whatever the
// model called that, and what is asked once. Its line ends with the answer.
func TestConnectNamesTheCommand(t *testing.T) {
	asks := func(call string) event.Asked {
		return event.Asked{Call: call, Tool: "Net", Title: "Connect to new.example:443", Input: []byte(`{"host":"new.example","port":443}`),
			View: view.Text{S: "A command in the sandbox connects to new.example:443."},
			Verdict: policy.Verdict{Effect: policy.Ask, Reason: "no rule allows new.example",
				Parts: []policy.Piece{{Kind: "connect", Text: "new.example", Effect: policy.Ask, Reason: "no rule allows new.example"}}}}
	}
	runs := func(r *rig, id, command string) {
		r.event(event.ToolStarted{Call: id, Name: "Bash", Title: "Bash: clean", Input: []byte(`{"description":"clean","command":"` + command + `"}`)})
	}
	r := newRig(t, 90, 30).open()
	r.event(event.InputAccepted{ID: "p", Text: "go"}, event.TurnStarted{ID: "t", Model: "m"})
	runs(r, "c1", `rm -rf build \u0026\u0026 curl https://new.example`)
	r.event(asks("x1")).pass(time.Second)
	r.has("Let this connect?", "Connect to new.example:443", "this command:", "rm -rf build && curl https://new.example", "no rule allows").hasNot(`"host"`, "A command in the sandbox")
	r.keys("?").has(`"host"`).keys("?")
	r.event(event.Answered{Answer: op.Answer{Call: "x1"}}).has("refused").hasNot("Let this connect?", "waits")

	runs(r, "c2", "make fetch")
	r.event(asks("x2")).pass(time.Second)
	r.has("one of these commands:", "make fetch")
	r.event(event.Answered{Answer: op.Answer{Call: "x2", Allow: true}}).hasNot("waits")

	// A call of the model's own goes on after its answer.
	r.event(event.Replied{}, asks("c3"), event.Answered{Answer: op.Answer{Call: "c3", Allow: true}}, event.ToolStarted{Call: "c3", Name: "Bash", Title: "Bash: sleep 1"}).pass(2 * time.Second)
	r.has("sleep 1")
}
