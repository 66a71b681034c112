package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/shellread/scan"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Changes lists what a command that changes files would change, so that the
// mode and path rules can judge it. ok means that this is all it does; without
// it the actions are only what is known, and are added to those before.
func (u *Invocation) Changes(ws []Word) (ok bool) {
	u.name = Base(ws[0].Text)
	acts, ok := u.changed(ws)
	if ok {
		u.Actions = nil
	}
	u.Actions = append(u.Actions, acts...)
	return ok
}

func (u *Invocation) changed(ws []Word) (acts []policy.Action, ok bool) {
	if !StandardPath(ws[0].Text) {
		return u.MayRead(ws), false
	}
	row, found := u.r.Table.changes[u.name]
	if !found {
		return u.outputs(ws), false
	}
	c := &Invocation{r: u.r, dirs: u.dirs, name: u.name, row: &row.command}
	if why := c.parse(&row.command, ws[1:]); why != "" {
		return u.outputs(ws), false
	}
	for _, w := range c.args {
		if w.Kind != Exact && w.Kind != Pattern {
			return u.outputs(ws), false
		}
	}
	unclear := u.r.Unclear
	saved := u.r.Actions
	u.r.Actions = nil
	ok = row.apply(c)
	acts = append(c.Actions, u.r.Actions...)
	u.r.Actions = saved
	u.Why = c.Why
	if ok = ok && u.r.Unclear == unclear && !u.r.Fed; !ok {
		acts = append(acts, u.mayWrite(ws)...)
	}
	return acts, ok
}

// outputs are the files that common flags of other commands write.
func (u *Invocation) outputs(ws []Word) []policy.Action {
	c := &Invocation{r: u.r, dirs: u.dirs, name: u.name}
	for i, w := range ws {
		if i == 0 || w.Kind != Exact {
			continue
		}
		switch {
		case w.Text == "-o" || w.Text == "--output" || u.name == "wget" && (w.Text == "-O" || w.Text == "--output-document") || u.name == "unzip" && w.Text == "-d":
			if i+1 < len(ws) && ws[i+1].Kind == Exact {
				c.put(ws[i+1], policy.Write{})
			}
		case strings.HasPrefix(w.Text, "--output=") || strings.HasPrefix(w.Text, "of="):
			_, file, _ := strings.Cut(w.Text, "=")
			c.put(Word{Kind: Exact, Text: file, Source: w.Source}, policy.Write{})
		}
	}
	if u.name == "find" && len(ws) > 1 && ws[1].Kind == Exact && slices.ContainsFunc(ws, func(w Word) bool { return w.Is("-delete") }) {
		c.put(ws[1], policy.Write{Remove: true, Tree: true})
	}
	if u.name == "rsync" || u.name == "scp" {
		c.synced(ws[1:])
	}
	if u.name == "git" {
		c.gitOutputs(ws)
		c.gitSteers(ws)
	}
	if home := u.r.World.Home; u.name == "go" && len(ws) > 2 && ws[1].Is("env") && home != "" && slices.ContainsFunc(ws, func(w Word) bool { return w.Is("-w") || w.Is("-u") }) {
		at := path.Join(home, ".config/go/env") // it may be elsewhere, and is settings all the same
		c.Actions = append(c.Actions, policy.Write{Path: at, Named: at, Asked: at, Arg: true})
	}
	c.unpacks(ws)
	return append(c.Actions, u.mayWrite(ws)...)
}

// gitOutputs are the files that git's own commands write or remove in the
// working tree, as far as they are named.
func (u *Invocation) gitOutputs(ws []Word) {
	_, rest, _ := gitSplit(ws[1:])
	if len(rest) == 0 || rest[0].Kind != Exact {
		return
	}
	u.gitTrees(rest)
	u.gitDumps(rest)
	named := false
	switch rest[0].Text {
	case "restore", "rm", "mv", "clean", "init", "clone", "worktree", "format-patch":
		named = true
	case "checkout":
		// A name that is there is taken for a file.
		named = len(rest) > 1 && slices.ContainsFunc(rest[1:], func(w Word) bool { return w.Kind == Exact && u.r.there(w, u.dirs) })
	default:
		return
	}
	for _, w := range rest[1:] {
		switch {
		case w.Is("--"):
			named = true
		case named && w.Kind == Exact && !strings.HasPrefix(w.Text, "-"):
			u.put(w, policy.Write{Remove: rest[0].Text == "rm", Tree: u.folder(w)})
		}
	}
}

