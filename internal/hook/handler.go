package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/near"
)

// A Kind is how a hook is asked.
type Kind string

// Kinds.
const (
	Command  Kind = "command"
	HTTP     Kind = "http"
	MCPTool  Kind = "mcp_tool"
	Prompt   Kind = "prompt"
	Agent    Kind = "agent"
	Callback Kind = "callback" // of a program that drives adze
)

// A Handler is one hook as settings write it.
type Handler struct {
	Type Kind `json:"type"`
	// Command is for the shell; with Args it is a program, and no shell runs.
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Shell   string   `json:"shell"` // bash or powershell; "" is bash

	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers"`
	AllowedEnv  []string          `json:"allowedEnvVars"` // that Headers may name
	Server      string            `json:"server"`
	Tool        string            `json:"tool"`
	Input       json.RawMessage   `json:"input"`
	Prompt      string            `json:"prompt"`
	Model       string            `json:"model"`
	OnBlock     bool              `json:"continueOnBlock"` // of PostToolUse: a refusal of the model's is told, and does not end the turn
	Callback    string            `json:"callback"`
	Seconds     float64           `json:"timeout"`
	If          string            `json:"if"` // a permission rule
	Status      string            `json:"statusMessage"`
	Async       bool              `json:"async"`       // nobody waits for it
	AsyncRewake bool              `json:"asyncRewake"` // and exit code 2 wakes the session
	// Of one that wakes the session: what the model reads before its words, and what people
	// are told.
	RewakeMessage string `json:"rewakeMessage"`
	RewakeSummary string `json:"rewakeSummary"`
	Once          bool   `json:"once"`    // in a session
	Sandbox       bool   `json:"sandbox"` // run it confined
	// OnError is what it means when it cannot answer: OnErrorBlock, OnErrorAsk or
	// OnErrorContinue; "" is what the event has for it: see Read.
	OnError string `json:"onError"`
}

// What a hook that cannot answer comes to.
const (
	OnErrorBlock    = "block"    // a refusal
	OnErrorAsk      = "ask"      // before a call: a person is asked about it
	OnErrorContinue = "continue" // nothing: people are told
)

// A Place is where a hook comes from.
type Place struct {
	From  string // a file with its line, a plugin, the program that drives adze
	Scope string // managed, user, project, local, plugin, session
	// Root and Data are folders of a plugin, "" of others.
	Root, Data string
	Env        []string // variables of a plugin's own processes: NAME=value
	// Agent is the ID of the agent whose doing it is asked about, and nobody
	// else's; "" is everybody's.
	Agent string
	// Dialect is the agent that the hook was written for, "" for this format.
	Dialect Dialect
}

// A Hook is a handler at an event.
type Hook struct {
	Event   Event
	Matcher string
	Handler
	Place
	match matcher
	rule  *policy.Rule
	idle  []string // what of it has no effect, and why
	as    string   // in Matching's answer, the name of a tool of an MCP server by which the hook is told of it
	// broken is why a guard cannot be asked, because of a mistake in what it is.
	broken error
}

// Broken is why a guard cannot be asked, nil when it can. It is there all the same, as
// one that cannot answer: what it is set to guard does not run without it.
func (h Hook) Broken() error { return h.broken }

// Timeout is how long the hook may take.
func (h Hook) Timeout() time.Duration {
	if h.Seconds > 0 {
		return time.Duration(h.Seconds * float64(time.Second))
	}
	d := cmp.Or(events[h.Event].timeout, DefaultTimeout)
	switch {
	case h.Event == SessionEnd: // of any kind
	case h.Type == HTTP, h.Type == Prompt:
		return promptTimeout
	case h.Type == Agent:
		return agentTimeout
	}
	return d
}

// Name is how people recognise the hook.
func (h Hook) Name() string {
	switch h.Type {
	case HTTP:
		return h.URL
	case MCPTool:
		return h.Server + "/" + h.Tool
	case Prompt, Agent:
		return h.Prompt
	case Callback:
		return "callback " + h.Callback
	case Command:
	}
	return strings.Join(append([]string{h.Command}, h.Args...), " ")
}

// Doubts say what of the hook is probably not what was meant: a matcher that never
// matches, and fields that have no effect.
func (h Hook) Doubts() (out []string) {
	for _, s := range []string{h.noServer(), h.noTool()} {
		if s != "" {
			out = append(out, s)
		}
	}
	for _, s := range h.idle {
		out = append(out, fmt.Sprintf("hooks of %s: %s", h.Event, s))
	}
	return out
}

