package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

func (a *Agents) findClaude(context.Context) ([]Source, error) {
	files, err := glob(a.folder("CLAUDE_CONFIG_DIR", ".claude"), "projects/*/*.jsonl")
	return sources(ClaudeCode, files), err
}

// A claudeLine is a line of a transcript: a message of the API with what belongs
// to it, or something of the program itself.
type claudeLine struct {
	Type      string        `json:"type"`
	UUID      string        `json:"uuid"`
	Parent    string        `json:"parentUuid"`
	Logical   string        `json:"logicalParentUuid"` // across a compaction
	Cwd       string        `json:"cwd"`
	Time      time.Time     `json:"timestamp"`
	SideChain bool          `json:"isSidechain"`
	Meta      bool          `json:"isMeta"`
	Summary   bool          `json:"isCompactSummary"`
	Title     string        `json:"customTitle"`
	AITitle   string        `json:"aiTitle"`
	About     string        `json:"summary"` // of a line of that type: what the branch that ends at Leaf is about
	Leaf      string        `json:"leafUuid"`
	Message   claudeMessage `json:"message"`
}

type claudeMessage struct {
	ID      string          `json:"id"`
	Content json.RawMessage `json:"content"`
}

// ownLines are the kinds of lines that the program keeps for itself, and that
// say nothing of the conversation.
var ownLines = []string{"queue-operation", "attachment", "last-prompt", "summary", "custom-title", "ai-title", "file-history-snapshot",
	"system", "progress", "mode", "permission-mode", "agent-name", "pr-link", "tag", "worktree-state"}

// readClaude reads a transcript: the messages of its newest branch, in the order
// of the file. Messages of sub-agents and what the program told the model by
// itself are left out.
func (a *Agents) readClaude(ctx context.Context, s *Session, put func(step)) error {
	chain, err := s.readChain(ctx)
	if err != nil {
		return err
	}
	if chain.loose {
		s.leave("missing or circular links between messages (all messages are taken, in the order of the file)")
	}
	return s.each(ctx, s.Path, func(n int, raw []byte) {
		var l claudeLine
		if fastjson.Unmarshal(raw, &l) != nil {
			s.leave("lines that are not whole")
			return
		}
		if s.Dir == "" {
			s.Dir = l.Cwd
		}
		switch {
		case slices.Contains(ownLines, l.Type) || l.Meta:
		case l.Type != "user" && l.Type != "assistant":
			s.leave("lines of a kind that is not known, " + l.Type)
		case l.SideChain:
			s.leave("messages of sub-agents")
		case l.Summary:
			s.leave("summaries of compactions (what they stand for is taken)")
		case !chain.keeps(n):
			s.leave("messages of branches that were given up")
		default:
			s.claudeMessage(l, put)
		}
	})
}

func (s *Session) claudeMessage(l claudeLine, put func(step)) {
	var texts []string
	var images []llm.Image
	for _, b := range blocks(l.Message.Content) {
		switch b.Type {
		case "text":
			if l.Type == "assistant" {
				put(step{at: l.Time, text: b.Text})
			} else if t, ok := claudePrompt(b.Text); ok {
				texts = append(texts, t)
			}
		case "tool_use":
			put(step{at: l.Time, call: &llm.ToolUse{ID: b.ID, Name: b.Name, Input: b.Input}})
		case "tool_result":
			put(step{at: l.Time, result: &llm.ToolResult{ID: b.ToolUseID, Text: text(b.Content), IsErr: b.IsError}})
		case "image":
			img, instead := s.picture(b.Source.Media, b.Source.Data)
			images, texts = append(images, img...), append(texts, instead)
		case "thinking", "redacted_thinking":
		default:
			s.leave("parts of a kind that is not known, " + b.Type)
		}
	}
	if t := said(texts); t != "" || len(images) > 0 {
		put(step{at: l.Time, prompt: t, images: images})
	}
}

