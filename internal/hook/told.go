package hook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A telling is how the arguments of a tool are told under the name of another tool, which
// has other arguments. A program that knows the name alone looks for those: a guard of
// Edit looks for secrets in new_string.
type telling struct {
	own string // the argument that is told otherwise
	// tell adds the other tool's arguments; mean makes own of those, which a hook changed.
	tell, mean func(args map[string]json.RawMessage)
}

// tellings are by the tool's own name, and by that which it is told under (policy.Names).
// The arguments are those of sdk-tools.d.ts, 2026-11: FileEditInput, TaskStopInput; and of
// the older BashOutput, KillShell and KillBash.
var tellings = map[[2]string]telling{
	{"MultiEdit", "Edit"}:        {"edits", editsTold, editsMeant},
	{"TaskOutput", "BashOutput"}: renamed("task_id", "bash_id"),
	{"TaskStop", "KillShell"}:    renamed("task_id", "shell_id"),
	{"TaskStop", "KillBash"}:     renamed("task_id", "shell_id"),
}

// renamed is for an argument that has another name there.
func renamed(own, theirs string) telling {
	return telling{
		own,
		func(args map[string]json.RawMessage) { args[theirs] = args[own] },
		func(args map[string]json.RawMessage) { args[own] = args[theirs] },
	}
}

// editsTold tells several edits as one: the texts of all, each below the one before.
func editsTold(args map[string]json.RawMessage) {
	var edits []struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
		All bool   `json:"replace_all"`
	}
	if json.Unmarshal(args["edits"], &edits) != nil || len(edits) == 0 {
		return
	}
	var before, after []string
	for _, e := range edits {
		before, after = append(before, e.Old), append(after, e.New)
	}
	for name, v := range map[string]any{"old_string": strings.Join(before, "\n"), "new_string": strings.Join(after, "\n"), "replace_all": len(edits) == 1 && edits[0].All} {
		args[name], _ = json.Marshal(v) // texts and a boolean
	}
}

// editsMeant is the one edit that a hook wants in the place of those that it was told of.
// Where they were several, their joined text is hardly in the file, and nothing is changed.
func editsMeant(args map[string]json.RawMessage) {
	one := map[string]json.RawMessage{}
	for _, name := range []string{"old_string", "new_string", "replace_all"} {
		if v, ok := args[name]; ok {
			one[name] = v
		}
	}
	if list, err := json.Marshal([]any{one}); err == nil {
		args["edits"] = list
	}
}

// toldAs is what a call of a tool was given, with the arguments of the tool whose name it
// is told under besides. ok is false where those are its own.
func toldAs(tool, name string, args json.RawMessage) (told json.RawMessage, ok bool) {
	t, ok := tellings[[2]string{tool, name}]
	var in map[string]json.RawMessage
	if !ok || json.Unmarshal(args, &in) != nil || in == nil {
		return args, false
	}
	t.tell(in)
	told, err := json.Marshal(in)
	return told, err == nil
}

// meantAs is what a hook that was told so wants in the place of args, in the tool's own
// arguments: what it changed of those counts, else what it changed of the other tool's.
func meantAs(tool, name string, args, wants json.RawMessage) json.RawMessage {
	t, ok := tellings[[2]string{tool, name}]
	told, _ := toldAs(tool, name, args)
	var was, shown, now map[string]json.RawMessage
	if !ok || json.Unmarshal(args, &was) != nil || json.Unmarshal(told, &shown) != nil || json.Unmarshal(wants, &now) != nil || now == nil {
		return wants
	}
	kept, changed := now[t.own] == nil || alike(now[t.own], was[t.own]), false
	for key, v := range shown {
		if w, there := now[key]; was[key] == nil && there {
			changed = changed || !alike(v, w)
		}
	}
	switch {
	case kept && changed:
		t.mean(now)
	case kept:
		now[t.own] = was[t.own]
	}
	for key := range shown {
		if was[key] == nil {
			delete(now, key)
		}
	}
	if out, err := json.Marshal(now); err == nil {
		return out
	}
	return wants
}

// alike reports whether two values are written alike but for blanks.
func alike(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
