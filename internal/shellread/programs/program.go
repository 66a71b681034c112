package programs

import (
	"slices"
	"strings"
)

// A program is all that is known of one program: one record, in the file of its family.
// Whatever it does not say is not known to be harmless.
type program struct {
	names string // separated by blanks: programs of which the same is known share a record
	is    trait

	row     *command   // the program with no subcommand, where that only reads
	reads   rows       // what only reads, by subcommands
	shows   rows       // the same of a program of which nothing else is known, not even that it runs none of its words
	changes *changeRow // what it changes

	// runs are flags with which it runs another program, or does what a rule for it does
	// not speak of: "-o" alone, "-o=" with a value attached, "-o*" any word that begins so.
	// A long one is meant by what it begins with, too, and "!--out" is none of these.
	runs   string
	valued string // flags of one letter that take what stands behind them in the same word
	// takes says of flags what they take, see the letters: "-o=w --config=p".
	takes string
	forms []form
	// helped are subcommands that say what they are with --help, and do nothing; help is
	// the row of that where it is not always so.
	helped string
	help   *command
	// lost names what its words destroy where that is no matter of forms.
	lost func(args []Word) string
}

// Rows are forms of a program that only read, by their subcommands.
type rows map[string]*command

// A form is some of the commands of a program, and what is known of them.
type form struct {
	// words are its subcommands, "a|b" either of two. They stand where the operands begin:
	// behind flags, and what may be their values. Behind "…", and in a form that loses
	// something, other operands may come before and between.
	words string
	flags string // one of these is given, of each group that is divided by " & "; "" means any
	// unless holds flags with which a command is another form.
	unless string
	valued string // as for the program

	loses string // what it destroys that cannot be brought back
	plain bool   // its words alone say so: a rule that has them means the flags as well
	sets  string // the protected file that it writes: "~/" is the home folder, else it counts from the current one
	packs bool   // it copies or packs all of the folders that it is given, or of the one it runs in
	edits string // patterns of the names of files that it changes in such folders

	runs  string // as for the program; "*": it runs what stands behind it
	takes string
	// command: what stands behind it is a command that it runs; own are the flags that may
	// stand before, script: its first operand is a file that it runs.
	command, script bool
	own             string
	says            *prose
	helped          string
}

// A trait holds of all commands of a program.
type trait uint64

const (
	known         trait = 1 << iota // it runs none of its words
	handles                         // it only handles files, see Handles
	launcher                        // it is there to run the words behind it as a command
	starter                         // it starts the program behind it, too
	takesScripts                    // it hands a word to a shell
	remote                          // what it runs, runs in a container or on another machine
	interpreter                     // it takes code, besides policy.Runner
	inPlaceEditor                   // an interpreter that edits files when it is told so
	writesFirst                     // its first operand is what it writes
	editor                          // it changes the file that it is given
	ownNames                        // its operands are names of its own
	namesOthers                     // its operands are names of programs, packages or processes
	checker                         // it checks, compiles, tests, sends or shows what it is given
	reader                          // it writes no file that it is told of
	writer                          // it may write any file that it is told of
	copier                          // its last operand is written
	container                       // its cp copies to and from containers
	walker                          // it reads all of a folder that it is given
	seeker                          // it reads the folder it runs in when it is given none
	packer                          // it packs, splits or encodes files
	quiet                           // it makes, changes and removes files, prints nothing that is in one, and gives none another name
	listed                          // it reads names of files from its standard input
	includer                        // it reads what its input includes
	eachFile                        // started for each file that something finds, it reads that file and no other
	speaker                         // with --version or --help it says what it is, and does nothing
	takesTexts                      // it hands what its words say to no shell
	module                          // of Python: it counts behind python -m alone
	manager                         // it starts programs and scripts of a project alike
	tarLike                         // it is tar
	setsWords                       // a word NAME=value sets a variable, also for the programs that it runs
	bin                             // it removes what it is given, or puts it where it is removed
	verbFirst                       // its subcommand is the first of the words that are held against what it loses
	queries                         // it takes statements for a database, as words and from its standard input
	clusters                        // its flags of one letter stand together, and long ones may be cut short
)

// What a flag takes, as a letter of takes. Those of the first line write files and do nothing
// else: a rule that names such a flag means that. Those of the second do what a rule for the
// program means in any case, as long as it lies in the folders of the session: the program
// does it as well behind cd, or with what it finds there by itself. They are for programs
// that run the project's code in any case: a rule for one that only reads or fetches does
// not mean that it changes files.
const (
	takesFile, takesFolder, takesNothing, namesItself                         = 'w', 'f', 'n', 'i' // a file; a folder for a file whose name comes from elsewhere; nothing; nothing, and such a file is written here
	takesPlace, takesSetting, takesOff, takesText, takesMount, takesMeantFile = 'p', 's', 'o', 't', 'm', 'W'
	takesQuery, takesBare, takesValue                                         = 'q', 'a', 'b' // what psql is told; nothing, and a value, of a flag that means the same before the subcommand and behind it
	takesRead, takesList, takesCode                                           = 'r', 'l', 'c' // a file that is only read; one that holds further names; one with what the program does
	takesNowhere                                                              = 'N'           // a file that is written, and must be none
)

