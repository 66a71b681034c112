package wire

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Habits of every wire: a request says instructions apart from the conversation, and
// describes tools. Templates of models and the servers that run them may know neither.
const (
	apartHabit = "system role" // without: instructions begin the first message of the user
	toolsHabit = "tools"       // without: no tools, and calls of the history are prose
)

// plainHabits are those of a request that a server may refuse. Whether it has them is
// known of the request, whatever its body calls them.
func plainHabits(r llm.Request) (out []Habit) {
	if slices.ContainsFunc(r.System, func(s string) bool { return s != "" }) {
		out = append(out, Habit{Name: apartHabit, Sent: "{", Refused: refusesSystem})
	}
	if len(r.Tools) > 0 {
		out = append(out, Habit{Name: toolsHabit, Sent: "{", Refused: refusesTools})
	}
	return out
}

// plainly is a request without these habits.
func plainly(r llm.Request, without []string) llm.Request {
	if slices.Contains(without, toolsHabit) && len(r.Tools) > 0 {
		r.Tools, r.Names, r.Force, r.Clear = nil, nil, "", nil
		r.System = append(slices.Clip(r.System), noTools)
		r.Messages = asProse(r.Messages)
	}
	if slices.Contains(without, apartHabit) {
		r.System, r.Messages = nil, opened(r.Messages, r.System)
	}
	return r
}

// noTools is what a model is told in place of its tools.
const noTools = "# No tools\nIn this conversation you have no tools: the server takes none for this model. What is said above about using tools does not hold, " +
	"and a call that you write as text is not run. Answer from what stands here, and say what you would have to see or do."

// toolsNote is what people are told, with the model and the server's words.
const toolsNote = "%s gets no tools, so it can read, change and run nothing: its server refuses them (%s); hint: use a model that takes tools, or start its server so that it does"

// asProse has calls and their results as text: a server that takes no tools may
// refuse them, too.
func asProse(msgs []llm.Message) []llm.Message {
	isCall := func(p llm.Part) bool {
		switch p.(type) {
		case llm.ToolUse, llm.ToolResult:
			return true
		case llm.Text, llm.Thinking, llm.Image, llm.Document:
		}
		return false
	}
	out := slices.Clone(msgs)
	for i, m := range msgs {
		if !slices.ContainsFunc(m.Parts, isCall) {
			continue
		}
		var parts []llm.Part
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				parts = append(parts, llm.Text{S: fmt.Sprintf("[an earlier call of %s: %s]", p.Name, p.Input)})
			case llm.ToolResult:
				parts = append(parts, llm.Text{S: strayResult + p.Text})
				for _, img := range p.Images {
					parts = append(parts, img)
				}
			case llm.Text, llm.Thinking, llm.Image, llm.Document:
				parts = append(parts, p)
			}
		}
		out[i].Parts = parts
	}
	return out
}

// opened is a conversation whose first message of the user begins with the instructions.
func opened(msgs []llm.Message, system []string) []llm.Message {
	text := strings.Join(slices.DeleteFunc(slices.Clone(system), func(s string) bool { return s == "" }), "\n\n")
	if text == "" {
		return msgs
	}
	first := llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{S: text}}}
	if len(msgs) > 0 && msgs[0].Role == llm.User {
		first.Parts = append(first.Parts, msgs[0].Parts...)
		msgs = msgs[1:]
	}
	return append([]llm.Message{first}, msgs...)
}

// Words of refusals, in lower case. Neither may take what is said of one tool or one
// message for a refusal of all: "tools[3].function", "tools.0", "invalid schema for function".
var (
	noSystem = pattern.Lazy(systemWords + `[^.\n]{0,30}(?:\bnot|n't)\b[^.\n]{0,12}\b(?:support|enabled|allowed|permitted|available|implemented)` +
		`|(?:\bnot|n't) (?:support|allow|accept|have)\w*[^.\n]{0,30}` + systemWords +
		`|(?:\bno|unsupported|unknown|invalid|unexpected|unrecogni[sz]ed)\b[^.\n]{0,40}` + systemWords +
		`|(?:unsupported|unknown|invalid|unexpected|unrecogni[sz]ed)\b[^.\n]{0,30}\brole\b[^.\n]{0,20}\b(?:system|developer)\b` +
		`|only (?:the )?user[^.\n]{0,40}\broles?\b` +
		`|should be ['"]user['"](?:,| or) ['"](?:assistant|model)['"]`)
	noToolsSaid = pattern.Lazy(`(?:\bnot|n't|\bcannot|\bno\b[^.\n]{0,30}) ?(?:yet |currently )?(?:support\w*|allow\w*|accept\w*|take|have)(?: for)?(?: the)?(?: use of)? ["'\x60]?` + toolWords + `["'\x60]?` + wordEnd +
		`|\b` + toolWords + `["'\x60]?(?: (?:parameters?|fields?|arguments?|is|are|was|were))* ?(?:currently )?(?:not|n't)(?: yet| currently)? (?:supported|available|enabled|allowed|permitted|implemented)` +
		`|(?:unsupported|unknown|unrecogni[sz]ed|unexpected|extra)\b[^.\n]{0,60}["'\x60 :(](?:tools|functions)["'\x60)]*` + wordEnd +
		`|\bextra inputs are not permitted \((?:tools|functions)\)` +
		`|enable-auto-tool-choice|\btools param requires --jinja`)
)

const (
	systemWords = `(?:["'\x60](?:system|developer)["'\x60]|\b(?:system|developer)[ _-]?(?:roles?|prompts?|messages?|instructions?)\b)`
	toolWords   = `(?:tools?|tools?[ _-](?:use|usage|calls?|calling)|functions?|functions?[ _-](?:calls?|calling))`
	wordEnd     = `(?:$|[^\[.\w-]|\.(?:$|[^\w]))`
)

func refusesSystem(a Answer) bool { return plainRefusal(a, noSystem()) }

func refusesTools(a Answer) bool { return plainRefusal(a, noToolsSaid()) }

// plainRefusal: templates fail as the fault of the server, and a router finds no model.
func plainRefusal(a Answer, words *regexp.Regexp) bool {
	return (a.About() || a.Kind == llm.ServerError || a.Status == http.StatusNotFound || a.Status == http.StatusNotImplemented) && words.MatchString(a.Text)
}
