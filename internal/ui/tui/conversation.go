package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
	"github.com/adze-agent/adze/internal/ui/dialog"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// A conversation is what is said in the session, and what happens in it beside.
type conversation struct {
	story       *story.Story
	st          transcript.State
	turn        turn
	effort      string                       // how hard the model thinks, "" where nobody said; "none" is not at all
	requested   policy.Mode                  // that was asked for and is not there yet
	given       *queued                      // the prompt that the model was given last and has not answered
	cutOff      bool                         // the turn before was interrupted or put off, and Enter goes on with it
	shellToStop string                       // the person's own command that Ctrl+C stops
	hooks       []hookRun                    // the newest of each event, the oldest first
	tasks       []task                       // in the background, in the order in which they began
	troubled    map[string]event.ServerState // MCP servers that were said to need a person, and their state then
	rewind      *rewinding                   // that is looked at
	back        *goingBack                   // that runs
	backIn      string                       // the prompt that the last rewind put into the box

	past   bool        // what is folded happened in an earlier run
	headed bool        // the first line was printed
	head   string      // what was printed first, while nothing stands below it
	last   *story.Item // that was printed
	pager  *pager      // the transcript in full screen
	scroll *pager      // the conversation, when adze has the whole screen
	placed []placing   // the pictures among what the last frame printed
	hung   []hung      // pictures of an earlier run
	// shownAfter is the event after which the story begins, 0 when it has all;
	// begun says that its first event was there.
	shownAfter event.Seq
	begun      bool
}

// turn is what is known about the running turn beside the story.
type turn struct {
	running bool
	began   time.Time
	spin    int
	typed   int // bytes that the model wrote in the reply that streams
	writes  string
	waiting *event.Waiting
	waits   time.Time // since when
	stopped bool      // an interrupt was sent
	listed  bool      // it changed the todo list
	next    string    // no turn runs, and this is what may be said next
	judged  bool      // no turn runs, and it is judged whether the goal is reached
	over    int       // how many items there were when it ended, 0 while it runs and before any
	took    time.Duration
}

// mode is the permission mode now.
func (v *conversation) mode() policy.Mode {
	if v.st.Mode == "" {
		return policy.Default
	}
	return v.st.Mode
}

// verb is what goes on, in a few words.
func (v *conversation) verb(now time.Time) string {
	if w := v.turn.waiting; w != nil {
		when := "Trying again"
		if left := w.For - now.Sub(v.turn.waits); left >= time.Second {
			when = "Again in " + story.Seconds(left)
		}
		return fmt.Sprintf("%s (%s): %s", when, w.Count(), clip.Line(w.Err, 60)) // the end is what does not fit
	}
	if s := v.slowHook(now); s != "" {
		return s
	}
	for _, t := range v.st.Tasks {
		if t.Status == view.InProgress && t.Active != "" {
			return clip.Line(draw.String(t.Active), 60)
		}
	}
	if c := v.story.Open(); c != nil {
		verb, subject := c.Words()
		if stage := c.Stage(); stage != "" {
			return clip.Line(verb, 20) + ": " + clip.Line(stage, 40)
		}
		if rest, ok := strings.CutPrefix(c.Title, verb+": "); ok {
			return clip.Line(draw.String(rest), 60)
		}
		return clip.Line(strings.TrimSpace(verb+" "+subject), 60)
	}
	if v.turn.writes != "" {
		return clip.Line(draw.String(v.turn.writes), 40) + ", " + clip.Size(int64(v.turn.typed))
	}
	if it := v.story.Last(); it != nil && it.Kind == story.Spoke && !it.Done {
		return "Writing"
	}
	return "Thinking"
}

// tokens are what the turn sent and got so far.
func (v *conversation) tokens(p dialog.Paper) string {
	up, down := v.st.Turn.Spent.Usage.Prompt(), v.st.Turn.Spent.Usage.Out+v.turn.typed/4
	if up+down == 0 {
		return ""
	}
	return p.Sign(draw.ArrowUp) + " " + count(up) + " " + p.Sign(draw.ArrowDown) + " " + count(down)
}

