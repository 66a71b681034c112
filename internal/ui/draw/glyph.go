package draw

// A Glyph is a sign that has a stand-in where only ASCII can be shown.
type Glyph uint8

// The glyphs.
const (
	Ellipsis Glyph = iota
	Bullet         // an assistant's message
	Prompt         // what a person said, and the prompt box
	Cursor         // the chosen line of a list
	Cross
	Check
	Pencil
	Gutter // left of what a tool said
	Dash
	Middot
	ArrowUp
	ArrowDown
	ArrowRight
	Minus
	Ballot // a task that waits
	BallotDone
	BallotNow
	Radio // a choice of one
	RadioOn
	CheckBox // a choice of many
	CheckBoxOn
	ListMark
	Return
	Warning
	Star
	HBar
	VBar
	TopLeft
	TopRight
	BottomLeft
	BottomRight
	TeeLeft
	TeeRight
	Picture
	MoreUp
	MoreDown
	Times

	nGlyphs
)

// glyphs holds each sign and its stand-in.
var glyphs = [nGlyphs][2]string{
	Ellipsis: {"…", "..."}, Bullet: {"●", "*"}, Prompt: {"›", ">"}, Cursor: {"❯", ">"},
	Cross: {"✗", "x"}, Check: {"✓", "v"}, Pencil: {"✎", "~"}, Gutter: {"│", "|"},
	Dash: {"–", "-"}, Middot: {"·", "-"}, ArrowUp: {"↑", "^"}, ArrowDown: {"↓", "v"}, ArrowRight: {"→", "->"}, Minus: {"−", "-"},
	Ballot: {"☐", "[ ]"}, BallotDone: {"☑", "[x]"}, BallotNow: {"◐", "[>]"},
	Radio: {"○", "( )"}, RadioOn: {"●", "(o)"}, CheckBox: {"☐", "[ ]"}, CheckBoxOn: {"☑", "[x]"},
	ListMark: {"•", "-"}, Return: {"↵", "\\"}, Warning: {"▲", "!"}, Star: {"✦", "*"},
	HBar: {"─", "-"}, VBar: {"│", "|"}, TopLeft: {"╭", "+"}, TopRight: {"╮", "+"}, BottomLeft: {"╰", "+"}, BottomRight: {"╯", "+"},
	TeeLeft: {"├", "+"}, TeeRight: {"┤", "+"}, Picture: {"▣", "#"}, MoreUp: {"▴", "^"}, MoreDown: {"▾", "v"}, Times: {"×", "x"},
}

// spinners are the frames of the one thing that moves.
var spinners = [2][]string{
	{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
	{"|", "/", "-", "\\"},
}

func set(ascii bool) int {
	if ascii {
		return 1
	}
	return 0
}

// Sign returns the text of g.
func Sign(g Glyph, ascii bool) string { return glyphs[g][set(ascii)] }

func (o Options) glyph(g Glyph) string { return Sign(g, o.ASCII) }

// sign returns a Span of text that is our own.
func sign(text string, role Role) Span { return Span{Text: text, Style: Style{Role: role}} }

// Spinner returns the frame n of the spinner.
func Spinner(n int, ascii bool) string {
	f := spinners[set(ascii)]
	return f[((n%len(f))+len(f))%len(f)]
}
