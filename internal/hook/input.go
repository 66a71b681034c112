package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// Common is what every hook is told.
type Common struct {
	Session    string `json:"session_id"`
	Prompt     string `json:"prompt_id,omitempty"`
	Transcript string `json:"transcript_path"`
	Dir        string `json:"cwd"`
	Mode       string `json:"permission_mode,omitempty"`
	Effort     *Level `json:"effort,omitempty"`
	Agent      string `json:"agent_id,omitempty"` // of whose doing it is, when not the session's own
	AgentType  string `json:"agent_type,omitempty"`
}

// A Level is how hard the model thinks.
type Level struct {
	Level string `json:"level"`
}

// An Input is what hooks of one event are told besides Common.
type Input interface {
	Event() Event
	// Subject is what matchers are compared with.
	Subject() string
}

// A Call is a call of a tool.
type Call struct {
	Tool  string          `json:"tool_name"`
	Input json.RawMessage `json:"tool_input"`
	ID    string          `json:"tool_use_id,omitempty"`
}

// Subject implements Input for events that are about a call.
func (c Call) Subject() string { return c.Tool }

// An Ending is why a session ends.
type Ending string

// Endings that have a cause in adze.
const (
	EndClear  Ending = "clear"             // a person began a new one in its place
	EndResume Ending = "resume"            // a person went on with another one
	EndExit   Ending = "prompt_input_exit" // a person left
	EndOther  Ending = "other"
)

// Inputs, one for each event.
type (
	SessionStartInput struct {
		Source string `json:"source"` // startup, resume, clear, compact or fork
		Model  string `json:"model,omitempty"`
		Title  string `json:"session_title,omitempty"`
	}
	SessionEndInput struct {
		Reason Ending `json:"reason"`
	}
	PromptInput struct {
		Text string `json:"prompt"`
	}
	PreToolInput struct {
		Call
	}
	PermissionInput struct {
		Call
		Suggestions []Update `json:"permission_suggestions"`
	}
	DeniedInput struct {
		Call
		Reason string `json:"reason"`
	}
	PostToolInput struct {
		Call
		Response json.RawMessage `json:"tool_response"`
		Millis   int64           `json:"duration_ms"`
	}
	FailureInput struct {
		Call
		Error     string `json:"error"`
		Interrupt bool   `json:"is_interrupt"`
		Millis    int64  `json:"duration_ms"`
	}
	BatchInput struct {
		Calls []BatchCall `json:"tool_calls"`
	}
	NotificationInput struct {
		Message string `json:"message"`
		Title   string `json:"title,omitempty"`
		Type    string `json:"notification_type"`
	}
	StopInput struct {
		Active bool   `json:"stop_hook_active"` // the turn goes on because a hook wanted it
		Last   string `json:"last_assistant_message,omitempty"`
		Tasks  []Task `json:"background_tasks"`
		Crons  []Task `json:"session_crons"`
	}
	StopFailureInput struct {
		Error   string `json:"error"`
		Details string `json:"error_details,omitempty"`
		Last    string `json:"last_assistant_message,omitempty"`
	}
	PreCompactInput struct {
		Trigger string `json:"trigger"` // manual or auto
		Focus   string `json:"custom_instructions"`
	}
	PostCompactInput struct {
		Trigger string `json:"trigger"`
		Summary string `json:"compact_summary"`
	}
	CwdInput struct {
		Old string `json:"old_cwd"`
		New string `json:"new_cwd"`
	}
	ExpansionInput struct {
		Type   string `json:"expansion_type"` // slash_command or mcp_prompt
		Name   string `json:"command_name"`
		Args   string `json:"command_args"`
		Source string `json:"command_source"` // user, project, plugin, mcp …
		Prompt string `json:"prompt"`         // as it was typed
	}
	SubagentStartInput struct {
		ID   string `json:"agent_id"`
		Type string `json:"agent_type"`
	}
	SubagentStopInput struct {
		StopInput
		ID         string `json:"agent_id"`
		Type       string `json:"agent_type"`
		Transcript string `json:"agent_transcript_path"` // "": none is kept
	}
	ElicitationInput struct {
		Server  string          `json:"mcp_server_name"`
		Message string          `json:"message"`
		Mode    string          `json:"mode"` // form or url
		URL     string          `json:"url,omitempty"`
		Schema  json.RawMessage `json:"requested_schema,omitempty"`
	}
	ElicitationResultInput struct {
		Server  string          `json:"mcp_server_name"`
		Action  string          `json:"action"` // accept, decline or cancel
		Content json.RawMessage `json:"content,omitempty"`
		Mode    string          `json:"mode,omitempty"`
	}
	InstructionsInput struct {
		Path   string   `json:"file_path"`
		Type   string   `json:"memory_type"` // User, Project, Local or Managed
		Reason string   `json:"load_reason"` // session_start, include or path_glob_match
		Globs  []string `json:"globs,omitempty"`
		Parent string   `json:"parent_file_path,omitempty"`
	}
	ConfigInput struct {
		Source string `json:"source"` // user_settings, project_settings, local_settings, policy_settings or skills
		Path   string `json:"file_path,omitempty"`
	}
	SetupInput struct {
		Trigger string `json:"trigger"` // init or maintenance
	}
	DirInput struct {
		Dir    string `json:"directory"` // absolute
		Source string `json:"source"`    // flag (--add-dir) or settings (/add-dir writes them)
	}
	// MessageInput is a message of the model's, as it is shown: as a whole.
	MessageInput struct {
		Turn    string `json:"turn_id"`
		Message string `json:"message_id"`
		Index   int    `json:"index"` // of the pieces: 0
		Final   bool   `json:"final"`
		Text    string `json:"delta"`
	}
	// TaskInput is an item of the todo list.
	TaskInput struct {
		ID    string `json:"task_id"` // of a new one, the number that it gets unless an agent is faster
		Text  string `json:"task_subject"`
		About string `json:"task_description,omitempty"`
		Owner string `json:"teammate_name,omitempty"` // the agent that does it
	}
	TaskCreatedInput   struct{ TaskInput }
	TaskCompletedInput struct{ TaskInput }
	// IdleInput is an agent with a name that has nothing more to do.
	IdleInput struct {
		Name string `json:"teammate_name"`
		Team string `json:"team_name"` // of TeamCreate, or "default"
	}
	FileInput struct {
		Path string `json:"file_path"`
		How  string `json:"event"` // change, add or unlink
	}
)

