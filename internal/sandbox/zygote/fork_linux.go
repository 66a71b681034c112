package zygote

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Between a fork of this program and the command there is no Go runtime: only
// the thread that forked is there, so nothing may be allocated, no stack may
// grow and nothing may be scheduled. That is why what follows is nosplit, uses
// raw system calls only, and finds all it needs in a birth that is complete
// before.

// flags of every new process: namespaces of its own, and the parent of the zygote
// as its parent. A negative number of a signal cannot be had, so it is SIGCHLD.
const births = unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_PARENT | uintptr(unix.SIGCHLD)

// A mount is what mount(2) takes.
type mount struct {
	from, at, kind, data *byte
	flags                uintptr
}

// A file is one that the new process writes to, below /proc.
type file struct {
	path *byte
	text []byte
}

// A birth is everything the new process needs.
type birth struct {
	flags  uintptr // of clone(2)
	mounts []mount
	// files of /proc that are written once the process is in a namespace of users
	// of its own, which has nothing to say about the mounts.
	users []file
	seal  [2]mount // see to it that nobody else can write in /proc; at nil: not
	// roots are what must be mount points in its view, or it is out of date.
	roots []*byte
	// lock stays open in the first process, for as long as it lives.
	lock, gate, told int
	// files become descriptors 0, 1, 2, …; each is above them all.
	files     []int
	dir, path *byte   // of the command; at nil the new process holds a room
	argv      []*byte // ends with nil
	env       []*byte // ends with nil
	openFiles [2]uint64
	called    *byte   // what the first process is called
	slack     uintptr // of its timers, in nanoseconds
	filter    unix.SockFprog
	noDir     []byte // what is said when dir cannot be entered, and
	noStart   []byte // when path cannot be started
	// guest: the process is in a room. Its report brings a descriptor that tells when
	// nothing of the command is left: the listener of its filter, which listens to nothing.
	guest         bool
	report, whole unix.Msghdr // without that descriptor, and with it
	right         *int32      // where it stands in the message

	// what system calls read and write
	none   uint64
	mask   uint64
	head   unix.CapUserHeader
	caps   [2]unix.CapUserData
	status int32
	info   unix.Statx_t
	word   [2]uint32 // the report, which goes to told
	ignore [4]uint64 // struct sigaction of the kernel
	go_    [1]byte
}

// What the new process does, as it is told in its report.
const (
	ready = iota
	mounting
	checking // the number of the root follows instead of an error
	confining
)

// begin starts the new process. It reports on b.report, and goes on when
// something comes from b.gate.
//
//go:nosplit
//go:norace
//go:nocheckptr
func begin(b *birth) (pid int, e syscall.Errno) {
	b.mask = ^uint64(0)
	sys(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&b.mask)), uintptr(unsafe.Pointer(&b.none)), 8)
	n, e := fork(b.flags)
	if e != 0 || n != 0 {
		sys(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&b.none)), 0, 8)
		return int(n), e
	}
	sys(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, b.slack, 0, 0)
	b.confine()
	b.tell(ready, 0)
	if b.path == nil {
		b.hold()
	}
	if got, _ := sys(unix.SYS_READ, uintptr(b.gate), uintptr(unsafe.Pointer(&b.go_)), 1, 0); got != 1 {
		exit(0) // nobody is there who would wait for it
	}
	if b.guest { // what the command leaves behind stays below it
		sys(unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0)
	}
	// Where the new process has the memory of this one, it goes on with the same stack until
	// it is the command: become must keep to a frame of its own, and change nothing that
	// reap needs.
	kid, no := clone(vforks)
	if no == 0 && kid == 0 {
		b.become()
	}
	b.reap(kid)
	return 0, 0
}

// confine gives the first process its own view of the system and takes from it
// what it could do with that.
//
//go:nosplit
//go:norace
func (b *birth) confine() {
	sys(unix.SYS_SETSID, 0, 0, 0, 0)
	sys(unix.SYS_PRCTL, unix.PR_SET_NAME, uintptr(unsafe.Pointer(b.called)), 0, 0)
	for i := range b.mounts {
		b.mount(&b.mounts[i])
	}
	at := unix.AT_FDCWD
	for i := range b.roots {
		_, _, e := syscall.RawSyscall6(unix.SYS_STATX, uintptr(at), uintptr(unsafe.Pointer(b.roots[i])), unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, 0, uintptr(unsafe.Pointer(&b.info)), 0)
		if e != 0 || b.info.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 {
			b.tell(checking, uint32(i))
			exit(1)
		}
	}
	proc := b.must(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(b.mounts[0].at)), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if b.seal[0].at != nil {
		b.mount(&b.seal[0])
		b.mount(&b.seal[1])
	}
	b.must(unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0, 0)
	for i := range b.users {
		fd := b.must(unix.SYS_OPENAT, proc, uintptr(unsafe.Pointer(b.users[i].path)), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		b.must(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b.users[i].text))), uintptr(len(b.users[i].text)), 0)
		sys(unix.SYS_CLOSE, fd, 0, 0, 0)
	}
	b.drop()
}

// drop takes from the first process, for good, what it could do, and has it end
// with the process that it is a child of.
//
//go:nosplit
//go:norace
func (b *birth) drop() {
	for c := uintptr(0); c < 64; c++ {
		if _, e := sys(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0); e == unix.EINVAL {
			break // past the last one
		} else if e != 0 {
			b.tell(confining, uint32(e))
			exit(1)
		}
	}
	b.must(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0)
	b.must(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&b.head)), uintptr(unsafe.Pointer(&b.caps)), 0, 0)
	b.must(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0)
	b.must(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0)
	if !b.guest {
		b.must(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&b.filter)), 0)
		return
	}
	*b.right = int32(b.must(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&b.filter)), 0))
}