// claudePrompt is what a person typed, of what stands in a user's message. Slash
// commands stand there in tags, as does what they printed.
func claudePrompt(t string) (string, bool) {
	tagged := func(name string) string {
		_, rest, _ := strings.Cut(t, "<"+name+">")
		in, _, _ := strings.Cut(rest, "</"+name+">")
		return strings.TrimSpace(in)
	}
	switch {
	case strings.HasPrefix(t, "<command-"):
		return strings.TrimSpace(tagged("command-name") + " " + tagged("command-args")), true
	case strings.HasPrefix(t, "<bash-input>"):
		return "! " + tagged("bash-input"), true
	case strings.HasPrefix(t, "<local-command-"), strings.HasPrefix(t, "<bash-stdout>"), strings.HasPrefix(t, "<system-reminder>"),
		strings.HasPrefix(t, "[Request interrupted by user"):
		return "", false
	}
	return t, true
}

// A chain is the newest branch of a transcript, by the numbers of its lines.
type chain struct {
	loose bool // its messages are not linked to each other: all are of it
	lines map[int]bool
	from  map[int]bool // lines that are linked at all
}

func (c *chain) keeps(line int) bool { return c.loose || c.lines[line] || !c.from[line] }

// A link is what one line says of its place.
type link struct {
	line    int
	parent  string
	root    bool // a boundary, before which the file's order counts
	message string
	calls   []string
	results []string
}

// readChain follows the links from the last message of a file to its first, and
// takes the title from the file on the way.
func (s *Session) readChain(ctx context.Context) (*chain, error) {
	var links []link
	at, last := map[string]int{}, -1
	var abouts []claudeLine
	scratch := Session{left: map[string]int{}}
	err := scratch.each(ctx, s.Path, func(n int, raw []byte) {
		var l claudeLine
		if fastjson.Unmarshal(raw, &l) != nil {
			return
		}
		if l.Title != "" {
			s.Title = l.Title
		} else if s.Title == "" {
			s.Title = l.AITitle
		}
		if l.Type == "summary" && l.About != "" {
			abouts = append(abouts, l)
		}
		if l.UUID == "" || l.SideChain {
			return
		}
		k := link{line: n, parent: l.Parent, root: l.Type == "system" || l.Summary}
		if k.parent == "" {
			k.parent = l.Logical
		}
		if l.Type == "user" || l.Type == "assistant" {
			last = len(links)
			k.message = l.Message.ID
			k.calls, k.results = callsOf(l.Message.Content)
		}
		at[l.UUID] = len(links)
		links = append(links, k)
	})
	// A file may have summaries of other sessions at its head.
	for _, l := range slices.Backward(abouts) {
		if _, here := at[l.Leaf]; here && s.Title == "" {
			s.Title = l.About
		}
	}
	return follow(links, at, last), err
}

// callsOf are the calls of a message, and the calls that its results are of.
func callsOf(content json.RawMessage) (calls, results []string) {
	var list []struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		ToolUseID string `json:"tool_use_id"`
	}
	if !bytes.Contains(content, []byte(`"tool_`)) || fastjson.Unmarshal(content, &list) != nil {
		return nil, nil
	}
	for _, b := range list {
		switch b.Type {
		case "tool_use":
			calls = append(calls, b.ID)
		case "tool_result":
			results = append(results, b.ToolUseID)
		}
	}
	return calls, results
}

// follow goes from link to parent. A reply of several lines is kept as a whole,
// and so are the results of its calls, which stand beside each other.
func follow(links []link, at map[string]int, last int) *chain {
	c := &chain{lines: map[int]bool{}, from: map[int]bool{}}
	messages, calls := map[string]bool{}, map[string]bool{}
	for i := last; i >= 0; {
		k := links[i]
		if c.lines[k.line] {
			return &chain{loose: true} // a circle
		}
		c.lines[k.line] = true
		if k.message != "" {
			messages[k.message] = true
		}
		switch next, ok := at[k.parent]; {
		case ok:
			i = next
		case k.parent != "":
			return &chain{loose: true}
		case k.root:
			i--
		default:
			i = -1
		}
	}
	for _, k := range links {
		c.from[k.line] = true
		if messages[k.message] {
			c.lines[k.line] = true
		}
		if c.lines[k.line] {
			for _, id := range k.calls {
				calls[id] = true
			}
		}
	}
	for _, k := range links {
		if slices.ContainsFunc(k.results, func(id string) bool { return calls[id] }) {
			c.lines[k.line] = true
		}
	}
	return c
}
