package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/fastjson"
)

// Bounds of what a server may send.
const (
	maxMessage = 16 << 20 // bytes
	maxDepth   = 200      // of objects and arrays in each other
	maxFlood   = 1000     // notifications and requests in a second
)

// An offence is what a server did that ends its connection: it broke the protocol,
// or sent more than any server has a reason to.
type offence struct{ why string }

func (o *offence) Error() string { return o.why }

func offended(format string, args ...any) error { return &offence{fmt.Sprintf(format, args...)} }

// errTooLarge is a message over maxMessage, of which only a part was read.
var errTooLarge = &offence{"it sent a message of more than " + clip.Size(maxMessage)}

// An inspector sees each message of a connection as it comes, before anything
// else reads it.
type inspector struct {
	now     func() time.Time
	schemas schemas

	mu   sync.Mutex // guards what follows
	last int64      // the highest number of a request of ours
	// unknown is the protocol that the server said, where nobody knows it.
	unknown string
	since   time.Time // when the second began that count is of
	count   int
}

func newInspector(now func() time.Time) *inspector { return &inspector{now: now} }

// sent notes a request of ours. Their numbers rise from 1.
func (i *inspector) sent(id any) {
	n, ok := id.(int64)
	if !ok {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last = max(i.last, n)
}

// members are names of the protocol's own objects. A server that writes one in
// other letters means to be read in two ways.
var members = names("jsonrpc id method params result error code message data tools resources resourceTemplates prompts content contents " +
	"structuredContent isError nextCursor name title description inputSchema outputSchema annotations readOnlyHint destructiveHint " +
	"uri uriTemplate mimeType text blob type protocolVersion capabilities serverInfo instructions arguments requestId progressToken " +
	"requestedSchema mode url messages role systemPrompt maxTokens _meta")

// free are members that hold what is the server's own, which may be called anything.
var free = names("structuredContent inputSchema outputSchema requestedSchema arguments _meta data metadata default")

func names(list string) map[string]string {
	out := map[string]string{}
	for name := range strings.FieldsSeq(list) {
		out[strings.ToLower(name)] = name
	}
	return out
}

// came looks at one message, or a batch of them. An error ends the connection.
func (i *inspector) came(raw []byte) error {
	if len(raw) > maxMessage {
		return errTooLarge
	}
	below := 0 // the depth of a member whose value is the server's own
	err := fastjson.Walk(raw, maxDepth, func(depth int, name string) error {
		if below > 0 && depth > below {
			return nil
		}
		below = 0
		if exact, known := members[strings.ToLower(name)]; known && exact != name && depth <= 6 {
			return offended("it sent a message with the member %s in the place of %q", quote(name), exact)
		}
		if free[strings.ToLower(name)] == name {
			below = depth
		}
		return nil
	})
	switch {
	case errors.Is(err, fastjson.ErrDeep):
		return offended("it sent JSON that is more than %d levels deep", maxDepth)
	case errors.Is(err, fastjson.ErrTwice):
		return offended("it sent JSON with two members of one name")
	case err != nil:
		if o := new(offence); errors.As(err, &o) {
			return o
		}
		return offended("it sent something that is no JSON: %s", quote(clip.Line(string(raw[:min(len(raw), 200)]), 60)))
	}
	if err := i.envelope(raw); err != nil {
		return err
	}
	i.schemas.keep(raw)
	return nil
}

// An envelope is what JSON-RPC says of a message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method *string         `json:"method"`
}

func (i *inspector) envelope(raw []byte) error {
	var list []envelope
	if strings.HasPrefix(strings.TrimSpace(string(raw[:min(len(raw), 64)])), "[") {
		if err := fastjson.Unmarshal(raw, &list); err != nil || len(list) == 0 {
			return offended("it sent a batch that is none")
		}
	} else {
		var one envelope
		if err := fastjson.Unmarshal(raw, &one); err != nil {
			return offended("it sent something that is no message")
		}
		list = []envelope{one}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, e := range list {
		if e.Method == nil {
			if err := i.answer(e.ID); err != nil {
				return err
			}
			continue
		}
		if now := i.now(); now.Sub(i.since) >= time.Second {
			i.since, i.count = now, 0
		}
		if i.count++; i.count > maxFlood {
			return offended("it sent more than %s in a second", clip.Count(maxFlood, "notification"))
		}
	}
	return nil
}

// answer checks the number of an answer. An answer that nobody waits for any more
// is no offence; one that nobody asked for is.
func (i *inspector) answer(id json.RawMessage) error {
	if string(id) == "null" || len(id) == 0 {
		return nil // an error that is about no request
	}
	if n, _, err := answerTo(id); err != nil || n < 1 || n > i.last {
		return offended("it answered a request that was never sent (%s)", quote(clip.Line(string(id), 40)))
	}
	return nil
}
