package programs

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// An unpacking is a command that writes files whose names stand in an archive or a patch.
type unpacking struct {
	u       *Invocation
	archive Word   // none: the standard input
	into    []Word // the folder; several name it one after the other
	strip   int    // leading folders that are left out of each name
	flat    bool   // all of them are
	tops    bool   // they count from the top of git's work tree, all of which git may write
}

// Unpacks adds what a program writes that takes the names from an archive or a patch, as
// they stand in there now. It returns why they are not known, or lead elsewhere: then no
// rule with a wildcard speaks of it. text is what the program is given to read, and from
// the file that it is redirected from.
func (u *Invocation) Unpacks(ws []Word, text string, given bool, from Word) (why string) {
	if why = u.unpacked(ws, text, given, from); why == "" {
		return ""
	}
	folders := valuesOf(ws[1:], []string{"-C", "--directory", "--one-top-level", "-d", "-o"})
	if slices.ContainsFunc(ws, func(w Word) bool {
		return w.Is("-P") || w.Is("--absolute-names") || w.Is("cpio") || w.Is("pax")
	}) {
		folders = append(folders, Lit("/"))
	}
	u.mayWriteBelow(folders)
	return why
}

func (u *Invocation) unpacked(ws []Word, text string, given bool, from Word) (why string) {
	p := unpacking{u: &Invocation{r: u.r, dirs: u.dirs, name: Base(ws[0].Text)}, archive: from}
	switch p.u.name {
	case "tar", "gtar", "bsdtar":
		switch extracts, why := p.tar(ws[1:]); {
		case !extracts:
			return ""
		case why != "":
			return why
		}
		return p.packed(u, false)
	case "unzip":
		if len(ws) > 2 && (ws[1].Is("-l") || ws[1].Is("-t")) && !slices.ContainsFunc(ws[2:], Word.FlagLike) {
			return "" // it lists, or tests
		}
		if why := p.unzip(ws[1:]); why != "" {
			return why
		}
		return p.packed(u, true)
	case "7z", "7za", "7zr", "unrar", "rar", "unar", "cpio", "bsdcpio", "pax", "ar", "jar", "uudecode", "ditto", "degit":
		if lists(ws) {
			return ""
		}
		return "the names that " + p.u.name + " unpacks are not known before it runs"
	case "patch":
		return p.patch(u, ws[1:], text, given)
	case "git":
		for _, rest := range gitRests(ws[1:]) {
			if f := gitFlags(Literals(rest)); rest[0].Is("apply") || rest[0].Is("am") && !f.has("--abort") {
				if f.has("--stat", "--numstat", "--summary", "--check", "--skip", "--quit", "--continue", "--show-current-patch", "--cached") {
					return ""
				}
				p.tops = rest[0].Is("am")
				return p.patch(u, rest[1:], text, given)
			}
			if why := u.brings(rest); why != "" {
				return why
			}
		}
	}
	return ""
}

// lists reports a form of an archiver that shows what is in one, or makes one.
func lists(ws []Word) bool {
	if len(ws) < 2 {
		return true
	}
	verb := strings.TrimLeft(ws[1].Text, "-")
	return verb == "" || !strings.ContainsAny(verb[:1], "xei") && Base(ws[0].Text) != "uudecode" && Base(ws[0].Text) != "ditto" && Base(ws[0].Text) != "unar" && Base(ws[0].Text) != "degit"
}

