package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/text/paths"
)

// maxSockets bounds how many sockets are covered. A machine has a hundred; each
// costs every command a little.
const maxSockets = 2000

// listsSockets reports whether some unix sockets are listed. The filter of
// system calls sees no paths, so it lets all through then.
func (b *bubblewrap) listsSockets() bool {
	n := b.s.policy.Network
	return len(n.Unix) > 0 && !n.AllUnix
}

// coverSockets covers every unix socket with a path that is neither listed nor
// in a folder that only commands inside write, when some are listed. It must
// succeed before a command runs. A socket that is made while a command runs is
// covered for the next one.
func (b *bubblewrap) coverSockets(ctx context.Context) error {
	if !b.listsSockets() {
		return nil
	}
	b.links.mu.Lock()
	defer b.links.mu.Unlock()
	if err := b.holder(ctx, "sandbox.network.allow_unix_sockets names some sockets, and"); err != nil {
		return err
	}
	sockets, err := namedSockets()
	if err != nil {
		return fmt.Errorf("sandbox.network.allow_unix_sockets: %w", err)
	}
	p := b.s.policy
	now := map[string]unix.Stat_t{}
	for _, path := range sockets {
		var st unix.Stat_t
		if paths.WithinAny(p.Network.Unix, path) || paths.Within(p.Temp, path) || paths.WithinAny(p.Hidden, path) || unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
			continue
		}
		if was, ok := b.links.covered[path]; !ok || was.Ino != st.Ino || was.Dev != st.Dev || was.Ctim != st.Ctim {
			err := b.space.ask("cover " + path)
			if err != nil && err.Error() == errUnreached.Error() {
				continue
			}
			if err != nil {
				return fmt.Errorf("keep the socket %s from commands: %w", path, err)
			}
			b.links.mounts++ // what was started before does not have it
			b.links.mounts++
		}
		if now[path] = st; len(now) > maxSockets {
			return fmt.Errorf("there are more than %d unix sockets, too many to keep commands from those that sandbox.network.allow_unix_sockets does not name; take the setting out, or set sandbox.network.allow_all_unix_sockets", maxSockets)
		}
	}
	b.links.covered = now
	return nil
}

// namedSockets are the paths of the unix sockets of this machine.
func namedSockets() ([]string, error) {
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	var out []string
	// Num RefCount Protocol Flags Type St Inode Path; an abstract one has an @.
	for _, line := range strings.Split(string(table), "\n") {
		if i := strings.Index(line, " /"); i > 0 {
			out = append(out, real(line[i+1:]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// errUnreached is what the helper says of a socket that it cannot reach, and so
// no command can: it is gone, or in a folder that is closed to this user.
var errUnreached = errors.New("not reached")

// coverSocket mounts a file that nobody can connect to over the socket at path,
// in the helper's table of mounts.
func coverSocket(path string) error {
	blank, err := unix.OpenTree(unix.AT_FDCWD, os.DevNull, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open_tree: %w", err)
	}
	defer unix.Close(blank)
	at, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return unreached(err)
	}
	defer unix.Close(at)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(blank, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	if err := unix.MoveMount(blank, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return unreached(fmt.Errorf("move_mount: %w", err))
	}
	return nil
}

func unreached(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return errUnreached
	}
	return err
}
