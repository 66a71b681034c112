package programs

import (
	"slices"
	"strings"
	"sync"
)

// loses is Loses as far as the words alone say it.
func loses(name string, ws []Word) string {
	args := ws[1:]
	switch name {
	case "git":
		for _, rest := range gitRests(args) {
			if what := gitLoses(rest); what != "" {
				return what
			}
		}
	case "rm":
		return rmLoses(args)
	case "kill":
		return killLoses(args)
	case "find":
		for _, w := range args {
			if w.Is("-delete") {
				return "find -delete removes every match for good"
			}
		}
		return startsRemoval(args, "-exec", "-execdir", "-ok", "-okdir")
	case "fd", "fdfind":
		return startsRemoval(args, "-x", "-X", "--exec", "--exec-batch")
	}
	switch {
	case destroyers[name]:
		return name + " destroys what cannot be brought back"
	case strings.HasPrefix(name, "mkfs."):
		return name + " destroys what is on the device"
	case databases[name]:
		return sqlLoses(args)
	}
	if verb, ok := strings.CutPrefix(name, "git-"); ok { // a program of git's own folder
		return gitLoses(append([]Word{Lit(verb)}, args...))
	}
	return otherLoses(name, args)
}

// destroyers are programs that do nothing else, databases those that are given statements.
var (
	destroyers = map[string]bool{"dropdb": true, "mkfs": true, "wipefs": true, "fdisk": true, "parted": true, "mkswap": true, "blkdiscard": true, "shutdown": true, "reboot": true, "halt": true, "poweroff": true}
	databases  = map[string]bool{"psql": true, "mysql": true, "sqlite3": true, "mariadb": true, "mongosh": true, "mongo": true, "redis-cli": true, "sqlcmd": true, "cockroach": true, "clickhouse-client": true}
)

// Judged reports a program some form of which destroys something for good, or writes
// settings that no word names.
func Judged(name string) bool {
	switch name {
	case "adze", "git", "rm", "rsync", "zip", "kill", "find", "fd", "fdfind":
		return true
	}
	return destroyers[name] || databases[name] || tars[name] || bins[name] || losses()[name] != nil || settingWriters()[name] != nil || strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "git-")
}

// startsRemoval names a removal of every match, behind one of the flags.
func startsRemoval(args []Word, flags ...string) string {
	for i, w := range args[:max(0, len(args)-1)] {
		if slices.Contains(flags, w.Text) && args[i+1].Kind == Exact && slices.Contains([]string{"rm", "shred", "unlink"}, Base(args[i+1].Text)) {
			return w.Text + " " + args[i+1].Text + " removes every match for good"
		}
	}
	return ""
}

// A gitFlags are the words behind git's subcommand, by what they may be.
type gitFlags []string

// short reports a flag of one letter, alone or among others.
func (f gitFlags) short(c string) bool {
	return slices.ContainsFunc(f, func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, c)
	})
}

// has reports one of the words, alone or with a value. git takes a long flag by
// what it begins with (gitcli(7)).
func (f gitFlags) has(names ...string) bool {
	return slices.ContainsFunc(f, func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains(names, name) || len(name) > 2 && strings.HasPrefix(name, "--") &&
			slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name) })
	})
}

// begins reports a word that begins so.
func (f gitFlags) begins(prefixes ...string) bool {
	return slices.ContainsFunc(f, func(w string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(w, p) })
	})
}

// A gitLoss is a subcommand of git that destroys something, when it does, and what.
type gitLoss struct {
	when func(f gitFlags) bool
	what string
}

