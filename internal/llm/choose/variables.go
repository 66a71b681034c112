package choose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/llm/price"
)

// A Variables looks a variable up that a person's settings set. firm: a start that
// named these settings must ask nobody but whom they name. ok is false for one that
// they do not have.
type Variables func(name string) (value string, firm, ok bool)

// env is a variable: that of the settings, else that of the process.
func (c Config) env(name string) string {
	v, _, _ := c.variable(name)
	return v
}

// variable is env, and whether the settings have it.
func (c Config) variable(name string) (value string, own, firm bool) {
	if c.Own != nil {
		if v, firm, ok := c.Own(name); ok {
			return strings.TrimSpace(v), true, firm
		}
	}
	return strings.TrimSpace(c.Env(name)), false, false
}

// KeyVariables are the names of the variables that hold keys of providers, and headers
// of their requests.
var KeyVariables = sync.OnceValue(func() []string {
	out := []string{customHeaders}
	for _, p := range builtin() {
		out = append(out, p.keys...)
	}
	return out
})

// Variables of the provider anthropic beside its key and its address
// (code.claude.com/docs/en/model-config and /settings, 2026-11).
const (
	customHeaders = "ANTHROPIC_CUSTOM_HEADERS" // "Name: value", a line each
	betaFeatures  = "ANTHROPIC_BETAS"          // values of the header anthropic-beta, with commas
	smallModel    = "ANTHROPIC_SMALL_FAST_MODEL"
	haikuModel    = "ANTHROPIC_DEFAULT_HAIKU_MODEL"
)

// aliasVariable is the variable that says which model of the provider anthropic an
// alias means: ANTHROPIC_DEFAULT_OPUS_MODEL.
func aliasVariable(alias string) string {
	return "ANTHROPIC_DEFAULT_" + strings.ToUpper(alias) + "_MODEL"
}

// VariableHelp are the variables of providers, with what they are for, in the order of help: keys
// and addresses are in Keyed.
func VariableHelp() [][2]string {
	return [][2]string{
		{customHeaders, "further headers for anthropic, a line each: Name: value"},
		{betaFeatures, "further values of the header anthropic-beta, with commas"},
		{aliasVariable("opus"), "what opus means; so do the ones of SONNET, HAIKU and FABLE"},
		{smallModel, "the small model beside one of anthropic, as " + haikuModel + " is"},
		{"OPENAI_MODEL", "the model of openai where none is named; GEMINI_MODEL that of gemini"},
	}
}

// HeadersOf are the headers that ANTHROPIC_CUSTOM_HEADERS adds. A line without a colon is left out.
func HeadersOf(env func(string) string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(env(customHeaders)) {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); ok && name != "" {
			out[name] = strings.TrimSpace(value)
		}
	}
	return out
}

// withVariables is a provider as variables have it.
func (p provider) withVariables(c Config) provider {
	if p.baseEnv != "" {
		if url, own, firm := c.variable(p.baseEnv); url != "" {
			p.baseURL, p.custom, p.named, p.own, p.firm = url, true, true, own, firm
		}
	}
	if p.modelEnv != "" {
		if model := c.env(p.modelEnv); model != "" {
			p.models = []string{model}
		}
	}
	if p.name == "anthropic" {
		p.headers = HeadersOf(c.env)
		for _, beta := range append(strings.Split(c.env(betaFeatures), ","), c.Betas...) {
			if beta = strings.TrimSpace(beta); beta != "" && !slices.Contains(p.betas, beta) {
				p.betas = append(p.betas, beta)
			}
		}
	}
	return p
}

// headersWith are further headers, of which those of the settings win.
func headersWith(base, over map[string]string) map[string]string {
	if len(base) == 0 {
		return over
	}
	out := maps.Clone(base)
	maps.Copy(out, over)
	return out
}

// firm is the provider that everything must be asked of, because settings that were named
// for this start say where it is.
func (c *Chooser) firm() (provider, bool) {
	i := slices.IndexFunc(c.providers, func(p provider) bool { return p.firm })
	if i < 0 {
		return provider{}, false
	}
	return c.providers[i], true
}

// Bypasses reports whether a name, as it would be read without settings that were named for
// this start, leads past the provider that they name.
func (c *Chooser) Bypasses(wish string) bool {
	f, ok := c.firm()
	if !ok || strings.TrimSpace(wish) == "" {
		return false
	}
	free := Chooser{c: c.c, table: c.table, providers: slices.Clone(c.providers), broken: c.broken}
	for i := range free.providers {
		free.providers[i].firm = false
	}
	p, _, err := free.resolve(wish, 0)
	return err == nil && p.name != f.name && !p.wire.onDisk()
}

// meant is the model of the provider anthropic that a variable says an alias means, "" where none does.
func (c *Chooser) meant(alias string) string {
	if model := c.c.env(aliasVariable(alias)); model != "" {
		return "anthropic/" + model
	}
	return ""
}

// clouds are the variables by which people say that Anthropic's models are asked for in a
// cloud, with the provider that each means (code.claude.com/docs/en/third-party-integrations, 2026-11).
var clouds = [][2]string{{"CLAUDE_CODE_USE_BEDROCK", "bedrock"}, {"CLAUDE_CODE_USE_VERTEX", "vertex"}, {"CLAUDE_CODE_USE_FOUNDRY", "foundry"}}

// elsewhere refuses to ask Anthropic where a variable says that a cloud is to be asked.
func (c *Chooser) elsewhere(p provider) error {
	if p.name != "anthropic" {
		return nil
	}
	for _, x := range clouds {
		on := strings.ToLower(c.c.env(x[0]))
		if on != "" && on != "0" && on != "false" && on != "no" && on != "off" {
			return &NameError{Why: fmt.Sprintf("%s is set, and provider %s is not built into this version", x[0], x[1]),
				What: "unset " + x[0] + " to ask anthropic itself, or name a model of another provider: adze models"}
		}
	}
	return nil
}

// smallOf is the small model that variables name beside one of a provider, or "".
func (c *Chooser) smallOf(p provider) string {
	if p.name != "anthropic" {
		return ""
	}
	return cmp.Or(c.c.env(haikuModel), c.c.env(smallModel))
}

// Wide is what stands behind the name of a model whose window is to be a million tokens.
const Wide = "[1m]"

// wideWindow is what Wide stands for, in tokens.
const wideWindow = 1_000_000

// narrow is a model's name without Wide, which no provider knows.
func narrow(model string) (name string, wide bool) {
	if cut := len(model) - len(Wide); cut > 0 && strings.EqualFold(model[cut:], Wide) {
		return strings.TrimSpace(model[:cut]), true
	}
	return model, false
}

// widened are the facts of a model that was asked for with Wide. What a model of the
// table has is known: since Claude Opus 4.6 and Sonnet 4.6 a million is what all have, and older
// ones have no more than the table says (platform.claude.com/docs/en/models, 2026-11). Of
// any other the person knows best.
func widened(f price.Facts, known bool) price.Facts {
	if !known {
		f.Window = max(f.Window, wideWindow)
		f.Source = "said by " + Wide
	}
	return f
}

// Reads reports whether a variable of Claude Code that is no setting has an effect here.
func Reads(name string) bool {
	return slices.ContainsFunc(clouds, func(x [2]string) bool { return x[0] == name })
}
