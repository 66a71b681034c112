package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/servers"
	"github.com/adze-agent/adze/internal/text/clip"
)

// Bounds of the names that models call tools by, in characters.
const (
	maxName   = policy.MaxToolName
	maxPart   = policy.MaxServerPart
	hashChars = 6
)

// short is a name with at most max characters, and always with a mark of what it
// stands for in the place of its end.
func short(name, of string, max int) string {
	sum := sha256.Sum256([]byte(of))
	mark := "_" + hex.EncodeToString(sum[:])[:hashChars]
	return name[:min(len(name), max-len(mark))] + mark
}

// serverParts are the servers' parts in the names of their tools. They differ,
// and none has or ends in what separates the parts, so that no tool of one
// server can be called like one of another.
func serverParts(list []servers.Server) []string {
	out := make([]string, len(list))
	taken := map[string]bool{}
	for i, s := range list {
		name := RealName(s)
		part := policy.Nameable(name)
		for strings.Contains(part, "__") {
			part = strings.ReplaceAll(part, "__", "_")
		}
		part = strings.TrimRight(part, "_")
		if part == "" || len(part) > maxPart || taken[part] {
			part = short(part, name, maxPart)
		}
		for n := 2; taken[part]; n++ { // two names of one hash
			part = short(part, fmt.Sprint(name, n), maxPart)
		}
		taken[part] = true
		out[i] = part
	}
	return out
}

// shared reports which servers cannot be told from another one of the list by their real
// names, as far as names of tools tell.
func shared(list []servers.Server) []bool {
	count := map[string]int{}
	name := func(s servers.Server) string { return strings.ReplaceAll(policy.Nameable(RealName(s)), "__", "_") }
	for _, s := range list {
		count[name(s)]++
	}
	out := make([]bool, len(list))
	for i, s := range list {
		out[i] = count[name(s)] > 1
	}
	return out
}

// RealName is what a server is called where it is configured, and by whom: no server of
// a plugin has the name of a person's own.
func RealName(s servers.Server) string {
	if s.Plugin != "" && !strings.HasPrefix(s.Name, "plugin") {
		return "plugin_" + s.Plugin + "_" + s.Name
	}
	return s.Name
}

// toolNames are the names that models call a server's tools, or people its
// prompts, by, and notes on those that are not as the server said.
func toolNames(part string, names []string) (out, notes []string) {
	out = make([]string, len(names))
	taken := map[string]bool{}
	prefix := "mcp__" + part + "__"
	room := maxName - len(prefix)
	give := func(i int, name string) {
		out[i] = prefix + name
		taken[name] = true
	}
	for i, name := range names { // what fits keeps its name, whatever comes before it
		if name != "" && policy.Nameable(name) == name && len(name) <= room && !taken[name] {
			give(i, name)
		}
	}
	for i, name := range names {
		if out[i] != "" {
			continue
		}
		was := policy.Nameable(name)
		if was == "" || len(was) > room || taken[was] {
			was = short(was, name, room)
		}
		for n := 2; taken[was]; n++ {
			was = short(was, fmt.Sprint(name, n), room)
		}
		give(i, was)
		if prefix+was != prefix+policy.Nameable(name) {
			notes = append(notes, fmt.Sprintf("%s is called %s", quote(name), out[i]))
		}
	}
	return out, notes
}

func quote(s string) string { return "“" + clip.Line(clip.Visible(s), 80) + "”" }

// listed joins words for people, at most ten of them.
func listed(words []string) string {
	words = slices.Clone(words)
	if n := len(words) - 10; n > 0 {
		words = append(words[:10], clip.Count(n, "more"))
	}
	return strings.Join(words, ", ")
}
