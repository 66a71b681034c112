package conf

import (
	"strings"
	"testing"
)

// TestStrayed: what a command may leave of the settings that it was given to write.
func TestStrayed(t *testing.T) {
	const was = "[core]\n\tbare = false\n\thooksPath = .husky\n[user]\n\temail = a@b\n[remote \"origin\"]\n\turl = https://h/x\n\tpushurl = no\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[submodule \"s\"]\n\turl = https://h/s\n[branch \"m\"]\n\tremote = origin\n\tmerge = refs/heads/m\n"
	for _, c := range []struct {
		name, now string // added to was, or in its place where it begins with "="
		sets      string
		want      string
	}{
		{"nothing", "", "", ""},
		{"push -u", "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n\trebase = true\n", "", ""},
		{"a branch of this repository", "[branch \"x\"]\n\tremote = .\n", "", ""},
		{"a submodule", "[submodule \"new\"]\n\turl = https://h/y\n\tactive = true\n", "", ""},
		{"sparse checkout", "[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n[extensions]\n\tworktreeConfig = true\n", "", ""},
		{"a remote that the command names", "[remote \"o\"]\n\turl = https://h/o\n\tfetch = +refs/heads/*:refs/remotes/o/*\n[branch \"x\"]\n\tremote = o\n", "remote.o.url=https://h/o", ""},
		{"a remote under another name", "[remote \"o\"]\n\turl = https://h/x\n\tfetch = +refs/heads/*:refs/remotes/o/*\n[branch \"x\"]\n\tremote = o\n", "", ""},
		{"a setting that the command names", "[core]\n\tEditor = vim\n", "core.editor=vim", ""},
		{"one that it removes", "=[core]\n\tbare = false\n[user]\n\temail = a@b\n", "core.hookspath", ""},
		{"one that it changes", "=" + strings.Replace(was, ".husky", "hooks", 1), "core.hookspath=hooks", ""},
		{"remotes and branches that go", "=[core]\n\tbare = false\n\thooksPath = .husky\n[user]\n\temail = a@b\n", "", ""},

		{"a branch that follows another one there", "=" + was + "[branch \"m\"]\n\tremote = origin\n\tmerge = refs/heads/y\n", "", ""},

		{"a branch that followed another remote", "=" + strings.Replace(was, "[branch \"m\"]\n\tremote = origin", "[branch \"m\"]\n\tremote = o", 1) + "[remote \"o\"]\n\turl = https://h/o\n", "remote.o.url=https://h/o", "it sets branch.m.remote = o"},
		{"a mirror", "[remote \"o\"]\n\turl = https://h/o\n\tfetch = +refs/*:refs/*\n", "remote.o.url=https://h/o", "it sets remote.o.fetch = +refs/*:refs/*"},
		{"what overwrites branches", "[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/heads/*\n", "", "it sets remote.origin.fetch = "},
		{"where a remote was not to be pushed", "=" + strings.Replace(was, "\tpushurl = no\n", "", 1), "", "it no longer sets remote.origin.pushurl = no"},
		{"a program", "[core]\n\tfsmonitor = x\n", "", "it sets core.fsmonitor = x"},
		{"a program beside what the command names", "[core]\n\tfsmonitor = x\n\teditor = vim\n", "core.editor=vim", "it sets core.fsmonitor = x"},
		{"another value than the command names", "[core]\n\teditor = evil\n", "core.editor=vim", "it sets core.editor = evil"},
		{"a hook of settings", "[hook \"x\"]\n\tcommand = x\n", "", "it sets hook.x.command = x"},
		{"where an old remote leads", "=" + strings.Replace(was, "https://h/x", "https://evil/x", 1), "", "it sets remote.origin.url = https://evil/x"},
		{"a further address of it", "[remote \"origin\"]\n\tpushurl = https://evil/x\n", "", "it sets remote.origin.pushurl = https://evil/x"},
		{"a remote that nobody named", "[remote \"o\"]\n\turl = https://evil/x\n", "", "it sets remote.o.url = https://evil/x"},
		{"a branch that follows it", "[remote \"o\"]\n\turl = https://evil/x\n[branch \"x\"]\n\tremote = o\n", "", "it sets remote.o.url = https://evil/x; it sets branch.x.remote = o"},
		{"a branch that follows an address", "[branch \"x\"]\n\tremote = https://evil/x\n", "", "it sets branch.x.remote = https://evil/x"},
		{"where a branch is pushed", "[branch \"x\"]\n\tpushRemote = origin\n", "", "it sets branch.x.pushremote = origin"},
		{"addresses that stand for others", "[url \"https://evil/\"]\n\tinsteadOf = https://h/\n", "", "it sets url.https://evil/.insteadof = https://h/"},
		{"a helper that an address names", "[remote \"o\"]\n\turl = ext::x\n", "remote.o.url=ext::x", "it sets remote.o.url = ext::x"},
		{"another address of a submodule", "[submodule \"s\"]\n\turl = https://evil/s\n", "", "it sets submodule.s.url = https://evil/s"},
		{"who the author is", "[user]\n\temail = c@d\n", "", "it sets user.email = c@d"},
		{"a guard that is gone", "=[core]\n\tbare = false\n[user]\n\temail = a@b\n", "", "it no longer sets core.hookspath = .husky"},
		{"what git does not read", "[core\n", "", "git's settings cannot be read"},
	} {
		now, whole := strings.CutPrefix(c.now, "=")
		if !whole {
			now = was + c.now
		}
		var sets []string
		if c.sets != "" {
			sets = strings.Split(c.sets, "\n")
		}
		got := strings.Join(Strayed([]byte(was), []byte(now), sets), "; ")
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
