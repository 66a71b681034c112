package programs

import (
	"strings"
)

// otherPrograms are editors, package managers of systems, and the rest.
func otherPrograms() []program {
	return []program{
		{names: "R gnuplot jshell octave", is: interpreter},
		{names: "ack", is: reader | seeker | walker},
		{names: "actionlint yamllint", is: checker | reader},
		{names: "apk apt-get aptitude cheat choco cowsay dnf emerge export figlet flatpak killall launchctl logger nix-env notify-send op pacman pass pkg pkill port rc-service say scoop service snap tldr update-alternatives vault winget xbps-install yay yum zypper", is: namesOthers},
		{names: "apt-cache", is: namesOthers, reads: rows{"policy": {args: "x*"}, "search": {flags: "-nf --names-only", args: "x*"}, "show": {args: "x*"}}},
		{names: "basenc colordiff delta mlocate pr sdiff uuencode view", is: packer},
		{names: "bash zsh", is: speaker, reads: rows{"--version": {}}},
		{names: "blkdiscard fdisk halt mkfs mkswap parted poweroff reboot shutdown wipefs", forms: []form{{loses: lostAll}}},
		{names: "brew", is: namesOthers,
			reads: rows{
				"--version": {},
				"list":      {flags: "-1lvrt --versions --formula --cask --full-name", args: "x*", check: operands(" may be a formula that brew runs", func(text string) bool { return strings.Contains(text, "/") || strings.HasSuffix(text, ".rb") })},
			}},
		{names: "chsh", forms: []form{{unless: "-l --list-shells -h --help -v --version", sets: "/etc/passwd"}}},
		{names: "crontab", is: checker, forms: []form{{flags: "-r", loses: "removes all that is scheduled"}, {unless: "-l", sets: "/var/spool/cron/crontabs"}}},
		{names: "cscope", is: checker, takes: "-i=l"},
		{names: "csplit", is: packer | writer},
		{names: "ctags", is: checker, runs: "--options* -o* -f*", takes: "-L=l"},
		{names: "dpkg", is: namesOthers, reads: rows{"--version": {}, "-L": {args: "x*"}, "-l": {args: "x*"}, "-s": {args: "x*"}}},
		{names: "dpkg-query", is: namesOthers, row: &command{flags: "-Wls -f=x", args: "x*"}},
		{names: "ed ex", is: editor},
		{names: "emacs", is: editor, runs: "--eval* -l* --batch*"},
		{names: "envsubst ffmpeg ldd nice timeout", is: speaker},
		{names: "gio gtrash kioclient rip rmtrash trash trash-put", is: bin},
		{names: "journalctl open", is: checker | namesOthers},
		{names: "jsonlint", is: reader},
		{names: "lldb lpr luacheck mail mutt semgrep sendmail time xdg-open", is: checker},
		{names: "mkfifo mknod", is: namesOthers | writer},
		{names: "nvim", is: editor | speaker, runs: "-c* +* -S*"},
		{names: "rgrep ug ugrep", is: seeker | walker},
		{names: "rpm", is: namesOthers, reads: rows{"-q": {args: "x*"}, "-qa": {args: "x*"}}},
		{names: "vi", is: editor, runs: "-c* +*"},
		{names: "vim", is: editor | speaker, runs: "-c* +* -S* -u* --cmd*"},
		{names: "xargs", is: speaker, takes: "-a=l --arg-file=l"},
	}
}
