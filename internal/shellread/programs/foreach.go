package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/world"
)

// ReadsEach reports a program that, started with the name of a file, reads that file.
func ReadsEach(name string) bool { return Standard().is(name, eachFile) }

// Found are the files whose names a command prints or hands to a program: the
// reads that it takes to read them all.
type Found struct {
	Reads []policy.Read
	Zero  bool // the names end in NUL bytes
	plain bool // no name is one that xargs would split, nor a flag
	flag  bool // some name begins as a flag does, which a program would take for one
	odd   bool // some name has a letter that a shell may give a meaning to
	// dirs are the folders from which the names count.
	dirs []string
}

// In reports whether the names count from these folders.
func (f *Found) In(dirs []string) bool { return slices.Equal(f.dirs, dirs) }

// Sheer reports names that a shell takes for one word each, and no program for a flag.
func (f *Found) Sheer() bool {
	for _, r := range f.Reads {
		if r.Below == nil && !sheerName(f.relative(r.Named)) || r.Below != nil && !sheerName(f.begins(r)) {
			return false
		}
		if r.Below != nil && slices.ContainsFunc(r.Below.Paths, func(p policy.Place) bool { return !sheerName(strings.TrimPrefix(p.Path, r.Path)) }) {
			return false
		}
	}
	return !f.flag && !f.odd && len(f.Reads) > 0
}

// begins is how the names below a folder begin as a program prints them.
func (f *Found) begins(r policy.Read) string {
	if slices.Contains(f.dirs, r.Path) {
		return "."
	}
	return r.Asked
}

// relative is a path as a program prints it that was started in the folder.
func (f *Found) relative(file string) string {
	for _, d := range f.dirs {
		if rest, in := strings.CutPrefix(file, strings.TrimSuffix(d, "/")+"/"); in {
			return rest
		}
	}
	return file
}

// sheerName reports a name without a letter that any shell gives a meaning to.
func sheerName(name string) bool {
	return name != "" && !flagged(name) && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-+@,") == ""
}

// findRuns holds the program behind -exec against the table; tests is the expression
// before it. It returns why the whole is not read-only, "" when it is.
func (u *Invocation) findRuns(rest, tests []Word) string {
	const why = "find -exec runs another command"
	n := len(rest)
	if n < 3 || !rest[n-1].Is(";") && !rest[n-1].Is("+") || !rest[n-2].Is("{}") {
		return why
	}
	inner := rest[:n-2]
	for _, w := range inner {
		if w.Kind != Exact || strings.Contains(w.Text, "{}") || w.Text == ";" || w.Text == "+" {
			return why
		}
	}
	found, bad := u.found(tests)
	if bad != "" {
		return bad
	}
	if bad := u.forEach(inner, found); bad != "" {
		return bad
	}
	u.runs = inner[0].Text
	return ""
}

// forEach adds what a program reads that is started with the names that were found. It
// returns why that is not all it does.
func (u *Invocation) forEach(inner []Word, found Found) string {
	name := inner[0].Text
	if inner[0].Kind != Exact || !u.r.Table.is(name, eachFile) || len(found.Reads) == 0 {
		return name + " is not known to only read the files it is started with"
	}
	if found.flag {
		return name + " would take the name of a file for a flag"
	}
	at := found.Reads[0]
	one := &Invocation{r: u.r, dirs: u.dirs, name: name}
	if slices.ContainsFunc(inner, func(w Word) bool { return strings.HasPrefix(w.Text, "-d") || strings.HasPrefix(w.Text, "--dir") }) && strings.Contains(name, "grep") {
		return name + " may read folders, too"
	}
	if why := one.ReadOnly(append(slices.Clone(inner), Word{Kind: Exact, Text: at.Path, Source: "{}"})); why != "" {
		return why
	}
	// sed, awk and grep take their first operand for a script or a pattern, and a flag
	// takes the word behind it: then the name of a file is run, or means something else.
	opens := NamesOnly(name)
	for _, a := range one.Actions {
		r, ok := a.(policy.Read)
		opens = opens || ok && r.Path == at.Path
		if ok && r.Tree && !r.List {
			return name + " reads folders, too, with all below them"
		}
		if !ok || r.Path != at.Path {
			u.Actions = append(u.Actions, a)
			continue
		}
		for _, f := range found.Reads {
			f.List = r.List
			u.Actions = append(u.Actions, f)
		}
	}
	if !opens {
		return name + " would take the name of a file for something else than a file that it reads"
	}
	return ""
}

