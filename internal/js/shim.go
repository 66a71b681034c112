package js

import (
	"encoding/binary"
	"slices"

	"github.com/tetratelabs/wazero/api"
)

// The memory of the module, in pages of 64 KiB: what it was linked for, and most.
const firstPages, mostPages = 256, 2048

// shim is a module in the binary format of WebAssembly that has what quickjs.wasm imports:
// a memory, and the functions of the module named "host" once more. The memory and the
// functions are imported from one module, and a module of Go functions has no memory.
func shim(entries []entry) []byte {
	var types, imports, exports [][]byte
	for i, e := range entries {
		types = append(types, slices.Concat([]byte{0x60}, vector(e.params), vector(e.results)))
		imports = append(imports, slices.Concat(name("host"), name(e.name), []byte{0}, number(i)))
		exports = append(exports, slices.Concat(name(e.name), []byte{0}, number(i)))
	}
	exports = append(exports, slices.Concat(name("a"), []byte{2, 0}))
	memory := slices.Concat([]byte{1}, number(firstPages), number(mostPages))
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), section(1, types...), section(2, imports...), section(5, memory), section(7, exports...))
}

func section(id byte, items ...[]byte) []byte {
	body := slices.Concat(append([][]byte{number(len(items))}, items...)...)
	return slices.Concat([]byte{id}, number(len(body)), body)
}

func vector(types []api.ValueType) []byte { return slices.Concat(number(len(types)), types) }

func name(s string) []byte { return append(number(len(s)), s...) }

func number(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }
