package confedit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

func TestApply(t *testing.T) {
	const file = `// my settings
{
    // the model
    "model": "a", // fast one
    "unknown": {"x": 1}, /* kept */

    "permissions": {
        "allow": [
            "Read", // always
            "Bash(ls)"
        ]
    }
    // the end
}
`
	tests := []struct {
		name, text string
		edit       Edit
		want       string
	}{
		{"replace", file, Edit{Op: Set, Key: "model", Value: json.RawMessage(`"b"`)}, strings.Replace(file, `"a"`, `"b"`, 1)},
		{"same", file, Edit{Op: Set, Key: "unknown", Value: json.RawMessage(`{ "x":1 }`)}, file},
		{"add at the end", file, Edit{Op: Set, Key: "max_turns", Value: json.RawMessage(`3`)}, strings.Replace(strings.Replace(file, "    }\n    // the end\n", "    },\n    // the end\n", 1), "// the end\n", "// the end\n    \"max_turns\": 3\n", 1)},
		{"add nested", file, Edit{Op: Set, Key: "ui.theme", Value: json.RawMessage(`"dark"`)}, strings.Replace(strings.Replace(file, "    }\n    // the end\n", "    },\n    // the end\n", 1), "// the end\n", "// the end\n    \"ui\": {\n        \"theme\": \"dark\"\n    }\n", 1)},
		{"unset", file, Edit{Op: Unset, Key: "model"}, strings.Replace(file, "    \"model\": \"a\", // fast one\n", "", 1)},
		{"unset nothing", file, Edit{Op: Unset, Key: "tools.max_parallel"}, file},
		{"unset the last", "{\n  \"a\": 1,\n  \"model\": 2\n}\n", Edit{Op: Unset, Key: "model"}, "{\n  \"a\": 1\n}\n"},
		{"unset the only one", `{"model": 2}`, Edit{Op: Unset, Key: "model"}, `{}`},
		{"unset on one line", `{"a": 1, "model": 2, "b": 3}`, Edit{Op: Unset, Key: "model"}, `{"a": 1, "b": 3}`},
		{"unset last on one line", `{"a": 1, "model": 2}`, Edit{Op: Unset, Key: "model"}, `{"a": 1}`},
		{"list add", file, Edit{Op: Add, Key: "permissions.allow", Value: json.RawMessage(`"Edit"`)}, strings.Replace(file, "\"Bash(ls)\"\n", "\"Bash(ls)\",\n            \"Edit\"\n", 1)},
		{"list add again", file, Edit{Op: Add, Key: "permissions.allow", Value: json.RawMessage(`"Read"`)}, file},
		{"list drop", file, Edit{Op: Drop, Key: "permissions.allow", Value: json.RawMessage(`"Read"`)}, strings.Replace(file, "            \"Read\", // always\n", "", 1)},
		{"list drop last", file, Edit{Op: Drop, Key: "permissions.allow", Value: json.RawMessage(`"Bash(ls)"`)}, strings.Replace(file, "\"Read\", // always\n            \"Bash(ls)\"\n", "\"Read\" // always\n", 1)},
		{"new list", "", Edit{Op: Add, Key: "permissions.deny", Value: json.RawMessage(`"X"`)}, "{\n  \"permissions\": {\n    \"deny\": [\n      \"X\"\n    ]\n  }\n}\n"},
		{"empty object", "{}", Edit{Op: Set, Key: "model", Value: json.RawMessage(`"m"`)}, "{\n  \"model\": \"m\"\n}"},
		{"one line", `{"a": 1}`, Edit{Op: Set, Key: "model", Value: json.RawMessage(`"m"`)}, `{"a": 1, "model": "m"}`},
		{"one line, trailing comma", `{"a": 1,}`, Edit{Op: Set, Key: "model", Value: json.RawMessage(`"m"`)}, `{"a": 1, "model": "m"}`},
		{"trailing comma", "{\n\t\"a\": 1, // x\n}\n", Edit{Op: Set, Key: "model", Value: json.RawMessage(`"m"`)}, "{\n\t\"a\": 1, // x\n\t\"model\": \"m\"\n}\n"},
		{"comment after", "{\n\t\"a\": 1 // x, y\n}\n", Edit{Op: Set, Key: "model", Value: json.RawMessage(`"m"`)}, "{\n\t\"a\": 1, // x, y\n\t\"model\": \"m\"\n}\n"},
		{"CRLF", "{\r\n  \"a\": 1\r\n}\r\n", Edit{Op: Set, Key: "model", Value: json.RawMessage(`"m"`)}, "{\r\n  \"a\": 1,\r\n  \"model\": \"m\"\r\n}\r\n"},
		{"byte order mark", "\ufeff{\"a\": 1}", Edit{Op: Set, Key: "a", Value: json.RawMessage(`2`)}, "\ufeff{\"a\": 2}"},
		{"other spelling", `{"maxTurns": 1}`, Edit{Op: Set, Key: "max_turns", Value: json.RawMessage(`2`)}, `{"maxTurns": 2}`},
		{"older name", `{"cleanupPeriodDays": 1, "theme": "x"}`, Edit{Op: Set, Key: "ui.theme", Value: json.RawMessage(`"y"`)}, `{"cleanupPeriodDays": 1, "theme": "y"}`},
		{"names of a map are exact", `{"env": {"a": "1"}}`, Edit{Op: Set, Key: "env.A", Value: json.RawMessage(`"2"`)}, `{"env": {"a": "1", "A": "2"}}`},
		{"names with dots", `{"model_aliases": {"gpt-5.1": "a"}}`, Edit{Op: Set, Key: "model_aliases.gpt-5.1", Value: json.RawMessage(`"b"`)}, `{"model_aliases": {"gpt-5.1": "b"}}`},
		{"a member with dots", `{"mcpServers": {"my.server": {"command": "a"}, "my": {"server": 1}}}`, Edit{Op: Unset, Key: "mcpServers", Below: []string{"my.server"}}, `{"mcpServers": {"my": {"server": 1}}}`},
		{"a new member with dots", `{"mcpServers": {}}`, Edit{Op: Set, Key: "mcpServers", Below: []string{"my.server"}, Value: json.RawMessage(`1`)}, "{\"mcpServers\": {\n  \"my.server\": 1\n}}"},
		{"a member without a name", `{"mcpServers": {"": 1, "b": 2}}`, Edit{Op: Unset, Key: "mcpServers", Below: []string{""}}, `{"mcpServers": {"b": 2}}`},
		{"provider", `{}`, Edit{Op: Set, Key: "providers.my.box.base_url", Value: json.RawMessage(`"u"`)}, "{\n  \"providers\": {\n    \"my.box\": {\n      \"base_url\": \"u\"\n    }\n  }\n}"},
		{"last of two counts", `{"model": 1, "model": 2}`, Edit{Op: Set, Key: "model", Value: json.RawMessage(`3`)}, `{"model": 1, "model": 3}`},
		{"null", `{"a": 1}`, Edit{Op: Set, Key: "model", Value: json.RawMessage(`null`)}, `{"a": 1, "model": null}`},
		{"list on one line", `{"permissions": {"deny": ["A"]}}`, Edit{Op: Add, Key: "permissions.deny", Value: json.RawMessage(`"B"`)}, `{"permissions": {"deny": ["A", "B"]}}`},
		{"a text for a list", `{"permissions": {"allow": "A"}}`, Edit{Op: Add, Key: "permissions.allow", Value: json.RawMessage(`"B"`)}, `{"permissions": {"allow": ["A", "B"]}}`},
		{"a text for a list, taken out", `{"permissions": {"allow": "A"}}`, Edit{Op: Drop, Key: "permissions.allow", Value: json.RawMessage(`"A"`)}, `{"permissions": {"allow": []}}`},
		{"empty list", `{"permissions": {"deny": []}}`, Edit{Op: Add, Key: "permissions.deny", Value: json.RawMessage(`"B"`)}, "{\"permissions\": {\"deny\": [\n  \"B\"\n]}}"},
	}
	for _, tt := range tests {
		got, err := Apply([]byte(tt.text), tt.edit)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if string(got) != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"model": `, "does not parse and is left as it is"},
		{`[]`, "does not hold an object"},
		{`{"model": "a"} x`, "does not parse"},
		{strings.Repeat(`{"a":`, 5000), "nested"},
		{`{"ui": 1}`, "ui is not an object"},
	} {
		if out, err := Apply([]byte(tt.text), Edit{Op: Set, Key: "ui.theme", Value: json.RawMessage(`"x"`)}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %s, %v", tt.text, out, err)
		}
	}
}

// A list that is null takes something back, so an entry does not go in its place.
func TestApplyToNull(t *testing.T) {
	for text, want := range map[string]string{`{"permissions": {"allow": null}}`: "write a list ([]) in its place first", `{"permissions": {"allow": 1}}`: "is not a list"} {
		if out, err := Apply([]byte(text), Edit{Op: Add, Key: "permissions.allow", Value: json.RawMessage(`"B"`)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", text, out, err)
		}
	}
}

// Whatever the file looks like: after Set the value is there, after Unset it
// is gone, everything else means the same, and no comment is lost by a Set.
func FuzzApply(f *testing.F) {
	for _, s := range []string{"", "{}", "{\"a\":1,\"model\":\"x\"}", "{// c\n\"a\":[1,2,],/*d*/}", "{\n\t\"a\": {\"b\": 1}, // x\n\t\"model\": 1 // y\n\t// z\n}\r\n", "/**/{\"model\":{}/*,*/,}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before, err := read(text)
		if err != nil || before["model"] != nil && dup(text) {
			return
		}
		out, err := Apply(text, Edit{Op: Set, Key: "model", Value: json.RawMessage(`{"k":["v"]}`)})
		if err != nil {
			return
		}
		after, err := read(out)
		if err != nil {
			t.Fatalf("%q → %q: %v", text, out, err)
		}
		if b, _ := json.Marshal(after["model"]); string(b) != `{"k":["v"]}` {
			t.Fatalf("%q → %q", text, out)
		}
		gone, err := Apply(out, Edit{Op: Unset, Key: "model"})
		if err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		last, err := read(gone)
		if err != nil {
			t.Fatalf("%q → %q: %v", out, gone, err)
		}
		delete(before, "model")
		delete(after, "model")
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		c, _ := json.Marshal(last)
		if string(a) != string(b) || string(a) != string(c) {
			t.Fatalf("%q → %q → %q", text, out, gone)
		}
	})
}

// dup: names given twice, or other spellings, make "gone" mean another one.
func dup(text []byte) bool { return strings.Count(strings.ToLower(string(text)), "model") > 1 }

func read(text []byte) (map[string]any, error) {
	text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
	if strings.TrimSpace(string(text)) == "" {
		return map[string]any{}, nil
	}
	b, err := hujson.Standardize(text)
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	return m, json.Unmarshal(b, &m)
}
