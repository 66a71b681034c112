package choose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/text/near"
)

// A NoModelError says that there is nothing to ask. Its hint has the ways to
// change that, one a line.
type NoModelError struct{}

func (*NoModelError) Error() string {
	return "there is no model to ask: no key is set and no local server answers"
}

// Hint is what to do.
func (*NoModelError) Hint() string {
	return `export ANTHROPIC_API_KEY=…   set a key (OPENAI_API_KEY, GEMINI_API_KEY …)
adze login anthropic         save one for good
ollama serve                 or LM Studio, llama-server
adze demo                    see it work without a key`
}

// A NameError is about what somebody called a model: nothing here has that
// name.
type NameError struct {
	Why, What string
	Err       error // the cause, where there is one
}

func (e *NameError) Error() string { return e.Why }
func (e *NameError) Unwrap() error { return e.Err }

// Hint is the next command.
func (e *NameError) Hint() string { return e.What }

func noModel(wish, provider string) error {
	return &NameError{Why: fmt.Sprintf("%q names a provider and no model", wish), What: fmt.Sprintf("write %s/MODEL; adze models --all %s lists them", provider, provider)}
}

func (c *Chooser) unknownProvider(name string) error {
	if err := c.broken[name]; err != nil {
		return &NameError{Why: err.Error(), What: "adze config edit opens the file; adze config check says what else is wrong", Err: err}
	}
	var names []string
	for _, p := range c.providers {
		if p.wire != wireCloud {
			names = append(names, p.name)
		}
	}
	return &NameError{
		Why:  fmt.Sprintf("there is no model provider %q%s", name, near.Hint(name, names)),
		What: "one of " + strings.Join(names, ", ") + "; adze models --all lists their models",
	}
}

func (c *Chooser) unknownModel(model string) error {
	if c.broken[model] != nil {
		return c.unknownProvider(model)
	}
	var names []string
	for alias := range c.c.Aliases {
		names = append(names, alias)
	}
	slices.Sort(names)
	names = append(names, price.Aliases()...)
	for _, p := range c.providers {
		names = append(names, p.name)
	}
	for _, f := range c.table.All() {
		if f.Provider != "openrouter" {
			names = append(names, f.ID)
		}
	}
	return &NameError{
		Why:  fmt.Sprintf("there is no model %q%s", model, near.Hint(model, names)),
		What: "adze models --all lists them; one that is not in the list is written PROVIDER/MODEL",
	}
}
