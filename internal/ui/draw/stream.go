package draw

// A Stream draws Markdown that arrives in pieces. What is settled never
// changes again, so that it can be printed for good; only the open tail is
// drawn anew. It is not safe for use by several goroutines.
type Stream struct {
	o    Options
	text []byte
	n    int // lines taken
}

// NewStream returns a Stream that draws with o.
func NewStream(o Options) *Stream { return &Stream{o: o} }

// Write appends a piece of the text. It costs no drawing.
func (s *Stream) Write(text string) { s.text = append(s.text, text...) }

// Take returns the lines that settled since the last Take.
func (s *Stream) Take() []Line { return nil }

// Tail returns the last max lines of what is not settled (0: all).
func (s *Stream) Tail(max int) []Line {
	lines := Markdown(string(s.text), s.o)
	if max > 0 && len(lines) > max {
		lines = lines[len(lines)-max:]
	}
	return lines
}

// Finish settles everything and returns the lines that were not taken.
func (s *Stream) Finish() []Line {
	out := Markdown(string(s.text), s.o)
	s.text = nil
	return out
}

// Resize draws what is not settled with o from now on.
func (s *Stream) Resize(o Options) { s.o = o }

// Markdown draws a whole text.
func Markdown(src string, o Options) []Line {
	return o.Bound(WrapAll(Text(src, Style{}), o.width()))
}
