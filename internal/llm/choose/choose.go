// Package choose owns the way from what a person wrote, or did not write, to
// a concrete model: aliases, providers and their keys, local servers that
// answer. It reads no environment and no settings file itself; both come in as
// plain values. It sends no prompt.
package choose

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/anthropic"
	"github.com/adze-agent/adze/internal/llm/compat"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/wire"
)

// A Config is what a choice depends on.
type Config struct {
	Version string // of adze
	// Env looks a variable up; nil is an empty environment.
	Env func(name string) string
	// Own are the variables of the person's settings, which go before Env; nil: none.
	Own Variables
	// Betas are further values of the header anthropic-beta.
	Betas []string
	// Providers are the user's own, and corrections of the built-in ones.
	Providers map[string]Provider
	// Aliases are the user's names for "provider/model".
	Aliases map[string]string
	// Facts correct or add to the table, by "provider/model".
	Facts map[string]json.RawMessage
	// FactsSource is shown as the origin of Facts, such as "settings.json".
	FactsSource string
	// KeyHelper runs the user's command for a key (apiKeyHelper); nil: none.
	KeyHelper func(ctx context.Context) (string, error)
	// Saved returns a key kept in the system's store; nil: none.
	Saved func(provider string) string

	Transport http.RoundTripper // nil: one of its own, without a proxy
	Idle      time.Duration     // 0: 90 s
	// CacheTTL and Pauses are anthropic.Config's.
	CacheTTL string
	Pauses   bool
	// Retention and Summary are openai.Config's.
	Retention, Summary string
	// Memory is what servers refused; nil: nothing yet.
	Memory *Memory
	// Local replaces the base URLs of local servers, by name.
	Local map[string]string
}

// A Memory is what servers refused.
type Memory = wire.Memory

// A Provider is one entry of the user's settings.
type Provider struct {
	BaseURL string
	Key     string
	KeyEnv  string // the variable that holds the key
	// Wire is "anthropic", "openai", "gemini" or "compat"; "" keeps that of a
	// built-in provider and is "compat" for a new one.
	Wire    string
	Headers map[string]string
	Models  []string // shown and completed; the first is the default
	// Effort and Reasoning are for compat.Quirks.Said; Images is "true" or
	// "false", and "" for what is known.
	Effort, Reasoning, Images string
}

// A Choice is a concrete model.
type Choice struct {
	Model    llm.Model // nil in a choice of Small where there is none
	Provider string
	Name     string // the provider's own name of the model
	Facts    price.Facts
	// Wide: it was asked for with Wide.
	Wide bool
	// KeySource says where the key came from; "" when none was needed.
	KeySource string
	// Local: the model runs on this machine or beside it.
	Local bool
	// Keyless is the variable that settings name for its key and that is empty, so that
	// requests have none; "" otherwise.
	Keyless string
}

// Sources of keys that can give another one later. Others are names of
// variables, or words about settings.
const (
	FromStore  = "the key store"
	FromHelper = "apiKeyHelper"
)

// String is "provider/name".
func (c Choice) String() string { return c.Provider + "/" + c.Name }

// Asks reports whether the model is told an effort, or a number of tokens.
// Scripts and cassettes have no use for one and count as told.
func (c Choice) Asks(effort llm.Effort, tokens int) bool {
	if effort == llm.EffortNone && tokens <= 0 && c.quiet() {
		return true
	}
	m, ok := c.Model.(interface{ Asks(llm.Request) bool })
	return !ok || m.Asks(llm.Request{Model: c.Name, Effort: effort, ThinkingTokens: tokens})
}

// quiet reports whether the model is known not to reason unless it is asked to.
func (c Choice) quiet() bool {
	switch c.Facts.Thinking {
	case "":
		return c.Facts.Source != "" && !strings.HasPrefix(strings.ToLower(c.Facts.Source), "assumed")
	case price.Budget:
		_, messages := c.Model.(*anthropic.Client)
		return messages
	case price.Adaptive, price.Effort, price.Level, price.Toggle, price.Always:
	}
	return false
}

