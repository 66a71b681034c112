package policy

import (
	"slices"
	"strings"
)

// A Holding says what of a command may be run as a command of its own.
type Holding int

// Holdings.
const (
	HoldsNothing Holding = iota // it is known to run nothing
	HoldsTexts                  // texts in its words, and words behind one that says so (exec, -c, --)
	HoldsWords                  // every word: nobody knows the program
	HoldsSurely                 // every word: it is there to run others
)

// Bounds of what is looked at in one command.
const (
	maxHeldWords = 100
	maxHeldText  = 10_000 // bytes of one text
)

// Held yields the command lines that stand in a command, in its words, in the values of
// variables that are set for it and in what it is given to read: those whose program is
// wanted. sure says that it runs the line, if anything.
func (e Exec) Held(want func(program string) bool, yield func(argv []string, sure bool) bool) {
	h := holder{want: want, yield: yield}
	for _, v := range e.Env {
		h.text(v, false)
	}
	for _, t := range e.Fed {
		h.text(t, e.Holds == HoldsSurely)
	}
	if e.Holds == HoldsNothing {
		return // but what variables hold, it may run
	}
	h.entry(e.Argv[:min(len(e.Argv), maxHeldWords)])
	runs, named, scripts := e.Holds >= HoldsWords, false, runsScripts(e.Argv)
	for i := 1; i < min(len(e.Argv), maxHeldWords) && !h.over; i++ {
		w := e.Argv[i]
		behind := i > 1 && runsNext(e.Argv[i-1])
		sure := e.Holds == HoldsSurely || e.Holds == HoldsTexts && behind && !scripts
		switch {
		case slices.Contains(e.Said, w) || speaks(e.Argv[i-1], w):
		case strings.ContainsAny(w, " \t\n=:!(`'\"<,") || len(w) > 2 && w[0] == '-' && w[1] != '-' && !named:
			flag, _, glued := strings.Cut(w, "=")
			h.text(w, sure || e.Holds == HoldsTexts && glued && strings.HasPrefix(flag, "-") && runsNext(flag))
		case e.Holds == HoldsTexts && i == 1:
		case !named && (runs || behind || i > 1 && strings.HasPrefix(e.Argv[i-1], "-")):
			h.word(e.Argv[i:min(len(e.Argv), i+maxHeldWords)], sure)
		}
		runs = runs || w == "--" || runVerbs[w]
		named = named && !behind || e.Holds != HoldsSurely && i < 4 && takesNames[w]
	}
}

// scriptRunners are programs whose run names a script, or a target, of a project: the word
// behind it may be called as a program is, and is none; nor are those behind that.
var scriptRunners = map[string]bool{"npm": true, "pnpm": true, "yarn": true, "bun": true, "cargo": true, "composer": true, "turbo": true, "nx": true, "lerna": true, "deno": true, "mise": true, "task": true, "just": true}

// runsScripts reports a command that runs a script by its name.
func runsScripts(argv []string) bool {
	if len(argv) < 3 || !scriptRunners[heldName(argv[0])] {
		return false
	}
	for _, w := range argv[1:] {
		switch {
		case w == "run" || w == "run-script" || w == "task" || w == "test" || w == "start":
			return true
		case runVerbs[w] || w == "--":
			return false
		}
	}
	return false
}

// speaks reports prose: a word, or the word behind one, that is the value of a flag which
// by its name takes what people read.
func speaks(before, w string) bool {
	flag, _, glued := strings.Cut(w, "=")
	if !glued || !strings.HasPrefix(flag, "-") {
		flag = before
	}
	return strings.HasPrefix(flag, "--") && slices.ContainsFunc(proseFlags, func(n string) bool { return strings.Contains(flag, n) })
}

// runsNext reports a word behind which a command stands, whatever the program is.
func runsNext(w string) bool {
	flag := strings.TrimLeft(w, "-")
	if flag == w {
		return runVerbs[w]
	}
	return flag == "" || flag == "c" || flag == "e" || flag == "x" || flag == "X" || flag == "O" || slices.ContainsFunc(runFlags, func(n string) bool { return strings.Contains(flag, n) })
}

