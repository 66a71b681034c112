package skill

import (
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// A Dialect is whose words a command is written in. "" is Claude Code's, which is
// adze's own.
type Dialect string

// Dialects of Markdown; Gemini's commands are TOML.
const (
	// Prompts are those of Codex and Crush: $1 to $9, $ARGUMENTS, and $NAME for what
	// is typed as NAME=value; $$ is a dollar. They run nothing.
	Prompts Dialect = "prompts"
	// OpenCode counts arguments from $1, and the last one takes all that follows.
	OpenCode Dialect = "opencode"
)

// in is a command as another agent means it: of what is written above it the fields
// that mean the same there count, and only people use it.
func (s Skill) in(of Dialect, h *head) Skill {
	s = Skill{
		Thing: s.Thing, Command: true, Hint: s.Hint, NoModel: true, Model: s.Model, Dir: s.Dir,
		Root: s.Root, Data: s.Data, place: s.place, path: s.path, of: of,
	}
	h.notes = nil // of fields that have no meaning there
	if of == Prompts {
		s.Model = ""
		return s
	}
	if model, variant, ok := strings.Cut(s.Model, "#"); ok {
		s.Model = model
		if slices.Contains(efforts, variant) {
			s.Effort = variant
		}
	}
	for _, key := range []string{"agent", "subtask"} {
		if line := h.line[key]; line > 0 {
			h.note(line, "%s: opencode's agents are not used here: the command is read as a prompt of this session", key)
		}
	}
	return s
}

var promptPlace = pattern.Lazy(`\$(?:\$|ARGUMENTS\b|([1-9])|([A-Z][A-Z0-9_]*)\b)`)

// prompts puts arguments into the text of a command of the dialect Prompts. Where
// nothing is typed as NAME=value, names take the arguments in their order; a name
// without a value stays, as it may be a shell's.
func (v *values) prompts(body string) []Piece {
	var names []string
	numbered := false
	for _, m := range promptPlace().FindAllStringSubmatch(body, -1) {
		numbered = numbered || m[1] != ""
		if m[2] != "" && !slices.Contains(names, m[2]) {
			names = append(names, m[2])
		}
	}
	named, rest := map[string]string{}, []string{}
	for _, a := range v.args {
		if name, value, ok := strings.Cut(a, "="); ok && slices.Contains(names, name) {
			named[name] = value
		} else {
			rest = append(rest, a)
		}
	}
	if len(named) == 0 && !numbered {
		for i, name := range names {
			if i < len(rest) {
				named[name] = rest[i]
				if i == len(names)-1 {
					named[name] = strings.Join(rest[i:], " ")
				}
			}
		}
	}
	v.used = len(named) > 0
	text := promptPlace().ReplaceAllStringFunc(body, func(s string) string {
		switch rest := rest; {
		case s == "$$":
			return "$"
		case s == "$ARGUMENTS":
			v.used = true
			return v.u.Args
		case len(s) == 2 && s[1] >= '1' && s[1] <= '9':
			v.used = true
			if n, _ := strconv.Atoi(s[1:]); n <= len(rest) {
				return rest[n-1]
			}
			return ""
		}
		if value, ok := named[s[1:]]; ok {
			return value
		}
		return s
	})
	if v.u.Args != "" && !v.used {
		text += "\n\nArguments: " + v.u.Args
	}
	return []Piece{Words(text)}
}

// counted has an OpenCode command's arguments counted from 1, the last one that its
// text names with all that follows.
func (v *values) counted(body string) {
	last := 0
	for _, m := range placeholder().FindAllStringSubmatch(body, -1) {
		if n, err := strconv.Atoi(m[3]); err == nil {
			last = max(last, n)
		}
	}
	if last > 0 && len(v.args) > last {
		v.args = append(slices.Clip(v.args[:last-1]), strings.Join(v.args[last-1:], " "))
	}
	v.args = append([]string{v.u.Args}, v.args...)
}
