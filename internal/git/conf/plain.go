package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/git/setting"
)

// maxList bounds a hook, a list or a pointer that is judged, in bytes.
const maxList = 64 << 10

// Plain judges by its content what a command that nobody watched left at a
// steering path: "" when git makes of it no more than it would without, as of
// what git init, clone, submodule and worktree write; else why it matters.
// known are the git folders whose own content is judged as well: what points
// into one of them is as harmless as it is.
func Plain(s Steer, known []string) string {
	info, err := os.Lstat(s.Path)
	switch {
	case os.IsNotExist(err):
		return ""
	case err != nil:
		return "it cannot be looked at: " + err.Error()
	case info.Mode()&os.ModeSymlink != 0:
		if s.Kind == Strange && isTrial(s.Path) {
			return ""
		}
		return "it is a link, and git follows it"
	}
	switch s.Kind {
	case Hook:
		return plainHook(info)
	case Strange:
		return plainStrange(info)
	case Config, CommonDir, WorkTree, Attributes, Remote, Todo, Pointer, Modules, State: // by what it says
	}
	b, err := readPlain(s.Path, info)
	if err != nil {
		return "it cannot be judged: " + err.Error()
	}
	switch s.Kind {
	case Config:
		return plainConfig(s.Path, b, known)
	case CommonDir:
		return plainCommon(s.Path, b, known)
	case WorkTree:
		return plainTree(s.Path, b)
	case Attributes:
		return plainLines(b, "#", "it says which files git sends through programs")
	case Remote:
		return plainLines(b, "\x00", "it says where git fetches from and pushes to")
	case Todo:
		return plainTodo(b)
	case Pointer:
		return plainPointer(s.Path, known)
	case Modules:
		return plainModules(b)
	case State:
		if runs := stateRuns(s.Path, b); len(runs) > 0 {
			return "git goes on with what it says: " + runs[0]
		}
	case Hook, Strange: // above
	}
	return ""
}

func readPlain(path string, info os.FileInfo) ([]byte, error) {
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a plain file", path)
	}
	if info.Size() > maxList && filepath.Base(path) != "todo" && filepath.Base(path) != "git-rebase-todo" {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxList)
	}
	return readSmall(path)
}

func plainHook(info os.FileInfo) string {
	if info.Mode().IsRegular() && info.Size() == 0 {
		return ""
	}
	return "git runs it as a hook"
}

func plainLines(b []byte, comment, why string) string {
	for _, l := range strings.Split(string(b), "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, comment) {
			return why
		}
	}
	return ""
}

// plainTodo looks for the lines of a rebase that run a program.
func plainTodo(b []byte) string {
	if runs := todoRuns(b); len(runs) > 0 {
		return "git rebase --continue runs " + runs[0]
	}
	return ""
}

func todoRuns(b []byte) []string {
	var out []string
	for _, l := range strings.Split(string(b), "\n") {
		if f := strings.Fields(l); len(f) > 0 && (f[0] == "exec" || f[0] == "x") {
			out = append(out, strings.Join(f[1:], " "))
		}
	}
	return out
}

// Runs is what a Todo, a State or the settings at a path make git do that it
// would not by itself, one by one.
func Runs(s Steer, known []string) []string {
	b, err := readSmall(s.Path)
	if err != nil {
		return nil
	}
	return runsOf(s, b, known)
}

// runsOf is Runs of what a file said when it was read.
func runsOf(s Steer, b []byte, known []string) []string {
	switch s.Kind {
	case Todo:
		return todoRuns(b)
	case State:
		return stateRuns(s.Path, b)
	case Config:
		return configRuns(s.Path, b, known)
	case Hook, CommonDir, WorkTree, Attributes, Remote, Pointer, Modules, Strange: // as a whole
	}
	return nil
}

func plainCommon(path string, b []byte, known []string) string {
	to := strings.TrimRight(string(b), "\r\n")
	if to == "." || to == "" { // git ends at an empty one, which it has just begun to write
		return ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	if to = filepath.Clean(to); slices.Contains(known, to) && filepath.Dir(filepath.Dir(path)) == filepath.Join(to, "worktrees") {
		return ""
	}
	return "git takes settings and hooks from where it says"
}

// plainTree wants the .git file that the path names to name the git folder.
func plainTree(path string, b []byte) string {
	dot := strings.TrimRight(string(b), "\r\n")
	if dot == "" {
		return "" // git has just begun to write it
	}
	if !filepath.IsAbs(dot) {
		dot = filepath.Join(filepath.Dir(path), dot)
	}
	if !exists(dot) || begun(dot) {
		return "" // a worktree that is gone, or comes into being
	}
	if git, err := GitDir(dot); filepath.Base(dot) == ".git" && err == nil && sameFile(git, filepath.Dir(path)) {
		return ""
	}
	return "it says where the worktree is, and that does not say the same"
}

// begun reports whether git has just begun to write a file: it ends at an empty one.
func begun(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

func plainPointer(dot string, known []string) string {
	if begun(dot) {
		return ""
	}
	git, err := GitDir(dot)
	if err != nil {
		return "git looks for a repository there: " + err.Error()
	}
	for _, k := range known {
		rel, err := filepath.Rel(k, git)
		if err != nil {
			continue
		}
		if rel = filepath.ToSlash(rel); strings.HasPrefix(rel, "worktrees/") || strings.HasPrefix(rel, "modules/") {
			return ""
		}
	}
	return "git takes settings and hooks from " + git
}

func plainModules(b []byte) string {
	why := ""
	err := parse(b, func(section, _, key, value string) {
		ok := section == "submodule" && (key == "path" || key == "branch" || key == "shallow" || key == "ignore" || key == "fetchrecursesubmodules" || setting.Of(section, key, value) == setting.Plain)
		if !ok && why == "" {
			why = "it sets " + section + "." + key
		}
	})
	if err != nil {
		return err.Error()
	}
	return why
}

// plainConfig lets only settings pass that it knows to steer nothing but git
// itself.
func plainConfig(path string, b []byte, known []string) string {
	if runs := configRuns(path, b, known); len(runs) > 0 {
		return runs[0]
	}
	return ""
}

func configRuns(path string, b []byte, known []string) []string {
	var out []string
	err := parse(b, func(section, sub, key, value string) {
		if setting.Of(section, key, value) == setting.Plain || section == "core" && key == "worktree" && plainWorktree(path, value, known) {
			return
		}
		name := section
		if sub != "" {
			name += "." + sub
		}
		out = append(out, "it sets "+name+"."+key+" = "+value)
	})
	if err != nil {
		return append(out, "git's settings cannot be read: "+err.Error())
	}
	return out
}

// plainWorktree is core.worktree as git submodule sets it: a folder whose .git
// file names this git folder, which belongs to a known one.
func plainWorktree(config, value string, known []string) bool {
	git := filepath.Dir(config)
	if !filepath.IsAbs(value) {
		value = filepath.Join(git, value)
	}
	if !slices.ContainsFunc(known, func(k string) bool {
		return strings.HasPrefix(git, filepath.Join(k, "modules")+string(filepath.Separator))
	}) {
		return false
	}
	dot := filepath.Join(value, ".git")
	if !exists(dot) {
		return !exists(value) || emptyDir(value)
	}
	to, err := GitDir(dot)
	return err == nil && sameFile(to, git)
}

func emptyDir(dir string) bool {
	list, err := os.ReadDir(dir)
	return err == nil && len(list) == 0
}