// A Group is the handlers of one matcher, as settings write them.
type Group struct {
	Matcher string            `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// Parse reads one group of an event. Each problem names what cannot be used;
// the rest of the group is.
func Parse(name string, group []byte, at Place) (hooks []Hook, problems []error) {
	e := Event(name)
	_, is := events[e]
	if !is { // a guard whose event is only spelt otherwise is one that cannot be asked
		for k := range events {
			if strings.EqualFold(string(k), name) {
				e = k
			}
		}
		if e == Event(name) {
			return nil, []error{unknownEvent(e)}
		}
	}
	guards := func(why error, which string, list []json.RawMessage) (out []Hook) {
		for _, raw := range list {
			if h, ok := guard(Hook{Event: e, Matcher: which, Place: at, match: matcher{all: true}}, raw, why); ok {
				out = append(out, h)
			}
		}
		return out
	}
	var g Group
	if err := json.Unmarshal(group, &g); err != nil {
		err = fmt.Errorf("expected {\"matcher\": …, \"hooks\": […]}: %w", fastjson.InWords(err))
		var said map[string]json.RawMessage
		var list []json.RawMessage
		if json.Unmarshal(group, &said) == nil && json.Unmarshal(said["hooks"], &list) != nil {
			list = []json.RawMessage{said["hooks"]} // one, where a list is expected
		}
		return guards(err, "", list), []error{fmt.Errorf("hooks of %s: %w", name, err)}
	}
	if g.Hooks == nil { // as if the group were a hook
		g.Hooks = []json.RawMessage{group}
		err := errors.New(`the list "hooks" is missing: expected {"matcher": …, "hooks": [{"type": "command", "command": …}]}`)
		return guards(err, g.Matcher, g.Hooks), []error{fmt.Errorf("hooks of %s: %w", name, err)}
	}
	if !is {
		err := unknownEvent(Event(name))
		return guards(err, g.Matcher, g.Hooks), []error{err}
	}
	match, err := at.compile(e, g.Matcher)
	if e == FileChanged && !match.all { // names of files, whose dots are dots
		match, err = matcher{list: split(g.Matcher)}, nil
	}
	if err != nil {
		err = fmt.Errorf("matcher %q: %w", g.Matcher, err)
		return guards(err, g.Matcher, g.Hooks), []error{fmt.Errorf("hooks of %s: %w", name, err)}
	}
	if s := events[e].subject; s == "" && !match.all {
		problems = append(problems, fmt.Errorf("hooks of %s: the event has nothing to match, so the matcher %q says nothing", name, g.Matcher))
		match = matcher{all: true}
	}
	for i, raw := range g.Hooks {
		h := Hook{Event: e, Matcher: g.Matcher, Place: at, match: match}
		if i == 0 {
			h.idle = idle(group, "beside \"hooks\"", groupFields)
		}
		err := json.Unmarshal(raw, &h.Handler)
		if err = fastjson.InWords(err); err == nil {
			err = h.check()
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("hook of %s: %w", name, err))
			if h, ok := guard(h, raw, err); ok {
				hooks = append(hooks, h)
			}
			continue
		}
		h.idle = append(h.idle, h.vain()...)
		h.idle = append(h.idle, idle(raw, fmt.Sprintf("in a hook of type %q", h.Type), slices.Concat(anyFields, kindFields[h.Type]))...)
		hooks = append(hooks, h)
	}
	return hooks, problems
}

// guard is a hook that cannot be used, as one that cannot answer; ok is false for one
// that is not meant to hold anything up then. Before a call every hook is, that somebody
// waits for and that does not say otherwise.
func guard(h Hook, raw json.RawMessage, why error) (_ Hook, ok bool) {
	var said map[string]json.RawMessage // any of it may be of the wrong type
	_ = json.Unmarshal(raw, &said)
	on := strings.Trim(string(said["onError"]), `"`)
	switch {
	case on == OnErrorContinue:
		return h, false
	case on == OnErrorAsk, on == "" || on == "null":
		if on = OnErrorAsk; h.Event != PreToolUse || string(said["async"]) == "true" || string(said["asyncRewake"]) == "true" {
			return h, false
		}
	case !h.Event.canBlock():
		return h, false
	default:
		on = OnErrorBlock
	}
	var kind, command string
	_, _ = json.Unmarshal(said["type"], &kind), json.Unmarshal(said["command"], &command)
	h.Handler = Handler{Type: Command, Command: cmp.Or(command, "of the type "+strconv.Quote(kind)), OnError: on}
	h.rule, h.broken = nil, fmt.Errorf("cannot be used: %w", why)
	return h, true
}

