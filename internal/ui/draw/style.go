package draw

// A Style says what text means, and how it looks only where a tool's output
// brought its own colours.
type Style struct {
	Role   Role
	On     Role  // whose background the text stands on; Plain means the terminal's
	Attr   Attr  // added to what the theme gives the role
	Fg, Bg Color // from the output of a tool; they win over the roles
}

// A Role is a meaning. A theme gives it colours.
type Role uint8

// The roles.
const (
	Plain     Role = iota
	Quiet          // facts and hints that do not call for attention
	Accent         // the one colour of adze: marks, prompts, what is chosen
	OK             // it worked
	Attention      // a person should look
	Wrong          // it failed
	Heading
	Link
	Code        // inline code and paths
	Quote       // a quoted paragraph
	Thinking    // what a model thought
	User        // what a person said
	Border      // of what a person must act on
	BorderQuiet // of everything else
	Selected    // the chosen line of a list
	Match       // what a search found
	Shell       // the prompt in shell mode
	Plan        // plan mode
	AcceptEdits // accept-edits mode
	Danger      // a mode that asks for nothing

	Added // a line of a diff: its marker, and the ground of all of it
	Removed
	AddedWord // the part of a line that changed
	RemovedWord
	Hunk // where in the file a hunk stands

	Keyword // and below: syntax
	TypeName
	Function
	StringLit
	Number
	Comment
	Operator
	Variable
	Constant
	Tag
	Attribute
	Escape
	SyntaxError

	nRoles
)

// Attr is a set of text attributes.
type Attr uint8

// The attributes.
const (
	Bold Attr = 1 << iota
	Dim
	Italic
	Underline
	Reverse
	Strike
)

// A Color is none, one of the terminal's 256, or red, green and blue.
type Color uint32

const (
	indexed Color = 1 << 24
	direct  Color = 2 << 24
)

// Index is the color n of the terminal's palette.
func Index(n uint8) Color { return indexed | Color(n) }

// RGB is a color by its parts.
func RGB(r, g, b uint8) Color {
	return direct | Color(r)<<16 | Color(g)<<8 | Color(b)
}

// None reports whether c is no color of its own.
func (c Color) None() bool { return c == 0 }

// RGB returns the parts of c, and false when c is of the palette or none.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c&direct != 0
}

// index returns the number in the palette.
func (c Color) index() (uint8, bool) { return uint8(c), c&indexed != 0 }
