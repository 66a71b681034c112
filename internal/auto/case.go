package auto

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/adze-agent/adze/internal/judge"
	"github.com/adze-agent/adze/internal/policy"
)

// maxCall bounds the planned call with its actions, in bytes of JSON. A
// longer one is not cut, because what was cut could be what matters: a person
// looks at it.
const maxCall = 240_000

var errLong = errors.New("the call is too long for the check, which smaller ones are not")

// document is the case as one JSON object.
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
	call, _ = judge.Scrub(call, &hidden).(map[string]any)
	if hidden > 0 {
		call["invisible_characters_removed"] = hidden
	}
	if raw, err := json.Marshal(call); err != nil || len(raw) > maxCall {
		return "", errLong
	}
	steps, left := k.History.render()
	return judge.Document(doc{k.token(), judge.Visible(k.Dir), left, steps, call})
}

// tool is the tool's own name, whatever the model called it.
func (k Case) tool() string {
	if k.Tool != "" {
		return k.Tool
	}
	return k.Call.Name
}

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
	case policy.Tell:
		if a.Own {
			return map[string]any{"tells_own_agent": a.To}
		}
		return map[string]any{"sends_message_to_other_session": a.To}
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
