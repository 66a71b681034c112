package toolsearch

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/order"
	"github.com/adze-agent/adze/internal/tool"
)

// maxNames bounds the names in a notice, in bytes. Servers whose names do not fit
// any more are told with how many tools they have.
const maxNames = 1_500

// maxWords bounds the new words of tools in a notice, in bytes; maxOwn those of one tool.
const maxWords, maxOwn = 3_000, 600

// A Notice is what the model is to be told of the tools of a set.
type Notice struct {
	Named    []string // those that it may load, and was not told of
	Gone     []string // those that it was told of, and that are not there any more
	Reworded []string // those with other words for themselves than the list has; each with a hash of them
	Text     string   // "" when there is nothing to tell
}

// News is what the model is to be told of a set, when it was told of some tools by name,
// and of others that they are reworded (Notice.Reworded, the newest last). removed are
// the tools that the set had before.
func News(set tool.Set, told, reworded, removed []string) (n Notice) {
	knows := make(map[string]bool, len(told))
	for _, name := range told {
		knows[name] = true
	}
	seldom := set.Seldom()
	for _, s := range set.Named() {
		if slices.Contains(seldom, s.Name) {
			continue // the list says so
		}
		if _, not := set.Unloaded(s.Name); not && !knows[s.Name] {
			n.Named = append(n.Named, s.Name)
		}
	}
	for _, name := range removed {
		if knows[name] {
			n.Gone = append(n.Gone, name)
		}
	}
	var parts []string
	if len(n.Named) > 0 {
		parts = append(parts, "There are more tools. Load those that you want with "+Name+":\n"+names(n.Named))
	}
	if len(n.Gone) > 0 {
		parts = append(parts, "These tools are not there any more:\n"+names(n.Gone))
	}
	var words string
	if n.Reworded, words = otherWords(set, reworded); words != "" {
		parts = append(parts, "These tools describe themselves in other words now than your list does:"+words)
	}
	if len(parts) > 0 {
		n.Text = "<notice>\n" + strings.Join(parts, "\n") + "\n</notice>"
	}
	return n
}

// otherWords finds the tools whose words the model does not know, neither from its list
// nor from what it was told.
func otherWords(set tool.Set, told []string) (reworded []string, text string) {
	knows := make(map[string]string, len(told)) // the hash that was told last, by name
	for _, t := range told {
		name, hash, _ := strings.Cut(t, " ")
		knows[name] = hash
	}
	now := set.Reworded()
	for _, name := range slices.Sorted(maps.Keys(knows)) { // those whose old words are true again
		t, there := set.Get(name)
		if there && !slices.ContainsFunc(now, func(s llm.Spec) bool { return s.Name == name }) {
			now = append(now, llm.Spec{Name: name, Description: t.Spec().Description})
		}
	}
	var b strings.Builder
	more := 0
	for _, s := range now {
		h := fnv.New64a()
		_, _ = h.Write([]byte(s.Description))
		hash := strconv.FormatUint(h.Sum64(), 36)
		if knows[s.Name] == hash {
			continue
		}
		reworded = append(reworded, s.Name+" "+hash)
		if b.Len() > maxWords {
			more++
			continue
		}
		fmt.Fprintf(&b, "\n%s: %s", clip.Visible(s.Name), clip.Line(clip.Visible(strings.Join(strings.Fields(s.Description), " ")), maxOwn))
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nand %s more", clip.Count(more, "tool"))
	}
	return reworded, b.String()
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
