package rpc_test

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/disk/lease"
)

// A process of another user is not served, even if it can open the socket.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	dir := short(t)
	l := listen(t, dir, lease.ThisProcess(), &fake{})
	defer l.Close()
	paths, err := filepath.Glob(filepath.Join(dir, "*.sock"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	for path, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0o755, paths[0]: 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	served := func(uid int) bool {
		t.Helper()
		runtime.LockOSThread() // credentials are the thread's
		defer runtime.UnlockOSThread()
		set := func(uid int) {
			if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
				t.Fatal(errno)
			}
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		set(uid)
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: paths[0]})
		set(0)
		f := os.NewFile(uintptr(fd), "socket")
		defer f.Close()
		conn, cerr := net.FileConn(f)
		if err != nil || cerr != nil {
			t.Fatal(err, cerr)
		}
		defer conn.Close()
		_, _ = conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}` + "\n")) // it may be closed already
		said, _ := bufio.NewReader(conn).ReadString('\n')
		return said != ""
	}
	if !served(0) {
		t.Error("this user is not served")
	}
	if served(65534) {
		t.Error("another user is served")
	}
}
