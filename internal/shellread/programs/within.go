package programs

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// places is what a flag of a command takes that a rule for the program means; 0 for any other.
func (t *Table) places(name string, ws []Word) func(flag string) byte {
	p := t.of(name)
	takes := p.takes
	if f := p.form(ws[1:min(len(ws), 2)], func(f *form) bool { return f.takes != "" }); f.takes != "" {
		takes = f.takes
	}
	return func(flag string) byte {
		number := strings.TrimRight(flag, "0123456789")
		if k := taken(takes, number); len(number) == 2 && k == string(takesBare) { // -j4
			return takesBare
		}
		return kindOf(taken(takes, flag), meantKinds, meantAs)
	}
}

// meantBy are the flags of a command that take such, and its other words.
func (t *Table) meantBy(name string, ws []Word) (found []output, rest []Word, ok bool) {
	p := t.of(name)
	return outputsOf(t.places(name, ws), p.runs, p.valued, ws)
}

// placed takes the flags out of a command that only say where it works, what it is told in
// its own language and which files it makes: a rule for the rest means it with them, where
// places lie in the folders of the session. ok is false when there are none, or one takes
// what is not known.
func (t *Table) placed(name string, ws []Word) (rest, places []Word, ok bool) {
	if at := packageAt(name, ws); at > 0 {
		inner, places, ok := t.placed(Base(ws[at].Text), ws[at:])
		if !ok && at > 1 { // npx -y
			inner, ok = ws[at:], true
		}
		return slices.Concat(ws[:1], inner), places, ok
	}
	p, meant := t.of(name), t.places(name, ws)
	kinds := func(flag string) byte {
		return cmp.Or(meant(flag), kindOf(taken(p.takes, flag), "wW", string([]byte{takesNowhere, takesNowhere})))
	}
	end := len(ws)
	if name == "git" { // -C of its commands is another flag
		_, sub, _ := gitSplit(ws[1:])
		end -= len(sub)
	}
	ws = folderFirst(ws, end)
	found, rest, ok := outputsOf(kinds, p.runs, p.valued, ws[:end])
	if end < len(ws) && ok {
		f := p.form(ws[end:end+1], func(f *form) bool { return f.takes != "" })
		more, words, known := outputsOf(func(flag string) byte { return kindOf(taken(f.takes, flag), meantKinds, meantAs) }, f.runs, f.valued, ws[end:])
		found, rest, ok = append(found, more...), append(rest, words...), known
	}
	if !ok {
		return nil, nil, false
	}
	rest, other := plainest(name, rest)
	if len(found) == 0 && !other {
		return nil, nil, false
	}
	for _, o := range found {
		more, ok := o.places()
		if !ok {
			return nil, nil, false
		}
		places = append(places, more...)
	}
	return rest, places, true
}

// folderFirst puts the flags of git worktree add, whose words begin at end, behind the folder
// that it makes.
func folderFirst(ws []Word, end int) []Word {
	if end+2 >= len(ws) || !ws[end].Is("worktree") || !ws[end+1].Is("add") {
		return ws
	}
	n := 0
	for args := ws[end+2:]; n < len(args); n++ {
		if args[n].Is("-b") && n+1 < len(args) && args[n+1].Kind == Exact && !args[n+1].FlagLike() {
			n++
		} else if !args[n].Is("-d") && !args[n].Is("--detach") && !args[n].Is("-q") && !args[n].Is("--quiet") && !args[n].Is("--track") && !args[n].Is("--no-track") {
			break
		}
	}
	if at := end + 2 + n; at < len(ws) {
		return slices.Concat(ws[:end+2], ws[at:at+1], ws[end+2:at], ws[at+1:])
	}
	return ws
}

