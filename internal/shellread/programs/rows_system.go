package programs

// systemPrograms look at the machine.
func systemPrograms() []program {
	return []program{
		{names: "last", is: known},
		{names: "apropos", is: namesOthers, shows: rows{"": {flags: "-e -a -r -w", args: "x*", min: 1}}},
		{names: "apt", is: namesOthers, reads: rows{"--version": {}, "list": {flags: "--installed --upgradable --all-versions", args: "x*"}}, shows: rows{
			"policy": {args: "x*", check: noPath}, "search": {flags: "-n --names-only -f --full", args: "x*", min: 1}, "show": {flags: "-a --all-versions", args: "x*", min: 1, check: noPath},
		}},
		{names: "bat", is: checker | reader | walker, shows: rows{"": batRow, "--version": {}}},
		{names: "batcat", is: packer, shows: rows{"": batRow}},
		{names: "exa", shows: rows{"": ezaRow}},
		{names: "eza", shows: rows{"": ezaRow, "--version": {}}},
		{names: "free", row: &command{flags: "-bkmghtwlv --human --bytes --kibi --mebi --gibi --si --total --wide"}},
		{names: "fzf", shows: rows{"--version": {}}},
		{names: "ip", reads: rows{"a": ipShow, "addr": ipShow, "address": ipShow, "link": ipShow, "neigh": ipShow, "r": ipShow, "route": ipShow, "rule": ipShow}, shows: ipForms()},
		{names: "ldconfig", shows: rows{"--print-cache": {}, "-p": {}}},
		{names: "lsb_release", shows: rows{"": {flags: "-aidrcs --all --id --description --release --codename --short"}}},
		{names: "lscpu", row: &command{flags: "-aebcpJ --all --json"}},
		{names: "lsmod", shows: rows{"": {}}},
		{names: "lsof", shows: rows{"": {flags: "-nPtlbRUwa -i? -s? -p=x -u=x -c=x", args: "l*", check: lsofAsksNobody}}},
		{names: "lspci", shows: rows{"": {flags: "-nvktD"}}},
		{names: "lsusb", row: &command{flags: "-tv"}},
		{names: "man", is: checker | reader, valued: "LmMSseREr", runs: "-P* --pager* -H* --html* -l --local-file -C*", shows: rows{"": manual(nil), "-f": {args: "x*", min: 1}, "-k": {args: "x*", min: 1}, "-w": manual(nil)}},
		{names: "nvidia-smi", shows: rows{"": {flags: "-L --list-gpus"}}},
		{names: "pgrep", is: namesOthers, row: &command{flags: "-lafnovxicw -u=x -U=x -P=x -t=x -d=x --list-name --list-full --newest --oldest --exact --full --count --ignore-case", args: "x*"}},
		{names: "pidof", is: namesOthers, row: &command{flags: "-sxcq", args: "x*"}},
		{names: "printenv", row: &command{args: "x*", check: func(u *Invocation) string {
			if len(u.args) == 0 {
				return "printenv prints the environment, which may hold secrets"
			}
			for _, w := range u.args {
				if w.Kind != Exact || !publicVariables()[w.Text] {
					return w.Source + " may be a variable that holds a secret"
				}
			}
			return ""
		}}},
		{names: "ps", is: reader, row: &command{flags: "-AadefFlLjHMTwyc -o=x -p=x -u=x -U=x -C=x -t=x --pid=x --user=x --sort=x --forest --no-headers --headers --ppid=x --format=x", args: "x*", check: checkPs}},
		{names: "pstree", row: &command{flags: "-pcnuThGU", args: "x"}},
		{names: "scc", is: checker, shows: rows{"": {flags: "--by-file --no-complexity -c --no-cocomo -w --wide -s=x --sort=x --exclude-dir=x -i=x --include-ext=x --no-gen --no-min", args: "d*", here: "d"}}},
		{names: "shellcheck", is: checker | reader | speaker, shows: rows{"": {flags: "-s=x -f=x -S=x -e=x -i=x -C? --shell=x --format=x --severity=x --exclude=x --include=x --norc --color? -V --version", args: "p*", min: 1, check: noSources}}},
		{names: "ss", row: &command{flags: "-tulnaemoispx46H --processes --tcp --udp --listening --numeric --all --extended --memory --options --summary --unix --ipv4 --ipv6 --no-header"}},
		{names: "sw_vers", row: &command{flags: "-productVersion -productName -buildVersion", dash: true}},
		{names: "sysctl", shows: rows{"": {flags: "-naNe --all --values --names --ignore", args: "x*", check: operands(" may change how the kernel works", holding("="))}}},
		{names: "systemctl", is: checker, shows: rows{"is-active": systemdRow, "is-enabled": systemdRow, "is-failed": systemdRow, "list-timers": systemdRow, "list-unit-files": systemdRow, "list-units": systemdRow},
			forms: []form{{words: "enable|edit|link|mask|set-environment|import-environment", sets: "/etc/systemd/system"}}},
		{names: "top", row: &command{flags: "-b -n=x -o=x -d=x -p=x", check: all(needs("top never ends", "-b"), needs("top never ends", "-n"))}},
		{names: "vmstat", row: &command{flags: "-a -s -S=x"}},
		{names: "w", row: &command{flags: "-hsfi"}},
		{names: "whatis", is: namesOthers, shows: rows{"": {flags: "-r -w", args: "x*", min: 1}}},
		{names: "who", row: &command{flags: "-abdHlmpqrstTu --count --heading"}},
		{names: "xmllint", shows: rows{"": {flags: "-noout -nonet -xpath=x -format -recover -version", dash: true, args: "p*", check: noLocation}}},
	}
}