var (
	runVerbs = map[string]bool{
		"exec": true, "run": true, "x": true, "dlx": true, "cmd": true, "command": true, "shell": true, "env": true, "time": true, "foreach": true, "chdir": true, "unshare": true, "ssh": true, "attach": true, "debug": true, "with": true, "launch": true, "stat": true,
		"record": true, "trace": true, "develop": true, "devenv": true, "tool": true, "activate": true, "system": true, "do": true, "start": true, "task": true, "spawn": true,
	}
	runFlags   = []string{"exec", "ok", "run", "cmd", "command", "call", "shell", "hook", "script", "pre", "rsh", "editor", "pager", "program", "upload-pack", "receive-pack"}
	proseFlags = []string{"message", "title", "body", "description", "comment", "subject", "notes", "reason", "summary", "label"}
	// takesNames are words behind which names of packages stand, or of what is looked up.
	takesNames = map[string]bool{"install": true, "i": true, "add": true, "remove": true, "uninstall": true, "upgrade": true, "update": true, "info": true, "show": true, "search": true, "list": true, "in": true, "reinstall": true, "purge": true}
)

// A holder looks for command lines.
type holder struct {
	want  func(program string) bool
	yield func(argv []string, sure bool) bool
	over  bool
}

func (h *holder) word(argv []string, sure bool) {
	if name := argv[0]; name != "" && h.want(heldName(name)) {
		h.over = h.over || !h.yield(argv, sure)
	}
}

// entry looks for the program that a container starts and for its words, behind the image:
// docker run --entrypoint git IMAGE push. The image is one of the first words that are no flag.
func (h *holder) entry(argv []string) {
	if len(argv) > 2 && contained[programName(argv[0])] {
		h.image(argv)
	}
	for i, w := range argv {
		flag, program, glued := strings.Cut(w, "=")
		if flag != "--entrypoint" || !glued && i+1 == len(argv) {
			continue
		}
		rest := argv[i+1:]
		if !glued {
			program, rest = rest[0], rest[1:]
		}
		for at, image := range rest {
			if isFlag(image) {
				continue
			}
			h.word(append([]string{program}, rest[at+1:]...), false)
			if at > 0 && !isFlag(rest[at-1]) {
				break
			}
		}
	}
}

// image looks for what an image that is named after a program starts without being told to:
// docker run alpine/git push.
func (h *holder) image(argv []string) {
	run := slices.IndexFunc(argv, func(w string) bool { return w == "run" || w == "create" })
	for i := run + 1; run > 0 && i < len(argv); i++ {
		if isFlag(argv[i]) {
			continue
		}
		name, _, _ := strings.Cut(argv[i][strings.LastIndexByte(argv[i], '/')+1:], "@")
		name, _, _ = strings.Cut(name, ":")
		h.word(append([]string{strings.TrimSuffix(name, "-cli")}, argv[i+1:]...), false)
		if !isFlag(argv[i-1]) {
			break // else it may be the value of a flag
		}
	}
}

// heldName is a program without the folder of the system it lies in.
func heldName(word string) string {
	for _, dir := range programPlaces {
		if rest, ok := strings.CutPrefix(word, dir+"/"); ok {
			return rest
		}
	}
	return word
}

const (
	begins = "=!({['\"`;&|\n<>,:/#~^%@" // a command may stand behind these
	tight  = "<>,:/#~^%@"               // with no blank between
	ends   = "'\"`;&|\n(){}\\"          // and ends before these
)

// listed stands in a joined text before a word that may be what the program is called, and no
// word that it is given: execvp("git", ["x", "push"]).
const listed = "\x01"

