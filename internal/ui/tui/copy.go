package tui

import (
	"context"
	"slices"
	"strconv"

	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/story"
)

// copyCommand copies the last answer, or the one that a number names: 2 is the one
// before it.
func (m *Model) copyCommand(args string) []effect {
	n, what := 1, "the last answer"
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			m.box.Set("/copy " + args)
			m.say("/copy takes a number: 1 is the last answer, 2 the one before it", draw.Attention)
			return nil
		}
	}
	if n > 1 {
		what = "the answer " + strconv.Itoa(n-1) + " before the last"
	}
	have := 0
	for _, it := range slices.Backward(m.story.Items) {
		if it.Kind != story.Spoke || !it.Done || it.Back != 0 {
			continue
		}
		if have++; have == n {
			return []effect{clipping{text: it.Text, what: what}}
		}
	}
	if have == 0 {
		m.say("there is no answer to copy yet", draw.Quiet)
	} else {
		m.say("there is no such answer: there are "+strconv.Itoa(have), draw.Quiet)
	}
	return nil
}

// copied says what is known of a copy: whether the terminal did anything with what it
// was sent, it does not tell.
func (m *Model) copied(what string, sent bool, where string, err error) []effect {
	switch {
	case where != "" && sent:
		m.say("copied "+what+" to "+where+", and sent it to the terminal", draw.Quiet)
	case where != "":
		m.say("copied "+what+" to "+where, draw.Quiet)
	case sent:
		m.say("sent "+what+" to the terminal, for its clipboard", draw.Quiet)
	default:
		return m.fail(err)
	}
	return nil
}

// copy puts text on the clipboard: by the terminal, and where the host can and has to.
func (l *loop) copy(e clipping) {
	sent := l.t.Copy(e.text)
	l.work(func(ctx context.Context) func(*Model) []effect {
		var where string
		var err error
		if l.h.Copy != nil {
			where, err = l.h.Copy(ctx, e.text, sent)
		}
		return func(m *Model) []effect { return m.copied(e.what, sent, where, err) }
	}, func() {})
}
