package shellread

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxBraces bounds how many words one brace expansion may become.
const maxBraces = 100

// maxValue bounds what is followed of one value, in bytes: x=$x$x doubles.
const maxValue = 64 << 10

// A word is one argument as far as it is known before it runs.
type word struct {
	kind valueKind // exact, pattern, number or unknown
	text string    // exact: the argument; pattern: the glob, literals escaped
	head string    // pattern, unknown: how it surely begins
	src  string    // as written
	many bool      // it may become no word or several
	fd   bool      // it names a process substitution: harmless to read
	bare bool      // an exact word without any quoting
	made bool      // it came out of a brace expansion
}

// lit is an exact word.
func lit(s string) word { return word{kind: exact, text: s, src: s} }

func (w word) is(s string) bool { return w.kind == exact && w.text == s }

// flagLike reports whether the word is, or may turn out to be, a flag.
func (w word) flagLike() bool {
	switch w.kind {
	case exact:
		return len(w.text) > 1 && w.text[0] == '-'
	case number:
		return false
	case unset, pattern, unknown:
	}
	if w.fd {
		return false
	}
	return w.head == "" || w.head[0] == '-'
}

// A builder puts one word together.
type builder struct {
	plain  strings.Builder // the literal text
	glob   strings.Builder // the same as a pattern
	kind   valueKind
	head   string
	many   bool
	quoted bool
	fd     bool
	parts  int
}

func (b *builder) add(s string) {
	b.parts++
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
func (r *reader) words(w *syntax.Word, st state) []word {
	src := r.source(w)
	alts := []*syntax.Word{w}
	if hasBrace(w) {
		var ok bool
		cp := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
		syntax.SplitBraces(cp)
		if alts, ok = expandBraces(cp); !ok {
			r.opaque(src, "a brace expansion cannot be read exactly")
			r.visitWord(w, st)
			return []word{{kind: unknown, src: src, many: true}}
		}
	}
	if len(alts) == 1 && hasBrace(w) && (strings.Contains(src, ",") || strings.Contains(src, "..")) {
		r.opaque(src, "a brace expansion that shells may read differently")
	}
	out := make([]word, 0, len(alts))
	for _, a := range alts {
		got, ok := r.word(a, st, src)
		if len(alts) > 1 && (!ok || slices.ContainsFunc(a.Parts, shortParam) || strings.Contains(got.text, "{")) {
			// zsh keeps an empty alternative; $v{1,2} is $v1 and $v2.
			r.opaque(src, "a brace expansion that shells read differently")
		}
		if ok {
			if got.made = len(alts) > 1; got.made && got.kind != pattern && got.flagLike() {
				r.opaque(src, "a brace expansion makes a flag")
			}
			out = append(out, got)
		}
	}
	return out
}

// word reads one word without braces; ok is false when it surely vanishes.
func (r *reader) word(w *syntax.Word, st state, src string) (word, bool) {
	b := &builder{kind: exact}
	if zshSplit(w, src) {
		r.opaque(src, "an expansion that is not bash")
	}
	if assignsTilde(w, src) {
		r.opaque(src, "bash replaces a tilde behind NAME= by a folder")
	}
	bare := true
	for i, p := range w.Parts {
		if _, isLit := p.(*syntax.Lit); !isLit {
			bare = false
		}
		r.part(b, p, st, i == 0, i == len(w.Parts)-1)
	}
	out := word{kind: b.kind, head: b.head, src: src, many: b.many, fd: b.fd && b.parts == 1, bare: bare && !b.quoted}
	switch b.kind {
	case exact:
		out.text = b.plain.String()
		if out.text == "" && !b.quoted {
			return word{}, false
		}
	case pattern:
		out.text = b.glob.String()
		if strings.HasPrefix(out.head, "--") && strings.Contains(out.head, "=") && r.noMatches(out.text, st) {
			// --include=*.go: bash leaves a pattern that matches nothing alone.
			return word{kind: exact, text: plainGlob(out.text), src: src}, true
		}
	case unset, number, unknown:
	}
	return out, true
}

// zshSplit reports whether a word holds what zsh takes for an expansion with
// flags or a name: $=x, $~x, $^x, $+x, $é.
func zshSplit(w *syntax.Word, src string) bool {
	found := false
	for i := 1; i < len(src); i++ {
		found = found || src[i-1] == '$' && (src[i] >= utf8.RuneSelf || strings.IndexByte("=~^+", src[i]) >= 0)
	}
	if !found {
		return false
	}
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool { _, plain := p.(*syntax.SglQuoted); return !plain })
}

// shortParam reports $x without braces.
func shortParam(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	return ok && e.Short
}

