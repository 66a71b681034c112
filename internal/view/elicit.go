package view

// Mode is what MCP calls the kind of question that the form is: form or url.
func (f Form) Mode() string {
	if f.URL != "" {
		return "url"
	}
	return "form"
}
