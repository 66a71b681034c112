package shellread

import "strings"

// checkSed lets only scripts of sed pass that print.
func checkSed(u *use) string {
	for _, f := range u.flags {
		if (f.name == "-l" || f.name == "--line-length") && !plainNumber(f.val.text) {
			return "the line length of sed is not a number"
		}
	}
	var scripts []word
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
		if s.kind != exact {
			return "the script of sed is not known before it runs"
		}
		if why := sedScript(s.text); why != "" {
			return why
		}
	}
	return ""
}

var awkRow = &command{flags: "-F=x -v=x --field-separator=x --assign=x --posix --traditional --re-interval --sandbox --csv", args: "x p*", min: 1, early: true, check: checkAwk}

// checkAwk lets only programs of awk pass that print.
func checkAwk(u *use) string {
	if u.args[0].kind != exact {
		return "the program of awk is not known before it runs"
	}
	for i, w := range u.args[1:] {
		if w.kind == exact && isAwkAssignment(w.text) {
			u.args[i+1].kind, u.args[i+1].fd = unknown, true
		}
	}
	return awkProgram(u.args[0].text)
}

// checkJQ refuses programs that see the environment or other files.
func checkJQ(u *use) string {
	if u.args[0].kind != exact {
		return "the program of jq is not known before it runs"
	}
	if i := wordIn(u.args[0].text, jqTraps); i != "" {
		return "the jq program uses " + i
	}
	return ""
}

// checkYQ refuses expressions that load files, run programs or see the environment.
func checkYQ(u *use) string {
	if u.args[0].kind != exact {
		return "the expression of yq is not known before it runs"
	}
	for _, bad := range append([]string{"load", "system", "eval"}, jqTraps...) {
		if strings.Contains(strings.ToLower(u.args[0].text), strings.ToLower(bad)) {
			return "the yq expression uses " + bad
		}
	}
	// One kind of yq takes the name of a file for a file here.
	if strings.HasSuffix(u.args[0].text, ".yq") || u.r.there(u.args[0], u.dirs) && !u.folder(u.args[0]) {
		return "the yq expression is also the name of a file"
	}
	return ""
}
