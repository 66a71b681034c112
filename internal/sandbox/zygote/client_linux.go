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
	text, _, err := c.answer()
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
	pid, _, err = c.launch(toStart, r, gate, lock, files)
	return pid, err
}

// Join is Launch in the room that was opened last: the command and others in there see
// each other's processes, and can end them. What else the command started goes on when
// the process pid has ended. When nothing of it is left, gone tells so ([Gone]); close it.
func (c *Client) Join(r Request, gate, lock *os.File, files []*os.File) (pid int, gone *os.File, err error) {
	pid, gone, err = c.launch(toJoin, r, gate, lock, files)
	if err == nil && gone == nil {
		err = errors.New("start a command: nothing tells of its end")
	}
	return pid, gone, err
}

// Gone reports whether all processes of a command have ended; it waits for that as long
// as is said.
func Gone(f *os.File, wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, int(wait.Milliseconds()))
	return err == nil && n == 1 && fds[0].Revents&unix.POLLHUP != 0
}

// Open opens a room. Its first process pid, a child as one of Launch, keeps lock open and
// ends with all in the room when the other end of hold is closed, or when it is killed.
func (c *Client) Open(hold, lock *os.File) (pid int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.send(toOpen, unix.UnixRights(int(hold.Fd()), int(lock.Fd()))); err != nil {
		return 0, ErrGone
	}
	pid, _, err = c.born()
	return pid, err
}

func (c *Client) launch(how byte, r Request, gate, lock *os.File, files []*os.File) (pid int, gone *os.File, err error) {
	b, err := r.encode()
	if err != nil {
		return 0, nil, err
	}
	if len(files) > maxFiles {
		return 0, nil, fmt.Errorf("start a command: it gets %d files; %d are the most", len(files), maxFiles)
	}
	fd, err := unix.MemfdCreate("adze", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, nil, fmt.Errorf("make a file in memory: %w", err)
	}
	defer unix.Close(fd)
	if n, err := unix.Write(fd, b); err != nil || n != len(b) {
		return 0, nil, fmt.Errorf("write a request: %w", errors.Join(err, errRequest))
	}
	fds := []int{fd, int(gate.Fd()), int(lock.Fd())}
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.send(how, unix.UnixRights(fds...)); err != nil {
		return 0, nil, ErrGone
	}
	return c.born()
}

// born reads what became of a process; c.mu is held.
func (c *Client) born() (pid int, gone *os.File, err error) {
	text, gone, err := c.answer()
	if err != nil {
		return 0, nil, err
	}
	if n, ok := strings.CutPrefix(text, sayPid); ok {
		if pid, err = strconv.Atoi(n); err == nil && pid > 1 {
			return pid, gone, nil
		}
	}
	if gone != nil {
		_ = gone.Close()
	}
	if rest, ok := strings.CutPrefix(text, sayStale); ok {
		return 0, nil, fmt.Errorf("%w: %s", ErrStale, buried(rest))
	}
	if rest, ok := strings.CutPrefix(text, sayDead); ok {
		return 0, nil, fmt.Errorf("start a command: %s", buried(rest))
	}
	return 0, nil, fmt.Errorf("start a command: %s", strings.TrimPrefix(text, sayNo))
}

// buried reaps the process that stands before a text: nobody else knows of it.
func buried(text string) (rest string) {
	n, rest, _ := strings.Cut(text, " ")
	if pid, err := strconv.Atoi(n); err == nil && pid > 1 {
		_, _ = unix.Wait4(pid, nil, 0, nil) // it was killed
	}
	return rest
}

// send sends the descriptors of a request; c.mu is held.
func (c *Client) send(what byte, rights []byte) error {
	conn, err := c.conn.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = conn.Write(func(fd uintptr) bool {
		sent = unix.Sendmsg(int(fd), []byte{what}, rights, nil, unix.MSG_NOSIGNAL)
		return !errors.Is(sent, unix.EAGAIN)
	})
	return errors.Join(err, sent)
}

// answer reads one message, with a descriptor if it brings one; c.mu is held.
func (c *Client) answer() (text string, file *os.File, err error) {
	var b [8192]byte
	conn, err := c.conn.SyscallConn()
	if err != nil {
		return "", nil, ErrGone
	}
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return "", nil, ErrGone
	}
	n, k, oob := 0, 0, make([]byte, unix.CmsgSpace(4))
	var got error
	err = conn.Read(func(fd uintptr) bool {
		n, k, _, _, got = unix.Recvmsg(int(fd), b[:], oob, unix.MSG_CMSG_CLOEXEC)
		return !errors.Is(got, unix.EAGAIN)
	})
	if err != nil || got != nil || n == 0 {
		return "", nil, ErrGone
	}
	if fds, err := rights(oob[:k]); err == nil && len(fds) == 1 {
		file = os.NewFile(uintptr(fds[0]), "end of a command")
	}
	return string(b[:n]), file, nil
}

// Close ends the zygote. What it has started goes on.
func (c *Client) Close() error { return c.conn.Close() }
