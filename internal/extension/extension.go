// Package extension is the one shape in which whoever adds something to a session
// brings it: adze itself, folders, settings, plugins, MCP servers and flags. What a
// session has is the join of a list of contributions, the nearest first, and each
// kind has its own rule for that: two tools of one name are refused (Tools), all
// hooks count, in this order (Hooks), and of two skills, agents or styles of one
// name the nearer one counts (Library). It reads nothing, and runs nothing.
//
// An origin may have more than one contribution in the list, because a part that
// changes is made anew without the others: a plugin's hooks change with the
// settings, its skills with their files, and the tools of adze are those of a
// session.
package extension

import (
	"fmt"

	"github.com/adze-agent/adze/internal/hook"
	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/skill"
	"github.com/adze-agent/adze/internal/tool"
)

// A Contribution is what one origin brings. It does not change.
type Contribution struct {
	From       Origin
	Tools      []tool.Tool
	Commands   []op.Command
	Hooks      []hook.Hook
	skill.Part // Skills, Agents and Styles
}

// Hooks are the hooks of several contributions.
func Hooks(list ...Contribution) hook.Set {
	var all []hook.Hook
	for _, c := range list {
		all = append(all, c.Hooks...)
	}
	return hook.NewSet(all...)
}

// Library is the skills, agents and styles of several contributions, the nearest
// first. No skill takes the name of a command, wherever that stands in the list.
func Library(list ...Contribution) skill.Library {
	parts := make([]skill.Part, 0, len(list))
	taken := map[string]string{}
	for _, c := range list {
		parts = append(parts, c.Part)
		for _, k := range c.Commands {
			taken[k.Name] = c.From.String()
		}
	}
	return skill.Join(parts...).Without(taken)
}

// Tools makes one set of the tools of several contributions. It refuses two tools
// and two commands of one name.
func Tools(list ...Contribution) (tool.Set, error) {
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
