package zygote

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Errors of a Client. After either, nothing was started, and another zygote is needed.
var (
	ErrStale = errors.New("something that is mounted in the sandbox was replaced")
	ErrGone  = errors.New("the zygote ended")
)

// patience bounds how long a zygote may take for an answer.
const patience = 5 * time.Second

// A Client is the other end of a zygote's socket.
type Client struct {
	mu   sync.Mutex // one request at a time
	conn *os.File
}

// NewClient takes over fd, a socket whose other end is the zygote's.
func NewClient(fd int) *Client {
	_ = unix.SetNonblock(fd, true) // so that an answer is waited for without one of Go's processors
	return &Client{conn: os.NewFile(uintptr(fd), "zygote")}
}

// Ready waits until the zygote can take requests, and says its number.
func (c *Client) Ready() (pid int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, err := c.answer()
	if err != nil {
		return 0, err
	}
	if n, ok := strings.CutPrefix(text, sayReady); ok {
		if pid, err = strconv.Atoi(n); err == nil && pid > 1 {
			return pid, nil
		}
	}
	return 0, errors.New(strings.TrimPrefix(text, sayNo))
}

// Launch starts a command: a process that waits for a byte from gate before it
// begins, keeps lock open and gives files to the command as descriptors 0, 1,
// 2, …. It is a child of the process whose child the zygote is. pid is that of
// the first process of a namespace, which ends with the command's exit code, or
// 128 and the number of the signal that ended it, and with which all else in
// there ends.
func (c *Client) Launch(r Request, gate, lock *os.File, files []*os.File) (pid int, err error) {
	b, err := r.encode()
	if err != nil {
		return 0, err
	}
	if len(files) > maxFiles {
		return 0, fmt.Errorf("start a command: it gets %d files; %d are the most", len(files), maxFiles)
	}
	fd, err := unix.MemfdCreate("adze", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("make a file in memory: %w", err)
	}
	defer unix.Close(fd)
	if n, err := unix.Write(fd, b); err != nil || n != len(b) {
		return 0, fmt.Errorf("write a request: %w", errors.Join(err, errRequest))
	}
	fds := []int{fd, int(gate.Fd()), int(lock.Fd())}
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.send(unix.UnixRights(fds...)); err != nil {
		return 0, ErrGone
	}
	text, err := c.answer()
	if err != nil {
		return 0, err
	}
	if path, ok := strings.CutPrefix(text, sayStale); ok {
		return 0, fmt.Errorf("%w: %s", ErrStale, path)
	}
	if n, ok := strings.CutPrefix(text, sayPid); ok {
		if pid, err = strconv.Atoi(n); err == nil && pid > 1 {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("start a command: %s", strings.TrimPrefix(text, sayNo))
}

// send sends the descriptors of a request; c.mu is held.
func (c *Client) send(rights []byte) error {
	conn, err := c.conn.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = conn.Write(func(fd uintptr) bool {
		sent = unix.Sendmsg(int(fd), []byte{'.'}, rights, nil, unix.MSG_NOSIGNAL)
		return !errors.Is(sent, unix.EAGAIN)
	})
	return errors.Join(err, sent)
}

// answer reads one message; c.mu is held.
func (c *Client) answer() (string, error) {
	var b [8192]byte
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return "", ErrGone
	}
	n, err := c.conn.Read(b[:])
	if err != nil {
		return "", ErrGone
	}
	return string(b[:n]), nil
}

// Close ends the zygote. What it has started goes on.
func (c *Client) Close() error { return c.conn.Close() }
