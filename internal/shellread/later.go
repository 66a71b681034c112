package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/programs"
)

// let is arithmetic in words. What is written without quotes and patterns is read as
// between double parentheses.
func (r *reader) let(c *syntax.LetClause, in state) state {
	text := strings.TrimSpace(strings.TrimPrefix(r.text(c), "let"))
	r.forRules([]word{lit("let"), {Kind: unknown, Source: text}}, in)
	if strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("_=+-/%, ", c)
	}) {
		r.Opaque(r.source(c), "let evaluates text as arithmetic")
		r.visit(c, in)
		return in
	}
	for _, x := range c.Exprs {
		r.checkArithm(x, in)
	}
	return r.assignedIn(c, in)
}

// coproc runs a command beside the shell. A rule for it covers one that is a plain
// command, as one for nohup does.
func (r *reader) coproc(c *syntax.CoprocClause, in state) {
	w, plain := &policy.Written{In: r.Of}, c.Name == nil // zsh takes the name for a program
	ws := []word{lit("coproc")}
	call, simple := c.Stmt.Cmd.(*syntax.CallExpr)
	if simple && len(call.Assigns) == 0 {
		for _, a := range call.Args {
			text, known := plainText(a)
			ws, simple = append(ws, lit(text)), simple && known
		}
	} else {
		simple = false
	}
	if !simple {
		ws = append(ws[:1], word{Kind: unknown, Source: strings.TrimPrefix(r.text(c), "coproc ")})
	}
	outer := r.Of
	r.write(w, c, ws, len(r.env))
	w.Starts = simple && plain
	r.forRules(ws, in)
	r.Unclearly(policy.Opaque{Source: r.source(c), Why: "coproc starts a command beside the shell", Listed: plain, Whole: plain, Own: plain})
	r.stmt(c.Stmt, in)
	r.Of = outer
}

// readTrap is trap: it runs text when the shell ends, or when a signal comes. That is read
// as what may run in any folder and with any values.
func readTrap(r *reader, ws []word, st state) (state, state) {
	const why = "trap runs text as a script, later"
	r.mark(ws, st, policy.Exec{Why: why, Inner: policy.Inner{Holds: policy.HoldsSurely}})
	o := policy.Opaque{Source: strings.Join(programs.Literals(ws), " "), Why: why}
	args := ws[1:]
	if len(args) > 0 && args[0].Is("--") {
		args = args[1:]
	}
	switch {
	case slices.ContainsFunc(ws, func(w word) bool { return w.Kind != exact }):
	case len(args) < 2, args[0].Is("-"), args[0].Is(""), args[0].Is("-p"), args[0].Is("-l"):
		o.Own = !strings.ContainsAny(strings.Join(programs.Literals(args), ""), " \t\n;&|<>()$`") // it shows them, or takes one away
	default:
		stmts, err := parse(args[0].Text)
		if err != nil || r.depth > maxDepth {
			break
		}
		ends := len(r.calling) == 0 && !slices.ContainsFunc(args[1:], func(w word) bool { return w.Text != "EXIT" && w.Text != "0" })
		if o.Own = ends || r.leavesShell(stmts); !o.Own {
			break
		}
		var used []string
		for _, s := range stmts {
			syntax.Walk(s, func(n syntax.Node) bool {
				if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
					used = append(used, p.Param.Value)
				}
				return true
			})
		}
		if slices.ContainsFunc(used, func(name string) bool { return !syntax.ValidName(name) && name != "?" && name != "!" && name != "$" }) {
			o.Own = false // what it is called with then is not known
			break
		}
		later := r.withEnv(st).forget(used)
		later.dirs = nil
		r.depth++
		r.keepFuncs(func() { r.script(args[0].Text, later) })
		r.depth--
		r.trapped = true
	}
	o.Listed, o.Whole = o.Own, o.Own
	r.Unclearly(o)
	return st, st
}

// leavesShell reports statements that run programs and leave the shell as it is.
func (r *reader) leavesShell(stmts []*syntax.Stmt) bool {
	leaves := true
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				name := ""
				if len(n.Args) > 0 {
					name = n.Args[0].Lit()
				}
				builtIn := builtin(name) != nil && name != "exit" && name != ":" && name != "wait" && name != "return"
				leaves = leaves && name != "" && len(n.Assigns) == 0 && !builtIn && r.funcs[name] == nil
			case nil, *syntax.Stmt, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.BinaryCmd, *syntax.Redirect:
			case *syntax.ParamExp:
				leaves = leaves && n.Exp == nil && n.Index == nil
			default:
				leaves = false
			}
			return leaves
		})
	}
	return leaves
}
