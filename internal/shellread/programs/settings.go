package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// adzeReads are the commands of adze that change nothing of its settings, and start no
// session and no tool of a server: any other may.
var adzeReads = map[string]string{
	"version": "*", "--version": "*", "help": "*", "--help": "*", "-h": "*", "doctor": "*", "models": "*", "stats": "*", "context": "*", "prompt": "*", "completion": "*", "search": "*", "diff": "*",
	"config": "list get schema path check", "permissions": "check list", "mcp": "list ls get tools resources info", "sessions": "list show", "skills": "list check", "agents": "list check",
	"hooks": "list check", "sandbox": "explain check run", "plugin": "list validate",
}

// adzeReadsOnly reports whether a command of adze is one of these. A flag before its
// name may have a value that looks like one.
func adzeReadsOnly(ws []Word) bool {
	if len(ws) < 2 || ws[1].Kind != Exact {
		return false
	}
	subs, known := adzeReads[ws[1].Text]
	if !known || subs == "*" {
		return known
	}
	return len(ws) == 2 || ws[2].Kind == Exact && (slices.Contains(strings.Fields(subs), ws[2].Text) || ws[2].Text == "--help" || ws[2].Text == "-h")
}

// settings adds the protected files that a program writes because that is what it was
// told to do, wherever it lies itself. It reports whether there are any.
func (u *Invocation) settings(ws []Word) bool {
	name := Base(ws[0].Text)
	var files []string
	if name == "adze" && !adzeReadsOnly(ws) {
		files = append(files, "~/.adze/settings.json")
	}
	p := u.r.Table.of(name)
	for i := range p.forms {
		f := &p.forms[i]
		if _, ok := p.match(f, ws[1:]); ok && f.sets != "" {
			files = append(files, f.sets)
		}
	}
	for _, file := range files {
		switch at, home := strings.CutPrefix(file, "~/"); {
		case !home:
			u.put(Lit(file), policy.Write{})
		case u.r.World.Home != "":
			full := path.Join(u.r.World.Home, at) // it may be elsewhere, and is settings all the same
			u.Actions = append(u.Actions, policy.Write{Path: full, Named: full, Asked: file})
		}
	}
	if at := slices.IndexFunc(ws, func(w Word) bool { return w.Is("-m") }); strings.HasPrefix(name, "python") && at > 0 && at+1 < len(ws) && ws[at+1].Kind == Exact {
		return u.settings(ws[at+1:]) || len(files) > 0 // a module is a program, too
	}
	return len(files) > 0
}
