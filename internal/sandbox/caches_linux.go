package sandbox

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/adze-agent/adze/internal/disk/lock"
	"github.com/adze-agent/adze/internal/text/paths"
)

// cacheHomes are where build tools keep their caches when no variable of
// cacheFolders says otherwise, below the home folder. They hold nothing but what
// can be made again.
var cacheHomes = map[string]string{
	"GOCACHE": ".cache/go-build", "npm_config_cache": ".npm", "PIP_CACHE_DIR": ".cache/pip", "UV_CACHE_DIR": ".cache/uv",
	"YARN_CACHE_FOLDER": ".cache/yarn", "CCACHE_DIR": ".cache/ccache", "SCCACHE_DIR": ".cache/sccache",
}

// warmCaches lays the person's own caches under the private ones of the project,
// read-only: what is built already need not be built again inside, and what is
// written inside stays in a folder beside. Where the kernel cannot do that for
// users (before Linux 5.11, and on some file systems), and while another session
// of the project does it, the private ones are all there is.
func (b *bubblewrap) warmCaches(ctx context.Context) {
	c := b.s.config
	if c.Cache == "" {
		return // the private ones go with the session
	}
	var layers []layer
	for _, name := range slices.Sorted(maps.Keys(cacheHomes)) {
		if l, ok := b.layerOf(name); ok {
			layers = append(layers, l)
		}
	}
	if len(layers) == 0 {
		return
	}
	b.links.mu.Lock()
	defer b.links.mu.Unlock()
	if b.holder(ctx, "") != nil || !b.claimCaches() {
		return
	}
	for _, l := range layers {
		if l.prepare() == nil && b.space.ask("layer "+l.String()) == nil {
			b.cached = true
		}
	}
}

// A layer is a folder that shows what is in lower and keeps in upper what is
// written to it; work is the kernel's.
type layer struct{ lower, upper, work, at string }

// layerOf is what the cache of a variable is made of. ok is false when the
// person has none, or something in it is kept from commands.
func (b *bubblewrap) layerOf(name string) (l layer, ok bool) {
	c := b.s.config
	env := c.Env
	if env == nil {
		env = func(string) string { return "" }
	}
	lower := env(name)
	if !filepath.IsAbs(lower) {
		lower = filepath.Join(c.Home, cacheHomes[name])
		if rest, ok := strings.CutPrefix(cacheHomes[name], ".cache/"); ok && filepath.IsAbs(env("XDG_CACHE_HOME")) {
			lower = filepath.Join(env("XDG_CACHE_HOME"), rest)
		}
	}
	upper := filepath.Join(b.uppers(), cacheFolders[name])
	l = layer{real(lower), filepath.Join(upper, "files"), filepath.Join(upper, "work"), filepath.Join(b.s.policy.Cache, cacheFolders[name])}
	kept := slices.ContainsFunc(b.s.policy.Hidden, func(h string) bool { return paths.Within(h, l.lower) || paths.Within(l.lower, h) })
	inside := paths.WithinAny(b.s.policy.Writable, l.lower) || slices.ContainsFunc(b.s.policy.Writable, func(w string) bool { return paths.Within(l.lower, w) })
	special := strings.ContainsAny(l.lower+l.upper+l.at, ",:\\\x00") // they mean something to the kernel
	return l, isDir(l.lower) && !kept && !inside && !special
}

// uppers is where is kept what commands of the project write to caches. They
// cannot reach it there.
func (b *bubblewrap) uppers() string {
	return filepath.Join(real(b.s.config.Cache), "layers", filepath.Base(b.s.policy.Cache))
}

// claimCaches keeps other sessions from writing to the same folders, for as long
// as this process lives.
func (b *bubblewrap) claimCaches() bool {
	if err := os.MkdirAll(b.uppers(), 0o700); err != nil {
		return false
	}
	f, err := os.OpenFile(filepath.Join(b.uppers(), "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return false
	}
	if err := lock.Exclusive(f, false); err != nil {
		_ = f.Close()
		return false
	}
	b.claim = f
	return true
}

func (l layer) prepare() error {
	for _, dir := range []string{l.upper, l.work, l.at} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (l layer) String() string { return strings.Join([]string{l.lower, l.upper, l.work, l.at}, ":") }

// mountLayer mounts what String of a layer says.
func mountLayer(text string) error {
	f := strings.Split(text, ":")
	if len(f) != 4 {
		return fmt.Errorf("%q is no layer", text)
	}
	// Only a file system of its own kind of attributes may be mounted by users.
	options := fmt.Sprintf("userxattr,lowerdir=%s,upperdir=%s,workdir=%s", f[0], f[1], f[2])
	// A command may have put a link there.
	at, err := unix.Open(f[3], unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if err := unix.Mount("overlay", fmt.Sprintf("/proc/self/fd/%d", at), "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return nil
}
