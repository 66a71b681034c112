package choose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/text/hint"
)

// named resolves one wish.
func (c *Chooser) named(ctx context.Context, wish string) (provider, string, error) {
	p, model, err := c.resolve(wish, 0)
	if err == nil && model == "" {
		return c.onlyProvider(ctx, p)
	}
	if err == nil && len(p.also) > 0 {
		p = c.where(ctx, p, model)
	}
	return p, model, err
}

// where is a local server at that of its base URLs where it has the model, or answers.
func (c *Chooser) where(ctx context.Context, p provider, model string) provider {
	at := p.everywhere()
	found := c.probeAll(ctx, at)
	for i, models := range found {
		if slices.Contains(models, model) {
			return at[i]
		}
	}
	for i, models := range found {
		if len(models) > 0 {
			return at[i]
		}
	}
	return p
}

// Broken are the providers of the settings that cannot be used, by name, and why.
func (c *Chooser) Broken() map[string]error { return c.broken }

// Check returns a *NameError when nothing here has that name, without asking
// anybody and without a key.
func (c *Chooser) Check(wish string) error {
	p, model, err := c.resolve(strings.TrimSpace(wish), 0)
	if err == nil && (p.wire.onDisk() || p.wire == wireCloud) {
		_, err = c.build(context.Background(), p, model)
	}
	var name *NameError
	if errors.As(err, &name) {
		return err
	}
	return nil
}

// resolve finds the provider of a wish, and its model, which is "" when only
// the provider was named.
func (c *Chooser) resolve(wish string, depth int) (provider, string, error) {
	if depth > maxAliases {
		return provider{}, "", &NameError{Why: fmt.Sprintf("the model alias %q leads back to itself", wish), What: "adze config get model_aliases"}
	}
	if full, ok := lookupFold(c.c.Aliases, wish); ok && full != wish {
		return c.resolve(full, depth+1)
	}
	if full, ok := c.alias(wish); ok {
		return c.resolve(full, depth+1)
	}
	if name, wide := narrow(wish); wide {
		p, model, err := c.resolve(name, depth+1)
		if _, twice := narrow(model); !twice && model != "" {
			model += Wide
		}
		return p, model, err
	}
	name, model, slash := strings.Cut(wish, "/")
	p, known := c.provider(name)
	switch {
	case known && slash && model == "":
		return p, "", noModel(wish, name)
	case known && p.name == "anthropic" && c.isAlias(model):
		return c.resolve(model, depth+1)
	case known && c.may(p):
		return p, model, nil
	}
	g, gateway := c.gateway(wish)
	switch {
	case gateway && c.broken[name] == nil && (slash || !known || g.firm):
		return g, wish, nil
	case known:
		return p, model, nil
	case slash:
		return p, "", c.unknownProvider(name)
	}
	return c.bare(wish)
}

// OpusPlan reports whether a wish, or what the aliases of the settings make of it, stands for
// two models: both is its name, and opus that of the model for the mode plan.
func (c *Chooser) OpusPlan(wish string) (both, opus string, ok bool) {
	wish = strings.TrimSpace(wish)
	for range maxAliases {
		full, ok := lookupFold(c.c.Aliases, wish)
		if !ok || full == wish {
			break
		}
		wish = strings.TrimSpace(full)
	}
	name, wide := narrow(wish)
	if strings.TrimPrefix(strings.ToLower(name), "anthropic/") != price.OpusPlan {
		return "", "", false
	}
	both, opus = price.OpusPlan, "opus"
	if wide {
		both, opus = both+Wide, opus+Wide
	}
	return both, opus, true
}

// isAlias reports whether a name is an alias of the provider anthropic, which has no
// model of that name.
func (c *Chooser) isAlias(model string) bool {
	model, _ = narrow(model)
	full, ok := price.Alias(model)
	return ok && strings.HasPrefix(full, "anthropic/")
}

// may reports whether a provider can be asked, as far as keys and settings that were named for this
// start tell.
func (c *Chooser) may(p provider) bool {
	if _, firm := c.firm(); firm {
		return p.firm || p.wire.onDisk()
	}
	return !c.needsKey(p) || c.usable(p)
}