// assignsTilde reports whether an argument looks like an assignment with a
// tilde in its value: of=~/x. Bash expands it, other shells do not.
func assignsTilde(w *syntax.Word, src string) bool {
	if len(w.Parts) == 0 || !strings.Contains(src, "~") {
		return false
	}
	l, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return false
	}
	name, _, ok := strings.Cut(l.Value, "=")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "+"), "[")
	return ok && syntax.ValidName(name)
}

// value reads a word where nothing is split and no glob is expanded: the right
// side of an assignment, a redirect's here-string, a case word.
func (r *reader) value(w *syntax.Word, st state) value {
	if w == nil {
		return value{kind: exact}
	}
	b := &builder{kind: exact}
	for i, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			s := l.Value
			if i == 0 && strings.HasPrefix(s, "~") {
				if s = r.tilde(b, s, len(w.Parts) == 1, st); s == "" {
					continue
				}
			}
			if strings.Contains(s, ":~") {
				r.opaque(r.source(w), "a tilde inside an assignment")
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
		return value{kind: number}
	case pattern:
		return value{kind: pattern, text: b.glob.String(), head: b.head}
	case unset, unknown:
	}
	return value{kind: unknown, head: b.head}
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
		r.opaque(r.source(p), "an extended glob")
		b.unknown(true)
	default:
		r.opaque(clip(r.src), "an expansion that is not known")
		b.unknown(true)
	}
}

// unquoted adds an expansion that bash splits at blanks and expands globs in.
func (r *reader) unquoted(b *builder, v value, st state) {
	switch {
	case v.kind == exact && !strings.ContainsAny(v.text, " \t\n*?[\\"):
		b.add(v.text)
	case v.kind == number:
		b.mark(number)
	case v.kind == exact && strings.TrimLeft(v.text, " \t\n") == v.text:
		b.add(firstField(v.text))
		b.unknown(true)
	case v.kind == pattern && b.parts == 0 && r.cleanMatches(v.text, st):
		b.mark(pattern)
		b.glob.WriteString(v.text)
		b.head = v.head
	case v.kind == pattern:
		b.mark(unknown)
		b.many = true
		if b.plain.Len() == 0 {
			b.head = v.head
		}
	default:
		head := v.head
		plain := b.plain.Len() == 0 && b.kind == exact
		b.unknown(true)
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
			r.opaque(r.source(p), "an escape in $'…' that is not known")
			b.unknown(false)
			return
		}
		b.add(s)
	case *syntax.DblQuoted:
		if p.Dollar {
			r.opaque(r.source(p), "a translated string")
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
		if first {
			b.head = v.head
		}
	}
}

// isAll reports "$@" and "${a[@]}", which become several words even in quotes.
func isAll(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Param.Value == "@" || p.Index != nil
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
			r.opaque(s, "zsh replaces a word that begins with = by a program's path")
		}
	}
	if !first && strings.HasPrefix(s, "~") && b.kind == exact && b.plain.Len() == 0 {
		r.opaque(s, "zsh replaces a tilde behind empty quotes by a folder")
	}
	if strings.Contains(s, "{") && (strings.Contains(s, ",") || strings.Contains(s, "..")) {
		r.opaque(s, "a brace expansion that shells may read differently")
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
				r.opaque(s, "a backslash with nothing behind it")
			}
		case '*', '?':
			b.wild(string(c))
		case '[':
			end := strings.IndexByte(s[i+1:], ']')
			if end < 0 {
				if !last {
					// The closing bracket may stand in a quoted part.
					b.wild("*")
					continue
				}
				b.add("[")
				continue
			}
			b.wild("[")
		case ']':
			if b.kind == pattern {
				b.glob.WriteByte(']')
			} else {
				b.add("]")
			}
		default:
			b.plain.WriteByte(c)
			b.glob.WriteByte(c)
			b.parts++
		}
	}
}

// tilde replaces a leading ~ and returns what is left of s.
func (r *reader) tilde(b *builder, s string, last bool, st state) string {
	name, rest, slash := strings.Cut(s[1:], "/")
	if name != "" || !slash && !last {
		r.opaque(s, "the home folder of another user, or a folder the shell remembers")
		b.unknown(false)
		return ""
	}
	if v, set := st.vars["HOME"]; set || r.w.Home == "" {
		_ = v
		r.opaque(s, "HOME is changed")
		b.unknown(false)
		return ""
	}
	b.quoted = true
	b.add(r.w.Home)
	if slash {
		return "/" + rest
	}
	return ""
}

