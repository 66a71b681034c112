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

// gitAsFlags is a command of git in which a setting that says what refs it writes, or which
// objects it drops, stands as the flag or the word that means the same; nil where no -c gives
// one.
func gitAsFlags(ws []Word) []Word {
	_, rest, _ := gitSplit(ws[1:])
	if len(rest) == 0 {
		return nil
	}
	var own, more, refs []Word
	for i, w := range ws[:len(ws)-len(rest)] {
		if own = append(own, w); i == 0 || !ws[i-1].Is("-c") || w.Kind != Exact {
			continue
		}
		name, val, given := strings.Cut(w.Text, "=")
		on := !given || slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(val))
		name = settingName(name)
		section, _, _ := strings.Cut(name, ".")
		flag := ""
		switch key := section + name[max(strings.LastIndex(name, "."), 0):]; {
		case key == "remote.push" && rest[0].Is("push"), (key == "remote.fetch" || key == "remote.tagopt") && brings[rest[0].Text]:
			flag = val
		case key == "remote.mirror" && rest[0].Is("push") && on:
			flag = "--mirror"
		case (key == "remote.prune" || key == "fetch.prune") && brings[rest[0].Text] && on:
			flag = "--prune"
		case (key == "remote.prunetags" || key == "fetch.prunetags") && brings[rest[0].Text] && on:
			flag = "--prune-tags"
		case key == "gc.pruneexpire" && rest[0].Is("gc") && val != "never":
			flag = "--prune"
		}
		if flag != "" {
			own = own[:len(own)-2]
			if strings.HasPrefix(flag, "-") {
				more = append(more, Lit(flag))
			} else {
				refs = append(refs, Lit(flag))
			}
		}
	}
	if more == nil && refs == nil {
		return nil
	}
	return slices.Concat(own, rest[:1], more, rest[1:], refs)
}

// brings are the subcommands of git that fetch.
var brings = map[string]bool{"fetch": true, "pull": true, "remote": true}

// settingName is the name of a setting as git writes it: all but what stands between its
// first and its last dot in small letters.
func settingName(name string) string {
	first, last := strings.Index(name, "."), strings.LastIndex(name, ".")
	if first < 0 {
		return name
	}
	return strings.ToLower(name[:first]) + name[first:last] + strings.ToLower(name[last:])
}
