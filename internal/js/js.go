// Package js runs JavaScript (ECMAScript 2023) in an interpreter that reaches nothing: no
// file, no network, no clock, no chance. It is QuickJS as a module of WebAssembly, which
// wazero runs: the module sees its own memory and the one function that it is given. Its
// memory and its time are bounded. docs/decisions/020-javascript.md says why.
//
// It refuses modules, and knows no timers.
package js

import (
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// quickjs is dist/emscripten-module.wasm of the npm package
// @jitl/quickjs-wasmfile-release-sync 0.32.0, which has QuickJS 2025-09-13 and the MIT
// licence (quickjs.LICENSE).
//
//go:embed quickjs.wasm
var quickjs string

// Bounds are what scripts may take. The zero value allows nothing.
type Bounds struct {
	Memory int           // bytes for all values, at most 100 MiB; 16 MiB is a usual size
	Time   time.Duration // that the scripts of a VM compute, all in all
}

// A Host is what scripts reach: their function host(op, arg) calls it, with strings. A
// call must return soon, and must not use the VM. It counts as time that the script took.
type Host func(op, arg string) string

// What a script is stopped for. A VM that stopped one runs nothing any more.
var (
	ErrTime   = errors.New("the script computed for too long")
	ErrMemory = errors.New("the script took too much memory")
)

// An Error is what a script threw.
type Error struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"` // a line for each call, each with "file:line:column"
}

func (e *Error) Error() string {
	if e.Name == "" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

// A VM is an interpreter with one global object. One goroutine at a time may use it.
type VM struct {
	bounds Bounds
	host   Host
	spent  time.Duration
	until  time.Time // when the call that runs has to end
	broken error     // why it runs nothing any more

	machine wazero.Runtime
	module  api.Module
	funcs   map[string]api.Function
	rt, cx  uint64 // JSRuntime *, JSContext *
	word    uint64 // four bytes for a pointer that a function returns beside its result
}

// cache keeps what was compiled of the module for the VMs that follow.
var cache = sync.OnceValue(wazero.NewCompilationCache)

// New makes an interpreter. The first of a process takes a quarter of a second of the CPU,
// any other 45 ms.
func New(ctx context.Context, b Bounds, host Host) (*VM, error) {
	v := &VM{bounds: b, host: host, funcs: map[string]api.Function{}}
	ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	v.machine = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(cache()).WithCloseOnContextDone(true))
	if err := v.load(ctx); err != nil {
		v.Close()
		return nil, fmt.Errorf("start the interpreter of scripts: %w", err)
	}
	return v, nil
}

func (v *VM) load(ctx context.Context) error {
	entries := v.entries()
	builder := v.machine.NewHostModuleBuilder("host")
	for _, e := range entries {
		builder.NewFunctionBuilder().WithGoModuleFunction(e.run, e.params, e.results).Export(e.name)
	}
	if _, err := builder.Instantiate(ctx); err != nil {
		return err
	}
	none := wazero.NewModuleConfig().WithStartFunctions()
	if _, err := v.machine.InstantiateWithConfig(ctx, shim(entries), none.WithName("a")); err != nil {
		return err
	}
	code, err := v.machine.CompileModule(ctx, []byte(quickjs)) // stays in the cache
	if err != nil {
		return err
	}
	v.module, err = v.machine.InstantiateModule(ctx, code, none.WithName("quickjs"))
	if err != nil {
		return err
	}
	return v.enter(ctx, v.begin)
}

// begin makes the global object.
func (v *VM) begin(ctx context.Context) {
	v.c(ctx, cStart)
	v.word = v.c(ctx, cMalloc, 4)
	v.rt = v.c(ctx, cNewRuntime)
	v.c(ctx, cMemoryLimit, v.rt, uint64(v.bounds.Memory))
	v.c(ctx, cStackSize, v.rt, stack)
	v.c(ctx, cInterruptible, v.rt)
	v.cx = v.c(ctx, cNewContext, v.rt, 0)
	text := v.write(ctx, "host")
	f := v.c(ctx, cNewFunction, v.cx, text, 2, 0, 1)
	key, global := v.c(ctx, cNewString, v.cx, text), v.c(ctx, cGlobal, v.cx)
	v.c(ctx, cSet, v.cx, global, key, f)
	v.free(ctx, f, key, global)
	v.c(ctx, cFree, text)
}

// stack bounds the calls within calls, in bytes of the module's stack.
const stack = 256 << 10

// Close frees what the interpreter took.
func (v *VM) Close() { _ = v.machine.Close(context.Background()) } // frees memory of this process, which cannot fail

// Compile reports whether a source can be run, without running any of it.
func (v *VM) Compile(ctx context.Context, source, file string) error {
	return v.enter(ctx, func(ctx context.Context) { v.eval(ctx, source, file, compileOnly) })
}

// Eval runs a source, and what it left to be run after it.
func (v *VM) Eval(ctx context.Context, source, file string) error {
	return v.enter(ctx, func(ctx context.Context) {
		v.eval(ctx, source, file, 0)
		v.pending(ctx)
	})
}

// Call calls a global function with strings, and runs what it left to be run after it.
func (v *VM) Call(ctx context.Context, function string, args ...string) error {
	return v.enter(ctx, func(ctx context.Context) {
		global := v.c(ctx, cGlobal, v.cx)
		key := v.string(ctx, function)
		f := v.c(ctx, cGet, v.cx, global, key)
		var list []byte
		var values []uint64
		for _, a := range args {
			values = append(values, v.string(ctx, a))
			list = binary.LittleEndian.AppendUint32(list, uint32(values[len(values)-1]))
		}
		at := v.write(ctx, string(list))
		v.result(ctx, v.c(ctx, cCall, v.cx, f, global, uint64(len(args)), at))
		v.free(ctx, append(values, f, key, global)...)
		v.c(ctx, cFree, at)
		v.pending(ctx)
	})
}

// pending runs what promises left to be run, until nothing of that is left.
func (v *VM) pending(ctx context.Context) {
	for v.c(ctx, cIsPending, v.rt) != 0 {
		v.result(ctx, v.c(ctx, cRunPending, v.rt, 1000, v.word))
		v.onTime()
	}
}

// What eval is told of a source.
const compileOnly = 32 // JS_EVAL_FLAG_COMPILE_ONLY

func (v *VM) eval(ctx context.Context, source, file string, flags uint64) {
	code, called := v.write(ctx, source), v.write(ctx, file)
	r := v.c(ctx, cEval, v.cx, code, uint64(len(source)), called, 0, flags)
	v.c(ctx, cFree, code)
	v.c(ctx, cFree, called)
	v.result(ctx, r)
}

// result frees what a function returned. It panics with what the script threw.
func (v *VM) result(ctx context.Context, r uint64) {
	thrown := v.c(ctx, cException, v.cx, r)
	if thrown == 0 {
		v.free(ctx, r)
		return
	}
	at := v.c(ctx, cDump, v.cx, thrown)
	said := v.read(at)
	v.c(ctx, cFreeString, v.cx, at)
	v.free(ctx, thrown)
	v.onTime()
	e := &Error{}
	if err := json.Unmarshal([]byte(said), e); err != nil || e.Name+e.Message == "" {
		e.Name, e.Message = "", said
	}
	if e.Name == "InternalError" && strings.Contains(e.Message, "out of memory") {
		panic(ErrMemory)
	}
	panic(e)
}