// A Chooser makes choices. It is safe for use by several goroutines.
type Chooser struct {
	c         Config
	table     *price.Table
	providers []provider
	broken    map[string]error // providers of the settings that cannot be used, by name

	tell time.Duration // tellLimit
	wait time.Duration // probeLimit

	mu   sync.Mutex // guards told
	told map[string]said
}

// A protocol is how a provider is asked. Settings can name the first four.
type protocol string

const (
	wireAnthropic protocol = "anthropic"
	wireOpenAI    protocol = "openai"
	wireGemini    protocol = "gemini"
	wireCompat    protocol = "compat"
	wireScript    protocol = "script"
	wireReplay    protocol = "replay"
	// wireCloud needs a cloud's own credentials, which this version does not have.
	wireCloud protocol = "cloud"
)

// onDisk reports whether a model's name is the path of a file that has its replies.
func (w protocol) onDisk() bool { return w == wireScript || w == wireReplay }

// A provider is one that can be asked.
type provider struct {
	name    string
	wire    protocol
	baseURL string
	baseEnv string
	also    []string // further base URLs that a local server may have
	keyEnv  string   // the variable of its key that settings name
	keys    []string // variables, first wins
	bearer  string   // the one of keys that is sent as a bearer token
	key     string   // from settings
	headers map[string]string
	models  []string
	quirks  compat.Quirks
	images  string // Provider.Images
	local   bool
	custom  bool // the base URL is not the provider's own
	named   bool // a variable says where it is
	own     bool // and it is in the person's settings
	firm    bool // in those that were named for this start
	// modelEnv is the variable of the model where none is named.
	modelEnv string
	betas    []string
	start    string
}

// near reports whether the provider's server is on this machine, or beside it.
func (p provider) near() bool { return p.local || p.custom && own(p.baseURL) }

// open reports whether the provider is a server that no key is configured for.
func (p provider) open() bool { return p.local || p.custom && p.key == "" && len(p.keys) == 0 }

// New returns a chooser.
func New(c Config) (*Chooser, error) {
	if c.Env == nil {
		c.Env = func(string) string { return "" }
	}
	table, err := price.Embedded()
	if err != nil {
		return nil, err
	}
	if len(c.Facts) > 0 {
		if c.FactsSource == "" {
			c.FactsSource = "settings"
		}
		if table, err = table.Extend(c.Facts, c.FactsSource); err != nil {
			return nil, err
		}
	}
	if c.Memory == nil {
		c.Memory = &wire.Memory{}
	}
	if c.Transport == nil {
		c.Transport = wire.NewTransport(wire.Dial{})
	}
	ch := &Chooser{c: c, table: table, told: map[string]said{}, tell: tellLimit, wait: probeLimit}
	ch.providers, ch.broken = providersOf(c)
	return ch, nil
}

// builtin are the providers known by name, in the order in which one with a
// key is taken when nothing was asked for.
func builtin() []provider {
	ps := []provider{
		{name: "anthropic", wire: wireAnthropic, keys: []string{"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"}, bearer: "ANTHROPIC_AUTH_TOKEN", baseEnv: "ANTHROPIC_BASE_URL"},
		{name: "openai", wire: wireOpenAI, keys: []string{"OPENAI_API_KEY"}, baseEnv: "OPENAI_BASE_URL", modelEnv: "OPENAI_MODEL"},
		{name: "gemini", wire: wireGemini, keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, baseEnv: "GOOGLE_GEMINI_BASE_URL", modelEnv: "GEMINI_MODEL"},
	}
	for _, e := range compat.Endpoints() {
		p := provider{name: e.Name, wire: wireCompat, baseURL: e.BaseURL, quirks: e.Quirks, local: e.Local, start: e.Start, also: e.Also}
		if e.KeyEnv != "" {
			p.keys = []string{e.KeyEnv}
		}
		ps = append(ps, p)
	}
	for _, name := range []string{"bedrock", "vertex", "foundry"} {
		ps = append(ps, provider{name: name, wire: wireCloud})
	}
	return append(ps, provider{name: "script", wire: wireScript}, provider{name: "replay", wire: wireReplay})
}

