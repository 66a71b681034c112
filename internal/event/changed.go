package event

import "github.com/adze-agent/adze/internal/effect"

// ChangedBy is what an event says was changed on disk: by a call, by the commands of
// a skill that a prompt names, or by what calls left running.
func ChangedBy(b Body) (out effect.Changed) {
	switch b := b.(type) {
	case ToolFinished:
		out, _ = effect.Of[effect.Changed](b.Effects)
	case InputAccepted:
		if b.Changed != nil {
			out = *b.Changed
		}
	case FilesChanged:
		out = b.Changed
	default: // others change nothing, or say it in their own way (Rewound)
	}
	return out
}
