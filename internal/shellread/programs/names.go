package programs

import (
	"net/url"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Bounds of what is looked at in one command.
const (
	maxNamed  = 5_000 // bytes of one text
	maxPieces = 100   // of one text
	// maxCluster is behind how many letters of a word of flags a value is looked for.
	maxCluster = 6
)

// namesIn adds the paths that stand inside of the words of a program that is not known to
// only read what they say, here and in the folders that a flag moves it to.
func (u *Invocation) namesIn(ws []Word, told []bool) {
	code := u.takesCode() || u.name != "ssh" && u.r.Table.MayRun(u.name, ws)
	there := &Invocation{r: u.r, dirs: u.movedTo(ws), name: u.name}
	for i, w := range ws[:min(len(ws), 100)] {
		if w.Kind != Exact || i == 0 {
			continue
		}
		prose := !code && strings.ContainsAny(w.Text, " \n")
		u.named(w.Text, policy.Read{MayWrite: !prose && told[i] || code && strings.ContainsAny(w.Text, " (")}, code && !IsAwk(u.name) || !prose)
		if len(there.dirs) > 0 && !prose && !w.FlagLike() {
			there.get(w, policy.Read{Sure: policy.Possible})
		}
	}
	u.Actions = append(u.Actions, there.Actions...)
}

// named adds the paths in a text, as ones that are mentioned. secrets says that a program
// reads what they name: one that may hold secrets is a question, then.
func (u *Invocation) named(text string, like policy.Read, secrets bool) {
	like.Sure = policy.Possible
	from := len(u.Actions)
	for _, p := range u.pieces(text) {
		u.get(Lit(p), like)
	}
	if secrets {
		u.asCode(from)
	}
}

// asCode marks, of the paths added last, those that may hold secrets: a question, then.
func (u *Invocation) asCode(from int) {
	for i, a := range u.Actions[from:] {
		if a, ok := a.(policy.Read); ok && !a.Tree && (policy.HoldsSecrets(a.Path) || policy.HoldsSecrets(a.Named)) && u.r.mayBe(a.Path) {
			a.Code = true
			u.Actions[from+i] = a
		}
	}
}

// pieces are what may be paths in a text: the value of a flag or a variable, and what
// stands between the signs of any language, where it looks like a path or something of
// that name is there.
func (u *Invocation) pieces(text string) (out []string) {
	text = strings.NewReplacer(`\n`, " ", `\t`, " ", `\0`, " ", `\r`, " ", `\`, "").Replace(text[:min(len(text), maxNamed)])
	add := func(p string, surely bool) {
		if p == "" || p == text || p[0] == '-' || len(out) >= maxPieces || slices.Contains(out, p) {
			return
		}
		if surely || strings.ContainsAny(p, "./~") || u.r.there(Lit(p), u.dirs) {
			out = append(out, p)
		}
	}
	for i, val := range gluedValues(text) {
		add(val, i == 0)
	}
	if !strings.ContainsAny(text, " \n") {
		_, val, _ := strings.Cut(text, "=")
		_, behind, _ := strings.Cut(text, ":") // git's REV:PATH
		add(strings.TrimPrefix(val, "@"), true)
		add(behind, true)
	}
	for p := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune("=:,;@ \t\n\"'`()[]{}<>|&", c) }) {
		add(p, false)
		if rest, host := strings.CutPrefix(p, "//"); host { // file://host/path
			_, p, _ = strings.Cut(rest, "/")
			p = "/" + p
		}
		if plain, err := url.PathUnescape(p); err == nil {
			add(plain, false)
		}
	}
	return out
}

// Named adds the paths that a text names which a program is given to read: write says that
// it may write them.
func (u *Invocation) Named(text string, write bool) {
	u.named(text+" ", policy.Read{MayWrite: write}, !IsAwk(u.name))
}

// Named is that for a text which no command is given: the value of a variable.
func (r *Recorder) Named(name, text string, dirs []string, write bool) {
	u := r.Invoke(name, dirs)
	u.Named(text, write)
	u.Record()
}

// Fed adds the paths that the text on an interpreter's standard input names, and those
// in the input of a compiler, which may include them, or of a program that takes names
// of files there.
func (u *Invocation) Fed(text string, ws []Word) {
	if code := u.takesCode(); code || TakesNames(u.name, Literals(ws)) {
		u.Named(text, code)
	}
}

// TakesNames reports a program that reads the files which its standard input, or a file
// with names, names: some only with a flag for that.
func TakesNames(name string, args []string) bool {
	p := Standard().of(name)
	flags := slices.Concat(flagsTaking(p.takes, takesList), flagsTaking(p.takes, takesCode))
	return p.is&(includer|listed) != 0 || name != "git" && slices.ContainsFunc(flags, func(f string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, f) || len(f) == 2 && f[0] == '-' && clustered(a, f[1])
		})
	})
}

