// Package seccomp assembles the system call filter of the sandbox: what is
// refused whatever the files and the network allow. It is a pure function
// from a policy to the bytes of a classic BPF program; it installs nothing.
//
// Arguments that the kernel reads as int are compared in their low 32 bits
// only, as the kernel does: comparing all 64 lets a caller hide a family
// behind garbage in the upper half.
package seccomp

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// An Arch is a machine the filter can be made for.
type Arch int

// The machines.
const (
	AMD64 Arch = iota
	ARM64
)

// Audit numbers of the machines (linux/audit.h).
const (
	auditAMD64 = 0xc000003e
	auditARM64 = 0xc00000b7
)

// ArchOf names the machine of GOARCH; ok is false when there is no filter for it.
func ArchOf(goarch string) (a Arch, ok bool) {
	switch goarch {
	case "amd64":
		return AMD64, true
	case "arm64":
		return ARM64, true
	}
	return 0, false
}

// A Policy is what may differ from sandbox to sandbox.
type Policy struct {
	Unix   bool // AF_UNIX sockets that can have a name
	UDP    bool // datagrams; without it only streams
	Inet   bool // AF_INET and AF_INET6 at all
	SetGID bool // modes may have the bit: folders with it are all around
	// Alone: no namespaces keep files and processes outside out of reach.
	Alone bool
}

// Errors and return values of the filter (linux/seccomp.h, errno-base.h).
const (
	retKill  = 0x80000000 // the whole process
	retErrno = 0x00050000
	retAllow = 0x7fff0000

	ePerm    = 1
	eAcces   = 13
	eNoSys   = 38
	eProtoNo = 93
	eSockNo  = 94
	eAfNo    = 97

	eOpNotSup = 95
)

// Offsets in struct seccomp_data, little endian.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// Instructions of classic BPF.
const (
	ldAbs = 0x20 // A = word at k
	jEq   = 0x15
	jGe   = 0x35
	jSet  = 0x45
	and   = 0x54 // A &= k
	ret   = 0x06
)

// An Inst is one instruction, struct sock_filter.
type Inst struct {
	Code   uint16
	JT, JF uint8
	K      uint32
}

// Bytes is the program as bwrap and the kernel want it (little endian, which
// both machines are).
func Bytes(p []Inst) []byte {
	out := make([]byte, 0, 8*len(p))
	for _, i := range p {
		out = binary.LittleEndian.AppendUint16(out, i.Code)
		out = append(out, i.JT, i.JF)
		out = binary.LittleEndian.AppendUint32(out, i.K)
	}
	return out
}

// Assemble makes the program. Everything that is not refused is allowed; it
// returns an error only for a bug in the tables.
func Assemble(a Arch, p Policy) ([]Inst, error) {
	b := &builder{arch: a}
	audit := uint32(auditAMD64)
	if a == ARM64 {
		audit = auditARM64
	}
	b.add(Inst{ldAbs, 0, 0, offArch}, Inst{jEq, 1, 0, audit}, Inst{Code: ret, K: retKill})
	b.add(Inst{ldAbs, 0, 0, offNr})
	if a == AMD64 { // x32 shares the audit number
		b.add(Inst{jGe, 0, 1, 0x40000000}, Inst{Code: ret, K: retErrno | eNoSys})
	}
	list := refused
	if p.Alone {
		list = slices.Concat(refused, refusedAlone)
	}
	for _, r := range list {
		b.call(r.name, func() { b.fail(r.errno) })
	}
	b.socket(p)
	b.call("socketpair", func() { b.pair(p) })
	b.call("clone", func() {
		b.arg(0)
		b.when(jSet, newNamespaces, ePerm)
	})
	b.call("ioctl", func() {
		b.arg(1)
		b.when(jEq, 0x5412, ePerm) // TIOCSTI types into the terminal
		b.when(jEq, 0x541c, ePerm) // TIOCLINUX pastes into a console
	})
	b.borrowed(p)
	b.add(Inst{Code: ret, K: retAllow})
	return b.prog, b.err
}

// Bits of modes, and flags of open(2) with which it makes a file (linux/stat.h,
// fcntl.h; both machines have the same).
const (
	setUID     = 0o4000
	setGID     = 0o2000
	makesAFile = 0o100 | 0o20000000
)

