package policy

import "strings"

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
	PieceName     PieceKind = "name"
	PieceConnect  PieceKind = "connect"
	PieceTool     PieceKind = "tool"
	PieceAgent    PieceKind = "agent"
	PieceSkill    PieceKind = "skill"
	PieceWorkflow PieceKind = "workflow"
	PieceTell     PieceKind = "tell"
)

// OfFile reports whether Text and Path are of a file.
func (k PieceKind) OfFile() bool {
	return k == PieceRead || k == PieceName || k == PieceWrite || k == PieceRemove
}

// maxPieces bounds the parts of a verdict.
const maxPieces = 100

// Account lists what a call would do, with what was decided about each part of it, in the
// order of judged. What stands there twice is listed once. Left out is what a command only
// may mean, and a word that may be a file where nothing speaks against it.
func Account(judged []Judged) []Piece {
	all := make([]Piece, 0, len(judged))
	seen := map[Piece]bool{}
	for _, j := range judged {
		p, ok := piece(j.Action)
		if !ok || j.Check == CheckMaybe {
			continue
		}
		if p.Kind.OfFile() && j.Of != nil {
			p.Of = asWritten(*j.Of)
			if p.Kind == PieceRead && !j.Of.ReadOnly && !j.Of.Edits { // nobody knows whether it is a file
				if p.Kind = PieceName; j.Effect == Allow {
					continue
				}
			}
		}
		p.Effect, p.Reason, p.Rule, p.Source, p.Check = j.Effect, j.Reason, j.Rule, j.Source, j.Check
		if !seen[p] {
			seen[p] = true
			all = append(all, p)
		}
	}
	return all
}

// thin keeps what needs somebody and, as far as there is room, the first of the
// rest.
func thin(all []Piece) []Piece {
	if len(all) <= maxPieces {
		return all
	}
	room := maxPieces // for what needs nobody
	for _, p := range all {
		if p.Effect != Allow {
			room = max(0, room-1)
		}
	}
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
		return Piece{Kind: PieceCommand, Text: asWritten(a), Path: a.Dir}, true
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
	case Tell:
		return Piece{Kind: PieceTell, Text: a.To}, true
	case Workflow:
		return Piece{Kind: PieceWorkflow, Text: a.Name}, true
	case Skill:
		return Piece{Kind: PieceSkill, Text: a.Name}, true
	case Person, None:
	}
	return Piece{}, false
}

// asWritten is a command as it was written: a word that only a run knows stays what it is in
// the source.
func asWritten(a Exec) string {
	out := make([]string, len(a.Argv))
	for i, w := range a.Argv {
		if out[i] = w; !a.Loose || !strings.ContainsAny(w, "$`") {
			out[i] = quoteWord(w)
		}
	}
	return strings.Join(out, " ")
}

func asked(asked, resolved string) string {
	if asked == "" {
		return resolved
	}
	return asked
}
