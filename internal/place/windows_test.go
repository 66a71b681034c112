package place

import (
	"strings"
	"testing"
)

// On Windows one file has many names; what is not the one that was judged is refused.
func TestNamesOfWindows(t *testing.T) {
	for p, want := range map[string]string{
		`C:\w\secret.txt.`: "dots and blanks", `C:\w\secret.txt `: "dots and blanks", `C:/w/id_rsa. .`: "dots and blanks", `C:\w\dir.\x`: "dots and blanks", `C:\w\...\x`: "dots and blanks",
		`C:\w\.. \x`: "dots and blanks", `sub \x`: "dots and blanks", `C:\w\.git.`: "dots and blanks",
		`C:\w\a.txt::$DATA`: "streams", `a:b`: "streams", `C:\w\x:y`: "streams", `CC:\x`: "streams",
		`\\server\share`: "network share", `//server/share`: "network share", `\\?\C:\x`: "network share", `\\.\pipe\x`: "network share", `\??\C:\x`: "network share",
		`C:\w\NUL`: "device", `C:\w\nul.txt`: "device", `C:\w\NUL .txt`: "device", `C:\w\com1`: "device", `C:\w\COM¹.log`: "device", `C:\w\lpt³`: "device", `C:\w\aux.h`: "device", `C:\w\conout$`: "device",
		`C:\w\secret.txt`: "", `C:/w/../x`: "", `C:\w\.\x`: "", `c:`: "", `a.b.c`: "", `C:\w\COMA`: "", `C:\w\com10`: "", `C:\w\null`: "", `C:\w\a b\c`: "", `C:\w\.git\config`: "",
	} {
		err := refuseWindows(p)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", p, err, want)
		}
	}
}

// Git's bash has drives and folders of its own, which are not folders of the project.
func TestPathsOfGitsBash(t *testing.T) {
	real, glob := ofGitsBash(func(p string) (string, error) { return "real " + p, nil }, func(p string) []string { return []string{p} })
	for p, want := range map[string]string{
		"/c/Windows/x": "real C:/Windows/x", "/d": "real D:/", "/C/": "real C:/", "/cygdrive/c/x": "real C:/x", "C:/w/x": "real C:/w/x", "/dev/null": "/dev/null", "//server/x": "real //server/x",
		"/tmp/x": "", "/etc/profile.d/x.sh": "", "/usr/bin": "", "/home/u": "", "/": "", "/proc/registry/x": "", "/cygdrive": "", "/cc/x": "", "/dev/nul": "",
	} {
		got, err := real(p)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", p, got, err, want)
		}
		if list := glob(p); (list == nil) != (want == "") {
			t.Errorf("a pattern below %q: %q", p, list)
		}
	}
}