// gateway is the provider to which a name goes as it is: one whose address a variable
// says, unless the name is known to be a model of one that can be asked. Nobody here knows
// what is behind a gateway.
func (c *Chooser) gateway(wish string) (provider, bool) {
	i := slices.IndexFunc(c.providers, func(p provider) bool { return p.named && c.may(p) })
	if i < 0 {
		return provider{}, false
	}
	if strings.Contains(wish, "/") {
		return c.providers[i], true
	}
	if p, ok := c.whose(wish); ok && c.may(p) {
		return p, true
	}
	return c.providers[i], true
}

// alias resolves a built-in name. "default" and "fast" follow the first
// provider with a key; the Claude names go to OpenRouter when only it has one.
func (c *Chooser) alias(name string) (string, bool) {
	full, ok := price.Alias(name)
	if !ok {
		return "", false
	}
	provider, model, _ := strings.Cut(full, "/")
	p, _ := c.provider(provider)
	if c.usable(p) || p.named {
		if provider == "anthropic" {
			return cmp.Or(c.meant(family(model)), full), true
		}
		return full, true
	}
	first, any := c.firstUsable()
	if !any {
		return full, true
	}
	switch strings.ToLower(name) {
	case "default", "inherit":
		return first.name + "/" + c.defaultModel(first), true
	case "fast":
		return first.name + "/" + price.Small(first.name, c.defaultModel(first)), true
	}
	if router, _ := c.provider("openrouter"); c.usable(router) && provider == "anthropic" {
		if i := strings.LastIndexByte(model, '-'); i > 0 { // claude-opus-5-5 is claude-opus-5.5 there
			return "openrouter/anthropic/" + model[:i] + "." + model[i+1:], true
		}
	}
	return full, true
}

// family is what a model of Anthropic's is one of: opus of claude-opus-5-5.
func family(model string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(model, "claude-"), "-")
	return name
}

func lookupFold(m map[string]string, name string) (string, bool) {
	if v, ok := m[name]; ok {
		return v, true
	}
	for k, v := range m {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	return "", false
}

func (c *Chooser) provider(name string) (provider, bool) {
	if name == "google" {
		name = "gemini"
	}
	for _, p := range c.providers {
		if strings.EqualFold(p.name, name) {
			return p, true
		}
	}
	return provider{}, false
}

// onlyProvider takes the provider's default model, or what a local server has.
func (c *Chooser) onlyProvider(ctx context.Context, p provider) (provider, string, error) {
	if model := c.defaultModel(p); model != "" {
		return p, model, nil
	}
	if p.local || c.lists(p) {
		if q, model, ok := c.probe(ctx, p.everywhere()); ok {
			return q, model, nil
		}
		return p, "", &llm.Error{Kind: llm.Transport, Provider: p.name, Fix: cmp.Or(p.start, "name the model: --model "+hint.Shell(p.name+"/MODEL")),
			Err: fmt.Errorf("no server with a model answers at %s", shown(p.baseURL))}
	}
	return p, "", noModel(p.name, p.name)
}

// shown is a URL without the password that it may hold.
func shown(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "its base URL"
	}
	return u.Redacted()
}

// bare finds the provider of a model written without one.
func (c *Chooser) bare(model string) (provider, string, error) {
	p, ok := c.whose(model)
	if !ok {
		return provider{}, "", c.unknownModel(model)
	}
	return p, model, nil
}

// whose is the provider that has a model: the table says it, or the name's beginning, and of
// several the first with a key.
func (c *Chooser) whose(model string) (provider, bool) {
	var found *provider
	for i, p := range c.providers {
		_, ok := c.table.Lookup(p.name, model)
		if !ok && !slices.Contains(p.models, model) || p.wire == wireCloud {
			continue
		}
		if found == nil || !c.usable(*found) && c.usable(p) {
			found = &c.providers[i]
		}
	}
	if found == nil {
		lower := strings.ToLower(model)
		for _, f := range []struct{ prefix, provider string }{{"claude-", "anthropic"}, {"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"gemini-", "gemini"}} {
			if p, ok := c.provider(f.provider); ok && strings.HasPrefix(lower, f.prefix) {
				return p, true
			}
		}
		return provider{}, false
	}
	return *found, true
}

const maxAliases = 8 // an alias may name another, not itself
