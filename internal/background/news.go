package background

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/transcript"
)

// Bounds of what a helper is shown of one part of a conversation, in bytes.
const (
	maxText   = 6_000
	maxInput  = 1_500
	maxResult = 2_000
)

// complete is a conversation as far as every call in it has its result, and the
// event up to which it tells.
func complete(st transcript.State) ([]transcript.Entry, event.Seq) {
	es := st.Entries()
	if len(st.Open()) == 0 {
		return es, st.Seq
	}
	for i := len(es) - 1; i >= 0; i-- {
		if es[i].Role == llm.Assistant {
			return es[:i], es[i].From[0] - 1
		}
	}
	return nil, 0
}

// since is the part of a conversation that came after an event.
func since(es []transcript.Entry, after event.Seq) []transcript.Entry {
	return transcript.Keep(es, func(s event.Seq) bool { return s > after })
}

// tokens estimates the size of a conversation.
func tokens(es []transcript.Entry) int {
	n := 0
	for _, e := range es {
		for _, p := range e.Parts {
			n += transcript.Size(p)
		}
	}
	return clip.Tokens(n)
}

// news is a conversation as a text of at most max bytes for a helper that does
// not have it: what is long is cut, and of all of it the middle.
func news(es []transcript.Entry, max int) string {
	var b strings.Builder
	for _, e := range es {
		for _, p := range e.Parts {
			switch p := p.(type) {
			case llm.Text:
				who := "person"
				if e.Role == llm.Assistant {
					who = "agent"
				}
				fmt.Fprintf(&b, "[%s]\n%s\n\n", who, shown(p.S, maxText))
			case llm.ToolUse:
				fmt.Fprintf(&b, "[the agent calls %s]\n%s\n\n", p.Name, shown(string(p.Input), maxInput))
			case llm.ToolResult:
				what := "result"
				if p.IsErr {
					what = "error"
				}
				fmt.Fprintf(&b, "[%s]\n%s\n\n", what, shown(p.Text, maxResult))
			case llm.Image, llm.Document:
				b.WriteString("[a picture or a document]\n\n")
			case llm.Thinking: // it was for the model alone
			}
		}
	}
	return clip.Middle(b.String(), max, "")
}

// shown is a text that cannot end the block it stands in.
func shown(s string, max int) string {
	return strings.ReplaceAll(clip.Middle(clip.Clean(strings.TrimSpace(s)), max, ""), "</conversation", "< /conversation")
}
