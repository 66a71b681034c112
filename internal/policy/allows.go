package policy

import (
	"slices"
	"strings"
)

// matchExec reports whether a rule speaks of a command.
func (c *call) matchExec(rule *compiledRule, e Effect, a Exec) bool {
	if e != Allow {
		return c.forbids(rule, a) == surely
	}
	return slices.ContainsFunc(rule.allows, func(r reading) bool {
		return (r.allows(a) || r.allowsWithout(a) && c.here(a.Places)) && !c.strays(r, a)
	})
}

// strays reports whether a command names a path outside of the folders of the session that
// the reading which covers it does not.
func (c *call) strays(r reading, a Exec) bool {
	out := c.outside(a)
	if len(out) == 0 {
		return false
	}
	p, _ := r.covering(a)
	return !p.any && !(p.exact() && !a.Loose) && slices.ContainsFunc(out, func(s Stray) bool { return !p.spells(s) })
}

// outside are the paths outside of the folders of the session that a command may do more with
// than read.
func (c *call) outside(a Exec) (out []Stray) {
	add := func(s Stray) {
		if !c.inDirs(s.Path) && !c.inAny(c.rules.Writable, s.Path) {
			out = append(out, s)
		}
	}
	for _, s := range a.Strays {
		add(s)
	}
	for _, t := range a.Touches {
		if w, ok := t.(Write); ok && a.Edits && w.Sure == Certain && !w.Own {
			add(Stray{Word: w.Asked, Asked: w.Asked, Path: w.Path})
		}
	}
	return out
}

// spells reports whether a word of the pattern is the one that names a path, or begins with
// a path and goes on with a star that leads nowhere else.
func (p commandPattern) spells(s Stray) bool {
	return s.Meant > 0 && len(p.fixed()) >= s.Meant || slices.ContainsFunc(p.words(), func(w string) bool {
		at := strings.IndexAny(w, string(star)+string(within))
		if at < 0 {
			return w == s.Word || w == s.Asked
		}
		return strings.ContainsAny(w[:at], "/~") && !strings.Contains(s.Word[min(at, len(s.Word)):], "..") && (wildMatch(w, s.Word) || wildMatch(w, s.Asked))
	})
}

// allowsWithout reports whether a reading with a wildcard covers what a command is without
// the flags that say where it works.
func (r reading) allowsWithout(a Exec) bool {
	return a.Without != nil && len(r.steps) == 1 && !r.steps[0].exact() && (r.allows(*a.Without) || r.plain().allows(*a.Without))
}

// plain is a reading with the plainest name of a subcommand that has several, and without
// npx's word that it need not ask.
func (r reading) plain() reading {
	p := r.steps[0].commandPattern
	words := slices.Clone(p.words())
	for len(words) > 1 && words[0] == "npx" && (words[1] == "-y" || words[1] == "--yes" || words[1] == "--no-install") {
		words = slices.Delete(words, 1, 2)
	}
	if len(words) < 2 {
		return r
	}
	if sub := PlainSubcommand(words[0], words[1]); sub != "" {
		words[1] = sub
	}
	r.steps = []step{{commandPattern: p.with(words)}}
	return r
}

// here reports whether all paths lie in the folders of the session, and none is protected.
func (c *call) here(paths []string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool {
		why, _ := protected(c.rules.Rules, p)
		return !c.inAny(c.rules.Writable, p) && (why != "" || !c.inDirs(p))
	})
}

// allows reports whether one reading of a rule covers a command: its own words, or those
// of the command that starts it, or the whole line.
func (r reading) allows(a Exec) bool {
	_, ok := r.covering(a)
	return ok
}

// covering is the command of the reading that covers one.
func (r reading) covering(a Exec) (p commandPattern, ok bool) {
	if len(r.steps) == 1 {
		p = r.steps[0].commandPattern
		return p, p.allows(a, false) || p.allowsInside(a.Of, a)
	}
	w, p, ok := r.inLine(a.Of)
	return p, ok && (p.allows(a, w == a.Of) || p.allowsInside(a.Of, a))
}

