package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/shellread/scan"
)

// checkSed lets only scripts of sed pass that print.
func checkSed(u *Invocation) string {
	for _, f := range u.flags {
		if (f.name == "-l" || f.name == "--line-length") && !scan.Number(f.val.Text) {
			return "the line length of sed is not a number"
		}
	}
	if len(u.args) == 0 && !u.has("-e", "--expression") {
		return "sed without a script"
	}
	_, why := u.sedScripts()
	return why
}

// sedScripts are the operands of sed that are files. why says which of its scripts does
// more than print and change lines, or is not known.
func (u *Invocation) sedScripts() (files []Word, why string) {
	var scripts []Word
	for _, f := range u.flags {
		switch f.name {
		case "-e", "--expression":
			scripts = append(scripts, f.val)
		case "-f", "--file":
			why = "sed takes its script from a file"
		}
	}
	if files = u.args; len(scripts) == 0 && why == "" && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		switch {
		case why != "":
		case s.Kind != Exact:
			why = "the script of sed is not known before it runs"
		default:
			why = scan.Sed(s.Text)
		}
	}
	return files, why
}

// IsAwk reports whether a program is awk, under any of its names.
func IsAwk(name string) bool {
	return name == "awk" || name == "gawk" || name == "mawk" || name == "nawk"
}

var awkRow = &command{flags: "-F=x -v=x --field-separator=x --assign=x --posix --traditional --re-interval --sandbox --csv", args: "x p*", min: 1, early: true, check: checkAwk}

// checkAwk lets only programs of awk pass that print.
func checkAwk(u *Invocation) string {
	if u.args[0].Kind != Exact {
		return "the program of awk is not known before it runs"
	}
	for i, w := range u.args[1:] {
		if w.Kind == Exact && scan.AwkAssignment(w.Text) {
			u.args[i+1].Kind, u.args[i+1].Substitution = Unknown, true
		}
	}
	return scan.Awk(u.args[0].Text)
}

// checkJQ refuses programs that see the environment or other files.
func checkJQ(u *Invocation) string {
	if u.args[0].Kind != Exact {
		return "the program of jq is not known before it runs"
	}
	return scan.JQ(u.args[0].Text)
}

// checkYQ refuses expressions that load files, run programs or see the environment.
// noSources refuses where a file of settings has shellcheck read what a script sources,
// and print lines of it.
func noSources(u *Invocation) string {
	if u.has("--norc") {
		return ""
	}
	if u.r.World.Glob == nil {
		return "what shellcheck reads besides is not known"
	}
	for _, w := range u.args {
		for _, t := range u.r.Resolve(w, u.dirs) {
			for dir := path.Dir(t.Real); ; dir = path.Dir(dir) {
				for _, name := range []string{".shellcheckrc", "shellcheckrc"} {
					rc := path.Join(dir, name)
					if !u.r.mayBe(rc) {
						continue
					}
					text, ok := "", false
					if u.r.World.Text != nil && !slices.Contains(u.r.Wrote, rc) {
						text, ok = u.r.World.Text(rc)
					}
					if !ok || strings.Contains(text, "external-sources") {
						return rc + " may have shellcheck read other files"
					}
				}
				if dir == "/" || dir == "." {
					break
				}
			}
		}
	}
	return ""
}

func checkYQ(u *Invocation) string {
	if u.args[0].Kind != Exact {
		return "the expression of yq is not known before it runs"
	}
	if why := scan.YQ(u.args[0].Text); why != "" {
		return why
	}
	// One kind of yq takes the name of a file for a file here.
	if strings.HasSuffix(u.args[0].Text, ".yq") || u.r.there(u.args[0], u.dirs) && !u.folder(u.args[0]) {
		return "the yq expression is also the name of a file"
	}
	return ""
}
