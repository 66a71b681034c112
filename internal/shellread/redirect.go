package shellread

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

// redirects turns each redirect into Read or Write, and returns the state in which
// the command runs, with the descriptors that they open and close.
func (r *reader) redirects(s *syntax.Stmt, st state) state {
	for _, rd := range s.Redirs {
		r.redirect(s, rd, st)
		if rd.N == nil {
			continue
		}
		if st.fds |= bit(rd.N.Value); rd.Word != nil && rd.Word.Lit() == "-" && (rd.Op == syntax.DplIn || rd.Op == syntax.DplOut) {
			st.fds &^= bit(rd.N.Value)
		}
	}
	return st
}

func (r *reader) redirect(s *syntax.Stmt, rd *syntax.Redirect, st state) {
	if rd.N != nil && strings.HasPrefix(rd.N.Value, "{") {
		r.Opaque(r.source(rd), "a file descriptor in a variable")
	} else if rd.N != nil && len(rd.N.Value) > 1 {
		r.Opaque(r.source(rd), "zsh takes a number of two digits for an argument")
	} else if at := int(rd.OpPos.Offset()); rd.N == nil && at > 0 && at <= len(r.Source) && (r.Source[at-1] == '}' || r.Source[at-1] >= '0' && r.Source[at-1] <= '9') {
		r.Opaque(r.source(rd), "zsh takes what stands before a redirect for its descriptor")
	}
	if rd.N == nil && r.bracedBefore(int(rd.OpPos.Offset())) {
		r.Opaque(r.source(rd), "zsh takes the name in braces before a redirect for its descriptor")
	}
	if r.rangeAt(int(rd.OpPos.Offset())) {
		r.Opaque(r.source(s), "zsh takes <1-9> for a range of numbers in a name")
	}
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		r.heredoc(rd, st)
	case syntax.WordHdoc:
		r.value(rd.Word, st)
	case syntax.RdrIn:
		if w, ok := r.target(rd, st); ok {
			r.Read(w, st.dirs, policy.Read{})
		}
	case syntax.DplIn, syntax.DplOut:
		r.duplicate(rd, st)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		if w, ok := r.target(rd, st); ok {
			r.writeRedirect(w, st, s)
		}
	case syntax.RdrInOut:
		if w, ok := r.target(rd, st); ok {
			r.Read(w, st.dirs, policy.Read{})
			r.writeRedirect(w, st, s)
		}
	default:
		r.Opaque(r.source(rd), "a redirect that is not bash")
		r.target(rd, st)
	}
}

// bracedBefore reports {name}, and perhaps blanks, before a place of the source.
func (r *reader) bracedBefore(at int) bool {
	if at < 0 || at > len(r.Source) {
		return false
	}
	before, braced := strings.CutSuffix(strings.TrimRight(r.Source[:at], " \t\\\n"), "}")
	open := strings.LastIndexByte(before, '{')
	return braced && open >= 0 && open < len(before)-1 && !strings.ContainsAny(before[open+1:], " \t\n;&|")
}

// rangeAt reports <->, <1->, <-9> or <1-9> at a place of the source.
func (r *reader) rangeAt(at int) bool {
	if at < 0 || at >= len(r.Source) || r.Source[at] != '<' {
		return false
	}
	const digits = "0123456789"
	rest, dash := strings.CutPrefix(strings.TrimLeft(r.Source[at+1:], digits), "-")
	return dash && strings.HasPrefix(strings.TrimLeft(rest, digits), ">")
}

func (r *reader) heredoc(rd *syntax.Redirect, st state) {
	if rd.Hdoc == nil || quotedDelimiter(rd.Word) {
		return
	}
	if endsEarly(r.text(rd.Hdoc), rd) {
		r.Opaque(r.source(rd), "a here-document with a line in it that ends it")
	}
	b := &builder{kind: exact}
	for _, p := range rd.Hdoc.Parts {
		r.quotedPart(b, p, st)
	}
}

// target reads the word of a redirect; it must be one exact path.
func (r *reader) target(rd *syntax.Redirect, st state) (word, bool) {
	if strings.HasPrefix(r.source(rd.Word), "!") {
		r.Opaque(r.source(rd), "zsh takes the ! off and writes another file")
	}
	ws := r.words(rd.Word, st)
	if len(ws) == 1 && ws[0].Kind == programs.Pattern { // bash takes the one file that it matches
		if rd.Op != syntax.RdrIn {
			r.Write(ws[0], st.dirs, policy.Write{Sure: policy.Possible})
		}
		if rd.Op == syntax.RdrIn || rd.Op == syntax.RdrInOut {
			r.Read(ws[0], st.dirs, policy.Read{})
		}
	}
	if len(ws) == 1 && ws[0].Kind == programs.Pattern && rd.Op == syntax.RdrIn && !r.Unsafe && !r.Unclear && r.Matches(ws[0].Text, st.dirs) {
		return word{}, false // all that it may be is listed
	}
	if len(ws) == 1 && rd.Op == syntax.RdrIn && r.ReadFound(ws[0], st.dirs, false) {
		return word{}, false
	}
	if len(ws) == 1 && ws[0].Kind == unknown {
		r.MayName(ws[0], st.dirs, rd.Op != syntax.RdrIn)
		r.mayRedirect(ws[0], rd.Op, st)
	}
	if len(ws) != 1 || ws[0].Kind != exact && !ws[0].Substitution || ws[0].Is("") {
		r.OpaqueListed(r.source(rd), "a redirect whose file is not known")
		return word{}, false
	}
	return ws[0], true
}

// duplicate reads >&2, 2>&1, >&- and <&3; with a name >& writes a file.
func (r *reader) duplicate(rd *syntax.Redirect, st state) {
	w, ok := r.target(rd, st)
	if !ok {
		return
	}
	if strings.HasPrefix(w.Text, "-") && w.Text != "-" {
		// bash closes the descriptor and takes the rest as a word of its own.
		r.Opaque(r.source(rd), "a redirect that shells read differently")
		return
	}
	if scan.Number(w.Text) {
		if len(w.Text) > 1 || w.Text > "2" && !st.fds.has(w.Text) {
			r.Opaque(r.source(rd), "a descriptor that the script has not opened")
		}
		return
	}
	if w.Text == "-" {
		return
	}
	if n, moved := strings.CutSuffix(w.Text, "-"); moved && scan.Number(n) {
		r.Opaque(r.source(rd), "zsh takes a descriptor that bash moves for a file")
	}
	if rd.Op == syntax.DplIn {
		r.Opaque(r.source(rd), "a redirect whose source is not known")
		return
	}
	if strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,") != "" {
		// bash expands this word a second time: >&'$(cmd)' runs cmd.
		r.Opaque(r.source(rd), "a redirect that bash expands twice")
	}
	r.writeRedirect(w, st, nil)
}

func (r *reader) writeRedirect(w word, st state, s *syntax.Stmt) {
	if w.Is("/dev/null") || w.Substitution {
		return
	}
	blind := r.Piped
	if s != nil && !printsLiteral(s) {
		blind = true
	}
	r.Write(w, st.dirs, policy.Write{Blind: blind && r.Piped})
}

// printsLiteral reports whether a statement is a single command.
func printsLiteral(s *syntax.Stmt) bool {
	_, ok := s.Cmd.(*syntax.CallExpr)
	return ok
}