// allows reports whether the pattern covers a command by its own words. line means that
// the rule names the whole line, so that what feeds it is meant as well.
func (p commandPattern) allows(a Exec, line bool) bool {
	if !p.match(a.Argv) || !p.named(a.Env) {
		return false
	}
	switch named := p.fixed(); {
	case p.any, a.Beyond == "":
		return true
	case p.exact():
		return !a.Loose
	case len(a.Outputs) > 0 && p.namesFlags(a.Outputs):
		return true
	case len(named) < a.Spelled:
		return false
	case a.Spelled > 0 && a.Launches == 0:
		return true
	case a.RunnerWords > 0 && len(named) > a.RunnerWords, a.RunnerWords > 0 && a.Launches > 0 && len(named) >= a.Launches:
		return true
	case a.Launches > 0:
		return len(named) == a.Launches || len(named) > a.Launches && a.Elsewhere || a.Starts && len(named) > 0 && len(named) < a.Launches
	}
	return false
}

// namesFlags reports whether flags of a command are words of the pattern.
func (p commandPattern) namesFlags(flags []string) bool {
	for _, f := range flags {
		if !slices.ContainsFunc(p.words(), func(w string) bool { return w == f || strings.HasSuffix(f, "=") && strings.HasPrefix(w, f) }) {
			return false
		}
	}
	return true
}

// named reports whether what the pattern sets stands in an environment.
func (p commandPattern) named(env []string) bool {
	for _, want := range p.env {
		if !slices.ContainsFunc(env, func(have string) bool { return setsMatch(want, have) }) {
			return false
		}
	}
	return true
}

// setsMatch compares an assignment of a rule that allows: a star is a part of one word.
func setsMatch(want, have string) bool {
	return wildMatch(strings.ReplaceAll(want, string(star), string(within)), have)
}

// allowsInside reports whether the pattern covers what a command starts that it names:
// `timeout:*` what timeout runs. Nothing of what it starts may be open, and a rule that
// goes on into the command that is started covers that as one for it alone would.
func (p commandPattern) allowsInside(w *Written, a Exec) bool {
	for ; w != nil; w = w.In {
		if !w.Starts || slices.Equal(w.Argv, a.Argv) || !p.covers(w) {
			continue
		}
		if len(p.words()) <= w.before(a.Argv) || a.Beyond == "" || p.exact() && !a.Loose {
			return true
		}
	}
	return false
}

// before is how many words of w stand before a command that it starts.
func (w *Written) before(argv []string) int {
	n := len(w.Argv) - len(argv)
	if n > 0 && slices.Equal(w.Argv[n:], argv) {
		return n
	}
	return len(w.Argv)
}

// covers reports whether the pattern names a command that starts another one, by words
// that say so: none of its wildcards stands for the program, or for several words.
func (p commandPattern) covers(w *Written) bool {
	if p.any || p.none || w.Open || !p.named(w.Env) {
		return false
	}
	if p.wild == "" {
		return p.match(w.Argv) && (!w.Loose || p.prefix)
	}
	words := p.words()
	if len(p.fixed()) == 0 || scripted[words[0]] {
		return false
	}
	p.wild = strings.ReplaceAll(p.wild, string(star), string(within))
	return p.match(w.Argv)
}

// scripted are programs whose words may be a whole script: a wildcard in one of them
// could be any command.
var scripted = map[string]bool{"bash": true, "sh": true, "dash": true, "zsh": true, "ksh": true, "eval": true, "source": true, ".": true, "env": true, "xargs": true}

// inLine finds the command of a rule for a whole line that one of the line is.
func (r reading) inLine(w *Written) (at *Written, p commandPattern, ok bool) {
	for ; w != nil; w = w.In {
		if w.Line != nil && r.isLine(w.Line) {
			return w, r.steps[w.At].commandPattern, true
		}
	}
	return nil, p, false
}

// isLine reports whether a line is the one of the rule: as many commands, between them
// what the rule has, and each the one that stands there.
func (r reading) isLine(l *Line) bool {
	if len(l.Steps) != len(r.steps) {
		return false
	}
	for i, s := range r.steps {
		w := l.Steps[i]
		if w == nil || s.piped != l.Piped[i] || s.fails != l.Fails[i] || !s.match(w.Argv) || !s.named(w.Env) {
			return false
		}
		if !s.exact() && w.Open || s.exact() && w.Loose {
			return false
		}
	}
	return true
}

