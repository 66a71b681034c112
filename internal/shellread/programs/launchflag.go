package programs

import (
	"slices"
	"strings"
)

// matches reports whether t is one of the flags that patterns mean. Most programs
// take a long flag by what it begins with, as long as that means no other: --ex is
// --exec (getopt_long(3), gitcli(7), and argparse of Python). What is no flag at all
// there is an error, so that nothing is lost with those that do not.
func matches(patterns, t string) bool {
	flag, _, _ := strings.Cut(t, "=")
	all := strings.Fields(patterns)
	short := len(flag) > 2 && strings.HasPrefix(flag, "--") && !slices.Contains(all, "!"+flag)
	return slices.ContainsFunc(all, func(p string) bool {
		return matchFlag(p, t) || short && strings.HasPrefix(p, flag)
	})
}

func matchFlag(pattern, t string) bool {
	if p, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(t, p)
	}
	if p, ok := strings.CutSuffix(pattern, "="); ok {
		return strings.HasPrefix(t, p+"=")
	}
	return t == pattern
}

// bundled finds a flag of runs in a word of short flags, and what is glued to it. valued are
// those whose value is the rest of the word; without any, flags of the program do not stand
// together.
func bundled(runs, valued, t string) (glued string, ok bool) {
	if valued == "" || len(t) < 3 || t[0] != '-' || t[1] == '-' {
		return "", false
	}
	for i, c := range t[1:] {
		switch {
		case slices.ContainsFunc(strings.Fields(runs), func(p string) bool { return strings.TrimRight(p, "*=") == "-"+string(c) }):
			return t[i+2:], true
		case strings.ContainsRune(valued, c), (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9'):
			return "", false
		}
	}
	return "", false
}
