package event

import "github.com/adze-agent/adze/internal/llm"

// Weight is about how many bytes of text an event holds.
func Weight(b Body) int {
	const least = 200
	switch b := b.(type) {
	case ToolFinished:
		n := least + 2*len(b.Text)
		for _, img := range b.Images {
			n += len(img.Data)
		}
		return n
	case Replied:
		n := least
		for _, p := range b.Message.Parts {
			switch p := p.(type) {
			case llm.Text:
				n += len(p.S)
			case llm.Thinking:
				n += len(p.S)
			case llm.ToolUse:
				n += 2 * len(p.Input)
			case llm.ToolResult, llm.Image, llm.Document:
			}
		}
		return n
	case InputAccepted:
		n := least + len(b.Text)
		for _, img := range b.Images {
			n += len(img.Data)
		}
		return n
	default: // the others are small
		return least
	}
}
