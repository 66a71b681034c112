package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

var shellNames = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "ash": true, "mksh": true, "rbash": true}

// readShell is bash -c '…': the literal is read as a script of its own.
func readShell(r *reader, ws []word, st state) (state, state) {
	if len(ws) < 3 || !shellCFlag(ws[1]) || ws[2].Kind != exact || strings.HasPrefix(ws[2].Text, "-") {
		why := ws[0].Text + " runs a script that is not known here"
		if len(ws) > 2 && ws[1].Text != "" && strings.IndexByte("-+", ws[1].Text[0]) >= 0 && strings.Contains(ws[1].Text, "c") {
			r.Opaque(ws[0].Source, why)
		}
		if slices.ContainsFunc(ws[1:], func(w word) bool { return strings.Contains(w.Text, "glob") }) {
			r.looseGlobs = true
		}
		at := len(r.Actions)
		r.mark(ws, st, policy.Exec{Why: why, Inner: policy.Inner{Unseen: why, Holds: policy.HoldsSurely}})
		r.fromFile(at, ws[1:], st)
		r.supposeShell(ws, st)
		return st, st
	}
	if r.Fed {
		r.Opaque(ws[0].Source, "xargs gives the script arguments that are not known")
	}
	if programs.Base(ws[0].Text) != "bash" && programs.Base(ws[0].Text) != "sh" {
		r.Opaque(ws[0].Source, ws[0].Text+" reads scripts in its own way")
	}
	if why := precheck(ws[2].Text); why != "" {
		r.Opaque(programs.Clip(ws[2].Text), why)
	}
	before := len(r.Actions)
	child := r.inShell(ws, 2, st)
	funcs := r.funcs
	r.funcs = map[string]*syntax.Stmt{}
	r.outer = append(r.outer, programs.Literals(ws[:2]))
	shell := r.shell
	r.shell = len(r.outer)
	r.depth++
	if r.depth <= maxDepth {
		r.script(ws[2].Text, child)
	} else {
		r.Opaque(programs.Clip(ws[2].Text), "it is nested too deeply")
	}
	r.depth--
	r.outer = r.outer[:len(r.outer)-1]
	r.funcs, r.shell = funcs, shell
	if !slices.ContainsFunc(r.Actions[before:], func(a policy.Action) bool { _, runs := a.(policy.Exec); return runs }) {
		r.markExec(ws, st, "a shell that is given nothing to run")
	}
	return st, st
}

// shellCFlag knows -c alone or with flags that only make the shell stricter.
func shellCFlag(w word) bool {
	return w.Kind == exact && len(w.Text) > 1 && w.Text[0] == '-' && strings.Count(w.Text, "c") == 1 && strings.Trim(w.Text[1:], "ceux") == ""
}

// supposeShell reads the script of a shell that is started in a form which is not read
// exactly: what stands behind the first flag with a c in it.
func (r *reader) supposeShell(ws []word, st state) {
	for i := 1; i+1 < min(len(ws), 20); i++ {
		if flag := ws[i].Text; ws[i].Kind != exact || len(flag) < 2 || flag[0] != '-' || flag[1] == '-' || !strings.Contains(flag, "c") {
			continue
		}
		for i+1 < len(ws) && ws[i+1].Kind == exact && strings.HasPrefix(ws[i+1].Text, "-") {
			i++
		}
		if i+1 < len(ws) && ws[i+1].Kind == exact {
			funcs, shell := r.funcs, r.shell
			r.funcs, r.shell = map[string]*syntax.Stmt{}, len(r.outer)
			r.supposing(func() { r.script(ws[i+1].Text, r.inShell(ws, i+1, st)) })
			r.funcs, r.shell = funcs, shell
		}
		return
	}
}

// inShell is the state in which the script among the words of a shell begins: with the
// words behind it for $0, $1 and so on, and maybe the variables of this shell, which
// may be exported.
func (r *reader) inShell(ws []word, script int, st state) state {
	child := state{dirs: st.dirs, vars: map[string]value{}, fds: st.fds}
	for name, v := range st.vars {
		if w, ok := supposedly(v); ok && syntax.ValidName(name) {
			child.vars[name] = w
		}
	}
	args := ws[script+1:]
	zero := value{kind: unknown, or: ws[0].Text, ors: ws[0].Kind == exact}
	if len(args) > 0 {
		zero = state{vars: map[string]value{}}.parameters(args).vars["1"]
		args = args[1:]
		if ws[script+1].Many {
			args = []word{{Kind: unknown, Source: ws[script+1].Source, Many: true}}
		}
	}
	child = r.withEnv(child.parameters(args))
	child.vars["0"] = zero
	return child
}

// withEnv adds the variables that stand before a command.
func (r *reader) withEnv(st state) state {
	for i, v := range r.envValues {
		name, _, _ := strings.Cut(r.env[i], "=")
		if w, ok := supposedly(v); ok && syntax.ValidName(name) {
			st = st.with(name, w)
		}
	}
	return st
}

// supposedly is a value that may have come here or not.
func supposedly(v value) (value, bool) {
	switch {
	case v.kind == exact && scan.Number(v.text) || v.kind == number:
		return value{kind: number, or: v.text, ors: v.kind == exact}, true
	case v.kind == exact:
		return value{kind: unknown, or: v.text, ors: true}, true
	case v.ors:
		return value{kind: unknown, or: v.or, ors: true}, true
	}
	return value{kind: unknown}, v.kind == unknown
}
