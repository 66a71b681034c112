package programs

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// loses is Loses as far as the words alone say it.
func (t *Table) loses(name string, ws []Word) string {
	name, p, rests := t.judged(name, ws)
	for _, rest := range rests {
		if what := p.losing(name, rest); what != "" {
			return what
		}
	}
	return ""
}

// judged is the record that says what a command loses, and the words that may stand behind
// the program. mkfs and git have programs for their forms: mkfs.ext4, git-push.
func (t *Table) judged(name string, ws []Word) (as string, p *program, rests [][]Word) {
	verb, part := strings.CutPrefix(name, "git-")
	switch {
	case name == "git":
		if as := gitAsFlags(ws); as != nil {
			ws = as
		}
		return name, t.of(name), gitRests(ws[1:])
	case part && t.programs[name] == nil:
		return "git", t.of("git"), [][]Word{append([]Word{Lit(verb)}, ws[1:]...)}
	case strings.HasPrefix(name, "mkfs."):
		return name, t.of("mkfs"), [][]Word{ws[1:]}
	}
	return name, t.of(name), [][]Word{ws[1:]}
}

// Judged reports a program some form of which destroys something for good, or writes
// settings that no word names.
func (t *Table) Judged(name string) bool {
	p := t.of(name)
	return p.is&(tarLike|bin) != 0 || p.lost != nil || slices.ContainsFunc(p.forms, func(f form) bool { return f.loses != "" || f.sets != "" }) ||
		name == "adze" || name == "rsync" || name == "zip" || strings.HasPrefix(name, "git-") || strings.HasPrefix(name, "mkfs.")
}

// startsRemoval names a removal of every match, behind one of the flags.
func startsRemoval(flags ...string) func(args []Word) string {
	return func(args []Word) string {
		for i, w := range args[:max(0, len(args)-1)] {
			if slices.Contains(flags, w.Text) && args[i+1].Kind == Exact && slices.Contains([]string{"rm", "shred", "truncate", "unlink"}, Base(args[i+1].Text)) {
				return w.Text + " " + args[i+1].Text + " removes every match, or what is in it, for good"
			}
		}
		return ""
	}
}

// A gitFlags are the words behind git's subcommand, by what they may be.
type gitFlags []string

// short reports a flag of one letter, alone or among others.
func (f gitFlags) short(c string) bool {
	return slices.ContainsFunc(f, func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, c)
	})
}

// has reports one of the words, alone or with a value. git takes a long flag by
// what it begins with (gitcli(7)).
func (f gitFlags) has(names ...string) bool {
	return slices.ContainsFunc(f, func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains(names, name) || len(name) > 2 && strings.HasPrefix(name, "--") &&
			slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name) })
	})
}

// toBranch stands among the flags of a form for words that fetchesToBranch knows.
const toBranch = "SOURCE:BRANCH"

// pruneTags stands there for --prune-tags, which --prune is no short form of.
const pruneTags = "PRUNE:TAGS"

// fetchesToBranch reports a word with which git fetch may put what it fetches elsewhere than
// under the branches of a remote: there, nobody has commits of their own. Such words may also
// come from the standard input.
func fetchesToBranch(word string) bool {
	name, value, ok := strings.Cut(word, "=")
	if name == "--stdin" || name == "--refmap" && !ok {
		return true
	}
	if name != "--refmap" {
		value = word
	}
	_, to, _ := strings.Cut(value, ":")
	return to != "" && !strings.HasPrefix(to, "//") && !strings.HasPrefix(strings.TrimPrefix(to, "refs/"), "remotes/")
}

// rmLoses names a recursive removal whose target is not known.
func rmLoses(args []Word) string {
	if !mayRecurse(args) {
		return ""
	}
	for _, w := range args {
		if w.Kind != Exact && w.Kind != Pattern && (w.Many || !w.FlagLike() || recurses(args)) {
			what := "what " + w.Source + " stands for"
			if w.Source == "…" {
				what = "what xargs adds"
			}
			return what + " is not known before it runs, and everything below it would be removed"
		}
	}
	return ""
}

// recurses reports a flag with which rm removes what is below its operands.
func recurses(args []Word) bool {
	return slices.ContainsFunc(args, func(w Word) bool {
		return w.Kind == Exact && (len(w.Text) > 2 && strings.HasPrefix("--recursive", w.Text) || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.ContainsAny(w.Text, "rR"))
	})
}

// mayRecurse is recurses, or that a word which is not known may be such a flag.
func mayRecurse(args []Word) bool {
	return recurses(args) || slices.ContainsFunc(args, func(w Word) bool { return w.Kind != Exact && w.FlagLike() })
}

// betweenSQL is what may stand between two words of SQL: comments are blanks, and MySQL runs
// what stands in some of them.
const betweenSQL = `(?:\s|/\*!\d*|/\*.*?\*/|\*/|(?:--|#)[^\n]*\n)+`

// losingSQL finds statements that lose data, wherever they stand in a text.
var losingSQL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(`(?is)dropdatabase|flushall|flushdb|truncate |drop (?:database|table|schema|column|owned|materialized)|delete from`, " ", betweenSQL))
})

func sqlLoses(args []Word) string {
	if slices.ContainsFunc(args, func(w Word) bool { return losingSQL().MatchString(w.Text) || dropsColumn(w.Text) }) {
		return "this would drop data of a database for good"
	}
	return ""
}

// alterSQL finds what a table loses: the word behind drop.
var alterSQL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(`(?is)(?:alter table |,)[^;]*?\bdrop (?:if exists )?("[^"]*"|\x60[^\x60]*\x60|\[[^\]]*\]|\w+)`, " ", betweenSQL))
})

// dropsColumn reports a statement that takes a column, or a part of its rows, out of a table;
// column is a word that need not stand there.
func dropsColumn(text string) bool {
	if !strings.Contains(strings.ToLower(text), "alter") {
		return false
	}
	return slices.ContainsFunc(alterSQL().FindAllStringSubmatch(text, 100), func(m []string) bool {
		switch strings.ToLower(m[1]) {
		case "constraint", "primary", "foreign", "index", "key", "check", "default", "not", "expression", "identity", "if":
			return false
		}
		return true
	})
}

// InputLoses says what a command loses by what it reads from its standard input.
func (t *Table) InputLoses(name, text string) string {
	if t.of(name).is&queries == 0 {
		return ""
	}
	return sqlLoses([]Word{Lit(text)})
}
