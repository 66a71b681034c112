package choose

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/anthropic"
	"github.com/adze-agent/adze/internal/llm/compat"
	"github.com/adze-agent/adze/internal/llm/gemini"
	"github.com/adze-agent/adze/internal/llm/openai"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/replay"
	"github.com/adze-agent/adze/internal/llm/script"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// What is assumed of a local server's model where the server does not say it.
const (
	localWindow = 32768
	localOutput = 8192
)

// describe is what is known of a model, without the model. A local server is
// asked for its window.
func (c *Chooser) describe(ctx context.Context, p provider, model string) Choice {
	model, wide := narrow(model)
	c.ask(ctx, p, model)
	facts := c.facts(p, model)
	if wide {
		_, known := c.table.Lookup(p.name, model)
		facts = widened(facts, known)
	}
	return Choice{Provider: p.name, Name: model, Facts: facts, Wide: wide, Local: p.near()}
}

// build makes the model of a provider.
func (c *Chooser) build(ctx context.Context, p provider, model string) (Choice, error) {
	choice := c.describe(ctx, p, model)
	var err error
	switch p.wire {
	case wireScript:
		choice.Model, err = script.Load(model, script.Config{Version: c.c.Version, Idle: c.c.Idle})
	case wireReplay:
		choice.Model, err = replay.Open(model, replay.Config{Version: c.c.Version, Idle: c.c.Idle})
	case wireCloud:
		err = &NameError{Why: fmt.Sprintf("provider %s is not built into this version", p.name), What: "anthropic/, or openrouter/ for the same models; adze models --all lists them"}
	default:
		err = c.remote(ctx, p, &choice)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = &NameError{Why: err.Error(), What: "give the path of a file, as " + string(p.wire) + "/PATH", Err: err}
	}
	if err != nil {
		return Choice{}, err
	}
	return choice, nil
}

func (c *Chooser) remote(ctx context.Context, p provider, choice *Choice) error {
	if err := c.elsewhere(p); err != nil {
		return err
	}
	key, source, bearer := c.key(p)
	if key == "" && p.name == "anthropic" && c.c.KeyHelper != nil {
		var err error
		if key, err = c.c.KeyHelper(ctx); err != nil {
			return &llm.Error{Kind: llm.Unauthorized, Provider: p.name, Fix: "run the command of apiKeyHelper by hand",
				Err: fmt.Errorf("apiKeyHelper: %w", err)}
		}
		source = FromHelper
	}
	if key == "" && c.needsKey(p) {
		return c.noKey(p)
	}
	choice.KeySource = source
	if key == "" {
		choice.Keyless = p.keyEnv
	}
	facts := func(model string) (price.Facts, bool) {
		f := c.facts(p, model)
		return f, f.Window > 0
	}
	if source == FromHelper && p.custom { // a gateway may read either (code.claude.com/docs/en/llm-gateway, 2026-11)
		p.headers = headersWith(p.headers, map[string]string{"Authorization": "Bearer " + key})
	}
	listed := func(model string) (price.Facts, bool) { return c.table.Lookup(p.name, model) } // nothing that is only assumed
	conf := wire.Config{
		Provider: p.name, Key: key, KeySource: source, Version: c.c.Version, Headers: p.headers, Transport: c.c.Transport, Idle: c.c.Idle, StartHint: p.start, LostHint: lost(p),
	}
	switch p.wire {
	case wireAnthropic:
		choice.Model = anthropic.New(anthropic.Config{Config: conf, BaseURL: p.baseURL, Bearer: bearer, Betas: p.betas, Facts: facts, CacheTTL: c.c.CacheTTL, Pauses: c.c.Pauses, Memory: c.c.Memory})
	case wireOpenAI:
		choice.Model = openai.New(openai.Config{Config: conf, BaseURL: p.baseURL, Retention: c.c.Retention, Summary: c.c.Summary, Facts: listed, Memory: c.c.Memory})
	case wireGemini:
		choice.Model = gemini.New(gemini.Config{Config: conf, BaseURL: p.baseURL, Facts: listed, Memory: c.c.Memory})
	default:
		choice.Model = compat.New(compat.Config{Config: conf, BaseURL: p.baseURL, Quirks: p.quirks, Facts: facts, Memory: c.c.Memory, Local: p.local})
	}
	return nil
}

// lost is what to do when nothing is at the address of a person's own server.
func lost(p provider) string {
	switch {
	case !p.custom:
		return ""
	case p.wire == wireOpenAI:
		return `where the server has no /responses, say so: "wire": "compat" (the setting providers.` + p.name + `.wire)`
	case p.wire == wireCompat:
		return "most base URLs end with /v1, and requests go to what is below it (the setting providers." + p.name + ".base_url)"
	}
	return "check the base URL (the setting providers." + p.name + ".base_url)"
}

// facts are those of the table; for what runs here they are what its server
// said, else assumed, and it costs nothing.
func (c *Chooser) facts(p provider, model string) price.Facts {
	f, ok := c.table.Lookup(p.name, model)
	if ok {
		f.ID = model
	} else {
		f = c.said(p, model).over(assumed(c.table, p, model))
	}
	others := slices.DeleteFunc(slices.Clone(f.Abilities), func(a price.Ability) bool { return a == price.Images })
	switch p.images {
	case "true":
		f.Abilities = append(others, price.Images)
	case "false":
		f.Abilities = others
	}
	return f
}

// assumed are the facts of a model that no table knows.
func assumed(table *price.Table, p provider, model string) price.Facts {
	f := price.Facts{Provider: p.name, ID: model, Abilities: []price.Ability{price.Tools}}
	switch {
	case p.wire.onDisk():
		f.Window, f.Output, f.OutputMax, f.Price, f.Source = 200000, 32000, 64000, &price.Price{}, "built in"
		f.Abilities = []price.Ability{price.Tools, price.Images, price.PDF}
	case p.local:
		f.Window, f.Output, f.OutputMax, f.Price, f.Source = localWindow, localOutput, localOutput, &price.Price{}, Assumed+"its server does not say it"
	case p.wire != wireCompat:
		// A name newer than the table: what a provider's models have in common.
		if like, ok := table.Lookup(string(p.wire), price.Default(string(p.wire))); ok && strings.EqualFold(p.name, string(p.wire)) {
			f.Window, f.Output, f.OutputMax, f.Abilities = min(like.Window, 200000), like.Output, like.Output, like.Abilities
			f.Source = "assumed from " + like.ID
		}
	}
	return f
}
