package policy

// Touching is a command with what it touches.
func Touching(e Exec, touches ...Action) Exec {
	e.Touches = touches
	return e
}

// Nested are actions in which each read and write belongs to the command before it.
func Nested(as ...Action) (out []Action) {
	at := -1
	for _, a := range as {
		switch a.(type) {
		case Read, Write:
			if at >= 0 {
				e := out[at].(Exec)
				e.Touches = append(e.Touches[:len(e.Touches):len(e.Touches)], a)
				out[at] = e
				continue
			}
		case Exec:
			at = len(out)
		case Opaque, Net, Call, Spawn, Workflow, Skill, Person, None:
			at = -1
		}
		out = append(out, a)
	}
	return out
}
