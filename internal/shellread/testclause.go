package shellread

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/scan"
)

// testExpr walks [[ … ]].
func (r *reader) testExpr(x syntax.TestExpr, st state) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			r.testExpr(x.X, st)
			r.testExpr(x.Y, st)
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			r.testNumber(x.X, st)
			r.testNumber(x.Y, st)
		case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
			r.testPath(x.X, st)
			r.testPath(x.Y, st)
		case syntax.TsReMatch, syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch, syntax.TsBefore, syntax.TsAfter:
			r.testWord(x.X, st)
			r.testWord(x.Y, st)
		}
	case *syntax.UnaryTest:
		switch x.Op {
		case syntax.TsNot, syntax.TsParen:
			r.testExpr(x.X, st)
		case syntax.TsVarSet, syntax.TsRefVar:
			if w, ok := x.X.(*syntax.Word); !ok || !syntax.ValidName(w.Lit()) {
				r.Opaque(r.source(x), "a variable's name that is worked out when it runs")
			}
			r.testWord(x.X, st)
		case syntax.TsEmpStr, syntax.TsNempStr, syntax.TsOptSet:
			r.testWord(x.X, st)
		case syntax.TsFdTerm:
			r.testNumber(x.X, st)
		default:
			r.testPath(x.X, st)
		}
	case *syntax.ParenTest:
		r.testExpr(x.X, st)
	case *syntax.Word:
		r.testWord(x, st)
	}
}

// testWord walks a word whose value is only compared; globs in it are patterns.
func (r *reader) testWord(x syntax.TestExpr, st state) {
	if w, ok := x.(*syntax.Word); ok {
		r.casePattern(w, st)
		return
	}
	r.testExpr(x, st)
}

func (r *reader) testNumber(x syntax.TestExpr, st state) {
	w, ok := x.(*syntax.Word)
	if !ok {
		r.testExpr(x, st)
		return
	}
	v := r.value(w, st)
	if v.kind == number || v.kind == exact && (scan.Number(v.text) || v.text == "") {
		return
	}
	r.Opaque(r.source(w), "[[ ]] evaluates this as arithmetic")
}

func (r *reader) testPath(x syntax.TestExpr, st state) {
	w, ok := x.(*syntax.Word)
	if !ok {
		r.testExpr(x, st)
		return
	}
	v := r.value(w, st)
	if v.found != nil && !v.lines && r.ReadFound(word{Kind: unknown, Found: v.found}, st.dirs, true) {
		return
	}
	if v.kind != exact {
		r.OpaqueListed(r.source(w), "a path that is worked out when it runs")
		return
	}
	r.Read(word{Kind: exact, Text: v.text, Source: r.source(w)}, st.dirs, policy.Read{List: true})
}
