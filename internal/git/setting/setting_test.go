package setting

import "testing"

// TestOf: what is in no list, or has a value that names a program, is beyond; so is what
// a later version of git brings.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        Kind
	}{
		{"core.fileMode", "false", Plain}, {"Core.FSMonitor", "x", Pinned}, {"core.sshCommand", "x", Beyond}, {"core.virtualFilesystem", "x", Beyond}, {"core.worktree", "..", Beyond},
		{"hook.x.command", "x", Beyond}, {"hook.x.event", "pre-commit", Beyond}, {"tar.x.command", "x", Beyond}, {"gc.recentObjectsHook", "x", Beyond}, {"zz.fsmonitor", "x", Beyond}, {"alias.st", "status", Beyond},
		{"sendemail.toCmd", "x", Pinned}, {"imap.tunnel", "x", Pinned}, {"instaweb.httpd", "x", Pinned}, {"guitool.x.cmd", "x", Pinned}, {"lfs.customtransfer.x.path", "x", Beyond}, {"lfs.extension.x.clean", "x", Beyond},
		{"remote.o.url", "https://x/y", Plain}, {"remote.o.url", "ext::sh -c x", Pinned}, {"remote.o.vcs", "x", Beyond}, {"remote.o.uploadpack", "x", Beyond}, {"submodule.a.update", "!x", Pinned}, {"submodule.a.update", "merge", Plain},
		{"commit.gpgSign", "true", Reading}, {"commit.gpgsign", "false", Plain}, {"user.signingKey", "x", Reading}, {"branch.a.vscode-merge-base", "origin/main", Reading}, {"branch.sort", "-Signature", Beyond},
		{"pretty.x", "%G?", Beyond}, {"pretty.x", "%h", Plain}, {"color.ui", "always", Plain}, {"color.pager", "x", Reading}, {"core", "", Beyond}, {"", "", Beyond},
	} {
		if got := Named(c.name, c.value); got != c.want {
			t.Errorf("%s = %s: %d, want %d", c.name, c.value, got, c.want)
		}
	}
}
