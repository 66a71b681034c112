package rpc

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// samePeer is an error unless the process on the other side is this user's.
func samePeer(conn *net.UnixConn) error {
	return onSocket(conn, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil && int(cred.Uid) != os.Geteuid() {
			err = fmt.Errorf("it is a process of user %d", cred.Uid)
		}
		return err
	})
}