// tar reads the words of tar; extracts is false for one that unpacks nothing.
func (p *unpacking) tar(ws []Word) (extracts bool, why string) {
	const long = " --extract --get --gzip --gunzip --bzip2 --auto-compress --verbose --keep-old-files --skip-old-files --no-same-owner --no-same-permissions --preserve-permissions --wildcards --touch --overwrite --totals --file --directory --strip-components --strip --exclude "
	for i := 0; i < len(ws); i++ {
		w := ws[i]
		letters, short := strings.CutPrefix(w.Text, "-")
		name, val, glued := strings.Cut(w.Text, "=")
		switch {
		case strings.HasPrefix(w.Text, "--"):
			extracts = extracts || name == "--extract" || name == "--get"
			if !strings.Contains(long, " "+name+" ") || w.Kind != Exact {
				why = "tar " + w.Source + " may unpack elsewhere"
				continue
			}
			value := Word{Kind: Exact, Text: val, Source: w.Source}
			if strings.HasPrefix(name, "--f") || strings.HasPrefix(name, "--d") || strings.HasPrefix(name, "--s") && strings.Contains(name, "strip") || name == "--exclude" {
				if !glued && i+1 < len(ws) {
					i++
					value = ws[i]
				}
				p.take(name, value)
			}
		case i == 0 && !short, short && letters != "":
			if !short {
				letters = w.Text
			}
			for at, c := range letters {
				extracts = extracts || c == 'x'
				if !strings.ContainsRune("xzjvkpmoafC", c) {
					why = "tar " + w.Source + " may unpack elsewhere"
				}
				if c == 'f' || c == 'C' {
					value := Word{Kind: Exact, Text: letters[at+1:], Source: w.Source}
					if value.Text == "" || !short {
						if i++; i >= len(ws) {
							return extracts, "tar without an archive"
						}
						value = ws[i]
					}
					p.take("-"+string(c), value)
					if short {
						break
					}
				}
			}
		case w.Kind != Exact && w.FlagLike():
			why = w.Source + " may be a flag of tar"
		}
	}
	return extracts, why
}

// take notes the value of a flag of tar.
func (p *unpacking) take(flag string, w Word) {
	switch flag {
	case "-f", "--file":
		p.archive = w
	case "-C", "--directory":
		p.into = append(p.into, w)
	case "--strip", "--strip-components":
		n, err := strconv.Atoi(w.Text)
		if p.strip = n; err != nil || n < 0 {
			p.archive = Word{} // not known
		}
	}
}

func (p *unpacking) unzip(ws []Word) (why string) {
	for i := 0; i < len(ws); i++ {
		w := ws[i]
		switch {
		case w.Kind != Exact && (p.archive.Text == "" || w.FlagLike()):
			return w.Source + " is not known before it runs"
		case strings.HasPrefix(w.Text, "-d"):
			value := Word{Kind: Exact, Text: w.Text[2:], Source: w.Source}
			if value.Text == "" && i+1 < len(ws) {
				i++
				value = ws[i]
			}
			p.into = []Word{value}
		case strings.HasPrefix(w.Text, "-") && strings.Trim(w.Text[1:], "oqnujCLvx") != "":
			return "unzip " + w.Text + " may unpack elsewhere"
		case strings.HasPrefix(w.Text, "-"):
			p.flat = p.flat || strings.Contains(w.Text, "j")
		case p.archive.Text == "":
			if p.archive = w; !strings.Contains(path.Base(w.Text), ".") {
				p.archive.Text += ".zip"
			}
		}
	}
	return ""
}

// packed adds what an archive unpacks to, to the actions of u.
func (p *unpacking) packed(u *Invocation, zipped bool) (why string) {
	const unknown = "the names in the archive are not known before it is unpacked"
	r := u.r
	if p.archive.Kind != Exact || p.archive.Text == "" || p.archive.Text == "-" || r.World.Packed == nil {
		return unknown
	}
	var names []string
	for _, t := range r.Resolve(p.archive, u.dirs) {
		list, ok := r.World.Packed(t.Real, zipped)
		if !ok || slices.Contains(r.Wrote, t.Real) || slices.Contains(r.Wrote, t.Named) {
			return unknown
		}
		names = append(names, list...)
	}
	return p.write(u, names)
}

// write adds the names, as they come to stand in the folder.
func (p *unpacking) write(u *Invocation, names []string) (why string) {
	dirs := u.dirs
	for _, w := range p.into {
		var next []string
		if w.Kind != Exact {
			return "where " + p.u.name + " writes is not known before it runs"
		}
		for _, t := range u.r.Resolve(w, dirs) {
			next = append(next, t.Named)
		}
		dirs = next
	}
	if p.tops {
		dirs = slices.Clone(dirs)
		for i, d := range dirs {
			dirs[i] = u.r.GitTop(d)
		}
	}
	if len(dirs) == 0 {
		return "where " + p.u.name + " writes is not known before it runs"
	}
	for _, d := range dirs {
		m := making{u: u}
		for _, n := range names {
			if p.flat {
				n = path.Base(n)
			}
			for range p.strip {
				_, n, _ = strings.Cut(n, "/")
			}
			at := path.Join(d, n)
			if slices.Contains(strings.Split(n, "/"), "..") || !p.tops && !u.r.writable(at) {
				return p.u.name + " may write " + at + ", which is outside of the folders that may be written"
			}
			if m.add(at); m.why != "" {
				return m.why
			}
		}
		for _, made := range m.below.Paths {
			if !u.r.writable(made.Path) && !(p.tops && policy.Within(d, made.Path, false)) {
				return p.u.name + " may write " + made.Path + ", which is outside of the folders that may be written"
			}
		}
		u.Actions = append(u.Actions, policy.Write{Path: d, Named: d, Asked: d, Sure: policy.Possible, Below: &m.below})
	}
	return ""
}

