package programs

import (
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
	var scripts []Word
	for _, f := range u.flags {
		if f.name == "-e" || f.name == "--expression" {
			scripts = append(scripts, f.val)
		}
	}
	if len(scripts) == 0 {
		if len(u.args) == 0 {
			return "sed without a script"
		}
		scripts = append(scripts, u.args[0])
	}
	for _, s := range scripts {
		if s.Kind != Exact {
			return "the script of sed is not known before it runs"
		}
		if why := scan.Sed(s.Text); why != "" {
			return why
		}
	}
	return ""
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
