package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// findDeletes adds what find -delete removes: below each folder that it begins with, what
// its expression lets through.
func (u *Invocation) findDeletes(ws []Word) {
	if !slices.ContainsFunc(ws, func(w Word) bool { return w.Is("-delete") }) {
		return
	}
	follows := slices.ContainsFunc(ws, func(w Word) bool { return w.Is("-follow") })
	for len(ws) > 0 && (ws[0].Is("-L") || ws[0].Is("-H") || ws[0].Is("-P") || ws[0].Is("-D") || strings.HasPrefix(ws[0].Text, "-O")) {
		follows = follows || ws[0].Is("-L") || ws[0].Is("-H")
		if ws[0].Is("-D") && len(ws) > 1 {
			ws = ws[1:] // it takes a value
		}
		ws = ws[1:]
	}
	n := 0
	for n < len(ws) && !strings.HasPrefix(ws[n].Text, "-") && !ws[n].Is("(") && !ws[n].Is("!") {
		n++
	}
	folders, tests := ws[:n], ws[n:]
	if n == 0 {
		folders = []Word{Lit(".")}
	}
	keep := func(e world.Entry) bool {
		f := findExpr{ws: tests, e: e}
		f.or(true)
		return f.deletes || f.bad || f.at < len(f.ws)
	}
	for _, w := range folders {
		if narrows(tests) && !follows && u.deletesFiles(w, keep) {
			continue
		}
		u.putStanding(w, policy.Write{Remove: true, Tree: true}, func(dir string) *policy.Standing { return u.r.standing(dir, follows, keep) })
	}
}

// narrows reports an expression that lets through only what has a certain name: tests one
// after the other, one of them for a name of which two letters are known.
func narrows(tests []Word) bool {
	named := false
	for i, w := range tests {
		if w.Kind != Exact || w.Is("!") || w.Is("-not") || w.Is("(") || w.Is("-o") || w.Is("-or") || w.Is(",") {
			return false
		}
		if i > 0 && (tests[i-1].Is("-name") || tests[i-1].Is("-iname")) {
			named = named || len(strings.Trim(w.Text, "*?")) > 1 && !strings.ContainsAny(w.Text, `[]\`)
		}
	}
	return named
}

// deletesFiles adds the files below a folder that find removes, one by one, and reports
// whether these are all.
func (u *Invocation) deletesFiles(w Word, keep func(world.Entry) bool) bool {
	const most = 500
	from := len(u.Actions)
	for _, t := range u.r.Resolve(w, u.dirs) {
		l, ok := u.r.Tree(t.Real)
		if !ok || l.Closed || len(u.r.Wrote) > 0 || !u.r.IsFolder(t.Real) || !u.r.writable(t.Real) {
			u.Actions = u.Actions[:from]
			return false
		}
		for _, e := range l.Entries {
			if !keep(e) {
				continue
			}
			if len(u.Actions)-from == most {
				u.Actions = u.Actions[:from]
				return false
			}
			at, named := strings.TrimSuffix(t.Real, "/")+"/"+e.Name, strings.TrimSuffix(t.Named, "/")+"/"+e.Name
			u.Actions = append(u.Actions, policy.Write{Path: at, Named: named, Asked: at, Remove: true})
		}
	}
	return true
}

// A findExpr reads find's expression for one file. Of each part it knows whether it may be
// true and whether it may be false; live says whether find may come to it.
type findExpr struct {
	ws      []Word
	at      int
	e       world.Entry
	deletes bool // it may come to -delete
	bad     bool // something in it is not known
}

func (f *findExpr) next(texts ...string) bool {
	if f.at < len(f.ws) && f.ws[f.at].Kind == Exact && slices.Contains(texts, f.ws[f.at].Text) {
		f.at++
		return true
	}
	return false
}

func (f *findExpr) or(live bool) (yes, no bool) {
	yes, no = f.and(live)
	for {
		switch {
		case f.next("-o", "-or"):
			y, n := f.and(live && no)
			yes, no = yes || y, no && n
		case f.next(","):
			yes, no = f.and(live)
		default:
			return yes, no
		}
	}
}

func (f *findExpr) and(live bool) (yes, no bool) {
	yes, no = f.not(live)
	for f.at < len(f.ws) && !f.bad && !slices.Contains([]string{")", "-o", "-or", ","}, f.ws[f.at].Text) {
		f.next("-a", "-and")
		y, n := f.not(live && yes)
		yes, no = yes && y, no || n
	}
	return yes, no
}

func (f *findExpr) not(live bool) (yes, no bool) {
	switch {
	case f.next("!", "-not"):
		no, yes = f.not(live)
		return yes, no
	case f.next("("):
		yes, no = f.or(live)
		f.bad = f.bad || !f.next(")")
		return yes, no
	}
	return f.test(live)
}

func (f *findExpr) test(live bool) (yes, no bool) {
	if f.at >= len(f.ws) || f.ws[f.at].Kind != Exact {
		f.bad = true
		return true, true
	}
	name := f.ws[f.at].Text
	f.at++
	if name == "-delete" {
		f.deletes = f.deletes || live
		return true, true
	}
	values, known := findTests[name]
	if known && values == 0 {
		return true, true
	}
	if !known || f.at >= len(f.ws) || f.ws[f.at].Kind != Exact {
		f.bad = true
		return true, true
	}
	val := f.ws[f.at].Text
	f.at++
	base := f.e.Name[strings.LastIndexByte(f.e.Name, '/')+1:]
	switch name {
	case "-iname":
		val, base = strings.ToLower(val), strings.ToLower(base)
		fallthrough
	case "-name":
		if strings.ContainsAny(val, `[\`) {
			return true, true
		}
		fits := anyMatch([]string{val}, base)
		return fits, !fits
	case "-type":
		if val == "d" && !f.e.Link {
			return f.e.Dir, !f.e.Dir
		}
		return val != "f" || !f.e.Dir && !f.e.Link, true
	}
	return true, true
}
