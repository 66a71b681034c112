package proc

import "testing"

// What cmd.exe would read as more than text is given to no batch file, however that is
// named.
func TestBatch(t *testing.T) {
	exists := func(p string) bool { return p == `C:\node\npm.cmd` || p == `C:\t\x.bat` }
	for _, c := range []struct {
		path, arg string
		bad       bool
	}{
		{`C:\t\short.cmd`, `a" & echo INJ & "`, true}, {`C:\t\s.BAT`, `%PATH%`, true}, {`C:\t\s.cmd`, `^1.0`, true}, {`C:\t\s.cmd`, `>=1`, true}, {`C:\t\s.cmd`, "a\nb", true}, {`C:\t\s.cmd`, `a!b!`, true},
		{`C:\t\s.cmd.`, `a&b`, true}, {`C:\t\s.cmd `, `a&b`, true}, {`C:\node\npm`, `--registry=https://r/?x&rec&`, true}, {`C:\t\x`, `a|b`, true}, {`C:\R&D\x.cmd`, `a`, true},
		{`C:\t\s.cmd`, `C:\Program Files (x86)\a b`, false}, {`C:\t\s.cmd`, `--x=1,2;3`, false}, {`C:\node\node.exe`, `a&b`, false}, {`C:\t\other`, `a&b`, false}, {`C:\t\x.com`, `%A%`, false},
	} {
		if err := batch(c.path, []string{"first", c.arg}, exists); (err != nil) != c.bad {
			t.Errorf("%s %q: %v", c.path, c.arg, err)
		}
	}
}
