package wire

import "strings"

// maxCallName is how many characters every provider takes of a tool's name.
const maxCallName = 64

// CallName is the name of a call as every provider takes it back: 1 to 64 letters,
// digits, "_" and "-". A model may have made up another one, and a request with that
// would be refused for as long as the call is part of it.
func CallName(name string) string {
	if name != "" && len(name) <= maxCallName && strings.IndexFunc(name, strange) < 0 {
		return name
	}
	if name == "" {
		return "unnamed"
	}
	name = strings.Map(func(r rune) rune {
		if strange(r) {
			return '_'
		}
		return r
	}, name)
	return name[:min(len(name), maxCallName)]
}

func strange(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}