// MayRead adds every operand that could be a file as read, for deny rules about
// paths; they change nothing about a command that asks anyway.
func (u *Invocation) MayRead(ws []Word) []policy.Action {
	if len(ws) > 200 {
		ws = ws[:200]
	}
	c := &Invocation{r: u.r, dirs: u.dirs, name: u.name}
	if len(u.dirs) == 0 {
		c.everywhere(ws[1:])
		return c.Actions
	}
	operands, named := 0, false
	told, alone := u.toldToWrite(ws), u.leavesAlone(ws)
	for i, w := range ws[1:] {
		if w.Kind == Pattern && walkers[u.name] {
			c.get(w, policy.Read{Tree: true})
		}
		if w.Kind == Pattern && told[i+1] {
			c.get(w, policy.Read{MayWrite: true, Mention: true})
		}
		if w.Kind == Unknown || w.Kind == Number && w.Many {
			c.unknownOperand(w, operands)
			operands++
		}
		if w.Kind != Exact || w.Text == "" || len(w.Text) > 1000 || strings.ContainsAny(w.Text, "\n") {
			continue
		}
		text := w.Text
		if strings.HasPrefix(text, "-") {
			_, val, has := strings.Cut(text, "=")
			if !has {
				c.glued(w)
				continue
			}
			text = val
		}
		name := Word{Kind: Exact, Text: strings.TrimPrefix(text, "@"), Source: w.Source}
		tree := walkers[u.name] && u.folder(name)
		if !strings.HasPrefix(w.Text, "-") {
			operands++
			named = named || seekers[u.name] && operands > 1 && u.r.there(name, u.dirs)
		}
		c.get(name, policy.Read{Tree: tree, MayWrite: told[i+1], Edits: told[i+1] && (!alone || outputFlag(ws[i], w))})
		c.glued(w)
	}
	if u.name == "find" && slices.ContainsFunc(ws, func(w Word) bool { return strings.HasPrefix(w.Text, "-exec") || strings.HasPrefix(w.Text, "-ok") }) {
		c.starts(ws[1:])
	}
	c.mentions(ws, told)
	c.fromList(ws)
	c.eachFound(ws)
	if seekers[u.name] && !named {
		c.get(Lit("."), policy.Read{Tree: true})
	}
	return c.Actions
}

// everywhere adds what words may name in a folder that is not known.
func (u *Invocation) everywhere(ws []Word) {
	saved := u.r.Actions
	u.r.Actions = nil
	for _, w := range ws {
		if w.Kind == Exact && len(w.Text) < 1000 && !strings.HasPrefix(w.Text, "-") {
			u.r.somewhere(w, nil, false)
		}
	}
	u.Actions = append(u.Actions, u.r.Actions...)
	u.r.Actions = saved
}

func (u *Invocation) put(w Word, like policy.Write) {
	like.Arg, like.Blind = true, u.r.Piped && u.name == "tee"
	saved := u.r.Actions
	u.r.Actions = nil
	u.r.Write(w, u.dirs, like)
	u.Actions = append(u.Actions, u.r.Actions...)
	u.r.Actions = saved
}

func (u *Invocation) get(w Word, like policy.Read) {
	like.Arg = true
	saved := u.r.Actions
	u.r.Actions = nil
	u.r.Read(w, u.dirs, like)
	u.Actions = append(u.Actions, u.fill(u.r.Actions)...)
	u.r.Actions = saved
}

// A changeRow says what a command that changes files does to its operands.
// apply returns whether that is all.
type changeRow struct {
	command
	apply func(u *Invocation) bool
}

