package programs

import (
	"cmp"

	"github.com/adze-agent/adze/internal/policy"
)

// Changes lists what a command that changes files would change, so that the
// mode and path rules can judge it. ok means that this is all it does; without
// it the actions are only what is known, and are added to those before.
func (u *Invocation) Changes(ws []Word) (ok bool) {
	u.name = Base(ws[0].Text)
	acts, ok := u.changed(ws)
	u.linksMade(ws)
	if ok {
		u.Actions = nil
	}
	u.Actions = append(u.Actions, acts...)
	return !u.settings(ws) && ok
}

func (u *Invocation) changed(ws []Word) (acts []policy.Action, ok bool) {
	if !StandardPath(ws[0].Text) {
		return u.MayRead(ws), false
	}
	row := u.r.Table.of(u.name).changes
	if row == nil {
		return u.outputs(ws), false
	}
	c := &Invocation{r: u.r, dirs: u.dirs, name: u.name, row: &row.command}
	if why := c.parse(&row.command, ws[1:]); why != "" {
		return u.outputs(ws), false
	}
	for _, w := range c.args {
		if w.Kind != Exact && w.Kind != Pattern {
			return u.outputs(ws), false
		}
	}
	unclear := u.r.Unclear
	more := u.r.apart(func() { ok = row.apply(c) })
	acts = append(c.Actions, more...)
	u.Why = c.Why
	if ok = ok && u.r.Unclear == unclear && !u.r.Fed; !ok {
		acts = append(acts, u.mayWrite(ws)...)
	}
	return acts, ok
}

func (u *Invocation) put(w Word, like policy.Write) {
	like.Blind = u.r.Piped && u.name == "tee"
	u.Actions = append(u.Actions, u.r.apart(func() { u.r.Write(w, u.dirs, like) })...)
}

// putStanding is put of a folder with all below it, of which the command touches what stands
// returns; nil is all.
func (u *Invocation) putStanding(w Word, like policy.Write, stands func(dir string) *policy.Standing) {
	from := len(u.Actions)
	u.put(w, like)
	for i, a := range u.Actions[from:] {
		if wr, ok := a.(policy.Write); ok && (wr.Tree || wr.Within) {
			wr.Standing = cmp.Or(stands(wr.Path), wr.Standing)
			u.Actions[from+i] = wr
		}
	}
}

func (u *Invocation) get(w Word, like policy.Read) {
	u.Actions = append(u.Actions, u.fill(u.r.apart(func() { u.r.Read(w, u.dirs, like) }))...)
}

// A changeRow says what a command that changes files does to its operands.
// apply returns whether that is all.
type changeRow struct {
	command
	apply func(u *Invocation) bool
}
