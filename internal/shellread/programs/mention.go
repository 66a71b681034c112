package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// onlyRead are programs that write no file they are told of, besides those in the
// table none of whose flags does.
var onlyRead = map[string]bool{
	"rg": true, "jq": true, "man": true, "bat": true, "ag": true, "ack": true, "less": true, "more": true, "ps": true,
	"ssh-add": true, "shellcheck": true, "yamllint": true, "actionlint": true, "hadolint": true, "jsonlint": true,
}

// readingFlags are flags whose value a program only reads.
var readingFlags = map[string][]string{
	"ssh": {"-i", "-F"}, "scp": {"-i", "-F"}, "sftp": {"-i", "-F"}, "kubectl": {"--kubeconfig"}, "helm": {"--kubeconfig"},
	"docker": {"-f", "--file"}, "make": {"-f", "--file"}, "npm": {"--userconfig"}, "pre-commit": {"-c", "--config"},
}

// folderFlags name the folder in which what a program starts is run.
var folderFlags = []string{"-C", "-D", "--chdir", "--directory", "--working-directory", "--cwd"}

// gitWritingFlags are flags of git's subcommands whose value is a file or folder
// that is written. What git commands write otherwise is known.
var gitWritingFlags = []string{"-o", "--output", "--output-directory", "--export-marks", "--separate-git-dir"}

// toldToWrite says of each word of a command whether the program may write what it
// names, because nobody knows that it does not.
func (u *Invocation) toldToWrite(ws []Word) []bool {
	told := make([]bool, len(ws))
	if StandardPath(ws[0].Text) && u.OnlyReads() {
		return told
	}
	script := policy.Runner(u.name) && !editors[u.name] && !ownFiles[u.name] && u.name != "make" && u.name != "just" // the first operand is what it runs
	for i := 1; i < len(ws) && strings.HasPrefix(ws[i].Text, "-"); i++ {
		script = script && !strings.ContainsAny(ws[i].Text, " (;/\"'`") // what it runs stands there
	}
	for i := 1; i < len(ws); i++ {
		before, flag := ws[i-1].Text, strings.HasPrefix(ws[i].Text, "-")
		switch u.name {
		case "git":
			told[i] = slices.Contains(gitWritingFlags, before) || gluedOutput(ws[i].Text) || i > 1 && before == "create" && ws[i-2].Is("bundle")
			continue
		case "find":
			told[i] = strings.HasPrefix(before, "-fprint") || before == "-fls"
			continue
		case "ssh":
			told[i] = flag || before == "-E" || before == "-S" // what stands behind the host is done there
			continue
		}
		switch {
		case slices.Contains(readingFlags[u.name], before):
		case script && (before == "-o" || before == "--output"): // time -o, strace -o
			told[i] = true
		case slices.Contains(folderFlags, before):
			told[i] = true
		case script && !flag:
			script = false
		default:
			told[i] = true
		}
	}
	return told
}

// gluedOutput reports a word of short flags of git with a file behind -o (-qo.git/x).
func gluedOutput(text string) bool {
	at := strings.IndexByte(text, 'o')
	return clustered(text, 'o') && at < maxCluster && len(text) > at+1 && strings.ContainsAny(text, "./")
}

// OnlyReads reports whether the program writes no file that it is told of.
func (u *Invocation) OnlyReads() bool {
	row := u.r.Table.reads[u.name]
	return onlyRead[u.name] || row != nil && row.safe
}

// editors are interpreters that change the file they are given.
var editors = map[string]bool{"vim": true, "vi": true, "nvim": true, "ed": true, "ex": true, "emacs": true}

// mentions adds the paths that stand inside of words: behind a flag of one letter
// (-o.git/x), behind a sign (-Wl,-Map=x, a:b), and in the code of an interpreter.
func (u *Invocation) mentions(ws []Word, told []bool) {
	code := takesCode(u.name) || RunsText(u.name) && u.name != "ssh"
	u.code = code && !IsAwk(u.name) // what awk opens is read there
	for i, w := range ws[:min(len(ws), 100)] {
		if w.Kind != Exact || i == 0 || !told[i] && !(code && strings.ContainsAny(w.Text, " (")) || len(w.Text) > 5000 {
			continue
		}
		if strings.ContainsAny(w.Text, " \n") && !code {
			continue // prose
		}
		for _, val := range gluedValues(w.Text) {
			u.mention(val, w)
		}
		u.parts(w)
	}
}

// Fed adds the paths that the text on an interpreter's standard input names, and those
// in the input of a compiler, which may include them, or of a program that takes names
// of files there. args are the program's own words as they are written.
func (u *Invocation) Fed(text string, args []string) {
	switch {
	case takesCode(u.name):
		u.Named(text)
	case TakesNames(u.name, args):
		u.NamedRead(text)
	}
}

// TakesNames reports a program that reads the files which its standard input, or a file
// with names, names: some only with a flag for that.
func TakesNames(name string, args []string) bool {
	flags := slices.Concat(listsNames()[name], programFlags[name])
	return includes[name] || stdinNames[name] || name != "git" && slices.ContainsFunc(flags, func(f string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, f) || len(f) == 2 && f[0] == '-' && clustered(a, f[1])
		})
	})
}

// includes are compilers and others that read what their input includes.
var includes = map[string]bool{
	"gcc": true, "g++": true, "cc": true, "c++": true, "clang": true, "clang++": true, "cpp": true, "tcc": true, "as": true, "nasm": true, "m4": true, "protoc": true, "tex": true, "latex": true, "pdflatex": true, "groff": true, "nroff": true, "troff": true,
}

