// Package models turns a model's name into a provider connection. It knows the
// providers of the settings, where their keys are, and how to get another key
// when one is refused.
package models

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/disk/regular"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/replay"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/sandbox/netproxy"
	"github.com/adze-agent/adze/internal/secret"
	"github.com/adze-agent/adze/internal/text/hint"
)

// A Config is what models are made from beside the settings.
type Config struct {
	Version string
	Home    string // "" when there is none
	Folders config.Folders
	Environ []string
	Env     func(string) string
	// Memory is what servers refused, for the process; nil: nothing yet.
	Memory *choose.Memory
	// Record, when set, gets a cassette of everything providers answer.
	Record io.Writer
	// Patient: somebody watches.
	Patient bool
	// Betas are further values of the header anthropic-beta.
	Betas []string
	// Hide is told of keys that are no variables, Note what a person should
	// know; nil: nobody.
	Hide func(key string)
	Note func(string)
}

func (c Config) note(format string, args ...any) {
	if c.Note != nil {
		c.Note(fmt.Sprintf(format, args...))
	}
}

// A Set makes targets with these settings, from what people call models.
type Set struct {
	*choose.Chooser
	conf    Config
	cfg     *config.Config
	renewed *renewals // of all Sets that have the Chooser
}

// renewals are the models whose key can be another one later, by name: all
// sessions share one, so that a key that is refused is fetched once.
type renewals struct {
	helped helped
	mu     sync.Mutex // guards by
	by     map[string]*refreshed
}

// A Target is a model and where its key came from.
type Target struct {
	agent.Target
	Key   string // "none" without one
	Local bool   // the model runs here
}

// New makes the models of these settings. It reads no key yet.
func New(conf Config, cfg *config.Config) (*Set, error) {
	if conf.Folders.State != "" {
		conf.Memory.Use(servers{conf.Folders.State, time.Now})
	}
	r := &renewals{by: map[string]*refreshed{}}
	c, err := newChooser(conf, cfg, &r.helped)
	return &Set{Chooser: c, conf: conf, cfg: cfg, renewed: r}, err
}

// With are the models with other settings, which have the keys and the connections of m;
// nil where these settings lead to others.
func (m *Set) With(cfg *config.Config) *Set {
	switch {
	case m.cfg == cfg:
		return m
	case config.Makes(config.Diff(m.cfg, cfg))&config.MakesModels != 0:
		return nil
	}
	return &Set{Chooser: m.Chooser, conf: m.conf, cfg: cfg, renewed: m.renewed}
}

func newChooser(o Config, cfg *config.Config, h *helped) (*choose.Chooser, error) {
	dial, err := network(o, cfg)
	if err != nil {
		return nil, err
	}
	transport := http.RoundTripper(wire.NewTransport(dial))
	if o.Record != nil {
		if transport, err = replay.NewRecorder(o.Record, replay.RecordConfig{Next: transport, Secrets: secret.Environ(o.Environ), Home: o.Home}); err != nil {
			return nil, err
		}
	}
	c := choose.Config{Version: o.Version, Env: o.Env, Own: cfg.Variable, Betas: o.Betas, Aliases: cfg.Aliases, Facts: cfg.Facts, FactsSource: "settings", Transport: transport, Providers: map[string]choose.Provider{},
		CacheTTL: cfg.CacheTTL, Retention: cfg.CacheRetention, Summary: cfg.ReasoningSummary, Pauses: o.Patient, Memory: o.Memory,
		Idle: time.Duration(max(0, cfg.StreamIdleTimeout)) * time.Second}
	for name, p := range cfg.Providers {
		q := choose.Provider{BaseURL: p.BaseURL, KeyEnv: p.KeyEnv, Wire: p.Wire, Headers: p.Headers, Models: p.Models, Effort: p.Effort, Reasoning: p.Reasoning}
		if p.Images != nil {
			q.Images = strconv.FormatBool(*p.Images)
		}
		c.Providers[name] = q
	}
	saved := o.keys().Lookup(context.Background(), func(err error) { o.note("%v", err) })
	hidden := func(key string) string {
		if o.Hide != nil {
			o.Hide(key)
		}
		return key
	}
	c.Saved = func(provider string) string { return hidden(saved(provider)) }
	if cfg.APIKeyHelper != "" {
		c.KeyHelper = func(ctx context.Context) (string, error) {
			return h.key(func() (string, error) {
				key, err := keyHelper(ctx, o, environOf(o, cfg), cfg.APIKeyHelper)
				return hidden(key), err
			})
		}
	}
	for _, value := range choose.HeadersOf(cfg.Over(o.Env)) {
		if len(value) >= minHeader {
			hidden(value)
		}
	}
	return choose.New(c)
}

