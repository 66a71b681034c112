package shellread

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/shellread/programs"
)

// subst reads a command substitution and, where it only prints a literal,
// what it gives.
func (r *reader) subst(p *syntax.CmdSubst, st state) value {
	if p.TempFile || p.ReplyVar {
		r.Opaque(r.source(p), "a substitution that is not known to every shell")
	}
	if p.Backquotes {
		if why := r.oddBackquotes(p); why != "" {
			r.Opaque(r.source(p), why)
		}
	}
	if v, ok := r.printed(p, st); ok {
		return v
	}
	piped := r.Piped
	r.Piped = false
	r.stmts(p.Stmts, st)
	r.Piped = piped
	if r.counts(p) {
		return value{kind: number, gone: true}
	}
	v := value{kind: unknown, commit: r.namesCommit(p, st), head: r.temporary(p)}
	v.or, v.ors = r.supposed(p, st)
	if len(p.Stmts) == 1 && !r.escaped(p) {
		if found := r.printsNames(p.Stmts[0], st); found != nil && !found.Zero && found.Sheer() {
			v.found, v.lines = found, true
		}
	}
	return v
}

// temporary is how the name begins that mktemp prints: it is one in a folder for
// temporary files unless a template says where.
func (r *reader) temporary(p *syntax.CmdSubst) string {
	if len(p.Stmts) != 1 || r.funcs["mktemp"] != nil {
		return ""
	}
	call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || call.Args[0].Lit() != "mktemp" || len(p.Stmts[0].Redirs) > 0 {
		return ""
	}
	for _, a := range call.Args[1:] {
		if l := a.Lit(); l != "-d" && l != "-u" && l != "-q" {
			return ""
		}
	}
	return "/"
}

// oddBackquotes names what the parser and shells read differently between
// backquotes, where backslashes are taken off before the text is parsed.
func (r *reader) oddBackquotes(p *syntax.CmdSubst) (why string) {
	from, to := int(p.Pos().Offset()), int(p.End().Offset())
	if from < 0 || to > len(r.Source) || from >= to || strings.Contains(r.Source[from:to], "\\\n") {
		return "a backslash before a line end within backquotes"
	}
	for inner, i := r.Source[from+1:max(from+1, to-1)], 0; i < len(inner); i++ {
		switch inner[i] {
		case '\\':
			i++
		case '`':
			return "a backquote within backquotes, which ends them for shells even in quotes"
		}
	}
	syntax.Walk(p, func(n syntax.Node) bool {
		if rd, ok := n.(*syntax.Redirect); ok && (rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc) {
			why = "a here-document within backquotes"
		}
		return why == ""
	})
	return why
}

// escaped reports backquotes with a backslash in them, which may be taken off before
// the text is read.
func (r *reader) escaped(p *syntax.CmdSubst) bool {
	return p.Backquotes && strings.Contains(r.text(p), `\`)
}

// printed knows $(cat <<'EOF' … EOF), which prints its here-document, $(pwd), and
// what echo and printf print of plain words.
func (r *reader) printed(p *syntax.CmdSubst, st state) (value, bool) {
	if len(p.Stmts) != 1 || r.escaped(p) {
		return value{}, false
	}
	s := p.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || s.Negated || s.Background || r.funcs[call.Args[0].Lit()] != nil {
		return value{}, false
	}
	name := call.Args[0].Lit()
	if (name == "echo" || name == "printf") && len(s.Redirs) == 0 {
		return r.echoed(call, st)
	}
	if name == "basename" && len(s.Redirs) == 0 && !r.Unpinned {
		return r.lastName(call, st)
	}
	if len(call.Args) != 1 {
		return value{}, false
	}
	if name == "pwd" && len(s.Redirs) == 0 && len(st.dirs) == 1 {
		r.simple([]word{lit("pwd")}, nil, st)
		return value{kind: exact, text: st.dirs[0]}, true
	}
	if name != "cat" || len(s.Redirs) != 1 || s.Redirs[0].N != nil {
		return value{}, false
	}
	rd := s.Redirs[0]
	if rd.Op != syntax.Hdoc && rd.Op != syntax.DashHdoc {
		return value{}, false
	}
	text := ""
	if rd.Hdoc != nil {
		if len(rd.Hdoc.Parts) != 1 {
			return value{}, false
		}
		l, ok := rd.Hdoc.Parts[0].(*syntax.Lit)
		if !ok {
			return value{}, false
		}
		text = l.Value
	}
	if !quotedDelimiter(rd.Word) && strings.ContainsAny(text, "\\$`") {
		return value{}, false
	}
	if rd.Op == syntax.DashHdoc {
		text = withoutTabs(text)
	}
	r.simple([]word{lit("cat")}, nil, st)
	return value{kind: exact, text: strings.TrimRight(text, "\n")}, true
}

