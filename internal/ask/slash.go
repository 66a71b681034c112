package ask

import "strings"

// Slash is what a slash command asks that is answered in text, with what stands behind it.
func Slash(name, args string) Query {
	args = strings.TrimSpace(args)
	switch name {
	case "mcp":
		do, server, _ := strings.Cut(args, " ")
		if server = strings.TrimSpace(server); server == "" {
			return Servers{Name: do}
		}
		return Servers{Name: server, Do: ServerDo(do)}
	case "skills", "agents":
		return Offers{Of: OfferKind(name)}
	case "output-style":
		return Style{Name: args}
	case "add-dir":
		dir, keep := strings.CutPrefix(args, "--keep ")
		return Folders{Add: strings.TrimSpace(dir), Keep: keep}
	}
	return Report{Name: name, Args: args}
}
