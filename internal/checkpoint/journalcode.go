package checkpoint

import (
	"encoding/binary"
	"io/fs"

	"github.com/adze-agent/adze/internal/search"
)

// An encoder writes what a tree knows.
type encoder struct {
	to *record
	b  []byte // not written yet
}

// flush writes what is left.
func (b *encoder) flush() {
	b.to.write(b.b)
	b.b = b.b[:0]
}

// begin begins a part of the record.
func (b *encoder) begin(kind byte) {
	if len(b.b) > 64<<10 {
		b.flush()
	}
	b.b = append(b.b, kind)
}

func (b *encoder) num(n int64) { b.b = binary.AppendVarint(b.b, n) }

func (b *encoder) flag(is bool) {
	n := byte(0)
	if is {
		n = 1
	}
	b.b = append(b.b, n)
}

func (b *encoder) str(s string) {
	b.num(int64(len(s)))
	b.b = append(b.b, s...)
}

func (b *encoder) gone(rel string) {
	b.begin('x')
	b.str(rel)
}

func (b *encoder) folder(d *folder) {
	b.begin('d')
	b.str(d.rel)
	b.stat(d.stat, d.seen)
	b.flag(d.named)
	b.flag(d.left)
}

func (b *encoder) file(rel string, f *file) {
	if f == nil {
		return
	}
	b.begin('f')
	b.str(rel)
	b.stat(f.stat, f.seen)
	b.str(f.link)
	b.flag(f.copied)
	b.num(f.at)
	b.num(int64(f.sum))
	b.str(f.git)
	b.str(f.lost)
	b.str(f.hash)
}

func (b *encoder) stat(st search.Stat, seen int64) {
	for _, n := range []int64{int64(st.Mode), st.Size, st.MTime, st.CTime, int64(st.Ino), int64(st.Links), seen} {
		b.num(n)
	}
}

// A decoder takes apart what an encoder wrote. After bad is set all that it
// returns is nothing.
type decoder struct {
	b   []byte
	bad bool
}

func (r *decoder) num() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *decoder) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *decoder) flag() bool { return r.byte() == 1 }

func (r *decoder) str() string {
	n := r.num()
	if n < 0 || n > int64(len(r.b)) {
		r.b, r.bad = nil, true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *decoder) stat() (search.Stat, int64) {
	st := search.Stat{Mode: fs.FileMode(r.num()), Size: r.num(), MTime: r.num(), CTime: r.num(), Ino: uint64(r.num()), Links: uint64(r.num())}
	return st, r.num()
}
