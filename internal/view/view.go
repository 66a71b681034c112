// Package view is the closed set of shapes a user interface can draw.
//
// Tools describe their results with these shapes, and front ends switch on
// them. No front end ever switches on a tool's name, and no shape carries a
// callback: a Block is data that can be stored in the log and sent anywhere.
package view

import "encoding/json"

// A Block is one drawable thing.
//
//sumtype:decl
type Block interface{ block() }

type (
	// Text is plain text, already bounded and free of control characters.
	Text struct {
		S string `json:"s"`
		// Prose means that it is Markdown.
		Prose bool `json:"prose,omitempty"`
		// File is where a person may change the text, as long as it is asked
		// about; "" is nowhere.
		File string `json:"file,omitempty"`
	}

	// Code is a piece of a file. First is the 1-based number of its first line;
	// 0 means lines are not numbered.
	Code struct {
		Path  string `json:"path,omitempty"`
		First int    `json:"first,omitempty"`
		S     string `json:"s"`
	}

	// Terminal is a command and what it printed. Dropped counts the bytes that
	// were left out between head and tail.
	Terminal struct {
		Command string `json:"command"`
		Output  string `json:"output,omitempty"`
		Exit    int    `json:"exit,omitempty"`
		Dropped int64  `json:"dropped,omitempty"`
		Note    string `json:"note,omitempty"` // "timed out after 2m0s", "in the background as b1", …
	}

	// Diff is a change of one file as unified diff hunks (without file headers).
	Diff struct {
		Path    string `json:"path"`
		Unified string `json:"unified"`
		Added   int    `json:"added"`
		Removed int    `json:"removed"`
		Created bool   `json:"created,omitempty"`
	}

	// Table has a header row and rows of equal length.
	Table struct {
		Head []string   `json:"head"`
		Rows [][]string `json:"rows"`
	}

	// Tasks is the whole todo list as it stands now.
	Tasks struct {
		Items []Task `json:"items"`
	}

	// Image is a picture; Data is encoded as Media says (an IANA media type).
	Image struct {
		Media string `json:"media"`
		Data  []byte `json:"data"`
		Alt   string `json:"alt,omitempty"`
	}

	// Questions are put to a person; the answer comes back as op.Answer.
	Questions struct {
		Items []Question `json:"items"`
	}

	// Form asks a person for values, or to open a page. The answer comes back as
	// op.Answer: Values holds one JSON object, its members named by Field.Name.
	// Who makes a Form bounds it and checks the answer with Check, because any
	// client may give it.
	Form struct {
		Server  string `json:"server,omitempty"`  // the MCP server that asks
		Message string `json:"message,omitempty"` // what for, in its words
		// URL, when not empty, is a page to open; then there are no Fields, and a
		// yes has no Values.
		URL    string  `json:"url,omitempty"`
		Fields []Field `json:"fields,omitempty"`
		// Schema is what Fields were made of, as who asks wrote it; nil where there
		// is a URL.
		Schema json.RawMessage `json:"schema,omitempty"`
	}

	// Meter is how something is filled: its shares, in order, of a whole. What
	// they leave is free; a Whole of 0 is not known.
	Meter struct {
		Title  string  `json:"title,omitempty"`
		Unit   string  `json:"unit,omitempty"`
		Whole  int     `json:"whole,omitempty"`
		Shares []Share `json:"shares"`
	}

	// Group draws its blocks one after another.
	Group struct {
		Blocks []Block `json:"-"`
	}
)

// A Share is a part of a Meter.
type Share struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// A Task is one line of a todo list.
type Task struct {
	ID     string     `json:"id,omitempty"` // by which Waits names it
	Text   string     `json:"text"`
	Active string     `json:"active,omitempty"` // the text while it is being worked on
	Status TaskStatus `json:"status"`
	Owner  string     `json:"owner,omitempty"` // the agent that works on it, or is to
	Waits  []string   `json:"waits,omitempty"` // the tasks that have to be done before it begins
	Step   bool       `json:"step,omitempty"`  // its owner noted it for itself
	About  string     `json:"about,omitempty"` // more of it, in a plan that would create or finish it
}

// A TaskStatus is the state of a Task.
type TaskStatus string

// The states of a Task.
const (
	Pending    TaskStatus = "pending"
	InProgress TaskStatus = "in_progress"
	Completed  TaskStatus = "completed"
	Deleted    TaskStatus = "deleted" // it is on no list any more
)

// A Question offers options; Multi lets a person choose several.
type Question struct {
	Text    string   `json:"question"`
	Header  string   `json:"header,omitempty"`
	Options []Option `json:"options"`
	Multi   bool     `json:"multiSelect,omitempty"`
}

// An Option is one answer to a Question.
type Option struct {
	Label string `json:"label"`
	About string `json:"description,omitempty"`
}

func (Text) block()      {}
func (Code) block()      {}
func (Terminal) block()  {}
func (Diff) block()      {}
func (Table) block()     {}
func (Tasks) block()     {}
func (Image) block()     {}
func (Questions) block() {}
func (Form) block()      {}
func (Meter) block()     {}
func (Group) block()     {}