// plainest is a command without cargo's word for one of its usual toolchains, and with the
// plainest of the names that its subcommand has; other reports one that has several.
func plainest(name string, ws []Word) (rest []Word, other bool) {
	if name == "cargo" && len(ws) > 1 && ws[1].Kind == Exact && usualToolchain().MatchString(ws[1].Text) {
		ws, other = slices.Concat(ws[:1], ws[2:]), true
	}
	if len(ws) < 2 || ws[1].Kind != Exact {
		return ws, other
	}
	if sub := policy.PlainSubcommand(name, ws[1].Text); sub != "" {
		ws, other = slices.Clone(ws), true
		ws[1].Text = sub
	}
	return ws, other
}

// usualToolchain is one that rustup knows by a channel or a number, and no folder.
var usualToolchain = pattern.Lazy(`^\+(stable|beta|nightly)(-\d{4}-\d\d-\d\d)?$|^\+\d+\.\d+(\.\d+)?$`)

// packageAt is where the program stands that npx and its like start; 0 for none.
func packageAt(name string, ws []Word) int {
	if name != "npx" && name != "bunx" && name != "pnpx" {
		return 0
	}
	at := 1
	for name == "npx" && at < len(ws) && (ws[at].Is("-y") || ws[at].Is("--yes") || ws[at].Is("--no-install")) {
		at++
	}
	if at == len(ws) || ws[at].Kind != Exact || strings.HasPrefix(ws[at].Text, "-") {
		return 0
	}
	return at
}

// places are the files and folders that a flag takes to read; ok is false where what it takes
// may be more.
func (o output) places() (out []Word, ok bool) {
	text := o.value.Text
	place := func(s string) bool {
		out = append(out, Word{Kind: Exact, Text: s, Source: o.value.Source})
		return s != "" && s[0] != '-' && s[0] != '@' && !strings.ContainsAny(s, "{}[]()<>|;&$`\"'\\*?!~#\n:")
	}
	switch o.kind {
	case takesPlace:
		return out, place(text)
	case takesSetting:
		name, val, set := strings.Cut(text, "=")
		ok = set && (name != "addopts" || val == "") && !strings.ContainsAny(name, " /")
		for _, s := range strings.Fields(val) {
			ok = ok && place(s)
		}
		return out, ok
	case takesOff:
		return nil, strings.HasPrefix(text, "no:")
	case takesNowhere:
		return nil, text == "-" || text == "/dev/null"
	case takesQuery:
		return nil, !startsShell(text) || psqlShows().MatchString(text)
	case takesText:
		return nil, !startsShell(strings.NewReplacer(`\G`, ";", `\g`, ";").Replace(text)) // they end a statement
	case takesMount:
		from, _, known := mounted(text)
		return out, known && (from == "" || place(from))
	case takesFile, takesFolder: // psql starts what stands behind |, and curl puts a part of the address for #1
		if text == "-" || text == "/dev/null" {
			return nil, true
		}
		return out, place(text) || !strings.ContainsAny(text, "|#")
	}
	return nil, true // what it writes is judged by itself
}

// psqlShows are commands of psql's own that only show something, or say how it is shown. A
// word of them has no sign that starts a program, or that begins another command.
var psqlShows = pattern.Lazy(`^\s*\\(d[A-Za-z]*[+]?|l[+]?|list[+]?|z|s[fv][+]?|x|a|t|pset|timing|conninfo|encoding|h|help|errverbose|echo)(\s[^\\` + "`" + `|!]*)?$`)

