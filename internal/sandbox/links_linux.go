package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// links are the links on the way to protected paths that are held in their
// place, and the sockets that are covered, as they were then: one that somebody
// outside replaced is a new one.
type links struct {
	mu      sync.Mutex // guards the fields below, the start of the helper, and the talk with it
	held    map[string]unix.Stat_t
	covered map[string]unix.Stat_t
	mounts  int // how often the helper has mounted something
}

func (l *links) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mounts
}

// hold has the links among paths held. It must succeed before a command runs:
// otherwise the command could put its own in their place.
func (b *bubblewrap) hold(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	b.links.mu.Lock()
	defer b.links.mu.Unlock()
	for _, p := range paths {
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if was, ok := b.links.held[p]; ok && was.Ino == st.Ino && was.Dev == st.Dev && was.Ctim == st.Ctim {
			continue
		}
		if err := b.holder(ctx, "the protected path "+p+" is a link, and"); err != nil {
			return err
		}
		if err := b.space.ask("hold " + p); err != nil {
			return fmt.Errorf("the protected path %s is a link that cannot be held in its place (%w); make it a file or folder of its own", p, err)
		}
		if b.links.held == nil {
			b.links.held = map[string]unix.Stat_t{}
		}
		b.links.held[p] = st
		b.links.mounts++
	}
	return nil
}

// holder starts the helper that holds links and covers sockets, if there is none
// yet. why begins what is said when it cannot be had.
func (b *bubblewrap) holder(ctx context.Context, why string) error {
	if b.space != nil {
		return nil
	}
	enter := findTool(b.s.config, "nsenter")
	if enter == "" {
		return errors.New(why + " nsenter (package util-linux) is needed for it")
	}
	n, err := b.helper(ctx, enter)
	if err != nil {
		return fmt.Errorf("%s it needs mounts of its own: %w", why, err)
	}
	b.space = n
	return nil
}

// holds reports whether any link is held.
func (b *bubblewrap) holds() bool {
	b.links.mu.Lock()
	defer b.links.mu.Unlock()
	return len(b.links.held) > 0
}

// holdFirst holds what is there when the sandbox starts. Where that cannot be
// done, the sandbox is a weaker one, which says so.
func (b *bubblewrap) holdFirst(ctx context.Context) {
	_, paths := b.s.policy.layout()
	err := b.hold(ctx, paths)
	if err == nil {
		return
	}
	b.loose = true
	b.s.level.Strength = Partial
	b.s.level.Weaker = append(b.s.level.Weaker, "a protected path is a link that a command can replace: "+err.Error())
}
