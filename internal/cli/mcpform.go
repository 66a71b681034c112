package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/adze-agent/adze/internal/op"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/view"
)

// maxWrong is how often a value may be one that does not fit.
const maxWrong = 5

// A formAsker puts the questions of servers to a person at a terminal, one line for each
// value.
type formAsker struct {
	sys System
	in  *bufio.Reader
}

// line asks for a line. An end of the input is no answer.
func (a *formAsker) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(a.sys.Stderr, prompt)
	b, err := wait(ctx, func() ([]byte, error) { return a.in.ReadBytes('\n') })
	if ctx.Err() != nil {
		fmt.Fprintln(a.sys.Stderr) // what comes next has a line of its own
		return "", ctx.Err()
	}
	return strings.TrimSpace(string(b)), err
}

func (a *formAsker) ask(ctx context.Context, server string, form view.Form) (op.Answer, error) {
	fmt.Fprintf(a.sys.Stderr, "the MCP server %s asks: %s\n", clip.Visible(server), clip.VisibleText(form.Message))
	if form.URL != "" {
		s, err := a.line(ctx, "It wants you to open this page:\n"+clip.Visible(form.URL)+"\nDo you open it? [y/N] ")
		return op.Answer{Allow: err == nil && isWord(s, "y", "yes"), Dismissed: err != nil}, ctx.Err()
	}
	values := map[string]json.RawMessage{}
	for _, f := range form.Fields {
		v, err := a.field(ctx, f)
		if err != nil {
			return op.Answer{Dismissed: true}, ctx.Err()
		}
		if v != nil {
			values[f.Name] = v
		}
	}
	s, err := a.line(ctx, "Send it? [Y/n] ")
	if err != nil || !isWord(s, "", "y", "yes") {
		return op.Answer{Dismissed: err != nil}, ctx.Err()
	}
	raw, err := json.Marshal(values)
	return op.Answer{Allow: true, Values: raw}, err
}

func isWord(s string, words ...string) bool { return slices.Contains(words, strings.ToLower(s)) }

// field asks for one value until it fits; nil leaves it out.
func (a *formAsker) field(ctx context.Context, f view.Field) (json.RawMessage, error) {
	name := f.Title
	if name == "" {
		name = f.Name
	}
	if f.About != "" {
		fmt.Fprintf(a.sys.Stderr, "  %s\n", clip.Visible(f.About))
	}
	for i, o := range f.Options {
		fmt.Fprintf(a.sys.Stderr, "  %d  %s\n", i+1, clip.Visible(o.Label()))
	}
	hint := ""
	switch {
	case len(f.Default) > 0:
		hint = " [" + clip.Visible(string(f.Default)) + "]"
	case !f.Required:
		hint = " [none]"
	}
	for range maxWrong {
		s, err := a.line(ctx, clip.Visible(name)+hint+": ")
		if err != nil {
			return nil, err
		}
		if s == "" && (len(f.Default) > 0 || !f.Required) {
			return f.Default, nil
		}
		if s == "" {
			fmt.Fprintln(a.sys.Stderr, "  it is needed")
			continue
		}
		raw, err := valueOf(f, s)
		if err == nil {
			err = f.Check(raw)
		}
		if err == nil {
			return raw, nil
		}
		fmt.Fprintf(a.sys.Stderr, "  %s\n", oneLine(err.Error()))
	}
	return nil, fmt.Errorf("%s was wrong %d times", name, maxWrong)
}

// valueOf is what a person wrote, as a value of the field: choices by their numbers or
// values, several with commas between them.
func valueOf(f view.Field, s string) (json.RawMessage, error) {
	option := func(s string) string {
		if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= len(f.Options) {
			return f.Options[n-1].Value
		}
		return s
	}
	switch f.Kind {
	case view.NumberField, view.IntegerField:
		return json.RawMessage(s), nil
	case view.BooleanField:
		if !isWord(s, "y", "yes", "true", "n", "no", "false") {
			return nil, fmt.Errorf("yes or no")
		}
		return json.Marshal(isWord(s, "y", "yes", "true"))
	case view.ChoiceField:
		return json.Marshal(option(s))
	case view.ChoicesField:
		list := []string{}
		for _, x := range strings.Split(s, ",") {
			list = append(list, option(strings.TrimSpace(x)))
		}
		return json.Marshal(list)
	case view.StringField:
	}
	return json.Marshal(s)
}