// network is how providers are reached: proxy and certificates.
func network(o Config, cfg *config.Config) (wire.Dial, error) {
	var d wire.Dial
	d.Proxy = Proxy(cfg, o.Env)
	if cfg.Network.Proxy != "" {
		if u, err := url.Parse(cfg.Network.Proxy); err != nil || u.Host == "" {
			return d, &hint.Mistake{Why: fmt.Sprintf("network.proxy: %q is no address of a proxy", cfg.Network.Proxy), What: "it looks like http://proxy.example.com:3128 or socks5://127.0.0.1:1080"}
		}
	}
	if cfg.Network.CAFile == "" {
		return d, nil
	}
	pem, err := regular.Read(cfg.Network.CAFile, 16<<20)
	if err != nil {
		return d, &hint.Mistake{Why: fmt.Sprintf("network.ca_file: %v", err), What: "give the path of a PEM file"}
	}
	if d.Roots, err = x509.SystemCertPool(); err != nil {
		d.Roots = x509.NewCertPool()
	}
	if !d.Roots.AppendCertsFromPEM(pem) {
		return d, &hint.Mistake{Why: fmt.Sprintf("network.ca_file: %s holds no certificate", cfg.Network.CAFile), What: "give the path of a PEM file"}
	}
	return d, nil
}

// Proxy chooses the proxy of a request of adze's own: that of the settings, else of the
// person's own variables, else of the environment; a nil URL is none.
func Proxy(cfg *config.Config, env func(string) string) func(*http.Request) (*url.URL, error) {
	return netproxy.Of(cfg.Network.Proxy, cfg.Over(env)).Proxy
}

// Main is the model of a session; begun is the one of a session that is
// resumed, "" for a new one.
func (m *Set) Main(ctx context.Context, begun string) (Target, error) {
	return m.main(ctx, begun, m.Named)
}

// Described is Main for a session that is not meant to run: its Target can have
// no Model, since no key is needed. Where nothing names a model, it is one that
// is not known.
func (m *Set) Described(ctx context.Context, begun string) (Target, error) {
	t, err := m.main(ctx, begun, func(ctx context.Context, wishes ...string) (Target, error) {
		c, err := m.Describe(ctx, wishes...)
		if err != nil {
			return Target{}, err
		}
		return Target{Key: "none", Local: c.Local, Target: m.target(c)}, nil
	})
	if none := new(choose.NoModelError); errors.As(err, &none) {
		return Target{Key: "none", Target: agent.Target{Provider: "no", Name: "model"}}, nil
	}
	return t, err
}

func (m *Set) main(ctx context.Context, begun string, named func(context.Context, ...string) (Target, error)) (Target, error) {
	wish, note := m.wish()
	asked := ""
	if s, ok := m.cfg.Setting("model"); ok && (m.foreign() == "" || m.Reachable(m.cfg.Model)) && (s.Origin.Scope == config.Flag || s.Origin.Scope == config.EnvVar || s.Origin.Scope == config.Managed) {
		asked = m.cfg.Model
	}
	if asked == "" && begun != "" && m.Bypasses(begun) {
		m.conf.note("the session's model %s is not asked: the settings of this start name another provider's address", begun)
		begun = ""
	}
	if asked == "" && begun != "" {
		if t, err := named(ctx, begun); err == nil {
			return t, nil
		} else {
			m.conf.note("the session's model %s cannot be used now: %v", begun, err)
		}
	}
	t, err := named(ctx, asked, wish)
	if err == nil && note != "" && m.conf.Memory.First(note) {
		m.conf.note("%s, so %s answers; hint: adze models lists what else there is", note, t.ID())
	}
	if err == nil {
		err = m.checkSmall()
	}
	return t, m.where("model", err)
}

