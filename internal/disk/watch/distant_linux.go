package watch

import "golang.org/x/sys/unix"

// distant reports whether a folder is of a file system that other machines
// write, or that another program makes up: the kernel tells of no change there
// that was not made through it. Where that cannot be found out, it is.
func distant(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return true
	}
	switch uint32(st.Type) { // signed or not, by the machine
	case unix.EXT4_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC, unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1, zfs, bcachefs:
		return false
	}
	return true
}

// Magic numbers that the system's package has no names for.
const (
	zfs      = 0x2fc12fc1
	bcachefs = 0xca451a4e
)
