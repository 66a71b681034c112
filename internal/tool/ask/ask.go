// Package ask lets the model put questions to the person: AskUserQuestion. It
// only carries questions and answers; who shows and collects them is the
// session's business.
package ask

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/tool"
	"github.com/adze-agent/adze/internal/view"
)

//go:embed ask.md
var text string

// Bounds of one call.
const (
	maxQuestions           = 4
	minOptions, maxOptions = 2, 4
	maxHeader              = 40    // characters shown of a header
	maxText                = 4_000 // bytes of a question or description
)

type input struct {
	Questions []question `json:"questions" jsonschema:"1 to 4 questions"`
}

type question struct {
	Question string   `json:"question" jsonschema:"the whole question"`
	Header   string   `json:"header" jsonschema:"its topic in one or two words"`
	Options  []option `json:"options" jsonschema:"2 to 4 answers to choose from; the person can always write another"`
	Multi    bool     `json:"multiSelect,omitempty" jsonschema:"several answers may be chosen"`
}

type option struct {
	Label       string `json:"label" jsonschema:"the answer in 1 to 5 words"`
	Description string `json:"description" jsonschema:"what choosing it means"`
}

// Name is the tool's.
const Name = "AskUserQuestion"

// New returns AskUserQuestion.
func New() tool.Tool {
	s, err := jsonschema.For[input](nil)
	if err != nil {
		panic(err) // the type above has no schema: any test finds it
	}
	qs := s.Properties["questions"]
	bound(qs, 1, maxQuestions)
	bound(qs.Items.Properties["options"], minOptions, maxOptions)
	return tool.NewWithSchema(tool.Spec{Name: Name, Description: text, Facts: []string{}}, s, plan, run)
}

// bound makes s an array of min to max items; a derived schema also allows null.
func bound(s *jsonschema.Schema, min, max int) {
	s.Type, s.Types, s.MinItems, s.MaxItems = "array", nil, &min, &max
}

func plan(in input, _ tool.Env) (tool.Plan, error) {
	if err := in.check(); err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		Actions: []policy.Action{policy.Person{Why: "it asks you something"}},
		View:    in.view(),
		Title:   "Question: " + clip.Line(clip.Clean(in.Questions[0].Question), 100),
	}, nil
}

func run(_ context.Context, in input, env tool.Env) (tool.Result, error) {
	if err := in.check(); err != nil {
		return tool.Errorf("%s", err), nil
	}
	if env.Answer == nil {
		return tool.Errorf("no person can be reached to answer. Choose what fits the task best and go on; " +
			"name the choice at the end. If going on without an answer could do harm, end your turn with the question instead."), nil
	}
	var b strings.Builder
	var rows [][]string
	for i, q := range in.Questions {
		var chosen []string
		if i < len(env.Answer.Choices) {
			chosen = env.Answer.Choices[i]
		}
		answer := "(no answer)"
		if len(chosen) > 0 {
			answer = clip.Clean(strings.Join(chosen, ", "))
		}
		fmt.Fprintf(&b, "%s\n→ %s\n", clip.Clean(q.Question), answer)
		rows = append(rows, []string{clip.Clean(q.Question), answer})
	}
	out := strings.TrimSuffix(b.String(), "\n")
	return tool.Result{Text: out, View: view.Table{Head: []string{"Question", "Answer"}, Rows: rows}, Data: func() any {
		answers := map[string]string{}
		for i, q := range in.Questions {
			answers[q.Question] = rows[i][1]
		}
		return map[string]any{"questions": in.Questions, "answers": answers}
	}}, nil
}

func (in input) check() error {
	if n := len(in.Questions); n < 1 || n > maxQuestions {
		return fmt.Errorf("field \"questions\": expected 1 to %d items, got %d", maxQuestions, n)
	}
	seen := map[string]bool{}
	for i, q := range in.Questions {
		at := fmt.Sprintf("questions[%d]", i)
		switch {
		case strings.TrimSpace(q.Question) == "":
			return fmt.Errorf("field %q is empty", at+".question")
		case len(q.Question) > maxText:
			return fmt.Errorf("field %q has %d bytes; at most %d", at+".question", len(q.Question), maxText)
		case seen[q.Question]:
			return fmt.Errorf("field %q is asked twice", at+".question")
		case len(q.Options) < minOptions || len(q.Options) > maxOptions:
			return fmt.Errorf("field %q: expected %d to %d items, got %d", at+".options", minOptions, maxOptions, len(q.Options))
		}
		seen[q.Question] = true
		labels := map[string]bool{}
		for k, o := range q.Options {
			switch {
			case strings.TrimSpace(o.Label) == "":
				return fmt.Errorf("field \"%s.options[%d].label\" is empty", at, k)
			case labels[o.Label]:
				return fmt.Errorf("field \"%s.options[%d].label\" repeats %q", at, k, o.Label)
			case len(o.Label) > maxText || len(o.Description) > maxText:
				return fmt.Errorf("field \"%s.options[%d]\" is too long; at most %d bytes", at, k, maxText)
			}
			labels[o.Label] = true
		}
	}
	return nil
}

// view is what the person sees, cleaned.
func (in input) view() view.Questions {
	var out view.Questions
	for _, q := range in.Questions {
		v := view.Question{Text: clip.Clean(q.Question), Header: clip.Line(clip.Clean(q.Header), maxHeader), Multi: q.Multi}
		for _, o := range q.Options {
			v.Options = append(v.Options, view.Option{Label: clip.Line(clip.Clean(o.Label), 200), About: clip.Clean(o.Description)})
		}
		out.Items = append(out.Items, v)
	}
	return out
}
