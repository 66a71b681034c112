package servers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// variable matches ${NAME} and ${NAME:-text}, and ${env:NAME} as editors write it.
var variable = pattern.Lazy(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// expander puts variables into a configuration, and remembers which are missing.
type expander struct {
	lookup  func(name string) (string, bool)
	missing []string
	// withheld says which variables it may not put anywhere, nil none; left are those
	// that were wanted all the same.
	withheld func(name string) bool
	left     []string
	cut      bool // the last text lacks one, and says nothing in its place
	// own are variables that the server's program gets by its configuration.
	own map[string]string
	// lenient leaves what is not set as it is written, in stayed: the program may know it.
	lenient bool
	stayed  []string
}

func (e *expander) text(s string) string {
	e.cut = false
	if !strings.Contains(s, "${") {
		return s
	}
	return variable().ReplaceAllStringFunc(s, func(m string) string {
		parts := variable().FindStringSubmatch(m)
		v, ok := e.own[parts[1]]
		if ok {
			return v
		}
		if e.withheld != nil && e.withheld(parts[1]) {
			ok, e.cut = true, e.cut || parts[2] == ""
			if !slices.Contains(e.left, parts[1]) {
				e.left = append(e.left, parts[1])
			}
		} else {
			v, ok = e.lookup(parts[1])
		}
		if otherwise, has := strings.CutPrefix(parts[2], ":-"); has && v == "" { // as in a shell: unset or empty
			return otherwise
		}
		if !ok && e.lenient {
			if !slices.Contains(e.stayed, parts[1]) {
				e.stayed = append(e.stayed, parts[1])
			}
			return m
		}
		if !ok && !slices.Contains(e.missing, parts[1]) {
			e.missing = append(e.missing, parts[1])
		}
		return v
	})
}

// arguments are those of a program that gets the variables own.
func (e *expander) arguments(in []string, own map[string]string) (out []string) {
	e.own, e.lenient = own, true
	defer func() { e.own, e.lenient = nil, false }()
	for _, s := range in {
		out = append(out, e.text(s))
	}
	return out
}

func (e *expander) values(in map[string]string) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for _, k := range slices.Sorted(maps.Keys(in)) {
		if v := e.text(in[k]); !e.cut { // "Bearer " says nothing
			out[k] = v
		}
	}
	return out
}

// err says which variables are missing.
func (e *expander) err() error {
	switch len(e.missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the variable %s is not set", clip.Line(e.missing[0], 100))
	}
	return fmt.Errorf("the variables %s are not set", clip.Line(strings.Join(e.missing, ", "), 300))
}
