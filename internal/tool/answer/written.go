package answer

import (
	"encoding/json"
	"strings"
)

// Written reads the answer of a model that wrote it as text and called nothing: the text is JSON
// that fits, bare or in one code fence. anywhere: it may have words around it. ok is false where
// nothing fits.
func (o *output) Written(text string, anywhere bool) (got json.RawMessage, ok bool) {
	text = strings.TrimSpace(text)
	places := []string{text}
	inner, end, fenced := fence(text)
	if fenced && (anywhere || strings.HasPrefix(text, "```") && end == len(text)) {
		places = append(places, inner)
	}
	if from, to := strings.IndexAny(text, "{["), strings.LastIndexAny(text, "}]"); anywhere && from >= 0 && to > from {
		places = append(places, text[from:to+1])
	}
	for _, p := range places {
		if wellFormed([]byte(p)) != nil {
			continue
		}
		in := json.RawMessage(p)
		if got, wrong := o.accept(in); len(wrong) == 0 {
			return got, true
		}
		if !o.wrap {
			continue
		}
		if in, err := json.Marshal(map[string]json.RawMessage{wrapped: in}); err == nil {
			if got, wrong := o.accept(in); len(wrong) == 0 {
				return got, true
			}
		}
	}
	return nil, false
}

// fence is what the first code fence of a text holds, and where it ends.
func fence(text string) (inner string, end int, ok bool) {
	_, after, ok := strings.Cut(text, "```")
	if !ok {
		return "", 0, false
	}
	_, body, ok := strings.Cut(after, "\n") // behind the name of the language
	if !ok {
		return "", 0, false
	}
	inner, rest, ok := strings.Cut(body, "\n```")
	if !ok {
		return "", 0, false
	}
	return inner, len(text) - len(rest), true
}
