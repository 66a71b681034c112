package programs

import (
	"slices"
	"strings"
	"sync"
)

// gitBuiltin are the subcommands that git has itself in every version in use: no alias
// and no correction of a misspelt word takes their place.
var gitBuiltin = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(`add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index
	cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects credential credential-cache credential-store describe diff diff-files diff-index diff-tree
	difftool fast-export fast-import fetch fetch-pack fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id grep hash-object help hook index-pack init init-db
	interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-tree mktag mktree multi-pack-index mv name-rev notes
	pack-objects pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase receive-pack reflog remote repack replace rerere reset restore rev-list rev-parse revert rm
	send-pack shortlog show show-branch show-index show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref tag unpack-file unpack-objects update-index update-ref
	update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version worktree write-tree`) {
		out[name] = true
	}
	return out
})

// GitRenamed says why the subcommand of a git command may be another one than the word
// sub that stands for it: a setting that the command itself gives is an alias, or lets
// git correct what is misspelt. "" when it is the one that stands there. env are the
// variables that are set for the command.
func GitRenamed(ws []Word, env []string) (sub, why string) {
	if Base(ws[0].Text) != "git" {
		return "", ""
	}
	renames := slices.ContainsFunc(env, RenamesGit)
	for _, rest := range gitRests(ws[1:]) {
		name := rest[0]
		if name.Kind != Exact || gitBuiltin()[name.Text] {
			continue
		}
		if renames || givesAlias(ws[1:len(ws)-len(rest)]) {
			return name.Text, "git " + name.Text + " is what a setting given with it makes of it, which may be any command of git"
		}
	}
	return "", ""
}

// RenamesGit reports NAME=value, or a name, of a variable from which git takes settings.
func RenamesGit(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return strings.HasPrefix(name, "GIT_CONFIG") || name == "HOME" || name == "XDG_CONFIG_HOME"
}

// SetsAlias reports git config of an alias, of how git corrects words, or of a file with
// further settings.
func SetsAlias(ws []Word) bool {
	return Base(ws[0].Text) == "git" && slices.ContainsFunc(gitRests(ws[1:]), func(rest []Word) bool {
		return rest[0].Is("config") && !gitConfigReads(rest[1:]) && slices.ContainsFunc(rest[1:], func(w Word) bool { return w.Kind != Exact || aliasSetting(w.Text) })
	})
}

// givesAlias reports flags of git that may set an alias, or how it corrects words.
func givesAlias(flags []Word) bool {
	for i, w := range flags {
		name, val, attached := strings.Cut(w.Text, "=")
		switch {
		case i > 0 && (flags[i-1].Is("-c") || flags[i-1].Is("--config-env")):
			if w.Kind != Exact || aliasSetting(w.Text) {
				return true
			}
		case attached && len(name) > 4 && strings.HasPrefix("--config-env", name):
			if aliasSetting(val) {
				return true
			}
		}
	}
	return false
}

// aliasSetting reports NAME=value of git's settings that is an alias, corrects words,
// or brings further settings.
func aliasSetting(setting string) bool {
	name, val, _ := strings.Cut(strings.ToLower(setting), "=")
	switch {
	case name == "help.autocorrect":
		return val != "0" && val != "never" && val != "show"
	case strings.HasPrefix(name, "alias."), strings.HasPrefix(name, "include.") || strings.HasPrefix(name, "includeif."):
		return true
	}
	return false
}
