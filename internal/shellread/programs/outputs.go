package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// An output is one such flag in a command: the word that names it, with the sign of equality
// where its value is glued to it, its kind and its value.
type output struct {
	flag  string
	kind  byte
	value Word
}

// outputsOf are the flags of a command that write files, and its other words; ok is false
// when what one of them takes is not known.
func outputsOf(kinds func(flag string) byte, runs, valued string, ws []Word) (found []output, rest []Word, ok bool) {
	rest = append(rest, ws[0])
	for i := 1; i < len(ws); i++ {
		w := ws[i]
		flag, val, glued := strings.Cut(w.Text, "=")
		kind := kinds(flag)
		switch {
		case w.Digits && w.Tail == "" && len(w.Head) == 2 && kinds(w.Head) == takesBare: // -j$(nproc)
			found = append(found, output{flag: w.Source, kind: takesBare})
			continue
		case w.Is("--"):
			return found, append(rest, ws[i:]...), true
		case kind != 0 || w.Kind != Exact || glued:
		default: // -sSLo, -Cweb
			if after, several := bundled(runs, valued, w.Text); several {
				kind = kinds("-" + w.Text[len(w.Text)-len(after)-1:len(w.Text)-len(after)])
				val, glued, flag = after, after != "", w.Text
			}
		}
		if kind == 0 || w.Kind != Exact || glued && takesNoValue(kind) {
			rest = append(rest, w)
			continue
		}
		o := output{flag: w.Text, kind: kind}
		switch {
		case glued:
			if o.value = (Word{Kind: Exact, Text: val, Source: w.Source}); flag != w.Text {
				o.flag = flag + "="
			}
		case !takesNoValue(kind):
			if i++; i == len(ws) || ws[i].Kind != Exact || len(ws[i].Text) > 1 && ws[i].Text[0] == '-' {
				return nil, nil, false
			}
			o.value = ws[i]
		}
		found = append(found, o)
	}
	return found, rest, true
}

// takesNoValue reports a kind of flags behind which no value stands.
func takesNoValue(kind byte) bool {
	return kind == takesNothing || kind == namesItself || kind == takesBare
}

// outputs is what a flag of the program takes that writes files and does nothing else; 0 for
// any other.
func (p *program) outputs(flag string) byte {
	return kindOf(taken(p.takes, flag), "wfniW", "wfniw")
}

// hasOutputs reports a program with such flags.
func (p *program) hasOutputs() bool {
	return slices.ContainsFunc(strings.Fields(p.takes), func(tok string) bool { return p.outputs(tok[:strings.LastIndexByte(tok, '=')]) != 0 })
}

// kindOf is the first of some letters that a flag has, as another letter; 0 for none.
func kindOf(letters, some, as string) byte {
	if i := strings.IndexAny(some, letters); letters != "" && i >= 0 {
		return as[i]
	}
	return 0
}

// NamedOutputs are the words of the flags for which a rule with a wildcard does not cover a
// command, when all they do is write files: a rule that has them as well does. They are nil
// when something else speaks against it.
func (t *Table) NamedOutputs(name string, ws []Word) (flags []string) {
	p := t.of(name)
	found, rest, ok := outputsOf(p.outputs, p.runs, p.valued, ws)
	if !ok || len(found) == 0 || t.Beyond(name, rest) != "" || OpenWord(ws) != "" || ValueBeyond(name, rest[1:]) != "" {
		return nil
	}
	for _, o := range found {
		if _, plain := o.places(); !plain || o.kind == namesItself && slices.ContainsFunc(rest, func(w Word) bool {
			return w.Is("--remote-header-name") || strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, "J")
		}) {
			return nil // the server gives the name
		}
		flags = append(flags, o.flag)
	}
	return flags
}

// SpelledFlags is how many of the first words of a command hold all flags for which a rule
// with a wildcard does not cover it, each with the word behind it; 0 when something else
// speaks against it. behind is the command without them, of one that without them would
// start another (pnpm -C web exec x), else nil.
func (t *Table) SpelledFlags(name string, ws []Word) (first int, behind []Word) {
	if name == "git" || OpenWord(ws) != "" {
		return 0, nil
	}
	p, rest := t.of(name), ws[:1:1]
	for i := 1; i < len(ws); i++ {
		w := ws[i]
		if _, several := bundled(p.runs, p.valued, w.Text); w.Kind != Exact || several || !matches(p.runs, w.Text) {
			rest = append(rest, w)
			continue
		}
		if first = i + 1; !strings.Contains(w.Text, "=") {
			if i++; i == len(ws) || ws[i].Kind != Exact || strings.HasPrefix(ws[i].Text, "-") {
				return 0, nil
			}
			first++
		}
	}
	switch {
	case first == 0 || ValueBeyond(name, rest[1:]) != "":
		return 0, nil
	case t.Beyond(name, rest) == "":
		return first, nil
	}
	if starts, _ := t.Starts(name, rest); starts == 0 || first+len(rest)-1 != len(ws) { // flags among the words of what is started may be its own
		return 0, nil
	}
	return first, rest
}

// written adds the files that such flags write.
func (u *Invocation) written(ws []Word) {
	p := u.r.Table.of(u.name)
	found, rest, _ := outputsOf(p.outputs, p.runs, p.valued, ws)
	for _, o := range found {
		switch o.kind {
		case takesFile:
			if !o.value.Is("-") {
				u.put(o.value, policy.Write{})
			}
		case takesFolder, namesItself:
			dir := o.value
			if o.kind == namesItself {
				dir = Lit(".")
			}
			u.put(dir, policy.Write{Within: true})
			for _, w := range rest[1:] {
				if name := w.Text[strings.LastIndexByte(w.Text, '/')+1:]; w.Kind == Exact && name != "" && !strings.HasPrefix(w.Text, "-") {
					u.put(Lit(strings.TrimSuffix(dir.Text, "/")+"/"+name), policy.Write{})
				}
			}
		}
	}
}
