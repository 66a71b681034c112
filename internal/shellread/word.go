package shellread

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/adze-agent/adze/internal/shellread/programs"
)

// The words of a command, as the table of programs takes them.
type (
	word      = programs.Word
	valueKind = programs.ValueKind
)

const (
	unset   = programs.Unset
	exact   = programs.Exact
	pattern = programs.Pattern
	number  = programs.Number
	unknown = programs.Unknown
)

func lit(s string) word { return programs.Lit(s) }

// maxBraces bounds how many words one brace expansion may become, maxBraced
// all of a script.
const (
	maxBraces = 100
	maxBraced = 1_000
)

// maxValue bounds what is followed of one value, in bytes: x=$x$x doubles.
const maxValue = 64 << 10

// A builder puts one word together.
type builder struct {
	plain    strings.Builder // the literal text
	glob     strings.Builder // the same as a pattern
	kind     valueKind
	head     string
	tail     string // how the last part that is not known surely ends
	tailAt   int    // where what stands behind it begins in plain
	many     bool
	commit   bool // it begins with the number of a commit
	quoted   bool
	fd       bool
	loose    bool // the pattern matches more than was written
	parts    int
	fields   []string // what the first fieldsAt parts are split into
	fieldsAt int
	ors      []orPart // what parts that are not known may be
	marks    int      // parts that are not known
	orGlob   bool
	job      bool            // it is the number of a process that the script started
	gone     bool            // it is a number that may be no word at all
	empty    bool            // or an empty one, as it is quoted
	texts    bool            // what is not known of it may be more than a number
	whole    bool            // it is a value, which nothing splits
	each     string          // the program whose output, name by name, a part is
	found    *programs.Found // the files of which a part names one
	lines    bool            // or some, when it is split
	ifs      string          // what unquoted values are split at, "" for blanks
}