// become makes a process the command.
//
//go:noinline
//go:nosplit
//go:norace
func (b *birth) become() {
	sys(unix.SYS_SETSID, 0, 0, 0, 0)
	for i := range b.files {
		if _, e := sys(unix.SYS_DUP3, uintptr(b.files[i]), uintptr(i), 0, 0); e != 0 {
			exit(cannotRun)
		}
	}
	if _, e := sys(unix.SYS_CLOSE_RANGE, uintptr(len(b.files)), 1<<32-1, 0, 0); e != 0 {
		exit(cannotRun)
	}
	if _, e := sys(unix.SYS_CHDIR, uintptr(unsafe.Pointer(b.dir)), 0, 0, 0); e != 0 {
		sys(unix.SYS_WRITE, 2, uintptr(unsafe.Pointer(unsafe.SliceData(b.noDir))), uintptr(len(b.noDir)), 0)
		exit(cannotRun)
	}
	sys(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&b.openFiles)), 0)
	b.mask = 0
	sys(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&b.mask)), 0, 8)
	sys(unix.SYS_EXECVE, uintptr(unsafe.Pointer(b.path)), uintptr(unsafe.Pointer(unsafe.SliceData(b.argv))), uintptr(unsafe.Pointer(unsafe.SliceData(b.env))), 0)
	sys(unix.SYS_WRITE, 2, uintptr(unsafe.Pointer(unsafe.SliceData(b.noStart))), uintptr(len(b.noStart)), 0)
	exit(cannotRun)
}

// cannotRun is the exit code of a command that could not be started.
const cannotRun = 127

// hold is the first process of a room: it ends when the other end of its gate is
// closed, and the kernel ends all others with it. Those that lost their parents are
// its children, and nobody asks how they ended.
//
//go:nosplit
//go:norace
func (b *birth) hold() {
	b.ignore[0] = 1 // SIG_IGN
	sys(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&b.ignore)), 0, 8)
	sys(unix.SYS_DUP3, uintptr(b.gate), 0, 0, 0)
	sys(unix.SYS_DUP3, uintptr(b.lock), 1, 0, 0)
	sys(unix.SYS_CLOSE_RANGE, 2, 1<<32-1, 0, 0)
	for {
		if _, e := sys(unix.SYS_READ, 0, uintptr(unsafe.Pointer(&b.go_)), 1, 0); e != unix.EINTR {
			exit(0)
		}
	}
}

// reap waits for processes until the command kid is over, and ends with its code: then
// the kernel ends all others of the namespace. In a room, the parent does that.
//
//go:nosplit
//go:norace
func (b *birth) reap(kid uintptr) {
	if b.lock > 0 {
		sys(unix.SYS_DUP3, uintptr(b.lock), 0, 0, 0)
	}
	sys(unix.SYS_CLOSE_RANGE, 1, 1<<32-1, 0, 0)
	for {
		n, e := sys(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&b.status)), unix.WALL, 0)
		switch {
		case e == unix.EINTR:
		case e != 0:
			exit(cannotRun) // there was no command
		case n == kid:
			if s := uintptr(b.status & 0x7f); s != 0 {
				exit(128 + s)
			}
			exit(uintptr(b.status >> 8 & 0xff))
		}
	}
}

// tell says what the new process has come to.
//
//go:nosplit
//go:norace
func (b *birth) tell(what, more uint32) {
	b.word[0], b.word[1] = what, more
	m := &b.report
	if b.guest && what == ready {
		m = &b.whole
	}
	sys(unix.SYS_SENDMSG, uintptr(b.told), uintptr(unsafe.Pointer(m)), 0, 0)
}

// must ends the new process when a system call fails.
//
//go:nosplit
//go:norace
func (b *birth) must(nr, a1, a2, a3, a4 uintptr) uintptr {
	r, e := sys(nr, a1, a2, a3, a4)
	if e != 0 {
		b.tell(confining, uint32(e))
		exit(1)
	}
	return r
}

//go:nosplit
//go:norace
func fork(flags uintptr) (pid uintptr, e syscall.Errno) {
	pid, _, e = syscall.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	return pid, e
}

//go:nosplit
//go:norace
func (b *birth) mount(m *mount) {
	_, _, e := syscall.RawSyscall6(unix.SYS_MOUNT, uintptr(unsafe.Pointer(m.from)), uintptr(unsafe.Pointer(m.at)), uintptr(unsafe.Pointer(m.kind)), m.flags, uintptr(unsafe.Pointer(m.data)), 0)
	if e != 0 {
		b.tell(mounting, uint32(e))
		exit(1)
	}
}

//go:nosplit
//go:norace
func sys(nr, a1, a2, a3, a4 uintptr) (uintptr, syscall.Errno) {
	r, _, e := syscall.RawSyscall6(nr, a1, a2, a3, a4, 0, 0)
	return r, e
}

//go:nosplit
//go:norace
func exit(code uintptr) {
	for {
		sys(unix.SYS_EXIT_GROUP, code, 0, 0, 0)
	}
}

// startIn is start in the room whose first process is behind a descriptor.
func startIn(b *birth, room int) (pid int, err error) {
	done := make(chan struct{})
	go func() { // ends when the process is there, and its thread with it: that cannot leave the room
		defer close(done)
		runtime.LockOSThread()
		if err = unix.Setns(room, unix.CLONE_NEWPID); err == nil {
			pid, err = start(b)
		}
	}()
	<-done
	return pid, err
}

// start is begin for ordinary code.
func start(b *birth) (pid int, err error) {
	runtime.LockOSThread() // the mask of signals is that of a thread
	defer runtime.UnlockOSThread()
	pid, e := begin(b)
	runtime.KeepAlive(b)
	if e != 0 {
		return 0, e
	}
	return pid, nil
}
