package draw

import (
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/ui/syntax"
)

// maxColored bounds the text that is read for syntax colours.
const maxColored = 256 << 10

// codeTab is the columns of a tab in code.
const codeTab = 4

// roleOf gives each kind of word its role.
var roleOf = [...]Role{
	syntax.Plain: Plain, syntax.Keyword: Keyword, syntax.Type: TypeName, syntax.Function: Function, syntax.String: StringLit,
	syntax.Number: Number, syntax.Comment: Comment, syntax.Operator: Operator, syntax.Variable: Variable, syntax.Constant: Constant,
	syntax.Tag: Tag, syntax.Attribute: Attribute, syntax.Escape: Escape, syntax.Inserted: Added, syntax.Deleted: Removed,
}

// highlight returns src as lines in the colours of the language that name
// tells.
func (o Options) highlight(name, src string) []Line {
	src = clip.Clean(src)
	var toks []syntax.Token
	if !o.Plain && len(src) <= maxColored {
		toks = syntax.Tokens(name, src)
	}
	if toks == nil {
		toks = []syntax.Token{{End: len(src)}}
	}
	out := make([]Line, 0, strings.Count(src, "\n")+1)
	var l Line
	col, bytes, at := 0, 0, 0
	var more Line
	for _, t := range toks {
		part := src[at:t.End]
		at = t.End
		for {
			text, rest, end := strings.Cut(part, "\n")
			if room := maxLine - bytes; len(text) > room {
				text, more = bounded(text, max(room, 0))
			}
			bytes += len(text)
			text = tabs(text, col, codeTab)
			if text = filter(text); text != "" {
				col += Width(text)
				l = append(l, Span{Text: text, Style: Style{Role: roleOf[t.Kind]}})
			}
			if !end {
				break
			}
			out = append(out, append(l, more...))
			l, more, col, bytes = nil, nil, 0, 0
			part = rest
		}
	}
	return append(out, append(l, more...))
}
