package secret

import (
	"slices"

	"github.com/adze-agent/adze/internal/effect"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

// Result hides secrets in what a tool returns, for the model and for people.
func (r *Redactor) Result(res tool.Result) tool.Result {
	res.Text = r.String(res.Text)
	for i, e := range res.Effects {
		if x, ok := e.(effect.Exported); ok {
			res.Effects = slices.Clone(res.Effects)
			res.Effects[i] = maskedExports(r, x)
		}
	}
	if res.View != nil {
		res.View = maskedView(r, res.View)
	}
	return res
}

// maskedExports keeps of a variable that holds a secret only that it was set.
func maskedExports(r *Redactor, e effect.Exported) effect.Exported {
	e.Vars = slices.Clone(e.Vars)
	for i, v := range e.Vars {
		if kv := v.Name + "=" + v.Value; r.String(kv) != kv || len(Environ([]string{kv})) > 0 {
			e.Vars[i] = effect.Variable{Name: v.Name, Hidden: true}
		}
	}
	return e
}

// maskedView goes through the stored form, in which every text of every shape
// is found. Images are left alone: their bytes are no text.
func maskedView(r *Redactor, b view.Block) view.Block {
	if _, image := b.(view.Image); image {
		return b
	}
	raw, err := view.Marshal(b)
	if err != nil {
		return view.Text{S: Masked}
	}
	clean := r.Bytes(raw)
	if len(clean) == len(raw) && string(clean) == string(raw) {
		return b
	}
	out, err := view.Unmarshal(clean)
	if err != nil { // what was hidden held the JSON together
		return view.Text{S: Masked}
	}
	return out
}