// startsShell reports whether what psql or mysql is told may be more than queries: their own
// commands, or a copy from or to a program.
func startsShell(text string) bool {
	if strings.Contains(text, `\`) {
		return true
	}
	for line := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return strings.ContainsRune(";\r\n", c) }) {
		words := strings.FieldsFunc(line, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' })
		if len(words) > 0 && slices.Contains([]string{"system", "pager", "edit", "tee", "source", "delimiter"}, words[0]) || slices.Contains(words, "program") {
			return true
		}
	}
	return false
}

// mounted is the folder of this machine that -v or --mount names, "" for a volume of docker's
// own, and where the container has it; ok is false where there may be more to it.
func mounted(text string) (from, to string, ok bool) {
	if !strings.Contains(text, ",") && !strings.HasPrefix(text, "type=") {
		from, rest, pair := strings.Cut(text, ":")
		to, options, _ := strings.Cut(rest, ":")
		switch {
		case !pair:
			return "", text, strings.HasPrefix(text, "/") // an empty volume
		case !strings.HasPrefix(to, "/") || !slices.Contains([]string{"", "ro", "rw", "z", "Z", "cached", "delegated", "consistent"}, options):
			return "", "", false
		case len(from) > 1 && strings.Trim(from, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "":
			return "", to, true
		}
		return from, to, from != ""
	}
	kind := ""
	for part := range strings.SplitSeq(text, ",") {
		switch key, val, _ := strings.Cut(part, "="); key {
		case "type":
			kind = val
		case "source", "src":
			from = val
		case "target", "dst", "destination":
			to = val
		case "readonly", "ro":
		default:
			return "", "", false
		}
	}
	if kind == "volume" && !strings.Contains(from, "/") || kind == "tmpfs" && from == "" {
		return "", to, true
	}
	return from, to, kind == "bind" && from != ""
}

// Shown is what a container is told, with the names that folders of this machine have here,
// and the folder in which it may be done; nil where it is shown none.
func (u *Invocation) Shown(ws []Word) (inside []Word, dir string) {
	found, rest, ok := u.r.Table.meantBy(u.name, ws)
	for _, o := range found {
		from, to, known := mounted(o.value.Text)
		var at []target
		if u.r.apart(func() { at = u.r.Resolve(Lit(from), u.dirs) }); o.kind != takesMount || !ok || !known || len(at) == 0 || strings.Trim(to, "/") == "" {
			continue
		}
		if dir == "" {
			dir, inside = at[0].Real, slices.Clone(rest)
		}
		for i, w := range inside {
			if inside[i].Text = renamed(w.Text, strings.TrimRight(to, "/"), at[0].Real); i > 0 && (inside[i-1].Is("-w") || inside[i-1].Is("--workdir")) {
				dir = inside[i].Text
			}
		}
	}
	return inside, dir
}

// renamed is a text in which a folder has another name.
func renamed(text, from, to string) string {
	const ends = " \t\n'\"`=:;&|()<>{}[],*?"
	var b strings.Builder
	for {
		at := strings.Index(text, from)
		if at < 0 {
			return b.String() + text
		}
		rest := text[at+len(from):]
		b.WriteString(text[:at])
		if before := b.String(); (before == "" || strings.ContainsRune(ends, rune(before[len(before)-1]))) && (rest == "" || rest[0] == '/' || strings.ContainsRune(ends, rune(rest[0]))) {
			b.WriteString(to)
		} else {
			b.WriteString(from)
		}
		text = rest
	}
}

// Without is a command without such flags, as a rule for the rest of it means it, and what
// they name, resolved in each folder that it may stand for; nil when there are none.
func (u *Invocation) Without(ws []Word) (rest []Word, places []string) {
	rest, named, ok := u.r.Table.placed(u.name, ws)
	if !ok || len(u.dirs) == 0 {
		return nil, nil
	}
	dirs := u.dirs
	for _, w := range named {
		unclear := false
		for _, a := range u.r.apart(func() {
			for _, t := range u.r.Resolve(w, dirs) {
				places = append(places, t.Real)
			}
		}) {
			_, opaque := a.(policy.Opaque)
			unclear = unclear || opaque
		}
		if unclear {
			return nil, nil
		}
		dirs = append(slices.Clone(u.dirs), places...)
	}
	return rest, places
}

// shown adds, for rules that forbid, what a container is given of folders, and what flags
// name that read.
func (u *Invocation) shown(ws []Word) {
	found, _, _ := u.r.Table.meantBy(u.name, ws)
	for _, o := range found {
		switch more, ok := o.places(); {
		case o.kind == takesMount:
			for _, w := range more {
				u.wholeFolder(&form{}, w)
				u.wholeFolder(&form{edits: "*"}, w)
			}
		case o.kind == takesPlace && ok:
			for _, w := range more {
				u.get(w, policy.Read{})
			}
		}
	}
}
