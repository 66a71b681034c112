package compat

import (
	"strings"

	"github.com/adze-agent/adze/internal/llm/wire"
)

// Servers that do not know how a model marks its reasoning have it at the head of the
// content, with the marks. Chat templates of some models write the opening mark
// themselves, so that only the closing one is in the reply.

// marks open and close reasoning: those of DeepSeek, Qwen, GLM and others, of Seed, and of
// Magistral (their chat templates).
var marks = []struct{ open, close string }{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<thought>", "</thought>"}, {"<reasoning>", "</reasoning>"},
	{"<seed:think>", "</seed:think>"}, {"[THINK]", "[/THINK]"},
}

// A head finds reasoning at the head of the content of a reply.
type head struct {
	at      place
	close   string    // the mark that ends it
	text    wire.Text // what was looked at
	held    string    // of it, what was not passed on yet
	thought bool      // some of the reasoning was passed on
	from    int       // bytes of the text part in which no closing mark was found
}

type place int

const (
	begins  place = iota // nothing but white space has come
	inside               // the reasoning is open
	behind               // it is over, and nothing but white space has come since
	worded               // the reply has words, and no mark that opens
	settled              // no mark means anything any more
)

// words takes more of the content, as the raw inside of a JSON string.
func (d *decoder) words(raw []byte, out *wire.Out) {
	h := &d.head
	if h.at < worded || h.text.Waits() {
		d.sort(h.text.AddJSON(raw), out)
		return
	}
	d.text(out).JSON(raw, out)
	if h.at == worded {
		d.unopened(out)
	}
}

// sort passes text on as reasoning or prose, as far as that is decided.
func (d *decoder) sort(s string, out *wire.Out) {
	h := &d.head
	h.held += s
	for {
		switch h.at {
		case begins:
			t := strings.TrimLeft(h.held, " \t\r\n")
			again := t == ""
			for _, m := range marks {
				if rest, ok := strings.CutPrefix(t, m.open); ok {
					h.at, h.close, h.held = inside, m.close, rest
				}
				again = again || strings.HasPrefix(m.open, t)
			}
			switch {
			case h.at == inside:
				continue
			case again:
				return
			}
			h.at = worded
		case inside:
			if !h.thought {
				h.held = strings.TrimLeft(h.held, "\r\n")
			}
			thought, rest, closed := strings.Cut(h.held, h.close)
			if !closed {
				thought, rest = split(h.held, h.close)
			} else {
				thought = strings.TrimRight(thought, " \t\r\n")
			}
			if h.held = rest; thought != "" {
				h.thought = true
				d.thinking(out).Add(thought, out)
			}
			if !closed {
				return
			}
			d.closeThinking(out)
			h.at = behind
		case behind:
			if h.held = strings.TrimLeft(h.held, " \t\r\n"); h.held == "" {
				return
			}
			h.at = settled
		case worded, settled:
			if h.held != "" {
				d.text(out).Add(h.held, out)
				h.held = ""
			}
			if h.at == worded {
				d.unopened(out)
			}
			return
		}
	}
}

// split cuts off what may be the beginning of a mark, and the white space before it.
func split(s, mark string) (sure, open string) {
	n := len(s)
	for k := min(len(mark)-1, len(s)); k > 0; k-- {
		if strings.HasSuffix(s, mark[:k]) {
			n -= k
			break
		}
	}
	sure = strings.TrimRight(s[:n], " \t\r\n")
	return sure, s[len(sure):]
}

// unopened looks for a mark that closes reasoning which no mark opened. It stands on a line
// of its own, or ends one, and not in a block of code.
func (d *decoder) unopened(out *wire.Out) {
	h, last := &d.head, d.reply.Last()
	if !last.IsText() || !d.reply.Single() {
		h.at = settled
		return
	}
	const mark = "</think>"
	text := last.String()
	i := strings.Index(text[h.from:], mark)
	if i < 0 {
		h.from = max(h.from, len(text)-len(mark)-1)
		return
	}
	i += h.from
	before, after := text[:i], text[i+len(mark):]
	if after == "" { // what follows says what it is
		h.from = i
		return
	}
	h.at = settled
	if after[0] != '\n' && after[0] != '\r' && !strings.HasSuffix(before, "\n") || strings.Contains(before, "<think>") || strings.Count(before, "```")%2 != 0 {
		return
	}
	d.reply.Thought(strings.TrimRight(before, " \t\r\n"), out)
	if rest := strings.TrimLeft(after, " \t\r\n"); rest != "" {
		d.text(out).Add(rest, out)
	} else {
		h.at = behind
	}
}

// endHead passes on what waits when the reply ends.
func (d *decoder) endHead(out *wire.Out) {
	h := &d.head
	h.held += h.text.Close()
	switch h.at {
	case begins:
		if strings.TrimSpace(h.held) != "" {
			d.text(out).Add(h.held, out)
		}
	case inside:
		if strings.TrimSpace(h.held) != "" {
			d.thinking(out).Add(h.held, out)
		}
	case worded:
		if last := d.reply.Last(); last.IsText() && d.reply.Single() && strings.HasSuffix(last.String(), "\n</think>") {
			d.reply.Thought(strings.TrimRight(strings.TrimSuffix(last.String(), "</think>"), " \t\r\n"), out)
		}
	case behind, settled:
	}
	h.at, h.held = settled, ""
}
