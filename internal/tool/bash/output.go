package bash

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

//go:embed output.md
var outputText string

//go:embed kill.md
var killText string

// Waits of BashOutput with block.
const (
	defaultWait = 30 * time.Second
	maxWait     = 600 * time.Second
)

// readMax bounds what one BashOutput reads, in bytes; more stays for the next.
const readMax = 1 << 20

type outputInput struct {
	ID      string `json:"id" jsonschema:"the id of the background command, such as b1"`
	Filter  string `json:"filter,omitempty" jsonschema:"a regular expression (RE2); only lines that match are shown, the others are skipped for good"`
	Block   bool   `json:"block,omitempty" jsonschema:"wait until the command has ended, or timeout"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"milliseconds to wait with block; 30000 unless given, at most 600000"`
}

type killInput struct {
	ID string `json:"id" jsonschema:"the id of the background command, such as b1"`
}

func outputTool(t *Tasks) tool.Tool {
	spec := tool.Spec{Name: "BashOutput", Description: outputText, Limit: limit}
	return anyID{tool.New(spec,
		func(in outputInput, _ tool.Env) (tool.Plan, error) {
			if _, err := in.check(); err != nil {
				return tool.Plan{}, err
			}
			return tool.Plan{
				Actions:  []policy.Action{policy.None{}},
				Title:    "Output: " + clip.Line(clip.VisibleText(in.ID), 40),
				Parallel: true,
			}, nil
		}, t.readOutput)}
}

func killTool(t *Tasks) tool.Tool {
	spec := tool.Spec{Name: "KillShell", Description: killText}
	return anyID{tool.New(spec,
		func(in killInput, _ tool.Env) (tool.Plan, error) {
			return tool.Plan{
				Actions: []policy.Action{policy.None{}}, // it only ends what this session started
				Title:   "Stop: " + clip.Line(clip.VisibleText(in.ID), 40),
			}, nil
		},
		func(_ context.Context, in killInput, _ tool.Env) (tool.Result, error) {
			j, err := t.get(in.ID)
			if err != nil {
				return tool.Errorf("%s", err), nil
			}
			t.mu.Lock()
			k := j.task()
			t.mu.Unlock()
			if k.State != Running {
				return tool.Result{Text: fmt.Sprintf("%s had ended already: %s", in.ID, k.status())}, nil
			}
			if err := t.Kill(in.ID); err != nil {
				return tool.Errorf("%s", err), nil
			}
			return tool.Result{
				Text: fmt.Sprintf("%s was told to end (%s); what is left after 2 s is killed.", in.ID, clip.Line(clip.Clean(k.Command), 200)),
				View: view.Terminal{Command: clip.VisibleText(k.Command), Note: "killed " + in.ID},
				Data: func() any {
					return map[string]any{"message": "It was told to end.", "task_id": in.ID, "task_type": "local_bash", "command": k.Command}
				},
			}, nil
		})}
}

func (in outputInput) check() (*regexp.Regexp, error) {
	if in.Timeout < 0 || in.Timeout > int(maxWait.Milliseconds()) {
		return nil, fmt.Errorf("field \"timeout\" is %d ms; give 1 to %d", in.Timeout, maxWait.Milliseconds())
	}
	if in.Filter == "" {
		return nil, nil
	}
	re, err := regexp.Compile(in.Filter)
	if err != nil {
		return nil, fmt.Errorf("field \"filter\" is not a regular expression (RE2): %w", err)
	}
	return re, nil
}

// readOutput returns what came since the last read.
func (t *Tasks) readOutput(ctx context.Context, in outputInput, _ tool.Env) (tool.Result, error) {
	re, err := in.check()
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	j, err := t.get(in.ID)
	if err != nil {
		return tool.Errorf("%s", err), nil
	}
	if in.Block {
		wait := defaultWait
		if in.Timeout > 0 {
			wait = time.Duration(in.Timeout) * time.Millisecond
		}
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return tool.Errorf("interrupted; %s goes on, and nothing of its output was skipped", in.ID), nil
		case <-timer.C:
		case <-j.over:
		}
	}
	return t.news(j, re), nil
}

