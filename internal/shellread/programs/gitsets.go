package programs

import (
	"slices"
	"strings"
)

// gitConfigSets is the one setting that git config sets or removes, as
// policy.Write.Sets has it; "" where its words do not say. flags are further ones that
// say nothing of it.
func gitConfigSets(args []Word, flags ...string) string {
	remove := false
	var operands []string
	for i, w := range args {
		switch {
		case w.Kind != Exact || strings.Contains(w.Text, "\n"):
			return ""
		case len(operands) == 0 && (w.Text == "--unset" || w.Text == "--unset-all" || i == 0 && w.Text == "unset"):
			remove = true
		case i == 0 && w.Text == "set":
		case len(operands) == 0 && strings.HasPrefix(w.Text, "-"):
			if !slices.Contains([]string{"--local", "--worktree", "--add", "--replace-all", "--all", "--bool", "--int", "--path"}, w.Text) && !slices.Contains(flags, w.Text) {
				return ""
			}
		default:
			operands = append(operands, w.Text)
		}
	}
	switch {
	case remove && len(operands) == 1:
		return settingName(operands[0])
	case !remove && len(operands) == 2:
		return settingName(operands[0]) + "=" + operands[1]
	}
	return ""
}

// settingName is the name of a setting as git writes it: all but what stands between its
// first and its last dot in small letters.
func settingName(name string) string {
	first, last := strings.Index(name, "."), strings.LastIndex(name, ".")
	if first < 0 {
		return name
	}
	return strings.ToLower(name[:first]) + name[first:last] + strings.ToLower(name[last:])
}
