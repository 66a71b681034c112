package auto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
)

// maxCall bounds the planned call with its actions, in bytes of JSON. A
// longer one is not cut, because what was cut could be what matters: a person
// looks at it.
const maxCall = 240_000

var errLong = errors.New("the call is too long for the check, which smaller ones are not")

// document is the case as one JSON object. Everything a model or a file could
// have written stands inside JSON strings, with quotes, line ends and angle
// brackets escaped, so that it cannot end its string and speak for itself.
func (k Case) document() (string, error) {
	type doc struct {
		Token   string           `json:"token"`
		Dir     string           `json:"working_directory,omitempty"`
		Left    int              `json:"earlier_steps_left_out,omitempty"`
		History []map[string]any `json:"history"`
		Call    map[string]any   `json:"planned_call"`
	}
	var input any
	d := json.NewDecoder(bytes.NewReader(k.Call.Input))
	d.UseNumber()
	if err := d.Decode(&input); err != nil {
		return "", errors.New("the call's input could not be read")
	}
	call := map[string]any{"tool": k.tool(), "input": k.History.Facts.of(k.tool(), input), "why_it_would_be_asked": k.Verdict.Reason}
	var acts []any
	for a := range policy.All(k.Actions) {
		acts = append(acts, describe(a))
	}
	call["actions"] = acts
	hidden := 0
	call, _ = scrub(call, &hidden).(map[string]any)
	if hidden > 0 {
		call["invisible_characters_removed"] = hidden
	}
	if raw, err := json.Marshal(call); err != nil || len(raw) > maxCall {
		return "", errLong
	}
	steps, left := k.History.render()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(doc{k.token(), visible(k.Dir), left, steps, call}); err != nil {
		return "", fmt.Errorf("writing the case: %w", err)
	}
	return noTags.Replace(b.String()), nil
}

// tool is the tool's own name, whatever the model called it.
func (k Case) tool() string {
	if k.Tool != "" {
		return k.Tool
	}
	return k.Call.Name
}

// noTags escapes what chat templates and tags are made of; in JSON both stand
// only inside strings.
var noTags = strings.NewReplacer("<", `\u003c`, ">", `\u003e`)

// describe is an action in plain data.
func describe(a policy.Action) map[string]any {
	switch a := a.(type) {
	case policy.Exec:
		if a.Sure >= policy.Possible {
			return map[string]any{"may_run": a.Argv}
		}
		m := map[string]any{"runs": a.Argv, "in": a.Dir}
		for key, text := range map[string]string{"note": a.Why, "loses": a.Loses, "beyond": a.Beyond} {
			if text != "" {
				m[key] = text
			}
		}
		if len(a.Env) > 0 {
			m["environment"] = a.Env
		}
		if a.ReadOnly {
			m["only_reads"] = true
		}
		return m
	case policy.Opaque:
		return map[string]any{"unreadable": a.Source, "note": a.Why}
	case policy.Read:
		return path("reads", a.Path, a.Asked)
	case policy.Write:
		if a.Remove {
			return path("removes", a.Path, a.Asked)
		}
		return path("writes", a.Path, a.Asked)
	case policy.Net:
		m := map[string]any{"connects_to": a.Host}
		if a.URL != "" {
			m["url"] = a.URL
		}
		return m
	case policy.Call:
		return map[string]any{"calls_tool": a.Tool, "of_server": a.Server}
	case policy.Spawn:
		return map[string]any{"starts_agent": a.Agent}
	case policy.Workflow:
		return map[string]any{"runs_workflow": a.Name, "written_for_this_call": a.Inline}
	case policy.Skill:
		return map[string]any{"loads_skill": a.Name}
	case policy.Person:
		return map[string]any{"needs_person": a.Why}
	case policy.None:
	}
	return map[string]any{"touches": "nothing"}
}

func path(verb, resolved, asked string) map[string]any {
	m := map[string]any{verb: resolved}
	if asked != "" && asked != resolved {
		m["written_as"] = asked
	}
	return m
}

// scrub takes what cannot be seen out of every string of v and counts it.
func scrub(v any, hidden *int) any {
	switch v := v.(type) {
	case string:
		s := visible(v)
		*hidden += max(0, utf8.RuneCountInString(v)-utf8.RuneCountInString(s))
		return s
	case []string:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = scrub(x, hidden)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = scrub(x, hidden)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, x := range v {
			out[scrub(key, hidden).(string)] = scrub(x, hidden)
		}
		return out
	}
	return v
}

// visible is s without escape sequences, control characters and everything that
// takes no room on a screen: format characters, variation selectors, fillers.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, clip.Clean(s))
}
