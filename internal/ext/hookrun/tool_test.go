package hookrun

import "testing"

func TestFilled(t *testing.T) {
	const event = `{"tool_name":"Write","tool_input":{"file_path":"/a \"b","n":[1,2],"deep":{"x":"${tool_name}"}}}`
	for in, want := range map[string]string{
		``: `{}`, `{"p":"${tool_input.file_path}"}`: `{"p":"/a \"b"}`, `{"p":["${tool_name}:${tool_input.n}"],"q":1}`: `{"p":["Write:[1,2]"],"q":1}`,
		`{"p":"${no.such}${tool_name.x}"}`: `{"p":""}`, `{"p":"${tool_input.deep.x}"}`: `{"p":"${tool_name}"}`, `{"p":"$tool_name ${}"}`: `{"p":"$tool_name ${}"}`,
	} {
		if got, err := filled([]byte(in), []byte(event), false); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v", in, got, err)
		}
	}
	const in = `{"p":"${tool_input.n}","q":["${tool_input.deep}","n: ${tool_input.n}"],"r":"${no.such}","s":"${tool_name}"}`
	if got, err := filled([]byte(in), []byte(event), true); err != nil || string(got) != `{"p":[1,2],"q":[{"x":"${tool_name}"},"n: [1,2]"],"r":null,"s":"Write"}` {
		t.Errorf("with kinds it became %s, %v", got, err)
	}
	if _, err := filled([]byte(`{`), []byte(event), false); err == nil {
		t.Error("what is no JSON was taken")
	}
}
