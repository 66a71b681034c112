package policy

import (
	"path"
	"strings"
)

// An Open is a word of a command that is not known before it runs. Source is what
// stands for it in Argv and Also.
type Open struct {
	Source     string
	Head, Tail string // how it surely begins and ends
	Many       bool   // it may be several words
}

// mayMatch returns a rule with this effect that speaks of what a command may turn
// out to be when its open words are known, and which of its flags take a value; nil
// if none does.
func (c *call) mayMatch(e Effect, a Exec) *compiledRule {
	for i := range c.rules.by[e] {
		if rule := &c.rules.by[e][i]; rule.Spec != "" && !rule.cmd.any && (c.forbids(rule, a) != not || mayReach(rule.Rule, e, a.Argv) || rule.namesHost(a.Argv) && a.hostUnknown()) {
			return rule
		}
	}
	return nil
}

// openText is a command with a sign for what is not known of it.
func (a Exec) openText(argv []string, sign rune) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = w
		for _, o := range a.Open {
			if i > 0 && w == o.Source {
				words[i] = o.Head + string(sign) + o.Tail
				break
			}
		}
	}
	return strings.Join(words, "\x00")
}

// text is the pattern as one text.
func (p commandPattern) text() string {
	if p.wild != "" {
		return p.wild
	}
	return strings.Join(p.tokens, "\x00")
}

// matchText is match for a command in which a sign stands for what is not known: the
// rule speaks of it whatever that is.
func (p commandPattern) matchText(text string) bool {
	pattern := p.text()
	return wildMatch(pattern, text) || p.prefix && wildMatch(pattern+"\x00"+string(star), text)
}

// mayMatch is match for a command in which a star stands for what is not known.
func (p commandPattern) mayMatch(text string) bool {
	pattern := p.text()
	return overlap(pattern, text) || p.prefix && overlap(pattern+"\x00"+string(star), text)
}

// maxOverlap bounds the work of overlap, in pairs of bytes; beyond it the answer
// is yes.
const maxOverlap = 4 << 20

// overlap reports whether some text fits both patterns, in each of which star is
// any run of bytes.
func overlap(a, b string) bool {
	if len(a)*len(b) > maxOverlap {
		return true
	}
	// row[j]: what is left of a and b[j:] fit one text.
	row := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		last := row
		row = make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && a[i] == star:
				row[j] = last[j] || j < len(b) && row[j+1]
			case j < len(b) && b[j] == star:
				row[j] = row[j+1] || i < len(a) && last[j]
			default:
				row[j] = i < len(a) && j < len(b) && a[i] == b[j] && last[j+1]
			}
		}
	}
	return row[0]
}

// baseName is the plain name of a command's program where it is spelled otherwise:
// rm of /bin/./rm; "" where it is not.
func baseName(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	base := strings.ToLower(path.Base(path.Clean(strings.ReplaceAll(argv[0], "\\", "/"))))
	base = strings.TrimSuffix(base, ".exe")
	if base == argv[0] {
		return ""
	}
	return base
}
