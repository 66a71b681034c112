package event

import "github.com/adze-agent/adze/internal/effect"

// ChangedBy is what an event says was changed on disk: by a call, or by the commands of
// a skill that a prompt names.
func ChangedBy(b Body) (out effect.Changed) {
	switch b := b.(type) {
	case ToolFinished:
		out, _ = effect.Of[effect.Changed](b.Effects)
	case InputAccepted:
		if b.Changed != nil {
			out = *b.Changed
		}
	default: // others change nothing, or say it in their own way (Rewound)
	}
	return out
}
