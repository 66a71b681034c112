package search

import "encoding/binary"

// grams looks for several windows in one pass. Of each window it takes a run
// of size bytes and notes all groups of three bytes that can start at the
// first stride places of the run; so it is enough to look at every stride-th
// place of a text. A set of hashes tells most of these places apart at once.
type grams struct {
	bits   [512]uint64
	stride int
	wins   []window
	from   []int // where the run starts in each window
}

// Bounds of grams: of runs, and of the groups noted.
const (
	maxRun    = 9
	maxGroups = 2000
	costGroup = 1.5 // nanoseconds per place looked at
)

func hash3(x uint32) uint32 { return (x & 0xffffff) * 0x9e3779b1 >> 17 }

// newGrams returns nil when the windows are too short or too loose.
func newGrams(c choice) *grams {
	size := maxRun
	g := &grams{wins: c}
	for _, w := range c {
		from, n := narrowRun(w)
		size = min(size, n)
		g.from = append(g.from, from)
	}
	if g.stride = size - 2; g.stride < 3 {
		return nil
	}
	groups := 0
	for i, w := range c {
		run := w[g.from[i]:]
		for k := range g.stride {
			for _, x := range run[k].bytes() {
				for _, y := range run[k+1].bytes() {
					for _, z := range run[k+2].bytes() {
						h := hash3(uint32(x) | uint32(y)<<8 | uint32(z)<<16)
						g.bits[h>>6] |= 1 << (h & 63)
						groups++
					}
				}
			}
		}
	}
	if groups > maxGroups {
		return nil
	}
	return g
}

// narrowRun is the longest run of sets of at most two bytes.
func narrowRun(w window) (from, n int) {
	at := 0
	for i := range w {
		if len(w[i].bytes()) > 2 {
			at = i + 1
		} else if i+1-at > n {
			from, n = at, i+1-at
		}
	}
	return from, n
}

func (g *grams) cost() float64 { return costGroup / float64(g.stride) }

// next returns the first place from at on where a window stands, or -1. The
// place is in the window; a window that starts before at may be missed.
func (g *grams) next(b []byte, at int) int {
	for i := at; i+4 <= len(b); i += g.stride {
		h := hash3(binary.LittleEndian.Uint32(b[i:]))
		if g.bits[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		if p := g.check(b, max(at, i-g.stride+1), i); p >= 0 {
			return p
		}
	}
	// The last places have no four bytes to load.
	return g.check(b, max(at, len(b)-g.stride-3), len(b)-1)
}

// check looks for runs that start at b[from..to].
func (g *grams) check(b []byte, from, to int) int {
	for p := from; p <= to; p++ {
		for i, w := range g.wins {
			if stands(w, b, p-g.from[i]) {
				return p
			}
		}
	}
	return -1
}
