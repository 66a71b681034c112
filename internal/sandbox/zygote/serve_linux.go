package zygote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Setup is what a zygote is told when it is started.
type Setup struct {
	Filter []byte   `json:"filter"` // of system calls: a classic BPF program
	Mounts []string `json:"mounts"` // what must be mount points for each command
	// User and Group are what commands run as; the zygote itself is root of its
	// namespace.
	User  int `json:"user"`
	Group int `json:"group"`
	// SealProc has commands see a /proc that nobody can write to.
	SealProc bool `json:"seal_proc"`
}

// Answers on the socket.
const (
	sayReady = "ready "
	sayPid   = "pid "
	sayStale = "stale "
	sayNo    = "no "
)

// Descriptors of a zygote.
const (
	socket = 3
	setup  = 4
)

// Descriptors that come with a request, before those of the command.
const (
	theRequest = iota
	theGate
	theLock
	fixed
)

// Serve is the zygote: it starts a command for each message on descriptor 3,
// as descriptor 4 says, until the other end is closed. Each message brings the
// request, what the command waits for, a descriptor that is kept open for as
// long as it lives, and its own, in this order.
func Serve() error {
	s, err := prepare()
	if err != nil {
		return errors.Join(err, say(sayNo+err.Error()))
	}
	if err := say(sayReady + strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	var data [1]byte
	oob := make([]byte, unix.CmsgSpace(4*(fixed+3+maxFiles)))
	for {
		n, k, flags, _, err := unix.Recvmsg(socket, data[:], oob, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n == 0:
			return nil
		}
		answer := sayNo + errRequest.Error()
		if fds, err := received(oob[:k]); err == nil && flags&(unix.MSG_CTRUNC|unix.MSG_TRUNC) == 0 {
			answer = s.launch(fds)
		}
		if err := say(answer); err != nil {
			return nil
		}
	}
}

// prepare readies this process and the namespaces it is in.
func prepare() (Setup, error) {
	unix.CloseOnExec(socket)
	s, err := readSetup()
	if err != nil {
		return s, err
	}
	if err := unix.CloseRange(setup, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return s, fmt.Errorf("close descriptors: %w", err)
	}
	// What is mounted outside from now on does not appear in here, where it
	// would be writable.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return s, fmt.Errorf("keep mounts to itself: %w", err)
	}
	return s, nil
}

func say(s string) error {
	_, err := unix.Write(socket, []byte(s))
	return err
}

func readSetup() (Setup, error) {
	var s Setup
	f := os.NewFile(setup, "setup")
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 8<<20))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("read what the zygote is told: %w", err)
	}
	if len(s.Filter) == 0 || len(s.Filter)%8 != 0 {
		return s, errors.New("the system call filter is damaged")
	}
	return s, nil
}

// received takes descriptors out of a message.
func received(oob []byte) ([]int, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var fds []int
	for i := range msgs {
		got, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return fds, err
		}
		fds = append(fds, got...)
	}
	if len(fds) < fixed+3 {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		return nil, errRequest
	}
	return fds, nil
}

// launch starts the command of one message, and answers.
func (s Setup) launch(fds []int) string {
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}()
	request, done, err := contents(fds[theRequest])
	if err != nil {
		return sayNo + err.Error()
	}
	defer done()
	p, err := decode(request)
	if err != nil {
		return sayNo + err.Error()
	}
	// Out of the way of those that the command gets, and no further: the kernel
	// takes up to 10 ms for a number that the table of descriptors has no room for.
	for i, fd := range fds {
		if fd >= len(fds)-fixed {
			continue
		}
		up, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, len(fds)-fixed)
		if err != nil {
			return sayNo + err.Error()
		}
		_ = unix.Close(fd)
		fds[i] = up
	}
	var report [2]int
	if err := unix.Pipe2(report[:], unix.O_CLOEXEC); err != nil {
		return sayNo + err.Error()
	}
	b := s.birth(p, fds, report[1])
	pid, err := start(b)
	_ = unix.Close(report[1])
	defer unix.Close(report[0])
	if err != nil {
		return sayNo + err.Error()
	}
	return s.outcome(pid, report[0])
}

