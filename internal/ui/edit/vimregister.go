package edit

import (
	"slices"
	"unicode"
)

// A register holds text that was deleted or yanked.
type register struct {
	r     []rune
	lines bool // it is whole lines
}

// keep puts text into registers: the one that was named, and those that vim
// fills by itself.
func (v *vim) keep(rs []rune, lines, yank bool) {
	r := register{slices.Clone(rs), lines}
	switch name := v.reg; {
	case name == '_', len(rs) == 0 && !lines && !yank:
		return
	case name >= 'A' && name <= 'Z':
		low := unicode.ToLower(name)
		old := v.regs[low]
		if r = old.and(r); len(old.r) == 0 && !old.lines {
			r = register{slices.Clone(rs), lines}
		}
		v.regs[low] = r
	case name != 0 && name != '"':
		v.regs[name] = r
	case yank:
		v.regs['0'] = r
	default:
		if small := !lines && !slices.Contains(rs, '\n'); v.one || !small {
			for n := '9'; n > '1'; n-- {
				v.regs[n] = v.regs[n-1]
			}
			v.regs['1'] = r
			if small {
				v.regs['-'] = r
			}
		} else {
			v.regs['-'] = r
		}
	}
	v.regs['"'] = r
}

// and appends a register.
func (r register) and(o register) register {
	out := slices.Clone(r.r)
	if r.lines || o.lines {
		out = append(out, '\n')
	}
	return register{append(out, o.r...), r.lines || o.lines}
}

func (v *vim) register() register {
	name := v.reg
	if name == 0 {
		name = '"'
	}
	return v.regs[unicode.ToLower(name)]
}

// put is p and P.
func (v *vim) put(e *Editor, before bool, n int) bool {
	r := v.register()
	if len(r.r) == 0 && !r.lines || len(r.r)*n > maxGrown {
		return false
	}
	t := &e.t
	e.step(doOther)
	if r.lines {
		from, to := t.bounds(e.at)
		body := r.r
		for range n - 1 {
			body = slices.Concat(body, []rune{'\n'}, r.r)
		}
		if before {
			e.change(from, from, append(slices.Clone(body), '\n'))
			e.at = t.firstNonBlank(from)
		} else {
			e.change(to, to, append([]rune{'\n'}, body...))
			e.at = t.firstNonBlank(to + 1)
		}
		return true
	}
	at := e.at
	if !before && !t.eol(at) {
		at = t.next(at)
	}
	body := slices.Repeat(r.r, n)
	e.change(at, at, body)
	if slices.Contains(r.r, '\n') {
		e.at = at
	} else {
		e.at = t.prev(at + len(body))
	}
	return true
}
