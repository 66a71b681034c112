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
	// Slack is by how many nanoseconds timers of commands may be late: those of the zygote
	// itself may be later.
	Slack int `json:"slack"`
	// SealProc has commands see a /proc that nobody can write to.
	SealProc bool `json:"seal_proc"`
}

// Answers on the socket. sayStale and sayDead are followed by the number of a process
// that was begun, ends, and is to be reaped; 0 is none.
const (
	sayReady = "ready "
	sayPid   = "pid "
	sayStale = "stale "
	sayDead  = "dead "
	sayNo    = "no "
)

// What a message is, by its one byte.
const (
	toStart = '.' // a command alone
	toJoin  = '+' // a command in the room that was opened last
	toOpen  = 'o' // a room
)

// late bounds the time, in seconds, that a new process may take for its report: in a
// room, other commands can stop it.
const late = 3

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

// A server is a zygote.
type server struct {
	Setup
	common birth // what every birth has
	room   int   // the first process of the room that was opened last; 0: none was
}

// Serve is the zygote: it starts a command for each message on descriptor 3,
// as descriptor 4 says, until the other end is closed. Each message brings the
// request, what the command waits for, a descriptor that is kept open for as
// long as it lives, and its own, in this order. A room comes without the first and the last.
func Serve() error {
	setup, err := prepare()
	if err != nil {
		return errors.Join(err, say(sayNo+err.Error()))
	}
	s := &server{Setup: setup, common: setup.birth()}
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
		answer, gone := sayNo+errRequest.Error(), 0
		if fds, err := received(oob[:k], data[0] == toOpen); err == nil && flags&(unix.MSG_CTRUNC|unix.MSG_TRUNC) == 0 {
			if data[0] == toOpen {
				answer = s.open(fds)
			} else {
				answer, gone = s.launch(fds, data[0] == toJoin)
			}
			for _, fd := range fds {
				_ = unix.Close(fd)
			}
		}
		if err := sayWith(answer, gone); err != nil {
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

// sayWith says s with a descriptor, if there is one, which it closes.
func sayWith(s string, fd int) error {
	if fd == 0 {
		return say(s)
	}
	defer unix.Close(fd)
	return unix.Sendmsg(socket, []byte(s), unix.UnixRights(fd), nil, unix.MSG_NOSIGNAL)
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

// received takes descriptors out of a message, for a room or for a command.
func received(oob []byte, room bool) ([]int, error) {
	fds, err := rights(oob)
	if err == nil && (room && len(fds) != 2 || !room && len(fds) < fixed+3) {
		err = errRequest
	}
	if err != nil {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		return nil, err
	}
	return fds, nil
}

// rights are the descriptors in a message; with an error those before it.
func rights(oob []byte) (fds []int, err error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for i := range msgs {
		got, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return fds, err
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

// open opens a room, and answers: namespaces whose first process runs nothing, in which
// commands can be started that see the processes of one another.
func (s *server) open(fds []int) string {
	b := s.common
	b.flags |= unix.CLONE_NEWPID
	b.gate, b.lock = fds[0], fds[1]
	answer, _ := s.bear(&b, start)
	if n, ok := strings.CutPrefix(answer, sayPid); ok {
		pid, _ := strconv.Atoi(n) // it was written here
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return dead(sayDead, pid, err.Error())
		}
		if s.room > 0 {
			_ = unix.Close(s.room)
		}
		s.room = fd
	}
	return answer
}

// launch starts the command of one message, and answers; gone is what tells that nothing
// of it is left.
func (s *server) launch(fds []int, join bool) (answer string, gone int) {
	request, done, err := contents(fds[theRequest])
	if err != nil {
		return sayNo + err.Error(), 0
	}
	defer done()
	p, err := decode(request)
	if err != nil {
		return sayNo + err.Error(), 0
	}
	if join && s.room == 0 {
		return sayNo + "there is no room", 0
	}
	// Out of the way of those that the command gets, and no further: the kernel
	// takes up to 10 ms for a number that the table of descriptors has no room for.
	for i, fd := range fds {
		if fd >= len(fds)-fixed {
			continue
		}
		up, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, len(fds)-fixed)
		if err != nil {
			return sayNo + err.Error(), 0
		}
		_ = unix.Close(fd)
		fds[i] = up
	}
	b := s.common
	b.command(p, fds)
	if !join {
		b.flags |= unix.CLONE_NEWPID
		return s.bear(&b, start)
	}
	b.guest = true
	return s.bear(&b, func(b *birth) (int, error) { return startIn(b, s.room) })
}

// bear starts a process, and answers.
func (s *server) bear(b *birth, start func(*birth) (int, error)) (answer string, gone int) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return sayNo + err.Error(), 0
	}
	b.told = pair[1]
	b.write()
	pid, err := start(b)
	_ = unix.Close(pair[1])
	defer unix.Close(pair[0])
	if err != nil {
		return sayNo + err.Error(), 0
	}
	return s.outcome(pid, pair[0])
}

// outcome reads the report of a new process.
func (s *server) outcome(pid, report int) (answer string, gone int) {
	var word [2]uint32
	text := unsafe.Slice((*byte)(unsafe.Pointer(&word)), unsafe.Sizeof(word))
	oob := make([]byte, unix.CmsgSpace(4))
	_ = unix.SetsockoptTimeval(report, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: late}) // it waits longer without
	for {
		n, k, _, _, err := unix.Recvmsg(report, text, oob, unix.MSG_CMSG_CLOEXEC)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if fds, err := rights(oob[:k]); err == nil && len(fds) == 1 {
			gone = fds[0]
		}
		if n != len(text) {
			return dead(sayDead, pid, "it ended before it began"), gone
		}
		break
	}
	switch word[0] {
	case ready:
		return sayPid + strconv.Itoa(pid), gone
	case checking:
		return dead(sayStale, pid, s.Mounts[word[1]]), gone
	case mounting:
		return dead(sayDead, pid, "mount: "+unix.Errno(word[1]).Error()), gone
	default:
		return dead(sayDead, pid, "confine: "+unix.Errno(word[1]).Error()), gone
	}
}