var gitLosses = sync.OnceValue(func() map[string]gitLoss {
	return map[string]gitLoss{
		// Without -f it does so where clean.requireForce is off.
		"clean":          {func(f gitFlags) bool { return !f.short("n") && !f.has("--dry-run") && !f.has("-h", "--help") }, "removes files that git does not know, for good"},
		"reset":          {func(f gitFlags) bool { return f.has("--hard", "--merge") }, "--hard drops every change that is not committed"},
		"checkout":       {func(f gitFlags) bool { return f.has("--", "--force", ".") || f.short("f") }, "of files drops their changes that are not committed"},
		"restore":        {func(f gitFlags) bool { return !f.has("--staged", "-S") || f.has("--worktree", "-W") }, "drops changes that are not committed"},
		"checkout-index": {func(f gitFlags) bool { return f.short("f") || f.has("--force") }, "of files drops their changes that are not committed"},
		"read-tree":      {func(f gitFlags) bool { return f.has("--reset") && f.short("u") }, "--reset -u drops every change that is not committed"},
		"rm": {func(f gitFlags) bool {
			return (f.short("f") || f.has("--force")) && !f.has("--cached", "--dry-run") && !f.short("n")
		}, "-f drops changes that are not committed"},
		"worktree":  {func(f gitFlags) bool { return f.has("remove") && (f.short("f") || f.has("--force")) }, "remove --force drops changes in it that are not committed"},
		"submodule": {func(f gitFlags) bool { return f.has("deinit", "update") && (f.short("f") || f.has("--force")) }, "--force drops changes in submodules that are not committed"},
		"switch":    {func(f gitFlags) bool { return f.has("--discard-changes", "--force", "-f") }, "--discard-changes drops changes that are not committed"},
		"push": {func(f gitFlags) bool {
			return f.has("--force", "-f", "--force-with-lease", "--delete", "-d", "--mirror", "--prune") || f.short("f") || f.begins("+", ":")
		}, "--force replaces what others may have"},
		"branch": {func(f gitFlags) bool {
			return f.short("D") || f.has("-d", "--delete") && f.has("-f", "--force")
		}, "-D drops commits that are only on that branch"},
		"stash":         {func(f gitFlags) bool { return f.has("drop", "clear") }, "drop or clear drops what was stashed"},
		"reflog":        {func(f gitFlags) bool { return f.has("expire", "delete", "drop") }, "expire or delete drops the way back to lost commits"},
		"filter-branch": {nil, "rewrites history"},
		"filter-repo":   {nil, "rewrites history"},
		"gc":            {func(f gitFlags) bool { return f.has("--prune") }, "drops objects for good"},
		"prune":         {nil, "drops objects for good"},
	}
})

func gitLoses(ws []Word) string {
	if len(ws) == 0 || ws[0].Kind != Exact {
		return ""
	}
	loss, ok := gitLosses()[ws[0].Text]
	if !ok || loss.when != nil && !loss.when(Literals(ws[1:])) {
		return ""
	}
	return "git " + ws[0].Text + " " + loss.what
}

// rmLoses names a recursive removal whose target is not known.
func rmLoses(args []Word) string {
	for _, w := range args {
		if w.Is("--no-preserve-root") {
			return "rm --no-preserve-root may remove everything on this system"
		}
	}
	if !mayRecurse(args) {
		return ""
	}
	for _, w := range args {
		if w.Kind != Exact && w.Kind != Pattern && (w.Many || !w.FlagLike() || recurses(args)) {
			what := "what " + w.Source + " stands for"
			if w.Source == "…" {
				what = "what xargs adds"
			}
			return what + " is not known before it runs, and everything below it would be removed"
		}
	}
	return ""
}

// recurses reports a flag with which rm removes what is below its operands.
func recurses(args []Word) bool {
	return slices.ContainsFunc(args, func(w Word) bool {
		return w.Kind == Exact && (len(w.Text) > 2 && strings.HasPrefix("--recursive", w.Text) || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.ContainsAny(w.Text, "rR"))
	})
}

// mayRecurse is recurses, or that a word which is not known may be such a flag.
func mayRecurse(args []Word) bool {
	return recurses(args) || slices.ContainsFunc(args, func(w Word) bool { return w.Kind != Exact && w.FlagLike() })
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
