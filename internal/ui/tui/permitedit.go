package tui

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/ui/keymap"
)

// edit changes the rule that would be kept, or the arguments of the call.
func (d *permit) edit(m *Model) []effect {
	if d.answers[d.at] == yesRule {
		d.rule, d.run = field(m, strings.Join(d.rules, ", ")), "" // the letter began no word
		return nil
	}
	if m.host.Edit == nil || len(d.q.Input) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Indent(&b, d.q.Input, "", "  ") != nil {
		return nil
	}
	was, begin := b.String(), cmp.Or(d.draft, b.String())
	d.run = ""
	return []effect{away{func(ctx context.Context) func(*Model) []effect {
		now, err := m.host.Edit(ctx, begin)
		return func(m *Model) []effect {
			if err != nil {
				d.wrong = err.Error()
				return nil
			}
			var parsed any
			if err := json.Unmarshal([]byte(now), &parsed); err != nil { // it can be mended
				d.draft, d.wrong = now, "what was written is no JSON: "+fastjson.Where([]byte(now), err).Error()+"; "+m.keys.Hint(keymap.ConfirmEdit)+" opens it again"
				return nil
			}
			if d.draft, d.wrong = "", ""; strings.TrimSpace(now) != strings.TrimSpace(was) {
				return d.answer(m, op.Answer{Allow: true, Comment: d.said, Input: json.RawMessage(now)})
			}
			return nil
		}
	}}}
}
