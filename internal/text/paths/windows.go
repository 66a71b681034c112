package paths

import "strings"

// Drive reports whether a path begins with a drive of Windows, and nothing else or a
// slash is behind it: "C:", "c:/x", `C:\x`.
func Drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && letter(p[0]) && (len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// ShortName reports whether a name looks like those that Windows gives to files with
// longer ones, for old programs: PROGRA~1, CONF~D2T.TXT.
func ShortName(name string) bool {
	name, ending, _ := strings.Cut(name, ".")
	begins, number, short := strings.Cut(name, "~")
	if !short || begins == "" || len(begins) > 7 || len(ending) > 3 || strings.Contains(ending, ".") || number == "" || len(number) > 6 {
		return false
	}
	digits := strings.Trim(number, "0123456789") == ""
	return digits || len(number) == 3 && strings.Trim(strings.ToLower(number), "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
