package print

import (
	"context"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// rewindFiles puts files back as they were before a prompt, or says what that
// would do. A message is named by the uuid that the host gave it, or that it has
// on the wire.
func (r *runner) rewindFiles(ctx context.Context, message string, dry bool) object {
	if id, ok := r.p.prompts[message]; ok {
		message = id
	}
	body, err := r.rewound(ctx, op.Rewind{To: message, Code: true, Preview: true})
	if err != nil {
		return object{"canRewind": false, "error": err.Error()}
	}
	plan, _ := body.(event.RewindPlan)
	paths, added, removed := []string{}, 0, 0
	for _, f := range plan.Files {
		paths, added, removed = append(paths, f.Path), added+f.Added, removed+f.Removed
	}
	if !dry {
		if body, err = r.rewound(ctx, op.Rewind{To: message, Code: true}); err != nil {
			return object{"canRewind": false, "error": err.Error()}
		}
		done, _ := body.(event.Rewound)
		paths = []string{}
		for _, c := range done.Changes {
			paths = append(paths, c.Path)
		}
		for _, text := range done.Left() {
			r.write(r.p.note("warning", text))
		}
	}
	return object{"canRewind": true, "filesChanged": paths, "insertions": added, "deletions": removed}
}

// rewound submits a rewind and returns the event that it comes to.
func (r *runner) rewound(ctx context.Context, o op.Rewind) (event.Body, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	events := r.c.Follow(ctx, r.seen, event.Everything)
	if err := r.c.Submit(ctx, o); err != nil {
		return nil, err
	}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		switch e.Body.(type) {
		case event.RewindPlan, event.Rewound:
			if _, plan := e.Body.(event.RewindPlan); plan == o.Preview {
				r.seen = max(r.seen, e.Seq)
				return e.Body, nil
			}
		default: // of something else
		}
	}
	return nil, ctx.Err()
}
