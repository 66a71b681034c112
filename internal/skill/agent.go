package skill

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
)

// agentOf reads a definition. One with a mistake is none; a value that only another
// version knows (a mode, an effort) does nothing, which a note says.
func agentOf(p Place, f found, h *head, body string) (a Agent, bad *Problem) {
	wrong := func(key, format string, args ...any) (Agent, *Problem) {
		return Agent{}, &Problem{Line: h.line[key], Text: fmt.Sprintf(format, args...)}
	}
	if len(h.keys) == 0 { // people keep texts about their agents beside them
		return Agent{}, &Problem{Text: "it has no fields (name, description) at its top, so it is no agent", Used: true}
	}
	name := h.oneLine("name", 100)
	if name == "" && !h.has("name") && h.has("description") { // people's files have it in their own name alone
		name = callable(strings.TrimSuffix(path.Base(filepath.ToSlash(f.path)), ".md"))
	}
	if name == "" || name == "." {
		return wrong("name", "an agent needs a name")
	}
	if callable(name) != name || strings.ContainsAny(name, ":") {
		return wrong("name", "the name %q has characters that a name cannot have", name)
	}
	a.Thing = thing(p, f, name)
	before := len(h.notes)
	if a.Description = h.oneLine("description", 4000); a.Description == "" {
		return wrong("description", "it needs a description")
	}
	long := slices.Clone(h.notes[before:]) // of words for people the beginning is enough
	h.notes = h.notes[:before]
	a.Prompt = strings.TrimSpace(clip.Clean(body))
	if len(a.Prompt) > maxBody {
		return wrong("", "the prompt of the agent %s has more than %s bytes", name, clip.Thousands(maxBody))
	}
	if h.has("tools") && h.text1("tools") != "*" {
		a.Tools = append([]string{}, h.list("tools")...)
	}
	a.Denied = h.list("disallowedTools")
	a.Model = strings.TrimPrefix(h.oneLine("model", 200), "inherit")
	a.Skills, a.Servers, a.Hooks = h.list("skills"), h.json("mcpServers"), h.json("hooks")
	a.Color, a.Initial = h.oneLine("color", 30), h.text("initialPrompt")
	if more := h.text("criticalSystemReminder_EXPERIMENTAL"); more != "" {
		a.Prompt = strings.TrimSpace(a.Prompt + "\n\n" + more)
	}
	if a.Observers = h.list("observer"); len(a.Observers) > MaxObservers {
		return wrong("observer", "observer names at most %d agents", MaxObservers)
	}
	if a.ToObservers = h.text("observerMessage"); len(a.Observers) == 0 && a.ToObservers != "" {
		return wrong("observerMessage", "observerMessage is for observers, and there is no field observer")
	}
	ok := true
	if a.MaxTurns, ok = h.number("maxTurns"); !ok {
		return wrong("maxTurns", "maxTurns is a whole number from 1")
	}
	if a.Window, ok = h.number("autoCompactWindow"); !ok || a.Window > 0 && a.Window < minWindow {
		return wrong("autoCompactWindow", "autoCompactWindow is a whole number of tokens from %s", clip.Thousands(minWindow))
	}
	a.Background, a.NoModel, a.NoMemory = h.flag("background", false), h.flag("disable-model-invocation", false), h.flag("omitClaudeMd", false)
	type choice struct {
		key string
		to  *string
		of  []string
	}
	choices := []choice{
		{"permissionMode", &a.Mode, policy.ModeNames()},
		{"memory", &a.Memory, []string{"user", "project", "local"}}, {"isolation", &a.Isolation, []string{"worktree"}},
	}
	if _, err := strconv.Atoi(h.text1("effort")); err != nil {
		choices = append([]choice{{"effort", &a.Effort, efforts}}, choices...)
	} else if a.Thinking, ok = h.number("effort"); !ok {
		return wrong("effort", "effort is a level (%s), or a whole number of tokens from 1", strings.Join(efforts, ", "))
	}
	for _, c := range choices {
		*c.to = h.oneLine(c.key, 60)
	}
	for i, n := range h.notes { // of a definition, nothing is used by halves
		h.notes = slices.Delete(h.notes, i, i+1)
		return Agent{}, &Problem{Line: n.Line, Text: n.Text}
	}
	h.notes = long
	for _, c := range choices {
		*c.to = h.choice(c.key, c.of...)
	}
	if a.Mode != "" {
		m, _ := policy.ParseMode(a.Mode)
		a.Mode = string(m)
	}
	return a, nil
}

