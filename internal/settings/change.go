package settings

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of what an event says of a change.
const (
	maxValue   = 500 // characters of one value
	maxEntries = 20  // of a list
	// MaxProblem is for one problem.
	MaxProblem = 2 * maxValue
)

// Changes describes what differs, without secrets, and without rules of now that are
// not used: they are no news but a problem.
func Changes(hide *secret.Redactor, changed []config.Change, now *config.Config, p Paths) []event.SettingChange {
	var out []event.SettingChange
	var dead map[string]bool
	for _, c := range changed {
		e := event.SettingChange{Key: c.Key, From: c.From.String(), Later: c.When.Later()}
		before, isList := entries(c.Old)
		after, isList2 := entries(c.New)
		if isList && isList2 && (before != nil || after != nil) {
			added := less(hide, after, before)
			if strings.HasPrefix(c.Key, "permissions.") && len(added) > 0 {
				if dead == nil {
					dead = deadRules(now, p)
				}
				added = slices.DeleteFunc(added, func(s string) bool { return dead[c.Key+" "+s] })
			}
			e.Added, e.Removed = added, less(hide, before, after)
			if len(e.Added)+len(e.Removed) == 0 {
				continue
			}
		} else {
			e.Old, e.New = value(hide, c.Old), value(hide, c.New)
		}
		out = append(out, e)
	}
	return out
}

// entries reads a list, or a map of scalars, as texts; ok is also true for null.
func entries(raw json.RawMessage) (out []string, ok bool) {
	if string(raw) == "null" {
		return nil, true
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			out = append(out, text(e))
		}
		return out, true
	}
	var entries map[string]json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return nil, false
	}
	for k, v := range entries {
		out = append(out, k+"="+text(v))
	}
	slices.Sort(out)
	return out, true
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// less are the entries of a that b lacks, bounded.
func less(hide *secret.Redactor, a, b []string) []string {
	var out []string
	more := 0
	for _, s := range a {
		switch {
		case slices.Contains(b, s):
		case len(out) == maxEntries:
			more++
		default:
			out = append(out, clip.Line(hide.String(s), maxValue))
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

func value(hide *secret.Redactor, raw json.RawMessage) json.RawMessage {
	clean := hide.Bytes(raw)
	if len(clean) <= maxValue && json.Valid(clean) {
		return clean
	}
	b, _ := json.Marshal("[" + clip.Size(int64(len(raw))) + "]") // a string always can
	return b
}

// Waiting are the project's files that changed and want more than counts.
func Waiting(was, now *config.Config) []string {
	var out []string
	before, after := sums(was), sums(now)
	for _, path := range now.Ignored {
		if before[path] != after[path] {
			out = append(out, path)
		}
	}
	return out
}

// Problems are what is wrong with settings, in words: what of them is not used, and
// that nothing passes without a question, where that is so. bad are further problems.
func Problems(c *config.Config, p Paths, bad []string) (all []Problem, unsafe string) {
	rules, wrong := listed(c, p, func(error) {})
	for _, x := range slices.Concat(c.Problems, wrong) {
		if x.Severity == config.Error || x.Severity == config.Warning && x.Key == "" || unused(x) {
			all = append(all, Problem{x.Words(), x.File + " " + x.Key + " " + x.Message + " " + x.Found})
		}
	}
	for _, s := range bad {
		all = append(all, Problem{s, s})
	}
	if rules.Unsafe != "" {
		all = append(all, Problem{unsafeNote + rules.Unsafe, rules.Unsafe})
	}
	return all, rules.Unsafe
}

// A Problem is something wrong with settings, in words. Of two with one Subject the
// place in the file is another at most.
type Problem struct{ Words, Subject string }

const unsafeNote = "nothing passes without a question until this is mended: "

// Unused is what of the settings is not used because of a mistake that a run does not
// name, in words.
func Unused(c *config.Config, p Paths) (out []string) {
	rules, wrong := listed(c, p, func(error) {})
	for _, x := range slices.Concat(c.Problems, wrong) {
		if unused(x) {
			out = append(out, x.Words())
		}
	}
	if rules.Unsafe != "" {
		out = append(out, unsafeNote+rules.Unsafe)
	}
	return out
}

// Misspelt are keys of settings that are near the name of another one, and do nothing, in words.
func Misspelt(c *config.Config) (out []string) {
	for _, x := range c.Problems {
		if unused(x) && x.Nearest != "" {
			out = append(out, x.Words())
		}
	}
	return out
}

// unused reports a key or a rule that does nothing because of a mistake. In another
// agent's files it may be none.
func unused(x config.Problem) bool {
	return x.Severity == config.Warning && x.Key != "" && !x.Absent && !strings.Contains(filepath.ToSlash(x.File), "/.claude/")
}

// deadRules are rules that cannot be read, behind their key.
func deadRules(c *config.Config, p Paths) map[string]bool {
	out := map[string]bool{}
	_, wrong := listed(c, p, func(error) {})
	for _, x := range wrong {
		if x.Rule != "" {
			out[x.Key+" "+x.Rule] = true
		}
	}
	return out
}

// Mended says which files can be read again.
func Mended(was, now *config.Config) (out []string) {
	broken := func(c *config.Config) (files []string) {
		for _, x := range c.Problems {
			if x.Key == "" && x.File != "" && !slices.Contains(files, x.File) {
				files = append(files, x.File)
			}
		}
		return files
	}
	still := broken(now)
	for _, f := range broken(was) {
		if !slices.Contains(still, f) {
			out = append(out, f+" can be read again, and counts")
		}
	}
	return out
}
