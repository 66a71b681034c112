package programs

import (
	"path"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/pattern"
)

func (u *Invocation) all(ws []Word, like policy.Write) {
	for _, w := range ws {
		u.put(w, like)
	}
}

func applyAll(like policy.Write) func(u *Invocation) bool {
	return func(u *Invocation) bool {
		u.all(u.args, like)
		return len(u.args) > 0
	}
}

// applyRemove is rm: with -r everything below goes too. A bare * in a folder
// is that folder's content.
func applyRemove(u *Invocation) bool {
	tree := u.has("-r", "-R", "--recursive")
	for _, w := range u.args {
		if w.Kind == Pattern {
			last := w.Text[strings.LastIndexByte(w.Text, '/')+1:]
			if last != "*" && last != ".*" && last != "?*" && !u.mostOf(w) {
				u.globbed(w, policy.Write{Remove: true, Tree: tree})
				continue
			}
			before := len(u.Actions)
			u.put(w, policy.Write{Remove: true, Tree: true})
			folders := u.r.foldersOf(w.Text, u.dirs)
			for i, a := range u.Actions[before:] {
				if wr, ok := a.(policy.Write); ok && folders[wr.Named] {
					wr.Content = true
					u.Actions[before+i] = wr
				}
			}
			continue
		}
		if tree && (w.Text == "." || w.Text == ".." || w.Text == "/" || strings.HasSuffix(w.Text, "/.") || strings.HasSuffix(w.Text, "/..")) {
			u.put(w, policy.Write{Remove: true, Tree: true})
			continue
		}
		u.put(w, policy.Write{Remove: true, Tree: tree})
	}
	return len(u.args) > 0
}

// mostOf reports a pattern without a letter that is meant which matches at least half of
// what is in its folder now: [a-z]*, **.
func (u *Invocation) mostOf(w Word) bool {
	dir, last := "", w.Text
	if at := strings.LastIndexByte(w.Text, '/'); at >= 0 {
		dir, last = w.Text[:at+1], w.Text[at+1:]
	}
	if strings.Trim(bracketed().ReplaceAllString(last, "?"), "*?") != "" {
		return false
	}
	if strings.Contains(last, "[:") {
		last = bracketed().ReplaceAllString(last, "?") // more than it matches
	}
	saved := u.r.Actions
	defer func() { u.r.Actions = saved }()
	dirs := u.dirs
	if strings.HasPrefix(w.Text, "/") {
		dirs = []string{""}
	}
	for _, d := range dirs {
		some, all := u.r.Glob(path.Clean(wholePattern(dir+last, d))), u.r.Glob(path.Clean(wholePattern(dir+"*", d)))
		if some == nil || all == nil || len(some) > 0 && 2*len(some) >= len(all) {
			return true
		}
	}
	return len(dirs) == 0
}

// bracketed are the sets of characters of a pattern.
var bracketed = pattern.Lazy(`\[[!^]?\]?(\[:[a-z]+:\]|[^\]])*\]`)

// applyEmpty is truncate, shred and tee: of all that is in a folder, what they leave is as
// good as removed.
func applyEmpty(like policy.Write, harmless ...string) func(u *Invocation) bool {
	return func(u *Invocation) bool {
		for _, w := range u.args {
			if w.Kind == Pattern && u.mostOf(w) && !u.has(harmless...) {
				u.put(w, policy.Write{Remove: true, Tree: true, Sure: policy.Possible})
			}
		}
		return applyAll(like)(u)
	}
}

// globbed adds the matches of a pattern without its folder.
func (u *Invocation) globbed(w Word, like policy.Write) {
	before := len(u.Actions)
	u.put(w, like)
	named := ""
	for i, a := range u.Actions[before:] {
		wr, ok := a.(policy.Write)
		if !ok || i > 0 && wr.Named != named {
			break
		}
		// The folder itself is only listed, wherever it is.
		named = wr.Named
		u.Actions[before+i] = policy.Read{Path: wr.Path, Named: wr.Named, Asked: wr.Asked, List: true}
	}
}

// applyCopy is cp and mv: the last operand (or -t) is written, and so may be
// a file of the source's name in it; mv removes its sources.
func applyCopy(move bool) func(u *Invocation) bool {
	return func(u *Invocation) bool {
		into, rest := u.destination()
		if len(into) == 0 || len(rest) == 0 {
			return false
		}
		tree := move || u.has("-r", "-R", "-a", "--recursive", "--archive")
		links := tree || u.has("-P", "-d", "--no-dereference", "-s", "--symbolic-link", "-l", "--link")
		from := len(u.Actions)
		known := u.into(into[0], rest, tree, links) // before what it says is written here
		if why := u.copyBackups(from); why != "" {
			u.Why, known = why, false
		}
		for _, s := range rest {
			u.get(s, policy.Read{Tree: tree && !move})
			if move {
				u.globbedPut(s, policy.Write{Remove: true, Moved: true, Tree: u.folder(s), Below: u.inside(s)})
			}
		}
		return known && u.backsUpPlainly() && !u.has("-s", "--symbolic-link", "-l", "--link")
	}
}

// plainSuffix are suffixes of backups that make no name a program looks for.
var plainSuffix = pattern.Lazy(`^(~|[.~_-]?(bak|backup|old|orig|save|saved|tmp)~?)$`)