// providersOf are the providers there are, and why some of the settings cannot be used: who
// names one of these is told.
func providersOf(c Config) (ps []provider, broken map[string]error) {
	ps, broken = builtin(), map[string]error{}
	for i := range ps {
		ps[i] = ps[i].withVariables(c)
		p := &ps[i]
		if url := c.Local[p.name]; url != "" {
			p.baseURL, p.also = url, nil
		}
		if host := c.env("OLLAMA_HOST"); p.name == "ollama" && host != "" && c.Local[p.name] == "" {
			p.baseURL = ollamaURL(host)
		}
	}
	names := make([]string, 0, len(c.Providers))
	for name := range c.Providers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		s := c.Providers[name]
		i := slices.IndexFunc(ps, func(p provider) bool { return p.name == name })
		if i < 0 {
			if s.BaseURL == "" {
				broken[name] = fmt.Errorf("provider %q in the settings has no base URL", name)
				continue
			}
			ps = append(ps, provider{name: name, wire: wireCompat})
			i = len(ps) - 1
		}
		p := &ps[i]
		switch s.Wire {
		case "":
		case string(wireAnthropic), string(wireOpenAI), string(wireGemini), string(wireCompat):
			p.wire = protocol(s.Wire)
		default:
			broken[name] = fmt.Errorf("provider %q in the settings: wire %q is none of anthropic, openai, gemini, compat", name, s.Wire)
			ps = slices.Delete(ps, i, i+1)
			continue
		}
		if s.BaseURL != "" && !p.firm {
			p.baseURL, p.custom, p.also = s.BaseURL, true, nil
		}
		if s.KeyEnv != "" {
			p.keyEnv = s.KeyEnv
			p.keys = append([]string{s.KeyEnv}, p.keys...)
		}
		p.key, p.headers = s.Key, headersWith(p.headers, s.Headers)
		if len(s.Models) > 0 {
			p.models = s.Models
		}
		p.quirks, p.images = p.quirks.Said(s.Effort, s.Reasoning), s.Images
	}
	return ps, broken
}

// ollamaURL makes a base URL of what OLLAMA_HOST may hold.
func ollamaURL(host string) string {
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	host = wire.Base(host, "/chat/completions", "/v1", "/api")
	scheme, rest, _ := strings.Cut(host, "://")
	rest, path, _ := strings.Cut(rest, "/")
	if !strings.Contains(rest, ":") {
		rest += ":11434"
	}
	return wire.Join(scheme+"://"+strings.Replace(rest, "0.0.0.0", "127.0.0.1", 1), strings.TrimRight("/"+path, "/")+"/v1")
}

// key finds the key of a provider and where it comes from.
func (c *Chooser) key(p provider) (key, source string, bearer bool) {
	if p.key != "" {
		return p.key, "the settings (provider " + p.name + ")", false
	}
	if c.c.Own != nil { // all of these first: a key of the process is not for the address of the settings
		for _, name := range p.keys {
			if v, _, _ := c.c.Own(name); strings.TrimSpace(v) != "" {
				return strings.TrimSpace(v), name, name == p.bearer
			}
		}
	}
	for _, name := range p.keys {
		if v := c.c.env(name); v != "" {
			return v, name, name == p.bearer
		}
	}
	if c.c.Saved != nil {
		if v := c.c.Saved(p.name); v != "" {
			return v, FromStore, false
		}
	}
	return "", "", false
}

// usable reports whether a provider has a key; no command is run for it.
func (c *Chooser) usable(p provider) bool {
	key, _, _ := c.key(p)
	return key != "" || p.name == "anthropic" && c.c.KeyHelper != nil
}

// Reachable reports whether a name means a model whose provider has a key, or needs
// none. Nobody is asked.
func (c *Chooser) Reachable(wish string) bool {
	p, _, err := c.resolve(wish, 0)
	return err == nil && (c.usable(p) || !c.needsKey(p))
}

// needsKey reports whether nothing can be asked of a provider without a key.
func (c *Chooser) needsKey(p provider) bool {
	return !p.wire.onDisk() && p.wire != wireCloud && !p.local && !p.custom
}

// Choose turns the first of the wishes that is not empty into a model. Their
// order is that of the call: flag or op, session, settings. Without any it
// takes the default model of the first provider with a key, then a local
// server that answers within 150 ms; without these the error is a
// *NoModelError.
func (c *Chooser) Choose(ctx context.Context, wishes ...string) (Choice, error) {
	p, model, err := c.find(ctx, wishes)
	if err != nil {
		return Choice{}, err
	}
	return c.build(ctx, p, model)
}

