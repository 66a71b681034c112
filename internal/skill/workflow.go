package skill

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/text/clip"
	"github.com/adze-agent/adze/internal/text/near"
	"github.com/adze-agent/adze/internal/text/paths"
	"github.com/adze-agent/adze/internal/workflow"
)

// workflowOf reads a script, which is called by the name in its meta.
func workflowOf(p Place, f found, text []byte) (out any, notes []Problem, bad *Problem) {
	w, err := workflow.Read(string(text))
	if err != nil {
		bad = &Problem{Text: err.Error()}
		var at *workflow.SyntaxError
		if errors.As(err, &at) {
			bad.Line, bad.Text = at.Line, at.Text
		}
		return nil, nil, bad
	}
	s := Skill{
		Thing: thing(p, f, w.Name), Command: true, Workflow: true, NoModel: true, When: clip.Line(clip.Visible(w.WhenToUse), MaxDescription), Hint: "[args]",
		Dir: f.dir, Root: p.Root, Data: p.Data, place: p, path: f.path, sum: sha256.Sum256(text),
	}
	s.Description = clip.Line(clip.Visible(w.Description), MaxDescription)
	return s, nil, nil
}

// asked is what a person asks of the model who calls a workflow by its name.
func (s Skill) asked() string {
	return fmt.Sprintf(`Run the workflow %s with the tool Workflow, name %q (%s). Behind the command stands what it gets as args: where the workflow says what it expects, give it as JSON of that form, else as a text; where nothing stands, give none.

Args: $ARGUMENTS`, s.Name, s.Name, strings.TrimSuffix(s.About(), "."))
}

// Script is the script of a workflow, as it is now. A file that is not what a person trusted
// is an error.
func (s Skill) Script() (workflow.Script, error) {
	text, err := s.text()
	if err != nil {
		return workflow.Script{}, err
	}
	w, err := workflow.Read(string(text))
	w.File = s.File
	if err != nil {
		return w, fmt.Errorf("%s: %w", s.path, err)
	}
	return w, nil
}

// Workflows are the workflows among the commands, by name.
func (l Library) Workflows() (out []Skill) {
	for _, s := range l.skills {
		if s.Workflow {
			out = append(out, s)
		}
	}
	return out
}

// Script is the script of the workflow of this name, as it is now.
func (l Library) Script(name string) (workflow.Script, error) {
	if s, ok := l.Find(name); ok && s.Workflow {
		return s.Script()
	}
	var names []string
	for _, w := range l.Workflows() {
		names = append(names, w.Name)
	}
	return workflow.Script{}, fmt.Errorf("there is no workflow %q%s", clip.Line(clip.Visible(name), 80), near.Hint(name, names))
}

// ScriptOf is the script of a file, where that is what is named, or else of the workflow of a
// name.
func (l Library) ScriptOf(named string) (s workflow.Script, err error) {
	if !strings.HasSuffix(named, ".js") {
		return l.Script(named)
	}
	raw, err := regular.Read(named, maxFile)
	if err != nil {
		return s, fmt.Errorf("%s: %w", clip.Visible(named), paths.Cause(err))
	}
	if s, err = workflow.Read(string(raw)); err != nil {
		return s, fmt.Errorf("%s: %w", clip.Visible(named), err)
	}
	s.File = named
	return s, nil
}
