package llm

import (
	"fmt"
	"time"
)

// A Kind sorts a failed request by what the caller can do about it.
type Kind int

// Kinds of failure.
const (
	Transport    Kind = iota // network, TLS, DNS, proxy: no or broken answer
	Cut                      // the stream ended or broke after it had begun
	Stalled                  // no bytes for the idle limit
	RateLimited              // 429
	Overloaded               // 529, 503 with that meaning
	ServerError              // other 5xx
	Unauthorized             // 401, 403 for the key
	NoCredit                 // the account cannot pay
	NotFound                 // 404: no such model or endpoint
	TooLong                  // the prompt does not fit the window
	MediaTooBig              // an image or document was refused
	BadRequest               // other 4xx
	BadReply                 // the answer is not what the protocol says (HTML, garbage)
)

// Retryable reports whether the same request may succeed later.
func (k Kind) Retryable() bool {
	switch k {
	case Transport, Cut, Stalled, RateLimited, Overloaded, ServerError:
		return true
	case Unauthorized, NoCredit, NotFound, TooLong, MediaTooBig, BadRequest, BadReply:
		return false
	}
	return false
}

// An Error is a failed request.
type Error struct {
	Kind       Kind
	Provider   string
	Status     int           // HTTP status, 0 when there was no answer
	RetryAfter time.Duration // what the provider asked for, 0 when it did not
	RequestID  string        // the provider's name for the exchange, which its support asks for; "" when it gave none
	// Begun is true once the model had begun to reply.
	Begun bool
	// Permanent transport faults (bad certificate, refused by a proxy) are not retried.
	Permanent bool
	// Offline: no answer began, which a network that comes back can cure.
	Offline bool
	// Near: a server on this machine refused the connection. Nobody listens, and seldom
	// does somebody soon.
	Near bool
	// Length: the provider's words may mean that the prompt does not fit, and may mean
	// something else.
	Length bool
	Fix    string // the next command for a person, "" when there is none
	Err    error  // the cause in plain words; never holds a key
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %v", e.Provider, e.Err)
	if e.Provider == "" {
		s = fmt.Sprint(e.Err)
	}
	switch {
	case e.Status != 0 && e.RequestID != "":
		s += fmt.Sprintf(" (%d, request %s)", e.Status, e.RequestID)
	case e.Status != 0:
		s += fmt.Sprintf(" (%d)", e.Status)
	case e.RequestID != "":
		s += fmt.Sprintf(" (request %s)", e.RequestID)
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Hint is the next command.
func (e *Error) Hint() string { return e.Fix }

// MayBeTooLong reports whether a request that was refused may have been too long for the
// model: one of so many tokens, as far as they can be counted, to a model with this window, 0
// where that is not known. Servers refuse such a request in words of any kind.
func (e *Error) MayBeTooLong(tokens, window int) bool {
	switch {
	case e.Begun:
		return false
	case e.Kind == BadRequest && (e.Status == 400 || e.Status == 413 || e.Status == 422):
	case e.Kind == ServerError && e.Length && e.Status == 500:
	default:
		return false
	}
	if window <= 0 {
		return e.Length && tokens >= smallPrompt
	}
	return tokens >= window*3/4 || e.Length && tokens >= window/4
}

// smallPrompt is how many tokens a prompt may have that no model is too small for.
const smallPrompt = 3000

// Retryable reports whether waiting and sending the same request can help.
func (e *Error) Retryable() bool { return e.Kind.Retryable() && !e.Permanent }
