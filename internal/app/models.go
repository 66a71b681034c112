package app

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/adze-agent/adze/internal/agent"
	"github.com/adze-agent/adze/internal/auth"
	"github.com/adze-agent/adze/internal/auto"
	"github.com/adze-agent/adze/internal/config"
	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/llm/choose"
	"github.com/adze-agent/adze/internal/llm/price"
	"github.com/adze-agent/adze/internal/llm/replay"
	"github.com/adze-agent/adze/internal/llm/wire"
	"github.com/adze-agent/adze/internal/policy"
	"github.com/adze-agent/adze/internal/proc"
	"github.com/adze-agent/adze/internal/secret"
)

// helperTime bounds apiKeyHelper.
const helperTime = 10 * time.Second

// models makes targets from what people call models, with these settings.
type models struct {
	*choose.Chooser
	process Process
	cfg     *config.Config
	patient bool
	hide    func(key string) // is told of keys that are no variables
}

// modelsOf are the models with these settings.
func (w *World) modelsOf(cfg *config.Config) (*models, error) {
	if m := w.models.Load(); m != nil && m.cfg == cfg {
		return m, nil
	}
	m := &models{process: w.process, cfg: cfg, patient: !w.front.Print, hide: func(key string) { w.hide.Add(key) }}
	var err error
	if m.Chooser, err = newChooser(m.process, cfg, m.patient, m.hide); err != nil {
		return nil, err
	}
	w.models.Store(m)
	return m, nil
}

// resolve finds a model by name, for a person who switches.
func (w *World) resolve(ctx context.Context, name string) (agent.Target, error) {
	t, err := w.models.Load().named(ctx, name)
	return t.Target, err
}

// A target is a model and where its key came from.
type target struct {
	agent.Target
	key   string
	local bool // the model runs here
}

// Models is the chooser for these settings. patient: somebody watches.
func Models(o Process, cfg *config.Config, patient bool) (*choose.Chooser, error) {
	return newChooser(o, cfg, patient, func(string) {})
}

func newChooser(o Process, cfg *config.Config, patient bool, hide func(key string)) (*choose.Chooser, error) {
	dial, err := network(o, cfg)
	if err != nil {
		return nil, err
	}
	transport := http.RoundTripper(wire.NewTransport(dial))
	if o.Record != nil {
		if transport, err = replay.NewRecorder(o.Record, replay.RecordConfig{Next: transport, Secrets: Secrets(o.Environ), Home: o.Home}); err != nil {
			return nil, err
		}
	}
	c := choose.Config{Version: o.Version, Env: o.Env, Aliases: cfg.Aliases, Facts: cfg.Facts, FactsSource: "settings", Transport: transport, Providers: map[string]choose.Provider{},
		CacheTTL: cfg.CacheTTL, Retention: cfg.CacheRetention, Summary: cfg.ReasoningSummary, Pauses: patient, Memory: o.Memory,
		Idle: time.Duration(max(0, cfg.StreamIdleTimeout)) * time.Second}
	for name, p := range cfg.Providers {
		q := choose.Provider{BaseURL: p.BaseURL, KeyEnv: p.KeyEnv, Wire: p.Wire, Headers: p.Headers, Models: p.Models, Effort: p.Effort, Reasoning: p.Reasoning}
		if p.Images != nil {
			q.Images = strconv.FormatBool(*p.Images)
		}
		c.Providers[name] = q
	}
	p, err := folders(o)
	if err != nil {
		return nil, err
	}
	saved := Keys(o, p).Lookup(context.Background(), func(err error) { o.note("%v", err) })
	hidden := func(key string) string { hide(key); return key }
	c.Saved = func(provider string) string { return hidden(saved(provider)) }
	if cfg.APIKeyHelper != "" {
		c.KeyHelper = func(ctx context.Context) (string, error) {
			key, err := keyHelper(ctx, o, cfg.APIKeyHelper)
			return hidden(key), err
		}
	}
	return choose.New(c)
}

// Keys is where saved keys are.
func Keys(o Process, p Paths) auth.Store {
	return auth.Store{Dir: p.Config, Keyring: auth.System(runtime.GOOS, o.Env)}
}

// network is how providers are reached: proxy and certificates.
func network(o Process, cfg *config.Config) (wire.Dial, error) {
	var d wire.Dial
	d.Proxy = o.Proxy
	if cfg.Network.Proxy != "" {
		u, err := url.Parse(cfg.Network.Proxy)
		if err != nil || u.Host == "" {
			return d, &Mistake{fmt.Sprintf("network.proxy: %q is no address of a proxy", cfg.Network.Proxy), "it looks like http://proxy.example.com:3128 or socks5://127.0.0.1:1080"}
		}
		d.Proxy = func(r *http.Request) (*url.URL, error) {
			if loopback(r.URL.Hostname()) {
				return nil, nil
			}
			return u, nil
		}
	}
	if cfg.Network.CAFile == "" {
		return d, nil
	}
	pem, err := os.ReadFile(cfg.Network.CAFile)
	if err != nil {
		return d, &Mistake{fmt.Sprintf("network.ca_file: %v", err), "give the path of a PEM file"}
	}
	if d.Roots, err = x509.SystemCertPool(); err != nil {
		d.Roots = x509.NewCertPool()
	}
	if !d.Roots.AppendCertsFromPEM(pem) {
		return d, &Mistake{fmt.Sprintf("network.ca_file: %s holds no certificate", cfg.Network.CAFile), "give the path of a PEM file"}
	}
	return d, nil
}