// Wish is what the settings ask for as the model, "" when they leave it open.
func (m *Set) Wish() string {
	name, _ := m.wish()
	return name
}

// foreign is the variable of another agent that the model is from, "" for none.
func (m *Set) foreign() string {
	s, _ := m.cfg.Setting("model")
	if slices.ContainsFunc(config.ForeignVars(), func(v config.ForeignVar) bool { return v.Name == s.Origin.From }) {
		return s.Origin.From
	}
	return ""
}

// wish is Wish, and why it is not the setting itself. A name in another agent's file
// means the models of that agent's provider: where there is no key for it, what our
// own files say counts.
func (m *Set) wish() (name, note string) {
	if m.cfg.Model != "" && m.said("model", m.cfg.Model) == "" {
		s, _ := m.cfg.Setting("model")
		return "", fmt.Sprintf("the model %q (%s) is not asked: the settings of this start name another provider's address", m.cfg.Model, s.Origin)
	}
	own, at, other := m.cfg.Borrowed("model")
	if v := m.foreign(); v != "" && !m.Reachable(m.cfg.Model) {
		return "", fmt.Sprintf("there is no key for the model %q of the variable %s", m.cfg.Model, v)
	}
	if !other || m.Reachable(m.cfg.Model) {
		return m.cfg.Model, ""
	}
	return own, fmt.Sprintf("there is no key for the model %q of %s", m.cfg.Model, at)
}

// where says which setting a name stands in that nothing has, or for which there is
// no key.
func (m *Set) where(key string, err error) error {
	var name *choose.NameError
	s, _ := m.cfg.Setting(key)
	if !errors.As(err, &name) && !errors.Is(err, choose.ErrNoKey) || s.Origin.File == "" {
		return err
	}
	return fmt.Errorf("%w (%s at %s)", err, key, s.Origin)
}

// Fallbacks are the models to switch to, in this order; none when none is set.
func (m *Set) Fallbacks(ctx context.Context) (out []agent.Target, err error) {
	for _, name := range fallbacks(m.said("fallback_model", m.cfg.FallbackModel)) {
		t, err := m.Named(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("the fallback model: %w", m.where("fallback_model", err))
		}
		out = append(out, t.Target)
	}
	return out, nil
}

