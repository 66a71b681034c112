package shellread

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/policy"
)

// What a text most likely is that is not known for sure: ${x:-word} where nothing set
// x, what echo prints. It counts as not known, and besides, the command is judged as if
// that were it: what would be a question then is one.

// maxAlternatives bounds the commands of one script that are read so once more.
const maxAlternatives = 100

// or adds a part that is not known, and what it may be.
func (b *builder) or(v value, split bool) {
	if !v.ors || len(v.or) > maxValue {
		return
	}
	text := v.or
	if split {
		text = strings.Join(b.split(text), "\x00")
		b.orGlob = b.orGlob || strings.ContainsAny(text, "*?[")
	}
	b.ors = append(b.ors, orPart{at: b.plain.Len(), text: text})
}

// orGlobbed adds what follows the first field of a value with a pattern in it: the shell
// splits it, and puts what the pattern matches there.
func (b *builder) orGlobbed(rest string) {
	if !strings.ContainsAny(rest, "*?[") {
		return
	}
	text := strings.Join(strings.Fields(rest), "\x00")
	if strings.TrimLeft(rest, " \t\n") != rest {
		text = "\x00" + text
	}
	b.orGlob = true
	b.ors = append(b.ors, orPart{at: b.plain.Len(), text: text})
}

// split is a text as the shell splits it where it is not quoted.
func (b *builder) split(text string) []string {
	if b.ifs == "" {
		return strings.Fields(text)
	}
	return strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(b.ifs, c) })
}

// splitsBy is the IFS that a script has set, blanks with it where it is not sure; ""
// where it has set none. What a script that sets IFS to nothing writes is not split.
func splitsBy(st state) (ifs string, set bool) {
	v, set := st.vars["IFS"]
	switch {
	case !set:
		return "", false
	case v.kind == exact:
		return v.text, true
	case v.ors:
		return v.or + " \t\n", true
	}
	return " \t\n,:;=|/", true // whatever it is
}

// An orPart stands at a place of the text that is known.
type orPart struct {
	at   int
	text string
}

// alternative is the whole text that a word may be; ok is false where a part of it
// has none.
func (b *builder) alternative() (text string, ok bool) {
	if len(b.ors) == 0 || len(b.ors) != b.marks {
		return "", false
	}
	var out strings.Builder
	plain, from := b.plain.String(), 0
	for _, o := range b.ors {
		out.WriteString(plain[from:o.at])
		out.WriteString(o.text)
		from = o.at
	}
	out.WriteString(plain[from:])
	return out.String(), out.Len() <= maxValue
}

// alternatives are the words that a word may be.
func (b *builder) alternatives(src string) (out []word) {
	text, ok := b.alternative()
	if !ok {
		return nil
	}
	out = []word{}
	for f := range strings.SplitSeq(text, "\x00") {
		w := lit(f)
		if b.orGlob && strings.ContainsAny(f, "*?[") {
			w = word{Kind: pattern, Text: f, Many: true}
		}
		if w.Source = src; f != "" || b.quoted {
			out = append(out, w)
		}
	}
	return out
}

// alternatively are the words of a command with those that some of them may be; more is
// false when there are none.
func alternatively(ws []word) (out []word, more bool) {
	for _, w := range ws {
		if w.Or == nil {
			out = append(out, w)
			continue
		}
		more = true
		out = append(out, w.Or...)
	}
	return out, more && len(out) > 0
}

// suppose reads a command that may be meant. What it runs is for rules that forbid or
// ask and for what is lost; what it reads and writes is judged as any other.
func (r *reader) suppose(ws []word, st state) {
	r.supposing(func() { r.simple(ws, nil, st) })
}

func (r *reader) supposing(read func()) {
	if r.alternatives++; r.alternatives > maxAlternatives || r.depth > maxDepth/2 {
		return
	}
	r.keep(r.apart(read), func(a policy.Action) policy.Action {
		switch a := a.(type) {
		case policy.Exec:
			lost := a.Loses
			a = forRulesOnly(a)
			a.Sure, a.Loses = max(a.Sure, policy.Possible), lost
			return a
		case policy.Write:
			a.Sure = max(a.Sure, policy.Possible)
			return a
		case policy.Read:
			return a
		case policy.Opaque, policy.Net, policy.Call, policy.Spawn, policy.Tell, policy.Workflow, policy.Skill, policy.Person, policy.None:
		}
		return nil
	})
}

