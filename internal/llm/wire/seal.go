package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// A seal is the provider's token on reasoning in the history: a signature, or
// the reasoning itself in encrypted form. Seals stop being valid when the key, the account or the gateway
// changes. Memory.Learning then sends the reasoning of that request without its seals,
// and keeps which seal was the newest among them as a name beside those of habits.
const (
	sealPrefix = "seal "
	maxSeals   = 8 // that are kept of one server and model; the oldest go first
)

var (
	aboutSeals = pattern.Lazy(`signature|encrypted|decrypt|redacted_thinking|thinking\W{0,3} (?:or|blocks?)|reasoning\W{0,3}(?: items?|_details| details| blocks?)|type\W{1,3}reasoning|\brs_\w+`)
	// notSeals: the server does not know such a member at all, or misses it.
	notSeals = pattern.Lazy(`unknown (?:name|field|param|argument|key|propert)|unrecogni[sz]ed|cannot find|extra |additional|not permitted|not support|unsupported|unexpected|not implemented|missing|field required|expected|must start`)
)

// refusesSeals reports whether a server says that what it is to read again of a model's reasoning is
// not valid.
func (a Answer) refusesSeals() bool {
	switch {
	case a.Kind == llm.BadRequest, a.Kind == llm.NotFound:
	case a.Kind == llm.ServerError && a.Status == http.StatusInternalServerError: // gateways pass refusals on as this
	default:
		return false
	}
	return aboutSeals().MatchString(a.Text) && !notSeals().MatchString(a.Text)
}

// nameOf is what a seal is kept by.
func nameOf(seal json.RawMessage) string {
	sum := sha256.Sum256(seal)
	return sealPrefix + hex.EncodeToString(sum[:12])
}

// newestSeal is the name of the last seal that a reader gets; "" where there is none.
func (s Server) newestSeal(msgs []llm.Message) string {
	for _, m := range slices.Backward(msgs) {
		for _, p := range slices.Backward(m.Parts) {
			if seal := s.seal(p); len(seal) > 0 {
				return nameOf(seal)
			}
		}
	}
	return ""
}

func (s Server) seal(p llm.Part) json.RawMessage {
	switch p := p.(type) {
	case llm.Thinking:
		if p.From == s.Reader {
			return p.Opaque
		}
	case llm.ToolUse:
		if p.From == s.Reader && s.SealedCalls {
			return p.Opaque
		}
	case llm.Text, llm.ToolResult, llm.Image, llm.Document: // none
	}
	return nil
}

// unsealed is a conversation without the seals up to the newest one that was refused. New
// reasoning keeps its own.
func (s Server) unsealed(msgs []llm.Message, without []string) []llm.Message {
	if !slices.ContainsFunc(without, isSeal) {
		return msgs
	}
	upTo := 0 // messages
	for i, m := range msgs {
		if slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
			seal := s.seal(p)
			return len(seal) > 0 && slices.Contains(without, nameOf(seal))
		}) {
			upTo = i + 1
		}
	}
	if upTo == 0 {
		return msgs
	}
	out := slices.Clone(msgs)
	for i, m := range msgs[:upTo] {
		if m.Role != llm.Assistant {
			continue
		}
		parts := slices.Clone(m.Parts)
		for n, p := range parts {
			if len(s.seal(p)) == 0 {
				continue
			}
			switch p := p.(type) {
			case llm.Thinking:
				p.Opaque = nil
				parts[n] = p
			case llm.ToolUse:
				p.Opaque, p.From = nil, ""
				parts[n] = p
			case llm.Text, llm.ToolResult, llm.Image, llm.Document: // have none
			}
		}
		out[i].Parts = parts
	}
	return out
}

func isSeal(name string) bool { return strings.HasPrefix(name, sealPrefix) }

// sealsGivenUp is what to do without when a server would not read its seals again, nil where
// the error is about something else or none were sent.
func (s Server) sealsGivenUp(err error, asked llm.Request, body Body, without []string, try Try) []string {
	newest := s.newestSeal(asked.Messages)
	if newest == "" || !refusal(err).refusesSeals() {
		return nil
	}
	more := append(slices.Clone(without), newest)
	if oldest := slices.IndexFunc(more, isSeal); len(slices.DeleteFunc(slices.Clone(more), func(n string) bool { return !isSeal(n) })) > maxSeals {
		more = slices.Delete(more, oldest, oldest+1)
	}
	asked.Messages = s.unsealed(asked.Messages, more)
	if next, _ := try(asked, more); bytes.Equal(next.Bytes(), body.Bytes()) {
		return nil
	}
	return more
}
