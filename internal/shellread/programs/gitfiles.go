package programs

import (
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// A gitFile says which words of a subcommand of git name what it writes: the values of
// flags, and operands. unless holds flags with which it writes none of its operands,
// only those without one of which it does not.
type gitFile struct {
	flags        []string
	operands     func(ws []Word) []Word
	unless, only []string
}

// mergedOperand leaves out the two files with which git merge-file merges the first.
func mergedOperand(ws []Word) []Word { return ws[:max(len(ws)-2, 0)] }
func everyOperand(ws []Word) []Word  { return ws }
func secondOperand(ws []Word) []Word { return ws[min(len(ws), 1):] }

// gitFiles are such subcommands, besides those that gitOutput knows.
var gitFiles = map[string]gitFile{
	"checkout-index":     {flags: []string{"--prefix"}},
	"read-tree":          {flags: []string{"--prefix", "--index-output"}},
	"archive":            {flags: []string{"--prefix", "--output", "-o"}},
	"apply":              {flags: []string{"--directory", "--build-fake-ancestor"}},
	"am":                 {flags: []string{"--directory"}},
	"subtree":            {flags: []string{"--prefix", "-P"}},
	"merge-file":         {operands: mergedOperand, unless: []string{"-p", "--stdout"}},
	"interpret-trailers": {operands: everyOperand, only: []string{"--in-place"}},
	"fast-export":        {flags: []string{"--export-marks"}},
	"fast-import":        {flags: []string{"--export-marks", "--export-pack-edges"}},
	"credential-store":   {flags: []string{"--file"}},
	"credential-cache":   {flags: []string{"--socket"}},
	"mailsplit":          {flags: []string{"-o"}},
	"mailinfo":           {operands: everyOperand},
	"pack-objects":       {operands: everyOperand},
	"index-pack":         {flags: []string{"-o", "--rev-index"}},
	"bugreport":          {flags: []string{"-o", "--output-directory"}},
	"diagnose":           {flags: []string{"-o", "--output-directory"}},
	"submodule":          {operands: secondOperand, only: []string{"add"}},
}

// gitFiles adds the files and folders that a subcommand writes because its words say so.
func (u *Invocation) gitFiles(rest []Word) {
	args := rest[1:]
	u.gitIn(rest[0].Text)
	form, ok := gitFiles[rest[0].Text]
	if !ok {
		return
	}
	f := gitFlags(Literals(args))
	for i, w := range args {
		if name, val, attached := strings.Cut(w.Text, "="); w.Kind == Exact && attached && f[i:i+1].has(form.flags...) && strings.HasPrefix(name, "-") {
			u.mayTouch(Word{Kind: Exact, Text: val, Source: w.Source})
			continue
		}
		for _, flag := range form.flags {
			glued, short := strings.CutPrefix(w.Text, flag)
			switch {
			case w.Kind == Exact && len(flag) == 2 && short && glued != "":
				u.mayTouch(Word{Kind: Exact, Text: glued, Source: w.Source})
			case i > 0 && f[i-1:i].has(flag):
				u.mayTouch(w)
			}
		}
	}
	if form.operands == nil || f.has(form.unless...) || len(form.only) > 0 && !f.has(form.only...) {
		return
	}
	for _, w := range form.operands(gitOperands(args)) {
		u.mayTouch(w)
	}
}

// gitIn adds the folder that -C leads to when that is git's own or another one that
// steers programs: a subcommand that writes files does so there.
func (u *Invocation) gitIn(command string) {
	if !slices.Contains([]string{"apply", "am", "checkout", "checkout-index", "restore", "archive", "stash", "init", "clone", "mv"}, command) {
		return
	}
	for _, d := range u.dirs {
		u.Actions = append(u.Actions, policy.Read{Path: d, Named: d, Asked: d, MayWrite: true, Sure: policy.Possible})
	}
}

// gitMoves is git mv: what is moved away is removed there, with all that is in it.
func (u *Invocation) gitMoves(args []Word) {
	operands := gitOperands(args)
	for i, w := range operands {
		if i == len(operands)-1 {
			u.put(w, policy.Write{})
			continue
		}
		u.get(w, policy.Read{})
		u.globbedPut(w, policy.Write{Remove: true, Moved: true, Tree: u.folder(w), Below: u.inside(w)})
	}
}
