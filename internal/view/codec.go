package view

import (
	"encoding/json"
	"fmt"
)

// wire is a Block with its kind beside it, as the log and the network carry it.
type wire struct {
	Kind   string          `json:"kind"`
	Body   json.RawMessage `json:"body,omitempty"`
	Blocks []wire          `json:"blocks,omitempty"`
}

// Marshal encodes b with its kind. A nil Block is JSON null.
func Marshal(b Block) (json.RawMessage, error) {
	if b == nil {
		return json.RawMessage("null"), nil
	}
	w, err := toWire(b)
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// Unmarshal decodes what Marshal wrote. A kind this version does not know
// becomes a Text that says so, because a newer version may have written it.
func Unmarshal(raw json.RawMessage) (Block, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	return UnmarshalWith(raw, json.Unmarshal)
}

// UnmarshalWith is Unmarshal with another reader of JSON than encoding/json.
func UnmarshalWith(raw []byte, read func(raw []byte, v any) error) (Block, error) {
	var w wire
	if err := read(raw, &w); err != nil {
		return nil, fmt.Errorf("read view: %w", err)
	}
	return fromWire(w, read)
}

func toWire(b Block) (wire, error) {
	w := wire{}
	switch b := b.(type) {
	case Text:
		w.Kind = "text"
	case Code:
		w.Kind = "code"
	case Terminal:
		w.Kind = "terminal"
	case Diff:
		w.Kind = "diff"
	case Table:
		w.Kind = "table"
	case Tasks:
		w.Kind = "tasks"
	case Image:
		w.Kind = "image"
	case Questions:
		w.Kind = "questions"
	case Form:
		w.Kind = "form"
	case Meter:
		w.Kind = "meter"
	case Group:
		w.Kind = "group"
		for _, in := range b.Blocks {
			x, err := toWire(in)
			if err != nil {
				return w, err
			}
			w.Blocks = append(w.Blocks, x)
		}
		return w, nil
	}
	body, err := json.Marshal(b)
	w.Body = body
	return w, err
}

func fromWire(w wire, read func([]byte, any) error) (Block, error) {
	switch w.Kind {
	case "text":
		return decode[Text](w, read)
	case "code":
		return decode[Code](w, read)
	case "terminal":
		return decode[Terminal](w, read)
	case "diff":
		return decode[Diff](w, read)
	case "table":
		return decode[Table](w, read)
	case "tasks":
		return decode[Tasks](w, read)
	case "image":
		return decode[Image](w, read)
	case "questions":
		return decode[Questions](w, read)
	case "form":
		return decode[Form](w, read)
	case "meter":
		return decode[Meter](w, read)
	case "group":
		var g Group
		for _, x := range w.Blocks {
			b, err := fromWire(x, read)
			if err != nil {
				return nil, err
			}
			g.Blocks = append(g.Blocks, b)
		}
		return g, nil
	}
	return Text{S: fmt.Sprintf("[%s: written by a newer version of adze]", w.Kind)}, nil
}

func decode[B Block](w wire, read func([]byte, any) error) (Block, error) {
	var b B
	if err := read(w.Body, &b); err != nil {
		return nil, fmt.Errorf("read view %s: %w", w.Kind, err)
	}
	return b, nil
}
