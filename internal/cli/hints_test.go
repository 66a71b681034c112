package cli

import (
	"go/ast"
	"go/token"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A told is a hint and where it stands in the sources.
type told struct{ at, text string }

// hints are the texts that tell a person what to do next: arguments and fields
// that are named for it, and what follows "hint:" or "or use" in other texts.
func hints(t *testing.T) (out []told) {
	t.Helper()
	all := sources(t)
	add := func(e ast.Expr) {
		if s := text(e); s != "" {
			out = append(out, told{all.pos.Position(e.Pos()).String(), s})
		}
	}
	for _, f := range all.files {
		ast.Inspect(f.parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "usagef" || f.Name == "failf") && len(n.Args) > 0 {
					add(n.Args[0])
				}
			case *ast.CompositeLit:
				fields(n, add)
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if hintName(to) && i < len(n.Rhs) {
						add(n.Rhs[i])
					}
				}
			case *ast.FuncDecl:
				if n.Name.Name == "Hint" {
					returns(n, add)
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if hintName(name) && i < len(n.Values) {
						add(n.Values[i])
					}
				}
			case *ast.BasicLit:
				if _, hint, ok := strings.Cut(text(n), "hint: "); ok {
					out = append(out, told{all.pos.Position(n.Pos()).String(), hint})
				}
			}
			return true
		})
	}
	return out
}

func fields(n *ast.CompositeLit, add func(ast.Expr)) {
	kind := ""
	switch x := n.Type.(type) {
	case *ast.Ident:
		kind = x.Name
	case *ast.SelectorExpr:
		kind = x.Sel.Name
	}
	last := map[string]int{"failure": 3, "finding": 4, "Mistake": 2, "Refusal": 2, "Refusable": 2}[kind]
	for i, e := range n.Elts {
		kv, named := e.(*ast.KeyValueExpr)
		switch {
		case named && hintName(kv.Key):
			add(kv.Value)
		case !named && i+1 == last:
			add(e)
		}
	}
}

func hintName(e ast.Expr) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	return strings.EqualFold(name, "hint") || strings.HasSuffix(name, "Hint") || name == "What" || name == "fix"
}

func returns(n *ast.FuncDecl, add func(ast.Expr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			for _, e := range r.Results {
				add(e)
			}
		}
		return true
	})
}

// text is what an expression says; what only a run knows is X.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		return word(e.X) + word(e.Y)
	case *ast.CallExpr:
		if len(e.Args) > 0 {
			return text(e.Args[0])
		}
	}
	return ""
}

func word(e ast.Expr) string {
	if s := text(e); s != "" {
		return s
	}
	return "X"
}

var (
	names  = regexp.MustCompile(`(?:^|[^\w./~-])adze ((?:[^;,)\n(]|\([a-z]+:)+)`)
	pieces = regexp.MustCompile(`"[^"]*"|\S+`)
	option = regexp.MustCompile(`(?:^|[\s"(])(--[a-z][a-z-]+)`)
	proper = regexp.MustCompile(`^[A-Z…%"/.]|[./=_…]|^(true|false|on|off|flags|environment)$`) // an argument, and no word of the sentence
)

// No hint names a command or a flag that is not there, and none leads to
// another error: each is parsed as it would be when a person typed it.
func TestHintsAreAlive(t *testing.T) {
	list := hints(t)
	if len(list) < 150 {
		t.Errorf("only %d hints were found", len(list))
	}
	flags := map[string]bool{"--help": true, "--version": true,
		"--jinja": true, "--enable-auto-tool-choice": true, "--tool-call-parser": true} // of model servers
	commands(func(c *cobra.Command) { c.LocalFlags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true }) })
	mentions := 0
	for _, h := range list {
		for _, m := range option.FindAllStringSubmatch(h.text, -1) {
			if !flags[m[1]] {
				t.Errorf("%s: there is no flag %s: %q", h.at, m[1], h.text)
			}
		}
		for _, m := range names.FindAllStringSubmatch(h.text, -1) {
			if bad := dead(pieces.FindAllString(m[1], -1)); bad != "" {
				t.Errorf("%s: adze %s: %s", h.at, m[1], bad)
			}
			mentions++
		}
	}
	if mentions < 40 {
		t.Errorf("only %d hints name a command", mentions)
	}
}