// joined is a text in which the texts of a list ("rm", "x") stand as one.
func joined(text string) string {
	var b strings.Builder
	named := strings.Contains(text, "execl") || strings.Contains(text, "spawnl")
	for i := 0; i < len(text); i++ {
		if strings.IndexByte("'\"`", text[i]) >= 0 {
			rest := strings.TrimLeft(text[i+1:], " \t\n")
			if after, comma := strings.CutPrefix(rest, ","); comma {
				rest = strings.TrimLeft(after, " \t\n[(*")
				opened := strings.ContainsAny(after[:len(after)-len(rest)], "[(")
				quotes := "'\"`"
				if len(rest) > 2 && (rest[:2] == "qw" || rest[:2] == "%w" || rest[:2] == "%W") {
					rest, quotes = strings.TrimLeft(rest[2:], " "), "([{</|!"
				}
				if rest != "" && strings.IndexByte(quotes, rest[0]) >= 0 {
					b.WriteByte(' ')
					if opened || named {
						b.WriteString(listed)
					}
					i = len(text) - len(rest)
					continue
				}
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// fatCommas are those of a language in which a word before one needs no quotes: exec git => "push".
var fatCommas = strings.NewReplacer(`"=>`, `",`, `'=>`, `',`, `" =>`, `",`, `' =>`, `',`, ` =>`, `",`, `=>`, `",`)

// text looks for command lines in a text, in whatever language it is: at its beginning,
// and behind the signs that begin one in a shell, a string or the code of an interpreter.
func (h *holder) text(text string, sure bool) {
	text = text[:min(len(text), maxHeldText)]
	if strings.Contains(text, `\`) {
		text = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text)
	}
	text = strings.ReplaceAll(text, "{}", "_") // which a program puts a name for
	if strings.Contains(text, "=>") {
		h.lines(joined(fatCommas.Replace(text)), sure)
	}
	if strings.ContainsAny(text, "'\"`") {
		text = joined(text)
	}
	h.lines(text, sure)
}

// lines looks for command lines in a text whose lists are joined.
func (h *holder) lines(text string, sure bool) {
	h.at(text, 0, sure, false)
	if len(text) > 2 && text[0] == '-' && text[1] != '-' { // -c'rm x'
		for i := 2; i < min(len(text), 7); i++ {
			h.at(text, i, sure, true)
		}
	}
	for i := 0; i < len(text) && !h.over; i++ {
		if strings.IndexByte(begins, text[i]) < 0 {
			continue
		}
		from := i + 1
		if strings.IndexByte(tight, text[i]) < 0 {
			for from < len(text) && (text[from] == ' ' || text[from] == '\t') {
				from++
			}
		}
		h.at(text, from, sure, false)
	}
}

// at looks whether a command line begins at a place of a text, or behind a word there that
// starts another. glued says that it stands behind the letter of a flag.
func (h *holder) at(text string, from int, sure, glued bool) {
	for from < len(text) && strings.IndexByte(".!@+-%", text[from]) >= 0 {
		from++
	}
	line := text[from:]
	if end := strings.IndexAny(line, ends); end >= 0 {
		line = line[:end]
	}
	whole := glued || from == 0 || strings.IndexByte("='\"`;&|\n!", text[from-1]) >= 0
	to := from + len(line)
	whole = whole && (to == len(text) || strings.IndexByte("'\"`;&|\n", text[to]) >= 0 && (to+1 == len(text) || text[to+1] != ':')) // nothing of a language's own stands around it
	behind := true
	for n := 0; n < 20 && line != "" && !h.over; n++ {
		name, rest := line, ""
		if i := strings.IndexAny(line, " ,"); i >= 0 {
			name, rest = line[:i], strings.TrimLeft(line[i+1:], " ")
		}
		if behind && (rest != "" || whole) && h.want(heldName(name)) {
			h.line(line, sure)
		}
		if behind = behind && n > 0 || runVerbs[name] || strings.Trim(name, "0123456789$,/") == "e" || strings.HasSuffix(strings.ToLower(name), "command") || runs(name) && name != "make" && name != "just"; !behind && n > 3 {
			return
		}
		line = rest
	}
}

// line yields a command line, and once more without a sign at its end, or without the second
// word where that may be what the program is called.
func (h *holder) line(text string, sure bool) {
	argv := strings.Fields(strings.ReplaceAll(text[:min(len(text), 2_000)], ",", " "))
	called := len(argv) > 2 && (strings.HasPrefix(argv[1], listed) || heldName(argv[1]) == heldName(argv[0]))
	for i, w := range argv {
		argv[i] = strings.TrimPrefix(w, listed)
	}
	readings := [][]string{argv}
	if called {
		readings = append(readings, append([]string{argv[0]}, argv[2:]...))
	}
	for _, argv := range readings {
		h.over = h.over || !h.yield(argv, sure)
		if last := strings.TrimRight(argv[len(argv)-1], "/!#~:%@^]>"); !h.over && last != argv[len(argv)-1] && last != "" {
			h.over = !h.yield(append(slices.Clone(argv[:len(argv)-1]), last), sure)
		}
	}
}

// held asks about a command in which one stands that a rule denies or asks about, or
// denies it where it is there to run that one.
func (c *call) held(e Exec) (v Verdict, found bool) {
	for _, effect := range []Effect{Deny, Ask} {
		heads := c.rules.heads[effect]
		if len(heads) == 0 {
			continue
		}
		e.Held(func(program string) bool { return heads[program] || heads["*"] }, func(argv []string, sure bool) bool {
			x := Exec{Argv: argv, Spellings: Spellings{Open: e.Open}, Sure: Possible}
			rule, clear := c.find(effect, x), true
			if rule == nil {
				rule, clear = c.mayMatch(effect, x), false
			}
			if rule == nil {
				return true
			}
			found = true
			if v = byRule(Ask, rule, e, "whether this runs the command that stands in it ("+strings.Join(argv, " ")+") is not known, and a rule speaks of that"); sure && clear {
				v = byRule(effect, rule, e, "it runs a command that a rule speaks of: "+strings.Join(argv, " "))
			}
			return v.Effect < effect // a surer one decides
		})
		if found {
			return c.unlessDontAsk(v), true
		}
	}
	return Verdict{}, false
}