// takesCode reports a program that takes code, or commands of its own.
func (u *Invocation) takesCode() bool {
	return u.name != "ssh" && (policy.Runner(u.name) || u.is(takesScripts|interpreter))
}

// gluedValues are what may be the value of a flag in a word of short ones: it stands
// behind the first letter or a further one (-Fx, -qFx), behind a sign (-d@x), and behind
// a flag of several letters where it begins as paths do (-include./x).
func gluedValues(text string) (vals []string) {
	if len(text) < 3 || text[0] != '-' || text[1] == '-' {
		return nil
	}
	add := func(val string) {
		if val != "" && !slices.Contains(vals, val) {
			vals = append(vals, val)
		}
	}
	for i := 2; i < min(len(text), 1+maxCluster); i++ {
		add(text[i:])
		if strings.Trim(text[i:i+1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
			break // no flag any more
		}
	}
	if i := strings.IndexAny(text[2:], "./~"); i > 0 {
		add(text[2+i:])
	}
	if _, val, ok := strings.Cut(text[2:], "@"); ok {
		add(val)
	}
	return vals
}

// movedTo are the folders to which flags move a program.
func (u *Invocation) movedTo(ws []Word) (dirs []string) {
	if u.name == "git" {
		return nil // the reader moves it
	}
	for i, w := range ws {
		to := Word{}
		flag, val, glued := strings.Cut(w.Text, "=")
		switch {
		case i == 0 || w.Kind != Exact:
			continue
		case slices.Contains(folderFlags, ws[i-1].Text):
			to = w
		case glued && slices.Contains(folderFlags, flag):
			to = Lit(val)
		case (strings.HasPrefix(w.Text, "-C") || strings.HasPrefix(w.Text, "-D")) && len(w.Text) > 2:
			to = Lit(w.Text[2:])
		default:
			continue
		}
		for _, t := range u.r.Resolve(to, u.dirs) {
			if len(dirs) < 8 && u.r.IsFolder(t.Real) {
				dirs = append(dirs, t.Real)
			}
		}
	}
	return dirs
}

// curlGlob is a set or range in an address or a name that curl expands itself:
// {a,b}, [a-z], [1-9:2] (curl(1), GLOBBING).
var curlGlob = pattern.Lazy(`\{[^{}]*\}|\[[^\[\]]*\]`)

// curlPatterns adds the files that curl finds by patterns of its own, for rules that forbid.
func (u *Invocation) curlPatterns(ws []Word) {
	for _, w := range ws[1:min(len(ws), 100)] {
		if u.name != "curl" || w.Kind != Exact || len(w.Text) > maxNamed || !curlGlob().MatchString(w.Text) {
			continue
		}
		text := w.Text
		if i := strings.Index(text, "file:"); i >= 0 {
			text = "/" + strings.TrimLeft(text[i+len("file:"):], "/")
		}
		from := len(u.Actions)
		u.get(Word{Kind: Pattern, Text: curlGlob().ReplaceAllString(text, "*"), Source: w.Source}, policy.Read{Sure: policy.Possible})
		u.get(Lit(strings.NewReplacer("[", "", "]", "", "{", "", "}", "").Replace(text)), policy.Read{Sure: policy.Possible})
		u.asCode(from)
	}
}