// fallbacks are the names of a list: "opus, haiku".
func fallbacks(list string) (out []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// said is what the settings name as a model of some use, without what leads past the
// provider that settings of this start name: those are stronger than a name in a file.
func (m *Set) said(key, name string) string {
	s, ok := m.cfg.Setting(key)
	if !ok || s.Origin.Scope == config.Settings || s.Origin.Scope == config.EnvVar || s.Origin.Scope == config.Flag || !m.Bypasses(name) {
		return name
	}
	return ""
}

// Memory is what servers refused, for the process, and Row a model that can be
// switched to.
type (
	Memory = choose.Memory
	Row    = choose.Row
)

// Named is the first of these that there is a model of.
func (m *Set) Named(ctx context.Context, wishes ...string) (Target, error) {
	c, err := m.Choose(ctx, wishes...)
	if err != nil {
		return Target{}, err
	}
	t := Target{Key: cmp.Or(c.KeySource, "none"), Local: c.Local, Target: m.target(c)}
	t.EffortWarning = func(effort llm.Effort, tokens int) string { return m.deaf(c, effort, tokens) }
	if i := slices.IndexFunc(wishes, func(w string) bool { return strings.TrimSpace(w) != "" }); i >= 0 {
		if both, opus, ok := m.OpusPlan(wishes[i]); ok {
			plan, err := m.Choose(ctx, opus)
			if err != nil {
				return Target{}, err
			}
			other := m.target(plan)
			t.Plan, t.Wish = &other, both
		}
	}
	if m.conf.Note != nil {
		if text := t.EffortWarning(t.Effort, t.Thinking); text != "" {
			m.conf.Note(text)
		}
	}
	m.sayAssumed(c)
	if c.Keyless != "" && m.conf.Note != nil && m.conf.Memory.First("keyless "+c.Provider) {
		m.conf.note("%s is empty, which the setting providers.%s.key_env names: requests go out without a key; hint: export %s=…", c.Keyless, c.Provider, c.Keyless)
	}
	return t, nil
}

// target is a model with the facts of it and the wishes of the settings.
func (m *Set) target(c choose.Choice) agent.Target {
	f := c.Facts
	t := agent.Target{
		Model: m.sharing(c), Provider: c.Provider, Name: c.Name, Title: strings.TrimSuffix(f.Name, " (latest)"), Window: f.Window, Cap: f.Output, LargerCap: f.RaisedCap(),
		Effort: llm.Effort(m.cfg.Effort.Level), Thinking: m.cfg.Effort.Tokens,
		Edits:  m.cfg.Context.ProviderEditing && c.Provider == "anthropic",
		Images: f.Can(price.Images), ImageEdge: f.ImageEdge, Cost: f.Cost,
	}
	if c.Wide {
		t.Wish = t.ID() + choose.Wide
	}
	if most := int(m.cfg.MaxOutput); most > 0 { // what somebody said is not raised
		if f.OutputMax > 0 {
			most = min(most, f.OutputMax)
		}
		t.Cap, t.LargerCap = most, most
	}
	if c.Provider == "script" || c.Provider == "replay" {
		t.Cost = func(llm.Usage) (float64, bool) { return 0, true } // nobody is paid for these
	}
	return t
}

// deaf says that a model is told nothing of an effort; "" when it is told, and
// when that was said before.
func (m *Set) deaf(c choose.Choice, effort llm.Effort, tokens int) string {
	if effort == "" && tokens == 0 || c.Asks(effort, tokens) {
		return ""
	}
	what, text := "effort ", fmt.Sprintf("effort has no effect on %s: it is not known to take one", c)
	if effort == llm.EffortNone && tokens == 0 {
		what, text = "no thinking ", fmt.Sprintf("thinking cannot be turned off on %s: it is not known to do without", c)
	}
	if !m.conf.Memory.First(what + c.String()) {
		return ""
	}
	if c.Local {
		text += fmt.Sprintf("; hint: if it takes one, say how: adze config set providers.%s.effort reasoning_effort", c.Provider)
	}
	return text
}

// sayAssumed says once that the window of a model was not told, and what to do.
func (m *Set) sayAssumed(c choose.Choice) {
	why, assumed := strings.CutPrefix(c.Facts.Source, choose.Assumed)
	if !assumed || !c.Local || m.conf.Note == nil || !m.conf.Memory.First("window "+c.String()) {
		return
	}
	m.conf.note("the window of %s is assumed to be %d tokens: %s; hint: load it first, or say it: adze config set models.%s.window \"8192\"", c, c.Facts.Window, why, c)
}

// Problems are settings that name a model which nothing here has. No key
// is needed for it, and nobody is asked.
func (m *Set) Problems() []config.Problem {
	cfg := m.cfg
	names := map[string]string{"model": cfg.Model, "small_model": cfg.SmallModel}
	for alias, name := range cfg.Aliases {
		names["model_aliases."+alias] = name
	}
	var out []config.Problem
	check := func(key, name string) {
		if err := m.Check(name); name != "" && err != nil {
			s, _ := cfg.Setting(key)
			out = append(out, config.Problem{Severity: config.Error, Origin: s.Origin, Key: key, Message: err.Error()})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Broken())) {
		key := "providers." + name
		s, _ := cfg.Setting(key)
		out = append(out, config.Problem{Severity: config.Error, Origin: s.Origin, Key: key, Message: m.Broken()[name].Error()})
	}
	for _, name := range fallbacks(cfg.FallbackModel) {
		check("fallback_model", name)
	}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		check(key, names[key])
	}
	return out
}