// programFlags are flags whose value is a file with what the program does: files may be
// named in it.
var programFlags = map[string][]string{
	"curl": {"-K", "--config"}, "wget": {"-i", "--input-file"}, "sed": {"-f", "--file"}, "awk": {"-f", "--file"}, "gawk": {"-f", "--file"}, "mawk": {"-f"}, "jq": {"-f", "--from-file"},
}

// NamedRead is Named for what the program only reads.
func (u *Invocation) NamedRead(text string) {
	u.reading = true
	u.Named(text)
}

// Named adds the paths that a text names, as ones that may be read and written.
func (u *Invocation) Named(text string) {
	text = strings.NewReplacer(`\n`, " ", `\t`, " ", `\0`, " ", `\r`, " ", `\`, "").Replace(text)
	u.code = !IsAwk(u.name)
	u.parts(Word{Kind: Exact, Text: text + " ", Source: u.name})
	for _, a := range u.Actions {
		u.r.Add(a)
	}
}

func takesCode(name string) bool {
	return name != "ssh" && (policy.Runner(name) || interpreters[name] || name == "patch")
}

// parts adds the paths that stand between the signs of a word.
func (u *Invocation) parts(w Word) {
	parts := strings.FieldsFunc(w.Text, func(c rune) bool { return strings.ContainsRune("=:,;@ \t\n\"'`()[]{}<>|&", c) })
	for _, part := range parts[:min(len(parts), 100)] {
		if part != w.Text {
			u.mention(part, w)
		}
	}
}

// interpreters are further programs that take code, or commands of their own, as words.
var interpreters = map[string]bool{"sqlite3": true, "psql": true, "mysql": true, "gnuplot": true, "octave": true, "R": true, "jshell": true}

func (u *Invocation) mention(text string, w Word) {
	if !strings.ContainsAny(text, "./") || strings.HasPrefix(text, "-") {
		return
	}
	from := len(u.Actions)
	u.get(Word{Kind: Exact, Text: text, Source: w.Source}, policy.Read{MayWrite: !u.reading, Mention: true})
	if u.code {
		u.namesSecret(from)
	}
}

// maxCluster is behind how many letters of a word of flags a value is looked for.
const maxCluster = 6

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

// glued adds the paths that stand behind the letters of a flag without a sign
// between them (-F.env, -include.env), for rules that forbid; a secret that is there is
// a question, whatever the program does with it.
func (u *Invocation) glued(w Word) {
	if len(w.Text) > 300 {
		return
	}
	for i, val := range gluedValues(w.Text) {
		name := Word{Kind: Exact, Text: val, Source: w.Source}
		if i > 0 && !strings.ContainsAny(val[:1], "./~") && !u.r.there(name, u.dirs) {
			continue
		}
		from := len(u.Actions)
		u.get(name, policy.Read{Mention: true})
		if !strings.ContainsAny(w.Text, " \t\n") { // prose
			u.namesSecret(from)
		}
	}
}

// namesSecret makes a question of what was mentioned since then and is a secret that is
// there.
func (u *Invocation) namesSecret(from int) {
	for i, a := range u.Actions[from:] {
		if a, ok := a.(policy.Read); ok && !a.Tree && (policy.HoldsSecrets(a.Path) || policy.HoldsSecrets(a.Named)) && u.r.mayBe(a.Path) {
			a.Code = true
			u.Actions[from+i] = a
		}
	}
}

// inValues adds, for rules that forbid, the paths in NAME=PATH, and in git's REV:PATH. A
// secret that is there is a question.
func (u *Invocation) inValues(ws []Word) {
	for _, w := range ws[1:] {
		if w.Kind != Exact || len(w.Text) > 500 || strings.ContainsAny(w.Text, " \n") {
			continue
		}
		_, val, _ := strings.Cut(w.Text, "=")
		if _, file, ok := strings.Cut(w.Text, ":"); ok && u.name == "git" && val == "" {
			val = file
		}
		if val != "" {
			from := len(u.Actions)
			u.get(Word{Kind: Exact, Text: strings.TrimPrefix(val, "@"), Source: w.Source}, policy.Read{Mention: true})
			u.namesSecret(from)
		}
	}
}

// elsewhere adds, for rules that forbid, what the words name from a folder that a
// flag moves the program to.
func (u *Invocation) elsewhere(ws []Word) {
	var dirs []string
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
	if len(dirs) == 0 || u.name == "git" {
		return
	}
	there := &Invocation{r: u.r, dirs: dirs, name: u.name}
	for _, w := range ws[1:min(len(ws), 100)] {
		if w.Kind == Exact && w.Text != "" && len(w.Text) < 500 && w.Text[0] != '-' && !strings.ContainsAny(w.Text, " \n") {
			there.get(w, policy.Read{Mention: true})
		}
	}
	u.Actions = append(u.Actions, there.Actions...)
}

// Mentioned adds the paths that a text names, for rules that forbid.
func (r *Recorder) Mentioned(text string, dirs []string) {
	u := &Invocation{r: r, dirs: dirs, name: "text"}
	parts := strings.FieldsFunc(text[:min(len(text), 5000)], func(c rune) bool { return strings.ContainsRune("=,;@ \t\n\"'`()[]{}<>|&", c) })
	for _, part := range parts[:min(len(parts), 100)] {
		u.get(Lit(part), policy.Read{Mention: true})
	}
	for _, a := range u.Actions {
		r.Add(a)
	}
}
