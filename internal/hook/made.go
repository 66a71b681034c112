package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/adze-agent/adze/internal/text/fastjson"
)

// makers are empty inputs, to be filled from JSON.
var makers = map[Event]func() any{
	SessionStart: func() any { return &SessionStartInput{Source: "startup"} }, SessionEnd: func() any { return &SessionEndInput{Reason: EndOther} },
	UserPromptSubmit: func() any { return &PromptInput{} },
	PreToolUse:       func() any { return &PreToolInput{} }, PermissionRequest: func() any { return &PermissionInput{} }, PermissionDenied: func() any { return &DeniedInput{} },
	PostToolUse: func() any { return &PostToolInput{} }, PostToolUseFailure: func() any { return &FailureInput{} }, PostToolBatch: func() any { return &BatchInput{} },
	Notification: func() any { return &NotificationInput{} }, Stop: func() any { return &StopInput{} }, StopFailure: func() any { return &StopFailureInput{} },
	PreCompact: func() any { return &PreCompactInput{Trigger: "manual"} }, PostCompact: func() any { return &PostCompactInput{Trigger: "manual"} },
	CwdChanged: func() any { return &CwdInput{} }, UserPromptExpansion: func() any { return &ExpansionInput{Type: "slash_command"} },
	SubagentStart: func() any { return &SubagentStartInput{Type: "general-purpose"} }, SubagentStop: func() any { return &SubagentStopInput{Type: "general-purpose"} },
	Elicitation: func() any { return &ElicitationInput{Mode: "form"} }, ElicitationResult: func() any { return &ElicitationResultInput{Action: "accept"} },
	InstructionsLoaded: func() any { return &InstructionsInput{Reason: "session_start"} }, ConfigChange: func() any { return &ConfigInput{Source: "user_settings"} },
	FileChanged: func() any { return &FileInput{How: "change"} }, Setup: func() any { return &SetupInput{Trigger: "init"} },
	DirectoryAdded: func() any { return &DirInput{Source: "flag"} }, MessageDisplay: func() any { return &MessageInput{Final: true} },
	TaskCreated: func() any { return &TaskCreatedInput{} }, TaskCompleted: func() any { return &TaskCompletedInput{} }, TeammateIdle: func() any { return &IdleInput{} },
}

// Make makes the input of an event from the JSON of its own fields, for a try.
// For an event about a call of the named tool, fields are the call's arguments.
// Fields that the event does not have are an error.
func Make(event, tool string, fields []byte) (Input, error) {
	maker, ok := makers[Event(event)]
	if !ok {
		return nil, unknownEvent(Event(event))
	}
	if len(bytes.TrimSpace(fields)) == 0 {
		fields = []byte("{}")
	}
	if Event(event).Subject() == "tool_name" && tool != "" {
		var args map[string]any
		if err := json.Unmarshal(fields, &args); err != nil {
			return nil, fmt.Errorf("the arguments of %s: %w", tool, fastjson.InWords(err))
		}
		var err error
		if fields, err = json.Marshal(map[string]any{"tool_name": tool, "tool_input": args, "tool_use_id": "try"}); err != nil {
			return nil, err
		}
	}
	in := maker()
	d := json.NewDecoder(bytes.NewReader(fields))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return nil, fmt.Errorf("the input of %s: %w", event, err)
	}
	made, _ := reflect.ValueOf(in).Elem().Interface().(Input)
	return made, nil
}
