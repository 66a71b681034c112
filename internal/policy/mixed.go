package policy

import "strings"

// Mixed reports a folder that steers programs by some of what is directly in it, and holds
// data besides: .claude, where plugins keep their state. What has another name there than
// data has steers. In a home folder, and where it is no folder, all of it does.
func Mixed(name string) bool { return strings.EqualFold(name, mixed) }

const mixed = ".claude"

// inMixed reports whether a name, in lower case, is that of data directly in a Mixed folder:
// NAME.local.md, as plugins keep their state, and what no agent reads by itself. Whatever
// has another ending (.json, .sh, .py), or is a folder, may be run or be settings.
func inMixed(name string) bool {
	switch name {
	case "claude.md", "claude.local.md", "agents.md", "agents.local.md", "loop.md", "memory.md", "statusline.md":
		return false // instructions
	}
	for _, end := range []string{".local.md", ".md", ".txt", ".log", ".jsonl", ".csv", ".tsv", ".pid", ".lock", ".tmp", ".bak"} {
		if len(name) > len(end) && strings.HasSuffix(name, end) {
			return !strings.HasPrefix(name, "settings") && !strings.HasPrefix(name, ".")
		}
	}
	return false
}
