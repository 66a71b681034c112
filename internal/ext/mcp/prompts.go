package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/tool"
)

// A Prompt is one that a server brings, as a slash command.
type Prompt struct {
	Command string // without the slash: mcp__server__prompt
	Args    string // a hint for what follows: "<file> [style]"
	About   string
	From    string // who configured the server, for people
}

// A prompt is one of a server.
type prompt struct {
	name, command, about string
	args                 []*sdk.PromptArgument
}

// prompts lists the server's prompts.
func (l *link) prompts(ctx context.Context) (out []prompt, notes []string, err error) {
	list, err := all(ctx, "prompt", func(ctx context.Context, cursor string) ([]*sdk.Prompt, string, error) {
		r, err := l.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return r.Prompts, r.NextCursor, nil
	})
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, p := range list {
		if p == nil {
			return nil, nil, offended("it lists a prompt that is none")
		}
		names = append(names, p.Name)
	}
	given, notes := toolNames(l.s.part, names)
	for i, p := range list {
		one := prompt{name: p.Name, command: given[i], about: line(cmp.Or(p.Description, p.Title), 250)}
		for _, a := range p.Arguments {
			if a != nil {
				one.args = append(one.args, a)
			}
		}
		out = append(out, one)
	}
	return out, notes, nil
}

func (p prompt) hint() string {
	var out []string
	for _, a := range p.args {
		if name := line(a.Name, 40); a.Required {
			out = append(out, "<"+name+">")
		} else {
			out = append(out, "["+name+"]")
		}
	}
	return strings.Join(out, " ")
}

// Prompts are those of all servers, by server.
func (v *View) Prompts() (out []Prompt) {
	for _, s := range v.list() {
		s.mu.Lock()
		for _, p := range s.offer.prompts {
			out = append(out, Prompt{Command: p.command, Args: p.hint(), About: p.about, From: s.as.Origin.String()})
		}
		s.mu.Unlock()
	}
	return out
}

func (v *View) prompt(command string) (use, prompt, error) {
	for _, s := range v.list() {
		s.mu.Lock()
		list := s.offer.prompts
		s.mu.Unlock()
		for _, p := range list {
			if p.command == command {
				return s, p, nil
			}
		}
	}
	return use{}, prompt{}, fmt.Errorf("no MCP server has the prompt /%s now", command)
}

// Prompt is what a server's prompt says, with the arguments that a person wrote
// behind its command: words in the order of its arguments, or name=value. Quotes
// keep words together; the last argument takes what is left.
func (v *View) Prompt(ctx context.Context, command, args string, env tool.Env) (text string, images []llm.Image, err error) {
	s, p, err := v.prompt(command)
	if err != nil {
		return "", nil, err
	}
	values, err := p.values(args)
	if err != nil {
		return "", nil, err
	}
	var out *sdk.GetPromptResult
	err = s.request(ctx, callerOf(env), func(ctx context.Context, l *link) (err error) {
		out, err = l.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: p.name, Arguments: values})
		return err
	})
	if err != nil {
		return "", nil, err
	}
	page := &paper{env: env}
	for _, m := range out.Messages {
		if m == nil {
			continue
		}
		if m.Role == "assistant" {
			page.say("[You are to go on as if you had said this:]")
		}
		page.contents([]sdk.Content{m.Content})
	}
	if len(page.text) == 0 {
		return "", nil, fmt.Errorf("the prompt /%s says nothing", command)
	}
	return strings.Join(page.text, "\n\n"), page.images, nil
}

// values reads what a person wrote behind a prompt's command.
func (p prompt) values(args string) (map[string]string, error) {
	words, err := split(args)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	next := 0
words:
	for i, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok {
			for _, a := range p.args {
				if a.Name == name {
					out[name] = value
					continue words
				}
			}
		}
		for next < len(p.args) && has(out, p.args[next].Name) {
			next++
		}
		switch {
		case next >= len(p.args) && len(p.args) == 0:
			return nil, fmt.Errorf("the prompt /%s takes no arguments", p.command)
		case next >= len(p.args):
			return nil, fmt.Errorf("the prompt /%s takes %s", p.command, p.hint())
		case next == len(p.args)-1:
			out[p.args[next].Name] = strings.Join(words[i:], " ")
			break words
		}
		out[p.args[next].Name] = w
		next++
	}
	for _, a := range p.args {
		if a.Required && out[a.Name] == "" {
			return nil, fmt.Errorf("the prompt /%s needs %s: /%s %s", p.command, quote(a.Name), p.command, p.hint())
		}
	}
	return out, nil
}

