package toolkit

import (
	"context"
	"sync/atomic"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/session"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/tool/propose"
)

// proposes is the tool that proposes a goal for the session.
func (c Config) proposes(of *atomic.Pointer[session.Session]) tool.Tool {
	refused := ""
	switch {
	case c.Child:
		refused = "an agent has no goals: say in your report what is to be so"
	case !c.Person:
		refused = "nobody is here who could agree to a goal: go on without one, or end your turn with the proposal. A person sets one with /goal CONDITION"
	}
	return propose.New(func(ctx context.Context, condition string) error {
		return of.Load().Submit(ctx, op.Goal{Condition: condition})
	}, refused)
}
