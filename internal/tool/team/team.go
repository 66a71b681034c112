// Package team has the tools with which sessions speak to each other, SendMessage and
// ListAgents, and those of teams. Who there is and how a message gets there is the business of whoever made the
// tools.
package team

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
)

//go:embed send.md
var sendText string

//go:embed list.md
var listText string

// The names of the tools.
const (
	Send = "SendMessage"
	List = "ListAgents"

	Create = "TeamCreate"
	Delete = "TeamDelete"
)

// maxMessage bounds a message, in bytes.
const maxMessage = 100_000

// A Message is what a call of SendMessage wants. The names of its fields are those of
// @anthropic-ai/claude-agent-sdk 0.3.332.
type Message struct {
	To      string `json:"to" jsonschema:"whom it is for"`
	Text    string `json:"message" jsonschema:"all that the receiver has to know"`
	Summary string `json:"summary,omitempty" jsonschema:"it in 5 to 10 words, for the person"`
	Idle    bool   `json:"notify_when_idle,omitempty" jsonschema:"you are told when the receiver has read it and has nothing more to do"`
}

// A Post delivers messages of one session.
type Post interface {
	// Outside reports whether a word names a session that does not work for the same one as
	// this does.
	Outside(to string) bool
	// Tell delivers a message, to such a session only where that is allowed. The result is the
	// tool's.
	Tell(ctx context.Context, m Message, call string, outside bool) (tool.Result, error)
	// Reachable says whom a message can be for.
	Reachable(ctx context.Context) (tool.Result, error)
	// Found gives the team a name, which all agents of a session are; lead is the ID of that
	// session.
	Found(name string) (team, lead string)
	// Disband takes the name back, unless agents work, which it returns.
	Disband() (team string, works []string)
}

// New returns SendMessage, ListAgents, TeamCreate and TeamDelete.
func New(p Post) []tool.Tool { return append(mail(p), teams(p)...) }

func mail(p Post) []tool.Tool {
	var outside sync.Map // the calls that were planned so. What one of them names can be another one by the time it runs.
	return []tool.Tool{
		tool.New(tool.Spec{Name: Send, Description: sendText, Deferrable: true, Seldom: true, Facts: []string{"to", "message"}}, func(m Message, env tool.Env) (tool.Plan, error) {
			if err := m.check(); err != nil {
				return tool.Plan{}, err
			}
			out := p.Outside(m.To)
			if out {
				outside.Store(env.Call, true)
			}
			return tool.Plan{
				Actions: []policy.Action{policy.Tell{To: strings.TrimPrefix(m.To, "@"), Own: !out}},
				Title:   "To " + clip.Line(clip.Visible(m.To), 40) + ": " + clip.Line(clip.Visible(m.about()), 80),
			}, nil
		}, func(ctx context.Context, m Message, env tool.Env) (tool.Result, error) {
			if err := m.check(); err != nil {
				return tool.Errorf("%s", err), nil
			}
			_, out := outside.LoadAndDelete(env.Call)
			return p.Tell(ctx, m, env.Call, out)
		}),
		tool.New(tool.Spec{Name: List, Description: listText, Deferrable: true, Seldom: true, Facts: []string{}}, func(struct{}, tool.Env) (tool.Plan, error) {
			return tool.Plan{Actions: []policy.Action{policy.None{}}, Title: "List agents", Parallel: true}, nil
		}, func(ctx context.Context, _ struct{}, _ tool.Env) (tool.Result, error) { return p.Reachable(ctx) }),
	}
}

// about is the message in a few words.
func (m Message) about() string {
	if m.Summary != "" {
		return m.Summary
	}
	return m.Text
}

func (m Message) check() error {
	switch {
	case strings.TrimSpace(strings.TrimPrefix(m.To, "@")) == "":
		return fmt.Errorf("field \"to\" is empty: ListAgents lists whom it can be for")
	case strings.TrimSpace(m.Text) == "":
		return fmt.Errorf("field \"message\" is empty")
	case len(m.Text) > maxMessage:
		return fmt.Errorf("field \"message\" has %d bytes; at most %d. Put what is long into a file, and name that", len(m.Text), maxMessage)
	}
	return nil
}
