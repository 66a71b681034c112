package programs

import (
	"strings"

	"github.com/adze-agent/adze/internal/shellread/scan"
)

// flag is what a row says of a flag; ok is false when it says nothing. A flag that stands
// there twice is what the last says.
func (c *command) flag(name string) (kind flagKind, ok bool) {
	for tok := range strings.FieldsSeq(c.flags) {
		of, names := flagKind{}, tok
		if n, cut := strings.CutSuffix(tok, "?"); cut {
			names, of = n, flagKind{value: 'x', optional: true}
		} else if i := strings.LastIndexByte(tok, '='); i > 0 {
			names, of = tok[:i], flagKind{value: tok[i+1]}
		}
		if strings.HasPrefix(names, "--") || c.dash {
			if names == name {
				kind, ok = of, true
			}
			continue
		}
		if len(name) != 2 || name == "-?" || name == "--" {
			continue
		}
		switch i := strings.LastIndexByte(names, name[1]); {
		case i < 1:
		case i == len(names)-1:
			kind, ok = of, true
		case names[i+1] == '?':
			kind, ok = flagKind{value: 'x', optional: true}, true
		default:
			kind, ok = flagKind{}, true
		}
	}
	return kind, ok
}

// parse splits words into flags and operands as the program would.
func (u *Invocation) parse(row *command, ws []Word) string {
	if row.verbatim {
		u.args = ws
		return ""
	}
	for i := 0; i < len(ws); i++ {
		w := ws[i]
		if w.Kind != Exact {
			if why := u.parseInexact(row, w); why != "" {
				return why
			}
			continue
		}
		t := w.Text
		if row.early && len(u.args) > 0 && len(t) > 1 && t[0] == '-' && !(t == "--" && strings.HasSuffix(row.args, "p*")) {
			return t + " behind an operand is a name for " + u.name
		}
		switch {
		case t == "--":
			u.split, u.behind = true, len(ws[i+1:])
			u.args = append(u.args, ws[i+1:]...)
			return ""
		case len(t) < 2 || t[0] != '-':
			u.args = append(u.args, w)
		case row.digits && scan.Number(t[1:]) && t[1] != '-':
			u.flags = append(u.flags, given{name: "-#", val: w})
		case strings.HasPrefix(t, "--") || row.dash:
			n, why := u.long(row, ws[i:])
			if why != "" {
				return why
			}
			i += n
		default:
			n, why := u.short(row, ws[i:])
			if why != "" {
				return why
			}
			i += n
		}
	}
	return ""
}

// parseInexact takes a word that is not known as a whole: --flag=… with a value of
// which only that it is data counts, or an operand.
func (u *Invocation) parseInexact(row *command, w Word) string {
	if name, _, attached := strings.Cut(w.Head, "="); w.Kind == Unknown && !w.Many && attached && strings.HasPrefix(name, "--") {
		kind, ok := row.flag(name)
		if !ok || kind.value != 'x' {
			return name + " is not a flag of " + u.name + " that is known to be harmless with any value"
		}
		u.flags = append(u.flags, given{name: name, val: w, has: true})
		return ""
	}
	if w.FlagLike() && (!row.safe || w.Kind != Pattern && row.reads()) {
		return w.Source + " may turn out to be a flag"
	}
	if w.Kind == Pattern {
		if why := u.matchesFlag(w); why != "" {
			return why
		}
	}
	u.args = append(u.args, w)
	return ""
}

// matchesFlag says why a pattern may be, or is now, the name of something that
// a program does not take for a file.
func (u *Invocation) matchesFlag(w Word) string {
	if strings.HasPrefix(w.Head, "-") {
		return w.Source + " may turn out to be a flag"
	}
	if w.Head != "" {
		return ""
	}
	names, ok := u.r.MatchNames(w.Text, u.dirs)
	if !ok {
		return "what " + w.Source + " matches is not known"
	}
	for _, n := range names {
		if strings.IndexByte("-+@", n[0]) >= 0 {
			return w.Source + " matches " + n + ", which may be taken for a flag"
		}
	}
	return ""
}