// supposed is what a substitution most likely prints: the words of echo, or of printf
// with a format that only joins them, and what cat is given.
func (r *reader) supposed(p *syntax.CmdSubst, st state) (text string, ok bool) {
	if len(p.Stmts) != 1 {
		return "", false
	}
	s := p.Stmts[0]
	call, simple := s.Cmd.(*syntax.CallExpr)
	if !simple || len(call.Assigns) > 0 || len(call.Args) == 0 || s.Negated || s.Background || len(s.Redirs) > 1 {
		return "", false
	}
	name := call.Args[0].Lit()
	var texts []string
	args := call.Args[1:]
	if name == "cat" && len(args) == 0 && len(s.Redirs) == 1 && s.Redirs[0].Op == syntax.WordHdoc {
		args = []*syntax.Word{s.Redirs[0].Word}
	} else if name != "echo" && name != "printf" || len(s.Redirs) > 0 {
		return "", false
	}
	for _, a := range args {
		v := r.quietly(a, func() value { return r.value(a, st) })
		if v.kind == exact {
			v.or, v.ors = v.text, true
		}
		if !v.ors || hasBrace(a) {
			return "", false
		}
		texts = append(texts, v.or)
	}
	switch {
	case name == "printf" && len(texts) > 0:
		text, ok = formatted(texts[0], texts[1:])
	case name == "echo" && len(texts) > 0 && strings.HasPrefix(texts[0], "-") && strings.Trim(texts[0], "-neE") == "":
		text, ok = strings.Join(texts[1:], " "), true
	default:
		text, ok = strings.Join(texts, " "), true
	}
	return strings.TrimRight(text, "\n"), ok
}

// formatted is what printf prints of a format of texts, %s and %b.
func formatted(format string, args []string) (text string, ok bool) {
	format = strings.NewReplacer(`\n`, "\n", `\t`, "\t", "%b", "%s", "%%", "%").Replace(format)
	n := strings.Count(format, "%s")
	if strings.ContainsRune(strings.ReplaceAll(format, "%s", ""), '%') || strings.Contains(format, `\`) {
		return "", false
	}
	var out strings.Builder
	for first := true; first || n > 0 && len(args) > 0; first = false {
		next := format
		for range n {
			arg := ""
			if len(args) > 0 {
				arg, args = args[0], args[1:]
			}
			next = strings.Replace(next, "%s", arg, 1)
		}
		if out.WriteString(next); out.Len() > maxValue {
			return "", false
		}
	}
	return out.String(), true
}

// supposedExpansion is what ${v…} most likely is: the word behind an operator where v
// is not set, and what another one makes of a value that is known.
func supposedExpansion(p *syntax.ParamExp, v, arg value) (text string, ok bool) {
	from := v.text
	if v.kind != exact {
		if from = v.or; !v.ors {
			from = ""
		}
	}
	known := v.kind == exact || v.ors
	with := arg.text
	if arg.kind != exact {
		with = arg.or
	}
	given := arg.kind == exact || arg.ors
	plain := given && !strings.ContainsAny(with, `*?[\`)
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		if known && from != "" {
			return from, true
		}
		return with, given
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return with, given
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return strings.TrimSuffix(from, with), known && plain
	case syntax.RemSmallPrefix, syntax.RemLargePrefix:
		return strings.TrimPrefix(from, with), known && plain
	case syntax.LowerAll:
		return strings.ToLower(from), known && with == ""
	case syntax.UpperAll:
		return strings.ToUpper(from), known && with == ""
	}
	return "", false
}

// supposedSlice is ${v:from:length} of a value that is known.
func supposedSlice(p *syntax.ParamExp, v value) (text string, ok bool) {
	number := func(x syntax.ArithmExpr, or int) (int, bool) {
		if x == nil {
			return or, true
		}
		w, plain := x.(*syntax.Word)
		if !plain {
			return 0, false
		}
		n, err := strconv.Atoi(w.Lit())
		return n, err == nil
	}
	if v.kind != exact {
		return "", false
	}
	from, ok1 := number(p.Slice.Offset, 0)
	n, ok2 := number(p.Slice.Length, len(v.text))
	if !ok1 || !ok2 || from > len(v.text) {
		return "", false
	}
	return v.text[from:min(len(v.text), from+max(n, 0))], true
}

// supposedReplacement is ${v/from/to} of a value that is known, without wildcards.
func supposedReplacement(p *syntax.ParamExp, v, from, to value) (text string, ok bool) {
	if v.kind != exact || from.kind != exact || to.kind != exact || strings.ContainsAny(from.text, `*?[\`) || from.text == "" {
		return "", false
	}
	n := 1
	if p.Repl.All {
		n = -1
	}
	if strings.IndexByte("#%", from.text[0]) >= 0 {
		return "", false
	}
	return strings.Replace(v.text, from.text, to.text, n), true
}

// mayRedirect judges the file that the word of a redirect may be.
func (r *reader) mayRedirect(w word, op syntax.RedirOperator, st state) {
	if len(w.Or) != 1 {
		return
	}
	if op != syntax.RdrIn {
		r.Write(w.Or[0], st.dirs, policy.Write{Sure: policy.Possible})
	}
	if slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.RdrInOut}, op) {
		r.Read(w.Or[0], st.dirs, policy.Read{})
	}
}
