package settings

import (
	"encoding/json"
	"fmt"
	"slices"

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

// Changes describes what differs, without secrets.
func Changes(hide *secret.Redactor, changed []config.Change) []event.SettingChange {
	var out []event.SettingChange
	for _, c := range changed {
		e := event.SettingChange{Key: c.Key, From: c.From.String(), Later: c.When.Later()}
		before, isList := entries(c.Old)
		after, isList2 := entries(c.New)
		if isList && isList2 && (before != nil || after != nil) {
			e.Added, e.Removed = less(hide, after, before), less(hide, before, after)
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

// Problems are what is wrong with settings, in words.
func Problems(c *config.Config, bad []string) []string {
	var out []string
	for _, p := range c.Problems {
		if p.Severity == config.Error || p.Severity == config.Warning && p.Key == "" {
			out = append(out, p.String())
		}
	}
	out = append(out, bad...)
	if c.Permissions.Unsafe != "" {
		out = append(out, "nothing passes without a question until this is mended: "+c.Permissions.Unsafe)
	}
	return out
}