// outcome reads the report of a new process.
func (s Setup) outcome(pid, report int) string {
	var word [2]uint32
	for {
		n, err := unix.Read(report, unsafe.Slice((*byte)(unsafe.Pointer(&word)), unsafe.Sizeof(word)))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n != int(unsafe.Sizeof(word)) {
			return sayNo + "it ended before it began"
		}
		break
	}
	switch word[0] {
	case ready:
		return sayPid + strconv.Itoa(pid)
	case checking:
		return sayStale + s.Mounts[word[1]]
	case mounting:
		return sayNo + "mount: " + unix.Errno(word[1]).Error()
	default:
		return sayNo + "confine: " + unix.Errno(word[1]).Error()
	}
}

// contents maps the file of a request; done forgets what it said.
func contents(fd int) (b []byte, done func(), err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, nil, err
	}
	if st.Size <= 0 || st.Size > maxRequest {
		return nil, nil, errRequest
	}
	b = make([]byte, st.Size)
	if n, err := unix.Pread(fd, b, 0); err != nil || n != len(b) {
		return nil, nil, errRequest
	}
	return b, func() { clear(b) }, nil
}

// birth is all that a new process needs.
func (s Setup) birth(p parsed, fds []int, report int) *birth {
	const proc = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	b := &birth{
		mounts: []mount{
			{text("proc"), text("/proc"), text("proc"), nil, proc},
			{text("tmpfs"), text("/dev/shm"), text("tmpfs"), text("mode=0755"), unix.MS_NOSUID | unix.MS_NODEV},
			{text("devpts"), text("/dev/pts"), text("devpts"), text("newinstance,ptmxmode=0666,mode=620"), unix.MS_NOSUID | unix.MS_NOEXEC},
		},
		users: []file{
			{text("self/setgroups"), []byte("deny")},
			{text("self/uid_map"), fmt.Appendf(nil, "%d 0 1", s.User)},
			{text("self/gid_map"), fmt.Appendf(nil, "%d 0 1", s.Group)},
			// Nobody can make another one, whatever a filter misses.
			{text("sys/user/max_user_namespaces"), []byte("0")},
		},
		lock: fds[theLock], gate: fds[theGate], report: report, files: fds[fixed:],
		dir: &p.dir[0], path: &p.path[0], openFiles: p.openFiles, called: text("adze"),
		head:    unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3},
		noDir:   []byte("adze: sandbox: cannot enter " + name(p.dir) + "\n"),
		noStart: []byte("adze: sandbox: cannot start " + name(p.path) + "\n"),
	}
	if s.SealProc {
		b.seal[0] = mount{from: text("/proc"), at: text("/proc"), flags: unix.MS_BIND}
		b.seal[1] = mount{at: text("/proc"), flags: proc | unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY}
	}
	for _, m := range s.Mounts {
		b.roots = append(b.roots, text(m))
	}
	for _, a := range p.args {
		b.argv = append(b.argv, &a[0])
	}
	for _, e := range p.env {
		b.env = append(b.env, &e[0])
	}
	b.argv, b.env = append(b.argv, nil), append(b.env, nil)
	b.filter = program(s.Filter)
	return b
}

func name(b []byte) string { return strings.TrimSuffix(string(b), "\x00") }

// text is s as the kernel takes it.
func text(s string) *byte {
	b := append([]byte(s), 0)
	return &b[0]
}

// program is a filter as the kernel takes it.
func program(filter []byte) unix.SockFprog {
	ins := make([]unix.SockFilter, len(filter)/8)
	for i := range ins {
		b := filter[8*i:]
		ins[i] = unix.SockFilter{
			Code: uint16(b[0]) | uint16(b[1])<<8, Jt: b[2], Jf: b[3],
			K: uint32(b[4]) | uint32(b[5])<<8 | uint32(b[6])<<16 | uint32(b[7])<<24,
		}
	}
	return unix.SockFprog{Len: uint16(len(ins)), Filter: &ins[0]}
}