// dead ends a process that is of no use, and says so.
func dead(what string, pid int, why string) string {
	_ = unix.Kill(pid, unix.SIGKILL) // it may be over
	return what + strconv.Itoa(pid) + " " + why
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

// birth is what every new process needs.
func (s Setup) birth() birth {
	const proc = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	b := birth{
		flags: births,
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
		called: text("adze"), slack: uintptr(s.Slack),
		head:   unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3},
		filter: program(s.Filter),
	}
	if s.SealProc {
		b.seal[0] = mount{from: text("/proc"), at: text("/proc"), flags: unix.MS_BIND}
		b.seal[1] = mount{at: text("/proc"), flags: proc | unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY}
	}
	for _, m := range s.Mounts {
		b.roots = append(b.roots, text(m))
	}
	return b
}

// command has the new process start a command.
func (b *birth) command(p parsed, fds []int) {
	b.gate, b.lock, b.files = fds[theGate], fds[theLock], fds[fixed:]
	b.dir, b.path, b.openFiles = &p.dir[0], &p.path[0], p.openFiles
	b.noDir = []byte("adze: sandbox: cannot enter " + name(p.dir) + "\n")
	b.noStart = []byte("adze: sandbox: cannot start " + name(p.path) + "\n")
	for _, a := range p.args {
		b.argv = append(b.argv, &a[0])
	}
	for _, e := range p.env {
		b.env = append(b.env, &e[0])
	}
	b.argv, b.env = append(b.argv, nil), append(b.env, nil)
}

// write readies the messages of the report.
func (b *birth) write() {
	iov := &unix.Iovec{Base: (*byte)(unsafe.Pointer(&b.word))}
	iov.SetLen(int(unsafe.Sizeof(b.word)))
	b.report.Iov = iov
	b.report.SetIovlen(1)
	b.whole = b.report
	control := unix.UnixRights(0)
	b.right = (*int32)(unsafe.Pointer(&control[unix.CmsgLen(0)]))
	b.whole.Control = &control[0]
	b.whole.SetControllen(len(control))
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
