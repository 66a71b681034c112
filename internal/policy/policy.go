// Package policy decides whether an action may run. Decide is a pure function
// over values: the package does no I/O, holds no state, and imports only the
// standard library. Paths it is given are absolute and already resolved.
package policy

import "slices"

// An Effect orders verdicts: the strictest one wins.
type Effect int

// Effects, from the loosest.
const (
	Allow Effect = iota
	Ask
	Deny
)

func (e Effect) String() string { return [...]string{"allow", "ask", "deny"}[e] }

// MarshalText writes allow, ask or deny.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what MarshalText wrote; anything else is Ask.
func (e *Effect) UnmarshalText(b []byte) error {
	switch string(b) {
	case "allow":
		*e = Allow
	case "deny":
		*e = Deny
	default:
		*e = Ask
	}
	return nil
}

// A Verdict is an effect and the reason a person or a model will read.
type Verdict struct {
	Effect Effect `json:"effect"`
	Reason string `json:"reason,omitempty"` // one sentence, plain words
	Rule   string `json:"rule,omitempty"`   // the text of the rule that settled it
	Source string `json:"source,omitempty"` // where that rule stands, "file:line" or "--allowed-tools"
	Check  Check  `json:"check,omitempty"`  // the built-in check that settled it
	// Part is the command, path or host that decided, for a dialog to mark.
	Part string `json:"part,omitempty"`
	// Suggest are the exact rules that "always" would save.
	Suggest []string `json:"suggest,omitempty"`
	// Loses says of a question that the call may take something away for good, whichever
	// check asks: a yes is never the first answer.
	Loses bool `json:"loses,omitempty"`
	// Parts, of a question, are all the things the call would do, in their
	// order, for a dialog to list. At most maxPieces: those that need nobody
	// are left out first.
	Parts []Piece `json:"parts,omitempty"`
	// Needs are what it takes to run the call as it was judged.
	Needs Needs `json:"needs,omitzero"`
}

// A Piece is one thing a call would do and what was decided about it alone.
type Piece struct {
	Kind PieceKind `json:"kind"`
	// Of, of what a command does, is the Text of that command.
	Of string `json:"of,omitempty"`
	// Text is the command, the path as it was asked for, the host or URL, or
	// the name.
	Text string `json:"text"`
	// Path is what a path resolves to; for a command the folder it runs in.
	Path string `json:"path,omitempty"`
	// What was decided, as in Verdict.
	Effect Effect `json:"effect"`
	Reason string `json:"reason,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Source string `json:"source,omitempty"`
	Check  Check  `json:"check,omitempty"`
}

// strictest merges two verdicts, such as a hook's and the rules'. On a tie
// the first one stays.
func strictest(a, b Verdict) Verdict {
	if b.Effect > a.Effect {
		return b
	}
	return a
}

// A Mode is how much may run without a question.
type Mode string

// The modes, by their published names.
const (
	Default     Mode = "default"
	AcceptEdits Mode = "acceptEdits"
	PlanMode    Mode = "plan"
	Auto        Mode = "auto"
	DontAsk     Mode = "dontAsk"
	Bypass      Mode = "bypassPermissions"
)

// modeNames is every name of a mode: first each one's own, then the others that are
// read. "manual" is a published name of the default mode, "bypass" is adze's own.
var modeNames = []struct {
	name string
	mode Mode
}{
	{"default", Default},
	{"acceptEdits", AcceptEdits},
	{"plan", PlanMode},
	{"auto", Auto},
	{"dontAsk", DontAsk},
	{"bypassPermissions", Bypass},
	{"manual", Default},
	{"bypass", Bypass},
}

// ModeNames are the names that ParseMode reads, each mode's own before the others.
func ModeNames() (out []string) {
	for _, n := range modeNames {
		out = append(out, n.name)
	}
	return out
}

// ParseMode reads a mode's name; "" is Default. ok is false for an unknown name.
func ParseMode(s string) (m Mode, ok bool) {
	for _, n := range modeNames {
		if n.name == s {
			return n.mode, true
		}
	}
	return Default, s == ""
}

// Stricter is the one of two modes that allows less without a question. One that is
// not known, such as "", does not count: then it is the other.
func Stricter(a, b Mode) Mode {
	order := []Mode{PlanMode, DontAsk, Default, Auto, AcceptEdits, Bypass}
	if i := slices.Index(order, a); i >= 0 && i < slices.Index(order, b) {
		return a
	}
	return b
}

// A Scope is where a rule comes from.
type Scope string

// Scopes, strongest first.
const (
	Managed Scope = "managed"
	CLI     Scope = "cli"
	Session Scope = "session"
	Command Scope = "command"
	Local   Scope = "local"
	Project Scope = "project"
	User    Scope = "user"
)

// A Rule gives an effect to what it matches. Tool is the tool's name, Spec
// the text in parentheses ("" matches every call of the tool).
type Rule struct {
	Tool, Spec string
	Effect     Effect
	Scope      Scope
	Source     string // "file:line", "--allowed-tools", …
	Root       string // the folder that "/x" path patterns are relative to
}

// Rules are everything Decide knows besides the request. The zero value asks
// for everything.
type Rules struct {
	List []Rule
	Dir  string   // the folder the session was started in: resolved
	Dirs []string // folders that may be read and, by mode, written: resolved; Dir is one of them
	Home string   // resolved
	// HomeNamed is the home folder as the environment names it; "" when that is Home.
	HomeNamed string
	// Repository is the folder of the git repository that Dir lies in, "" for none: tools that
	// read files, and do nothing else, may read there without a question.
	Repository string
	// Readable are further folders that may be read without a question
	// (the session's own spill folder, for example).
	Readable []string
	// Writable are further folders that may be written without a question, in
	// every mode (the session's scratch folder, a plan file).
	Writable []string
	// Notes are folders of the model's own notes: Markdown files in them may be
	// read and, but in plan mode, written by file tools without a question.
	Notes []string
	// Protected are further paths that need a person in every mode, with all
	// that is in them: what settings and layout of the repositories here name.
	Protected []Steer
	// Secrets are further files and folders that hold secrets: what variables name.
	Secrets []string
	// Sealed are the paths, resolved, that the settings of the sandbox deny commands to write.
	// They are no reason for a verdict: Needs tell the sandbox of a call that names them.
	Sealed []string
	// FoldCase compares paths without regard to case, for file systems that do.
	FoldCase bool
	// ManagedOnly ignores allow rules of every other scope, those that a person or a
	// skill gives a session included.
	ManagedOnly bool
	// Attended: whoever answers questions wants to be asked about what the sandbox
	// alone would be reason enough for, in the modes that ask.
	Attended bool
	// NoBypass reads Bypass as Default.
	NoBypass bool
	// Apart: the session works in a worktree of its own; nil for none.
	Apart *Apart
	// Unsafe, when set, says why nothing may be allowed without a question
	// (a permissions block that could not be read).
	Unsafe string
}

// A Steer is a path and why writing it needs a person.
type Steer struct{ Path, Why string }

// A Request is one planned call.
type Request struct {
	Tool    string
	Actions []Action
	// Sandboxed means that the call would run inside the OS sandbox and the
	// settings say that this is enough (sandbox.auto_allow).
	Sandboxed bool
}
