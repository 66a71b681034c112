package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/js"
	"github.com/adze-agent/adze/internal/workflow"
)

func TestMeta(t *testing.T) {
	for _, tc := range []struct{ source, want string }{
		{`export const meta = {name: 'a', description: 'b'}`, `{"name":"a","description":"b"}`},
		{"// c\n/* d */ export const meta = { \"name\": \"a-1_B\", description: `b`, whenToUse: 'it\\'s \\u00e9 \\x41 \\u{1F600} \\ud83d\\ude00', phases: [{title: 'T', detail: \"d\", model: 'm',}, ], };\nreturn 1",
			`{"name":"a-1_B","description":"b","whenToUse":"it's é A 😀 😀","phases":[{"title":"T","detail":"d","model":"m"}]}`},
		{`export const meta = {name: 'a', description: 'b', more: [1, -2.5, 0x1f, 1_000, true, false, null, {x: {}}], 3: 4}`, `{"name":"a","description":"b"}`},
		{"#!/usr/bin/env x\nexport const meta = {name: 'a', description: 'b'}", `{"name":"a","description":"b"}`},
		{``, "line 1, column 1: a script begins with"},
		{`const meta = {name: 'a', description: 'b'}`, "line 1, column 1: a script begins with"},
		{`let x; export const meta = {name: 'a', description: 'b'}`, "line 1, column 1: a script begins with"},
		{`export const meta = m`, "line 1, column 21: a script begins with"},
		{`export const meta = {name: N, description: 'b'}`, "line 1, column 28: meta is a plain literal"},
		{`export const meta = {name: n(), description: 'b'}`, "column 28: meta is a plain literal"},
		{"export const meta = {name: `a${1}`, description: 'b'}", "column 28: meta is a plain literal"},
		{`export const meta = {...x}`, "column 22: meta is a plain literal"},
		{`export const meta = {[x]: 1}`, "column 22: meta is a plain literal"},
		{`export const meta = {name: 'a' + 'b', description: 'b'}`, "column 32: meta is a plain literal: here a comma"},
		{`export const meta = {get name() { return 1 }}`, "column 26: meta is a plain literal: after the name"},
		{`export const meta = {name() {}}`, "meta is a plain literal: after the name"},
		{`export const meta = {name}`, "meta is a plain literal: after the name"},
		{`export const meta = {__proto__: null}`, "no prototype"},
		{`export const meta = {description: 'b'}`, "line 1, column 1: meta: it has no name"},
		{`export const meta = {name: 'a'}`, "meta: it has no description"},
		{`export const meta = {name: 'a b', description: 'b'}`, `meta: the name "a b" is not made of`},
		{`export const meta = {name: 1, description: 'b'}`, "meta: name: expected a text, found a number"},
		{`export const meta = {name: 'a', description: 'b', phases: 'x'}`, "meta: phases: expected a list, found a text"},
		{`export const meta = {name: 'a', description: 'b', phases: [{}]}`, "a phase has no title"},
		{"export const meta = {name: 'a\n', description: 'b'}", "column 28: meta is a plain literal"},
		{`export const meta = ` + strings.Repeat("[", 1000), "a script begins with"},
		{`export const meta = {a: ` + strings.Repeat("[", 1000), "more than 20 levels"},
		{"export const meta = {name: 'a', description: 'b'}\nimport fs from 'fs'", "line 2, column 1: a script imports nothing"},
		{"export const meta = {name: 'a', description: 'b'}\nconst x = await import('fs')", "line 2, column 17: a script imports nothing"},
		{"export const meta = {name: 'a', description: 'b'}\nrequire('fs')", "line 2, column 1: there is no require"},
		{"export const meta = {name: 'a', description: 'b'}\nexport default 1", "line 2, column 1: a script exports only"},
		{"export const meta = {name: 'a', description: 'b'}\n`${import('fs')}`", "a script imports nothing"},
		{"export const meta = {name: 'a', description: 'b'}\n// import\n'import x'; `import ${1} import`; x.import; ({import: 1, require: 2}); /import/.test(a / b); require", `{"name":"a","description":"b"}`},
		{"\xff", "no text in UTF-8"},
		{strings.Repeat(" ", workflow.MaxSource+1), "has 524289 bytes"},
	} {
		s, err := workflow.Read(tc.source)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			raw, _ := json.Marshal(s.Meta)
			got = string(raw)
		}
		if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
			t.Errorf("%.100q:\n got %s\nwant %s", tc.source, got, tc.want)
		}
	}
}

// What the reader takes for a literal, the interpreter reads as the same.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"{name: 'a', description: 'b'}", "{'name': \"a\\n\\x41\", description: `b`, phases: [{title: '\\u00e9'}]}", "{name: 'a', description: 'b', x: [-0x1, .5e3, 1_0, /* c */ null]} // d", "{name: 'a', description: '\\\n'}", "{name: 'a', description: '\\u{1F600}\\ud83d\\ude00'}"} {
		f.Add("export const meta = " + s + "\nreturn 1")
	}
	said := ""
	start := func() *js.VM {
		vm, err := js.New(context.Background(), js.Bounds{Memory: 16 << 20, Time: 200 * time.Millisecond}, func(_, arg string) string { said = arg; return "" })
		if err != nil {
			f.Fatal(err)
		}
		return vm
	}
	vm := start()
	f.Cleanup(func() { vm.Close() })
	f.Fuzz(func(t *testing.T, source string) {
		s, err := workflow.Read(source)
		if err != nil {
			return
		}
		literal := source[strings.Index(source, "{"):]
		if at := strings.Index(source, "meta"); strings.Contains(source[:at], "{") { // in a comment
			return
		}
		said = ""
		if err := vm.Eval(t.Context(), "(async () => { const meta = "+literal+"\n; return meta })().then(m => host('', JSON.stringify(m)), e => 0)", "x.js"); err != nil {
			if errors.Is(err, js.ErrTime) || errors.Is(err, js.ErrMemory) {
				vm.Close()
				vm = start()
			}
			return // what follows is no program
		}
		var want workflow.Meta
		if said == "" || json.Unmarshal([]byte(said), &want) != nil {
			return
		}
		got, _ := json.Marshal(s.Meta)
		if raw, _ := json.Marshal(want); string(raw) != string(got) {
			t.Errorf("%q is %s, and was read as %s", source, raw, got)
		}
	})
}
