package dialog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/adze-agent/adze/internal/event"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/ui/draw"
	"github.com/adze-agent/adze/internal/ui/keymap"
	"github.com/adze-agent/adze/internal/ui/story"
	"github.com/adze-agent/adze/internal/view"
)

// answered is an answer in a dialog's picture: its digit, with what marks it before that.
var answered = regexp.MustCompile(`^│ +([❯ ]) ([1-9]) `)

// A digit marks in every dialog, and Enter answers: who types the digit and Enter leaves no
// Enter for what is asked next. Every dialog of this package has to be among these, each
// answer that is drawn with a digit has that one, and none has effects but to be marked.
func TestDigitsMark(t *testing.T) {
	keys := keymap.Default(keymap.Terminal{})
	menu := func(change func(*Menu)) Dialog {
		d := NewMenu(keys, "Which?", []Choice{{ID: "a", Name: "first"}, {ID: "b", Name: "second"}, {ID: "c", Name: "third"}})
		d.Fixed = true
		change(d)
		return d
	}
	ask := func(v view.Block) Dialog {
		d, _ := Ask(keys, event.Asked{Call: "c", Tool: "X", View: v, Verdict: policy.Verdict{Effect: policy.Ask, Suggest: []string{"Bash(make:*)"}}}, nil)
		return d
	}
	options := []view.FieldOption{{Value: "one"}, {Value: "two"}, {Value: "three"}}
	question := view.Question{Header: "db", Text: "Which?", Options: []view.Option{{Label: "SQLite"}, {Label: "Postgres"}}}
	several := question
	several.Multi = true
	all := map[string]Dialog{
		"permission":        ask(view.Terminal{Command: "make"}),
		"question":          ask(view.Questions{Items: []view.Question{question}}),
		"several answers":   ask(view.Questions{Items: []view.Question{several}}),
		"page":              ask(view.Form{Server: "x", Message: "m", URL: "https://example.com/"}),
		"choices of a form": ask(view.Form{Server: "x", Message: "m", Fields: []view.Field{{Name: "a", Kind: view.ChoiceField, Options: options}}}),
		"menu":              menu(func(*Menu) {}),
		"careful menu":      menu(func(d *Menu) { d.Careful = true }),
		"yielding menu":     menu(func(d *Menu) { d.Yields = true }),
		"sheet":             &Sheet{Heading: "x", Lines: func(Paper, int) []draw.Line { return []draw.Line{draw.L(draw.S("1 is a number", draw.Plain))} }},
	}
	seen := map[string]bool{}
	c := Ctx{Paper: Paper{story.Paper{O: draw.Options{Width: 80}}}, Keys: keys, Rows: 30, Mode: policy.Default}
	picture := func(d Dialog) (numbered, marked []string) {
		lines, _ := d.View(c, 30)
		for _, l := range lines {
			if m := answered.FindStringSubmatch(l.String()); m != nil {
				numbered = append(numbered, m[2])
				if m[1] != " " {
					marked = append(marked, m[2])
				}
			}
		}
		return numbered, marked
	}
	for name, d := range all {
		seen[reflect.TypeOf(d).Elem().Name()] = true
		numbered, _ := picture(d)
		n := d.digits(c)
		if name == "choices of a form" && n < len(numbered) {
			numbered = numbered[:n] // of its buttons they are, once these are gone to
		}
		if n != len(numbered) {
			t.Errorf("%s: %d answers have a digit, and a digit marks %d", name, len(numbered), n)
		}
		for _, digit := range numbered {
			c.Now = c.Now.Add(time.Second)
			for _, e := range press(d, c, "'"+digit) {
				if _, ok := e.(Marked); !ok {
					t.Errorf("%s: %s does %#v", name, digit, e)
				}
			}
			if _, marked := picture(d); strings.Join(marked, "") != digit {
				t.Errorf("%s: %s marks %v", name, digit, marked)
			}
			press(d, c, "down") // no careful menu takes the next digit for the end of a word
		}
	}
	for _, name := range dialogs(t) {
		if !seen[name] {
			t.Errorf("the dialog %s is not looked at", name)
		}
	}
}

// dialogs are the types of this package that draw themselves in the place of the prompt box.
func dialogs(t *testing.T) (out []string) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range files {
		if !strings.HasSuffix(x.Name(), ".go") || strings.HasSuffix(x.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), x.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "digits" {
				if at, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok {
					out = append(out, at.X.(*ast.Ident).Name)
				}
			}
		}
	}
	if len(out) < 5 {
		t.Errorf("only %v are dialogs", out)
	}
	return out
}
