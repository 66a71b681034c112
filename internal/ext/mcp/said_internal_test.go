package mcp

import "testing"

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
	} {
		l := tail{tell: func(string) {}}
		if _, err := l.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
		if got := l.last(); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
