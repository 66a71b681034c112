package mention

import "strings"

// Address is the name with which a prompt begins ("@finder look in b, too", @"a name" …), and
// what is said behind it, with the place where that begins in the text. ok is false where it
// begins with none.
func Address(text string) (name, rest string, at int, ok bool) {
	start := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	if !strings.HasPrefix(text[start:], "@") {
		return "", "", 0, false
	}
	m, ok := mention(text, start)
	if !ok {
		return "", "", 0, false
	}
	name = strings.Trim(strings.TrimPrefix(text[m.Start:m.End], "@"), `"`)
	rest = strings.TrimLeft(text[m.End:], ",: \t\r\n")
	return name, strings.TrimRight(rest, " \t\r\n"), len(text) - len(rest), true
}
