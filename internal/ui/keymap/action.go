package keymap

// A Context is where keys are pressed. Several hold at once; the innermost is
// asked first (Map.Press).
type Context string

// The contexts.
const (
	Global        Context = "Global"        // everywhere, asked last
	Chat          Context = "Chat"          // the prompt box
	Edit          Context = "Edit"          // any text field, the prompt box too, after Chat
	Autocomplete  Context = "Autocomplete"  // the @ and / pickers above the prompt box
	Confirmation  Context = "Confirmation"  // a question with yes and no
	Select        Context = "Select"        // a menu
	Transcript    Context = "Transcript"    // the conversation in full screen
	HistorySearch Context = "HistorySearch" // Ctrl+R
	Task          Context = "Task"          // a command runs in the foreground
	Help          Context = "Help"
)

// An Action is what a key does; who reads keys runs it.
type Action string

// An entry of the table of actions.
type actionRow struct {
	context Context // the one it belongs to; it can be bound in others
	action  Action
	keys    []string // defaults
	what    string   // for the help, in plain words
}

// The actions that code refers to. Actions of Edit are the editor's commands.
const (
	Interrupt        Action = "app:interrupt"
	Exit             Action = "app:exit"
	Redraw           Action = "app:redraw"
	Suspend          Action = "app:suspend"
	ToggleTranscript Action = "app:toggleTranscript"
	ToggleTodos      Action = "app:toggleTodos"
	ShowHelp         Action = "app:help"

	Submit         Action = "chat:submit"
	SubmitLater    Action = "chat:submitLater"
	Newline        Action = "chat:newline"
	Cancel         Action = "chat:cancel"
	Rewind         Action = "chat:rewind"
	CycleMode      Action = "chat:cycleMode"
	ModelPicker    Action = "chat:modelPicker"
	ThinkingToggle Action = "chat:thinkingToggle"
	KillAgents     Action = "chat:killAgents"
	OpenAgent      Action = "chat:openAgent"
	ExternalEditor Action = "chat:externalEditor"
	Stash          Action = "chat:stash"
	ImagePaste     Action = "chat:imagePaste"
	UnfoldPaste    Action = "chat:unfoldPaste"
	SearchHistory  Action = "history:search"
	HistoryOlder   Action = "history:previous"
	HistoryNewer   Action = "history:next"

	AutocompleteAccept  Action = "autocomplete:accept"
	AutocompleteSubmit  Action = "autocomplete:submit"
	AutocompleteDismiss Action = "autocomplete:dismiss"
	AutocompletePrev    Action = "autocomplete:previous"
	AutocompleteNext    Action = "autocomplete:next"
	AutocompletePageUp  Action = "autocomplete:pageUp"
	AutocompletePageDn  Action = "autocomplete:pageDown"

	ConfirmYes     Action = "confirm:yes"
	ConfirmNo      Action = "confirm:no"
	ConfirmPrev    Action = "confirm:previous"
	ConfirmNext    Action = "confirm:next"
	ConfirmComment Action = "confirm:nextField"
	ConfirmMode    Action = "confirm:cycleMode"
	ConfirmExplain Action = "confirm:toggleExplanation"
	ConfirmEdit    Action = "confirm:editRule"

	SelectNext   Action = "select:next"
	SelectPrev   Action = "select:previous"
	SelectPageDn Action = "select:pageDown"
	SelectPageUp Action = "select:pageUp"
	SelectFirst  Action = "select:first"
	SelectLast   Action = "select:last"
	SelectAccept Action = "select:accept"
	SelectCancel Action = "select:cancel"
	SelectMore   Action = "select:preview"

	// Of the list of sessions.
	SelectEverywhere Action = "select:allProjects"
	SelectBranch     Action = "select:thisBranch"
	SelectRename     Action = "select:rename"

	TranscriptExit     Action = "transcript:exit"
	TranscriptShowAll  Action = "transcript:toggleShowAll"
	TranscriptSearch   Action = "transcript:search"
	TranscriptNext     Action = "transcript:nextMatch"
	TranscriptPrev     Action = "transcript:previousMatch"
	TranscriptTop      Action = "transcript:top"
	TranscriptBottom   Action = "transcript:bottom"
	TranscriptDown     Action = "transcript:down"
	TranscriptUp       Action = "transcript:up"
	TranscriptPageDown Action = "transcript:pageDown"
	TranscriptPageUp   Action = "transcript:pageUp"
	TranscriptEditor   Action = "transcript:openEditor"

	HistorySearchNext    Action = "historySearch:next"
	HistorySearchPrev    Action = "historySearch:previous"
	HistorySearchAccept  Action = "historySearch:accept"
	HistorySearchExecute Action = "historySearch:execute"
	HistorySearchCancel  Action = "historySearch:cancel"
	HistorySearchScope   Action = "historySearch:scope"

	TaskBackground Action = "task:background"
	HelpDismiss    Action = "help:dismiss"
)

// The editor's commands.
const (
	EditLeft          Action = "edit:left"
	EditRight         Action = "edit:right"
	EditUp            Action = "edit:up"
	EditDown          Action = "edit:down"
	EditLineStart     Action = "edit:lineStart"
	EditLineEnd       Action = "edit:lineEnd"
	EditTextStart     Action = "edit:textStart"
	EditTextEnd       Action = "edit:textEnd"
	EditWordLeft      Action = "edit:wordLeft"
	EditWordRight     Action = "edit:wordRight"
	EditSelectLeft    Action = "edit:selectLeft"
	EditSelectRight   Action = "edit:selectRight"
	EditSelectUp      Action = "edit:selectUp"
	EditSelectDown    Action = "edit:selectDown"
	EditSelectWordL   Action = "edit:selectWordLeft"
	EditSelectWordR   Action = "edit:selectWordRight"
	EditSelectStart   Action = "edit:selectLineStart"
	EditSelectEnd     Action = "edit:selectLineEnd"
	EditSelectAll     Action = "edit:selectAll"
	EditBackspace     Action = "edit:backspace"
	EditDelete        Action = "edit:delete"
	EditKillLineEnd   Action = "edit:killToLineEnd"
	EditKillLineStart Action = "edit:killToLineStart"
	EditKillWordLeft  Action = "edit:killWordLeft"
	EditKillSpaceLeft Action = "edit:killBlankWordLeft"
	EditKillWordRight Action = "edit:killWordRight"
	EditYank          Action = "edit:yank"
	EditYankPop       Action = "edit:yankPop"
	EditTranspose     Action = "edit:transpose"
	EditUpperWord     Action = "edit:upperWord"
	EditLowerWord     Action = "edit:lowerWord"
	EditCapitalWord   Action = "edit:capitalWord"
	EditUndo          Action = "edit:undo"
	EditRedo          Action = "edit:redo"
)