func (b *builder) add(s string) {
	b.parts++
	if s != "" {
		b.noNumber()
	}
	if b.plain.Len()+len(s) > maxValue {
		b.unknown(true)
		return
	}
	b.plain.WriteString(s)
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]\`, s[i]) >= 0 {
			b.glob.WriteByte('\\')
		}
		b.glob.WriteByte(s[i])
	}
}

func (b *builder) mark(k valueKind) {
	b.parts++
	b.marks++
	b.texts = b.texts || k != number
	b.tail, b.tailAt, b.commit = "", b.plain.Len(), false
	if b.kind == exact {
		b.head = b.plain.String()
	}
	if k == number && b.kind == exact && b.plain.Len() == 0 {
		b.kind = number
		return
	}
	if k == number && b.kind == number {
		return
	}
	if k == number {
		k = unknown
	}
	if b.kind != unknown {
		b.kind = k
	}
}

// ends is how a word that is not known surely ends.
func (b *builder) ends() string {
	if b.loose {
		return ""
	}
	return b.tail + b.plain.String()[b.tailAt:]
}

// noNumber notes that something that is no digit stands behind a number: the
// whole is no number, and may even be a flag, because a number may be negative.
func (b *builder) noNumber() {
	if b.kind == number {
		b.kind = unknown
	}
}

func (b *builder) wild(c string) {
	b.mark(pattern)
	b.many = true
	b.glob.WriteString(c)
}

func (b *builder) unknown(many bool) {
	b.mark(unknown)
	b.many = b.many || many
}

// words expands one word of the script into arguments.
func (r *reader) words(w *syntax.Word, st state) (out []word) {
	text := r.text(w)
	src := programs.Clip(text)
	alts := []*syntax.Word{w}
	if hasBrace(w) {
		var ok bool
		cp := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
		if r.braced <= maxBraced {
			syntax.SplitBraces(cp)
			alts, ok = expandBraces(cp)
			r.braced += len(alts)
		}
		if !ok || r.braced > maxBraced {
			r.Opaque(src, "a brace expansion cannot be read exactly")
			r.visitWord(w, st)
			return []word{{Kind: unknown, Source: src, Many: true}}
		}
	}
	if len(alts) == 1 && hasBrace(w) && !plainBraces(text) {
		r.Opaque(src, "a brace expansion that shells may read differently")
	}
	defer func() {
		for _, got := range out {
			if r.looseGlobs && got.Kind == pattern {
				r.MayName(word{Kind: unknown, Head: got.Head, Source: src}, st.dirs, false)
				r.MayName(word{Kind: unknown, Head: got.Head, Source: src}, st.dirs, true)
			}
		}
	}()
	out = make([]word, 0, len(alts))
	for _, a := range alts {
		got, ok := r.word(a, st, text)
		if len(alts) > 1 && (!ok || slices.ContainsFunc(a.Parts, shortParam) || strings.Contains(got.Text, "{")) {
			// zsh keeps an empty alternative; $v{1,2} is $v1 and $v2.
			r.Opaque(src, "a brace expansion that shells read differently")
		}
		if ok {
			flag, _, valued := strings.Cut(text, "=")
			given := valued && strings.HasPrefix(flag, "--") && !strings.Contains(flag, "{") // --include=*.{a,b}
			if got.Made = len(alts) > 1; got.Made && !given && got.Kind != pattern && got.FlagLike() {
				r.Opaque(src, "a brace expansion makes a flag")
			}
			out = append(out, got)
		}
	}
	return out
}

// word reads one word without braces; ok is false when it surely vanishes.
func (r *reader) word(w *syntax.Word, st state, text string) (word, bool) {
	b := &builder{kind: exact}
	src := programs.Clip(text)
	if r.zshSplit(w.Parts) {
		r.Opaque(src, "an expansion that is not bash")
	}
	if assignsTilde(w, text) {
		r.Opaque(src, "bash replaces a tilde behind NAME= by a folder")
	}
	for i, p := range w.Parts {
		r.part(b, p, st, i == 0, i == len(w.Parts)-1)
	}
	out := word{Kind: b.kind, Head: b.head, Source: src, Many: b.many, Substitution: b.fd && b.parts == 1}
	switch b.kind {
	case exact:
		out.Text = b.plain.String()
		if out.Text == "" && !b.quoted {
			return word{}, false
		}
	case pattern:
		out.Text, out.Loose = b.glob.String(), r.looseGlobs
		if strings.HasPrefix(out.Head, "--") && strings.Contains(out.Head, "=") && !b.loose && r.NoMatches(out.Text, st.dirs) {
			// --include=*.go: bash leaves a pattern that matches nothing alone.
			return word{Kind: exact, Text: plainGlob(out.Text), Source: src}, true
		}
	case unknown:
		out.Tail = b.ends()
		out.Digits = !b.texts && b.marks > 0
		if b.parts == b.fieldsAt {
			out.Fields = b.fields
		}
		out.Or, out.Each = b.alternatives(src), b.each
		if out.Or == nil {
			out.Or = r.extended(w, st, text)
		}
		if b.found != nil && b.marks == 1 && b.plain.Len() == 0 {
			out.Found, out.Many = b.found, b.lines
		}
		out.Commit = b.commit && commitTail().MatchString(out.Tail) && !strings.Contains(out.Tail, "/.")
	case number:
		out.Gone, out.Job = b.gone && b.parts == 1, b.job && b.marks == 1 && b.plain.Len() == 0
	case unset:
	}
	return out, true
}

// value reads a word where nothing is split and no glob is expanded: the right
// side of an assignment, a redirect's here-string, a case word.
func (r *reader) value(w *syntax.Word, st state) value {
	if w == nil {
		return value{kind: exact}
	}
	b := &builder{kind: exact, whole: true}
	if r.zshSplit(w.Parts) {
		r.Opaque(r.source(w), "an expansion that is not bash")
	}
	for i, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			s := l.Value
			if i == 0 && strings.HasPrefix(s, "~") {
				if s = r.tilde(b, s, len(w.Parts) == 1, st); s == "" {
					continue
				}
			}
			if strings.Contains(s, ":~") {
				r.Opaque(r.source(w), "a tilde inside an assignment")
			}
			b.quoted = true
			b.add(unescape(s))
			continue
		}
		r.quotedPart(b, p, st)
	}
	switch b.kind {
	case exact:
		return value{kind: exact, text: b.plain.String()}
	case number:
		return value{kind: number, gone: b.gone || b.empty, job: b.job && b.marks == 1 && b.plain.Len() == 0}
	case pattern:
		return value{kind: pattern, text: b.glob.String(), head: b.head}
	case unset, unknown:
	}
	out := value{kind: unknown, head: b.head, tail: b.ends(), commit: b.commit && b.ends() == ""}
	out.or, out.ors = b.alternative()
	out.or = strings.ReplaceAll(out.or, "\x00", " ")
	if b.marks == 1 && b.plain.Len() == 0 && len(w.Parts) == 1 {
		out.found, out.lines = b.found, b.lines
	}
	return out
}

// part adds an unquoted part of a word.
func (r *reader) part(b *builder, p syntax.WordPart, st state, first, last bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		r.literal(b, p.Value, st, first, last)
	case *syntax.SglQuoted, *syntax.DblQuoted:
		b.quoted = true
		r.quotedPart(b, p, st)
	case *syntax.ParamExp:
		r.unquoted(b, r.param(p, st, false), st)
	case *syntax.CmdSubst:
		r.unquoted(b, r.subst(p, st), st)
	case *syntax.ArithmExp:
		r.arithm(b, p, st)
	case *syntax.ProcSubst:
		r.procSubst(p, st)
		b.fd = p.Op != syntax.CmdInTemp
		b.unknown(false)
		b.head = "/dev/fd/"
	case *syntax.ExtGlob:
		r.Opaque(r.source(p), "an extended glob")
		b.unknown(true)
	default:
		r.Opaque(programs.Clip(r.Source), "an expansion that is not known")
		b.unknown(true)
	}
}

// unquoted adds an expansion that bash splits at blanks and expands globs in.
func (r *reader) unquoted(b *builder, v value, st state) {
	if ifs, set := splitsBy(st); set && v.kind == exact && strings.ContainsAny(v.text, ifs+" \t\n") {
		b.ifs = ifs
		b.unknown(true)
		b.or(value{or: v.text, ors: true}, ifs != "")
		return
	} else if set {
		b.ifs = ifs
	}
	switch {
	case v.kind == exact && !strings.ContainsAny(v.text, " \t\n*?[\\"):
		b.add(v.text)
	case v.kind == number:
		b.gone, b.job = v.gone && b.parts == 0, v.job
		b.mark(number)
	case v.kind == exact && strings.TrimLeft(v.text, " \t\n") == v.text:
		if b.parts == 0 && !strings.ContainsAny(v.text, `*?[\`) {
			b.fields, b.fieldsAt = strings.Fields(v.text), 2
		}
		b.add(firstField(v.text))
		b.unknown(true)
		b.orGlobbed(strings.TrimPrefix(v.text, firstField(v.text)))
	case v.kind == pattern && b.parts == 0 && r.CleanMatches(v.text, st.dirs):
		b.mark(pattern)
		b.glob.WriteString(v.text)
		b.head = v.head
	case v.kind == pattern:
		b.mark(unknown)
		b.many = true
		b.or(value{or: v.text, ors: !strings.ContainsAny(v.text, " \t\n")}, true)
		if b.plain.Len() == 0 {
			b.head = v.head
		}
	default:
		head := v.head
		plain := b.plain.Len() == 0 && b.kind == exact
		b.unknown(true)
		b.or(v, true)
		b.each = v.each
		if _, set := splitsBy(st); !set {
			b.found, b.lines = v.found, v.lines
		}
		b.tail, b.commit = v.tail, v.commit && plain
		if plain && v.kind == unknown && !strings.ContainsAny(head, " \t\n*?[\\") {
			b.head = head
		}
	}
}

// firstField is how a split value surely begins.
func firstField(s string) string {
	if i := strings.IndexAny(s, " \t\n*?[\\"); i >= 0 {
		return s[:i]
	}
	return s
}

// quotedPart adds a part in which nothing is split.
func (r *reader) quotedPart(b *builder, p syntax.WordPart, st state) {
	switch p := p.(type) {
	case *syntax.Lit:
		b.add(unescapeQuoted(p.Value))
	case *syntax.SglQuoted:
		if !p.Dollar {
			b.add(p.Value)
			return
		}
		s, ok := ansiC(p.Value)
		if !ok {
			r.Opaque(r.source(p), "an escape in $'…' that is not known")
			b.unknown(false)
			return
		}
		b.add(s)
	case *syntax.DblQuoted:
		if p.Dollar {
			r.Opaque(r.source(p), "a translated string")
		}
		b.add("")
		for _, q := range p.Parts {
			r.quotedPart(b, q, st)
		}
	case *syntax.ParamExp:
		r.whole(b, r.param(p, st, true), isAll(p))
	case *syntax.CmdSubst:
		r.whole(b, r.subst(p, st), false)
	case *syntax.ArithmExp:
		r.arithm(b, p, st)
	default:
		r.part(b, p, st, false, false)
	}
}

// whole adds a quoted expansion: one word, whatever is in it.
func (r *reader) whole(b *builder, v value, many bool) {
	switch v.kind {
	case exact:
		b.add(v.text)
	case number:
		b.empty, b.job = v.gone, v.job
		b.mark(number)
	case pattern:
		first := b.plain.Len() == 0 && b.kind == exact
		b.mark(pattern)
		b.glob.WriteString(v.text)
		if first {
			b.head = v.head
		}
	case unset, unknown:
		first := b.plain.Len() == 0 && b.kind == exact
		b.unknown(many)
		b.or(v, many)
		b.each = v.each
		if !v.lines || b.whole {
			b.found, b.lines = v.found, v.lines
		}
		b.tail, b.commit = v.tail, v.commit && first
		if first {
			b.head = v.head
		}
	}
}

// literal adds unquoted literal text: escapes, globs, a leading tilde.
func (r *reader) literal(b *builder, s string, st state, first, last bool) {
	if first {
		switch {
		case strings.HasPrefix(s, "~"):
			if s = r.tilde(b, s, last, st); s == "" {
				return
			}
		case len(s) > 1 && s[0] == '=' && s != "==" && s != "=~":
			r.Opaque(s, "zsh replaces a word that begins with = by a program's path")
		}
	}
	if !first && strings.HasPrefix(s, "~") && b.kind == exact && b.plain.Len() == 0 {
		r.Opaque(s, "zsh replaces a tilde behind empty quotes by a folder")
	}
	if strings.Contains(s, "{") && !plainBraces(s) {
		r.Opaque(s, "a brace expansion that shells may read differently")
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			b.quoted = true
			if i+1 < len(s) {
				i++
				_, n := utf8.DecodeRuneInString(s[i:])
				b.add(s[i : i+n])
				i += n - 1
			} else {
				r.Opaque(s, "a backslash with nothing behind it")
			}
		case '*', '?':
			b.wild(string(c))
		case '[':
			end := strings.IndexByte(s[i+1:], ']')
			if end < 0 {
				if !last {
					// The closing bracket may stand in a quoted part.
					b.wild("*")
					b.loose = true
					continue
				}
				b.add("[")
				continue
			}
			b.wild("[")
		case ']':
			if b.kind == pattern {
				b.glob.WriteByte(']')
				b.tailAt = b.plain.Len()
			} else {
				b.add("]")
			}
		default:
			b.noNumber()
			b.plain.WriteByte(c)
			b.glob.WriteByte(c)
			b.parts++
		}
	}
}
