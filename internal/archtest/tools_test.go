package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/adze-agent/adze/internal/policy"
)

// named are the fields in which code says the name of a tool: of one that the model
// can be offered, and of what people, rules and hooks are asked about.
var named = map[string]string{"tool.Spec": "Name", "agent.Question": "Tool"}

// others are packages in which such a name is no constant: those of MCP servers' tools
// begin with mcp__, and the toolkit asks about the tools that it made.
var others = []string{"internal/ext/mcp", "internal/toolkit"}

// Every tool that adze can offer or ask about can be named in a rule, in a matcher of
// hooks and in the list of an agent: nobody is told that there is no such tool.
func TestToolsAreKnown(t *testing.T) {
	found := map[string]bool{}
	for dir, files := range packages(t) {
		constants := constantsOf(files)
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				s, _ := lit.Type.(*ast.SelectorExpr)
				if s == nil {
					return true
				}
				x, _ := s.X.(*ast.Ident)
				if x == nil {
					return true
				}
				for _, e := range lit.Elts {
					kv, _ := e.(*ast.KeyValueExpr)
					if kv == nil {
						continue
					}
					if key, _ := kv.Key.(*ast.Ident); key == nil || key.Name != named[x.Name+"."+s.Sel.Name] {
						continue
					}
					name := text(kv.Value, constants)
					found[name] = true
					switch {
					case name == "" && !slices.Contains(others, dir):
						t.Errorf("%s makes a %s.%s whose name is no constant", dir, x.Name, s.Sel.Name)
					case name != "" && !policy.Known(name):
						t.Errorf("%s has a tool %s, which no rule can name: add it to the list in policy/tools.go", dir, name)
					}
				}
				return true
			})
		}
	}
	for _, name := range []string{"Bash", "Edit", "AskUserQuestion", "StructuredOutput", "ToolSearch", "Skill", "ReadMcpResource", "McpElicitation", "McpSampling"} {
		if !found[name] {
			t.Errorf("%s was not found", name)
		}
	}
}

// constantsOf are the texts of a package's constants, by name.
func constantsOf(files []*ast.File) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				return true
			}
			for _, spec := range d.Specs {
				v, _ := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i < len(v.Values) {
						out[name.Name] = text(v.Values[i], nil)
					}
				}
			}
			return true
		})
	}
	return out
}

// text is what an expression says, "" when it is not written there.
func text(e ast.Expr, constants map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value) // "" for what is no text
		return s
	case *ast.Ident:
		return constants[e.Name]
	}
	return ""
}
