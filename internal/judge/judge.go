// Package judge puts a case to a small model and reads its ruling. The case is one JSON
// object; the answer is one, too, and repeats a token that text written before the case
// cannot know. It refuses to say what a ruling means: whoever made the case does.
package judge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
)

// FirstWait is between the first two attempts, and doubles.
const FirstWait = 250 * time.Millisecond

// A Model answers one question.
type Model interface {
	Complete(ctx context.Context, system string, msgs []llm.Message) (text string, spent event.Spent, err error)
}

// Ask puts a text to a model, and does it again after a failure that may pass, as long as
// ctx has time. spent is what all attempts cost, zero when no model answered.
func Ask(ctx context.Context, m Model, system, text string) (out string, spent event.Spent, err error) {
	for wait := FirstWait; ; wait *= 2 {
		var once event.Spent
		out, once, err = m.Complete(ctx, system, []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: text}}}})
		if spent.Usage == (llm.Usage{}) {
			spent = once
		} else {
			spent.Usage, spent.Cost = spent.Usage.Add(once.Usage), spent.Cost+once.Cost
		}
		var failed *llm.Error
		if !errors.As(err, &failed) || !failed.Retryable() {
			return out, spent, err
		}
		pause := max(wait, failed.RetryAfter)
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= pause {
			return out, spent, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return out, spent, err
		}
	}
}

// Token is what the answer about a case must repeat, made of what is the case's own.
func Token(own ...string) string {
	h := sha256.New()
	for i, s := range own {
		if i < len(own)-1 { // the last one ends with the text
			fmt.Fprintf(h, "%d ", len(s))
		}
		io.WriteString(h, s)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// Document is a case as one JSON object. What anybody could have written stands inside
// JSON strings, with quotes, line ends and angle brackets escaped, so that it cannot end its
// string and speak for itself.
func Document(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("writing the case: %w", err)
	}
	return noTags.Replace(b.String()), nil
}

// noTags escapes what chat templates and tags are made of; in JSON both stand
// only inside strings.
var noTags = strings.NewReplacer("<", `\u003c`, ">", `\u003e`)

// Read reads exactly one JSON object of texts: token and each of fields, once. A fence
// around it is taken off.
func Read(answer, token string, fields ...string) (map[string]string, error) {
	s := strings.TrimSpace(answer)
	if body, ok := strings.CutPrefix(s, "```"); ok {
		body, ok = strings.CutSuffix(body, "```")
		if !ok {
			return nil, errNoObject
		}
		s = strings.TrimSpace(strings.TrimPrefix(body, "json"))
	}
	d := json.NewDecoder(strings.NewReader(s))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errNoObject
	}
	got := map[string]string{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, errNoObject
		}
		key, _ := name.(string)
		value, err := d.Token()
		text, ok := value.(string)
		if err != nil || !ok {
			return nil, fmt.Errorf("its field %q is not a text", clip.Line(clip.Clean(key), 40))
		}
		if _, twice := got[key]; twice {
			return nil, errors.New("it names a field twice")
		}
		got[key] = text
	}
	if _, err := d.Token(); err != nil {
		return nil, errNoObject
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	right := len(got) == 1+len(fields) && got["token"] == token
	for _, f := range fields {
		_, there := got[f]
		right = right && there
	}
	if !right {
		return nil, errors.New("its fields are not token, " + and(fields))
	}
	return got, nil
}

var errNoObject = errors.New("it is not one JSON object")

func and(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// Visible is s without escape sequences, control characters and everything that
// takes no room on a screen: format characters, variation selectors, fillers.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, clip.Clean(s))
}

// Scrub takes what cannot be seen out of every string of a value that JSON was read into,
// and adds to hidden how many characters that were.
func Scrub(v any, hidden *int) any {
	switch v := v.(type) {
	case string:
		s := Visible(v)
		*hidden += max(0, utf8.RuneCountInString(v)-utf8.RuneCountInString(s))
		return s
	case []string:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = Scrub(x, hidden)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = Scrub(x, hidden)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, x := range v {
			out[Scrub(key, hidden).(string)] = Scrub(x, hidden)
		}
		return out
	}
	return v
}
