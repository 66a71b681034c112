package toolsearch

import (
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/tool"
)

// maxNames bounds the names in a notice, in bytes. Servers whose names do not fit
// any more are told with how many tools they have.
const maxNames = 1_500

// News is what the model is to be told of the tools of a set that it may load:
// names that it was not told yet, and those of told that are among the removed.
// text is "" when there is nothing to tell.
func News(set tool.Set, told, removed []string) (named, gone []string, text string) {
	knows := make(map[string]bool, len(told))
	for _, name := range told {
		knows[name] = true
	}
	for _, s := range set.Named() {
		if _, not := set.Unloaded(s.Name); not && !knows[s.Name] {
			named = append(named, s.Name)
		}
	}
	for _, name := range removed {
		if knows[name] {
			gone = append(gone, name)
		}
	}
	var b strings.Builder
	if len(named) > 0 {
		b.WriteString("There are more tools. Load those that you want with " + Name + ":\n" + names(named))
	}
	if len(gone) > 0 {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString("These tools are not there any more:\n" + names(gone))
	}
	if b.Len() == 0 {
		return nil, nil, ""
	}
	return named, gone, "<notice>\n" + b.String() + "\n</notice>"
}

// A group is the tools of one server, or the rest.
type group struct {
	server string
	own    []string
}

// long is how the group is told with its names, short without.
func (g group) long() string {
	list := strings.Join(g.own, ", ")
	if g.server == "" {
		return list
	}
	return "mcp__" + g.server + "__: " + list
}

func (g group) short() string {
	n := clip.Count(len(g.own), "tool")
	if g.server == "" {
		return n + " of adze"
	}
	return "mcp__" + g.server + "__: " + n
}

// names tells tools by server, in the order of names: the smallest servers with
// the names of their tools, as many as fit.
func names(list []string) string {
	var groups []group
	at := map[string]int{}
	for _, name := range list {
		server, own := split(clip.Visible(name))
		i, known := at[server]
		if !known {
			i = len(groups)
			at[server] = i
			groups = append(groups, group{server: server})
		}
		groups[i].own = append(groups[i].own, own)
	}
	bySize := make([]int, len(groups))
	for i := range bySize {
		bySize[i] = i
	}
	order.By(bySize, func(a, b int) int { return len(groups[a].long()) - len(groups[b].long()) })
	lines, left := make([]string, len(groups)), maxNames
	for _, i := range bySize {
		lines[i] = groups[i].long()
		if left -= len(lines[i]); left < 0 {
			lines[i] = groups[i].short()
		}
	}
	if most := 100; len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("and %s more", clip.Count(len(groups)-most, "server")))
	}
	return strings.Join(lines, "\n")
}
