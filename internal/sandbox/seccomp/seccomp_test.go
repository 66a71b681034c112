package seccomp

import (
	"encoding/binary"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// TestNumbers checks our table against another one.
func TestNumbers(t *testing.T) {
	for i, name := range []string{"x86_64", "aarch64"} {
		info, err := arch.GetInfo(map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[name])
		if err != nil {
			t.Fatal(err)
		}
		for call, nr := range numbers {
			want, ok := info.SyscallNames[call]
			if !ok {
				if nr[i] >= 0 && nr[i] < 460 && call != "sysfs" { // newer than that table
					t.Logf("%s: no %s to compare with", name, call)
				}
				continue
			}
			if nr[i] != want {
				t.Errorf("%s %s: %d, want %d", name, call, nr[i], want)
			}
		}
	}
}

// data is struct seccomp_data.
func data(audit, nr uint32, args ...uint64) []byte {
	b := make([]byte, 64)
	binary.LittleEndian.PutUint32(b[0:], nr)
	binary.LittleEndian.PutUint32(b[4:], audit)
	for i, a := range args {
		binary.LittleEndian.PutUint64(b[16+8*i:], a)
	}
	return b
}

// execute is the kernel's machine, as far as our programs use it.
func execute(t *testing.T, prog []Inst, data []byte) uint32 {
	t.Helper()
	var a uint32
	for pc := 0; pc < len(prog); pc++ {
		i := prog[pc]
		jump := func(yes bool) {
			if yes {
				pc += int(i.JT)
			} else {
				pc += int(i.JF)
			}
		}
		switch i.Code {
		case ldAbs:
			a = binary.LittleEndian.Uint32(data[i.K:])
		case and:
			a &= i.K
		case jEq:
			jump(a == i.K)
		case jGe:
			jump(a >= i.K)
		case jSet:
			jump(a&i.K != 0)
		case ret:
			return i.K
		default:
			t.Fatalf("instruction %#x", i.Code)
		}
	}
	t.Fatal("the program runs over its end")
	return 0
}

func TestFilter(t *testing.T) {
	const (
		allow = retAllow
		perm  = retErrno | ePerm
	)
	closed := Policy{Inet: true, UDP: true}
	for _, a := range []struct {
		arch  Arch
		audit uint32
	}{{AMD64, auditAMD64}, {ARM64, auditARM64}} {
		nr := func(name string) uint32 { return uint32(numbers[name][a.arch]) }
		for _, c := range []struct {
			name   string
			policy Policy
			audit  uint32
			nr     uint32
			args   []uint64
			want   uint32
		}{
			{"read", closed, a.audit, 0, nil, allow},
			{"foreign machine", closed, 0x40000003, 1, nil, retKill},
			{"ptrace", closed, a.audit, nr("ptrace"), nil, perm},
			{"clone3", closed, a.audit, nr("clone3"), nil, retErrno | eNoSys},
			{"fork", closed, a.audit, nr("clone"), []uint64{17}, allow},
			{"thread", closed, a.audit, nr("clone"), []uint64{0x3d0f00}, allow},
			{"new user namespace", closed, a.audit, nr("clone"), []uint64{0x10000000 | 17}, perm},
			{"new namespace, garbage above", closed, a.audit, nr("clone"), []uint64{0xffffffff_10000011}, perm},
			{"tiocsti", closed, a.audit, nr("ioctl"), []uint64{0, 0x5412}, perm},
			{"tiocsti, garbage above", closed, a.audit, nr("ioctl"), []uint64{0, 0xff00005412}, perm},
			{"tioclinux", closed, a.audit, nr("ioctl"), []uint64{0, 0x541c}, perm},
			{"tcgets", closed, a.audit, nr("ioctl"), []uint64{0, 0x5401}, allow},
			{"unix", closed, a.audit, nr("socket"), []uint64{1, 1, 0}, retErrno | eAfNo},
			{"unix, garbage above", closed, a.audit, nr("socket"), []uint64{1<<32 | 1, 1, 0}, retErrno | eAfNo},
			{"unix allowed", Policy{Unix: true}, a.audit, nr("socket"), []uint64{1, 1, 0}, allow},
			{"tcp", closed, a.audit, nr("socket"), []uint64{2, 1 | 0x80800, 6}, allow},
			{"tcp6", closed, a.audit, nr("socket"), []uint64{10, 1, 0}, allow},
			{"udp", closed, a.audit, nr("socket"), []uint64{2, 2, 17}, allow},
			{"udp closed", Policy{Inet: true}, a.audit, nr("socket"), []uint64{2, 2, 17}, retErrno | eAcces},
			{"no inet", Policy{}, a.audit, nr("socket"), []uint64{2, 1, 0}, retErrno | eAcces},
			{"mptcp", closed, a.audit, nr("socket"), []uint64{2, 1, 262}, retErrno | eProtoNo},
			{"raw", closed, a.audit, nr("socket"), []uint64{2, 3, 1}, retErrno | eSockNo},
			{"old packet", closed, a.audit, nr("socket"), []uint64{2, 10, 0x300}, retErrno | eSockNo},
			{"packet", closed, a.audit, nr("socket"), []uint64{17, 3, 0}, retErrno | eAfNo},
			{"vsock", closed, a.audit, nr("socket"), []uint64{40, 1, 0}, retErrno | eAfNo},
			{"netlink route", closed, a.audit, nr("socket"), []uint64{16, 3, 0}, allow},
			{"netlink netfilter", closed, a.audit, nr("socket"), []uint64{16, 3, 12}, retErrno | eProtoNo},
			{"stream pair", closed, a.audit, nr("socketpair"), []uint64{1, 1 | 0x80000, 0}, allow},
			{"seqpacket pair", closed, a.audit, nr("socketpair"), []uint64{1, 5, 0}, allow},
			{"datagram pair", closed, a.audit, nr("socketpair"), []uint64{1, 2, 0}, retErrno | eAfNo},
			{"tipc pair", closed, a.audit, nr("socketpair"), []uint64{30, 1, 0}, retErrno | eAfNo},
			{"fchmod", closed, a.audit, nr("fchmod"), []uint64{3, 0o1777}, allow},
			{"setuid", closed, a.audit, nr("fchmod"), []uint64{3, 0o4755}, perm},
			{"setuid, garbage above", closed, a.audit, nr("fchmodat"), []uint64{3, 0, 1<<40 | 0o104755}, perm},
			{"setgid", closed, a.audit, nr("fchmodat2"), []uint64{3, 0, 0o2755, 0}, perm},
			{"setgid where folders have it", Policy{SetGID: true}, a.audit, nr("fchmod"), []uint64{3, 0o2755}, allow},
			{"setuid there", Policy{SetGID: true}, a.audit, nr("fchmod"), []uint64{3, 0o6755}, perm},
			{"a program read", closed, a.audit, nr("openat"), []uint64{3, 0, 0o2000000, 0o7777}, allow},
			{"a file made", closed, a.audit, nr("openat"), []uint64{3, 0, 0o101, 0o666}, allow},
			{"a setuid file made", closed, a.audit, nr("openat"), []uint64{3, 0, 0o101, 0o4755}, perm},
			{"a setuid file without a name", closed, a.audit, nr("openat"), []uint64{3, 0, 0o20200002, 0o4755}, perm},
			{"a pipe", closed, a.audit, nr("mknodat"), []uint64{3, 0, 0o10644}, allow},
			{"a setuid file by mknod", closed, a.audit, nr("mknodat"), []uint64{3, 0, 0o104755}, perm},
			{"openat2", closed, a.audit, nr("openat2"), nil, retErrno | eNoSys},
			{"mount", closed, a.audit, nr("mount"), nil, perm},
			{"open_tree_attr", closed, a.audit, nr("open_tree_attr"), nil, perm},
		} {
			prog, err := Assemble(a.arch, c.policy)
			if err != nil {
				t.Fatal(err)
			}
			if got := execute(t, prog, data(c.audit, c.nr, c.args...)); got != c.want {
				t.Errorf("%d %s: %#x, want %#x", a.arch, c.name, got, c.want)
			}
		}
	}
	if n := len(Bytes([]Inst{{ret, 0, 0, retAllow}})); n != 8 {
		t.Errorf("%d bytes", n)
	}
}

// The older calls, which only amd64 has.
func TestSetuidOfOldCalls(t *testing.T) {
	prog, err := Assemble(AMD64, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []uint64
		want uint32
	}{
		{"chmod", []uint64{0, 0o4755}, retErrno | ePerm}, {"chmod", []uint64{0, 0o755}, retAllow}, {"creat", []uint64{0, 0o2755}, retErrno | ePerm}, {"creat", []uint64{0, 0o644}, retAllow},
		{"open", []uint64{0, 0o102, 0o4755}, retErrno | ePerm}, {"open", []uint64{0, 0o102, 0o644}, retAllow}, {"open", []uint64{0, 0, 0o4755}, retAllow}, {"mknod", []uint64{0, 0o104755}, retErrno | ePerm},
	} {
		if got := execute(t, prog, data(auditAMD64, uint32(numbers[c.name][AMD64]), c.args...)); got != c.want {
			t.Errorf("%s %o: %#x, want %#x", c.name, c.args, got, c.want)
		}
	}
}

func TestX32(t *testing.T) {
	prog, err := Assemble(AMD64, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if prog[4].K != 0x40000000 || prog[5].K != retErrno|eNoSys {
		t.Errorf("%+v", prog[:6])
	}
}