// lastName is what basename prints of a path that is known, and of an ending.
func (r *reader) lastName(call *syntax.CallExpr, st state) (value, bool) {
	ws := []word{lit("basename")}
	for _, a := range call.Args[1:] {
		v := r.quietly(a, func() value { return r.value(a, st) })
		if v.kind != exact || v.text == "" || v.text[0] == '-' || strings.ContainsAny(v.text, "\\*?[ \t\n\x00") || hasBrace(a) {
			return value{}, false
		}
		ws = append(ws, lit(v.text))
	}
	if len(ws) < 2 || len(ws) > 3 {
		return value{}, false
	}
	name := path.Base(ws[1].Text)
	if len(ws) == 3 && name != ws[2].Text {
		name = strings.TrimSuffix(name, ws[2].Text)
	}
	r.simple(ws, nil, st)
	return value{kind: exact, text: name}, true
}

// echoed is what echo or printf prints, when its words are plain: shells differ in
// what a backslash means there, and so in what a flag does.
func (r *reader) echoed(call *syntax.CallExpr, st state) (value, bool) {
	ws := []word{lit(call.Args[0].Lit())}
	for _, a := range call.Args[1:] {
		v := r.quietly(a, func() value { return r.value(a, st) })
		if v.kind != exact || strings.ContainsAny(v.text, "\\%\x00") || hasBrace(a) || !quotedOr(a, func(l string) bool { return !strings.ContainsAny(l, "*?[~=") }) {
			return value{}, false
		}
		ws = append(ws, lit(v.text))
	}
	out := programs.Literals(ws[1:])
	switch {
	case len(out) == 0:
	case ws[0].Is("printf") && (len(out) != 1 || strings.HasPrefix(out[0], "-")):
		return value{}, false
	case ws[0].Is("echo") && strings.HasPrefix(out[0], "-") && strings.Trim(out[0][1:], "neE") == "":
		if out[0] != "-n" {
			return value{}, false
		}
		out = out[1:]
	}
	r.simple(ws, nil, st)
	return value{kind: exact, text: strings.TrimRight(strings.Join(out, " "), "\n")}, true
}

// quotedOr reports whether each part of a word is quoted, or is a literal of which
// plain is true.
func quotedOr(w *syntax.Word, plain func(text string) bool) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.Lit:
			if !plain(p.Value) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// withoutTabs takes off the tabs that <<- ignores at the beginning of each line.
func withoutTabs(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, "\t")
	}
	return strings.Join(lines, "\n")
}

func quotedDelimiter(w *syntax.Word) bool {
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(l.Value, `\`) {
			return true
		}
	}
	return false
}

func (r *reader) procSubst(p *syntax.ProcSubst, st state) {
	if p.Op == syntax.CmdInTemp {
		r.Opaque(r.source(p), "zsh's =( ) is not known to bash")
	}
	piped := r.Piped
	r.Piped = p.Op == syntax.CmdOut
	r.stmts(p.Stmts, st)
	r.Piped = piped
}

// counts reports a substitution that prints one number, or nothing: its only
// statement ends in a command that does.
func (r *reader) counts(p *syntax.CmdSubst) bool {
	if len(p.Stmts) != 1 || r.escaped(p) {
		return false
	}
	s := p.Stmts[0]
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe {
			break
		}
		s = b.Y
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 {
		return false
	}
	for _, rd := range s.Redirs {
		if rd.Op != syntax.RdrIn && !(rd.N != nil && rd.N.Value == "2" && rd.Word.Lit() == "/dev/null") {
			return false
		}
	}
	var words []string
	for _, w := range c.Args {
		words = append(words, w.Lit())
	}
	if len(words) == 0 || r.funcs[words[0]] != nil {
		return false
	}
	switch strings.Join(words, " ") {
	case "wc -l", "wc -c", "wc -w", "wc -m", "nproc", "date +%s", "id -u", "id -g", "git rev-list --count HEAD":
		return true
	}
	return false
}
