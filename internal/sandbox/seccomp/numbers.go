package seccomp

type refusal struct {
	name  string
	errno uint32
}

// refused are calls that no command needs and that widen what it can reach:
// other processes, the kernel, mounts, keys, namespaces.
var refused = []refusal{
	{"ptrace", ePerm}, {"process_vm_readv", ePerm}, {"process_vm_writev", ePerm}, {"pidfd_getfd", ePerm}, {"kcmp", ePerm}, {"process_madvise", ePerm},
	{"io_uring_setup", ePerm}, {"io_uring_enter", ePerm}, {"io_uring_register", ePerm},
	{"bpf", ePerm}, {"userfaultfd", ePerm}, {"perf_event_open", ePerm}, {"lookup_dcookie", ePerm},
	{"keyctl", ePerm}, {"add_key", ePerm}, {"request_key", ePerm},
	{"mount", ePerm}, {"umount2", ePerm}, {"pivot_root", ePerm}, {"chroot", ePerm}, {"open_tree", ePerm}, {"move_mount", ePerm},
	{"fsopen", ePerm}, {"fsconfig", ePerm}, {"fsmount", ePerm}, {"fspick", ePerm}, {"mount_setattr", ePerm}, {"open_tree_attr", ePerm},
	{"unshare", ePerm}, {"setns", ePerm},
	{"clone3", eNoSys},  // its flags are in memory, out of sight; everybody falls back to clone
	{"openat2", eNoSys}, // and so is the mode of the file that it makes
	{"open_by_handle_at", ePerm}, {"fanotify_init", ePerm}, {"quotactl", ePerm}, {"quotactl_fd", ePerm}, {"acct", ePerm},
	{"init_module", ePerm}, {"finit_module", ePerm}, {"delete_module", ePerm}, {"kexec_load", ePerm}, {"kexec_file_load", ePerm},
	{"swapon", ePerm}, {"swapoff", ePerm}, {"reboot", ePerm}, {"syslog", ePerm}, {"vhangup", ePerm}, {"nfsservctl", eNoSys},
	{"settimeofday", ePerm}, {"clock_settime", ePerm}, {"clock_adjtime", ePerm}, {"adjtimex", ePerm}, {"sethostname", ePerm}, {"setdomainname", ePerm},
	{"iopl", ePerm}, {"ioperm", ePerm}, {"modify_ldt", ePerm}, {"uselib", eNoSys}, {"ustat", eNoSys}, {"sysfs", eNoSys}, {"_sysctl", eNoSys},
}

// refusedAlone are refused where no namespaces stand around the command: what
// reaches files and processes outside, and what everybody does without when
// the file system or the kernel has none.
var refusedAlone = []refusal{
	{"setxattr", eOpNotSup}, {"lsetxattr", eOpNotSup}, {"fsetxattr", eOpNotSup}, {"setxattrat", eOpNotSup},
	{"removexattr", eOpNotSup}, {"lremovexattr", eOpNotSup}, {"fremovexattr", eOpNotSup}, {"removexattrat", eOpNotSup},
	{"pidfd_open", eNoSys}, {"pidfd_send_signal", eNoSys},
}

// numbers are the system calls by machine: amd64, arm64; -1 is none
// (asm/unistd_64.h, asm-generic/unistd.h).
var numbers = map[string][2]int{
	"ptrace": {101, 117}, "process_vm_readv": {310, 270}, "process_vm_writev": {311, 271}, "pidfd_getfd": {438, 438},
	"kcmp": {312, 272}, "process_madvise": {440, 440},
	"io_uring_setup": {425, 425}, "io_uring_enter": {426, 426}, "io_uring_register": {427, 427},
	"bpf": {321, 280}, "userfaultfd": {323, 282}, "perf_event_open": {298, 241}, "lookup_dcookie": {212, 18},
	"keyctl": {250, 219}, "add_key": {248, 217}, "request_key": {249, 218},
	"mount": {165, 40}, "umount2": {166, 39}, "pivot_root": {155, 41}, "chroot": {161, 51}, "open_tree": {428, 428}, "move_mount": {429, 429},
	"fsopen": {430, 430}, "fsconfig": {431, 431}, "fsmount": {432, 432}, "fspick": {433, 433}, "mount_setattr": {442, 442}, "open_tree_attr": {467, 467},
	"unshare": {272, 97}, "setns": {308, 268}, "clone3": {435, 435}, "clone": {56, 220},
	"open_by_handle_at": {304, 265}, "fanotify_init": {300, 262}, "quotactl": {179, 60}, "quotactl_fd": {443, 443}, "acct": {163, 89},
	"init_module": {175, 105}, "finit_module": {313, 273}, "delete_module": {176, 106}, "kexec_load": {246, 104}, "kexec_file_load": {320, 294},
	"swapon": {167, 224}, "swapoff": {168, 225}, "reboot": {169, 142}, "syslog": {103, 116}, "vhangup": {153, 58}, "nfsservctl": {180, 42},
	"settimeofday": {164, 170}, "clock_settime": {227, 112}, "clock_adjtime": {305, 266}, "adjtimex": {159, 171}, "sethostname": {170, 161}, "setdomainname": {171, 162},
	"iopl": {172, -1}, "ioperm": {173, -1}, "modify_ldt": {154, -1}, "uselib": {134, -1}, "ustat": {136, -1}, "sysfs": {139, -1}, "_sysctl": {156, -1},
	"setxattr": {188, 5}, "lsetxattr": {189, 6}, "fsetxattr": {190, 7}, "setxattrat": {463, 463},
	"removexattr": {197, 14}, "lremovexattr": {198, 15}, "fremovexattr": {199, 16}, "removexattrat": {466, 466},
	"pidfd_open": {434, 434}, "pidfd_send_signal": {424, 424},
	"chmod": {90, -1}, "fchmod": {91, 52}, "fchmodat": {268, 53}, "fchmodat2": {452, 452}, "open": {2, -1}, "openat": {257, 56}, "openat2": {437, 437}, "creat": {85, -1},
	"mknod": {133, -1}, "mknodat": {259, 33},
	"socket": {41, 198}, "socketpair": {53, 199}, "ioctl": {16, 29},
}
