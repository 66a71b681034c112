package draw

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// dyes are the colours of a theme of Gemini's agent, by the places that they can have
// there, and the roles that they are for. The names are those of its documentation
// (docs/cli/themes.md): the nested ones, and the flat ones of before.
var dyes = []struct {
	keys  []string
	roles []Role
}{
	{[]string{"text.primary", "Foreground"}, []Role{Plain, Variable}},
	{[]string{"text.secondary", "Gray"}, []Role{Quiet, Thinking, Hunk}},
	{[]string{"text.link", "AccentBlue"}, []Role{Link, Keyword, Function}},
	{[]string{"text.accent", "AccentPurple"}, []Role{Accent, Heading, Selected, Border, Plan}},
	{[]string{"border.focused"}, []Role{Border}},
	{[]string{"border.default"}, []Role{BorderQuiet}},
	{[]string{"ui.comment", "Comment"}, []Role{Comment, Quote}},
	{[]string{"ui.symbol"}, []Role{Operator}},
	{[]string{"AccentCyan"}, []Role{TypeName, Code, Escape}},
	{[]string{"status.success", "AccentGreen"}, []Role{OK, Number, Added}},
	{[]string{"status.warning", "AccentYellow"}, []Role{Attention, StringLit}},
	{[]string{"status.error", "AccentRed"}, []Role{Wrong, Danger, SyntaxError, Removed}},
}

// ParsePalette reads a theme as an extension of Gemini's agent has it. The rest is that
// of the built-in theme for such a background; backgrounds are the terminal's own.
func ParsePalette(data []byte) (*Theme, []Problem) {
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return darkTheme(), []Problem{{Line: 1, Text: fastjson.InWords(err).Error()}}
	}
	var out []Problem
	color := func(key string) (Color, bool) {
		var v any = doc
		for part := range strings.SplitSeq(key, ".") {
			in, _ := v.(map[string]any)
			v = in[part]
		}
		s, ok := v.(string)
		if !ok || s == "" {
			return 0, false
		}
		c, err := parseColor(s)
		if err != nil {
			out = append(out, Problem{Line: 1, Text: fmt.Sprintf("%s: %v", key, err)})
		}
		return c, err == nil
	}
	base := darkTheme()
	for _, key := range []string{"background.primary", "Background"} {
		if c, ok := color(key); ok && c.light() {
			base = lightTheme()
		}
	}
	t := *base
	if name, _ := doc["name"].(string); name != "" {
		t.Name = String(name)
	}
	for _, d := range dyes {
		for _, key := range slices.Backward(d.keys) { // the nested name counts
			if c, ok := color(key); ok {
				for _, r := range d.roles {
					t.faces[r].Fg = c
				}
			}
		}
	}
	for _, d := range []struct {
		key  string
		role Role
	}{{"DiffAdded", Added}, {"background.diff.added", Added}, {"DiffRemoved", Removed}, {"background.diff.removed", Removed}} {
		if c, ok := color(d.key); ok {
			t.faces[d.role].Bg = c
		}
	}
	return &t, out
}

// light reports whether dark text is read well on a colour.
func (c Color) light() bool {
	if c&direct == 0 {
		return false
	}
	r, g, b := int(c>>16&0xff), int(c>>8&0xff), int(c&0xff)
	return 299*r+587*g+114*b > 128_000
}
