package policy

// A PieceKind says what a Piece is of.
type PieceKind string

// The kinds.
const (
	PieceCommand PieceKind = "command"
	PieceUnclear PieceKind = "unclear" // a part of a script that cannot be read
	PieceRead    PieceKind = "read"
	PieceWrite   PieceKind = "write"
	PieceRemove  PieceKind = "remove"
	// PieceName is a word of a command that may be a file.
	PieceName    PieceKind = "name"
	PieceConnect PieceKind = "connect"
	PieceTool    PieceKind = "tool"
	PieceAgent   PieceKind = "agent"
	PieceSkill   PieceKind = "skill"
)

// OfFile reports whether Text and Path are of a file.
func (k PieceKind) OfFile() bool {
	return k == PieceRead || k == PieceName || k == PieceWrite || k == PieceRemove
}

// maxPieces bounds the parts of a verdict.
const maxPieces = 100

// pieces lists what a call would do. What stands there twice is listed once.
func pieces(as []Action, vs []Verdict) []Piece {
	all := make([]Piece, 0, min(len(as), maxPieces))
	seen := map[Piece]bool{}
	open := 0
	var of Exec // the command whose arguments follow
	for i, a := range as {
		p, ok := piece(a)
		if !ok || vs[i].Check == CheckMaybe {
			continue
		}
		switch a := a.(type) {
		case Exec:
			of = a
		case Read:
			if a.Arg {
				p.Of = QuoteCommand(of.Argv)
			}
			if a.Arg && !of.ReadOnly && !of.Edits { // whether the word is a file, and what becomes of it, is not known
				if p.Kind = PieceName; vs[i].Effect == Allow {
					continue
				}
			}
		case Write:
			if a.Arg {
				p.Of = QuoteCommand(of.Argv)
			}
		case Opaque, Net, Call, Spawn, Skill, Person, None:
		}
		p.Effect, p.Reason = vs[i].Effect, vs[i].Reason
		if seen[p] {
			continue
		}
		seen[p] = true
		if p.Effect != Allow {
			open++
		}
		all = append(all, p)
	}
	return thin(all, open)
}

// thin keeps what needs somebody and, as far as there is room, the first of the
// rest.
func thin(all []Piece, open int) []Piece {
	if len(all) <= maxPieces {
		return all
	}
	room := max(0, maxPieces-open) // for what needs nobody
	out := make([]Piece, 0, maxPieces)
	for _, p := range all {
		if p.Effect == Allow {
			if room == 0 {
				continue
			}
			room--
		}
		if len(out) == maxPieces {
			break
		}
		out = append(out, p)
	}
	return out
}

// piece describes an action; ok is false for what is nothing to list.
func piece(a Action) (p Piece, ok bool) {
	switch a := a.(type) {
	case Exec:
		return Piece{Kind: PieceCommand, Text: QuoteCommand(a.Argv), Path: a.Dir}, true
	case Opaque:
		return Piece{Kind: PieceUnclear, Text: a.Source}, true
	case Read:
		return Piece{Kind: PieceRead, Text: asked(a.Asked, a.Path), Path: a.Path}, true
	case Write:
		kind := PieceWrite
		if a.Remove {
			kind = PieceRemove
		}
		return Piece{Kind: kind, Text: asked(a.Asked, a.Path), Path: a.Path}, true
	case Net:
		return Piece{Kind: PieceConnect, Text: part(a)}, true
	case Call:
		return Piece{Kind: PieceTool, Text: part(a)}, true
	case Spawn:
		return Piece{Kind: PieceAgent, Text: a.Agent}, true
	case Skill:
		return Piece{Kind: PieceSkill, Text: a.Name}, true
	case Person, None:
	}
	return Piece{}, false
}

func asked(asked, resolved string) string {
	if asked == "" {
		return resolved
	}
	return asked
}