// writable reports whether a path is in one of the folders that may be written.
func (r *Recorder) writable(path string) bool {
	return policy.Within(r.World.Dir, path, true) || slices.ContainsFunc(r.World.Dirs, func(d string) bool { return policy.Within(d, path, true) })
}

// patch adds the files that a patch changes, under every name that they may have when
// leading folders are left out.
func (p *unpacking) patch(u *Invocation, ws []Word, text string, given bool) (why string) {
	const unknown = "which files the patch changes is not known before it runs"
	var files []Word
	for i, w := range ws {
		name, val, glued := strings.Cut(w.Text, "=")
		before := ""
		if i > 0 {
			before = ws[i-1].Text
		}
		switch {
		case w.Kind != Exact:
			return unknown
		case name == "--dry-run" || name == "-C" && p.u.name == "patch":
			return ""
		case before == "-i" || before == "--input":
			files = []Word{w}
		case glued && name == "--input":
			files = []Word{{Kind: Exact, Text: val, Source: w.Source}}
		case strings.HasPrefix(w.Text, "-i") && p.u.name == "patch" && len(w.Text) > 2:
			files = []Word{{Kind: Exact, Text: w.Text[2:], Source: w.Source}}
		case before == "-d" || before == "--directory":
			p.into = []Word{w}
		case glued && name == "--directory":
			p.into = []Word{{Kind: Exact, Text: val, Source: w.Source}}
		case strings.HasPrefix(w.Text, "-d") && p.u.name == "patch" && len(w.Text) > 2:
			p.into = []Word{{Kind: Exact, Text: w.Text[2:], Source: w.Source}}
		case strings.HasPrefix(w.Text, "-"), slices.Contains([]string{"-p", "-F", "-o", "-r", "-B", "-z", "-Y", "-D", "-V", "-x", "--exclude", "--include", "-S"}, before):
		case p.u.name == "git":
			files = append(files, w)
		case len(files) == 0 && i == len(ws)-1 && i > 0 && !strings.HasPrefix(before, "-"):
			files = []Word{w} // patch FILE PATCH
		}
	}
	if len(files) == 0 && !given {
		if p.archive.Text == "" {
			return unknown
		}
		files = []Word{p.archive}
	}
	for _, w := range files {
		for _, t := range u.r.Resolve(w, u.dirs) {
			if u.r.World.Text == nil || slices.Contains(u.r.Wrote, t.Real) || slices.Contains(u.r.Wrote, t.Named) {
				return unknown
			}
			more, ok := u.r.World.Text(t.Real)
			if !ok {
				return unknown
			}
			text += "\n" + more
		}
	}
	names := patchNames(text)
	if len(names) == 0 {
		return unknown
	}
	return p.write(u, names)
}

// patchNames are the names that the lines of a patch may mean.
func patchNames(text string) (names []string) {
	add := func(name string) {
		name, _, _ = strings.Cut(strings.TrimRight(name, "\r\n"), "\t")
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		for name = strings.TrimSpace(name); name != "" && name != "/dev/null" && !slices.Contains(names, name); {
			names = append(names, name)
			_, rest, more := strings.Cut(name, "/")
			if name = rest; !more {
				break
			}
		}
	}
	for line := range strings.Lines(text) {
		for _, sign := range []string{"--- ", "+++ ", "*** ", "Index: ", "rename to ", "copy to ", "rename from "} {
			if rest, ok := strings.CutPrefix(line, sign); ok {
				add(rest)
			}
		}
		if strings.HasPrefix(line, "new file mode 12") || strings.HasPrefix(line, "new mode 12") || strings.HasPrefix(line, "new file mode 16") {
			return nil // a link, through which the next file is written
		}
		if rest, ok := strings.CutPrefix(line, "diff --git "); ok {
			for i := range rest {
				if rest[i] == ' ' {
					add(rest[:i])
					add(rest[i+1:])
				}
			}
		}
	}
	return names
}
