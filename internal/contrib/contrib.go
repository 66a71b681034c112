// Package contrib is the one shape in which whoever adds tools and commands to
// a session brings them: adze itself, MCP servers, skills and plugins, each with
// its origin. It refuses two things of one name, and runs nothing.
package contrib

import (
	"fmt"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/tool"
)

// An Origin is who brought something, in words that people read.
type Origin string

// BuiltIn is what adze brings itself.
const BuiltIn Origin = "adze"

// A Contribution is the tools and commands that one origin brings. Hooks, skills,
// agents and output styles are sets of their own (ext/hook, ext/skill), because
// they change while a session runs and tools are only appended.
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

// Join makes one set of the tools of several contributions. It refuses two tools
// and two commands of one name.
func Join(list ...Contribution) (tool.Set, error) {
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
				return tool.Set{}, err
			}
		}
		for _, k := range c.Commands {
			if err := claim("command", k.Name, c.From); err != nil {
				return tool.Set{}, err
			}
		}
		tools = append(tools, c.Tools...)
	}
	return tool.NewSet(tools...)
}
