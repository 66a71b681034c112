package js

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// What quickjs.wasm exports, by the names that its linker gave. Beside each stands the name
// in the package's ffi.d.ts, which says what the function takes.
const (
	cStart         = "u"  // __wasm_call_ctors
	cMalloc        = "v"  // malloc
	cFree          = "M"  // free
	cNewRuntime    = "K"  // QTS_NewRuntime
	cMemoryLimit   = "y"  // QTS_RuntimeSetMemoryLimit
	cStackSize     = "D"  // QTS_RuntimeSetMaxStackSize
	cInterruptible = "Fa" // QTS_RuntimeEnableInterruptHandler
	cNewContext    = "N"  // QTS_NewContext
	cFreeValue     = "P"  // QTS_FreeValuePointer
	cFreeString    = "S"  // QTS_FreeCString
	cNewString     = "_"  // QTS_NewString
	cString        = "$"  // QTS_GetString
	cGlobal        = "ua" // QTS_GetGlobalObject
	cGet           = "ha" // QTS_GetProp
	cSet           = "ja" // QTS_SetProp
	cCall          = "ma" // QTS_Call
	cEval          = "pa" // QTS_Eval
	cException     = "na" // QTS_ResolveException
	cDump          = "oa" // QTS_Dump
	cNewFunction   = "Da" // QTS_NewFunction
	cArgument      = "Ea" // QTS_ArgvGetJSValueConstPointer
	cIsPending     = "fa" // QTS_IsJobPending
	cRunPending    = "ga" // QTS_ExecutePendingJob
)

// enter runs f, which calls functions of the module and panics with why it cannot go on.
func (v *VM) enter(ctx context.Context, f func(context.Context)) (err error) {
	if v.broken != nil {
		return v.broken
	}
	began := time.Now()
	v.until = began.Add(v.bounds.Time - v.spent)
	// The script is asked to end when its time is over. What does not hear that is cut off.
	within, cancel := context.WithDeadline(ctx, v.until.Add(time.Second))
	defer cancel()
	defer func() {
		v.spent += time.Since(began)
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		case error:
			v.broken = r
			if errors.Is(context.Cause(within), context.DeadlineExceeded) && ctx.Err() == nil {
				v.broken = ErrTime
			}
			err = v.broken
		default:
			panic(r)
		}
	}()
	f(within)
	return nil
}

// c calls a function of the module. It panics with what it was cut off by. A function that
// runs is not called once more within itself: what the host calls are others than what
// runs scripts.
func (v *VM) c(ctx context.Context, function string, args ...uint64) uint64 {
	f := v.funcs[function]
	if f == nil {
		f = v.module.ExportedFunction(function)
		v.funcs[function] = f
	}
	out, err := f.Call(ctx, args...)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		panic(fmt.Errorf("the interpreter of scripts: %w", err))
	}
	if len(out) == 0 {
		return 0
	}
	return out[0]
}

// onTime panics if the time of the script is over.
func (v *VM) onTime() {
	if time.Now().After(v.until) {
		panic(ErrTime)
	}
}

func (v *VM) free(ctx context.Context, values ...uint64) {
	for _, x := range values {
		v.c(ctx, cFreeValue, v.cx, x)
	}
}

// write puts a text into the module's memory, with a zero after it.
func (v *VM) write(ctx context.Context, s string) (at uint64) {
	at = v.c(ctx, cMalloc, uint64(len(s)+1))
	if at == 0 || !v.module.Memory().WriteString(uint32(at), s+"\x00") {
		panic(ErrMemory)
	}
	return at
}

// string makes a value of a text that has no zero.
func (v *VM) string(ctx context.Context, s string) (value uint64) {
	at := v.write(ctx, s)
	value = v.c(ctx, cNewString, v.cx, at)
	v.c(ctx, cFree, at)
	return value
}

// read is the text up to a zero.
func (v *VM) read(at uint64) string {
	m := v.module.Memory()
	b, ok := m.Read(uint32(at), m.Size()-uint32(at))
	if end := bytes.IndexByte(b, 0); ok && end >= 0 {
		return string(b[:end])
	}
	panic(errors.New("a text has no end"))
}

// An entry is a function that the module imports.
type entry struct {
	name            string
	params, results []api.ValueType
	run             api.GoModuleFunc
}

