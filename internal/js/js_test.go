package js_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/js"
)

// run evaluates sources one after the other, and returns what they said to the host.
func run(t *testing.T, b js.Bounds, sources ...string) (said string, err error) {
	t.Helper()
	var list []string
	vm, err := js.New(t.Context(), b, func(op, arg string) string {
		list = append(list, op+" "+arg)
		return arg + "!"
	})
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	for _, s := range sources {
		if err = vm.Eval(t.Context(), s, "script.js"); err != nil {
			break
		}
	}
	return strings.Join(list, "; "), err
}

var usual = js.Bounds{Memory: 16 << 20, Time: 10 * time.Second}

func TestScripts(t *testing.T) {
	for _, tc := range []struct{ source, said, err string }{
		{`host("a", host("b", "c"))`, "b c; a c!", ""},
		{`host("a")`, "", ""},
		{`Promise.resolve("x").then(x => host("later", x)); host("first", "")`, "first ; later x", ""},
		{`host("s", JSON.stringify({s: "é😀\u0000", n: [1, null]}))`, `s {"s":"é😀\u0000","n":[1,null]}`, ""},
		{`host("es2023", String([3, 1, 2].toSorted().at(-1)) + [1, 2].findLast(x => x < 2) + Object.hasOwn({a: 1}, "a"))`, "es2023 31true", ""},
		{"\n  throw new TypeError('no')", "", "TypeError: no"},
		{`throw "words"`, "", `"words"`},
		{`throw undefined`, "", "undefined"},
		{`nothing()`, "", "ReferenceError: 'nothing' is not defined"},
		{`let a = ;`, "", "SyntaxError: unexpected token in expression: ';'"},
		{`import("fs").catch(e => host("refused", e.name))`, "refused ReferenceError", ""},
		{`host("none", [typeof require, typeof process, typeof fetch, typeof setTimeout, typeof std, typeof os].join())`, "none " + strings.Repeat("undefined,", 5) + "undefined", ""},
		{`host("time", Date.now() + new Date(0).toString())`, "time 0Thu Jan 01 1970 00:00:00 GMT+0000", ""},
		{`function f() { return f() + 1 }; f()`, "", "InternalError: stack overflow"},
		{`try { (function f() { f() })() } catch (e) { host("caught", e.message) }`, "caught stack overflow", ""},
	} {
		said, err := run(t, usual, tc.source)
		if got := text(err); said != tc.said || got != tc.err {
			t.Errorf("%s: said %q, %q; want %q, %q", tc.source, said, got, tc.said, tc.err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestChanceIsTheSameInEachRun(t *testing.T) {
	one, _ := run(t, usual, `host("r", String(Math.random()))`)
	two, _ := run(t, usual, `host("r", String(Math.random()))`)
	if one != two {
		t.Errorf("%s, then %s", one, two)
	}
}

// What computes without end is ended, whether or not the interpreter looks at the time
// while it does that; and nothing of the script runs after it.
func TestBounds(t *testing.T) {
	small := js.Bounds{Memory: 4 << 20, Time: 200 * time.Millisecond}
	for _, tc := range []struct {
		source string
		want   error
	}{
		{`for (;;);`, js.ErrTime},
		{`for (;;) { try { for (;;); } catch {} }`, js.ErrTime},
		{`(async () => { for (;;) await 1 })()`, js.ErrTime},
		{`/^(a+)+$/.test("a".repeat(40) + "b")`, js.ErrTime},
		{`Array.prototype.includes.call({length: 2 ** 53 - 1}, 1)`, js.ErrTime}, // a loop in the interpreter itself
		{`let a = []; for (;;) a.push(new Uint8Array(10000))`, js.ErrMemory},
		{`"x".repeat(2 ** 29)`, js.ErrMemory},
		{`new Uint8Array(2 ** 30)`, js.ErrMemory},
	} {
		b := small
		if tc.want == js.ErrMemory {
			b.Time = time.Minute
		}
		if _, err := run(t, b, tc.source); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.source, err, tc.want)
		}
		if said, err := run(t, b, "try { "+tc.source+" } catch {}", `host("more", "")`); tc.want == js.ErrTime && (said != "" || !errors.Is(err, js.ErrTime)) {
			t.Errorf("%s: after it: %q, %v", tc.source, said, err)
		}
	}
}

func TestCall(t *testing.T) {
	var said []string
	vm, err := js.New(t.Context(), usual, func(op, arg string) string { said = append(said, op+arg); return "" })
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if err := vm.Compile(t.Context(), `host("a", "")`, "x.js"); err != nil || said != nil {
		t.Fatalf("compiled: %v, %q", err, said)
	}
	if err := vm.Eval(t.Context(), `function f(x, y) { host(x, y); if (x == "fail") throw new Error("failed") }`, "x.js"); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := vm.Call(t.Context(), "f", "é", `{"a":"b"}`); err != nil {
			t.Fatal(err)
		}
	}
	err = vm.Call(t.Context(), "f", "fail", "")
	var thrown *js.Error
	if !errors.As(err, &thrown) || thrown.Message != "failed" || !strings.Contains(thrown.Stack, "x.js:1") {
		t.Errorf("%#v", err)
	}
	if len(said) != 101 || said[99] != `é{"a":"b"}` {
		t.Errorf("%q", said[99:])
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		vm, err := js.New(b.Context(), usual, nil)
		if err != nil {
			b.Fatal(err)
		}
		vm.Close()
	}
}
