package view

import "encoding/json"

// Mode is what MCP calls the kind of question that the form is: form or url.
func (f Form) Mode() string {
	if f.URL != "" {
		return "url"
	}
	return "form"
}

// Schema are the fields as MCP writes them, as far as who answers can use it; nil for
// a page to open.
func (f Form) Schema() json.RawMessage {
	if f.URL != "" {
		return nil
	}
	properties, required := map[string]any{}, []string{}
	for _, x := range f.Fields {
		p := map[string]any{"type": x.Kind, "title": x.Label()}
		if x.About != "" {
			p["description"] = x.About
		}
		var values []string
		for _, o := range x.Options {
			values = append(values, o.Value)
		}
		switch x.Kind {
		case ChoiceField:
			p["type"], p["enum"] = "string", values
		case ChoicesField:
			p["type"], p["items"] = "array", map[string]any{"type": "string", "enum": values}
		case StringField, NumberField, IntegerField, BooleanField:
		}
		if x.Required {
			required = append(required, x.Name)
		}
		properties[x.Name] = p
	}
	text, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil {
		return nil
	}
	return text
}
