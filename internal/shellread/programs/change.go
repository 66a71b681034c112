package programs

import (
	"cmp"
	"sync"

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
	row, found := u.r.Table.changes[u.name]
	if !found {
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

var changeRows = sync.OnceValue(func() map[string]*changeRow {
	return map[string]*changeRow{
		"touch":     {command{safe: true, flags: "-acmhf -d=x -r=p -t=x --no-create --date=x --reference=p --time=x --no-dereference"}, applyAll(policy.Write{})},
		"mkdir":     {command{safe: true, flags: "-pv -m=x --parents --verbose --mode=x"}, applyAll(policy.Write{Makes: true})},
		"rmdir":     {command{safe: true, flags: "-pv --parents --verbose --ignore-fail-on-non-empty"}, applyAll(policy.Write{Remove: true})},
		"rm":        {command{safe: true, flags: "-fiIrRdv --force --interactive? --recursive --dir --verbose --one-file-system --preserve-root? --no-preserve-root"}, applyRemove},
		"unlink":    {command{safe: true}, applyAll(policy.Write{Remove: true})},
		"shred":     {command{safe: true, flags: "-fuvxz -n=x -s=x --force --iterations=x --remove? --zero --verbose"}, applyEmpty(policy.Write{Remove: true})},
		"truncate":  {command{safe: true, flags: "-co -s=x -r=p --no-create --size=x --reference=p"}, applyEmpty(policy.Write{})},
		"tee":       {command{safe: true, flags: "-aip --append --ignore-interrupts --output-error?"}, applyEmpty(policy.Write{}, "-a", "--append")},
		"cp":        {command{safe: true, flags: "-abdfilLnPpRrsTuvxH -t=x -S=x --archive --backup? --force --interactive --link --dereference --no-clobber --no-dereference --preserve? --no-preserve=x --parents --recursive --symbolic-link --suffix=x --target-directory=x --no-target-directory --update? --verbose --one-file-system --reflink? --sparse=x --strip-trailing-slashes --remove-destination --attributes-only"}, applyCopy(false)},
		"mv":        {command{safe: true, flags: "-bfinTuv -t=x -S=x --backup? --force --interactive --no-clobber --strip-trailing-slashes --suffix=x --target-directory=x --no-target-directory --update? --verbose"}, applyCopy(true)},
		"install":   {command{safe: true, flags: "-bcCdDpsTv -g=x -m=x -o=x -t=x -S=x --directory --mode=x --owner=x --group=x --target-directory=x --verbose --preserve-timestamps --backup?"}, applyInstall},
		"ln":        {command{safe: true, flags: "-bdfFiLnPrsTv -t=x -S=x --symbolic --force --relative --no-dereference --target-directory=x --verbose --backup?"}, applyLink},
		"chmod":     {command{safe: true, flags: "-cfvR --changes --quiet --silent --verbose --recursive --reference=p"}, applyMode},
		"chown":     {command{safe: true, flags: "-cfvRhHLP --recursive --reference=p --no-dereference"}, applyMode},
		"chgrp":     {command{safe: true, flags: "-cfvRhHLP --recursive --reference=p --no-dereference"}, applyMode},
		"sed":       {command{safe: true, flags: "-nErsuz -i? -e=x -f=p -l=x --line-length=x --sandbox --debug --unbuffered --version --help --in-place? --quiet --silent --regexp-extended --expression=x --file=p --null-data --posix --separate --follow-symlinks"}, applySed},
		"dd":        {command{safe: true}, applyDD},
		"gofmt":     {command{safe: true, flags: "-l -d -s -e -w -r=x", dash: true}, applyFormat},
		"goimports": {command{safe: true, flags: "-l -d -e -v -w -local=x", dash: true}, applyFormat},
		"patch": {command{safe: true, flags: "-p=x -i=p -o=x -R -N -s -d=x -b -f -t -E -u -c -n -l -r=x --input=p --output=x --dry-run --reverse --forward --silent --quiet"}, func(u *Invocation) bool {
			u.all(u.args, policy.Write{})
			return false
		}},
		"split": {command{safe: true, flags: "-l=x -b=x -n=x -C=x -a=x -d -x"}, func(u *Invocation) bool {
			if len(u.args) > 0 {
				u.get(u.args[0], policy.Read{})
			}
			return false
		}},
		"gzip": {command{safe: true, flags: "-123456789dfknqrv --keep --force --decompress --best --fast"}, applyPack}, "gunzip": {command{safe: true, flags: "-cfknqrtv"}, applyPack},
		"bzip2": {command{safe: true, flags: "-123456789dfkqv"}, applyPack}, "xz": {command{safe: true, flags: "-0123456789dfkqvzeT=x"}, applyPack}, "zstd": {command{safe: true, flags: "-123456789dfkqvT=x --rm"}, applyPack},
		"sort": {command{safe: true, flags: "-bdfgiMhnRrVcCmsuz -k=x -t=x -S=x -o=x --output=x --key=x --numeric-sort --reverse --unique"}, func(u *Invocation) bool {
			for _, f := range u.flags {
				if f.name == "-o" || f.name == "--output" {
					u.put(f.val, policy.Write{})
				}
			}
			for _, w := range u.args {
				u.get(w, policy.Read{})
			}
			return true
		}},
		"uniq": {command{safe: true, early: true, flags: "-cdDiuz -f=x -s=x -w=x"}, func(u *Invocation) bool {
			for i, w := range u.args {
				if w.Many {
					return false // the second of several would be written
				}
				if i == 0 {
					u.get(w, policy.Read{})
				} else {
					u.put(w, policy.Write{})
				}
			}
			return len(u.args) <= 2
		}},
	}
})
