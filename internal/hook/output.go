package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// A Ran is how a hook's program ended.
type Ran struct {
	Code   int
	Stdout []byte
	Stderr string
	// Err says why there is no answer: it could not be run, took too long,
	// crashed. Code and output are then of no meaning.
	Err error
	// Unstarted: its program could not even be started, which Err says why.
	Unstarted bool
	// Interrupted: it was ended because nobody waits for its answer any more.
	Interrupted bool
	Took        time.Duration
}

// blockCode is the exit code that refuses.
const blockCode = 2

// Check is the check of a verdict that hooks gave.
const Check policy.Check = "hook"

// A Permission is what a hook says of a call.
type Permission string

// Permissions, from the weakest. "" says nothing.
const (
	Allow Permission = "allow"
	Ask   Permission = "ask"
	Defer Permission = "defer" // the run ends before the call, for whoever drives it
	Deny  Permission = "deny"
)

// An Answer is what one hook said, or several did.
type Answer struct {
	// Stop ends the turn, and Why is told to people.
	Stop bool
	Why  string
	// Block stops what is about to happen, or has the model mind Reason when it
	// has happened.
	Block  bool
	Reason string

	Permission       Permission
	PermissionReason string
	// Input replaces the arguments of a call, Output its result.
	Input, Output json.RawMessage
	// Decision answers a question in a person's stead, with Updates of the
	// permissions. Interrupt ends the turn with a refusal.
	Decision  Permission
	Message   string
	Interrupt bool
	Updates   []Update

	// Action answers what a server asks, in a person's stead: accept, decline or
	// cancel; "" says nothing. Content are the values of an accept.
	Action  string
	Content json.RawMessage
	// Watch are absolute paths of files whose changes are events; nil leaves
	// what there was.
	Watch []string

	Context []string // for the model
	System  []string // for people
	Title   string   // of the session
	First   string   // a prompt to begin with
	Hide    bool     // a prompt that is refused is not shown
	Retry   bool     // a refused call may be tried again
	Reload  bool     // skills are looked for anew
	Quiet   bool     // people are not shown what the hook printed
	// Terminal is what a person's terminal is to do: bells, titles, notifications.
	Terminal string
	// Failed says of hooks that could not answer why.
	Failed []string
	// Unheard says what of an answer means nothing at the event.
	Unheard []string
	// By names the hook that Block, Stop, Permission or Decision is from, Rewrote
	// those that Input is from, in their order.
	By      string
	Rewrote []string
}

