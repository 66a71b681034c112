package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestEntries(t *testing.T) {
	const name = ".mcp.json"
	for _, c := range []struct{ why, text, want string }{
		{"with comments, a mark and trailing commas", "\ufeff{ // ours\n\"mcpServers\": {\n  \"a\": {\"command\": \"x\",},\n\n  \"b\": {\"url\": \"u\"}, /* end */\n}}", `a:3 {"command":"x"}; b:5 {"url":"u"}`},
		{"nothing in it", " \n\x00", ""},
		{"no such key", `{"servers":{"a":{}}}`, ""},
		{"another spelling of the key", `{"MCPServers":{"a":{}}}`, ""},
		{"no object", `[1]`, "error: it holds no object"},
		{"the list is none", "{\n\"mcpServers\":[]}", `error: line 2: "mcpServers" is no object`},
		{"a name twice", "{\"mcpServers\":{\"a\":{},\n\"b\":1,\n\"a\":{\"command\":\"y\"}}}", `a:1 {} (the same file has another one of this name in line 3); b:2 1`},
		{"a list twice", "{\"mcpServers\":{\"a\":{}},\n\"mcpServers\":{\"a\":{},\"b\":{}}}", `a:1 {} (the same file has another one of this name in line 2); b:2 {}`},
		{"a key twice", "{\"mcpServers\":{\"a\":{\"command\":\"x\",\n\"command\":\"y\"},\"b\":{}}}", `a:1 {"command":"y"} ("command" is given twice in it, again in line 2); b:2 {}`},
		{"cut off", `{"mcpServers":{"a":{`, "error: line 1, column 21: it ends before it is complete"},
		{"too deep", `{"mcpServers":` + strings.Repeat("[", 200), "error: line 1, column 114: nested more than 100 deep"},
	} {
		got := ""
		list, err := Entries([]byte(c.text), Origin{Scope: Project, File: name}, "mcpServers")
		for i, e := range list {
			if i > 0 {
				got += "; "
			}
			got += fmt.Sprintf("%s:%d %s", e.Name, e.Line, e.JSON)
			if e.Problem != "" {
				got += " (" + e.Problem + ")"
			}
		}
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.why, got, c.want)
		}
	}
}

// Of two servers with one name one counts, whole.
func TestServersOfSeveralLayers(t *testing.T) {
	o := options(disk{
		userFile:    `{"mcpServers":{"db":{"command":"mine","args":["a"]},"own":{"command":"o"},"gone":{"command":"g"}}}`,
		localFile:   `{"mcpServers":{"db":{"url":"https://x"}}}`,
		managedFile: `{"mcpServers":{"corp":{"command":"c"},"gone":null}}`,
	})
	var got []string
	for _, e := range load(t, o).ServerEntries() {
		got = append(got, fmt.Sprintf("%s %s %s", e.Scope, e.Name, e.JSON))
	}
	want := `user own {"command":"o"}; local db {"url":"https://x"}; managed corp {"command":"c"}; user db {"command":"mine","args":["a"]}`
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if list := load(t, options(disk{})).ServerEntries(); list != nil {
		t.Errorf("%v", list)
	}
}

func TestAllowListOfTheAdministratorOnly(t *testing.T) {
	o := options(disk{
		userFile:    `{"allowedMcpServers":[{"serverName":"mine"}]}`,
		managedFile: `{"allowedMcpServers":[{"serverName":"corp"}]}`,
	})
	if n := len(load(t, o).MCP.Allowed); n != 2 {
		t.Errorf("%d entries, want both", n)
	}
	o.Files = disk{
		userFile:    `{"allowedMcpServers":[{"serverName":"mine"}],"allowManagedMcpServersOnly":true}`,
		managedFile: `{"allowedMcpServers":[{"serverName":"corp"}],"allowManagedMcpServersOnly":true}`,
	}
	if c := load(t, o); len(c.MCP.Allowed) != 1 || !strings.Contains(string(c.MCP.Allowed[0]), "corp") {
		t.Errorf("%s", c.MCP.Allowed)
	}
}

func FuzzEntries(f *testing.F) {
	for _, s := range []string{`{"mcpServers":{"a":{"command":"x"}}}`, "\ufeff{}", `{"mcpServers":{"a":1,"a":2}}`, `{"mcpServers":{"a":{"b":1,"b":{}}},}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := Entries([]byte(s), Origin{File: "f"}, "mcpServers")
		seen := map[string]bool{}
		for _, e := range list {
			if err != nil || e.Line < 1 || seen[e.Name] {
				t.Fatalf("%q: %+v %v", s, e, err)
			}
			seen[e.Name] = true
		}
	})
}
