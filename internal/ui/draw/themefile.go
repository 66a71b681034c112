package draw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/near"
)

// roleNames are the names of the roles in a theme's file.
var roleNames = [nRoles]string{
	Plain: "text", Quiet: "quiet", Accent: "accent", OK: "ok", Attention: "attention", Wrong: "wrong", Heading: "heading", Link: "link", Code: "code", Quote: "quote", Thinking: "thinking", User: "user",
	Border: "border", BorderQuiet: "borderQuiet", Selected: "selected", Match: "match", Shell: "shell", Plan: "plan", AcceptEdits: "acceptEdits", Danger: "danger",
	Added: "added", Removed: "removed", AddedWord: "addedWord", RemovedWord: "removedWord", Hunk: "hunk",
	Keyword: "keyword", TypeName: "type", Function: "function", StringLit: "string", Number: "number", Comment: "comment", Operator: "operator", Variable: "variable", Constant: "constant", Tag: "tag",
	Attribute: "attribute", Escape: "escape", SyntaxError: "error",
}

// A Problem is what is wrong with a theme's file, and on which line.
type Problem struct {
	Line int
	Text string
}

// String is for people.
func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// themeFile is a theme's file.
type themeFile struct {
	Name   string                     `json:"name"`
	Base   string                     `json:"base"`
	Colors map[string]json.RawMessage `json:"colors"`
}

// faceFile is a face in a theme's file: {"fg": "#aabbcc", "bg": "red", "bold": true}.
type faceFile struct {
	Fg, Bg                                *string
	Bold, Dim, Italic, Underline, Reverse *bool
}

// ParseTheme reads a theme's file. What is wrong with it is told by line; the
// theme is what can be made of the rest.
func ParseTheme(data []byte) (*Theme, []Problem) {
	var f themeFile
	base := darkTheme()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		line, _, ok := fastjson.Place(data, err)
		if !ok {
			line = lineAt(data, int(d.InputOffset()))
		}
		return base, []Problem{{Line: line, Text: strings.TrimPrefix(fastjson.InWords(err).Error(), "json: ")}}
	}
	var out []Problem
	if f.Base != "" {
		b, ok := Named(f.Base, true)
		if !ok {
			out = append(out, Problem{Line: lineOfKey(data, "base"), Text: fmt.Sprintf("no theme is named %q; there are %s", String(f.Base), strings.Join(ThemeNames(), ", "))})
		}
		base = b
	}
	t := *base
	if t.Name = String(f.Name); t.Name == "" {
		t.Name = "custom"
	}
	keys := make([]string, 0, len(f.Colors))
	for k := range f.Colors {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		r := slices.Index(roleNames[:], k)
		if r < 0 {
			text := fmt.Sprintf("%q is no role", String(k))
			if best := near.Words(k, roleNames[:]); len(best) > 0 {
				text += fmt.Sprintf("; did you mean %q?", best[0])
			}
			out = append(out, Problem{Line: lineOfKey(data, k), Text: text})
			continue
		}
		face, err := t.faces[r].read(f.Colors[k])
		if err != nil {
			out = append(out, Problem{Line: lineOfKey(data, k), Text: k + ": " + err.Error()})
			continue
		}
		t.faces[r] = face
	}
	return &t, out
}

// read returns f with what raw sets: a color alone, or an object.
func (f Face) read(raw json.RawMessage) (Face, error) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		c, err := parseColor(name)
		f.Fg = c
		return f, err
	}
	var in faceFile
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return f, fmt.Errorf("a color or an object of fg, bg, bold, dim, italic, underline, reverse is needed")
	}
	for _, c := range [...]struct {
		text *string
		to   *Color
	}{{in.Fg, &f.Fg}, {in.Bg, &f.Bg}} {
		if c.text == nil {
			continue
		}
		v, err := parseColor(*c.text)
		if err != nil {
			return f, err
		}
		*c.to = v
	}
	for _, a := range [...]struct {
		on  *bool
		bit Attr
	}{{in.Bold, Bold}, {in.Dim, Dim}, {in.Italic, Italic}, {in.Underline, Underline}, {in.Reverse, Reverse}} {
		switch {
		case a.on == nil:
		case *a.on:
			f.Attr |= a.bit
		default:
			f.Attr &^= a.bit
		}
	}
	return f, nil
}

// colorNames are the terminal's own colours by name.
var colorNames = [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"brightBlack", "brightRed", "brightGreen", "brightYellow", "brightBlue", "brightMagenta", "brightCyan", "brightWhite"}

// parseColor reads "#aabbcc", "#abc", "ansi:12", a name of the 16, or "default".
func parseColor(s string) (Color, error) {
	if s == "default" || s == "" {
		return 0, nil
	}
	if h, ok := strings.CutPrefix(s, "#"); ok {
		if len(h) == 3 {
			h = string([]byte{h[0], h[0], h[1], h[1], h[2], h[2]})
		}
		if n, err := strconv.ParseUint(h, 16, 32); err == nil && len(h) == 6 {
			return hex(uint32(n)), nil
		}
	}
	if n, ok := strings.CutPrefix(s, "ansi:"); ok {
		if v, err := strconv.ParseUint(n, 10, 8); err == nil {
			return Index(uint8(v)), nil
		}
	}
	if i := slices.Index(colorNames[:], s); i >= 0 {
		return Index(uint8(i)), nil
	}
	return 0, fmt.Errorf("%q is no color; write #rrggbb, ansi:0 to ansi:255, a name such as brightBlue, or default", String(s))
}

// lineOfKey returns the line on which a key stands.
func lineOfKey(data []byte, key string) int {
	quoted, err := json.Marshal(key)
	if err != nil {
		return 1
	}
	for from := 0; ; {
		i := bytes.Index(data[from:], quoted)
		if i < 0 {
			return 1
		}
		if rest := bytes.TrimLeft(data[from+i+len(quoted):], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			return lineAt(data, from+i)
		}
		from += i + len(quoted)
	}
}

func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}