func has(m map[string]string, name string) bool {
	_, ok := m[name]
	return ok
}

// split separates words. Quotes keep blanks in a word.
func split(s string) (out []string, err error) {
	var b strings.Builder
	in, open := false, rune(0)
	for _, r := range s {
		switch {
		case open != 0 && r == open:
			open = 0
		case open != 0:
			b.WriteRune(r)
		case r == '"' || r == '\'' && !in:
			open, in = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				out = append(out, b.String())
				b.Reset()
				in = false
			}
		default:
			b.WriteRune(r)
			in = true
		}
	}
	if open != 0 {
		return nil, errors.New("a quote is open at the end of the arguments")
	}
	if in {
		out = append(out, b.String())
	}
	return out, nil
}

// CompletePrompt are values for the word that a person is writing, the last of
// args, of a prompt's command. There are none where the server has none.
func (v *View) CompletePrompt(ctx context.Context, command, args string) []string {
	ctx, cancel := context.WithTimeout(ctx, mentionWait)
	defer cancel()
	s, p, err := v.prompt(command)
	if err != nil {
		return nil
	}
	words := strings.Fields(args)
	value := ""
	if len(words) > 0 && !strings.HasSuffix(args, " ") {
		value, words = words[len(words)-1], words[:len(words)-1]
	}
	if len(words) >= len(p.args) {
		return nil
	}
	earlier := map[string]string{}
	for i, w := range words {
		earlier[p.args[i].Name] = w
	}
	return s.complete(ctx, &sdk.CompleteReference{Type: "ref/prompt", Name: p.name}, p.args[len(words)].Name, value, earlier)
}

// maxValues is how many values of a completion are taken.
const maxValues = 100

// complete asks a server for the values that an argument may have.
func (s *server) complete(ctx context.Context, ref *sdk.CompleteReference, name, value string, earlier map[string]string) (out []string) {
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	if c := l.session.InitializeResult().Capabilities; c == nil || c.Completions == nil {
		return nil
	}
	p := &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: name, Value: value}}
	if len(earlier) > 0 {
		p.Context = &sdk.CompleteContext{Arguments: earlier}
	}
	res, err := l.session.Complete(ctx, p)
	if err != nil {
		return nil
	}
	for _, v := range res.Completion.Values[:min(len(res.Completion.Values), maxValues)] {
		if line(v, 500) == v && v != "" {
			out = append(out, v)
		}
	}
	return out
}

// request makes a request over the server's connection, and once more when the
// server forgot the session. It takes ToolTimeout at most.
func (s *server) request(ctx context.Context, by Caller, do func(context.Context, *link) error) error {
	for again := false; ; again = true {
		l, err := s.connected(ctx)
		if err != nil {
			return err
		}
		err = l.within(ctx, by, func(ctx context.Context) error { return do(ctx, l) })
		if err == nil || again || ctx.Err() != nil || !l.lost(err, true) {
			return l.failed(err)
		}
		<-l.ended
		s.outlive(ctx, l)
	}
}

// within bounds a request by the time of calls and the connection's end.
func (l *link) within(ctx context.Context, by Caller, do func(context.Context) error) error {
	l.active.Add(1)
	defer l.active.Add(-1)
	l.touch()
	ctx, leave := both(ctx, l.life)
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, l.s.hub.conf.Timeout, errSlow)
	defer cancel()
	ctx, done := l.works(ctx, by)
	defer done()
	err := do(ctx)
	if err != nil && context.Cause(ctx) == errSlow {
		return errors.New("it did not answer in time")
	}
	return err
}
