package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/near"
)

// takers are the events whose hooks may answer with a field of their own; nil is
// every one of them.
var takers = map[string][]Event{
	"hookEventName": nil, "sessionTitle": nil,
	"permissionDecision": {PreToolUse}, "permissionDecisionReason": {PreToolUse}, "updatedInput": {PreToolUse},
	"decision": {PermissionRequest}, "retry": {PermissionDenied},
	"updatedToolOutput": {PostToolUse, PostToolUseFailure}, "updatedMCPToolOutput": {PostToolUse, PostToolUseFailure},
	"classifierContext":  {},
	"initialUserMessage": {SessionStart}, "reloadSkills": {SessionStart}, "watchPaths": {SessionStart, CwdChanged, FileChanged},
	"suppressOriginalPrompt": {UserPromptSubmit},
	"action":                 {Elicitation, ElicitationResult}, "content": {Elicitation, ElicitationResult},
	"displayContent": {MessageDisplay},
}

// Fields of settings that have an effect: beside the list of hooks, in hooks of every
// kind, and in those of one.
var (
	groupFields = []string{"matcher", "hooks"}
	anyFields   = []string{"type", "timeout", "if", "statusMessage", "async", "once", "onError"}
	kindFields  = map[Kind][]string{
		Command: {"command", "args", "shell", "sandbox", "asyncRewake", "rewakeMessage", "rewakeSummary"}, HTTP: {"url", "headers", "allowedEnvVars"}, MCPTool: {"server", "tool", "input"},
		Prompt: {"prompt", "model", "continueOnBlock", "asyncRewake", "rewakeMessage", "rewakeSummary"}, Agent: {"prompt", "model", "continueOnBlock", "asyncRewake", "rewakeMessage", "rewakeSummary"}, Callback: {"callback"},
	}
)

// idle says which fields of an object have no effect. Names that only tell readers
// something are none of them.
func idle(raw []byte, where string, fields []string) (out []string) {
	var all []string
	for _, list := range kindFields {
		all = append(all, list...)
	}
	all = slices.Concat(all, anyFields, groupFields)
	is := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
	}
	for _, name := range fastjson.Names(raw) {
		switch {
		case is(fields, name), is([]string{"id", "name", "description", "comment"}, name), strings.HasPrefix(name, "_"), strings.HasPrefix(name, "$"):
		case is(all, name):
			out = append(out, fmt.Sprintf("%q has no effect %s", name, where))
		default:
			out = append(out, fmt.Sprintf("%q is no field of hooks, and has no effect%s", clip.Line(name, 60), near.Hint(name, fields)))
		}
	}
	return out
}

// vain says what of a hook that a model answers means nothing at its event.
func (h Hook) vain() (out []string) {
	if h.Type != Prompt && h.Type != Agent {
		return nil
	}
	if h.Event == PermissionRequest || h.Event == PermissionDenied {
		out = append(out, fmt.Sprintf("what a model rules has no effect there; a hook of type \"command\" can answer %s", map[Event]string{PermissionRequest: "with a decision", PermissionDenied: "with retry"}[h.Event]))
	}
	if h.OnBlock && h.Event != PostToolUse {
		out = append(out, "\"continueOnBlock\" has an effect in hooks of PostToolUse alone")
	}
	return out
}

// unheard says which parts of an answer mean nothing at the event, for people.
func (h Hook) unheard(a Answer, text []byte) (out []string) {
	var o struct {
		Continue *bool                      `json:"continue"`
		Decision string                     `json:"decision"`
		Specific map[string]json.RawMessage `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(text, &o) != nil {
		return nil
	}
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("the %s hook %s answered with %s", h.Event, clip.Line(h.Name(), 80), fmt.Sprintf(format, args...)))
	}
	if o.Continue != nil && !*o.Continue && !events[h.Event].stops {
		say("\"continue\": false, and there is no turn that it could end then")
	}
	if o.Decision == "block" && !h.Event.canBlock() {
		say("the decision \"block\", and hooks of that event can block nothing")
	}
	if a.Hide && !a.Block {
		say("suppressOriginalPrompt, which means something only beside the decision \"block\"")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Specific)) {
		list, known := takers[name]
		switch {
		case name == "additionalContext" && !events[h.Event].mute:
		case name == "additionalContext":
			say("additionalContext, and no model reads it then")
		case !known:
			say("the field %q, which there is not%s", clip.Line(name, 60), near.Hint(name, slices.Sorted(maps.Keys(takers))))
		case name == "displayContent" && h.Event == MessageDisplay:
			say("displayContent, and adze shows messages as they come, before hooks hear of them")
		case name == "classifierContext":
			say("classifierContext, and adze's classifier goes by what people wrote alone")
		case list != nil && !slices.Contains(list, h.Event):
			say("%s, which is for hooks of %s", name, joined(list))
		}
	}
	return out
}

func joined(list []Event) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = string(e)
	}
	return strings.Join(out, ", ")
}

// commands of a terminal that hooks may have written: title and icon (0, 1, 2),
// notifications (9, 99, 777).
var commands = []string{"0", "1", "2", "9", "99", "777"}

// sequence checks what a hook wants a terminal to do. It is made of bells and of
// operating system commands that call a person or name a window; whatever could
// move, draw, paste or ask is refused.
func sequence(s string) error {
	for rest := s; rest != ""; {
		if rest[0] == '\a' {
			rest = rest[1:]
			continue
		}
		body, isOSC := strings.CutPrefix(rest, "\x1b]")
		end, size := strings.IndexByte(body, '\a'), 1
		if st := strings.Index(body, "\x1b\\"); st >= 0 && (end < 0 || st < end) {
			end, size = st, 2
		}
		if !isOSC || end < 0 {
			return errSequence
		}
		number, _, _ := strings.Cut(body[:end], ";")
		if !slices.Contains(commands, number) || strings.ContainsFunc(body[:end], func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffd }) {
			return errSequence
		}
		rest = body[end+size:]
	}
	return nil
}

var errSequence = fmt.Errorf("answered with a terminalSequence that is not allowed: there are the bell and the operating system commands %s", strings.Join(commands, ", "))