var changeRows = map[string]*changeRow{
	"touch":     {command{safe: true, flags: "-acmhf -d=x -r=p -t=x --no-create --date=x --reference=p --time=x --no-dereference"}, applyAll(policy.Write{})},
	"mkdir":     {command{safe: true, flags: "-pv -m=x --parents --verbose --mode=x"}, applyAll(policy.Write{})},
	"rmdir":     {command{safe: true, flags: "-pv --parents --verbose --ignore-fail-on-non-empty"}, applyAll(policy.Write{Remove: true})},
	"rm":        {command{safe: true, flags: "-fiIrRdv --force --interactive? --recursive --dir --verbose --one-file-system --preserve-root? --no-preserve-root"}, applyRemove},
	"unlink":    {command{safe: true}, applyAll(policy.Write{Remove: true})},
	"shred":     {command{safe: true, flags: "-fuvxz -n=x -s=x --force --iterations=x --remove? --zero --verbose"}, applyAll(policy.Write{Remove: true})},
	"truncate":  {command{safe: true, flags: "-co -s=x -r=p --no-create --size=x --reference=p"}, applyAll(policy.Write{})},
	"tee":       {command{safe: true, flags: "-aip --append --ignore-interrupts --output-error?"}, applyAll(policy.Write{})},
	"cp":        {command{safe: true, flags: "-abdfilLnPpRrsTuvxH -t=x -S=x --archive --backup? --force --interactive --link --dereference --no-clobber --no-dereference --preserve? --no-preserve=x --parents --recursive --symbolic-link --suffix=x --target-directory=x --no-target-directory --update? --verbose --one-file-system --reflink? --sparse=x --strip-trailing-slashes --remove-destination --attributes-only"}, applyCopy(false)},
	"mv":        {command{safe: true, flags: "-bfinTuv -t=x -S=x --backup? --force --interactive --no-clobber --strip-trailing-slashes --suffix=x --target-directory=x --no-target-directory --update? --verbose"}, applyCopy(true)},
	"install":   {command{safe: true, flags: "-bcCdDpsTv -g=x -m=x -o=x -t=x -S=x --directory --mode=x --owner=x --group=x --target-directory=x --verbose --preserve-timestamps --backup?"}, applyInstall},
	"ln":        {command{safe: true, flags: "-bdfFiLnPrsTv -t=x -S=x --symbolic --force --relative --no-dereference --target-directory=x --verbose --backup?"}, applyLink},
	"chmod":     {command{safe: true, flags: "-cfvR --changes --quiet --silent --verbose --recursive --reference=p"}, applyMode},
	"chown":     {command{safe: true, flags: "-cfvRhHLP --recursive --reference=p --no-dereference"}, applyMode},
	"chgrp":     {command{safe: true, flags: "-cfvRhHLP --recursive --reference=p --no-dereference"}, applyMode},
	"sed":       {command{safe: true, flags: "-nErsuz -i? -e=x -f=p -l=x --line-length=x --sandbox --debug --unbuffered --version --help --in-place? --quiet --silent --regexp-extended --expression=x --file=p --null-data --posix --separate --follow-symlinks"}, applySed},
	"dd":        {command{safe: true}, applyDD},
	"gofmt":     {command{safe: true, flags: "-l -d -s -e -w -r=x", dash: true}, applyFormat},
	"goimports": {command{safe: true, flags: "-l -d -e -v -w -local=x", dash: true}, applyFormat},
	"patch": {command{safe: true, flags: "-p=x -i=p -o=x -R -N -s -d=x -b -f -t -E -u -c -n -l -r=x --input=p --output=x --dry-run --reverse --forward --silent --quiet"}, func(u *Invocation) bool {
		u.all(u.args, policy.Write{})
		u.mayWriteBelow(u.flagged("-d", "--directory"))
		return false
	}},
	"split": {command{safe: true, flags: "-l=x -b=x -n=x -C=x -a=x -d -x"}, func(u *Invocation) bool {
		if len(u.args) > 0 {
			u.get(u.args[0], policy.Read{})
		}
		return false
	}},
	"gzip": {command{safe: true, flags: "-123456789dfknqrv --keep --force --decompress --best --fast"}, applyPack}, "gunzip": {command{safe: true, flags: "-cfknqrtv"}, applyPack},
	"bzip2": {command{safe: true, flags: "-123456789dfkqv"}, applyPack}, "xz": {command{safe: true, flags: "-0123456789dfkqvzeT=x"}, applyPack}, "zstd": {command{safe: true, flags: "-123456789dfkqvT=x --rm"}, applyPack},
	"sort": {command{safe: true, flags: "-bdfgiMhnRrVcCmsuz -k=x -t=x -S=x -o=x --output=x --key=x --numeric-sort --reverse --unique"}, func(u *Invocation) bool {
		for _, f := range u.flags {
			if f.name == "-o" || f.name == "--output" {
				u.put(f.val, policy.Write{})
			}
		}
		for _, w := range u.args {
			u.get(w, policy.Read{})
		}
		return true
	}},
	"uniq": {command{safe: true, early: true, flags: "-cdDiuz -f=x -s=x -w=x"}, func(u *Invocation) bool {
		for i, w := range u.args {
			if w.Many {
				return false // the second of several would be written
			}
			if i == 0 {
				u.get(w, policy.Read{})
			} else {
				u.put(w, policy.Write{})
			}
		}
		return len(u.args) <= 2
	}},
}

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
			if last != "*" && last != ".*" && last != "?*" {
				u.globbed(w, policy.Write{Remove: true, Tree: tree})
				continue
			}
			u.put(w, policy.Write{Remove: true, Tree: true})
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

// globbed adds the matches of a pattern without its folder.
func (u *Invocation) globbed(w Word, like policy.Write) {
	before := len(u.Actions)
	u.put(w, like)
	if len(u.Actions) > before {
		if wr, ok := u.Actions[before].(policy.Write); ok {
			// The folder itself is only listed.
			u.Actions[before] = policy.Read{Path: wr.Path, Named: wr.Named, Asked: wr.Asked, Arg: true, List: true}
		}
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
		u.get(s, policy.Read{})
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
	u.all(args, policy.Write{Tree: tree})
	return false
}

// applySed is sed -i.
func applySed(u *Invocation) bool {
	args, okay := u.args, true
	scripts := []Word{}
	for _, f := range u.flags {
		switch f.name {
		case "-e", "--expression":
			scripts = append(scripts, f.val)
		case "-f", "--file":
			okay = false
		}
	}
	if len(scripts) == 0 && okay && len(args) > 0 {
		scripts, args = args[:1], args[1:]
	}
	for _, s := range scripts {
		okay = okay && s.Kind == Exact && scan.Sed(s.Text) == ""
	}
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
