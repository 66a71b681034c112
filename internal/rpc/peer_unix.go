//go:build unix

package rpc

import (
	"io/fs"
	"net"
	"os"
	"syscall"
)

// own reports whether a file is this user's.
func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func onSocket(conn *net.UnixConn, f func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var asked error
	if err := raw.Control(func(fd uintptr) { asked = f(int(fd)) }); err != nil {
		return err
	}
	return asked
}
