package keymap

// table lists every action with its context, its default keys, the best first,
// and what it does. Contexts and names that other programs' keybindings.json
// have too mean the same here.
var table = []actionRow{
	{Global, Interrupt, []string{"ctrl+c"}, "clear the prompt or interrupt; twice quits"},
	{Global, Exit, []string{"ctrl+d"}, "twice quits"},
	{Global, Redraw, []string{"ctrl+l"}, "draw the screen again"},
	{Global, Suspend, []string{"ctrl+z"}, "suspend (fg comes back)"},
	{Global, ToggleTranscript, []string{"ctrl+o"}, "whole conversation, in full screen"},
	{Global, ShowHelp, []string{"f1"}, "keys and commands (? in an empty prompt)"},

	{Chat, Submit, []string{"enter"}, "send; while the model works: with its next step"},
	{Chat, SubmitLater, []string{"tab"}, "while the model works: send when it is done (Enter then: now)"},
	{Chat, Newline, []string{"shift+enter", "alt+enter", "ctrl+j"}, `new line (\ and Enter, too)`},
	{Chat, Cancel, []string{"esc"}, "interrupt, or close what is open"},
	{Chat, Rewind, []string{"esc esc"}, "go back to an earlier message"},
	{Chat, CycleMode, []string{"shift+tab"}, "next permission mode"},
	{Chat, ModelPicker, []string{"alt+p"}, "choose the model"},
	{Chat, ThinkingToggle, []string{"alt+t"}, "thinking on or off"},
	{Chat, ToggleTodos, []string{"ctrl+t"}, "show or hide the todo list"},
	{Chat, KillAgents, []string{"ctrl+x ctrl+k"}, "stop all agents"},
	{Chat, OpenAgent, []string{"ctrl+x ctrl+a"}, "show what an agent does, and talk to it"},
	{Chat, ExternalEditor, []string{"ctrl+g", "ctrl+x ctrl+e"}, "write the prompt in your editor"},
	{Chat, Stash, []string{"ctrl+s"}, "put the prompt aside, or get it back"},
	{Chat, ImagePaste, []string{"ctrl+v"}, "paste an image of the clipboard"},
	{Chat, UnfoldPaste, []string{"ctrl+x ctrl+p"}, "unfold the pasted text at the cursor"},
	{Chat, SearchHistory, []string{"ctrl+r"}, "search all prompts of all projects"},
	{Chat, HistoryOlder, []string{"ctrl+p"}, "earlier prompt (↑ in the first line)"},
	{Chat, HistoryNewer, []string{"ctrl+n"}, "later prompt (↓ in the last line)"},

	{Autocomplete, AutocompleteAccept, []string{"tab"}, "take the choice"},
	{Autocomplete, AutocompleteSubmit, []string{"enter"}, "take the choice; a command without arguments runs"},
	{Autocomplete, AutocompleteDismiss, []string{"esc"}, "close the list"},
	{Autocomplete, AutocompletePrev, []string{"up", "ctrl+p"}, "choice above"},
	{Autocomplete, AutocompleteNext, []string{"down", "ctrl+n"}, "choice below"},
	{Autocomplete, AutocompletePageUp, []string{"pgup"}, "page up"},
	{Autocomplete, AutocompletePageDn, []string{"pgdown"}, "page down"},

	{Confirmation, ConfirmYes, []string{"enter", "y"}, "Enter takes the marked answer; y marks yes"},
	{Confirmation, ConfirmNo, []string{"esc", "n"}, "Esc leaves; n marks no"},
	{Confirmation, ConfirmPrev, []string{"up", "k", "ctrl+p"}, "choice above"},
	{Confirmation, ConfirmNext, []string{"down", "j", "ctrl+n"}, "choice below"},
	{Confirmation, ConfirmComment, []string{"tab"}, "add a comment"},
	{Confirmation, ConfirmMode, []string{"shift+tab"}, "yes, and accept edits, where it is offered"},
	{Confirmation, ConfirmExplain, []string{"?", "ctrl+e"}, "the whole decision"},
	{Confirmation, ConfirmEdit, []string{"e"}, "edit the rule, or on yes the call"},

	{Select, SelectNext, []string{"down", "ctrl+n"}, "choice below"},
	{Select, SelectPrev, []string{"up", "ctrl+p"}, "choice above"},
	{Select, SelectPageDn, []string{"pgdown"}, "page down"},
	{Select, SelectPageUp, []string{"pgup"}, "page up"},
	{Select, SelectFirst, []string{"ctrl+home"}, "first choice"},
	{Select, SelectLast, []string{"ctrl+end"}, "last choice"},
	{Select, SelectAccept, []string{"enter"}, "take the choice"},
	{Select, SelectCancel, []string{"esc"}, "close"},
	{Select, SelectMore, []string{"ctrl+v"}, "sessions: preview"},
	{Select, SelectEverywhere, []string{"ctrl+a"}, "sessions: of all projects, or of this one"},
	{Select, SelectBranch, []string{"ctrl+b"}, "sessions: of this branch, or of all"},
	{Select, SelectRename, []string{"ctrl+r"}, "sessions: another title"},

	{Transcript, TranscriptExit, []string{"q", "esc", "ctrl+o"}, "close"},
	{Transcript, TranscriptShowAll, []string{"ctrl+e"}, "unfold everything"},
	{Transcript, TranscriptSearch, []string{"/"}, "search"},
	{Transcript, TranscriptNext, []string{"n"}, "next match"},
	{Transcript, TranscriptPrev, []string{"N"}, "match before"},
	{Transcript, TranscriptTop, []string{"g", "home"}, "to the start"},
	{Transcript, TranscriptBottom, []string{"G", "end"}, "to the end"},
	{Transcript, TranscriptDown, []string{"j", "down"}, "down"},
	{Transcript, TranscriptUp, []string{"k", "up"}, "up"},
	{Transcript, TranscriptPageDown, []string{"space", "pgdown", "ctrl+f"}, "page down"},
	{Transcript, TranscriptPageUp, []string{"b", "pgup", "ctrl+b"}, "page up"},
	{Transcript, TranscriptEditor, []string{"v"}, "open in your editor"},

	{HistorySearch, HistorySearchNext, []string{"ctrl+r", "down", "ctrl+n"}, "older match, the one below"},
	{HistorySearch, HistorySearchPrev, []string{"up", "ctrl+p"}, "newer match, the one above"},
	{HistorySearch, HistorySearchAccept, []string{"tab", "right"}, "edit the match (→ behind what is searched for)"},
	{HistorySearch, HistorySearchExecute, []string{"enter"}, "put the match into the prompt"},
	{HistorySearch, HistorySearchCancel, []string{"esc"}, "close"},
	{HistorySearch, HistorySearchScope, []string{"ctrl+s"}, "this project or all"},

	{Task, TaskBackground, []string{"ctrl+b"}, "move the command to the background"},
	{Help, HelpDismiss, []string{"esc", "q", "?"}, "close"},

	{Edit, EditLeft, []string{"left", "ctrl+b"}, "left"},
	{Edit, EditRight, []string{"right", "ctrl+f"}, "right"},
	{Edit, EditUp, []string{"up"}, "up; in the first line: earlier prompt"},
	{Edit, EditDown, []string{"down"}, "down; in the last line: later prompt"},
	{Edit, EditLineStart, []string{"ctrl+a", "home"}, "start of line"},
	{Edit, EditLineEnd, []string{"ctrl+e", "end"}, "end of line"},
	{Edit, EditTextStart, []string{"ctrl+home", "alt+<"}, "start of text"},
	{Edit, EditTextEnd, []string{"ctrl+end", "alt+>"}, "end of text"},
	{Edit, EditWordLeft, []string{"alt+b", "alt+left", "ctrl+left"}, "word left"},
	{Edit, EditWordRight, []string{"alt+f", "alt+right", "ctrl+right"}, "word right"},
	{Edit, EditSelectLeft, []string{"shift+left"}, "select left"},
	{Edit, EditSelectRight, []string{"shift+right"}, "select right"},
	{Edit, EditSelectUp, []string{"shift+up"}, "select up"},
	{Edit, EditSelectDown, []string{"shift+down"}, "select down"},
	{Edit, EditSelectWordL, []string{"ctrl+shift+left", "alt+shift+left"}, "select word left"},
	{Edit, EditSelectWordR, []string{"ctrl+shift+right", "alt+shift+right"}, "select word right"},
	{Edit, EditSelectStart, []string{"shift+home"}, "select to start of line"},
	{Edit, EditSelectEnd, []string{"shift+end"}, "select to end of line"},
	{Edit, EditSelectAll, []string{"alt+a"}, "select all"},
	{Edit, EditBackspace, []string{"backspace", "ctrl+h", "shift+backspace"}, "delete before the cursor"},
	{Edit, EditDelete, []string{"delete", "ctrl+d"}, "delete at the cursor"},
	{Edit, EditKillLineEnd, []string{"ctrl+k"}, "cut to end of line"},
	{Edit, EditKillLineStart, []string{"ctrl+u", "super+backspace"}, "cut to start of line"},
	{Edit, EditKillWordLeft, []string{"alt+backspace", "ctrl+backspace"}, "cut word left"},
	{Edit, EditKillSpaceLeft, []string{"ctrl+w"}, "cut to the blank on the left"},
	{Edit, EditKillWordRight, []string{"alt+d", "alt+delete", "ctrl+delete"}, "cut word right"},
	{Edit, EditYank, []string{"ctrl+y"}, "put back what was cut"},
	{Edit, EditYankPop, []string{"alt+y"}, "put back an earlier cut instead"},
	{Edit, EditTranspose, []string{"ctrl+t"}, "swap two characters (in the prompt: while there is no todo list)"},
	{Edit, EditUpperWord, []string{"alt+u"}, "word in capitals"},
	{Edit, EditLowerWord, []string{"alt+l"}, "word in small letters"},
	{Edit, EditCapitalWord, []string{"alt+c"}, "capitalise word"},
	{Edit, EditUndo, []string{"ctrl+_", "ctrl+shift+-", "ctrl+-", "ctrl+/", "ctrl+x ctrl+u"}, "undo"},
	{Edit, EditRedo, []string{"alt+_", "ctrl+shift+_", "ctrl+shift+z"}, "redo"},
}

// A Terminal is what the defaults depend on.
type Terminal struct {
	// Windows terminals take Ctrl+V for themselves, know no Ctrl+Z to suspend,
	// and some send no Shift+Tab.
	Windows bool
	// Enhanced terminals tell Shift+Enter from Enter (kitty's keyboard
	// protocol). It decides which key is shown first, not which work.
	Enhanced bool
}

// extra are default keys of some terminals, before those of the table.
func (t Terminal) extra(a Action) []string {
	switch {
	case a == Newline && !t.Enhanced && t.Windows:
		return []string{"ctrl+j"} // Alt+Enter is full screen there
	case a == Newline && !t.Enhanced:
		return []string{"alt+enter"}
	case a == ImagePaste && t.Windows:
		return []string{"alt+v"}
	case a == CycleMode && t.Windows:
		return []string{"shift+tab", "alt+m"}
	case a == EditUndo && t.Windows:
		return []string{"ctrl+z"}
	}
	return nil
}

// absent: the terminal has no use for the default.
func (t Terminal) absent(a Action) bool { return a == Suspend && t.Windows }
