package programs

import (
	"slices"
	"strings"
)

// A Form is a command that destroys something for good, made of a row of the tables:
// Own are the words that make it so, behind the program, and Named those of them that a
// rule needs.
type Form struct {
	Program    string
	Own, Named []string
}

// LossForms are the forms that the tables of losses know.
func LossForms() (out []Form) {
	for name, p := range Standard().programs {
		for _, f := range p.forms {
			if f.loses == "" || name == "git" || name == "find" { // find removes a folder, which is asked about as such
				continue
			}
			for _, words := range spelled(strings.TrimPrefix(f.words, "… ")) {
				if f.flags == "" {
					out = append(out, Form{name, words, words})
				}
				for flag := range strings.FieldsSeq(f.flags) {
					own := append(slices.Clone(words), flag)
					named := own
					if f.plain {
						named = words
					}
					out = append(out, Form{name, own, named})
				}
			}
		}
		if p.is&takesTexts != 0 && p.lost != nil && p.forms == nil {
			out = append(out, Form{name, []string{"x", "DROP TABLE a"}, []string{"DROP TABLE a"}})
		}
	}
	for _, sub := range GitLosses() {
		for _, own := range gitForms(sub) {
			out = append(out, Form{"git", append([]string{sub}, own...), append([]string{sub}, own...)})
		}
	}
	return append(out, Form{"rm", []string{"--no-preserve-root"}, []string{"--no-preserve-root"}}, Form{"kill", []string{"-9", "-1"}, []string{"-9", "-1"}},
		Form{"git-push", []string{"--force"}, []string{"--force"}}, Form{"mkfs.ext4", nil, nil})
}

// spelled are the ways to say words of a form.
func spelled(words string) [][]string {
	out := [][]string{nil}
	for word := range strings.FieldsSeq(words) {
		var next [][]string
		for one := range strings.SplitSeq(word, "|") {
			for _, before := range out {
				next = append(next, append(slices.Clone(before), one))
			}
		}
		out = next
	}
	return out
}

// GitLosses are the subcommands of git that may lose something.
func GitLosses() (out []string) {
	for _, f := range Standard().of("git").forms {
		if f.loses != "" {
			first, _, _ := strings.Cut(f.words, " ")
			out = append(out, strings.Split(first, "|")...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gitForms are the fewest words behind a subcommand of git that make it lose something.
func gitForms(sub string) (out [][]string) {
	words := []string{"-f", "--force", "-D", "-d", "--delete", "--hard", "--merge", "--", ".", "-u", "--reset", "-W", "--worktree", "remove", "deinit", "update", "drop", "clear", "expire", "delete", "--prune", "--mirror", "--discard-changes", "--force-with-lease", "+x", ":x", "a:main", "+a:main", "-p", "-M", "-C", "-B", "-P", "-a", "--tags", "--stdin"}
	lose := func(some ...string) bool {
		ws := []Word{Lit(sub)}
		for _, w := range some {
			ws = append(ws, Lit(w))
		}
		return Standard().of("git").losing("git", ws) != ""
	}
	if lose() {
		return [][]string{{}}
	}
	for i, a := range words {
		if lose(a) {
			out = append(out, []string{a})
			continue
		}
		for _, b := range words[i+1:] {
			if !lose(b) && lose(a, b) {
				out = append(out, []string{a, b})
			}
		}
	}
	return out
}

// OutputForms are commands with one flag that writes a file, whose value stands last where
// it takes one.
func OutputForms() (out [][]string) {
	for name, p := range Standard().programs {
		for tok := range strings.FieldsSeq(p.takes) {
			flag := tok[:strings.LastIndexByte(tok, '=')]
			kind := p.outputs(flag)
			if kind == 0 {
				continue
			}
			words := []string{name}
			switch name {
			case "go":
				words = append(words, "build")
			case "git":
				if flag == "-o" {
					words = append(words, "archive", "HEAD")
				} else {
					words = append(words, "diff")
				}
			case "curl", "wget":
				words = append(words, "https://x.example/a")
			case "find":
				words = append(words, "src", "-name", "abc")
			}
			if words = append(words, flag); kind == takesFile || kind == takesFolder {
				words = append(words, "VALUE")
			}
			out = append(out, words)
		}
	}
	return out
}

// LaunchFlags are the flags that are more than a rule for their program speaks of, by
// program, as a command has them.
func LaunchFlags() map[string][]string {
	out := map[string][]string{}
	for name, p := range Standard().programs {
		for f := range strings.FieldsSeq(p.runs) {
			if f = strings.TrimSuffix(f, "*"); !strings.HasSuffix(f, "=") && f != "+" && f != "@" && f[0] != '!' {
				out[name] = append(out[name], f)
			}
		}
	}
	return out
}

// WithJJ is a table with git's neighbour jj, as somebody would add it.
func WithJJ() *Table {
	quiet := oneOf("--ignore-working-copy")
	return newTable([]program{{
		names: "jj", runs: "--config* --config-file* --tool*",
		reads: rows{
			"log":       {flags: "-n=x -r=x -p --no-graph --ignore-working-copy", args: "x*", check: quiet},
			"file show": {flags: "-r=x --ignore-working-copy", args: "x*", check: quiet},
		},
		forms: []form{
			{words: "util", runs: "exec"}, {words: "config set|unset|edit", sets: "~/.config/jj/config.toml"}, {words: "describe", says: &prose{"m", "message", ""}},
			{words: "op abandon", loses: "drops the way back to lost commits"}, {words: "git push", flags: "--deleted", loses: "removes branches that others may have"},
		},
	}})
}