// found are the files below the folders of find that its tests let through. why says
// that they cannot be told.
func (u *Invocation) found(tests []Word) (f Found, why string) {
	p, files := findPick(tests)
	f.plain = true
	folders := u.args
	if len(folders) == 0 {
		folders = []Word{Lit(".")}
	}
	for _, w := range folders {
		if w.Kind != Exact || strings.HasPrefix(w.Text, "-") || u.r.World.Tree == nil {
			return f, "where find looks is not known"
		}
		for _, t := range u.r.Resolve(w, u.dirs) {
			l, ok := u.r.Tree(t.Real)
			if !ok {
				return f, "what find finds is not known, or too much"
			}
			f.plain = f.plain && plainName(w.Text)
			for _, e := range l.Entries {
				if e.Link && !files {
					return f, "find finds links, which may lead elsewhere; -type f leaves them out"
				}
				f.plain = f.plain && plainName(e.Name)
				f.odd = f.odd || !sheerName("/"+e.Name)
			}
			read := policy.Read{Path: t.Real, Named: t.Named, Asked: t.Asked, Tree: true}
			if u.r.IsFolder(t.Real) {
				read.Below = u.r.below(t.Real, t.Named, p)
			}
			f.Reads = append(f.Reads, read)
		}
	}
	if len(u.r.Wrote) > 0 {
		return f, "what find finds by then is not known"
	}
	return f, ""
}

// findPick is what the tests of find let through, as far as they are simple: files of
// one name, or all. files says that they let through regular files alone.
func findPick(tests []Word) (p pick, files bool) {
	for i := 0; i < len(tests); i++ {
		t := tests[i].Text
		switch {
		case t == "-o" || t == "-or" || t == "," || t == "(" || t == ")" || t == "-follow" || t == "-L":
			return pick{}, false
		case t == "!" || t == "-not":
			i += 2 // what it leaves out does not matter
		case t == "-type" && i+1 < len(tests):
			files = files || tests[i+1].Is("f")
		case t == "-name" && i+1 < len(tests) && len(p.names) == 0:
			if name := tests[i+1].Text; strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-*?") == "" {
				p.names = []string{name}
			}
		}
	}
	return p, files
}

// Lists are the files whose names a command prints, and nothing else; ok is false
// when that is not known. Without NUL bytes between them, no name may hold what
// xargs would split at.
func (u *Invocation) Lists(ws []Word) (f Found, ok bool) {
	globs := u.name == "rg" || u.name == "ls" || strings.HasSuffix(u.name, "grep")
	for _, w := range ws {
		if w.Kind != Exact && !(globs && w.Kind == Pattern) {
			return f, false
		}
	}
	if u.name == "rg" && slices.ContainsFunc(ws, func(w Word) bool { return w.Is("--files") }) {
		ws = searchedAll(ws)
	}
	has := func(flags ...string) bool {
		return slices.ContainsFunc(ws[1:], func(w Word) bool { return slices.Contains(flags, w.Text) })
	}
	dirs := u.dirs
	defer func() { f.dirs = dirs }()
	if u.ReadOnly(ws) != "" || u.r.Links() > 0 {
		return f, false
	}
	switch {
	case u.name == "echo":
		return u.spoken(ws[1:])
	case u.name == "ls":
		return u.listed()
	case globs, u.name == "git grep" && slices.Equal(u.dirs, dirs):
		if f, ok = u.matching(); !ok {
			return f, false
		}
		f.Zero = u.has("-Z", "--null", "-0") || u.name == "git grep" && u.has("-z")
		return f, len(f.Reads) > 0 && (f.Zero || f.plain)
	case u.name == "find":
		tests := ws[1:]
		if has("-printf", "-ls", "-exec", "-print", "-quit") || has("-print0") && !ws[len(ws)-1].Is("-print0") {
			return f, false
		}
		why := ""
		if f, why = u.found(tests); why != "" {
			return f, false
		}
		f.Zero = has("-print0")
	case u.name == "git ls-files" && ws[1].Is("ls-files"):
		if f, ok = u.tracked(ws[2:]); !ok {
			return f, false
		}
		f.Zero = has("-z")
	default:
		return f, false
	}
	for _, r := range f.Reads {
		if r.Below == nil || r.Below.Short != "" {
			return f, false
		}
	}
	return f, len(f.Reads) > 0 && (f.Zero || f.plain)
}

