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
func pieces(judged []Judged) []Piece {
	all := make([]Piece, 0, min(len(judged), maxPieces))
	seen := map[Piece]bool{}
	open := 0
	for _, j := range judged {
		p, ok := piece(j.Action)
		if !ok || j.Check == CheckMaybe {
			continue
		}
		if p.Kind.OfFile() && j.Of != nil {
			p.Of = QuoteCommand(j.Of.Argv)
		}
		if j.Named() {
			if p.Kind = PieceName; j.Effect == Allow {
				continue
			}
		}
		p.Effect, p.Reason = j.Effect, j.Reason
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

// Named reports a word of a command of which it is not known whether it is a file, and what
// becomes of that.
func (j Judged) Named() bool {
	_, reads := j.Action.(Read)
	return reads && j.Of != nil && !j.Of.ReadOnly && !j.Of.Edits
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