var opens = regexp.MustCompile("(?:^|[\\s`:(])(?:cd |adze ([a-z][a-z-]* )[a-z -]*|adze (--)[a-z -]+ )$")

// verb is one in a format.
var verb = regexp.MustCompile(`%[^%\s]*?[a-zA-Z]`)

// made are the parts of commands in hints that need no quotes: words of adze's own.
var made = []string{"strings.", "under(c)", "left.Session.ID", "a.ID", "i.ID", "s.ID", "old.ID", "kind", "provider", "m.s.ID"}

// Whatever a hint puts into a command is quoted for a shell, as names may hold
// anything: each goes through hint.Shell.
func TestHintsQuoteNames(t *testing.T) {
	all, known, seen := sources(t), commandNames(newRoot(System{})), 0
	for _, f := range all.files {
		check := func(before string, e ast.Expr) {
			m := opens.FindStringSubmatch(before)
			if m == nil || m[1] != "" && !slices.Contains(known, strings.TrimSpace(m[1])) {
				return
			}
			seen++
			said := string(f.text[all.pos.Position(e.Pos()).Offset:all.pos.Position(e.End()).Offset])
			if !strings.HasPrefix(said, "hint.Shell(") && !slices.ContainsFunc(made, func(m string) bool { return strings.HasPrefix(said, m) }) {
				t.Errorf("%s: %q is followed by %s, without hint.Shell", all.pos.Position(e.Pos()), before, said)
			}
		}
		ast.Inspect(f.parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				left := n.X
				if b, ok := left.(*ast.BinaryExpr); ok {
					left = b.Y
				}
				if n.Op == token.ADD {
					check(text(left), n.Y)
				}
			case *ast.CallExpr: // a format and what it is of
				for i, a := range n.Args {
					format, isText := a.(*ast.BasicLit)
					if !isText || format.Kind != token.STRING {
						continue
					}
					parts := verb.Split(text(format), -1)
					for k, before := range parts[:len(parts)-1] {
						if i+1+k < len(n.Args) {
							check(before, n.Args[i+1+k])
						}
					}
				}
			}
			return true
		})
	}
	if seen < 30 {
		t.Errorf("only %d commands with a name were found", seen)
	}
}

// dead says why a command that a hint names does not work.
func dead(args []string) string {
	if args[0] == "in" { // "run adze in a container"
		return ""
	}
	root := newRoot(System{})
	root.SetOut(io.Discard)
	c := root
	i := 0
	for ; i < len(args); i++ {
		sub := slices.IndexFunc(c.Commands(), func(s *cobra.Command) bool { return s.Name() == strings.Trim(args[i], `"?:.`) })
		if sub < 0 {
			break
		}
		c = c.Commands()[sub]
	}
	var given []string
	for _, a := range args[i:] {
		a = strings.TrimRight(a, "?:.")
		if !strings.HasPrefix(a, "-") && !proper.MatchString(a) {
			break // the sentence goes on
		}
		given = append(given, strings.Trim(a, `"`))
	}
	if c == root && len(given) == 0 && len(args) > 0 {
		return "there is no such command"
	}
	if c.HasAvailableSubCommands() && c != root {
		return "it needs a command"
	}
	if slices.Contains(given, "--help") || c.DisableFlagParsing {
		return ""
	}
	if err := c.ParseFlags(given); err != nil {
		return err.Error()
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		return err.Error()
	}
	if c == root && !c.Flags().Changed("print") && len(c.Flags().Args()) == 0 {
		return "without a prompt it needs the terminal UI, which is not there"
	}
	return ""
}
