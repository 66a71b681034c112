package programs

import (
	"slices"
	"strings"
)

// Loses says what a command would destroy for good, "" when it is not one of
// those that do. Such a command is asked about in every mode.
func Loses(name string, ws []Word) string {
	args := ws[1:]
	switch name {
	case "git":
		_, rest, _ := gitSplit(args)
		return gitLoses(rest)
	case "rm":
		return rmLoses(args)
	case "dropdb", "mkfs", "wipefs", "fdisk", "parted", "mkswap", "blkdiscard", "shutdown", "reboot", "halt", "poweroff":
		return name + " destroys what cannot be brought back"
	case "dd":
		for _, w := range args {
			if w.Kind == Exact && strings.HasPrefix(w.Text, "of=/dev/") && w.Text != "of=/dev/null" {
				return "dd would overwrite a device"
			}
		}
	case "psql", "mysql", "sqlite3", "mariadb", "mongosh", "mongo", "redis-cli", "sqlcmd", "cockroach", "clickhouse-client":
		return sqlLoses(args)
	case "find":
		for _, w := range args {
			if w.Is("-delete") {
				return "find -delete removes every match for good"
			}
		}
	}
	if strings.HasPrefix(name, "mkfs.") {
		return name + " destroys what is on the device"
	}
	return ""
}

func gitLoses(ws []Word) string {
	if len(ws) == 0 || ws[0].Kind != Exact {
		return ""
	}
	flags := Literals(ws[1:])
	short := func(c string) bool {
		return slices.ContainsFunc(flags, func(f string) bool {
			return len(f) > 1 && f[0] == '-' && f[1] != '-' && strings.Contains(f, c)
		})
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(flags, func(f string) bool {
			name, _, _ := strings.Cut(f, "=")
			return slices.Contains(names, name)
		})
	}
	switch ws[0].Text {
	case "clean":
		if (short("f") || has("--force")) && !short("n") && !has("--dry-run") {
			return "git clean removes files that git does not know, for good"
		}
	case "reset":
		if has("--hard") || has("--merge") {
			return "git reset --hard drops every change that is not committed"
		}
	case "checkout":
		if has("--") || short("f") || has("--force") || has(".") {
			return "git checkout of files drops their changes that are not committed"
		}
	case "restore":
		if !has("--staged", "-S") || has("--worktree", "-W") {
			return "git restore drops changes that are not committed"
		}
	case "switch":
		if has("--discard-changes", "--force", "-f") {
			return "git switch --discard-changes drops changes that are not committed"
		}
	case "push":
		if has("--force", "-f", "--force-with-lease", "--delete", "-d", "--mirror", "--prune") || short("f") || slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "+") || strings.HasPrefix(f, ":") }) {
			return "git push --force replaces what others may have"
		}
	case "branch":
		if has("-D") || (has("-d", "--delete") && has("-f", "--force")) || short("D") {
			return "git branch -D drops commits that are only on that branch"
		}
	case "stash":
		if has("drop", "clear") {
			return "git stash " + flags[0] + " drops what was stashed"
		}
	case "reflog":
		if has("expire", "delete") {
			return "git reflog " + flags[0] + " drops the way back to lost commits"
		}
	case "filter-branch", "filter-repo":
		return "git " + ws[0].Text + " rewrites history"
	case "gc", "prune":
		if has("--prune") || ws[0].Text == "prune" {
			return "git " + ws[0].Text + " drops objects for good"
		}
	}
	return ""
}

// rmLoses names a recursive removal whose target is not known.
func rmLoses(args []Word) string {
	recursive := false
	for _, w := range args {
		if w.Kind == Exact && (w.Text == "--recursive" || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.ContainsAny(w.Text, "rR")) {
			recursive = true
		}
		if w.Is("--no-preserve-root") {
			return "rm --no-preserve-root may remove everything on this system"
		}
	}
	if !recursive {
		return ""
	}
	for _, w := range args {
		if w.Kind != Exact && w.Kind != Pattern {
			return "what " + w.Source + " names is not known before it runs, and everything below it would be removed"
		}
	}
	return ""
}

func sqlLoses(args []Word) string {
	for _, w := range args {
		up := strings.Join(strings.Fields(strings.ToUpper(w.Text)), " ")
		for _, s := range []string{"DROP DATABASE", "DROP TABLE", "DROP SCHEMA", "TRUNCATE ", "DROPDATABASE", "FLUSHALL", "FLUSHDB", "DELETE FROM"} {
			if strings.Contains(up, s) {
				return "this would drop data of a database for good"
			}
		}
	}
	return ""
}