// searchedAll is rg --files as a search that finds something in every file.
func searchedAll(ws []Word) []Word {
	out := []Word{ws[0], Lit("-l"), Lit("-e"), Lit("x")}
	for _, w := range ws[1:] {
		if !w.Is("--files") {
			out = append(out, w)
		}
	}
	return out
}

// matching are the files in which grep or rg looks, when it prints nothing but names of
// theirs.
func (u *Invocation) matching() (f Found, ok bool) {
	const say = " -l -L --name-only --files-with-matches --files-without-match --null -Z -0 -z -r --recursive -n --line-number -i --ignore-case -s --no-messages -S --smart-case -w --word-regexp -x -v -E --extended-regexp -F --fixed-strings -P -G -I -U -H -e --regexp --include --exclude --exclude-dir -g --glob --iglob -t --type -T --type-not -. --hidden -u --unrestricted --no-ignore --sort --max-depth -d --no-heading --no-config "
	names := false
	for _, flag := range u.flags {
		if !strings.Contains(say, " "+flag.name+" ") || flag.name == "-d" && u.name != "rg" || flag.name == "-0" && u.name != "rg" || flag.name == "-Z" && u.name == "rg" || flag.name == "-z" && u.name != "git grep" {
			return f, false
		}
		names = names || flag.name == "-l" || flag.name == "--name-only" || flag.name == "-L" && u.name != "rg" || strings.HasPrefix(flag.name, "--files-with")
	}
	if !names || len(u.r.Wrote) > 0 || slices.ContainsFunc(u.args, func(w Word) bool { return w.Is("-") }) {
		return f, false
	}
	if before := len(u.args) - u.behind; u.name == "git grep" && (before > 1 || before == 1 && u.has("-e")) {
		return f, false // a commit: its files may have any names
	}
	f.dirs, f.plain = u.dirs, true
	for _, a := range u.Actions {
		r, read := a.(policy.Read)
		switch {
		case !read || r.Tree && !r.List && (r.Below == nil || r.Below.Short != ""):
			return f, false
		case r.List:
			continue
		}
		if r.Tree && u.r.IsFolder(r.Path) {
			f.plain = f.plain && plainName(f.begins(r))
		} else {
			f.plain = f.plain && plainName(f.relative(r.Named))
		}
		if r.Below != nil {
			for _, p := range r.Below.Paths {
				name := strings.TrimPrefix(p.Path, strings.TrimSuffix(r.Path, "/")+"/")
				f.plain = f.plain && plainName(name)
				f.flag = f.flag || flagged(name)
			}
		}
		f.Reads = append(f.Reads, r)
	}
	return f, true
}

// listed are the files whose names ls prints, when these are the words it is given, or
// what stands in the folder.
func (u *Invocation) listed() (f Found, ok bool) {
	f.dirs = u.dirs
	if len(u.dirs) != 1 || u.r.World.Glob == nil || len(u.r.Wrote) > 0 || slices.ContainsFunc(u.flags, func(f given) bool { return !slices.Contains([]string{"-1", "-t", "-r", "-S", "-U"}, f.name) }) {
		return f, false
	}
	words := u.args
	if len(words) == 0 {
		words = []Word{{Kind: Pattern, Text: "*"}}
	}
	f.plain = true
	for _, w := range words {
		folders := u.r.foldersOf(w.Text, u.dirs)
		for _, t := range u.r.Resolve(w, u.dirs) {
			switch folder := u.r.IsFolder(t.Real); {
			case w.Kind == Pattern && folders[t.Named]:
				continue
			case folder && len(u.args) > 0:
				return f, false // it prints what is in it
			}
			name := f.relative(t.Named)
			f.plain, f.flag = f.plain && plainName(name), f.flag || flagged(name)
			f.Reads = append(f.Reads, policy.Read{Path: t.Real, Named: t.Named, Asked: t.Asked})
		}
	}
	return f, len(f.Reads) > 0 && f.plain
}

