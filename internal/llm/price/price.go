// Package price owns what is known about models: window, output caps, prices,
// abilities, where each fact comes from, the aliases people use for them and
// the cheap sibling of each. The facts are one embedded, dated table that
// user settings extend or correct. It asks no network and guesses no price: an
// unknown price is an answer of its own.
package price

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/adze-agent/adze/internal/llm"
	"github.com/adze-agent/adze/internal/text/fastjson"
	"github.com/adze-agent/adze/internal/text/pattern"
)

//go:embed models.json
var embedded []byte

// Facts describe one model. Token counts are 0 when unknown.
type Facts struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	// Window is how many tokens a prompt and its reply may have together.
	Window int `json:"window,omitempty"`
	// Output is the output cap to ask for at first, OutputMax the largest the model takes.
	Output    int       `json:"output,omitempty"`
	OutputMax int       `json:"output_max,omitempty"`
	Price     *Price    `json:"price,omitempty"` // nil: unknown
	Abilities []Ability `json:"abilities,omitempty"`
	// ImageEdge is how many pixels the long edge of an image may have before the
	// model sees a smaller one; 0 when unknown. Some providers refuse more than 2,000
	// in a conversation with many images, whatever one may have alone.
	ImageEdge int `json:"image_edge,omitempty"`
	// Thinking is how reasoning is asked for on the wire.
	Thinking Thinking `json:"thinking,omitempty"`
	// Efforts are the names of effort the model takes, weakest first.
	Efforts []string `json:"efforts,omitempty"`
	// Off is the effort, or the number of tokens, with which the model does not
	// reason; "" where there is none, or where it is another field of the wire.
	Off string `json:"off,omitempty"`
	// Source says where the facts come from and Date, YYYY-MM-DD, how old they are.
	Source string `json:"source,omitempty"`
	Date   string `json:"date,omitempty"`
}

// An Ability is something a model can take.
type Ability string

// Abilities.
const (
	Tools  Ability = "tools"
	Images Ability = "images"
	PDF    Ability = "pdf"
	// Search: on the provider's own API the model can be given tools in the middle
	// of a conversation, where a search for tools found them (Anthropic's tool_reference,
	// for Opus, Sonnet and Haiku since 4.5; OpenAI's tool_search, since gpt-5.4).
	Search Ability = "tool_search"
)

// A Thinking is a way to ask for reasoning.
type Thinking string

// Ways to ask for reasoning. "" is a model that does not reason.
const (
	Adaptive Thinking = "adaptive" // the model decides; an effort guides it
	Budget   Thinking = "budget"   // a number of tokens
	Effort   Thinking = "effort"   // a named effort
	Level    Thinking = "level"    // Gemini's thinkingLevel
	Toggle   Thinking = "toggle"   // on or off
	Always   Thinking = "always"   // nothing to ask for
)