// A BatchCall is a call of a reply with its result.
type BatchCall struct {
	Call
	Response json.RawMessage `json:"tool_response"`
}

// A Task is a command that runs in the background.
type Task struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	Status      string `json:"status"`
	Description string `json:"description"`
	Command     string `json:"command,omitempty"`    // of a command
	Agent       string `json:"agent_type,omitempty"` // of an agent
}

// An Update is a change of the permissions.
type Update struct {
	Type        string       `json:"type"` // addRules, replaceRules, removeRules, setMode, addDirectories, removeDirectories
	Rules       []UpdateRule `json:"rules,omitempty"`
	Behavior    string       `json:"behavior,omitempty"`
	Mode        string       `json:"mode,omitempty"`
	Directories []string     `json:"directories,omitempty"`
	Destination string       `json:"destination"`
}

// An UpdateRule is a rule in an Update.
type UpdateRule struct {
	Tool string `json:"toolName"`
	Spec string `json:"ruleContent,omitempty"`
}

func (SessionStartInput) Event() Event { return SessionStart }
func (SessionEndInput) Event() Event   { return SessionEnd }
func (PromptInput) Event() Event       { return UserPromptSubmit }
func (PreToolInput) Event() Event      { return PreToolUse }
func (PermissionInput) Event() Event   { return PermissionRequest }
func (DeniedInput) Event() Event       { return PermissionDenied }
func (PostToolInput) Event() Event     { return PostToolUse }
func (FailureInput) Event() Event      { return PostToolUseFailure }
func (BatchInput) Event() Event        { return PostToolBatch }
func (NotificationInput) Event() Event { return Notification }
func (StopInput) Event() Event         { return Stop }
func (StopFailureInput) Event() Event  { return StopFailure }
func (PreCompactInput) Event() Event   { return PreCompact }
func (PostCompactInput) Event() Event  { return PostCompact }
func (CwdInput) Event() Event          { return CwdChanged }

func (ExpansionInput) Event() Event         { return UserPromptExpansion }
func (SubagentStartInput) Event() Event     { return SubagentStart }
func (SubagentStopInput) Event() Event      { return SubagentStop }
func (ElicitationInput) Event() Event       { return Elicitation }
func (ElicitationResultInput) Event() Event { return ElicitationResult }
func (InstructionsInput) Event() Event      { return InstructionsLoaded }
func (ConfigInput) Event() Event            { return ConfigChange }
func (FileInput) Event() Event              { return FileChanged }

func (SetupInput) Event() Event         { return Setup }
func (DirInput) Event() Event           { return DirectoryAdded }
func (MessageInput) Event() Event       { return MessageDisplay }
func (TaskCreatedInput) Event() Event   { return TaskCreated }
func (TaskCompletedInput) Event() Event { return TaskCompleted }
func (IdleInput) Event() Event          { return TeammateIdle }

func (i SetupInput) Subject() string { return i.Trigger }
func (i DirInput) Subject() string   { return i.Source }
func (MessageInput) Subject() string { return "" }
func (TaskInput) Subject() string    { return "" }
func (IdleInput) Subject() string    { return "" }

func (i ExpansionInput) Subject() string         { return i.Name }
func (i SubagentStartInput) Subject() string     { return i.Type }
func (i SubagentStopInput) Subject() string      { return i.Type }
func (i ElicitationInput) Subject() string       { return i.Server }
func (i ElicitationResultInput) Subject() string { return i.Server }
func (i InstructionsInput) Subject() string      { return i.Reason }
func (i ConfigInput) Subject() string            { return i.Source }
func (i FileInput) Subject() string              { return filepath.Base(i.Path) }

func (i SessionStartInput) Subject() string { return i.Source }
func (i SessionEndInput) Subject() string   { return string(i.Reason) }
func (PromptInput) Subject() string         { return "" }
func (BatchInput) Subject() string          { return "" }
func (i NotificationInput) Subject() string { return i.Type }
func (StopInput) Subject() string           { return "" }
func (i StopFailureInput) Subject() string  { return i.Error }
func (i PreCompactInput) Subject() string   { return i.Trigger }
func (i PostCompactInput) Subject() string  { return i.Trigger }
func (CwdInput) Subject() string            { return "" }

// Encode is what a hook reads: one JSON object on one line.
func Encode(c Common, in Input) ([]byte, error) {
	switch in.(type) {
	case SubagentStartInput, SubagentStopInput: // which say themselves whom they are about
		c.Agent, c.AgentType = "", ""
	}
	head, err := json.Marshal(struct {
		Common
		Event Event `json:"hook_event_name"`
	}{c, in.Event()})
	if err != nil {
		return nil, fmt.Errorf("writing the input of hooks: %w", err)
	}
	tail, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("writing the input of %s hooks: %w", in.Event(), err)
	}
	if !bytes.Equal(tail, []byte("{}")) {
		head = append(append(head[:len(head)-1], ','), tail[1:]...)
	}
	return append(head, '\n'), nil
}
