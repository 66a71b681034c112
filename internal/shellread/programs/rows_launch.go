package programs

// launchPrograms are there to run other programs, shells among them.
func launchPrograms() []program {
	return []program{
		{names: "aa-exec abduco argv0 box64 bwrap caffeinate calife catchsegv cgexec choom chpst chronic chroot chrt cpulimit cronic cset daemon daemonize dbus-launch dbus-run-session detach dtach dumb-init eatmydata envchain envdir envuidgid expect fakeroot faketime fghack firejail gdbserver gosu graftcp gtime gtimeout heaptrack i386 ifne keychain lckdo ld.so linux26 linux32 linux64 lockrun logsave minijail0 mpiexec mpirun multilog multitime newgrp nocache nsjail numactl pgrphack pixie pkexec pkgx please poop prlimit proot proxychains proxychains-ng proxychains4 pty qemu-aarch64 qemu-x86_64 reflex rlwrap rr run0 runcon runsv s6-envdir s6-setuidgid sandbox-exec schedtool setarch setlock setpriv setuidgid softlimit srun start-stop-daemon steam-run su-exec sudo-rs supervise systemd-cat systemd-inhibit taskset tini torify torsocks toybox trickle ts tsocks tsp uclampset uftrace uname26 unshare wait-for-it watchexec with-contenv with-lock-ex x86_64 zzuf", is: launcher},
		{names: "alias trap", is: takesScripts},
		{names: "at batch hyperfine", is: checker | launcher | takesScripts},
		{names: "busybox", is: launcher | writer},
		{names: "capsh", is: launcher, runs: "-c"},
		{names: "direnv", is: launcher | ownNames | starter},
		{names: "doas nix-shell sudo", is: launcher | starter | takesScripts},
		{names: "elvish entr es execlineb flock ion mispipe murex nu oil osh pee rc retry runuser sem su systemd-run unbuffer xonsh yash ysh", is: launcher | takesScripts},
		{names: "env", is: speaker | takesScripts},
		{names: "gdb", is: checker | launcher | takesScripts, runs: "-ex* --ex* -x* --command*", shows: rows{"--version": {}}},
		{names: "ltrace perf valgrind", is: checker | launcher},
		{names: "parallel", is: launcher | takesScripts, takes: "-a=l ::::=l --arg-file=l"},
		{names: "screen", is: launcher | takesScripts, shows: rows{"--version": {}, "-ls": {args: "x"}, "-v": {}}},
		{names: "script", is: launcher | takesScripts | writesFirst, valued: "BEIOToTm", runs: "-c* --command*"},
		{names: "sg", is: launcher | takesScripts, forms: []form{{flags: "-U --update-all", edits: "*"}}},
		{names: "strace", is: checker | launcher, shows: rows{"--version": {}, "-V": {}}},
		{names: "tmux", is: launcher | speaker | takesScripts, shows: rows{"-V": {}, "has-session": tmuxList, "list-panes": tmuxList, "list-sessions": tmuxList, "list-windows": tmuxList, "ls": tmuxList, "lsp": tmuxList, "lsw": tmuxList}},
		{names: "watch", is: launcher | speaker | takesScripts},
		{names: "xvfb-run", is: launcher | starter},
	}
}