// loopback reports whether a host is this machine, which no proxy can reach.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// keyHelper runs the person's own command for a key. The settings table takes
// it from no project file.
func keyHelper(ctx context.Context, o Process, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	shell, err := proc.Shell(o.Env("PATH"), nil)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, shell, "-c", command)
	cmd.Env = o.Environ
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the command failed: %w", err)
	}
	key := strings.TrimSpace(out.String())
	if key == "" {
		return "", errors.New("the command printed no key")
	}
	return key, nil
}

// main is the model of the session.
// begun is the one of a session that is resumed, "" for a new one.
func (m *models) main(ctx context.Context, spec Spec, begun string) (target, error) {
	if spec.Target != nil {
		return target{Target: *spec.Target, key: "none"}, nil
	}
	asked := spec.Model
	if s, ok := m.cfg.Setting("model"); asked == "" && ok && (s.Origin.Scope == config.Flag || s.Origin.Scope == config.EnvVar || s.Origin.Scope == config.Managed) {
		asked = m.cfg.Model
	}
	if asked == "" && begun != "" {
		if t, err := m.named(ctx, begun); err == nil {
			return t, nil
		} else {
			m.process.note("the session's model %s cannot be used now: %v", begun, err)
		}
	}
	t, err := m.named(ctx, asked, m.cfg.Model)
	return t, m.where("model", err)
}

// where says which setting a name stands in that nothing has.
func (m *models) where(key string, err error) error {
	var name *choose.NameError
	s, _ := m.cfg.Setting(key)
	if !errors.As(err, &name) || s.Origin.File == "" {
		return err
	}
	return fmt.Errorf("%w (%s at %s)", err, key, s.Origin)
}

// fallback is the model to switch to, nil when none is set.
func (m *models) fallback(ctx context.Context, spec Spec) (*agent.Target, error) {
	if m.cfg.FallbackModel == "" || spec.Target != nil {
		return nil, nil
	}
	t, err := m.named(ctx, m.cfg.FallbackModel)
	if err != nil {
		return nil, fmt.Errorf("the fallback model: %w", m.where("fallback_model", err))
	}
	return &t.Target, nil
}

// classifier is what rules on questions in the mode auto, nil in the others.
// It is the small model; without one every question goes to a person.
func (m *models) classifier(ctx context.Context, mode policy.Mode) *auto.Classifier {
	if mode != policy.Auto {
		return nil
	}
	a := m.cfg.Permissions.AutoMode
	c := &auto.Classifier{Sentences: auto.Sentences{Allow: a.Allow, SoftDeny: a.SoftDeny, HardDeny: a.HardDeny, Environment: a.Environment}}
	main, err := m.Choose(ctx, m.cfg.Model)
	if err != nil {
		return c
	}
	if s, err := m.Small(ctx, main, m.cfg.SmallModel); err == nil && s.Model != nil {
		c.Model = auto.Small{Model: s.Model, Name: s.Name, ID: s.Provider + "/" + s.Name, Cost: s.Facts.Cost}
	}
	return c
}

func (m *models) named(ctx context.Context, wishes ...string) (target, error) {
	c, err := m.Choose(ctx, wishes...)
	if err != nil {
		return target{}, err
	}
	f := c.Facts
	t := target{key: first(c.KeySource, "none"), local: c.Local, Target: agent.Target{
		Model: c.Model, Provider: c.Provider, Name: c.Name, Window: f.Window, Cap: f.Output, LargerCap: f.RaisedCap(),
		Effort: llm.Effort(m.cfg.Effort.Level), Thinking: m.cfg.Effort.Tokens,
		Images: f.Can(price.Images), ImageEdge: f.ImageEdge, PDFs: f.Can(price.PDF), Cost: f.Cost,
	}}
	t.Deaf = func(effort llm.Effort, tokens int) string { return m.deaf(c, effort, tokens) }
	if m.process.Note != nil {
		if text := t.Deaf(t.Effort, t.Thinking); text != "" {
			m.process.Note(text)
		}
	}
	m.sayAssumed(c)
	if renew := m.renewal(c); renew != nil {
		t.Model = &refreshed{model: c.Model, renew: renew}
	}
	if c.Provider == "script" || c.Provider == "replay" {
		t.Cost = func(llm.Usage) (float64, bool) { return 0, true } // nobody is paid for these
	}
	return t, nil
}

// deaf says that a model is told nothing of an effort; "" when it is told, and
// when that was said before.
func (m *models) deaf(c choose.Choice, effort llm.Effort, tokens int) string {
	if effort == "" && tokens == 0 || c.Asks(effort, tokens) {
		return ""
	}
	what, text := "effort ", fmt.Sprintf("effort has no effect on %s: it is not known to take one", c)
	if effort == llm.EffortNone && tokens == 0 {
		what, text = "no thinking ", fmt.Sprintf("thinking cannot be turned off on %s: it is not known to do without", c)
	}
	if !m.process.Memory.First(what + c.String()) {
		return ""
	}
	if c.Local {
		text += fmt.Sprintf("; hint: if it takes one, say how: adze config set providers.%s.effort reasoning_effort", c.Provider)
	}
	return text
}

// sayAssumed says once that the window of a model was not told, and what to do.
func (m *models) sayAssumed(c choose.Choice) {
	why, assumed := strings.CutPrefix(c.Facts.Source, choose.Assumed)
	if !assumed || !c.Local || m.process.Note == nil || !m.process.Memory.First("window "+c.String()) {
		return
	}
	m.process.note("the window of %s is assumed to be %d tokens: %s; hint: load it first, or say it: adze config set models.%s.window \"8192\"", c, c.Facts.Window, why, c)
}

func first(xs ...string) string {
	for _, x := range xs {
		if x != "" {
			return x
		}
	}
	return ""
}

// Secrets are values that must not appear in anything that is written: those
// of variables whose names say that they are keys.
func Secrets(environ []string) []string { return secret.Environ(environ) }
