package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/op"
)

// shell runs a command of the person's own beside whatever else goes on.
func (s *Session) shell(st *state, o op.Shell) error {
	switch {
	case s.cfg.Shell == nil:
		return &op.Refusal{Code: op.Unsupported, Text: "this session runs no commands of your own"}
	case strings.TrimSpace(o.Command) == "":
		return &op.Refusal{Code: op.Malformed, Text: "there is no command"}
	case o.ID == "":
		st.names++
		o.ID = fmt.Sprintf("s%d.%d", st.Seq+1, st.names)
	case st.shells[o.ID] != nil:
		return &op.Refusal{Code: op.Malformed, Text: "a command with that id runs already"}
	}
	ctx, stop := context.WithCancel(context.Background())
	st.shells[o.ID] = stop
	id, c := o.ID, Command{ID: o.ID, Text: o.Command, Dir: st.Dir, Exports: st.Exports}
	go func() { // ends with the command; end waits for it through shells
		defer stop()
		b := s.cfg.Shell(ctx, c, func(text string) {
			s.fan.send(event.Event{Time: s.cfg.Now(), Body: event.ToolOutput{Call: id, S: text}})
		})
		b.ID, b.Command = id, o.Command
		_ = s.do(func(st *state) {
			delete(st.shells, id)
			if err := s.record(context.Background(), st, b); err != nil {
				s.fan.send(event.Event{Time: s.cfg.Now(), Body: b}) // whoever watches must know how it ended
			}
		})
	}()
	return nil
}