// arrives counts a piece of the reply that is being written, and remembers of which call
// it writes the arguments.
func (t *turn) arrives(b event.Body) {
	switch b := b.(type) {
	case event.TextDelta:
		t.typed, t.waiting, t.writes = t.typed+len(b.S), nil, ""
	case event.ThinkingDelta:
		t.typed, t.waiting = t.typed+len(b.S), nil
	case event.ToolInputDelta:
		t.typed, t.writes = t.typed+len(b.S), b.Name
	default: // the piece is whole
		t.writes = ""
	}
}

// wrapped wraps what is printed and does not fit: it was drawn before the screen
// became narrower, and does not come again. Pictures are cut.
func (v *conversation) wrapped(lines []draw.Line, cols int) []draw.Line {
	out := make([]draw.Line, 0, len(lines))
	at := 0
	for i := range v.placed {
		f := &v.placed[i]
		out = append(out, wrap(lines[at:f.at], cols)...)
		here := len(out)
		at = f.at + len(f.Lines)
		out = append(out, narrowed(lines[f.at:at], cols)...)
		f.at = here
	}
	return append(out, wrap(lines[at:], cols)...)
}

// commandsNow are the commands that run, of this turn and beside it.
func (v *conversation) commandsNow() []string {
	out := v.story.Running()
	for _, id := range slices.Sorted(maps.Keys(v.st.Background)) {
		out = append(out, v.st.Background[id].Text)
	}
	return out
}

// whole is an item that is done, or what of it was not printed while it
// streamed.
func (v *conversation) whole(it *story.Item, p dialog.Paper, typed map[string]bool) []draw.Line {
	var out []draw.Line
	switch {
	case it.Begun && it.Stream == nil: // it was printed, and stands behind what was told late
	case it.Begun:
		out = draw.Indent(it.Stream.Finish(), draw.S("  ", draw.Plain))
	default:
		it.Typed = it.Typed || it.Kind == story.Said && typed[it.ID]
		out = p.Item(it)
		if len(out) > 0 && story.Apart(v.last, it) {
			out = append([]draw.Line{nil}, out...)
		}
	}
	it.Stream = nil
	return out
}

// settled is what of a streaming item cannot change any more.
func (v *conversation) settled(it *story.Item, p dialog.Paper) []draw.Line {
	if it.Stream == nil {
		it.Stream = draw.NewStream(p.Inner(2, 0, false))
		it.Stream.Write(it.Text)
	}
	lines := it.Stream.Take()
	if len(lines) == 0 {
		return nil
	}
	if it.Begun {
		return draw.Indent(lines, draw.S("  ", draw.Plain))
	}
	it.Begun = true
	lines = story.Hang(lines, p.Mark(draw.Bullet, draw.Accent))
	if story.Apart(v.last, it) {
		lines = append([]draw.Line{nil}, lines...)
	}
	v.last = it
	return lines
}

// pending draws what happens now and cannot be printed yet, in at most max
// lines.
func (v *conversation) pending(p dialog.Paper, max int) []draw.Line {
	if max <= 0 || v.past {
		return nil
	}
	var out []draw.Line
	before := v.last
	for _, it := range v.story.Items[v.story.Printed:] {
		var lines []draw.Line
		switch {
		case it.Stream != nil && it.Begun:
			out = append(out, draw.Indent(it.Stream.Tail(max), draw.S("  ", draw.Plain))...)
			before = it
			continue
		case it.Stream != nil:
			// One line more than is shown: the bullet stands at the first line of the reply, and
			// goes with it where that is cut below.
			lines = story.Hang(it.Stream.Tail(max+1), p.Mark(draw.Bullet, draw.Accent))
		case it.Kind == story.Thought && !it.Done && !p.Thinking:
			lines = []draw.Line{{p.Mark(draw.Star, draw.Thinking), draw.S("Thinking", draw.Thinking)}}
		default:
			lines = p.Item(it)
		}
		if len(lines) > 0 && story.Apart(before, it) {
			out = append(out, nil)
		}
		out = append(out, lines...)
		before = it
	}
	return out[clampLow(len(out)-max):]
}
