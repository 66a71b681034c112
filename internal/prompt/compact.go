package prompt

import (
	"fmt"
	"strings"
)

// A Summary is what is asked of a model whose conversation is to be compacted.
type Summary struct {
	Words int    // that it may have
	Focus string // what a person wants it to mind, "" for nothing
	Part  string // which part of the conversation it is of, in words; "" is all
}

// Compact asks for a summary. It is the last message of a request that is
// otherwise like the one before, so that a provider's cache serves it.
func Compact(s Summary) string {
	out := fmt.Sprintf(strings.TrimSpace(read("compact")), s.Words)
	if s.Part != "" {
		out += "\n\n" + fmt.Sprintf(strings.TrimSpace(read("compact_part")), s.Part)
	}
	if s.Focus != "" {
		out += "\n\n" + fmt.Sprintf(strings.TrimSpace(read("compact_focus")), s.Focus)
	}
	return out
}

// A Section is a summary, or one thing that is kept beside it.
type Section struct{ Name, Text string }

// Compacted is what the model reads in the place of a conversation: each
// section that has a text, in a tag of its name.
func Compacted(sections []Section) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(read("compacted")))
	for _, s := range sections {
		if t := strings.TrimSpace(s.Text); t != "" {
			fmt.Fprintf(&b, "\n\n<%s>\n%s\n</%s>", s.Name, strings.ReplaceAll(t, "</"+s.Name, "< /"+s.Name), s.Name)
		}
	}
	return b.String()
}

// Record says where what was taken out can be read.
func Record(files []string) string {
	return strings.TrimSpace(read("record")) + "\n" + strings.Join(files, "\n")
}
