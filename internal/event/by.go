package event

import "strings"

// A By is who settled something. In text it is the client's name alone, or
// the kind with the name behind a colon.
type By struct {
	Kind ByKind
	Name string // of the client, the hook or the rule
}

// A ByKind is what settled something.
type ByKind int

// Kinds of By.
const (
	ByClient    ByKind = iota // a person at a client
	ByHook                    // a person's program
	ByRule                    // a rule of the settings
	ByInterrupt               // the turn was interrupted
	ByNobody                  // nobody could be asked
)

// Client is a person at the client of this name.
func Client(name string) By { return By{ByClient, name} }

// Person reports whether somebody said it.
func (b By) Person() bool { return b.Kind == ByClient }

func (b By) String() string {
	switch b.Kind {
	case ByHook:
		return "hook:" + b.Name
	case ByRule:
		return "rule:" + b.Name
	case ByInterrupt:
		return "interrupt"
	case ByNobody:
		return "nobody:"
	case ByClient:
	}
	return b.Name
}

// MarshalText writes String.
func (b By) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (b *By) UnmarshalText(text []byte) error {
	s := string(text)
	*b = Client(s)
	switch kind, name, ok := strings.Cut(s, ":"); {
	case s == "interrupt":
		*b = By{Kind: ByInterrupt}
	case ok && kind == "hook":
		*b = By{ByHook, name}
	case ok && kind == "nobody":
		*b = By{Kind: ByNobody}
	case ok && kind == "rule":
		*b = By{ByRule, name}
	}
	return nil
}

// A Cause is why something changed; Why beside it says it in words.
type Cause string

// Causes.
const (
	CauseAsked    Cause = "asked"    // a person wanted it
	CauseFallback Cause = "fallback" // the model before was overloaded or refused
	CauseTool     Cause = "tool"     // a tool's result says so
	CauseSettings Cause = "settings" // settings changed
	CausePlan     Cause = "plan"     // a plan was approved in a fresh context
	CauseMedia    Cause = "media"    // the provider refused an image or a document
	CauseFull     Cause = "full"     // the model's window is nearly full
	CauseTooLong  Cause = "too_long" // the provider refused a request that is too long
)
