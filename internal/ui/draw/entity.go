package draw

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/adze-agent/adze/internal/text/clip"
)

// unescaped returns the text of n with entities and backslashes resolved. What
// an entity stands for is as little trusted as all else: the caller filters.
func unescaped(n *ast.Text, src []byte) string {
	raw := n.Segment.Value(src)
	if n.IsRaw() || n.Parent() != nil && n.Parent().Kind() == ast.KindCodeSpan {
		return strings.ReplaceAll(string(raw), "\n", " ")
	}
	s := string(raw)
	if strings.IndexByte(s, '&') >= 0 {
		s = string(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(s))))
	}
	if strings.IndexByte(s, '\\') >= 0 {
		s = string(util.UnescapePunctuations([]byte(s)))
	}
	return strings.ReplaceAll(clip.Clean(s), "\n", " ")
}