// MaxObservers is how many agents may watch over the work of one.
const MaxObservers = 4

// minWindow is the smallest window in which an agent can work, in tokens.
const minWindow = 10_000

// Unknown says which tools in the lists of a definition no agent program has: mistakes
// in writing. What others have, and adze does not, is none.
func (a Agent) Unknown() (out []string) {
	for _, name := range slices.Concat(a.Tools, a.Denied) {
		name, _, _ = strings.Cut(name, "(")
		if !policy.Known(name) && name != "*" {
			out = append(out, fmt.Sprintf("the agent %s names a tool %s, which there is not%s", clip.Visible(a.Name), clip.Line(clip.Visible(name), 60), near.Hint(name, policy.Tools())))
		}
	}
	return out
}

// text1 is a field when it is a text, without a note.
func (h *head) text1(key string) string {
	if n := h.nodes[key]; n != nil && n.Kind == yaml.ScalarNode {
		return strings.TrimSpace(n.Value)
	}
	return ""
}

// agentFields are the fields that a definition as JSON can have besides its prompt.
var agentFields = []string{
	"description", "tools", "disallowedTools", "model", "effort", "permissionMode", "maxTurns", "skills", "mcpServers", "hooks", "memory",
	"background", "isolation", "color", "initialPrompt", "omitClaudeMd", "disable-model-invocation",
	"autoCompactWindow", "criticalSystemReminder_EXPERIMENTAL", "observer", "observerMessage",
}

// ParseAgents reads definitions as JSON: an object of fields by name, in which
// "prompt" is the text. from says where they came from.
func ParseAgents(text []byte, from string) ([]Agent, []Problem) {
	var all map[string]map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, []Problem{{File: from, Text: "it is no JSON object of agents by name, such as {\"reviewer\": {\"description\": …, \"prompt\": …}}"}}
	}
	var out []Agent
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fields := maps.Clone(all[name])
		if fields == nil {
			problems = append(problems, Problem{File: from, Text: fmt.Sprintf("the agent %s is no object", clip.Line(clip.Visible(name), 60))})
			continue
		}
		prompt, isText := fields["prompt"].(string)
		delete(fields, "prompt")
		for _, k := range slices.Sorted(maps.Keys(fields)) {
			if !slices.Contains(agentFields, k) {
				problems = append(problems, Problem{File: from, Text: fmt.Sprintf("the agent %s: there is no field %s; it does nothing", clip.Line(clip.Visible(name), 60), clip.Line(clip.Visible(k), 60)), Used: true})
			}
		}
		fields["name"] = name
		top, err := yaml.Marshal(fields)
		h := head{nodes: map[string]*yaml.Node{}, line: map[string]int{}}
		bad := (*Problem)(nil)
		if err == nil {
			bad = h.read(string(top))
		}
		var a Agent
		switch {
		case err != nil || bad != nil:
			bad = &Problem{Text: "its fields cannot be read"}
		case !isText || strings.TrimSpace(prompt) == "":
			bad = &Problem{Text: "it needs a prompt"}
		default:
			a, bad = agentOf(Place{Kind: Agents, From: from, Scope: "flag", Text: map[string]string{}}, found{}, &h, prompt)
		}
		if bad != nil {
			problems = append(problems, Problem{File: from, Text: fmt.Sprintf("the agent %s: %s", clip.Line(clip.Visible(name), 60), bad.Text)})
			continue
		}
		for _, n := range h.notes {
			problems = append(problems, Problem{File: from, Text: fmt.Sprintf("the agent %s: %s", clip.Line(clip.Visible(name), 60), n.Text), Used: true})
		}
		out = append(out, a)
	}
	return out, problems
}

func styleOf(p Place, f found, h *head, body string) Style {
	name := f.name
	if own := h.oneLine("name", 100); own != "" {
		name = own
	}
	s := Style{Thing: thing(p, f, clip.Line(clip.Visible(name), 100)), Keep: h.flag("keep-coding-instructions", false)}
	s.Description = h.oneLine("description", MaxDescription)
	s.Text = strings.TrimSpace(clip.Clean(body))
	if r := []rune(s.Text); len(r) > maxBody {
		s.Text = string(r[:maxBody])
		h.note(0, "the text has more than %s characters; the rest is not used", clip.Thousands(maxBody))
	}
	return s
}