// A Price is in USD per million tokens.
type Price struct {
	In         float64 `json:"in"`
	Out        float64 `json:"out"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
	// Tiers replace the price when the whole prompt has more tokens than Above.
	Tiers []Tier `json:"tiers,omitempty"`
}

// A Tier is the price of a long prompt.
type Tier struct {
	Above      int     `json:"above"`
	In         float64 `json:"in"`
	Out        float64 `json:"out"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// Can reports whether the model takes a.
func (f Facts) Can(a Ability) bool { return slices.Contains(f.Abilities, a) }

// RaisedCap is the cap to try when a reply ran into Output: all that the model
// has. It is 0 when that is no raise.
func (f Facts) RaisedCap() int {
	if f.OutputMax > f.Output {
		return f.OutputMax
	}
	return 0
}

// A Lookup finds the facts of a model; nil knows none.
type Lookup func(model string) (f Facts, known bool)

// Of are the facts of a model.
func (l Lookup) Of(model string) (f Facts, known bool) {
	if l == nil {
		return Facts{}, false
	}
	return l(model)
}

// Effort maps an effort to the name the model takes, "" when it takes none.
func (f Facts) Effort(e llm.Effort) string {
	if e == llm.EffortNone {
		return f.Off
	}
	if e == "" || len(f.Efforts) == 0 {
		return ""
	}
	if e == llm.EffortMax {
		return f.Efforts[len(f.Efforts)-1]
	}
	order := []string{"low", "medium", "high", "xhigh", "max"}
	want := slices.Index(order, string(e))
	best := f.Efforts[0]
	for _, name := range f.Efforts {
		if slices.Index(order, name) <= want {
			best = name
		}
	}
	return best
}

// Cost is the price of u in USD. known is false when the price is unknown;
// the cost is then meaningless.
func (f Facts) Cost(u llm.Usage) (usd float64, known bool) {
	if f.Price == nil {
		return 0, false
	}
	p := *f.Price
	for _, t := range f.Price.Tiers {
		if u.Prompt() > t.Above {
			p.In, p.Out, p.CacheRead, p.CacheWrite = t.In, t.Out, t.CacheRead, t.CacheWrite
		}
	}
	if p.CacheWrite == 0 { // providers that cache by themselves bill a write as input
		p.CacheWrite = p.In
	}
	long := max(0, 2*p.In-p.CacheWrite) // a write that is kept for an hour costs twice the input
	return (float64(u.In)*p.In + float64(u.CacheWriteLong)*long + float64(u.Out)*p.Out +
		float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6, true
}

// A Table holds facts. It is never changed after it was made.
type Table struct {
	models []*row
	index  map[string]int // "provider/id"
}

// A row is one model's facts, which are decoded when somebody asks for them: a
// start needs two or three of some hundred.
type row struct {
	once sync.Once
	raw  []byte // nil: facts are there
	Facts
}

func (r *row) get() Facts {
	r.once.Do(func() {
		if r.raw == nil {
			return
		}
		f := Facts{Source: r.Source, Date: r.Date}
		if err := json.Unmarshal(r.raw, &f); err != nil { // a test decodes all of them
			panic(fmt.Sprintf("the embedded model table: %v: %s", err, r.raw))
		}
		r.Facts, r.raw = f, nil
	})
	return r.Facts
}

// Embedded returns the table this version was built with. Of its rows, each a line,
// only the names are read.
func Embedded() (*Table, error) {
	head, body, _ := bytes.Cut(embedded, []byte("\n\"models\": [\n"))
	var file struct{ Date, Source string }
	if err := json.Unmarshal(slices.Concat(bytes.TrimSuffix(head, []byte(",")), []byte("}")), &file); err != nil {
		return nil, fmt.Errorf("read the embedded model table: %w", err)
	}
	rows := make([]row, bytes.Count(body, []byte("\n")))
	t := &Table{models: make([]*row, 0, len(rows)), index: make(map[string]int, len(rows))}
	for line := range bytes.Lines(body) {
		provider, id, ok := named(line)
		if !ok {
			break // the end of the list
		}
		r := &rows[len(t.models)]
		r.raw, r.Source, r.Date = bytes.TrimRight(line, ",\n"), file.Source, file.Date
		t.index[key(provider, id)] = len(t.models)
		t.models = append(t.models, r)
	}
	return t, nil
}

// named is the model of a line of the embedded table, which begins with it.
func named(line []byte) (provider, id string, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"provider":"`))
	if !ok {
		return "", "", false
	}
	p, rest, _ := bytes.Cut(rest, []byte(`","id":"`))
	i, _, ok := bytes.Cut(rest, []byte(`"`))
	return string(p), string(i), ok
}

func key(provider, model string) string { return provider + "/" + strings.ToLower(model) }

// Extend returns a table in which the user's facts are laid over the known
// ones. The keys are "provider/model"; each value is an object of the fields
// of Facts that are added or corrected.
func (t *Table) Extend(user map[string]json.RawMessage, source string) (*Table, error) {
	names := make([]string, 0, len(user))
	for name := range user {
		names = append(names, name)
	}
	slices.Sort(names)
	out := &Table{models: slices.Clone(t.models), index: maps.Clone(t.index)}
	for _, name := range names {
		provider, id, ok := strings.Cut(name, "/")
		if !ok {
			return nil, fmt.Errorf("facts of model %q: the name must be provider/model", name)
		}
		f, known := out.Lookup(provider, id)
		if f.Price != nil { // the user's numbers must not reach the shared table
			p := *f.Price
			p.Tiers = slices.Clone(p.Tiers)
			f.Price = &p
		}
		f.Abilities, f.Efforts = slices.Clone(f.Abilities), slices.Clone(f.Efforts)
		if err := json.Unmarshal(user[name], &f); err != nil {
			return nil, fmt.Errorf("facts of model %q: %w", name, fastjson.InWords(err))
		}
		f.Provider, f.ID, f.Source = provider, id, source
		if known && out.has(provider, id) {
			out.models[out.index[key(provider, id)]] = &row{Facts: f}
			continue
		}
		out.index[key(provider, id)] = len(out.models)
		out.models = append(out.models, &row{Facts: f})
	}
	return out, nil
}

func (t *Table) has(provider, id string) bool { _, ok := t.index[key(provider, id)]; return ok }

// All returns every row, in the order of provider and id as embedded.
func (t *Table) All() []Facts {
	out := make([]Facts, 0, len(t.models))
	for _, r := range t.models {
		out = append(out, r.get())
	}
	return out
}

var (
	dated  = pattern.Lazy(`(?:[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|\d{4})|-v\d+(?::\d+)?|:[a-z]+)$`)
	region = pattern.Lazy(`^(?:[a-z]{2,6}\.)?anthropic\.`)
)

// Lookup finds the facts of a model: the exact name, or the name without a
// date, "-latest" or a router's ":variant", or with one the table knows. The
// clouds that serve Anthropic's models (bedrock, vertex, foundry) share their
// facts but not their prices.
func (t *Table) Lookup(provider, model string) (Facts, bool) {
	switch provider {
	case "google":
		provider = "gemini"
	case "bedrock", "vertex", "foundry":
		f, ok := t.Lookup("anthropic", region().ReplaceAllString(strings.ToLower(model), ""))
		if !ok {
			return Facts{Provider: provider, ID: model}, false
		}
		f.Provider, f.Price = provider, nil
		return f, true
	}
	for name := model; ; {
		if i, ok := t.index[key(provider, name)]; ok {
			return t.models[i].get(), true
		}
		cut := dated().ReplaceAllString(name, "")
		if cut == name {
			break
		}
		name = cut
	}
	if i, ok := t.index[key(provider, model+"-latest")]; ok {
		return t.models[i].get(), true
	}
	return Facts{Provider: provider, ID: model}, false
}
