package app

import (
	"io"

	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// masked hides secrets in what a tool returns, for the model and for people.
func masked(r *secret.Redactor) func(tool.Result) tool.Result {
	return func(res tool.Result) tool.Result {
		res.Text = r.String(res.Text)
		if res.View != nil {
			res.View = maskedView(r, res.View)
		}
		return res
	}
}

// maskedView goes through the stored form, in which every text of every shape
// is found. Images are left alone: their bytes are no text.
func maskedView(r *secret.Redactor, b view.Block) view.Block {
	if _, image := b.(view.Image); image {
		return b
	}
	raw, err := view.Marshal(b)
	if err != nil {
		return view.Text{S: secret.Masked}
	}
	clean := r.Bytes(raw)
	if len(clean) == len(raw) && string(clean) == string(raw) {
		return b
	}
	out, err := view.Unmarshal(clean)
	if err != nil { // what was hidden held the JSON together
		return view.Text{S: secret.Masked}
	}
	return out
}

// maskedWriter hides secrets in a stream; bash flushes it.
func maskedWriter(r *secret.Redactor) func(io.Writer) io.Writer {
	return func(w io.Writer) io.Writer { return r.Writer(w) }
}
