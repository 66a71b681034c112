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

// A bundle is what short flags of a program mean when several stand in one word: launch
// are those that run a program or do what a rule does not speak of, and takes
// those whose value is the rest of the word.
type bundle struct{ launch, takes string }

// holds finds a launching flag in a word of short flags, and what is glued to it.
func (b bundle) holds(t string) (glued string, ok bool) {
	if len(t) < 3 || t[0] != '-' || t[1] == '-' {
		return "", false
	}
	for i, c := range t[1:] {
		switch {
		case strings.ContainsRune(b.launch, c):
			return t[i+2:], true
		case strings.ContainsRune(b.takes, c), (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9'):
			return "", false
		}
	}
	return "", false
}
