package rpc

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/client"
	"github.com/adze-agent/adze/internal/disk/lease"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/disk/safe"
	"github.com/adze-agent/adze/internal/text/order"
)

// Bounds of sockets.
const (
	maxPath        = 103      // bytes of a socket's path: what every system takes
	maxConnections = 32       // at a time
	maxCard        = 64 << 10 // bytes of the file beside a socket
	orphan         = time.Minute
)

// A Card is the file beside a socket: which process listens there, and the key that
// opens it. Both are in a folder that only their user may enter. A command in a sandbox
// cannot read the card, so that the socket alone would be of no use to it.
type Card struct {
	Version int       `json:"v"`
	PID     int       `json:"pid"`
	Start   int64     `json:"start,omitempty"` // see lease.Holder
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
	Key     string    `json:"key"`

	path string // of the card without its ending
}

const (
	cardEnding   = ".json"
	socketEnding = ".sock"
)

// A Listener has other processes of the same user reach a Client. Close it.
type Listener struct {
	card Card
	l    *net.UnixListener
	work sync.WaitGroup
	stop context.CancelFunc
}

// Listen makes a socket in dir, and dir where it is not there, and serves each connection
// with c, whose Key and Number it sets. What is left there of processes that are dead is
// removed.
func Listen(ctx context.Context, dir string, self lease.Self, c Config) (_ *Listener, err error) {
	card := Card{Version: Protocol, PID: self.PID, Start: self.Start, Host: self.Host, Since: self.Now().UTC(), Key: rand.Text()}
	card.path = filepath.Join(dir, strings.ToLower(rand.Text()[:8]))
	if err := private(dir); err != nil {
		return nil, err
	}
	l := &Listener{card: card}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if err := card.short(func(path string) (err error) {
		l.l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		return err
	}); err != nil {
		return nil, err
	}
	l.l.SetUnlinkOnClose(false) // it may know the socket by another path
	if err := os.Chmod(card.path+socketEnding, 0o600); err != nil {
		return nil, err
	}
	if err := card.write(); err != nil {
		return nil, err
	}
	c.Key = card.Key
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.work.Go(func() { l.accept(ctx, c) }) // ends with Close
	return l, nil
}

// write makes the file of the card. Who reads half of it finds no card yet.
func (c Card) write() error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := safe.New(c.path + cardEnding)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return errors.Join(err, f.Close())
}

// ErrPath says that the path of a socket would be longer than the system takes.
var ErrPath = errors.New("the path of the folder for sockets is too long")

// short hands do a path of the socket that the system takes. A long one is
// named by way of its open folder, where the system knows such names.
func (c Card) short(do func(path string) error) error {
	path := c.path + socketEnding
	if len(path) <= maxPath {
		return do(path)
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: %s", ErrPath, filepath.Dir(path))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
}

// private makes the folder of sockets, which nobody else may enter.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !own(info):
		return fmt.Errorf("%s is no folder of this user", dir)
	case info.Mode().Perm() != 0o700:
		return os.Chmod(dir, 0o700)
	}
	return nil
}

func (l *Listener) accept(ctx context.Context, c Config) {
	places := make(chan struct{}, maxConnections)
	for {
		conn, err := l.l.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // of a connection that was given up, or too many open files
			select {
			case <-time.After(50 * time.Millisecond):
				continue
			case <-ctx.Done():
				return
			}
		}
		c.Number++
		with := c
		select {
		case places <- struct{}{}:
		default:
			_ = conn.Close() // there are enough
			continue
		}
		l.work.Go(func() { // ends with the connection, or with ctx
			defer func() { <-places }()
			if err := samePeer(conn); err != nil {
				_ = conn.Close()
				return
			}
			_ = Serve(ctx, conn, with) // the client was told
		})
	}
}

// Close takes the socket away, ends what is connected, and waits for that.
func (l *Listener) Close() {
	_ = os.Remove(l.card.path + cardEnding) // what is left is stale
	if l.l != nil {
		_ = l.l.Close()
		_ = os.Remove(l.card.path + socketEnding)
	}
	if l.stop != nil {
		l.stop()
	}
	l.work.Wait()
}

// Find lists the processes of this machine that listen in dir, the longest first. What those
// that are dead left is removed; of other machines nothing is known.
func Find(dir string, self lease.Self) (out []Card, err error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, n := range names {
		base, isCard := strings.CutSuffix(n.Name(), cardEnding)
		if !isCard {
			sweep(dir, n, self.Now())
			continue
		}
		path := filepath.Join(dir, base)
		raw, err := regular.Read(path+cardEnding, maxCard)
		var c Card
		if err != nil || json.Unmarshal(raw, &c) != nil {
			continue // it was just taken away, or is of another version
		}
		c.path = path
		switch {
		case c.Host != self.Host:
		case !self.Alive(c.PID, c.Start):
			_ = os.Remove(path + socketEnding)
			_ = os.Remove(path + cardEnding)
		default:
			out = append(out, c)
		}
	}
	order.By(out, func(a, b Card) int { return a.Since.Compare(b.Since) })
	return out, err
}

// sweep removes a socket without a card, unless that may be about to come.
func sweep(dir string, n fs.DirEntry, now time.Time) {
	base, is := strings.CutSuffix(n.Name(), socketEnding)
	info, err := n.Info()
	if !is || err != nil || now.Sub(info.ModTime()) < orphan {
		return
	}
	if _, err := os.Lstat(filepath.Join(dir, base+cardEnding)); errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(filepath.Join(dir, n.Name()))
	}
}

// Dial connects to a process that Find found.
func (c Card) Dial(ctx context.Context, h Hello) (*Client, error) {
	var d net.Dialer
	var conn net.Conn
	err := c.short(func(path string) (err error) {
		conn, err = d.DialContext(ctx, "unix", path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", client.ErrUnreachable, err)
	}
	h.Key = c.Key
	return Connect(ctx, conn, h)
}