// Lost stands for the hooks of a file that cannot be read: nobody knows what they
// would refuse, so that a person is asked about each call. what names them.
func Lost(at Place, what string, why error) Hook {
	return Hook{
		Event: PreToolUse, Place: at, match: matcher{all: true}, Handler: Handler{Type: Command, Command: what, OnError: OnErrorAsk},
		broken: fmt.Errorf("cannot be read: %w", why),
	}
}

func unknownEvent(e Event) error {
	if later[e] {
		return fmt.Errorf("hooks of %s: nothing in this version of adze causes that event", e)
	}
	return fmt.Errorf("hooks of %q: there is no such event%s", e, near.Hint(string(e), known()))
}

func known() (out []string) {
	for _, k := range Events() {
		out = append(out, string(k))
	}
	return out
}

// Named lists names of events that there are not, for people, with those that they
// may be meant as.
func Named(events []string) string {
	var out []string
	for _, e := range events {
		out = append(out, e+near.Hint(e, known()))
	}
	return strings.Join(out, ", ")
}

// check says what is wrong with a handler, and fills in what follows from the
// rest.
func (h *Hook) check() error {
	if err := h.checkKind(); err != nil {
		return err
	}
	switch {
	case h.Seconds < 0:
		return fmt.Errorf("timeout: expected a number of seconds above 0, found %g", h.Seconds)
	case !slices.Contains([]string{"", OnErrorBlock, OnErrorAsk, OnErrorContinue}, h.OnError):
		return fmt.Errorf("onError: expected \"block\", \"ask\" or \"continue\", found %q", h.OnError)
	case h.OnError == OnErrorBlock && !h.Event.canBlock():
		return fmt.Errorf("onError: hooks of %s can block nothing", h.Event)
	case h.OnError == OnErrorAsk && h.Event != PreToolUse:
		return fmt.Errorf("onError: hooks of %s can have nobody asked; those of PreToolUse can", h.Event)
	case (h.Async || h.AsyncRewake) && h.OnError != "" && h.OnError != OnErrorContinue:
		return errors.New("onError: nobody waits for a hook that is async")
	}
	if h.If == "" {
		return nil
	}
	if h.Event.Subject() != "tool_name" {
		return fmt.Errorf("if: %s is not about a call", h.Event)
	}
	r, err := policy.ParseRule(h.If, policy.Deny, policy.User, h.From, "")
	h.rule = &r
	if err != nil {
		return fmt.Errorf("if: %w", err)
	}
	if why := policy.Dead(r); why != "" {
		return fmt.Errorf("if: the rule %q: %s", h.If, why)
	}
	return nil
}

func (h *Hook) checkKind() error {
	need := func(what, value string) error {
		if value == "" {
			return fmt.Errorf("a hook of type %q needs %q", h.Type, what)
		}
		return nil
	}
	switch h.Type {
	case Command:
		if h.Shell != "" && h.Shell != "bash" && h.Shell != "powershell" {
			return fmt.Errorf("shell: expected bash or powershell, found %q", h.Shell)
		}
		return need("command", h.Command)
	case HTTP:
		return errors.Join(need("url", h.URL), h.checkURL())
	case MCPTool:
		return errors.Join(need("server", h.Server), need("tool", h.Tool))
	case Prompt, Agent:
		return need("prompt", h.Prompt)
	case Callback:
		return need("callback", h.Callback)
	case "":
		return errors.New("\"type\" is missing: command, http, mcp_tool, prompt or agent")
	}
	return fmt.Errorf("there is no hook of type %q%s", h.Type, near.Hint(string(h.Type), []string{"command", "http", "mcp_tool", "prompt", "agent"}))
}

// checkURL lets a call and its arguments go only where nobody between reads
// them.
func (h *Hook) checkURL() error {
	u, err := url.Parse(h.URL)
	switch {
	case err != nil:
		return fmt.Errorf("url: %w", err)
	case u.User != nil:
		return errors.New("url: a name and a password do not belong into an address; use \"headers\"")
	case u.Scheme == "https" && u.Host != "":
		return nil
	case u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()):
		return nil
	}
	return fmt.Errorf("url: expected https, or http on this machine, found %q", h.URL)
}
