// Package title has a small model name a session after its beginning. It
// refuses to decide when: whoever has the session does.
package title

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/pattern"
)

//go:embed title.md
var instructions string

// timeout bounds the making of one title.
const timeout = 20 * time.Second

const (
	// maxChars bounds a title, in characters.
	maxChars = 80
	// Bounds of what the model is shown, in bytes.
	maxPrompt, maxReply = 4_000, 2_000
)

// A completer is the one thing needed of a model.
type completer interface {
	Complete(ctx context.Context, system string, msgs []llm.Message) (text string, spent event.Spent, err error)
}

// Make returns a title for a session that began so: one line of at most 80
// characters. What the model cost is in spent also when there is an error; it is
// zero when nothing is known to have been billed.
func Make(ctx context.Context, m completer, prompt, reply string) (title string, spent event.Spent, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	text := "<prompt>\n" + clip.Middle(clip.Clean(prompt), maxPrompt, "") + "\n</prompt>\n\n<reply>\n" + clip.Middle(clip.Clean(reply), maxReply, "") + "\n</reply>"
	out, spent, err := m.Complete(ctx, strings.TrimSpace(instructions), []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{S: text}}}})
	if spent != (event.Spent{}) {
		spent.For = event.ForTitle
	}
	if err != nil {
		return "", spent, err
	}
	if title = line(out); title == "" {
		err = errors.New("the model gave no title")
	}
	return title, spent, err
}

// Plain is a title that no model made: the first words of a text.
func Plain(text string) string {
	for l := range strings.Lines(clip.Clean(text)) {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			return clip.Line(l, 80)
		}
	}
	return ""
}

// label is what models write before a title although they should not.
var label = pattern.Lazy(`^(?i:[#*\s>-]*(?:title|name)\s*:\s*)`)

// line makes a title of an answer: its first line with a letter, without what
// stands around a name. What a tag of reasoning holds is no title.
func line(s string) string {
	if _, after, ok := strings.Cut(s, "</think>"); ok {
		s = after
	}
	for l := range strings.Lines(clip.Clean(s)) {
		l = label().ReplaceAllString(l, "")
		l = strings.Join(strings.Fields(l), " ")
		l = strings.Trim(l, "\"'`*_#“”„‘’«» ")
		l = strings.TrimRight(l, ".。 ")
		if strings.IndexFunc(l, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) >= 0 && !strings.HasPrefix(l, "<") {
			return clip.Line(l, maxChars)
		}
	}
	return ""
}
