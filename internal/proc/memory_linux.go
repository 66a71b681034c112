package proc

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// Memory is how much memory this process and what it starts can have, in
// bytes: the machine's, or less where a control group bounds it. 0 is unknown.
func Memory() int64 { return memory(os.DirFS("/")) }

func memory(root fs.FS) int64 {
	b, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	total, _ := kilobytes(b, "MemTotal:")
	for _, file := range groupFiles(root) {
		b, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		// "max", and for version 1 a number near 2^63, are no bound.
		n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
		if err == nil && n > 0 && n < total {
			total = n
		}
	}
	return total
}

// groupFiles are the files that may hold a bound of our control group, or of
// one above it (cgroups(7)). In a container the group's own folder is often
// mounted as the root, whatever its path is called.
func groupFiles(root fs.FS) []string {
	b, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var out []string
	for _, line := range strings.Split(string(b), "\n") {
		f := strings.SplitN(line, ":", 3) // hierarchy, controllers, path
		if len(f) != 3 {
			continue
		}
		mount, name := "sys/fs/cgroup", "memory.max"
		switch {
		case f[1] == "":
		case strings.Contains(","+f[1]+",", ",memory,"):
			mount, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			out = append(out, path.Join(mount, dir, name))
			if dir == "/" {
				break
			}
		}
	}
	return out
}
