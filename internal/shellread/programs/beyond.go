package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/git/setting"
	"github.com/adze-agent/adze/internal/shellread/scan"
	"github.com/adze-agent/adze/internal/text/pattern"
)

// Beyond says why a rule with a wildcard does not cover a command: a flag, a
// subcommand or a script in it makes it run another program. "" when nothing does.
func (t *Table) Beyond(name string, ws []Word) string {
	args := ws[1:]
	if t.is(name, tarLike) {
		name = "tar"
	}
	if n := len(args); n > 1 && args[n-1].Is("--help") && t.of(name).shows[strings.Join(Literals(args), " ")] != nil {
		return ""
	}
	if name == "git" {
		if t.gitSpeaks(args) {
			return ""
		}
		_, rest, why := gitSplit(args)
		if why != "" {
			return why
		}
		args = rest
	}
	if why := t.beyondFlags(name, ownFlags(name, args)); why != "" {
		return why
	}
	switch name {
	case "npx", "bunx", "uvx", "pnpx":
		for len(args) > 1 && (args[0].Is("-y") || args[0].Is("--yes")) && name == "npx" {
			args = args[1:]
		}
		if len(args) > 0 && args[0].Kind == Exact && !strings.HasPrefix(args[0].Text, "-") {
			return t.Beyond(Base(args[0].Text), args)
		}
		return name + " with flags may run anything"
	case "curl":
		for i, w := range args {
			if why := curlBeyond(w, ws[i]); why != "" {
				return why
			}
		}
	case "sqlite3":
		for _, w := range args {
			if why := clientDoes(name, w.Text); why != "" {
				return why
			}
		}
	case "tar":
		if len(args) > 0 && args[0].Kind == Exact && !strings.HasPrefix(args[0].Text, "-") && strings.ContainsAny(args[0].Text, "IF") {
			return "tar " + args[0].Text + " may run another program"
		}
	case "git":
		if len(args) == 0 {
			break
		}
		if args[0].Kind == Exact && !knownToGit(args[0].Text) {
			return "git " + args[0].Text + " is none of the commands that people mean by git"
		}
		args = withoutStrategy(args)
		switch args[0].Text {
		case "config":
			return gitConfigBeyond(args)
		case "grep":
			if why := gitGrepBeyond(args[1:]); why != "" {
				return why
			}
		case "commit":
			args = withoutMessage(args)
		}
	}
	if why := t.beyondWords(name, args); why != "" {
		return why
	}
	return t.BeyondScript(name, args)
}

// curlBeyond says why a word of curl is more than an address or a value: before is the word
// before it.
func curlBeyond(w, before Word) string {
	low := strings.ToLower(w.Text)
	switch flag, val, glued := strings.Cut(w.Text, "="); {
	case w.Kind != Exact:
		if strings.Contains(strings.ToLower(w.Head), "file:") {
			return "curl reads " + w.Source + ", a file whose name is not known"
		}
	case curlScheme().MatchString(low) || strings.Contains(low, "file:") && strings.ContainsAny(low, "[{"):
		return "curl reads " + w.Source + ", and makes names of files from it"
	case strings.Contains(low, "%output{"):
		return "curl writes a file that " + w.Source + " names"
	case strings.HasPrefix(w.Text, "@") && curlForm(before.Text), glued && strings.HasPrefix(val, "@") && curlForm(flag), curlForm(w.Text) && strings.Contains(w.Text, "w@"):
		return "curl takes from " + w.Source + " what it does"
	}
	return ""
}

// curlForm reports a flag of curl that takes @FILE for what names further files.
func curlForm(flag string) bool {
	_, short := bundled("-w", "XHduAbeFmrxyYzECQPtU", flag)
	return short || flag == "-w" || flag == "--url" || len(flag) > 3 && strings.HasPrefix("--write-out", flag)
}

// curlScheme is an address of which curl makes the scheme itself: fil{e}:/x.
var curlScheme = pattern.Lazy(`^[a-z0-9,:=-]*[\[{][a-z0-9{}\[\],:=-]*:/`)

// beyondFlags looks at the flags that a program has whatever its subcommand is.
func (t *Table) beyondFlags(name string, args []Word) string {
	p := t.of(name)
	for _, w := range args {
		if w.Kind != Exact {
			continue
		}
		if w.Text == "--" {
			break
		}
		if matches(p.runs, w.Text) && !p.lossFlag(args, w) {
			return name + " " + w.Text + " is more than a rule for " + name + " speaks of"
		}
		if name == "go" && strings.Contains(w.Text, "extld") {
			return "go " + w.Text + " chooses the linker that go runs"
		}
		if _, ok := bundled(p.runs, p.valued, w.Text); ok {
			return name + " " + w.Text + " may hold a flag that is more than a rule for " + name + " speaks of"
		}
	}
	return ""
}

// beyondWords looks at a subcommand and at the flags that it alone has.
func (t *Table) beyondWords(name string, args []Word) string {
	if len(args) == 0 || args[0].Kind != Exact {
		return ""
	}
	p, sub := t.of(name), name+" "+args[0].Text
	runs := p.running(args[0])
	if slices.Contains(strings.Fields(runs), "*") {
		return sub + " runs other programs"
	}
	for _, w := range args[1:] {
		if w.Kind != Exact {
			continue
		}
		_, hidden := bundled(runs, p.form(args[:1], func(f *form) bool { return f.runs != "" && f.valued != "" }).valued, w.Text)
		if hidden || matches(runs, w.Text) {
			return sub + " " + w.Text + " runs other programs or writes elsewhere"
		}
	}
	return ""
}