// unescape removes backslashes of an unquoted literal.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapeQuoted removes the backslashes that count within double quotes.
func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes the inside of $'…'; ok is false for what shells differ on.
func ansiC(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		c := s[i]
		if at := strings.IndexByte(`abeEfnrtv\'"?`, c); at >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[at])
			continue
		}
		base, most, from := 16, 0, i+1
		switch {
		case c == 'x':
			most = 2
		case c == 'u':
			most = 4
		case c == 'U':
			most = 8
		case c >= '0' && c <= '7':
			base, most, from = 8, 3, i
		default:
			return "", false
		}
		to := from
		for to < len(s) && to < from+most && isDigit(s[to], base) {
			to++
		}
		n, err := strconv.ParseUint(s[from:to], base, 32)
		if err != nil || n == 0 || n > utf8.MaxRune || (c == 'u' || c == 'U') && n >= 0xd800 && n < 0xe000 {
			return "", false
		}
		if c == 'u' || c == 'U' {
			b.WriteRune(rune(n))
		} else {
			b.WriteByte(byte(n))
		}
		i = to - 1
	}
	if !utf8.ValidString(b.String()) {
		return "", false
	}
	return b.String(), true
}

func isDigit(c byte, base int) bool {
	switch {
	case c >= '0' && c <= '7':
		return true
	case base == 16:
		return c == '8' || c == '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	}
	return false
}

func hasBrace(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return true
		}
	}
	return false
}

// expandBraces multiplies out the alternatives of a split word.
func expandBraces(w *syntax.Word) ([]*syntax.Word, bool) {
	out := []*syntax.Word{{}}
	for _, p := range w.Parts {
		be, ok := p.(*syntax.BraceExp)
		if !ok {
			for _, o := range out {
				o.Parts = append(o.Parts, p)
			}
			continue
		}
		elems, ok := braceElems(be)
		if !ok || len(out)*len(elems) > maxBraces {
			return nil, false
		}
		var next []*syntax.Word
		for _, o := range out {
			for _, e := range elems {
				next = append(next, &syntax.Word{Parts: append(append([]syntax.WordPart(nil), o.Parts...), e.Parts...)})
			}
		}
		out = next
	}
	return out, true
}

func braceElems(be *syntax.BraceExp) ([]*syntax.Word, bool) {
	if be.Sequence {
		return braceSequence(be)
	}
	var out []*syntax.Word
	for _, e := range be.Elems {
		more, ok := expandBraces(e)
		if !ok || len(out)+len(more) > maxBraces {
			return nil, false
		}
		out = append(out, more...)
	}
	return out, true
}

// braceSequence reads {1..5}; other sequences are left to a person.
func braceSequence(be *syntax.BraceExp) ([]*syntax.Word, bool) {
	if len(be.Elems) != 2 {
		return nil, false
	}
	a, b := be.Elems[0].Lit(), be.Elems[1].Lit()
	if len(a) == 1 && len(b) == 1 && a[0] >= 'a' && b[0] <= 'z' && a[0] <= b[0] {
		var out []*syntax.Word
		for c := a[0]; c <= b[0]; c++ {
			out = append(out, literalWord(string(c)))
		}
		return out, true
	}
	from, err1 := strconv.Atoi(a)
	to, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || from < 0 || to < from || to-from >= maxBraces || len(a) > 1 && a[0] == '0' || len(b) > 1 && b[0] == '0' {
		return nil, false
	}
	var out []*syntax.Word
	for n := from; n <= to; n++ {
		out = append(out, literalWord(strconv.Itoa(n)))
	}
	return out, true
}

func literalWord(s string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: s}}}
}

// cleanMatches reports whether every match of a pattern is a single word that
// holds nothing to split or expand further.
func (r *reader) cleanMatches(pattern string, st state) bool {
	matches, ok := r.matches(pattern, st)
	if !ok || len(matches) == 0 {
		return false
	}
	for _, m := range matches {
		if strings.ContainsAny(m, " \t\n*?[\\") {
			return false
		}
	}
	return true
}

func (r *reader) noMatches(pattern string, st state) bool {
	matches, ok := r.matches(pattern, st)
	return ok && len(matches) == 0
}

// matches lists what a pattern matches now, in every folder the shell may
// stand in; ok is false when that is not known.
func (r *reader) matches(pattern string, st state) (all []string, ok bool) {
	dirs := st.dirs
	if strings.HasPrefix(pattern, "/") {
		dirs = []string{""}
	}
	if len(dirs) == 0 {
		return nil, false
	}
	for _, d := range dirs {
		full := pattern
		if d != "" {
			full = escapeGlob(strings.TrimSuffix(d, "/")) + "/" + pattern
		}
		got := r.glob(full)
		if got == nil {
			return nil, false
		}
		all = append(all, got...)
	}
	return all, true
}

// plainGlob is the text of a pattern as it was written.
func plainGlob(p string) string { return unescape(p) }
