package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// addSettings lays the argument of --settings over the files.
func (l *loader) addSettings() error {
	s := strings.TrimSpace(l.o.Settings)
	if s == "" {
		return nil
	}
	base := Origin{Scope: Settings, From: "--settings", Root: l.o.Dir}
	text := []byte(s)
	if !strings.HasPrefix(s, "{") {
		path := s
		if !filepath.IsAbs(path) {
			path = filepath.Join(l.o.Dir, path)
		}
		b, err := l.o.Files.Read(path, MaxFile)
		if err != nil {
			return fmt.Errorf("reading --settings %s: %w", s, err)
		}
		text, base.File, base.Root, l.out.Given = b, path, filepath.Dir(path), path
	}
	n, problems, err := parse(text, base)
	if err != nil {
		return fmt.Errorf("reading --settings: %w", err)
	}
	l.out.Problems = append(l.out.Problems, problems...)
	c := checker{}
	n = c.root(n, l.spec)
	l.out.Problems = append(l.out.Problems, c.problems...)
	for _, u := range c.unsafe {
		l.unsafe(u)
	}
	l.lay(l.guard(l.withVariables(n), l.tree, Settings))
	return nil
}

// addGiven lays variables and then flags over the files.
func (l *loader) addGiven() error {
	for _, k := range l.table {
		name := k.Env()
		if name == "" || l.o.Env == nil {
			continue
		}
		if v := l.o.Env(name); v != "" {
			if err := l.give(k, Given{Key: k.Name, Value: v, From: name}, EnvVar); err != nil {
				return err
			}
		}
	}
	for _, g := range l.o.Flags {
		i := slices.IndexFunc(l.table, func(k Key) bool { return k.Name == g.Key })
		if i < 0 {
			return fmt.Errorf("%s: no setting is named %q", g.From, g.Key)
		}
		if err := l.give(l.table[i], g, Flag); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) give(k Key, g Given, scope Scope) error {
	if k.Name == "sandbox.enabled" && g.Value == "strict" {
		strict := Given{Key: "sandbox.fail_if_unavailable", Value: true, From: g.From}
		i := slices.IndexFunc(l.table, func(k Key) bool { return k.Name == strict.Key })
		if err := l.give(l.table[i], strict, scope); err != nil {
			return err
		}
		g.Value = true
	}
	from := Origin{Scope: scope, From: g.From, Root: l.o.Dir}
	v, err := fromGo(typed(k, g.Value), from)
	if err != nil {
		return fmt.Errorf("%s: %w", g.From, err)
	}
	c := checker{}
	at := l.spec
	for seg := range strings.SplitSeq(k.Name, ".") {
		at = at.kids[Fold(seg)]
	}
	ok := c.value(v, at, k.Name)
	if len(c.problems) > 0 && (ok == nil || c.problems[0].Severity == Error) {
		expected := c.problems[0].Expected
		if k.Name == "sandbox.enabled" {
			expected = "on, off or strict"
		}
		return fmt.Errorf("%s: found %s, expected %s", g.From, c.problems[0].Found, expected)
	}
	if k.Replaces {
		l.tree = l.tree.unset(k.Name)
	}
	layer := (&node{kind: '{', from: from}).set(k.Name, ok)
	l.lay(l.guard(layer, l.tree, scope))
	return nil
}

// typed reads a string by the kind of its key.
func typed(k Key, v any) any {
	if list, ok := v.([]string); ok && k.Kind == Strings && !k.Paths {
		out := []string{}
		for _, s := range list {
			out = append(out, policy.SplitList(s)...)
		}
		return out
	}
	s, isString := v.(string)
	if !isString {
		return v
	}
	switch k.Kind {
	case Int, Number, Bool:
		t := strings.ToLower(strings.TrimSpace(s))
		if k.Kind == Bool && (t == "1" || t == "0") { // as in the environment of other programs
			return t == "1"
		}
		if json.Valid([]byte(t)) {
			return json.RawMessage(t)
		}
		if k.Kind == Bool && (t == "on" || t == "yes" || t == "off" || t == "no") {
			return t == "on" || t == "yes"
		}
	case Off:
		if t := strings.TrimSpace(s); t == "true" || t == "false" {
			return t == "true"
		}
	case Strings:
		if k.Paths {
			return filepath.SplitList(s)
		}
		return policy.SplitList(s)
	case StringMap, Bools, Objects, Object, List, Anything:
		if json.Valid([]byte(s)) {
			return json.RawMessage(s)
		}
	case String, Tokens, Portion, Space, Level:
	}
	return s
}