// Describe is Choose for who sends nothing: where a model would need a key,
// there is none, and none is looked for.
func (c *Chooser) Describe(ctx context.Context, wishes ...string) (Choice, error) {
	p, model, err := c.find(ctx, wishes)
	if err != nil {
		return Choice{}, err
	}
	if p.wire.onDisk() || p.wire == wireCloud {
		return c.build(ctx, p, model) // whether it is there is known without a key
	}
	return c.describe(ctx, p, model), nil
}

// FactsOf are the facts of a model as far as they are known without asking
// anybody; none of a name that nothing has.
func (c *Chooser) FactsOf(wish string) price.Facts {
	p, model, err := c.resolve(wish, 0)
	if err != nil || model == "" {
		return price.Facts{}
	}
	return c.facts(p, model)
}

// find is the provider, and its name of the model, that a choice comes to.
func (c *Chooser) find(ctx context.Context, wishes []string) (provider, string, error) {
	for _, w := range wishes {
		if w = strings.TrimSpace(w); w != "" {
			return c.named(ctx, w)
		}
	}
	if p, ok := c.firstUsable(); ok {
		return p, c.defaultModel(p), nil
	}
	if p, model, ok := c.probe(ctx, c.locals()); ok {
		return p, model, nil
	}
	return provider{}, "", &NoModelError{}
}

func (c *Chooser) firstUsable() (provider, bool) {
	if p, ok := c.firm(); ok {
		return p, true
	}
	var named *provider // the first whose address a variable says, though it has no key
	for i, p := range c.providers {
		switch {
		case c.defaultModel(p) == "":
		case c.usable(p) && named != nil: // it would be passed by
			return *named, true
		case c.usable(p):
			return p, true
		case p.named && named == nil:
			named = &c.providers[i]
		}
	}
	if named != nil && named.own {
		return *named, true
	}
	return provider{}, false
}

func (c *Chooser) defaultModel(p provider) string {
	if len(p.models) > 0 {
		return p.models[0]
	}
	model := price.Default(p.name)
	if p.name == "anthropic" {
		return cmp.Or(strings.TrimPrefix(c.meant(family(model)), "anthropic/"), model)
	}
	return model
}

// Small is the cheap sibling of main, or what was asked for. A script or a
// cassette has none: its Model is then nil, and a title is a line of the prompt.
func (c *Chooser) Small(ctx context.Context, main Choice, wishes ...string) (Choice, error) {
	for _, w := range wishes {
		if strings.TrimSpace(w) != "" {
			return c.Choose(ctx, w)
		}
	}
	p, ok := c.provider(main.Provider)
	if !ok {
		return Choice{}, c.unknownProvider(main.Provider)
	}
	if p.wire.onDisk() {
		return Choice{Provider: p.name}, nil
	}
	name := c.smallOf(p)
	if name != "" {
		return c.Choose(ctx, p.name+"/"+name)
	}
	name = price.Small(main.Provider, main.Name)
	if name == main.Name || p.custom && !slices.Contains(p.models, name) { // behind a gateway nobody knows what there is
		return main, nil
	}
	small, err := c.build(ctx, p, name)
	if err != nil {
		return main, nil
	}
	return small, nil
}

// Unauthorized reports whether an error is that of a provider that refuses the key, or that
// has none.
func Unauthorized(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Kind == llm.Unauthorized
}

// ErrNoKey is wrapped by the error for a provider without a key.
var ErrNoKey = errors.New("no key is set")

func (c *Chooser) noKey(p provider) error {
	e := &llm.Error{Kind: llm.Unauthorized, Provider: p.name, Err: ErrNoKey, Fix: `add a key for it in the settings; "adze models" shows which providers have one`}
	if len(p.keys) > 0 {
		e.Err = fmt.Errorf("%w: %s is empty", ErrNoKey, p.keys[len(p.keys)-1])
		e.Fix = "export " + p.keys[len(p.keys)-1] + `=…, or run "adze login ` + p.name + `"; "adze models" shows what else there is`
	}
	return e
}