// flagged reports a name that some program would take for a flag, or for a file with more
// arguments.
func flagged(name string) bool { return strings.IndexByte("-+@=~", name[0]) >= 0 }

// spoken are the files that the words of echo name; ok is false when one is a folder, or
// no name that xargs hands on as it is.
func (u *Invocation) spoken(ws []Word) (f Found, ok bool) {
	if len(u.r.Wrote) > 0 || u.r.Unsafe {
		return f, false
	}
	for _, w := range ws {
		if !plainName(w.Text) || u.folder(w) {
			return f, false
		}
		for _, t := range u.r.Resolve(w, u.dirs) {
			f.Reads = append(f.Reads, policy.Read{Path: t.Real, Named: t.Named, Asked: t.Asked})
		}
	}
	return f, len(f.Reads) > 0
}

// tracked are the files that git has below the folder, for git ls-files with these
// words; ok is false when they may list others.
func (u *Invocation) tracked(ws []Word) (f Found, ok bool) {
	beyond := func(w Word) bool {
		return strings.HasPrefix(w.Text, "-") && w.Text != "-z" && w.Text != "--" || strings.ContainsAny(w.Text, ":/\\") && (strings.Contains(w.Text, "..") || strings.IndexByte(":/", w.Text[0]) >= 0) || strings.HasPrefix(w.Text, "..")
	}
	if u.r.World.Tracked == nil || slices.ContainsFunc(ws, beyond) {
		return f, false
	}
	f.plain = true
	for _, d := range u.dirs {
		below := u.r.below(d, d, pick{tracked: true})
		if l, known := u.r.Tree(d); !known || below == nil || throughLink(d, l, below) {
			return f, false
		}
		for _, p := range below.Paths {
			name := strings.TrimPrefix(p.Path, d+"/")
			f.plain = f.plain && plainName(name)
			f.flag = f.flag || flagged(name)
		}
		f.Reads = append(f.Reads, policy.Read{Path: d, Named: d, Asked: ".", Tree: true, Below: below})
	}
	return f, true
}

// linked reports whether a file that is to be read as one that git tracks lies behind a
// link now, as far as anybody can say.
func (u *Invocation) linked() bool {
	for _, a := range u.Actions {
		r, read := a.(policy.Read)
		if !read || r.Below == nil || u.r.World.Tree == nil {
			continue
		}
		if l, known := u.r.Tree(r.Path); !known || behindLink(r.Path, l, r.Below) {
			return true
		}
	}
	return false
}

// throughLink reports whether one of the files is a link, or lies behind one.
func throughLink(dir string, l world.Listing, below *policy.Below) bool {
	return crosses(dir, l, below, false)
}

// behindLink reports whether one of the files lies behind a link.
func behindLink(dir string, l world.Listing, below *policy.Below) bool {
	return crosses(dir, l, below, true)
}

func crosses(dir string, l world.Listing, below *policy.Below, behind bool) bool {
	links := map[string]bool{}
	for _, e := range l.Entries {
		if e.Link {
			links[e.Name] = true
		}
	}
	return len(links) > 0 && slices.ContainsFunc(below.Paths, func(p policy.Place) bool {
		at := strings.TrimPrefix(p.Path, dir+"/")
		if behind {
			at = path.Dir(at)
		}
		for ; at != "." && at != "/"; at = path.Dir(at) {
			if links[at] {
				return true
			}
		}
		return false
	})
}

// plainName reports a name that xargs takes for one word, and no program for a flag.
func plainName(name string) bool {
	return name != "" && name[0] != '-' && name[0] != '+' && strings.IndexFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || c == '"' || c == '\'' || c == '\\'
	}) < 0
}

// EachNamed is a command that xargs starts with names that were found: it adds what
// that reads, and returns why it is not read-only.
func (u *Invocation) EachNamed(inner []Word, found Found) string {
	for _, w := range inner {
		if w.Kind != Exact {
			return w.Source + " is not known before it runs"
		}
	}
	return u.forEach(inner, found)
}