// long reads --name, --name=value, --name value; n is how many words more it took.
func (u *Invocation) long(row *command, ws []Word) (n int, why string) {
	name, val, attached := strings.Cut(ws[0].Text, "=")
	if row.dash && strings.HasPrefix(name, "--") {
		name = name[1:]
	}
	kind, ok := row.flag(name)
	if !ok {
		return 0, name + " is not a flag of " + u.name + " that is known to be harmless"
	}
	f := given{name: name}
	switch {
	case attached && kind.value == 0:
		if row.dash && (val == "true" || val == "false") {
			break
		}
		return 0, name + " takes no value"
	case attached:
		f.val, f.has = Word{Kind: Exact, Text: val, Source: ws[0].Source}, true
	case kind.value == 0 || kind.optional:
	case len(ws) < 2:
		return 0, name + " needs a value"
	case kind.value == '2' || kind.value == 'q':
		if len(ws) < 3 {
			return 0, name + " needs two values"
		}
		if ws[1].Many || ws[2].Many || ws[1].Gone || ws[2].Gone {
			return 0, name + " with values that are not known"
		}
		f.val, f.has, n = ws[2], true, 2
		if kind.value == 'q' {
			kind.value = 'p'
		}
	default:
		if why := u.shifted(ws); why != "" {
			return 0, why
		}
		f.val, f.has, n = ws[1], true, 1
	}
	return n, u.take(f, kind)
}

// shifted says why the value behind a flag may be another word than it seems: a number
// that is not there leaves the place to the word behind it.
func (u *Invocation) shifted(ws []Word) string {
	if len(ws) > 2 && ws[1].Gone && (ws[2].Kind != Exact || ws[2].FlagLike()) {
		return ws[1].Source + " may be nothing, and " + ws[2].Source + " a value then"
	}
	return ""
}

// short reads a cluster: -la, -n5, -n 5.
func (u *Invocation) short(row *command, ws []Word) (n int, why string) {
	t := ws[0].Text
	for i := 1; i < len(t); i++ {
		name := "-" + t[i:i+1]
		kind, ok := row.flag(name)
		if !ok {
			return 0, name + " is not a flag of " + u.name + " that is known to be harmless"
		}
		f := given{name: name}
		if kind.value == 0 {
			if why := u.take(f, kind); why != "" {
				return 0, why
			}
			continue
		}
		rest := t[i+1:]
		switch {
		case rest != "":
			f.val, f.has = Word{Kind: Exact, Text: rest, Source: ws[0].Source}, true
		case kind.optional:
		case len(ws) < 2:
			return 0, name + " needs a value"
		default:
			if why := u.shifted(ws); why != "" {
				return 0, why
			}
			f.val, f.has, n = ws[1], true, 1
		}
		return n, u.take(f, kind)
	}
	return 0, ""
}

// take notes a flag and the file it names.
func (u *Invocation) take(f given, kind flagKind) string {
	u.flags = append(u.flags, f)
	if !f.has {
		return ""
	}
	if f.val.Many {
		return f.val.Source + " may become several words"
	}
	if f.val.Found != nil {
		return f.val.Source + " is the name of a file, and " + f.name + " takes it for something else"
	}
	switch kind.value {
	case 'p':
		return u.touch('p', f.val)
	case 'd':
		return u.touch('l', f.val)
	}
	return ""
}

// oldStyle turns tar's first word, which holds flags also without a dash, into
// one with it. Only f may take a value, and must stand last.
func oldStyle(name string, ws []Word) []Word {
	if name != "tar" || len(ws) == 0 || ws[0].Kind != Exact || strings.HasPrefix(ws[0].Text, "-") {
		return ws
	}
	if i := strings.IndexByte(ws[0].Text, 'f'); i >= 0 && i != len(ws[0].Text)-1 {
		return append([]Word{Lit("--unknown-order")}, ws...) // f's value is not the next word
	}
	first := ws[0]
	first.Text = "-" + first.Text
	return append([]Word{first}, ws[1:]...)
}
