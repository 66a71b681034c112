package toolkit

import (
	"context"
	"encoding/json"
	"time"

	"github.com/adze-agent/adze/internal/tool"
)

// lookWait is how long a call that waits for an agent does so unless it says otherwise, and
// maxLook the longest.
const (
	lookWait = 30 * time.Second
	maxLook  = 10 * time.Minute
)

// crewed is a tool that is asked about background tasks, where these may be agents.
type crewed struct {
	tool.Tool
	crew Crew
	ends bool // it ends the task that it is called for
}

// Run implements tool.Tool.
func (c crewed) Run(ctx context.Context, in json.RawMessage, env tool.Env) (tool.Result, error) {
	var call struct {
		ID      string `json:"id"`
		Task    string `json:"task_id"`
		Bash    string `json:"bash_id"`
		Shell   string `json:"shell_id"`
		Block   bool   `json:"block"`
		Timeout int    `json:"timeout"`
	}
	if json.Unmarshal(in, &call) != nil {
		return c.Tool.Run(ctx, in, env)
	}
	for _, id := range []string{call.ID, call.Task, call.Bash, call.Shell} {
		if id == "" {
			continue
		}
		if c.ends {
			if err := c.crew.Kill(id); err == nil {
				return tool.Result{Text: "The agent " + id + " is stopped, with all that works for it."}, nil
			}
			continue
		}
		wait := time.Duration(0)
		if call.Block {
			if wait = lookWait; call.Timeout > 0 {
				wait = min(time.Duration(call.Timeout)*time.Millisecond, maxLook)
			}
		}
		within, cancel := context.WithTimeout(ctx, wait)
		text, ok := c.crew.Output(within, id)
		cancel()
		if ok {
			return tool.Result{Text: text}, nil
		}
	}
	return c.Tool.Run(ctx, in, env)
}