// borrowed refuses to make programs that run as who made them, for others of the
// machine: they would take the sandbox's owner along. The kernel leaves these bits out
// of mkdir itself; what openat2 is told is in memory, out of sight (see refused).
func (b *builder) borrowed(p Policy) {
	bits := uint32(setUID | setGID)
	if p.SetGID {
		bits = setUID
	}
	for _, c := range []struct {
		name string
		mode uint32 // which argument
	}{{"chmod", 1}, {"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2}, {"creat", 1}, {"mknod", 1}, {"mknodat", 2}} {
		b.call(c.name, func() {
			b.arg(c.mode)
			b.when(jSet, bits, ePerm)
		})
	}
	for _, c := range []struct {
		name  string
		flags uint32
	}{{"open", 1}, {"openat", 2}} {
		b.call(c.name, func() {
			b.arg(c.flags)
			b.block(jSet, makesAFile, func() {
				b.arg(c.flags + 1)
				b.when(jSet, bits, ePerm)
			})
		})
	}
}

// newNamespaces are the flags of clone(2) that make a namespace: NS, CGROUP,
// UTS, IPC, USER, PID, NET.
const newNamespaces = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

// socket allows only families whose reach is understood: the others (vsock,
// packet, netlink but for routes, bluetooth, alg, tipc …) lead around the
// network namespace or into rarely tested parts of the kernel. All get the error
// of a kernel without them, which programs know and nothing else looks like.
func (b *builder) socket(p Policy) {
	b.call("socket", func() {
		b.arg(0)
		if p.Unix {
			b.when2(jEq, 1, retAllow)
		} else {
			b.when(jEq, 1, eAfNo)
		}
		b.block(jEq, 16, func() { // AF_NETLINK
			b.arg(2)
			b.when2(jEq, 0, retAllow) // NETLINK_ROUTE: the list of interfaces
			b.fail(eProtoNo)
		})
		if !p.Inet {
			b.when(jEq, 2, eAcces)
			b.when(jEq, 10, eAcces)
			b.fail(eAfNo)
			return
		}
		b.unless([]uint32{2, 10}, eAfNo)
		b.arg(1)
		b.add(Inst{and, 0, 0, 0xf})
		if p.UDP {
			b.unless([]uint32{1, 2}, eSockNo)
		} else {
			b.when(jEq, 2, eAcces)
			b.unless([]uint32{1}, eSockNo)
		}
		b.arg(2)
		b.unless([]uint32{0, 1, 6, 17, 58}, eProtoNo) // ICMP, TCP, UDP, ICMPv6; so no MPTCP, SCTP, raw
		b.add(Inst{Code: ret, K: retAllow})
	})
}

// pair lets processes talk through a pair that has no name. Of datagram
// pairs either end can be connected anew to any name, so they count as
// sockets with a name.
func (b *builder) pair(p Policy) {
	if p.Unix {
		b.add(Inst{Code: ret, K: retAllow})
		return
	}
	b.arg(0)
	b.unless([]uint32{1}, eAfNo)
	b.arg(1)
	b.add(Inst{and, 0, 0, 0xf})
	b.unless([]uint32{1, 5}, eAfNo)
	b.add(Inst{Code: ret, K: retAllow})
}

type builder struct {
	arch Arch
	prog []Inst
	err  error
}

func (b *builder) add(i ...Inst) { b.prog = append(b.prog, i...) }

func (b *builder) fail(errno uint32) { b.add(Inst{Code: ret, K: retErrno | errno}) }

func (b *builder) arg(n uint32) { b.add(Inst{Code: ldAbs, K: offArgs + 8*n}) }

// when fails the call when the comparison holds.
func (b *builder) when(op uint16, k, errno uint32) { b.when2(op, k, retErrno|errno) }

func (b *builder) when2(op uint16, k, result uint32) {
	b.add(Inst{op, 0, 1, k}, Inst{Code: ret, K: result})
}

// unless fails the call when A is none of ks.
func (b *builder) unless(ks []uint32, errno uint32) {
	for i, k := range ks {
		b.add(Inst{jEq, uint8(len(ks) - i), 0, k})
	}
	b.fail(errno)
}

// block is body for the case that the comparison holds; body must end with a
// return or leave A reloaded by what follows.
func (b *builder) block(op uint16, k uint32, body func()) {
	at := len(b.prog)
	b.add(Inst{op, 0, 0, k})
	body()
	n := len(b.prog) - at - 1
	if n > 255 {
		b.err = fmt.Errorf("assemble filter: a block of %d instructions", n)
		return
	}
	b.prog[at].JF = uint8(n)
}

// call is body for one system call; what body leaves open is allowed.
func (b *builder) call(name string, body func()) {
	nr, ok := numbers[name]
	if !ok {
		b.err = fmt.Errorf("assemble filter: no number of %s", name)
		return
	}
	n := nr[b.arch]
	if n < 0 {
		return
	}
	b.block(jEq, uint32(n), func() {
		body()
		if b.prog[len(b.prog)-1].Code != ret || b.prog[len(b.prog)-1].K != retAllow {
			b.add(Inst{Code: ret, K: retAllow})
		}
	})
}
