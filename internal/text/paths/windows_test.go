package paths_test

import (
	"testing"

	"github.com/adze-agent/adze/internal/text/paths"
)

func TestShortNames(t *testing.T) {
	for name, want := range map[string]bool{
		"PROGRA~1": true, "CONFID~1.TXT": true, "CONF~D2T.TXT": true, "git~1": true, "VSCODE~1": true, "_VSC~DOR": true, "A~12345": true, "MICROS~1.A": true,
		"file~": false, "~1": false, "a~b.txt": false, "long-name-of~1": false, "x~1.html5": false, "x": false, "backup~2024.tar.gz": false,
	} {
		if paths.ShortName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestDrive(t *testing.T) {
	for p, want := range map[string]bool{"C:": true, "c:/x": true, `C:\x`: true, "C:x": false, "/c:": false, "": false, "C": false, "1:/": false, "CC:/": false} {
		if paths.Drive(p) != want {
			t.Errorf("%q: %v", p, !want)
		}
	}
}