// knownToGit reports a subcommand that no program of another name takes the place of, and
// that a rule for git speaks of without naming it: none of those that scripts build a
// repository with, which write what they like to any name.
func knownToGit(sub string) bool {
	switch sub {
	case "read-tree", "update-index", "checkout-index", "fast-import", "update-ref", "replace", "symbolic-ref", "send-pack", "receive-pack", "upload-pack", "upload-archive", "merge-file", "merge-index", "mktree", "mktag", "commit-tree", "unpack-objects", "index-pack":
		return false
	}
	return gitBuiltin()[sub] || sub == "lfs" || sub == "whatchanged"
}

// withoutStrategy leaves out the ways to merge that git brings.
func withoutStrategy(args []Word) (out []Word) {
	for i := 0; i < len(args); i++ {
		_, val, _ := strings.Cut(args[i].Text, "=")
		switch w := args[i]; {
		case (w.Is("-s") || w.Is("--strategy")) && i+1 < len(args) && args[i+1].Kind == Exact && setting.Strategy(args[i+1].Text):
			i++
		case w.Is("--strategy="+val) && setting.Strategy(val), w.Kind == Exact && setting.Strategy(strings.TrimPrefix(w.Text, "-s")) && strings.HasPrefix(w.Text, "-s"):
		default:
			out = append(out, w)
		}
	}
	return out
}

// gitGrepBeyond finds -O, which opens the matches in a pager.
func gitGrepBeyond(args []Word) string {
	for _, w := range args {
		if w.Kind == Exact && len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, "O") {
			return "git grep " + w.Text + " may start a pager"
		}
	}
	return ""
}

// withoutMessage takes -F - out of git commit's words: the message comes from
// the standard input.
func withoutMessage(args []Word) []Word {
	var out []Word
	for i := 0; i < len(args); i++ {
		switch {
		case args[i].Is("--file=-") || args[i].Is("-F-"):
		case (args[i].Is("-F") || args[i].Is("--file")) && i+1 < len(args) && args[i+1].Is("-"):
			i++
		default:
			out = append(out, args[i])
		}
	}
	return out
}

// BeyondScript looks into the scripts that filters carry.
func (t *Table) BeyondScript(name string, args []Word) string {
	switch name {
	case "awk", "gawk", "mawk", "nawk":
		for i, w := range args {
			if w.Kind != Exact {
				return "the program of awk is not known before it runs"
			}
			if len(args) == 1 && w.Text == "--version" {
				break
			}
			if w.Text == "-f" || strings.HasPrefix(w.Text, "--file") || strings.HasPrefix(w.Text, "-f") || w.Text == "-i" || w.Text == "-l" || w.Text == "-e" || w.Text == "-E" || strings.HasPrefix(w.Text, "--") {
				return "awk " + w.Text + " takes its program from elsewhere"
			}
			if strings.HasPrefix(w.Text, "-") {
				if w.Text[1] != 'F' && w.Text[1] != 'v' && strings.ContainsAny(w.Text, "efEil") {
					return "awk " + w.Text + " takes its program from elsewhere"
				}
				continue
			}
			if i > 0 && (args[i-1].Is("-F") || args[i-1].Is("-v")) {
				continue
			}
			if why := scan.Awk(w.Text); why != "" {
				return why
			}
			break
		}
	case "sed":
		return t.beyondSed(args)
	}
	return ""
}

// beyondSed checks every script that a sed command carries.
func (t *Table) beyondSed(args []Word) string {
	row := t.of("sed").changes
	u := &Invocation{name: "sed", r: &Recorder{Table: t}}
	if why := u.parse(&row.command, args); why != "" {
		return why
	}
	if u.has("--version", "--help") {
		return ""
	}
	_, why := u.sedScripts()
	return why
}

// gitConfigReads knows the forms that only read settings of the usual files.
func gitConfigReads(args []Word) bool {
	get, operands, name := false, 0, ""
	for i, w := range args {
		if w.Kind != Exact {
			return false
		}
		if operands > 0 && strings.HasPrefix(w.Text, "-") {
			return false // behind the key it is a value to set
		}
		switch w.Text {
		case "--get", "--get-all", "--get-regexp", "--list", "-l":
			get = true
		case "get", "list":
			get = get || i == 0
		case "--local", "--global", "--system", "--worktree", "--null", "-z", "--name-only", "--show-origin", "--show-scope", "--bool", "--int", "--path", "--all":
		default:
			if strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--type=") {
				return false
			}
			operands++
			name = w.Text
		}
	}
	return get || operands == 1 && strings.Contains(name, ".")
}

// gitConfigBeyond says why git config does more than a rule for it speaks of: it reads
// settings, or sets or unsets one that makes git run no program.
func gitConfigBeyond(args []Word) string {
	if gitConfigReads(args[1:]) {
		return ""
	}
	sets := gitConfigSets(args[1:], "--global", "--system", "--append", "--type=bool", "--type=int")
	if sets == "" {
		return "git config in a form that may do more than set one setting"
	}
	if !plainSetting(sets) {
		return "git config " + sets + " may make git run a program"
	}
	return ""
}
