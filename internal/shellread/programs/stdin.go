package programs

import (
	"slices"
	"strings"
)

// ReadsCommands reports a program that runs what it finds on its standard input: as
// a shell does, or behind a sign of its own language.
func ReadsCommands(name string) bool { return commandReaders[name] }

var commandReaders = map[string]bool{
	"at": true, "batch": true, "crontab": true, "su": true, "sudo": true, "doas": true, "runuser": true, "pkexec": true, "newgrp": true, "sg": true, "chroot": true, "unshare": true, "nsenter": true, "machinectl": true, "script": true, "ssh": true, "mosh": true, "telnet": true, "rsh": true,
	"busybox": true, "toybox": true, "docker": true, "podman": true, "nerdctl": true, "kubectl": true, "oc": true, "lxc": true, "lxc-attach": true, "tmux": true, "screen": true, "parallel": true, "sem": true, "fakeroot": true, "nix-shell": true, "proot": true, "firejail": true, "bwrap": true, "systemd-run": true,
	"ed": true, "red": true, "ex": true, "vi": true, "vim": true, "nvim": true, "view": true, "emacs": true, "mail": true, "mailx": true, "Mail": true, "s-nail": true, "mutt": true, "neomutt": true, "ftp": true, "sftp": true, "lftp": true, "tftp": true, "ncftp": true, "smbclient": true,
	"mysql": true, "mariadb": true, "psql": true, "sqlite3": true, "sqlplus": true, "mongosh": true, "gdb": true, "lldb": true, "dc": true, "gnuplot": true, "m4": true, "make": true, "gmake": true, "tclsh": true, "wish": true, "expect": true, "octave": true, "csh": true, "tcsh": true, "fish": true,
}

// OnlyCommands reports whether what such a program finds there is nothing but commands.
func OnlyCommands(name string, ws []Word) bool {
	operands := 0
	for _, w := range ws[1:] {
		if w.Kind != Exact || !strings.HasPrefix(w.Text, "-") {
			operands++
		}
	}
	has := func(flags ...string) bool {
		return slices.ContainsFunc(ws[1:], func(w Word) bool { return slices.Contains(flags, w.Text) })
	}
	switch name {
	case "at", "batch", "newgrp":
		return true
	case "crontab":
		return !has("-l", "-r", "-e", "-i")
	case "parallel", "sem":
		return operands == 0 || has("::::")
	case "su", "runuser":
		return !slices.ContainsFunc(ws[1:], func(w Word) bool {
			return strings.HasPrefix(w.Text, "-c") || strings.HasPrefix(w.Text, "--command")
		})
	case "sudo", "doas":
		return operands == 0
	case "ssh", "mosh", "rsh":
		return operands == 1
	}
	return false
}