// entries are what quickjs.wasm imports, by the names that its linker gave. The clock
// stands still at the beginning of 1970, in UTC, and seeds the generator of random numbers.
func (v *VM) entries() []entry {
	const i, l, f = api.ValueTypeI32, api.ValueTypeI64, api.ValueTypeF64
	types := func(t ...api.ValueType) []api.ValueType { return t }
	answer := func(x uint64) api.GoModuleFunc {
		return func(_ context.Context, _ api.Module, s []uint64) { s[0] = x }
	}
	nothing := func(context.Context, api.Module, []uint64) {}
	fail := func(what string) api.GoModuleFunc {
		return func(context.Context, api.Module, []uint64) { panic(errors.New(what)) }
	}
	return []entry{
		{"b", types(i, i, i, i), nil, fail("an assertion failed")}, // __assert_fail
		{"c", types(i, i, i, i), types(i), answer(8)},              // fd_write: no such file
		{"d", types(i), types(i), answer(8)},                       // fd_close
		{"e", types(i, i), types(i), answer(0)},                    // environ_get
		{"f", types(i, i), types(i), v.noEnvironment},              // environ_sizes_get
		{"g", types(i, i, i, i), types(i), answer(0)},              // normalize a module's name: there are no modules
		{"h", types(i, i, i), types(i), answer(0)},                 // load a module
		{"i", types(i), types(i), v.interrupted},
		{"j", types(i, f), types(i), answer(0)}, // _setitimer_js
		{"k", types(i), types(i), v.grow},
		{"l", nil, nil, nothing}, // _emscripten_runtime_keepalive_clear
		{"m", types(l, i), nil, v.localTime},
		{"n", types(i, i, i, i), nil, nothing},          // _tzset_js: UTC
		{"o", types(i, l, i, i), types(i), answer(8)},   // fd_seek
		{"p", nil, types(f), answer(0)},                 // emscripten_date_now
		{"q", nil, nil, fail("it was aborted")},         // _abort_js
		{"r", types(i), nil, fail("it ended")},          // proc_exit
		{"s", types(i, i, i, i, i), types(i), v.called}, // a function of the host
		{"t", types(i, i), nil, nothing},                // a function of the host is freed
	}
}

func (v *VM) noEnvironment(_ context.Context, m api.Module, s []uint64) {
	m.Memory().WriteUint32Le(uint32(s[0]), 0)
	m.Memory().WriteUint32Le(uint32(s[1]), 0)
	s[0] = 0
}

// interrupted is asked by the interpreter from time to time while it runs a script.
func (v *VM) interrupted(_ context.Context, _ api.Module, s []uint64) {
	s[0] = 0
	if time.Now().After(v.until) {
		s[0] = 1
	}
}

// grow has the memory have that many bytes.
func (v *VM) grow(_ context.Context, m api.Module, s []uint64) {
	want := (uint64(uint32(s[0])) + 1<<16 - 1) >> 16
	now := uint64(m.Memory().Size()) >> 16
	s[0] = 0
	if want <= now {
		s[0] = 1
	} else if _, ok := m.Memory().Grow(uint32(want - now)); ok {
		s[0] = 1
	}
}

// localTime splits a time in UTC into the fields of a struct tm.
func (v *VM) localTime(_ context.Context, m api.Module, s []uint64) {
	t := time.Unix(int64(s[0]), 0).UTC()
	for i, n := range []int{t.Second(), t.Minute(), t.Hour(), t.Day(), int(t.Month()) - 1, t.Year() - 1900, int(t.Weekday()), t.YearDay() - 1, 0, 0} {
		m.Memory().WriteUint32Le(uint32(s[1])+uint32(4*i), uint32(n))
	}
}

// called answers host(op, arg).
func (v *VM) called(ctx context.Context, _ api.Module, s []uint64) {
	count, argv := uint32(s[2]), uint64(uint32(s[3])) // the upper halves mean nothing
	s[0] = 0                                          // undefined
	if count != 2 {
		return
	}
	var text [2]string
	for i := range text {
		at := v.c(ctx, cString, v.cx, v.c(ctx, cArgument, argv, uint64(i)))
		text[i] = v.read(at)
		v.c(ctx, cFreeString, v.cx, at)
	}
	s[0] = v.string(ctx, v.host(text[0], text[1]))
}
