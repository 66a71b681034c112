package fleet

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/view"
)

// Verifier is the definition of the agent that checks what was done.
const Verifier = "verify"

//go:embed done.md
var checkText string

// Verified is what the model reads with the report.
const Verified = `<notice>
The person wants work to be checked by an agent that did not do it (agents.verify). It was started for what you said is done, and its report comes as a task notification. Take each finding as a claim: look whether it is so, and repair what is. Then tell the person what was found, what you changed, and what could not be checked.
</notice>`

// Bounds of what the agent is told: bytes of the prompts, of the last words and of one
// call, and how many calls and files.
const (
	doneAsked = 8_000
	doneSaid  = 4_000
	doneCall  = 300
	doneCalls = 60
	doneFiles = 100
)

// Done is what a person asked for last, and what was done for it, as the log has it: it says
// when an agent that did not do it is to check it. The zero Done is of a session that begins. One goroutine at a time uses it.
type Done struct {
	Seq     event.Seq // of the last event that it knows
	asked   []string
	said    string
	files   []string
	more    int // files that are not among them
	calls   []string
	left    int // calls that were let go
	inputs  map[string]json.RawMessage
	own     map[string]bool // agents that check, by ID
	checked bool
}

// Add takes an event.
func (c *Done) Add(e event.Event) {
	c.Seq = max(c.Seq, e.Seq)
	switch b := e.Body.(type) {
	case event.InputAccepted:
		switch {
		case b.From != nil || b.Hidden:
		case b.Steer:
			c.asked, c.checked = append(c.asked, b.Text), false
		default:
			*c = Done{Seq: c.Seq, asked: []string{b.Text}, own: c.own}
		}
	case event.Replied:
		c.said = b.Message.Text()
	case event.ToolStarted:
		if c.inputs == nil {
			c.inputs = map[string]json.RawMessage{}
		}
		c.inputs[b.Call] = b.Input
	case event.ToolFinished:
		in := b.Input
		if len(in) == 0 {
			in = c.inputs[b.Call]
		}
		delete(c.inputs, b.Call)
		c.call(b, in)
	case event.FilesChanged:
		c.changed(b.Changed)
	case event.TaskStarted:
		if b.Agent != nil && b.Agent.Type == Verifier {
			if c.own == nil {
				c.own = map[string]bool{}
			}
			c.own[b.ID] = true
			c.files, c.more = nil, 0 // it looks at what is there now
		}
	case event.TaskEnded:
		for _, d := range b.Did {
			if !c.own[b.ID] {
				c.file(d.Changed...)
			}
		}
	default: // says nothing of what was done
	}
}

// call notes what was called and what it changed.
func (c *Done) call(b event.ToolFinished, in json.RawMessage) {
	if f, ok := effect.Of[effect.Changed](b.Effects); ok {
		c.changed(f)
	}
	line := b.Name + " " + clip.Line(clip.Visible(string(in)), doneCall)
	switch {
	case b.Denied:
		line += " [refused]"
	case b.IsErr:
		line += " [failed]"
	}
	if len(c.calls) == doneCalls {
		c.calls, c.left = c.calls[1:], c.left+1
	}
	c.calls = append(c.calls, line)
}

func (c *Done) changed(e effect.Changed) {
	for _, f := range e.Files {
		c.file(f.Path)
	}
}

func (c *Done) file(paths ...string) {
	for _, p := range paths {
		switch {
		case slices.Contains(c.files, p):
		case len(c.files) == doneFiles:
			c.more++
		default:
			c.files = append(c.files, p)
		}
	}
}

// Due reports whether what was done is to be checked now, where a turn comes to its end:
// files changed since somebody checked, and the model says that it is done. It does where it asks
// nothing, no task is left on the list, no agent works, and no goal has the session go on. What was
// asked for is checked once.
func (c *Done) Due(st transcript.State) bool {
	if len(c.files) == 0 || c.checked || st.Pursued() != nil {
		return false
	}
	said := strings.TrimSpace(c.said)
	if said == "" || strings.HasSuffix(strings.TrimRight(said, "*_`) "), "?") {
		return false
	}
	for _, t := range st.List.Tasks {
		if !t.Step && t.Status != view.Completed && t.Status != view.Deleted {
			return false
		}
	}
	for _, t := range st.Background {
		if t.Kind == event.TaskAgent {
			return false
		}
	}
	return true
}

// Prompt is what the agent that checks is told. What was asked for counts as checked then.
func (c *Done) Prompt() string {
	c.checked = true
	files, calls := c.files, c.calls
	if c.more > 0 {
		files = append(slices.Clip(files), fmt.Sprintf("and %d more", c.more))
	}
	if c.left > 0 {
		calls = append([]string{fmt.Sprintf("%d earlier calls are left out", c.left)}, calls...)
	}
	return strings.NewReplacer(
		"{asked}", quoted(clip.Middle(strings.Join(c.asked, "\n\n"), doneAsked, "")),
		"{said}", quoted(clip.Middle(c.said, doneSaid, "")),
		"{files}", quoted(strings.Join(files, "\n")),
		"{calls}", quoted(strings.Join(calls, "\n")),
	).Replace(strings.TrimSpace(checkText))
}

// quoted is a text that cannot close the tag it stands in.
func quoted(s string) string { return strings.ReplaceAll(clip.Clean(s), "</", "< /") }