// allowsOpaque reports whether a rule covers a part that could not be read exactly: that
// of a command which the rule names, or an assignment that it names.
func (c *call) allowsOpaque(rule *compiledRule, a Opaque) bool {
	return slices.ContainsFunc(rule.allows, func(r reading) bool {
		if len(r.steps) == 1 {
			p := r.steps[0].commandPattern
			return a.Sets == "" && p.coversOpaque(a) || a.Sets != "" && (p.setsAll(a) && c.allNamed(a) || p.coversOpaque(a))
		}
		w, p, ok := r.inLine(a.Of)
		return ok && (a.Sets != "" && p.setsAll(a) || (w.Starts || a.Own || a.Sets != "") && p.coversOpaque(a))
	})
}

// coversOpaque reports whether a part belongs to a command that the pattern names and
// that is there to start another, or is what that command does to the shell.
func (p commandPattern) coversOpaque(a Opaque) bool {
	if a.Runs {
		return false
	}
	for w := a.Of; w != nil; w = w.In {
		if (w.Starts && (a.Whole || a.Listed || p.exact()) || a.Own && w == a.Of) && p.covers(w) {
			return true
		}
	}
	return false
}

// setsAll reports whether the pattern names the assignment.
func (p commandPattern) setsAll(a Opaque) bool {
	return slices.ContainsFunc(p.env, func(want string) bool {
		return setsMatch(want, a.Sets) && (!a.Steers || !strings.ContainsRune(want, star) && !strings.ContainsRune(want, within))
	})
}

// allNamed reports whether each command that gets an assignment is allowed by a rule
// that names it.
func (c *call) allNamed(a Opaque) bool {
	found := false
	for _, x := range c.req.Actions {
		e, ok := x.(Exec)
		if !ok || e.Sure >= Possible || !slices.Contains(e.Env, a.Sets) {
			continue
		}
		found = slices.ContainsFunc(c.rules.by[Allow], func(rule compiledRule) bool {
			return slices.ContainsFunc(rule.allows, func(r reading) bool {
				return len(r.steps) == 1 && r.steps[0].setsAll(a) && r.allows(e)
			})
		})
		if !found {
			return false
		}
	}
	return found
}

// spelledOut reports whether a rule names exactly the command, or the line, that an
// action is part of.
func (c *call) spelledOut(a Action) bool {
	for i := range c.rules.by[Allow] {
		rule := &c.rules.by[Allow][i]
		for _, r := range rule.allows {
			if slices.ContainsFunc(r.steps, func(s step) bool { return !s.exact() }) {
				continue
			}
			switch a := a.(type) {
			case Exec:
				if !a.Loose && r.allows(a) {
					return true
				}
			case Opaque:
				if c.allowsOpaque(rule, a) {
					return true
				}
			case Read, Write, Net, Call, Spawn, Tell, Workflow, Skill, Person, None:
			}
		}
	}
	return false
}

// spokenOf reports whether a rule that allows a command, or the one which it is a possible
// meaning of, says all the words by which that loses something.
func (c *call) spokenOf(a Exec) bool {
	if len(a.Lost) == 0 {
		return false
	}
	for i := range c.rules.by[Allow] {
		for _, r := range c.rules.by[Allow][i].allows {
			if p, ok := r.covering(a); ok && p.says(a.Lost) || a.Sure != Certain && r.meant(a) {
				return true
			}
		}
	}
	return false
}

// meant reports whether a reading names the command that a is a possible meaning of, in the
// words that lose something.
func (r reading) meant(a Exec) bool {
	for w := a.Of; w != nil && len(r.steps) == 1; w = w.In {
		if p := r.steps[0].commandPattern; p.match(w.Argv) && p.named(w.Env) && p.says(a.Lost) {
			return true
		}
	}
	return false
}

// says reports whether a rule has the word.
func (rule *compiledRule) says(word string) bool {
	return word != "" && slices.ContainsFunc(rule.allows, func(r reading) bool {
		return slices.ContainsFunc(r.steps, func(s step) bool { return slices.Contains(s.words(), word) })
	})
}

// says reports whether the pattern has the words, in their order.
func (p commandPattern) says(wanted []string) bool {
	for _, w := range p.words() {
		if len(wanted) > 0 && w == wanted[0] {
			wanted = wanted[1:]
		}
	}
	return len(wanted) == 0
}

// namedPart reports whether a rule for some commands covers a part that could not be
// read exactly.
func (c *call) namedPart(a Opaque) bool {
	for i := range c.rules.by[Allow] {
		if rule := &c.rules.by[Allow][i]; !rule.cmd.any && c.allowsOpaque(rule, a) {
			return true
		}
	}
	return false
}
