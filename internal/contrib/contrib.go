// Package contrib is the one shape in which whoever adds to a session brings
// it: adze itself now, and folders of a person's, MCP servers and plugins when
// there are any. What a session has is one immutable Set, in which each thing
// has an origin. It refuses two things of one name, and runs nothing.
package contrib

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/tool"
)

// An Origin is who brought something, in words that people read.
type Origin string

// BuiltIn is what adze brings itself.
const BuiltIn Origin = "adze"

// A Contribution is everything that one origin brings. Hooks, skills, agents
// and output styles have their place here, each as a field, when something
// brings the first of them.
type Contribution struct {
	From     Origin
	Tools    []tool.Tool
	Commands []Command
}

// A Command is a word after "/".
type Command struct {
	Name  string
	Args  string // a hint for what follows; "" takes nothing
	About string
	Do    Action
}

// An Action is what a command does.
//
//sumtype:decl
type Action interface{ action() }

type (
	// Op asks something of the session.
	Op struct {
		// Make reads what follows the name. An error says what is missing.
		Make func(args string) (op.Op, error)
		// Done says what became of it when the session took it.
		Done func(args string) string
	}
	// View is a front end's own, under the name of the command. A front end that
	// has no such view does not offer the command.
	View struct{}
)

func (Op) action()   {}
func (View) action() {}

// A Set is what a session has. It does not change.
type Set struct {
	tools    tool.Set
	commands []Command // by name
}

// Join makes one set of several contributions.
func Join(list ...Contribution) (Set, error) {
	var s Set
	var tools []tool.Tool
	owner := map[string]Origin{}
	claim := func(kind, name string, from Origin) error {
		was, taken := owner[kind+name]
		owner[kind+name] = from
		if taken {
			return fmt.Errorf("two %ss are named %q: one is from %s and one from %s", kind, name, was, from)
		}
		return nil
	}
	for _, c := range list {
		for _, t := range c.Tools {
			if err := claim("tool", t.Spec().Name, c.From); err != nil {
				return s, err
			}
		}
		for _, k := range c.Commands {
			if err := claim("command", k.Name, c.From); err != nil {
				return s, err
			}
		}
		tools, s.commands = append(tools, c.Tools...), append(s.commands, c.Commands...)
	}
	order.By(s.commands, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
	var err error
	s.tools, err = tool.NewSet(tools...)
	return s, err
}

// Tools are the tools of all contributions.
func (s Set) Tools() tool.Set { return s.tools }

// Commands are the commands of all contributions, by name.
func (s Set) Commands() []Command { return slices.Clip(s.commands) }
