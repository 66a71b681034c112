package programs

import (
	"strings"

	"github.com/adze-agent/adze/internal/policy"
)

// codeFlags say how an interpreter reads its short flags, several of which may stand in
// one word, and by which ones it is given code.
type codeFlags struct {
	code    string   // letters whose value is code: the rest of the word, or the next word
	takes   string   // letters whose value is no code and stands in the same places
	rest    string   // letters whose value, if any, is the rest of the word
	digits  string   // letters behind which digits may stand, and then further flags
	long    []string // long flags whose value is code
	command bool     // its long flags have one dash
}

// interpreterFlags are by the name of an interpreter without a version.
var interpreterFlags = map[string]codeFlags{
	"python":  {code: "c", takes: "WXQm"},
	"perl":    {code: "eEMm", takes: "I", rest: "iCDFVdx", digits: "l0"},
	"ruby":    {code: "e", takes: "CEIXr", rest: "FWix", digits: "0KT"},
	"node":    {code: "ep", takes: "rC", long: []string{"--eval", "--print"}},
	"deno":    {long: []string{"--eval"}},
	"lua":     {code: "e", takes: "l"},
	"julia":   {code: "eE", takes: "HJLptC", rest: "Og", long: []string{"--eval", "--print"}},
	"R":       {code: "e", takes: "fgd"},
	"php":     {code: "rBRE", takes: "cdftSz", long: []string{"--run", "--process-begin", "--process-code", "--process-end"}},
	"elixir":  {code: "e", takes: "rSp", long: []string{"--eval", "--rpc-eval"}},
	"erl":     {long: []string{"-eval"}, command: true},
	"ghc":     {code: "e"},
	"groovy":  {code: "e", rest: "ip"},
	"guile":   {code: "c", takes: "lLxes"},
	"racket":  {code: "e", takes: "ftlpr", long: []string{"--eval"}},
	"sbcl":    {long: []string{"--eval"}},
	"ocaml":   {code: "e", takes: "I"},
	"osa":     {code: "e", takes: "ls"},
	"tclsh":   {code: "c"},
	"pwsh":    {code: "c", long: []string{"-Command", "-command", "-CommandWithArgs"}, command: true},
	"generic": {code: "ce", long: []string{"--eval", "--exec", "--command"}},
}

// awkFlags are those of awk whose value is a program, or a file with one.
var awkFlags = codeFlags{code: "efEil", takes: "Fv"}

// spelledAs are further names of interpreters.
var spelledAs = map[string]string{
	"pypy": "python", "ipython": "python", "micropython": "python", "jython": "python", "pythonw": "python", "nodejs": "node", "bun": "node", "tsx": "node", "ts-node": "node", "luajit": "lua", "texlua": "lua",
	"Rscript": "R", "littler": "R", "r": "R", "jruby": "ruby", "osascript": "osa", "wish": "tclsh", "expect": "tclsh", "powershell": "pwsh", "iex": "elixir", "runghc": "ghc", "scala": "groovy", "bb": "groovy", "clojure": "groovy", "clj": "groovy", "ecl": "sbcl", "clisp": "sbcl", "swipl": "generic", "octave": "generic",
}

// flagsOfInterpreter are those of a program, which may have its version in its name.
func flagsOfInterpreter(name string) (codeFlags, bool) {
	name = strings.TrimSuffix(name, ".exe")
	for _, n := range []string{name, strings.TrimRight(name, "0123456789.")} {
		if to := spelledAs[n]; to != "" {
			n = to
		}
		if f, ok := interpreterFlags[n]; ok {
			return f, true
		}
	}
	return interpreterFlags["generic"], policy.Runner(name) && !editors[name] && !targets[name]
}

// Code returns the texts that an interpreter is given as code by its flags. glued says
// that one of them stands in the word of its flag, so that no operand is it.
func Code(name string, ws []Word) (texts []string, glued bool) {
	flags, ok := flagsOfInterpreter(name)
	if !ok {
		return nil, false
	}
	for i := 1; i < min(len(ws), 40); i++ {
		w := ws[i]
		if w.Kind != Exact {
			continue
		}
		if (name == "deno" || name == "bun") && w.Text == "eval" && i+1 < len(ws) {
			texts = append(texts, ws[i+1].Text)
			continue
		}
		if len(w.Text) < 2 || w.Text[0] != '-' {
			if name != "deno" && !flags.valueAt(ws, i) {
				break // the script, and what is its own
			}
			continue
		}
		text, next := flags.in(w.Text)
		if text != "" {
			texts, glued = append(texts, text), true
		}
		if next && i+1 < len(ws) {
			texts = append(texts, ws[i+1].Text)
			i++
		}
	}
	return texts, glued
}

// valueAt reports whether the word at i may be the value of a flag before it.
func (f codeFlags) valueAt(ws []Word, i int) bool {
	before := ws[i-1].Text
	return i > 1 && len(before) > 1 && before[0] == '-' && (before[1] == '-' && !strings.Contains(before, "=") || strings.ContainsAny(before[len(before)-1:], f.takes) || f.command)
}

// in is the code in a word of flags; next says that it is the next word.
func (f codeFlags) in(word string) (code string, next bool) {
	name, val, attached := strings.Cut(word, "=")
	for _, long := range f.long {
		switch {
		case name == long && attached:
			return val, false
		case word == long:
			return "", true
		}
	}
	if strings.HasPrefix(word, "--") {
		return "", false
	}
	for i := 1; i < len(word); i++ {
		c, rest := word[i:i+1], word[i+1:]
		switch {
		case strings.Contains(f.code, c):
			// node -pe: the rest may be a further flag.
			return rest, rest == "" || len(rest) == 1 && strings.Contains(f.code, rest)
		case strings.Contains(f.takes, c) || strings.Contains(f.rest, c):
			return "", false
		case strings.Contains(f.digits, c):
			digits := "01234567"
			if strings.HasPrefix(rest, "x") { // perl -0xHEX
				rest, digits = rest[1:], "0123456789abcdefABCDEF"
			}
			i = len(word) - len(strings.TrimLeft(rest, digits)) - 1
		case (c < "a" || c > "z") && (c < "A" || c > "Z"):
			return "", false
		}
	}
	return "", false
}
