package hook

import "time"

// An Event is a moment at which hooks run.
type Event string

// Events.
const (
	SessionStart       Event = "SessionStart"
	SessionEnd         Event = "SessionEnd"
	UserPromptSubmit   Event = "UserPromptSubmit"
	PreToolUse         Event = "PreToolUse"
	PermissionRequest  Event = "PermissionRequest"
	PermissionDenied   Event = "PermissionDenied"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	PostToolBatch      Event = "PostToolBatch"
	Notification       Event = "Notification"
	Stop               Event = "Stop"
	StopFailure        Event = "StopFailure"
	PreCompact         Event = "PreCompact"
	PostCompact        Event = "PostCompact"
	CwdChanged         Event = "CwdChanged"

	UserPromptExpansion Event = "UserPromptExpansion"
	SubagentStart       Event = "SubagentStart"
	SubagentStop        Event = "SubagentStop"
	Elicitation         Event = "Elicitation"
	ElicitationResult   Event = "ElicitationResult"
	InstructionsLoaded  Event = "InstructionsLoaded"
	ConfigChange        Event = "ConfigChange"
	FileChanged         Event = "FileChanged"

	Setup          Event = "Setup"
	DirectoryAdded Event = "DirectoryAdded"
	MessageDisplay Event = "MessageDisplay"
	TaskCreated    Event = "TaskCreated"
	TaskCompleted  Event = "TaskCompleted"
	TeammateIdle   Event = "TeammateIdle"
)

// Bounds of what a hook may take and say.
const (
	DefaultTimeout = 600 * time.Second
	promptTimeout  = 30 * time.Second // of a hook that holds a prompt back, or that a model answers
	agentTimeout   = 60 * time.Second
	endTimeout     = 1500 * time.Millisecond // of SessionEnd: leaving must not take long
	// MaxText is how many characters of a text that a hook gives count.
	MaxText = 10_000
)

// facts are what is so of an event, whatever its hooks are.
type facts struct {
	// subject names the field that a matcher is compared with, for people; ""
	// when the event has none, so that a matcher says nothing.
	subject string
	// blocks: exit code 2 and the decision "block" stop what is about to happen.
	blocks bool
	// context: plain output becomes words for the model.
	context bool
	// stops: "continue": false ends the turn, or keeps it from beginning.
	stops bool
	// mute: what hooks have for the model, nobody reads.
	mute bool
	// timeout of a hook that names none; 0 is DefaultTimeout.
	timeout time.Duration
}

// events are those that have a cause in adze.
var events = map[Event]facts{
	SessionStart:       {subject: "source", context: true},
	SessionEnd:         {subject: "reason", mute: true, timeout: endTimeout},
	UserPromptSubmit:   {blocks: true, stops: true, context: true, timeout: promptTimeout},
	PreToolUse:         {subject: "tool_name", blocks: true, stops: true},
	PermissionRequest:  {subject: "tool_name", stops: true},
	PermissionDenied:   {subject: "tool_name"},
	PostToolUse:        {subject: "tool_name", blocks: true, stops: true},
	PostToolUseFailure: {subject: "tool_name", blocks: true, stops: true},
	PostToolBatch:      {blocks: true, stops: true},
	Notification:       {subject: "notification_type"},
	Stop:               {blocks: true, stops: true},
	StopFailure:        {subject: "error", mute: true},
	PreCompact:         {subject: "trigger", blocks: true, stops: true},
	PostCompact:        {subject: "trigger"},
	CwdChanged:         {stops: true},

	UserPromptExpansion: {subject: "command_name", blocks: true, stops: true, context: true, timeout: promptTimeout},
	SubagentStart:       {subject: "agent_type"},
	SubagentStop:        {subject: "agent_type", blocks: true, stops: true},
	Elicitation:         {subject: "mcp_server_name", blocks: true, stops: true},
	ElicitationResult:   {subject: "mcp_server_name", blocks: true, stops: true},
	InstructionsLoaded:  {subject: "load_reason"},
	ConfigChange:        {subject: "source", blocks: true},
	FileChanged:         {subject: "name of file_path"},

	Setup:          {subject: "trigger", context: true},
	DirectoryAdded: {subject: "source"},
	MessageDisplay: {mute: true},
	TaskCreated:    {blocks: true, stops: true},
	TaskCompleted:  {blocks: true, stops: true},
	TeammateIdle:   {blocks: true, stops: true},
}

// later are events of the format that have no cause in adze yet.
var later = map[Event]bool{
	"WorktreeCreate": true, "WorktreeRemove": true, "PreModelSwitch": true, "PostModelSwitch": true,
	"PreSkillShellCommand": true,
}

// Events are the events that fire, in the order of a session.
func Events() []Event {
	return []Event{
		Setup, SessionStart, DirectoryAdded, InstructionsLoaded, UserPromptSubmit, UserPromptExpansion, PreToolUse, PermissionRequest, PermissionDenied, PostToolUse,
		PostToolUseFailure, PostToolBatch, Elicitation, ElicitationResult, TaskCreated, TaskCompleted, SubagentStart, SubagentStop, TeammateIdle, MessageDisplay, Notification, Stop, StopFailure,
		PreCompact, PostCompact, CwdChanged, FileChanged, ConfigChange, SessionEnd,
	}
}

// Caused reports whether something in adze causes the event.
func (e Event) Caused() bool { _, ok := events[e]; return ok }

// Subject names what matchers of the event are compared with, "" when they are
// compared with nothing.
func (e Event) Subject() string { return events[e].subject }

// Later reports whether the format has the event, and nothing in adze causes it
// yet.
func (e Event) Later() bool { return later[e] }

// Guards reports whether hooks of the event may keep a prompt or a call from going on:
// without them, more would run than people count on.
func (e Event) Guards() bool {
	return e == PreToolUse || e == PermissionRequest || e == UserPromptSubmit || e == UserPromptExpansion
}

// canBlock reports whether a hook of the event can stop what is about to happen.
func (e Event) canBlock() bool { return events[e].blocks }