// backsUpPlainly reports whether the command makes no file beside those it
// names but backups with a usual suffix. Any other could make any name of one
// that is there (cp -S c x .envr), or with a slash or, for sed, a * a path.
func (u *Invocation) backsUpPlainly() bool {
	for _, f := range u.flags {
		switch f.name {
		case "-S", "--suffix":
			if f.val.Kind != Exact || !plainSuffix().MatchString(f.val.Text) {
				u.Why = "its backups get names that other programs may look for"
				return false
			}
		case "-i", "--in-place":
			if u.name == "sed" && f.has && (f.val.Kind != Exact || f.val.Text != "" && !plainSuffix().MatchString(f.val.Text)) {
				u.Why = "its backups get names that other programs may look for"
				return false
			}
		}
	}
	return true
}

// folder reports whether a word names a folder now.
func (u *Invocation) folder(w Word) bool {
	if w.Kind != Exact {
		return w.Kind == Pattern
	}
	for _, t := range u.r.Resolve(w, u.dirs) {
		if u.r.IsFolder(t.Real) {
			return true
		}
	}
	return false
}

func (u *Invocation) globbedPut(w Word, like policy.Write) {
	if w.Kind == Pattern {
		u.globbed(w, like)
		return
	}
	u.put(w, like)
}

// destination splits operands into where to and what.
func (u *Invocation) destination() (into, rest []Word) {
	for _, f := range u.flags {
		if f.name == "-t" || f.name == "--target-directory" {
			return []Word{f.val}, u.args
		}
	}
	if len(u.args) < 2 {
		return nil, nil
	}
	return u.args[len(u.args)-1:], u.args[:len(u.args)-1]
}

// into adds the destination and every path that appears in it: deep with what
// is in folders; links that are made, not followed, make it unknown. It reports
// whether that is all.
func (u *Invocation) into(dst Word, srcs []Word, deep, links bool) bool {
	if dst.Kind != Exact {
		return false
	}
	var trees []Word
	plain := !u.has("--parents")
	for _, s := range srcs {
		if s.Kind != Exact || deep && u.folder(s) || links {
			trees = append(trees, s)
			continue
		}
		name := s.Text
		if plain {
			name = strings.TrimRight(name, "/")
			name = name[strings.LastIndexByte(name, '/')+1:]
		}
		if name == "" || name == "." || name == ".." {
			continue
		}
		for _, t := range u.r.Resolve(dst, u.dirs) {
			if u.r.IsFolder(t.Real) {
				u.put(Word{Kind: Exact, Text: strings.TrimSuffix(dst.Text, "/") + "/" + name, Source: dst.Source}, policy.Write{})
			}
		}
	}
	if len(trees) == 0 {
		u.put(dst, policy.Write{})
		return true
	}
	u.Why = u.copied(dst, trees, deep, links)
	return u.Why == ""
}

func applyInstall(u *Invocation) bool {
	if u.has("-d", "--directory") {
		u.all(u.args, policy.Write{})
		return len(u.args) > 0
	}
	into, rest := u.destination()
	if len(into) == 0 {
		return false
	}
	for _, s := range rest {
		u.get(s, policy.Read{})
	}
	from := len(u.Actions)
	u.into(into[0], rest, false, false)
	u.Why = u.copyBackups(from)
	return false
}

// applyLink is ln: the link is written; where it leads is noted as read, so
// that a denied file cannot be reached under another name.
func applyLink(u *Invocation) bool {
	into, rest := u.destination()
	if len(u.args) == 1 {
		rest = u.args
		into = []Word{Lit(".")}
	}
	for _, s := range rest {
		u.get(s, policy.Read{Edits: true})
		if !strings.HasPrefix(s.Text, "/") && s.Kind == Exact && len(into) > 0 && into[0].Kind == Exact { // it counts from where the link is
			at := path.Dir(into[0].Text)
			if u.folder(into[0]) {
				at = into[0].Text
			}
			u.get(Word{Kind: Exact, Text: at + "/" + s.Text, Source: s.Source}, policy.Read{Edits: true})
		}
	}
	if len(into) > 0 {
		from := len(u.Actions)
		u.into(into[0], rest, false, false)
		u.Why = u.copyBackups(from)
	}
	return false
}

func applyMode(u *Invocation) bool {
	args := u.args
	if !u.has("--reference") && len(args) > 0 {
		args = args[1:]
	}
	tree := u.has("-R", "--recursive")
	for _, w := range args {
		u.putStanding(w, policy.Write{Tree: tree}, func(dir string) *policy.Standing { return u.r.standing(dir, u.has("-L", "-H"), nil) })
	}
	return false
}

// applySed is sed -i.
func applySed(u *Invocation) bool {
	args, why := u.sedScripts()
	okay := why == ""
	for _, w := range args {
		u.get(w, policy.Read{})
		if u.has("-i", "--in-place") {
			u.globbedPut(w, policy.Write{})
		}
	}
	if why := u.suffixBackups(args); why != "" {
		u.Why, okay = why, false
	}
	return okay && u.has("-i", "--in-place") && len(args) > 0 && u.backsUpPlainly()
}

func applyDD(u *Invocation) bool {
	for _, w := range u.args {
		name, val, _ := strings.Cut(w.Text, "=")
		switch name {
		case "of":
			u.put(Word{Kind: Exact, Text: val, Source: w.Source}, policy.Write{})
		case "if":
			u.get(Word{Kind: Exact, Text: val, Source: w.Source}, policy.Read{})
		}
	}
	return false
}

func applyFormat(u *Invocation) bool {
	if !u.has("-w") {
		return false
	}
	known := true
	for _, w := range u.args {
		known = u.formatted(w) && known
	}
	return known && len(u.args) > 0
}

func applyPack(u *Invocation) bool {
	for _, w := range u.args {
		u.globbedPut(w, policy.Write{})
	}
	return false
}