// news reads and formats what j wrote since the last read.
func (t *Tasks) news(j *job, re *regexp.Regexp) tool.Result {
	t.mu.Lock()
	k := j.task() // before reading, so that "ended" means the output is complete
	b, gone, next := t.take(j, k.State == Running)
	left := j.left
	j.left = nil // told once
	if k.State != Running && k.Exit != 0 && j.blocked != nil {
		if why := j.blocked(k.Exit, string(b)); why != "" {
			left = append(left, why)
		}
		j.blocked = nil
	}
	t.mu.Unlock()
	more := k.Size - next
	text := ""
	b = inUnicode(proc.Kept{Head: b}).Head
	if binary(b) {
		text = hexPreview(proc.Kept{Head: b, Total: int64(len(b))}, k.Path)
	} else {
		text = clean(b)
		if re != nil {
			text = keep(text, re)
		}
		text = clip.Middle(text, limit-2000, "all of it is in "+k.Path)
	}
	head := fmt.Sprintf("[%s %s", k.ID, k.status())
	if k.Path != "" {
		head += "; all output: " + k.Path
	}
	head += "]"
	if gone > 0 {
		head += fmt.Sprintf("\n[%s since the last read were not kept]", clip.Size(gone))
	}
	switch {
	case text != "":
		text = head + "\n" + text
	case re != nil && len(b) > 0:
		text = head + "\n(no new line matches the filter)"
	default:
		text = head + "\n(no new output)"
	}
	if more > 0 && len(b) >= readMax/2 {
		text = join(text, []string{clip.Size(more) + " more; read again"})
	}
	text = join(text, left)
	_, shown, _ := strings.Cut(text, "\n")
	return tool.Result{Text: text, View: view.Terminal{Command: clip.VisibleText(k.Command), Output: shown, Exit: k.Exit, Note: k.ID + " " + k.status()}}
}

// take moves the read position of j; t.mu is held. While it runs, the start
// of a line that is not complete is left for the next read, unless it is all
// there is (a prompt, a progress bar).
func (t *Tasks) take(j *job, running bool) (b []byte, gone, next int64) {
	for len(b) < readMax {
		piece, lost, n := j.out.From(j.read, readMax-len(b))
		if len(piece) == 0 {
			break
		}
		b, gone, j.read = append(b, piece...), gone+lost, n
	}
	if running || j.read < j.out.Total() {
		ready, held := whole(b)
		if len(ready) > 0 {
			b = ready
			j.read -= int64(held)
		}
	}
	return b, gone, j.read
}

// keep returns the lines that match.
func keep(text string, re *regexp.Regexp) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if re.MatchString(line) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// status says in a few words where a task stands.
func (k Task) status() string {
	switch k.State {
	case Running:
		return "is running"
	case Killed:
		return k.Note
	case Exited:
	}
	return fmt.Sprintf("ended with exit code %d after %s", k.Exit, k.Ended.Sub(k.Started).Round(100*time.Millisecond))
}

// anyID lets a call name its task the way other agents' tools do.
type anyID struct{ tool.Tool }

func (a anyID) Plan(in json.RawMessage, env tool.Env) (tool.Plan, error) {
	return a.Tool.Plan(rename(in), env)
}

func (a anyID) Run(ctx context.Context, in json.RawMessage, env tool.Env) (tool.Result, error) {
	return a.Tool.Run(ctx, rename(in), env)
}

func rename(in json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(in, &m) != nil || m["id"] != nil {
		return in
	}
	for _, other := range []string{"bash_id", "task_id", "shell_id"} {
		if v, ok := m[other]; ok {
			delete(m, other)
			m["id"] = v
			if out, err := json.Marshal(m); err == nil {
				return out
			}
		}
	}
	return in
}