// output is what a hook prints.
type output struct {
	Continue   *bool  `json:"continue"`
	StopReason words  `json:"stopReason"`
	System     words  `json:"systemMessage"`
	Quiet      bool   `json:"suppressOutput"`
	Terminal   string `json:"terminalSequence"`
	Decision   string `json:"decision"`
	Reason     words  `json:"reason"`
	Specific   struct {
		Event      Event           `json:"hookEventName"`
		Permission string          `json:"permissionDecision"`
		Why        words           `json:"permissionDecisionReason"`
		Input      json.RawMessage `json:"updatedInput"`
		Context    words           `json:"additionalContext"`
		Reload     bool            `json:"reloadSkills"`
		Output     json.RawMessage `json:"updatedToolOutput"`
		MCPOutput  json.RawMessage `json:"updatedMCPToolOutput"`
		Title      string          `json:"sessionTitle"`
		First      string          `json:"initialUserMessage"`
		Hide       bool            `json:"suppressOriginalPrompt"`
		Retry      bool            `json:"retry"`
		Action     string          `json:"action"`
		Content    json.RawMessage `json:"content"`
		Watch      []string        `json:"watchPaths"`
		Decision   *struct {
			Behavior  string          `json:"behavior"`
			Input     json.RawMessage `json:"updatedInput"`
			Updates   []Update        `json:"updatedPermissions"`
			Message   words           `json:"message"`
			Interrupt bool            `json:"interrupt"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
}

// words are a text; what is none is kept as it was written, so that a reason that
// is a number does not undo a refusal.
type words string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil && string(b) != "null" {
		s = string(b)
	}
	*w = words(s)
	return nil
}

// Read is the answer of a hook that ran. Exit code 0 with a JSON object is what
// the object says; exit code 2 is a refusal, and what the program wrote to its
// standard error is the reason; any other code is a failure, which stops
// nothing unless the hook is a guard ("onError"). Before a call, a program that
// could not be started is a refusal, because it never had a say; where it was a shell
// that found none, or none that may be run, a person is asked. So they are about a
// hook that is broken in itself.
func (h Hook) Read(r Ran) Answer {
	a, err := h.read(r)
	if err == nil || r.Interrupted {
		return a
	}
	a = Answer{Failed: []string{fmt.Sprintf("the %s hook %s %v", h.Event, clip.Line(h.Name(), 80), err)}, By: h.Short()}
	switch {
	case h.OnError == OnErrorBlock:
		a.refuse(h.Event, a.Failed[0]+", and it is set to block then")
	case h.OnError == OnErrorContinue:
	case r.Unstarted && h.Event == PreToolUse:
		a.refuse(h.Event, a.Failed[0]+"; no call runs past a hook that cannot look at it (adze hooks check, or take the hook out of the settings)")
	case h.Event == PreToolUse && (h.OnError == OnErrorAsk || r.missing()):
		a.Permission, a.PermissionReason = Ask, cut(a.Failed[0]+"; it stands in "+h.From+" (mend it, or set its \"onError\" to \"continue\" to do without it)")
	}
	return a
}

// missing reports whether a shell found no program of the name, or none that may be run
// (POSIX.1-2024, Shell Command Language, 2.8.2).
func (r Ran) missing() bool { return r.Err == nil && (r.Code == 126 || r.Code == 127) }

func (h Hook) read(r Ran) (a Answer, err error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(r.Stdout, []byte("\ufeff")))
	a.By = h.Short()
	switch {
	case r.Err != nil:
		return a, r.Err
	case r.Code == blockCode:
		why := cut(firstOf(r.Stderr, string(text), "it gave no reason"))
		if other, ok := h.refusal(why); ok {
			return other, nil
		}
		a.refuse(h.Event, why)
		if !h.Event.canBlock() && h.Event != PermissionRequest { // which has it for nobody
			a.System = []string{why}
		}
		return a, nil
	case r.Code != 0:
		if a, ok := h.refused(text); ok { // it has said so, whatever came then
			return a, nil
		}
		return a, fmt.Errorf("ended with code %d%s", r.Code, said(r.Stderr))
	case bytes.IndexByte(text, 0) >= 0:
		return a, errors.New("printed what is no text in UTF-8")
	}
	if a, ok := h.refused(text); ok { // behind a line or an object of its own, or before one
		return a, nil
	}
	switch {
	case len(text) > 0 && text[0] == '{':
		for o := range objects(text) {
			text = o
			break
		}
		return a, h.parse(&a, text)
	case events[h.Event].context && len(text) > 0:
		a.Context = []string{cut(string(text))}
	}
	return a, nil
}

// refused is the first refusal in what a program printed.
func (h Hook) refused(text []byte) (Answer, bool) {
	for o := range objects(text) {
		a := Answer{By: h.Short()}
		if h.parse(&a, o) == nil && a.refuses() {
			return a, true
		}
	}
	return Answer{}, false
}

// maxVain bounds how much is read in all of what turns out to be no object, in bytes.
const maxVain = 4 << 20

// objects are the JSON objects that each begin a line of what a program printed, or
// stand behind another one.
func objects(text []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for at, vain := 0, 0; at < len(text) && vain < maxVain; {
			if text[at] == '{' {
				var o json.RawMessage
				d := json.NewDecoder(bytes.NewReader(text[at:]))
				err := d.Decode(&o)
				if err == nil {
					if !yield(o) {
						return
					}
					at += int(d.InputOffset())
					at += len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r\n"))
					continue
				}
				if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
					vain += int(bad.Offset)
				} else { // it ends before it is complete
					vain += len(text) - at
				}
			}
			next := bytes.IndexByte(text[at:], '\n')
			if next < 0 {
				return
			}
			at += next + 1
		}
	}
}

// refuses reports whether the answer holds something back.
func (a Answer) refuses() bool {
	return a.Stop || a.Block || a.Permission == Deny || a.Permission == Ask || a.Permission == Defer || a.Decision == Deny
}

// refuse is the meaning of exit code 2.
func (a *Answer) refuse(e Event, why string) {
	switch {
	case e == PreToolUse:
		a.Permission, a.PermissionReason = Deny, why
	case e.canBlock():
		a.Block, a.Reason = true, why
	}
}

// parse reads what a hook printed.
func (h Hook) parse(a *Answer, text []byte) error {
	e := h.Event
	text = h.heard(text)
	var o output
	if err := json.Unmarshal(text, &o); err != nil {
		return fmt.Errorf("printed what is no answer: %w", fastjson.InWords(err))
	}
	s := o.Specific
	if s.Event != "" && s.Event != e {
		return fmt.Errorf("answered for %q", s.Event)
	}
	a.Stop, a.Why = o.Continue != nil && !*o.Continue, cut(string(o.StopReason))
	if o.System != "" {
		a.System = []string{cut(string(o.System))}
	}
	if s.Context != "" {
		a.Context = []string{cut(string(s.Context))}
	}
	a.Title, a.First, a.Hide, a.Retry = s.Title, s.First, s.Hide, s.Retry
	a.Input, a.Output = s.Input, s.Output
	a.Action, a.Content, a.Watch = s.Action, s.Content, s.Watch
	if s.Action != "" && !slices.Contains(actions, s.Action) {
		return fmt.Errorf("answered with the action %q; there are accept, decline and cancel", s.Action)
	}
	if a.Output == nil {
		a.Output = s.MCPOutput
	}
	a.Reload, a.Quiet = s.Reload, o.Quiet
	if len(o.Terminal) <= MaxText {
		a.Terminal = o.Terminal
	}
	err := errors.Join(a.decide(e, o), a.permit(s.Permission, string(s.Why)), a.answer(o))
	a.Unheard = h.unheard(*a, text)
	if bad := sequence(o.Terminal); bad != nil {
		a.Terminal, a.Unheard = "", append(a.Unheard, fmt.Sprintf("the %s hook %s %v", e, clip.Line(h.Name(), 80), bad))
	}
	return err
}

// decide reads the decision of events that can be blocked. For a call, the
// format had it before permissionDecision.
func (a *Answer) decide(e Event, o output) error {
	switch {
	case o.Decision == "":
	case e == PreToolUse && (o.Decision == "approve" || o.Decision == "allow"):
		return a.permit("allow", string(o.Reason))
	case o.Decision == "block" || e == PreToolUse && o.Decision == "deny":
		a.refuse(e, cut(firstOf(string(o.Reason), "it gave no reason")))
	case o.Decision == "approve":
	default:
		return fmt.Errorf("answered with the decision %q, which there is not", o.Decision)
	}
	return nil
}

func (a *Answer) permit(p, why string) error {
	switch q := Permission(strings.ToLower(p)); q {
	case "":
		return nil
	case Allow, Ask, Defer, Deny:
		a.Permission, a.PermissionReason = q, cut(why)
		return nil
	}
	return fmt.Errorf("answered with the permissionDecision %q; there are allow, ask, defer and deny", p)
}

func (a *Answer) answer(o output) error {
	d := o.Specific.Decision
	if d == nil {
		return nil
	}
	d.Behavior = strings.ToLower(d.Behavior)
	if d.Behavior != string(Allow) && d.Behavior != string(Deny) {
		return fmt.Errorf("answered with the behavior %q; there are allow and deny", d.Behavior)
	}
	a.Decision, a.Message, a.Interrupt, a.Updates = Permission(d.Behavior), cut(string(d.Message)), d.Interrupt, d.Updates
	if d.Input != nil {
		a.Input = d.Input
	}
	return nil
}

// actions are answers to what a server asks, from the weakest.
var actions = []string{"accept", "cancel", "decline"}

// Merge makes one answer of several, in the order of configuration; in which
// order they came does not matter. The strictest permission wins, and one that
// stops or blocks is enough. Hooks that rewrite the arguments of a call were all
// given the same ones, input: what each of them changed is changed, and where two
// changed the same the later one counts.
func Merge(input json.RawMessage, list []Answer) (out Answer) {
	ended := "" // by which hook
	for _, a := range list {
		if a.Stop && !out.Stop {
			out.Stop, out.Why, ended = true, a.Why, a.By
		}
		if a.Block && !out.Block {
			out.Block, out.Reason = true, a.Reason
		}
		if rank(a.Permission) > rank(out.Permission) {
			out.Permission, out.PermissionReason, out.By = a.Permission, a.PermissionReason, a.By
		}
		if rank(a.Decision) > rank(out.Decision) {
			out.Decision, out.Message, out.By = a.Decision, a.Message, a.By
		}
		if a.Input != nil {
			out.Input, out.Rewrote = laid(input, out.Input, a.Input), append(out.Rewrote, a.By)
		}
		if a.Output != nil {
			out.Output = a.Output
		}
		if slices.Index(actions, a.Action) > slices.Index(actions, out.Action) {
			out.Action, out.Content, out.By = a.Action, a.Content, firstOf(out.By, a.By)
		}
		if a.Watch != nil {
			out.Watch = append(out.Watch, a.Watch...)
		}
		if out.By == "" && (a.Stop || a.Block) {
			out.By = a.By
		}
		out.Interrupt, out.Hide, out.Retry = out.Interrupt || a.Interrupt, out.Hide || a.Hide, out.Retry || a.Retry
		out.Title, out.First = firstOf(out.Title, a.Title), firstOf(out.First, a.First)
		out.Updates = append(out.Updates, a.Updates...)
		out.Context, out.System, out.Failed = append(out.Context, a.Context...), append(out.System, a.System...), append(out.Failed, a.Failed...)
		out.Unheard = append(out.Unheard, a.Unheard...)
		out.Reload, out.Quiet, out.Terminal = out.Reload || a.Reload, out.Quiet || a.Quiet, out.Terminal+a.Terminal
	}
	if out.Decision == Deny {
		out.Updates = nil
	}
	if out.Stop { // whatever others said of the call
		out.By = ended
	}
	return out
}

// rank orders permissions by how strict they are.
func rank(p Permission) int {
	return slices.Index([]Permission{"", Allow, Ask, Defer, Deny}, p)
}

// laid carries over to so far what differs between the original and changed.
func laid(original, sofar, changed json.RawMessage) json.RawMessage {
	var was, out, now map[string]json.RawMessage
	if sofar == nil || json.Unmarshal(original, &was) != nil || json.Unmarshal(sofar, &out) != nil || json.Unmarshal(changed, &now) != nil {
		return changed
	}
	for k, v := range now {
		if old, had := was[k]; !had || !bytes.Equal(old, v) {
			out[k] = v
		}
	}
	for k := range was {
		if _, kept := now[k]; !kept {
			delete(out, k)
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return changed
	}
	return text
}

// cut bounds a text of a hook's.
func cut(s string) string {
	return clip.Middle(strings.TrimSpace(s), MaxText, "a hook may give 10,000 characters")
}

func firstOf(list ...string) string {
	for _, s := range list {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// said is the first line of what a program wrote about its failure.
func said(stderr string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	if line == "" {
		return ""
	}
	return ": " + clip.Line(line, 200)
}