// meantKinds are the kinds that a rule for the program means, and meantAs how they are called
// there.
const meantKinds, meantAs = "psotmWqab", "psotmwqab"

// taken is what takes says of a flag: its letters.
func taken(takes, flag string) string {
	for tok := range strings.FieldsSeq(takes) {
		if i := strings.LastIndexByte(tok, '='); tok[:i] == flag {
			return tok[i+1:]
		}
	}
	return ""
}

// flagsTaking are the flags that take something of a kind.
func flagsTaking(takes string, kind byte) (flags []string) {
	for tok := range strings.FieldsSeq(takes) {
		if i := strings.LastIndexByte(tok, '='); strings.IndexByte(tok[i:], kind) > 0 {
			flags = append(flags, tok[:i])
		}
	}
	return flags
}

// A match is where the words and the flags stand that make a command a form.
type match struct{ words, flags []int }

// match holds the words behind a program against one of its forms.
func (p *program) match(f *form, args []Word) (m match, ok bool) {
	args = args[:min(len(args), 500)]
	if m.words, ok = f.named(args); !ok || p.is&verbFirst != 0 && f.loses != "" && m.words[0] != 0 {
		return m, false
	}
	for group := range strings.SplitSeq(f.flags, " & ") {
		at := p.given(f, group, args, false)
		if group != "" && at == nil {
			return m, false
		}
		m.flags = append(m.flags, at...)
	}
	return m, p.given(f, f.unless, args, true) == nil
}

// named are the places of a form's words.
func (f *form) named(args []Word) (at []int, ok bool) {
	rest, loose := strings.CutPrefix(f.words, "… ")
	words, near := strings.Fields(rest), 4
	if f.loses != "" {
		loose, near = true, 8
	}
	for i, w := range args {
		switch {
		case len(words) == 0 || len(at) >= len(words) && !loose || loose && i == near:
			return at, len(at) >= len(words)
		case len(at) >= len(words) && w.Text == args[at[len(at)-1]].Text:
		case w.Kind == Exact && either(words[min(len(at), len(words)-1)], w.Text):
			at = append(at, i)
		case w.Kind == Exact && !loose && !strings.HasPrefix(w.Text, "-") && (i == 0 || !strings.HasPrefix(args[i-1].Text, "-")):
			return nil, false
		}
	}
	return at, len(at) >= len(words)
}

// either reports whether a text is one of "a|b".
func either(words, text string) bool {
	for w := range strings.SplitSeq(words, "|") {
		if w == text {
			return true
		}
	}
	return false
}

// given are the places of words that are one of some flags. sure leaves out words that are
// not known as a whole.
func (p *program) given(f *form, flags string, args []Word, sure bool) (at []int) {
	together := p.is&clusters != 0
	for i, w := range args {
		text := Literals(args[i : i+1])[0]
		name, _, _ := strings.Cut(text, "=")
		if sure && w.Kind != Exact {
			continue
		}
		for flag := range strings.FieldsSeq(flags) {
			if matchFlag(flag, text) || name == flag || flag == toBranch && fetchesToBranch(text) || flag == pruneTags && strings.HasPrefix(text, "--prune-t") || together && (len(flag) == 2 && clustered(letters(text, f.valued), flag[1]) ||
				len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(flag, name)) {
				at = append(at, i)
				break
			}
		}
	}
	return at
}

// letters is a word of short flags without the value that is glued to the last of them.
func letters(text, valued string) string {
	if i := strings.IndexAny(text, valued); i > 0 {
		return text[:i+1]
	}
	return text
}

// begins is how many of the first words are those of a form, 0 for none.
func (f *form) begins(args []Word) int {
	n := 0
	for words := range strings.FieldsSeq(f.words) {
		if n == len(args) || args[n].Kind != Exact || !either(words, args[n].Text) {
			return 0
		}
		n++
	}
	return n
}

// running are the flags and words, as in runs, with which a subcommand runs others.
func (p *program) running(sub Word) string {
	var out []string
	for i := range p.forms {
		if f := &p.forms[i]; f.runs != "" && f.begins([]Word{sub}) == 1 {
			out = append(out, f.runs)
		}
	}
	return strings.Join(out, " ")
}

// form is the first form whose words a command begins with and that says something.
func (p *program) form(args []Word, says func(f *form) bool) *form {
	i := slices.IndexFunc(p.forms, func(f form) bool { return f.begins(args) > 0 && says(&f) })
	if i < 0 {
		return &form{}
	}
	return &p.forms[i]
}
