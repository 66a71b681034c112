package llm

import (
	"encoding/json"
	"fmt"
)

// part is the stored form of every Part: the union of their fields, told
// apart by Type. Names follow the public content blocks of compat.md 4.4.
type part struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Bad     string          `json:"bad,omitempty"`
	IsError bool            `json:"is_error,omitempty"`
	Opaque  json.RawMessage `json:"opaque,omitempty"`
	From    string          `json:"from,omitempty"`
	Media   string          `json:"media,omitempty"`
	Data    []byte          `json:"data,omitempty"`
	Images  []Image         `json:"images,omitempty"`
	Loaded  []StoredSpec    `json:"loaded,omitempty"`
}

// A StoredSpec is the stored form of a Spec.
type StoredSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Loads       bool            `json:"loads,omitempty"`
}

// StoredSpecs are the stored forms of a list.
func StoredSpecs(list []Spec) (out []StoredSpec) {
	for _, s := range list {
		out = append(out, StoredSpec{s.Name, s.Description, s.Schema, s.Loads})
	}
	return out
}

// FromStoredSpecs is the list that w are the stored forms of.
func FromStoredSpecs(w []StoredSpec) (out []Spec) {
	for _, s := range w {
		out = append(out, Spec{Name: s.Name, Description: s.Description, Schema: s.Schema, Loads: s.Loads})
	}
	return out
}

// message is the stored form of a Message.
type message struct {
	Role  Role   `json:"role"`
	Parts []part `json:"parts"`
}

// Stored is the stored form of a Message, for codecs that are faster than
// encoding/json: plain structs and no methods.
type Stored = message

// Stored returns the stored form of m.
func (m Message) Stored() Stored {
	w := message{Role: m.Role, Parts: make([]part, 0, len(m.Parts))}
	for _, p := range m.Parts {
		w.Parts = append(w.Parts, toPart(p))
	}
	return w
}

// FromStored is the message that w is the stored form of.
func FromStored(w Stored) Message {
	m := Message{Role: w.Role}
	if len(w.Parts) > 0 {
		m.Parts = make([]Part, 0, len(w.Parts))
	}
	for _, p := range w.Parts {
		m.Parts = append(m.Parts, fromPart(p))
	}
	return m
}

// MarshalJSON writes the stored form. It is ours and not a provider's wire.
func (m Message) MarshalJSON() ([]byte, error) { return json.Marshal(m.Stored()) }

// UnmarshalJSON reads the stored form. A part of an unknown type is kept as
// a Text that says so: a newer version may have written it.
func (m *Message) UnmarshalJSON(raw []byte) error {
	var w message
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	*m = FromStored(w)
	return nil
}

func toPart(p Part) part {
	switch p := p.(type) {
	case Text:
		return part{Type: "text", Text: p.S, Opaque: p.Opaque, From: p.From}
	case Thinking:
		return part{Type: "thinking", Text: p.S, Opaque: p.Opaque, From: p.From}
	case ToolUse:
		return part{Type: "tool_use", ID: p.ID, Name: p.Name, Input: p.Input, Bad: p.Bad, Opaque: p.Opaque, From: p.From}
	case ToolResult:
		return part{Type: "tool_result", ID: p.ID, Text: p.Text, IsError: p.IsErr, Images: p.Images, Loaded: StoredSpecs(p.Loaded)}
	case Image:
		return part{Type: "image", Media: p.Media, Data: p.Data}
	case Document:
		return part{Type: "document", Media: p.Media, Name: p.Name, Data: p.Data}
	}
	return part{Type: "text"}
}

func fromPart(p part) Part {
	switch p.Type {
	case "text":
		return Text{S: p.Text, Opaque: p.Opaque, From: p.From}
	case "thinking":
		return Thinking{S: p.Text, Opaque: p.Opaque, From: p.From}
	case "tool_use":
		return ToolUse{ID: p.ID, Name: p.Name, Input: p.Input, Bad: p.Bad, Opaque: p.Opaque, From: p.From}
	case "tool_result":
		return ToolResult{ID: p.ID, Text: p.Text, IsErr: p.IsError, Images: p.Images, Loaded: FromStoredSpecs(p.Loaded)}
	case "image":
		return Image{Media: p.Media, Data: p.Data}
	case "document":
		return Document{Media: p.Media, Name: p.Name, Data: p.Data}
	}
	return Text{S: fmt.Sprintf("[%s: written by a newer version of adze]", p.Type)}
}
