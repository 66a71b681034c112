package script

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/text/pattern"
)

// A scene is what a condition may look at.
type scene struct {
	isError                      bool
	result, tool, prompt, system string
	request                      int
}

// A value is a text or a truth.
type value struct {
	s      string
	b      bool
	isBool bool
}

func (v value) truth() bool {
	if v.isBool {
		return v.b
	}
	return v.s != ""
}

func (v value) text() string {
	if v.isBool {
		return strconv.FormatBool(v.b)
	}
	return v.s
}

func boolean(b bool) value { return value{b: b, isBool: true} }

// An expr is a condition or a part of one.
type expr interface{ eval(scene) value }

type (
	literal value
	name    string
	not     struct{ x expr }
	binary  struct {
		op   string
		x, y expr
		re   *regexp.Regexp // of matches with a literal
	}
)

func (l literal) eval(scene) value { return value(l) }

func (n name) eval(s scene) value {
	switch n {
	case "is_error":
		return boolean(s.isError)
	case "result":
		return value{s: s.result}
	case "tool":
		return value{s: s.tool}
	case "prompt":
		return value{s: s.prompt}
	case "system":
		return value{s: s.system}
	case "request":
		return value{s: strconv.Itoa(s.request)}
	}
	return value{}
}

func (n not) eval(s scene) value { return boolean(!n.x.eval(s).truth()) }

func (b binary) eval(s scene) value {
	x := b.x.eval(s)
	switch b.op {
	case "&&":
		return boolean(x.truth() && b.y.eval(s).truth())
	case "||":
		return boolean(x.truth() || b.y.eval(s).truth())
	case "==":
		return boolean(x.text() == b.y.eval(s).text())
	case "!=":
		return boolean(x.text() != b.y.eval(s).text())
	case "contains":
		return boolean(strings.Contains(x.text(), b.y.eval(s).text()))
	}
	return boolean(b.re.MatchString(x.text()))
}

// found is what the groups of the first pattern found that a condition which holds has
// matched; nil where it has none.
func found(e expr, s scene) []string {
	b, ok := e.(binary)
	switch {
	case !ok:
		return nil
	case b.re != nil:
		return b.re.FindStringSubmatch(b.x.eval(s).text())
	}
	if got := found(b.x, s); len(got) > 1 {
		return got
	}
	return found(b.y, s)
}

// filled puts what was found in the places of ${1} to ${9}.
func filled(text string, got []string) string {
	for i := 1; i < len(got) && i <= 9; i++ {
		text = strings.ReplaceAll(text, "${"+strconv.Itoa(i)+"}", got[i])
	}
	return text
}

// parseCond reads a condition. Nothing, and "else", are always true.
func parseCond(s string) (expr, error) {
	toks, err := tokens(s)
	if err != nil {
		return nil, err
	}
	if len(toks) == 0 || len(toks) == 1 && toks[0] == "else" {
		return literal(boolean(true)), nil
	}
	p := condParser{toks: toks}
	e, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if len(p.toks) > 0 {
		return nil, fmt.Errorf("%q is not expected there", clip(p.toks[0]))
	}
	return e, nil
}

var token = pattern.Lazy(`^(?:&&|\|\||==|!=|!|\(|\)|[A-Za-z_][A-Za-z0-9_]*|\d+)`)

func tokens(s string) ([]string, error) {
	var out []string
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || s[0] == '#' {
			return out, nil
		}
		t := token().FindString(s)
		if s[0] == '"' {
			var err error
			if t, err = strconv.QuotedPrefix(s); err != nil {
				return nil, errors.New("a text has no closing quote, or a wrong escape")
			}
		}
		if t == "" {
			return nil, fmt.Errorf("%q is not expected there", clip(s))
		}
		out = append(out, t)
		s = s[len(t):]
	}
}

const maxDepth = 100

type condParser struct{ toks []string }

func (p *condParser) next() string {
	if len(p.toks) == 0 {
		return ""
	}
	return p.toks[0]
}

func (p *condParser) or(depth int) (expr, error) {
	return p.chain("||", depth, func() (expr, error) {
		return p.chain("&&", depth, func() (expr, error) { return p.unary(depth) })
	})
}

func (p *condParser) chain(op string, depth int, operand func() (expr, error)) (expr, error) {
	if depth > maxDepth {
		return nil, errors.New("it is nested too deep")
	}
	x, err := operand()
	for err == nil && p.next() == op {
		p.toks = p.toks[1:]
		var y expr
		if y, err = operand(); err == nil {
			x = binary{op: op, x: x, y: y}
		}
	}
	return x, err
}

func (p *condParser) unary(depth int) (expr, error) {
	if depth > maxDepth {
		return nil, errors.New("it is nested too deep")
	}
	if p.next() == "!" {
		p.toks = p.toks[1:]
		x, err := p.unary(depth + 1)
		return not{x}, err
	}
	x, err := p.primary(depth)
	if err != nil {
		return nil, err
	}
	op := p.next()
	switch op {
	case "==", "!=", "contains", "matches":
	default:
		return x, nil
	}
	p.toks = p.toks[1:]
	y, err := p.primary(depth)
	if err != nil {
		return nil, err
	}
	b := binary{op: op, x: x, y: y}
	if op == "matches" {
		lit, ok := y.(literal)
		if !ok {
			return nil, errors.New("matches wants a text in quotes")
		}
		if b.re, err = regexp.Compile(lit.s); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (p *condParser) primary(depth int) (expr, error) {
	t := p.next()
	if t == "" {
		return nil, errors.New("it ends too early")
	}
	p.toks = p.toks[1:]
	switch {
	case t == "(":
		x, err := p.or(depth + 1)
		if err == nil && p.next() != ")" {
			return nil, errors.New("a parenthesis is not closed")
		}
		if err == nil {
			p.toks = p.toks[1:]
		}
		return x, err
	case t[0] == '"':
		s, err := strconv.Unquote(t)
		return literal(value{s: s}), err
	case t == "true", t == "false":
		return literal(boolean(t == "true")), nil
	case t[0] >= '0' && t[0] <= '9':
		return literal(value{s: t}), nil
	}
	switch t {
	case "is_error", "result", "tool", "prompt", "system", "request":
		return name(t), nil
	}
	return nil, fmt.Errorf("%q is none of is_error, result, tool, prompt, system, request", clip(t))
}
