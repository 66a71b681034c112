package mcp

import (
	"encoding/json"
	"testing"
)

// What is told of a program's end is the line that names the error, also when others follow.
func TestWhatAProgramSaidLast(t *testing.T) {
	for said, want := range map[string]string{
		"no config file\n": "no config file",
		"starting\nError: Cannot find module 'foo'\n    at Function.resolve (node:internal:1)\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.20.2\n": "Error: Cannot find module 'foo'",
		"node:fs:5\n\nTypeError [ERR_X]: no path\n    at x\n\nNode.js v22\n":                                                                                             "TypeError [ERR_X]: no path",
		"Traceback (most recent call last):\n  File \"s.py\", line 1\nModuleNotFoundError: No module named 'mcp'\n":                                                      "ModuleNotFoundError: No module named 'mcp'",
		"panic: no database\n\ngoroutine 1 [running]:\nmain.main()\n\t/s/main.go:3 +0x1\nexit status 2\n":                                                                "panic: no database",
		"Error: first\nError: second\nbye\n":        "Error: second",
		"I know of errors: none\nlistening on 80\n": "listening on 80",
		"": "",
		"Missing environment variable: X_KEY\n{\n  a: 1\n}\n":                    "Missing environment variable: X_KEY",
		"usage: srv --db FILE\n    at run (x.js:1)\n  code: 'E',\n}\n":           "usage: srv --db FILE",
		"ZodError: [\n  {\n    \"message\": \"Required\"\n  }\n]\nNode.js v20\n": `ZodError: [ { "message": "Required"`,
		"}\n": "}",
	} {
		l := tail{tell: func(string) {}}
		if _, err := l.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
		if got, _ := l.last(); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// Of what a program prints on its standard output only messages are taken for some.
func TestWhatIsMeantAsAMessage(t *testing.T) {
	for line, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{}}`: true, `{"id":1,"jsonrpc":"2.0","result":{}}`: true, `[{"jsonrpc":"2.0","method":"x"}]`: true,
		`{"id":1,"result":{}}`: true, `{"method":"x","params":{}}`: true, `{"jsonrpc":`: true, `{ "id": 3, "jsonrpc": "2.0", `: true,
		`{"level":30,"time":1700000000000,"msg":"server started"}`: false, `{"level":"info","method":"GET","id":"a","msg":"request"}`: false,
		`{"event":"started","id":7}`: false, `{"error":"no cache"}`: false, `{"severity":"DEBUG","data":{"jsonrpc":"2.0","id":1,"result":{}}}`: false,
		`{}`: false, `[]`: false, `["a"]`: false, `[INFO] up`: false, `{INFO} up`: false, `{'level': 'info'}`: false, `{`: false, `server started`: false,
	} {
		if got := meant([]byte(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// Structured content is said once, whatever a server wraps it in.
func TestWhatTextsDoNotSay(t *testing.T) {
	for _, c := range []struct {
		texts       []string
		value, want string
	}{
		{[]string{"line one\nline two\n"}, `{"content":"line one\nline two\n"}`, ""},
		{[]string{`[{"a":1}]`}, `{"entities":[{"a":1}]}`, ""},
		{[]string{`{"a": 1}`}, `{"a":1}`, ""},
		{[]string{"5"}, `{"result":5}`, ""},
		{[]string{`{"a":1}`, `{"a":2}`}, `{"result":[{"a":1},{"a":2}]}`, ""},
		{[]string{"a", "b"}, `{"result":["a","b"]}`, ""},
		{[]string{"a", "b"}, `{"result":"a\nb"}`, ""},
		{[]string{"page"}, `{"content":"page","total":50}`, `{"total":50}`},
		{[]string{"page"}, `{"total":50}`, `{"total":50}`},
		{nil, `{"a":1}`, `{"a":1}`},
		{nil, `{}`, `{}`},
		{[]string{"3 found"}, `{"n":3}`, `{"n":3}`},
	} {
		var v any
		if err := json.Unmarshal([]byte(c.value), &v); err != nil {
			t.Fatal(err)
		}
		got := ""
		if rest, some := untold(c.texts, v); some {
			raw, err := json.Marshal(rest)
			if err != nil {
				t.Fatal(err)
			}
			got = string(raw)
		}
		if got != c.want {
			t.Errorf("%q %s: %s, want %s", c.texts, c.value, got, c.want)
		}
	}
}

func TestToolsThatAreOnlyTasks(t *testing.T) {
	var k schemas
	k.keep([]byte(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","execution":{"taskSupport":"required"}},{"name":"b","execution":{"taskSupport":"optional"}},{"name":"c"}]}}`))
	if !k.onlyTask("a") || k.onlyTask("b") || k.onlyTask("c") {
		t.Errorf("%v", k.tasks)
	}
}
